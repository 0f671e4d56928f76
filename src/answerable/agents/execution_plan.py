"""A plan of several steps, as people and models write it, and the graph that it becomes.

    question: Which customers pay late?
    steps:
      - {id: invoices, tool: sql, source: billing, code: "SELECT customer_id, paid_late FROM invoices"}
      - {id: customers, tool: sql, source: crm, code: "SELECT id, name FROM customers"}
      - {id: late, tool: python, after: [invoices, customers], code: "result = …"}

Steps that do not wait for each other run side by side. The last one gives the answer unless `answer` names another.
"""

from collections.abc import Sequence
from typing import Literal, Self

from pydantic import Field, ValidationError, field_validator, model_validator

from answerable.core.errors import UserError
from answerable.core.ids import NodeId
from answerable.core.values import Frozen, Json
from answerable.engine.graph import Graph, Node
from answerable.engine.steps.present import Presentation
from answerable.engine.steps.python import PythonConfig
from answerable.engine.steps.sql import SqlConfig
from answerable.query.plan import QueryPlan

ANSWER = NodeId("answer")
MOST_STEPS = 50


class PlanStep(Frozen):
    id: str
    """Under this name later programs find its rows."""
    tool: Literal["sql", "python"]
    source: str | None = None
    """Of a query; the plan's own where none is named."""
    code: str | None = None
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
        if self.tool == "python" and (self.code is None or self.query is not None):
            raise ValueError(f"the step {self.id!r} needs its program as `code`")
        if self.tool == "sql" and (self.code is None) == (self.query is None):
            raise ValueError(f"the step {self.id!r} needs either `code` or `query`")
        return self


class ExecutionPlan(Frozen):
    question: str = ""
    source: str | None = None
    """Of every query that names none."""
    steps: tuple[PlanStep, ...] = Field(min_length=1, max_length=MOST_STEPS)
    answer: str | None = None
    reasoning: str | None = None


def read_plan(document: Json) -> ExecutionPlan:
    """A plan that somebody wrote; what is wrong with it is named."""
    try:
        return ExecutionPlan.model_validate(document)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "the plan"
        raise UserError(f"{where}: {first['msg']}.", code="plan_invalid") from None


def plan_graph(plan: ExecutionPlan, default_source: str) -> Graph:
    """Raises a `GraphError` that names the step if the plan does not hang together."""
    nodes = [_node(step, plan.source or default_source) for step in plan.steps]
    shown = _shown(plan.steps, plan.answer or plan.steps[-1].id)
    presentation = Presentation(question=plan.question, mind="direct", understood=plan.reasoning)
    answer = Node(id=ANSWER, kind="present", config=presentation.model_dump(mode="json"), after=shown)
    return Graph.parse({"nodes": [node.model_dump(mode="json") for node in (*nodes, answer)], "output": ANSWER})


def _node(step: PlanStep, source: str) -> Node:
    config = (
        PythonConfig(code=step.code or "", api=step.api)
        if step.tool == "python"
        else SqlConfig(source=step.source or source, sql=step.code, plan=step.query)
    )
    return Node(
        id=NodeId(step.id),
        kind=step.tool,
        config=config.model_dump(mode="json", exclude_none=True),
        after=tuple(NodeId(parent) for parent in step.after),
        critical=step.critical,
    )


def _shown(steps: Sequence[PlanStep], answer: str) -> tuple[NodeId, ...]:
    """Every step is accounted for; the one that gives the answer comes last."""
    if answer not in {step.id for step in steps}:
        raise UserError(f"The plan has no step {answer!r} to answer with.", code="plan_invalid")
    return (*(NodeId(step.id) for step in steps if step.id != answer), NodeId(answer))
