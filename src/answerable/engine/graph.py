"""A graph as data: its nodes, what each node waits for, and what happens if it fails.

A graph is frozen and is checked when it is built, so that the engine need not check it again: ids are unique, every
dependency exists, and there is no cycle. A bad graph raises a `GraphError` that names the node and the reason.
"""

from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, Literal, Self, TypeAlias

from pydantic import Field, ValidationError, field_validator, model_validator

from answerable.core.errors import GraphError
from answerable.core.ids import NodeId
from answerable.core.validation import first_problem
from answerable.core.values import Frozen, Json
from answerable.engine.budget import RunBudget

Strategy = Literal["sequential", "levels", "eager", "events"]
"""`sequential`: one after the other; `levels`: all of a level, then the next; `eager`: as soon as the inputs are there;
`events`: like eager, and a node may also wait for a named event."""

Filling = Literal["text", "value", "sql", "cypher"]
"""How a template is filled: as text, as a value that keeps its type, or as a query whose references are literals."""
Operator = Literal["=", "!=", "<", "<=", ">", ">=", "in", "contains", "empty", "not_empty"]
Path: TypeAlias = tuple[str | int, ...]

ID_LENGTH = 64
_ID_SIGNS = frozenset("-_.")
"""No `/` and no `#`: they separate the parts of ids in sub-graphs and number attempts."""


class Retry(Frozen):
    """The number of attempts in all, and the waits between them. Only failures that may pass by themselves are
    retried."""

    attempts: int = Field(default=1, ge=1, le=100)
    base_delay: float = Field(default=0.5, ge=0)
    factor: float = Field(default=2.0, ge=1)
    max_delay: float = Field(default=30.0, ge=0)
    timeouts: bool = True
    """Whether a step that ran out of time is tried again, too."""
    jitter: bool = True
    """Wait a random part of the delay, so that steps that failed together do not all come back together."""


class Condition(Frozen):
    """A test of an earlier node's output. Values that cannot be compared do not meet it."""

    input: NodeId
    path: Path = ()
    op: Operator = "not_empty"
    value: Json = None

    def __str__(self) -> str:
        place = ".".join([self.input, *map(str, _as_written(self.path))])
        return f"{place} {self.op}" if self.op in ("empty", "not_empty") else f"{place} {self.op} {self.value!r}"


def _as_written(path: Path) -> Path:
    """People write `orders.row_count` and `orders.rows.0`; the output of a step has its table under `frame`."""
    match path:
        case ("frame", "sample", *rest):
            return ("rows", *rest)
        case ("frame", *rest):
            return tuple(rest)
    return path


class Node(Frozen):
    id: NodeId
    kind: str
    config: Json = None
    bind: Mapping[str, Filling] = {}
    """The fields of its config that are templates, which the outputs of the nodes in `after` fill before it runs."""
    after: tuple[NodeId, ...] = ()
    """The nodes whose outputs it takes. It starts when all of them have ended."""
    when: tuple[Condition, ...] = ()
    """If one of these conditions does not hold, the node is skipped and the nodes after it get null as its output."""
    on: str | None = None
    """Strategy `events` only: also wait for this event. `x.finished`, `x.failed` and `x.skipped` are the ends of node
    x; any other name is a channel that some step writes to with `output`."""
    critical: bool = True
    """Whether its failure fails the run and skips the nodes after it. If False, these get null as its output."""
    final: bool = False
    """Whether it also runs after an early stop because no rows were found. It gets null for the skipped steps, and
    tells the user about the stop."""
    retry: Retry = Retry()
    timeout: float | None = Field(default=None, gt=0)
    """Seconds for one attempt."""
    breaker: str | None = None
    """The target whose circuit breaker it shares with other steps: a host, a database, a model."""
    fallback: Json = None
    """The output that replaces a failure when no retry is left. Null means that there is no fallback."""
    effect: bool = False
    """Whether it changes something outside of Answerable. Its start is stored before it acts, and it is never repeated
    without a person's approval."""
    idempotent: bool = False
    """An effect whose target honours the idempotency key, so that it may be issued again after a crash."""

    @field_validator("id")
    @classmethod
    def _check_id(cls, value: str) -> str:
        if not value or len(value) > ID_LENGTH or not all(sign.isalnum() or sign in _ID_SIGNS for sign in value):
            raise _refused(value[:ID_LENGTH], f"an id is 1 to {ID_LENGTH} letters, digits, `-`, `_` or `.`")
        return value


