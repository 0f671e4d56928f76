"""A plan of several steps, as people and models write it, and the graph that is built from it.

    question: Which customers pay late?
    steps:
      - {id: invoices, tool: sql, source: billing, code: "SELECT customer_id, paid_late FROM invoices"}
      - {id: customers, tool: sql, source: crm, code: "SELECT id, name FROM customers"}
      - {id: late, tool: python, after: [invoices, customers], code: "result = …"}
      - {id: notes, tool: api, api: helpdesk, entity: notes, operation: list, after: [late], context: Notes of each id}

A step without `code` is written by a model from its `context`. Steps that do not wait for each other run side by side.
The last one gives the answer unless `answer` names another.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import date
from typing import Literal, Self

from pydantic import Field, ValidationError, field_validator, model_validator

from answerable.agents.model_descriptors import (
    WRITE_API,
    WRITE_COMBINE,
    WRITE_CYPHER,
    WRITE_PYTHON,
    WRITE_SQL,
    WriteConfig,
)
from answerable.core.errors import UserError
from answerable.core.ids import NodeId
from answerable.core.records import dataclass
from answerable.core.validation import first_problem
from answerable.core.values import Frozen, Json
from answerable.engine.graph import Graph, Node
from answerable.engine.steps.combine import CombineConfig, CombineStep
from answerable.engine.steps.cypher import CypherConfig, CypherStep
from answerable.engine.steps.descriptor import StepDescriptor
from answerable.engine.steps.present import Presentation, PresentStep
from answerable.engine.steps.python import PythonConfig, PythonStep
from answerable.engine.steps.sql import SqlConfig, SqlStep
from answerable.query.plan import QueryPlan

Tool = Literal["sql", "cypher", "combine", "python", "api"]
"""`sql` and `cypher` ask a source; `combine` joins the rows of earlier steps by SQL; `python` is a program over them;
`api` is a program that calls an API, with ids from the rows of earlier steps or without."""
ANSWER = NodeId("answer")
MOST_STEPS = 50


class PlanStep(Frozen):
    id: str
    """The name of this step's rows in later programs."""
    tool: Tool
    source: str | None = None
    """The source that a query asks; None for the plan's default source."""
    context: str | None = None
    """The expected rows in words, for the model that writes the program."""
    code: str | None = Field(default=None, min_length=1)
    """The program. If it is None, a model writes it from `context`."""
    query: QueryPlan | None = None
    """A query as a plan instead of as code."""
    after: tuple[str, ...] = ()
    """The steps whose rows this step uses."""
    critical: bool = True
    """Whether the run fails if this step fails. If False, the other steps go on without its rows."""
    entity: str | None = None
    """What the rows are about, in the words of the data: `users`, `orders`."""
    operation: str | None = None
    """What is done with it: `list`, `get`, `search`, `count`."""
    api: str | None = None
    """The API that a program may read: one of the settings, or a source that is an API."""
    partial: bool = False
    """Whether some rows are better than none: calls of the API that fail are left out and counted."""
    reasoning: str | None = None

    @field_validator("id")
    @classmethod
    def _is_a_name(cls, value: str) -> str:
        # Programs use the id as the name of a variable or table. `answer` is the node that presents the answer.
        if not value.isidentifier() or len(value) > 64 or value == ANSWER:
            raise ValueError("an id is a name of letters, digits and `_`, and not `answer`")
        return value

    @model_validator(mode="after")
    def _has_its_program(self) -> Self:
        if self.query is not None and (not asks_source(self.tool) or self.code is not None):
            raise ValueError(f"the step {self.id!r} has a `query` where none can be")
        if self.code is None and self.query is None and not self.context:
            raise ValueError(f"the step {self.id!r} needs `code`, or `context` for a model to write it from")
        if self.tool == "api" and self.api is None:
            raise ValueError(f"the step {self.id!r} needs `api`: the name of the API that it calls")
        if self.partial and self.api is None:
            raise ValueError(f"the step {self.id!r} calls no API, so it cannot be `partial`")
        return self


@dataclass(frozen=True, slots=True)
class _PlanTool:
    kind: StepDescriptor
    writer: StepDescriptor
    """The kind of a step whose program is not written yet: a model writes it."""
    config: Callable[[PlanStep, str], Frozen]
    """The config of a step whose program is written; the source is the plan's own."""


def asks_source(tool: Tool) -> bool:
    """Whether such a step reads a source rather than the rows of earlier steps."""
    return _TOOLS[tool].kind.rows_from == "source"


def writer_of(tool: Tool) -> StepDescriptor:
    """The kind of a step whose program a model writes."""
    return _TOOLS[tool].writer


def tool_written_by(agent: str, *, over_rows: bool) -> Tool:
    """The tool whose programs the agent writes. An agent of several tools writes the one that reads a source, or, with
    `over_rows`, the one that reads the rows of earlier steps."""
    tools = [name for name, tool in _TOOLS.items() if tool.writer.agent == agent]
    return next((name for name in tools if asks_source(name) is not over_rows), tools[0])


