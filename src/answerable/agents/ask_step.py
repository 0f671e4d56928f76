"""Kind `ask`: puts a question through the whole pipeline, as a step of a drawn graph.

Its output is the answer's text, and its rows if it has any. A question back is a failure here: nobody is there to
reply.
"""

from typing import Any

from pydantic import Field

from answerable.agents.question_request import QuestionRequest
from answerable.agents.routing import graph_of
from answerable.agents.run_policy import RunPolicy
from answerable.core.errors import UserError
from answerable.core.values import Frozen, Json
from answerable.engine.steps.base import Step
from answerable.engine.steps.descriptor import StepDescriptor
from answerable.engine.steps.present import CLARIFY
from answerable.engine.steps.understand import Mode


class AskConfig(Frozen):
    question: str = Field(min_length=1)
    sources: tuple[str, ...] = Field(min_length=1)
    mode: Mode = "auto"
    force: bool = False


class AskStep:
    descriptor = StepDescriptor(name="ask", config=AskConfig, produces="value", label="question", is_wrapper=True)

    def __init__(self, policy: RunPolicy) -> None:
        self._policy = policy

    async def run(self, step: Step) -> Json:
        config = step.config_as(AskConfig)
        request = QuestionRequest(config.question, mode=config.mode, force=config.force)
        graph, _mode = graph_of(request, config.sources)
        outcome = await step.run_graph(self._policy.applied(graph))
        if outcome.error is not None:
            raise outcome.error
        answer = _answer_in(outcome.output)
        assert answer is not None, "a graph that answers ends in an answer"
        if answer["status"] == CLARIFY:
            raise UserError(
                f"Step `{step.id}`: the question has no sure answer. {answer['text']}",
                code="ask_unclear",
                hint="Ask in other words, or say `force: true` to take the best reading.",
            )
        step.partial = outcome.status != "done"
        return answer


def _answer_in(output: Any) -> dict[str, Json] | None:
    """The output of the step that made the answer. Graphs that were planned while they ran lie in each other."""
    while isinstance(output, dict):
        if "text" in output and "status" in output:
            return output
        output = output.get("output")
    return None
