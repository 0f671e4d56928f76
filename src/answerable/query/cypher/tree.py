"""The syntax tree of the Cypher that may run: what has no class here cannot be said.

Names are stored as they are meant, without quotes and escapes. `write.py` quotes them again.
"""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from answerable.core.values import Scalar

Direction = Literal["right", "left", "both"]
PathMode = Literal["", "SHORTEST", "ALL SHORTEST", "TRAIL", "ACYCLIC"]
Quantifier = Literal["any", "all", "none", "single"]


# Expressions.


@dataclass(frozen=True, slots=True)
class Given:
    value: Scalar


@dataclass(frozen=True, slots=True)
class Variable:
    name: str


@dataclass(frozen=True, slots=True)
class Property:
    of: "Expression"
    name: str


@dataclass(frozen=True, slots=True)
class ListOf:
    items: tuple["Expression", ...]


@dataclass(frozen=True, slots=True)
class Record:
    """`{label: label(n), key: n.name}`"""

    fields: tuple[tuple[str, "Expression"], ...]


@dataclass(frozen=True, slots=True)
class ListElement:
    """`items[1]`. Ladybug counts from 1."""

    of: "Expression"
    index: "Expression"


@dataclass(frozen=True, slots=True)
class Unary:
    op: Literal["NOT", "-"]
    operand: "Expression"


@dataclass(frozen=True, slots=True)
class Binary:
    op: str
    left: "Expression"
    right: "Expression"


@dataclass(frozen=True, slots=True)
class NullTest:
    operand: "Expression"
    negated: bool


@dataclass(frozen=True, slots=True)
class FunctionCall:
    name: str
    """In lower case."""
    arguments: tuple["Expression", ...]
    distinct: bool = False
    star: bool = False
    """Only for `count(*)`."""


@dataclass(frozen=True, slots=True)
class Lambda:
    """`n -> n.name`, only as the second argument of a function that takes one."""

    variable: str
    body: "Expression"


@dataclass(frozen=True, slots=True)
class Cast:
    operand: "Expression"
    type: str


@dataclass(frozen=True, slots=True)
class CaseExpression:
    operand: "Expression | None"
    branches: tuple[tuple["Expression", "Expression"], ...]
    otherwise: "Expression | None"


@dataclass(frozen=True, slots=True)
class Quantified:
    """`any(x IN items WHERE x > 1)`"""

    quantifier: Quantifier
    variable: str
    items: "Expression"
    where: "Expression"


@dataclass(frozen=True, slots=True)
class Matching:
    """`EXISTS { MATCH … }` or `COUNT { MATCH … }`"""

    kind: Literal["EXISTS", "COUNT"]
    patterns: tuple["Pattern", ...]
    where: "Expression | None"


Expression: TypeAlias = (
    Given
    | Variable
    | Property
    | ListOf
    | Record
    | ListElement
    | Unary
    | Binary
    | NullTest
    | FunctionCall
    | Lambda
    | Cast
    | CaseExpression
    | Quantified
    | Matching
)


# Patterns.


@dataclass(frozen=True, slots=True)
class NodePattern:
    variable: str | None = None
    labels: tuple[str, ...] = ()
    """Any of them."""
    properties: tuple[tuple[str, Expression], ...] = ()


@dataclass(frozen=True, slots=True)
class PathLength:
    low: int
    high: int
    mode: PathMode = ""


@dataclass(frozen=True, slots=True)
class PathFilter:
    """`(r, n | WHERE …)`: what holds for each relationship of a path and for each node between its ends. Only access
    rules say it; the parser reads none."""

    edge: str
    node: str
    where: Expression


@dataclass(frozen=True, slots=True)
class EdgePattern:
    variable: str | None = None
    types: tuple[str, ...] = ()
    direction: Direction = "right"
    properties: tuple[tuple[str, Expression], ...] = ()
    length: PathLength | None = None
    """None for exactly one relationship."""
    along: PathFilter | None = None


@dataclass(frozen=True, slots=True)
class Pattern:
    nodes: tuple[NodePattern, ...]
    edges: tuple[EdgePattern, ...] = ()
    """The relationship between each node and the next."""
    variable: str | None = None
    """The name of the whole path."""


# Clauses.


@dataclass(frozen=True, slots=True)
class MatchClause:
    patterns: tuple[Pattern, ...]
    where: Expression | None = None
    optional: bool = False


@dataclass(frozen=True, slots=True)
class Unwind:
    items: Expression
    alias: str


@dataclass(frozen=True, slots=True)
class ReturnItem:
    expression: Expression
    alias: str | None = None


@dataclass(frozen=True, slots=True)
class Sorting:
    expression: Expression
    descending: bool = False


@dataclass(frozen=True, slots=True)
class Projection:
    """`WITH …` or `RETURN …`"""

    items: tuple[ReturnItem, ...]
    star: bool = False
    distinct: bool = False
    where: Expression | None = None
    """Only after WITH."""
    order: tuple[Sorting, ...] = ()
    skip: int | None = None
    limit: int | None = None


@dataclass(frozen=True, slots=True)
class With:
    projection: Projection


Clause: TypeAlias = MatchClause | Unwind | With


@dataclass(frozen=True, slots=True)
class SingleQuery:
    clauses: tuple[Clause, ...]
    returned: Projection


@dataclass(frozen=True, slots=True)
class CypherQuery:
    parts: tuple[SingleQuery, ...]
    """More than one are united."""
    union_all: bool = False