class ExecutionPlan(Frozen):
    question: str = ""
    source: str | None = None
    """The source of every query that names none."""
    steps: tuple[PlanStep, ...] = Field(min_length=1, max_length=MOST_STEPS)
    answer: str | None = None
    today: date | None = None
    """Count "last month" from this day."""
    reasoning: str | None = None


def read_plan(document: Json) -> ExecutionPlan:
    """Reads a plan that somebody wrote. The error names the field that is wrong."""
    try:
        return ExecutionPlan.model_validate(document)
    except ValidationError as error:
        # `from None`: pydantic's error repeats the whole plan, and the first problem is enough to act on.
        raise UserError(f"{first_problem(error).at('the plan')}.", code="plan_invalid") from None


def plan_graph(
    plan: ExecutionPlan,
    default_source: str,
    presentation: Presentation | None = None,
    *,
    one_query: bool = False,
    mended: bool = False,
) -> Graph:
    """The graph that runs the plan and presents its answer. Raises a `GraphError` that names the step if a step comes
    after one that does not exist, or if steps wait for each other.

    `one_query`: the steps are the parts of one query or program. Such a plan also runs over no rows, because an empty
    input is a valid one: a count is 0. Any other plan of several steps stops early if its first steps find no rows.
    `mended`: if a program of the plan fails, a model writes another one.
    """
    nodes = [_node(step, plan, plan.source or default_source, mended) for step in plan.steps]
    shown = _shown(plan.steps, plan.answer or plan.steps[-1].id)
    presented = presentation or Presentation(question=plan.question, mind="direct", understood=plan.reasoning)
    config = presented.model_dump(mode="json", exclude_none=True)
    answer = Node(id=ANSWER, kind=PresentStep.descriptor.name, config=config, after=shown, final=True)
    # Through `parse` instead of the constructor, so that a mistake in the plan becomes a `GraphError`.
    return Graph.parse(
        {
            "nodes": [node.model_dump(mode="json", exclude_defaults=True) for node in (*nodes, answer)],
            "early_stop": len(plan.steps) > 1 and not one_query,
            "output": ANSWER,
        }
    )


def kind_of(step: PlanStep, *, mended: bool = False) -> StepDescriptor:
    """The kind of the node that a step becomes."""
    tool = _TOOLS[step.tool]
    return tool.writer if _asks_model(step, mended) else tool.kind


def _asks_model(step: PlanStep, mended: bool) -> bool:
    return step.query is None and (step.code is None or mended)


def _node(step: PlanStep, plan: ExecutionPlan, source: str, mended: bool) -> Node:
    return Node(
        id=NodeId(step.id),
        kind=kind_of(step, mended=mended).name,
        config=_config(step, plan, source, mended).model_dump(mode="json", exclude_none=True),
        after=tuple(NodeId(parent) for parent in step.after),
        critical=step.critical,
    )


def _config(step: PlanStep, plan: ExecutionPlan, source: str, mended: bool) -> Frozen:
    if _asks_model(step, mended):
        return WriteConfig(
            task=step.context or "",
            question=plan.question,
            source=step.source or source,
            today=plan.today,
            draft=step.code,
            entity=step.entity,
            operation=step.operation,
            api=step.api,
            partial=step.partial,
        )
    return _TOOLS[step.tool].config(step, source)


def _program(step: PlanStep) -> PythonConfig:
    return PythonConfig(code=step.code or "", api=step.api, partial=step.partial)


_TOOLS: Mapping[Tool, _PlanTool] = {
    "sql": _PlanTool(
        SqlStep.descriptor,
        WRITE_SQL,
        lambda step, source: SqlConfig(source=step.source or source, sql=step.code, plan=step.query),
    ),
    "cypher": _PlanTool(
        CypherStep.descriptor,
        WRITE_CYPHER,
        lambda step, source: CypherConfig(source=step.source or source, cypher=step.code, plan=step.query),
    ),
    "combine": _PlanTool(CombineStep.descriptor, WRITE_COMBINE, lambda step, _: CombineConfig(sql=step.code or "")),
    "python": _PlanTool(
        PythonStep.descriptor,
        WRITE_PYTHON,
        lambda step, _: _program(step),
    ),
    "api": _PlanTool(PythonStep.descriptor, WRITE_API, lambda step, _: _program(step)),
}
"""The step kinds that a plan can use. A new one is a row here and a name of `Tool`."""


def _shown(steps: Sequence[PlanStep], answer: str) -> tuple[NodeId, ...]:
    """All steps of the plan, because the answer shows the code of each. The step with the answer's rows comes last:
    `present` takes the rows of its last input."""
    if answer not in {step.id for step in steps}:
        raise UserError(f"The plan has no step {answer!r} to answer with.", code="plan_invalid")
    return (*(NodeId(step.id) for step in steps if step.id != answer), NodeId(answer))
