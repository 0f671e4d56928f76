"""A plan of several steps, as people and models write it, and the graph that it becomes.

    question: Which customers pay late?
    steps:
      - {id: invoices, tool: sql, source: billing, code: "SELECT customer_id, paid_late FROM invoices"}
      - {id: customers, tool: sql, source: crm, code: "SELECT id, name FROM customers"}
      - {id: late, tool: python, after: [invoices, customers], code: "result = …"}

A step without `code` is written by a model from its `context`. Steps that do not wait for each other run side by side.
The last one gives the answer unless `answer` names another.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Literal, Self

from pydantic import Field, ValidationError, field_validator, model_validator

from answerable.core.errors import UserError
from answerable.core.ids import NodeId
from answerable.core.validation import first_problem
from answerable.core.values import Frozen, Json
from answerable.engine.graph import Graph, Node
from answerable.engine.steps.combine import CombineConfig, CombineStep
from answerable.engine.steps.descriptor import StepDescriptor
from answerable.engine.steps.present import Presentation
from answerable.engine.steps.python import PythonConfig, PythonStep
from answerable.engine.steps.sql import SqlConfig, SqlStep
from answerable.query.plan import QueryPlan

Tool = Literal["sql", "combine", "python"]
"""`sql` asks a source; `combine` joins the rows of earlier steps by SQL; `python` is a program over them."""
ANSWER = NodeId("answer")
MOST_STEPS = 50


class WriteConfig(Frozen):
    """What a model needs to write the program of one step."""

    task: str
    question: str
    source: str
    today: date | None = None


class AdviceConfig(Frozen):
    """What a model needs to look at an answer before it is shown."""

    question: str
    source: str
    today: date | None = None


class PlanStep(Frozen):
    id: str
    """Under this name later programs find its rows."""
    tool: Tool
    source: str | None = None
    """Of a query; the plan's own where none is named."""
    context: str | None = None
    """What the step must give, in words, for whoever writes its program."""
    code: str | None = Field(default=None, min_length=1)
    """The program; without it a model writes it from the context."""
    query: QueryPlan | None = None
    """Instead of code, for a query."""
    after: tuple[str, ...] = ()
    """The steps whose rows it uses."""
    critical: bool = True
    """Without it there is no answer. Else the others go on without it."""
    api: str | None = None
    """The configured API that a program may read."""
    reasoning: str | None = None

    @field_validator("id")
    @classmethod
    def _is_a_name(cls, value: str) -> str:
        if not value.isidentifier() or len(value) > 64 or value == ANSWER:
            raise ValueError("an id is a name of letters, digits and `_`, and not `answer`")
        return value

    @model_validator(mode="after")
    def _has_its_program(self) -> Self:
        if self.query is not None and (not asks_source(self.tool) or self.code is not None):
            raise ValueError(f"the step {self.id!r} has a `query` where none can be")
        if self.code is None and self.query is None and not self.context:
            raise ValueError(f"the step {self.id!r} needs `code`, or `context` for a model to write it from")
        return self

    @property
    def is_written(self) -> bool:
        return self.code is not None or self.query is not None


@dataclass(frozen=True, slots=True)
class _PlanTool:
    kind: StepDescriptor
    config: Callable[[PlanStep, str], Frozen]
    """The config of a step whose program is written; the source is the plan's own."""


def asks_source(tool: Tool) -> bool:
    """Whether such a step reads a source rather than the rows of earlier steps."""
    return _TOOLS[tool].kind.rows_from == "source"


class ExecutionPlan(Frozen):
    question: str = ""
    source: str | None = None
    """Of every query that names none."""
    steps: tuple[PlanStep, ...] = Field(min_length=1, max_length=MOST_STEPS)
    answer: str | None = None
    today: date | None = None
    """Count "last month" from this day."""
    reasoning: str | None = None


def read_plan(document: Json) -> ExecutionPlan:
    """A plan that somebody wrote; what is wrong with it is named."""
    try:
        return ExecutionPlan.model_validate(document)
    except ValidationError as error:
        raise UserError(f"{first_problem(error).at('the plan')}.", code="plan_invalid") from None


def plan_graph(
    plan: ExecutionPlan,
    default_source: str,
    presentation: Presentation | None = None,
    *,
    one_query: bool = False,
) -> Graph:
    """Raises a `GraphError` that names the step if the plan does not hang together.

    `one_query`: the steps are the parts of one query or program, which means something over no rows, too (a count is
    0). Else a plan of several steps stops early if its first steps find nothing.
    """
    nodes = [_node(step, plan, plan.source or default_source) for step in plan.steps]
    shown = _shown(plan.steps, plan.answer or plan.steps[-1].id)
    presented = presentation or Presentation(question=plan.question, mind="direct", understood=plan.reasoning)
    config = presented.model_dump(mode="json", exclude_none=True)
    answer = Node(id=ANSWER, kind="present", config=config, after=shown, final=True)
    return Graph.parse(
        {
            "nodes": [node.model_dump(mode="json", exclude_defaults=True) for node in (*nodes, answer)],
            "early_stop": len(plan.steps) > 1 and not one_query,
            "output": ANSWER,
        }
    )


def _node(step: PlanStep, plan: ExecutionPlan, source: str) -> Node:
    return Node(
        id=NodeId(step.id),
        kind=step.tool if step.is_written else f"write_{step.tool}",
        config=_config(step, plan, source).model_dump(mode="json", exclude_none=True),
        after=tuple(NodeId(parent) for parent in step.after),
        critical=step.critical,
    )


def _config(step: PlanStep, plan: ExecutionPlan, source: str) -> Frozen:
    if not step.is_written:
        return WriteConfig(
            task=step.context or "", question=plan.question, source=step.source or source, today=plan.today
        )
    return _TOOLS[step.tool].config(step, source)


_TOOLS: Mapping[Tool, _PlanTool] = {
    "sql": _PlanTool(
        SqlStep.descriptor,
        lambda step, source: SqlConfig(source=step.source or source, sql=step.code, plan=step.query),
    ),
    "combine": _PlanTool(CombineStep.descriptor, lambda step, _: CombineConfig(sql=step.code or "")),
    "python": _PlanTool(PythonStep.descriptor, lambda step, _: PythonConfig(code=step.code or "", api=step.api)),
}
"""The step kinds that a plan can use. A new one is a row here and a name of `Tool`."""


def _shown(steps: Sequence[PlanStep], answer: str) -> tuple[NodeId, ...]:
    """Every step is accounted for; the one that gives the answer comes last."""
    if answer not in {step.id for step in steps}:
        raise UserError(f"The plan has no step {answer!r} to answer with.", code="plan_invalid")
    return (*(NodeId(step.id) for step in steps if step.id != answer), NodeId(answer))
