"""Parts of a syntax tree, and what its shape says about the rows of a query."""

from collections.abc import Iterable, Iterator, Sequence

from sqlglot import exp

from answerable.core.errors import RefusedError


def below(node: exp.Expr) -> Iterator[object]:
    for value in node.args.values():
        if isinstance(value, list):
            yield from value
        else:
            yield value


def listed(value: object) -> Iterable[object]:
    return value if isinstance(value, list) else [value]


def unstarred(items: Sequence[exp.Expr]) -> Iterator[exp.Expr]:
    """What is selected; of `* REPLACE (…)` the replacements, as the rest is known by name already."""
    for item in items:
        if item.is_star:
            star = item if isinstance(item, exp.Star) else item.this
            yield from star.args.get("replace") or ()
        else:
            yield item


def gives_one_row(node: exp.Select) -> bool:
    """An aggregate over everything, a select without tables, or the first row only."""
    limit = node.args.get("limit")
    if isinstance(limit, exp.Limit) and limit.expression.name == "1":
        return True
    if node.args.get("group") is not None:
        return False
    return node.args.get("from_") is None or all(_aggregates(item, node) for item in node.expressions)


def _aggregates(item: exp.Expr, select: exp.Select) -> bool:
    """Over the rows of this very select: not as a window and not within a query inside."""
    found = item.find_all(exp.AggFunc)
    return any(aggregate.find_ancestor(exp.Window, exp.Query) is select for aggregate in found)


def require_end(cte: exp.CTE) -> None:
    """A recursive query must say when it ends. The worker's limit on time holds for one that says so wrongly."""
    union = cte.this
    selects = [*union.expression.find_all(exp.Select)]
    ends = any(select.args.get("where") or select.args.get("joins") for select in selects)
    if not (ends or union.args.get("limit")):
        raise RefusedError(
            f"The recursive query {cte.alias!r} has no condition that ends it.",
            code="sql_recursive_refused",
            hint="Add a WHERE to its second part.",
        )
