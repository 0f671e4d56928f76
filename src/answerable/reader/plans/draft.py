"""A candidate reading while it is being built: small, hashable, in numbers of the schema. The best become plans."""

from typing import Literal, NamedTuple, TypeAlias

from answerable.core.values import Scalar

Function = Literal["count", "sum", "avg", "min", "max"]
Operator = Literal["=", "!=", "<", "<=", ">", ">=", "contains", "starts_with", "ends_with", "null", "not_null"]


class Term(NamedTuple):
    """A column, an aggregate of it, rows counted (`count` of nothing), a period of a date, or a measure."""

    column: int | None = None
    function: Function | None = None
    distinct: bool = False
    bucket: str | None = None
    """`bucket:month` or `part:year`."""
    measure: str | None = None
    minus: int | None = None
    """A second column that is taken from the first."""


ROWS = Term(None, "count")


class Point(NamedTuple):
    """A date or time as ISO 8601 text."""

    value: str
    type: Literal["date", "datetime"]


class DraftRange(NamedTuple):
    """Two ends of a range."""

    low: "Scalar | Point"
    high: "Scalar | Point"


class DraftCondition(NamedTuple):
    left: Term
    operator: Operator | Literal["in", "not_in", "between"]
    right: "Scalar | Point | DraftRange | Term | Draft" = None


class DraftOrder(NamedTuple):
    term: Term
    descending: bool = False


class Combination(NamedTuple):
    operator: Literal["union", "intersect", "except"]
    right: "Draft"


class Draft(NamedTuple):
    entity: int
    select: tuple[Term, ...] = ()
    distinct: bool = False
    where: tuple[tuple[DraftCondition, ...], ...] = ()
    """All of these hold; each is a choice of which one must hold."""
    group: tuple[Term, ...] = ()
    having: tuple[DraftCondition, ...] = ()
    order: tuple[DraftOrder, ...] = ()
    limit: int | None = None
    offset: int | None = None
    combination: Combination | None = None
    extra: frozenset[int] = frozenset()
    """Tables that must take part although no column of theirs is named."""
    avoid: frozenset[int] = frozenset()
    """Columns that joins must not use, where a table points to another in two ways."""


Clause: TypeAlias = tuple[DraftCondition, ...]


def own_terms(draft: Draft) -> list[Term]:
    """Every term of this level, not of nested drafts."""
    terms = [*draft.select, *draft.group]
    for order in draft.order:
        terms.append(order.term)
    for clause in (*draft.where, draft.having):
        for condition in clause:
            terms.append(condition.left)
            if isinstance(condition.right, Term):
                terms.append(condition.right)
    return terms


def own_columns(draft: Draft) -> list[int]:
    found = []
    for term in own_terms(draft):
        if term.column is not None:
            found.append(term.column)
        if term.minus is not None:
            found.append(term.minus)
    return found


def nested_drafts(draft: Draft) -> list[Draft]:
    found = [c.right for clause in (*draft.where, draft.having) for c in clause if isinstance(c.right, Draft)]
    if draft.combination:
        found.append(draft.combination.right)
    return found


def all_drafts(draft: Draft) -> list[Draft]:
    found = [draft]
    for nested in nested_drafts(draft):
        found.extend(all_drafts(nested))
    return found