class Graph(Frozen):
    nodes: tuple[Node, ...]
    strategy: Strategy = "eager"
    early_stop: bool = False
    """Skip all later nodes if a first node (one without `after`) fails, or if no first node found anything."""
    concurrency: int | None = Field(default=None, ge=1)
    budget: RunBudget | None = None
    """What the run may use in all. Only that of the outermost graph counts."""
    output: NodeId | None = None
    """The node whose output is the run's. If None, the output of the only last node, or of all last nodes by id."""

    @classmethod
    def parse(cls, document: Json) -> Self:
        """A graph from JSON or YAML that somebody wrote. Raises a `GraphError` for anything that is wrong with it."""
        try:
            return cls.model_validate(document)
        except ValidationError as error:
            raise _explained(error, document) from error

    @model_validator(mode="after")
    def _check(self) -> Self:
        if not self.nodes:
            raise GraphError("The graph has no nodes.")
        # Ids first: all later checks look nodes up by id. Cycles last: the order needs parents that exist.
        if len(self.by_id) < len(self.nodes):
            raise _refused(_first_repeated(node.id for node in self.nodes), "the id is used twice")
        for node in self.nodes:
            self._check_node(node)
        if self.output is not None and self.output not in self.by_id:
            raise _refused(self.output, "it is named as the output, but there is no such node")
        if len(self.order) < len(self.nodes):
            circle = self._circle()
            raise _refused(circle[0], f"it waits for itself ({' → '.join(circle)})")
        return self

    def _check_node(self, node: Node) -> None:
        for parent in node.after:
            if parent not in self.by_id:
                raise _refused(node.id, f"it comes after `{parent}`, but there is no such node")
        if len(set(node.after)) < len(node.after):
            raise _refused(node.id, f"it names `{_first_repeated(node.after)}` twice in `after`")
        for condition in node.when:
            # Only a parent's output is certain to be there when the node is decided on.
            if condition.input not in node.after:
                raise _refused(node.id, f"its condition is about `{condition.input}`, which is not in its `after`")
        if node.on is not None and self.strategy != "events":
            raise _refused(node.id, f"it waits for the event `{node.on}`, which needs the strategy `events`")
        if node.idempotent and not node.effect:
            raise _refused(node.id, "`idempotent` says something only about an effect (`effect: true`)")

    def _circle(self) -> list[NodeId]:
        """The ids of a cycle, for the error message; each node comes before the one that waits for it."""
        # Every node outside of the order has a parent outside of it, so following parents must lead into a cycle.
        placed = set(self.order)
        node = next(node.id for node in self.nodes if node.id not in placed)
        way: dict[NodeId, None] = {}
        while node not in way:
            way[node] = None
            node = next(parent for parent in self.by_id[node].after if parent not in placed)
        names = list(way)
        return [node, *reversed(names[names.index(node) :])]

    # Computed once for each graph: the frontier asks for these at every event.

    @cached_property
    def by_id(self) -> Mapping[NodeId, Node]:
        return {node.id: node for node in self.nodes}

    @cached_property
    def children(self) -> Mapping[NodeId, Sequence[NodeId]]:
        children: dict[NodeId, list[NodeId]] = {node.id: [] for node in self.nodes}
        for node in self.nodes:
            for parent in node.after:
                children[parent].append(node.id)
        return children

    @cached_property
    def waits(self) -> Mapping[NodeId, int]:
        """The number of parents and events that each node waits for."""
        return {node.id: len(node.after) + (node.on is not None) for node in self.nodes}

    @cached_property
    def awaited(self) -> Mapping[str, Sequence[NodeId]]:
        """The nodes that wait for each named event."""
        awaited: dict[str, list[NodeId]] = {}
        for node in self.nodes:
            if node.on is not None:
                awaited.setdefault(node.on, []).append(node.id)
        return awaited

    @cached_property
    def order(self) -> Sequence[NodeId]:
        """All nodes in topological order, otherwise as written. Nodes in a cycle are missing."""
        missing = {node.id: len(node.after) for node in self.nodes}
        free = deque(node.id for node in self.nodes if not node.after)
        order = []
        while free:
            order.append(node := free.popleft())
            for child in self.children[node]:
                missing[child] -= 1
                if not missing[child]:
                    free.append(child)
        return order

    @cached_property
    def levels(self) -> Mapping[NodeId, int]:
        """The length of the longest path to each node from a first one."""
        levels: dict[NodeId, int] = {}
        for node in self.order:
            levels[node] = 1 + max((levels[parent] for parent in self.by_id[node].after), default=-1)
        return levels

    @cached_property
    def last(self) -> Sequence[NodeId]:
        return [node for node, children in self.children.items() if not children]

    @cached_property
    def document(self) -> Json:
        """The graph as JSON, without fields that have their default. This is the stored form."""
        return self.model_dump(mode="json", exclude_defaults=True)


def _refused(node: str, reason: str) -> GraphError:
    return GraphError(f"Node `{node}`: {reason}.", node=node)


def _first_repeated(ids: Iterable[NodeId]) -> NodeId:
    return next(name for name, count in Counter(ids).items() if count > 1)


def _explained(error: ValidationError, document: Json) -> GraphError:
    """The first problem, with the id of its node if the problem lies in a node."""
    problem = first_problem(error)
    place: Sequence[Any] = problem.place
    node = None
    if len(place) > 1 and place[0] == "nodes" and isinstance(place[1], int):
        # The document failed validation, so the id is read from what was written, as far as there is one.
        node = _written_id(document, place[1])
        place = place[2:]
    where = f"Node `{node}`: " if node else "The graph: "
    field = ".".join(map(str, place))
    return GraphError(f"{where}{f'`{field}`: ' if field else ''}{problem.message}.", node=node)


def _written_id(document: Json, index: int) -> str:
    try:
        return str(document["nodes"][index]["id"])
    except (LookupError, TypeError):
        return f"number {index + 1}"
