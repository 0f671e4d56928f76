"""Which columns of a SELECT that was written as text add up over its rows.

Only what its form proves: plain sums and counts over groups that hold each row of the data once.
"""

from sqlglot import exp

from answerable.core.values import Language
from answerable.query.quantities import Quantity
from answerable.query.sql.check import parsed

_OVERLAPPING = (exp.Rollup, exp.Cube, exp.GroupingSets)
_MULTIPLYING = (exp.Explode, exp.UDTF)


def written_quantities(sql: str, dialect: Language) -> dict[str, Quantity]:
    """The quantities of the columns, by the names that the statement gives them. A column of unknown quantity is left
    out."""
    tree = parsed(sql, dialect)
    if not isinstance(tree, exp.Select) or not _each_row_counts_once(tree):
        return {}
    return {item.alias: "amount" for item in tree.selects if item.alias and _adds_up(item.unalias())}


def _each_row_counts_once(tree: exp.Select) -> bool:
    group = tree.args.get("group")
    if group is None or tree.args.get("distinct") or group.args.get("totals"):
        return False
    return not group.find(*_OVERLAPPING) and not any(item.find(*_MULTIPLYING) for item in tree.selects)


def _adds_up(value: exp.Expr) -> bool:
    summed = value.this if isinstance(value, exp.Filter) else value
    return isinstance(summed, exp.Sum | exp.Count) and not isinstance(summed.this, exp.Distinct)
