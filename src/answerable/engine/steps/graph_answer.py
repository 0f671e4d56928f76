"""Kind `graph_answer`: the last node of a drawn graph. It turns the graph's output into the answer of the run, so that
a run of a graph is listed, read and followed like that of a question."""

import orjson

from answerable.answers.answer import Answer, Provenance
from answerable.answers.capsule import capsule_body
from answerable.core.clock import Clock
from answerable.core.events import AnswerFinal, AnswerMetadata
from answerable.core.ids import NodeId
from answerable.core.values import Frozen, Json
from answerable.engine.bindings import is_table
from answerable.engine.graph import Node
from answerable.engine.steps.base import Step
from answerable.engine.steps.descriptor import StepDescriptor
from answerable.engine.steps.present import Presentation, PresentStep, usage_in
from answerable.store.base import Capsule, Capsules

MIND = "graph"


class GraphAnswerConfig(Frozen):
    graph: str
    """The name of the graph."""
    outputs: tuple[NodeId, ...]
    """The nodes whose outputs are the graph's."""
    input: Json = None
    """JSON Schema of the graph's input, for runs that are started again with another one."""


class GraphAnswerStep:
    descriptor = StepDescriptor(
        name="graph_answer", config=GraphAnswerConfig, produces="answer", title="Report", label="answer"
    )

    def __init__(self, present: PresentStep, capsules: Capsules, clock: Clock) -> None:
        self._present = present
        self._capsules = capsules
        self._clock = clock

    def is_computed(self, _node: Node) -> bool:
        return True

    async def run(self, step: Step) -> Json:
        config = step.config_as(GraphAnswerConfig)
        taken = {node: step.inputs[node] for node in config.outputs if node not in step.missing}
        output: Json = taken if len(config.outputs) > 1 else next(iter(taken.values()), None)
        if len(config.outputs) == 1 and is_table(output) and "code" in output:
            # Rows become a table with its provenance, as those of a question do.
            presentation = Presentation(question=config.graph, mind=MIND).model_dump(mode="json", exclude_none=True)
            step.node = step.node.model_copy(update={"config": presentation})
            step.inputs = taken
            await self._present.run(step)
            return output
        answer = Answer(
            run_id=step.context.run,
            status="partial" if any(each.failed for each in step.missing.values()) else "done",
            kind="text",
            text=output_text(output),
            provenance=Provenance(mind=MIND),
            usage=usage_in(step.journal.outputs),
        )
        capsule = Capsule(step.context.run, step.context.thread, self._clock.now(), capsule_body(config.graph, answer))
        await self._capsules.put(step.context.principal, capsule, step.journal.lease)
        # The end of the run follows at once, and is stored with them.
        step.journal.defer(AnswerMetadata, answer.kind, [], 0, None)
        step.journal.defer(AnswerFinal, answer=answer.model_dump(mode="json"))
        return output


def output_text(output: Json) -> str:
    """The output of a graph as text for people."""
    if isinstance(output, str):
        return output
    if is_table(output):
        frame = output["frame"]
        lines = [", ".join(f"{name}: {value}" for name, value in record.items()) for record in frame["sample"]]
        more = ["…"] if frame["row_count"] > len(lines) else []
        return "\n".join([f"{frame['row_count']:,} rows", *lines, *more])
    if isinstance(output, dict) and isinstance(output.get("text"), str):
        return str(output["text"])
    return "The graph gave no output." if output is None else orjson.dumps(output, option=orjson.OPT_INDENT_2).decode()
