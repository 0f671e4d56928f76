"""Kind `format`: a model puts an answer into words and checks it before it is shown.

Its words are advice, never facts: they are compared with the rows, and checks are queries that the data decides. If
something speaks against the answer, the program that gave it is written again, once, with the evidence. What stays
doubtful is said in the answer. If this step fails, the answer is shown without advice.
"""

from collections.abc import Awaitable, Callable, Mapping

from answerable.agents.dependencies import AgentDependencies
from answerable.agents.model_descriptors import (
    WRITE_API,
    WRITE_COMBINE,
    WRITE_CYPHER,
    WRITE_PYTHON,
    WRITE_SQL,
    AdviceConfig,
    WriteConfig,
)
from answerable.agents.review import Reviewer, declined, without_review
from answerable.agents.write_api import write_api
from answerable.agents.write_combine import write_combine
from answerable.agents.write_cypher import write_cypher
from answerable.agents.write_steps import write_python, write_sql
from answerable.core.errors import AnswerableError, RefusedError
from answerable.core.ids import NodeId
from answerable.core.values import Json
from answerable.engine.steps.base import Step
from answerable.engine.steps.present import Advice
from answerable.engine.steps.produced import Produced, produced_before
from answerable.engine.steps.understand import Question

_Writer = Callable[[WriteConfig, Mapping[NodeId, Produced], Step, AgentDependencies], Awaitable[Produced]]
_WRITERS: Mapping[str, _Writer] = {
    WRITE_SQL.name: write_sql,
    WRITE_CYPHER.name: write_cypher,
    WRITE_COMBINE.name: write_combine,
    WRITE_PYTHON.name: write_python,
    WRITE_API.name: write_api,
}


class FormatStep:
    def __init__(self, dependencies: AgentDependencies) -> None:
        self._dependencies = dependencies

    async def run(self, step: Step) -> Json:
        try:
            advice = await self._advice(step)
        except RefusedError as error:
            if not declined(error):
                raise
            advice = without_review(error)  # the fallback of this step, with the words of the refusal
        return advice.model_dump(mode="json")

    async def _advice(self, step: Step) -> Advice:
        config = step.config_as(AdviceConfig)
        programs = produced_before(step.inputs)
        question = Question(text=config.question, source=config.source, sources=config.sources, today=config.today)
        reviewer = Reviewer(question, self._dependencies, step)
        first = await reviewer.review(programs)
        if not first.is_doubtful:
            return first.advice()
        answering = list(programs)[-1]
        rewritten = await self._rewritten(config, programs, first.evidence, step)
        if rewritten is None or rewritten.frame.artifact == programs[answering].frame.artifact:
            return first.advice()
        second = await reviewer.review({**programs, answering: rewritten}, first.reply.checks)
        if second.failures and second.failures >= first.failures:
            return first.advice()
        advice = second.advice()
        note = f"A first program was corrected. {first.evidence}"
        return advice.model_copy(update={"findings": (note, *advice.findings), "revised": rewritten})

    async def _rewritten(
        self, config: AdviceConfig, programs: Mapping[NodeId, Produced], evidence: str, step: Step
    ) -> Produced | None:
        """The rows of another program for the same task, or None if there is none."""
        if config.writer is None:
            return None
        *_, answer = programs.values()
        earlier = {name: each for name, each in programs.items() if name in answer.inputs}
        task = WriteConfig(
            task=config.task,
            question=config.question,
            source=config.source,
            today=config.today,
            api=answer.api,
            partial=answer.incomplete,
            evidence=f"An earlier program: {answer.code}\nWhat speaks against it: {evidence}",
        )
        try:
            return await _WRITERS[config.writer](task, earlier, step, self._dependencies)
        except AnswerableError:
            return None  # the first answer is there, and its doubts are said
