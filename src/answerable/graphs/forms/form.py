"""What a node of a drawn graph becomes: its form for the engine, and what stands around it while it is made."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from answerable.core.errors import AnswerableError
from answerable.core.values import Json
from answerable.core.yaml_text import FieldPath, Marks
from answerable.engine.graph import Condition, Filling, Graph
from answerable.engine.steps.descriptor import StepDescriptor
from answerable.engine.templates import Reference, references
from answerable.graphs import types
from answerable.graphs.definition import Body
from answerable.graphs.named_agents import NamedAgents
from answerable.graphs.stored import StoredGraph, StoredGraphs
from answerable.graphs.types import Schema


@dataclass(frozen=True, slots=True)
class Form:
    """What the engine gets of a node: its kind, its config, and which fields of the config are templates."""

    kind: StepDescriptor
    config: Json
    bind: Mapping[str, Filling] = field(default_factory=dict)
    gives: Schema = field(default_factory=dict)
    breaker: str | None = None
    effect: bool = False
    """Whether it changes something outside."""
    idempotent: bool = False


@dataclass(frozen=True, slots=True)
class CompiledBody:
    graph: Graph
    gives: Schema


@dataclass(frozen=True, slots=True)
class World:
    """What the graph and the stored graphs inside of it share."""

    longest: float | None
    name_source: Callable[[str], str]
    default_source: str
    apis: Mapping[str, Mapping[str, Json]]
    stored: StoredGraphs
    agents: NamedAgents = field(default_factory=dict)
    """Those that nodes name. One that is not among them is looked up when its node runs."""
    sources: list[str] = field(default_factory=list)
    """Every source that a node asks."""


class Compiling(Protocol):
    """What the form of a node asks of the compiler of its text."""

    marks: Marks
    world: World

    def body(self, body: Body, path: FieldPath, input_schema: Schema) -> CompiledBody: ...

    def stored(self, found: StoredGraph) -> CompiledBody: ...

    def conditions(
        self, written: str | Sequence[str], schemas: Mapping[str, Schema], place: FieldPath
    ) -> tuple[Condition, ...]: ...

    def schema(self, wanted: Reference, schemas: Mapping[str, Schema], place: FieldPath) -> Schema: ...


@dataclass(frozen=True, slots=True)
class Around:
    """What stands around a node: the nodes before it, what every node before it gives, and its place in the text."""

    parents: Sequence[str]
    schemas: Mapping[str, Schema]
    place: FieldPath
    compiling: Compiling

    @property
    def world(self) -> World:
        return self.compiling.world

    def source(self, name: str) -> str:
        """The name under which a source is recorded. The run asks it."""
        known = self.world.name_source(name)
        self.world.sources.append(known)
        return known

    def body(self, body: Body, input_schema: Schema) -> CompiledBody:
        return self.compiling.body(body, (*self.place, "body"), input_schema)

    def error(self, field: FieldPath, problem: str, hint: str | None = None) -> AnswerableError:
        """A mistake in a field of the node."""
        return self.compiling.marks.error((*self.place, *field), problem, hint)


def body_input_schema(written: Mapping[str, Json], schemas: Mapping[str, Schema], **own: Schema) -> Schema:
    """The schema of a body's input."""
    return types.object_of(**{name: written_schema(each, schemas) for name, each in written.items()}, **own)


def templates(**fields: str) -> dict[str, Filling]:
    """Fields that are filled as text, queries in their language. Only those that hold a reference."""
    fillings: Mapping[str, Filling] = {"sql": "sql", "cypher": "cypher"}
    return {name: fillings.get(name, "text") for name, text in fields.items() if any(references(text))}


def values_in(**fields: Json) -> dict[str, Filling]:
    """Fields whose references keep their types."""
    return {name: "value" for name, value in fields.items() if any(references(value))}


def written_schema(value: Json, schemas: Mapping[str, Schema]) -> Schema:
    """The schema of a value that may be, or hold, references."""
    found = list(references(value))
    if not found:
        return types.schema_of(value)
    if isinstance(value, dict):
        return types.object_of(**{str(key): written_schema(each, schemas) for key, each in value.items()})
    if isinstance(value, list):
        return {"type": "array"}
    alone = len(found) == 1 and value.strip().startswith("{{") and value.strip().endswith("}}")
    if not alone:
        return types.TEXT
    try:
        return types.schema_at(schemas.get(found[0].name, types.ANYTHING), found[0].path)
    except types.NoSuchField:  # reported where all references of a node are looked at
        return types.ANYTHING
