"""Drafts that cannot answer any question, whatever the data."""

from collections.abc import Callable
from typing import TypeAlias

from answerable.reader.linking.schema import ColumnView, Schema
from answerable.reader.plans.draft import ROWS, Draft, DraftCondition, all_drafts, own_columns, own_terms
from answerable.reader.plans.draft_to_plan import tables_of

Check: TypeAlias = Callable[[Draft, Schema], bool]


def is_impossible(draft: Draft, schema: Schema) -> bool:
    """Whether some level of the draft fails one of `CHECKS`."""
    return any(check(level, schema) for level in all_drafts(draft) for check in CHECKS)


def contradicts(draft: Draft, _: Schema) -> bool:
    """No row meets both conditions on one column: in Berlin and in Paris, over 40 and under 30."""
    alone = [clause[0] for clause in draft.where if len(clause) == 1]
    for number, one in enumerate(alone):
        for two in alone[number + 1 :]:
            if one.left == two.left and _excludes(one, two):
                return True
    return False


def _excludes(one: DraftCondition, two: DraftCondition) -> bool:
    if one.operator == two.operator == "=":
        return one.right != two.right and not isinstance(one.right, Draft) and not isinstance(two.right, Draft)
    if not isinstance(one.right, int | float) or not isinstance(two.right, int | float):
        return False
    low, high = (one, two) if one.operator in (">", ">=") else (two, one)
    if low.operator not in (">", ">=") or high.operator not in ("<", "<="):
        return False
    return float(low.right) > float(high.right)  # type: ignore[arg-type]


def beyond_all(draft: Draft, _: Schema) -> bool:
    """No row is above the maximum of all rows, or below the minimum."""
    return any(
        (condition.operator, *(term.function for term in condition.right.select)) in ((">", "max"), ("<", "min"))
        and {condition.left.column} == set(own_columns(condition.right))
        for clause in draft.where
        if len(clause) == 1
        for condition in clause
        if isinstance(condition.right, Draft)
    )


def combines_figures(draft: Draft, _: Schema) -> bool:
    """The intersection of two counts is meaningless: rows are combined first, and counted then."""
    return draft.combination is not None and not draft.group and any(term.function for term in draft.select)


def sorts_one_row(draft: Draft, _: Schema) -> bool:
    """A figure over all rows is a single row: there is no order to put it in."""
    return bool(draft.order) and not draft.group and any(term.function for term in draft.select)


def mixes_rows(draft: Draft, _: Schema) -> bool:
    """Without groups, a figure over all rows cannot stand beside a column of one of them."""
    terms = [*draft.select, *(order.term for order in draft.order)]
    calculated = any(term.function for term in terms)
    return calculated and not draft.group and any(term.function is None for term in terms)


def adds_other_than_numbers(draft: Draft, schema: Schema) -> bool:
    """Names, dates and ids have no sum and no average."""
    columns = schema.columns
    return any(
        term.function in ("sum", "avg") and term.column is not None and not _can_be_added(columns[term.column])
        for term in own_terms(draft)
    )


def _can_be_added(view: ColumnView) -> bool:
    return view.numeric and not (view.key or view.foreign or view.looks_like_id)


def counts_single_rows(draft: Draft, schema: Schema) -> bool:
    """Orders by order number: each group has one row, so every count would be 1."""
    if not draft.group or draft.group[0].column is None:
        return False
    group = schema.columns[draft.group[0].column]
    names_rows = group.key or group.id == schema.tables[group.table].display
    if not (group.source.unique and names_rows) or tables_of(draft, schema) != {group.table}:
        return False
    terms = [*draft.select, *(o.term for o in draft.order), *(c.left for c in draft.having)]
    return any(term == ROWS for term in terms)


CHECKS: tuple[Check, ...] = (
    contradicts,
    beyond_all,
    combines_figures,
    sorts_one_row,
    mixes_rows,
    adds_other_than_numbers,
    counts_single_rows,
)
