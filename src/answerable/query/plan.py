"""A query as data.

A plan says what is wanted in the catalog's own names. Both minds write it, access rules act on it, and compilers turn
it into SQL or Cypher, always to the same text for the same plan. It is plain JSON: it can be shown, stored and edited.

Tables are named by the alias they have in the plan; a table that is used once needs no alias and goes by its name.
"""

from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from answerable.core.values import Frozen, Scalar

Unit = Literal["second", "minute", "hour", "day", "week", "month", "quarter", "year"]
Part = Literal["year", "quarter", "month", "week", "day", "weekday", "hour", "minute"]


# Expressions: what can be selected, compared, grouped by and sorted on.


class ColumnRef(Frozen):
    kind: Literal["column"] = "column"
    table: str
    column: str


class Constant(Frozen):
    kind: Literal["constant"] = "constant"
    value: Scalar
    type: Literal["date", "datetime"] | None = None
    """Set when `value` is ISO 8601 text for a point in time."""


class Aggregate(Frozen):
    kind: Literal["aggregate"] = "aggregate"
    function: Literal["count", "sum", "avg", "min", "max", "median", "stddev"]
    of: "Expr | None" = None
    """Nothing only for `count`: then rows are counted."""
    distinct: bool = False
    where: "Filter | None" = None
    """Only rows for which this holds take part: a share or a comparison of periods in one query."""


class Arithmetic(Frozen):
    kind: Literal["arithmetic"] = "arithmetic"
    op: Literal["+", "-", "*", "/"]
    """Division never rounds to whole numbers and gives null when the divisor is 0."""
    left: "Expr"
    right: "Expr"


class Bucket(Frozen):
    """The start of the period that a date falls into: "per month"."""

    kind: Literal["bucket"] = "bucket"
    unit: Unit
    of: "Expr"


class DatePart(Frozen):
    """A part of a date as a whole number; weekday counts from Monday = 1."""

    kind: Literal["part"] = "part"
    part: Part
    of: "Expr"


class DateDifference(Frozen):
    """How long from `start` to `end`, in units, as a number with decimals."""

    kind: Literal["duration"] = "duration"
    unit: Literal["second", "minute", "hour", "day"]
    start: "Expr"
    end: "Expr"


class TextFunction(Frozen):
    kind: Literal["text"] = "text"
    function: Literal["lower", "upper", "trim", "length"]
    of: "Expr"


class MeasureRef(Frozen):
    """A measure of the catalog, by name."""

    kind: Literal["measure"] = "measure"
    name: str
    table: str | None = None
    """The alias of the measure's table; needed only when the plan uses that table several times."""


class ScalarQuery(Frozen):
    """The single value that a plan gives: "more than the average"."""

    kind: Literal["query"] = "query"
    plan: "QueryPlan"


Expr: TypeAlias = Annotated[
    ColumnRef
    | Constant
    | Aggregate
    | Arithmetic
    | Bucket
    | DatePart
    | DateDifference
    | TextFunction
    | MeasureRef
    | ScalarQuery,
    Field(discriminator="kind"),
]


# Filters: a tree whose leaves compare expressions.


class Compare(Frozen):
    kind: Literal["compare"] = "compare"
    left: Expr
    op: Literal["=", "!=", "<", "<=", ">", ">="]
    right: Expr


class TextMatch(Frozen):
    """Text comparison without regard to case. `pattern` is taken literally; it has no wildcards."""

    kind: Literal["match"] = "match"
    left: Expr
    how: Literal["contains", "starts_with", "ends_with", "equals"]
    pattern: str
    negated: bool = False


class InList(Frozen):
    kind: Literal["in"] = "in"
    left: Expr
    values: tuple[Constant, ...]
    negated: bool = False


class InQuery(Frozen):
    """Membership in a one-column plan. Nulls of the inner plan never make a negated test empty."""

    kind: Literal["in_query"] = "in_query"
    left: Expr
    plan: "QueryPlan"
    negated: bool = False


class Between(Frozen):
    """Low ≤ left ≤ high. For periods prefer two comparisons with an open end."""

    kind: Literal["between"] = "between"
    left: Expr
    low: Expr
    high: Expr
    negated: bool = False


class IsNull(Frozen):
    kind: Literal["null"] = "null"
    left: Expr
    negated: bool = False


class And(Frozen):
    kind: Literal["and"] = "and"
    parts: tuple["Filter", ...]


class Or(Frozen):
    kind: Literal["or"] = "or"
    parts: tuple["Filter", ...]


class Not(Frozen):
    kind: Literal["not"] = "not"
    part: "Filter"


Filter: TypeAlias = Annotated[
    Compare | TextMatch | InList | InQuery | Between | IsNull | And | Or | Not,
    Field(discriminator="kind"),
]


# The plan itself.


class Join(Frozen):
    """Brings in one more table, by a relationship of the catalog (in either direction) or by pairs of columns.

    A relationship of a table with itself is followed from many to one; the other way is written with `on`."""

    table: str
    alias: str | None = None
    relationship: str | None = None
    via: str | None = None
    """The alias of the table in the plan that the relationship starts from; needed only when several would do."""
    on: tuple[tuple[ColumnRef, ColumnRef], ...] = ()
    """Used when `relationship` is not given."""
    outer: bool = False
    """Keep rows that have no partner here."""


class SelectItem(Frozen):
    expr: Expr
    label: str | None = None
    """The name of the result column. Without one, `labels.py` derives a name from the expression."""


class OrderItem(Frozen):
    expr: Expr
    descending: bool = False


class SetOperation(Frozen):
    op: Literal["union", "union_all", "intersect", "except"]
    right: "QueryPlan"


class QueryPlan(Frozen):
    entity: str
    """The table the question is about; the first one in the query."""
    alias: str | None = None
    joins: tuple[Join, ...] = ()
    select: tuple[SelectItem, ...] = ()
    """If empty, the plan selects every column of the entity."""
    distinct: bool = False
    where: Filter | None = None
    group_by: tuple[Expr, ...] = ()
    having: Filter | None = None
    order_by: tuple[OrderItem, ...] = ()
    limit: int | None = Field(default=None, ge=0)
    offset: int | None = Field(default=None, ge=0)
    set_operation: SetOperation | None = None
    """Combines this plan's rows with another's. Order and limit then apply to the combined rows and name result columns
    by an expression that this plan selects."""
