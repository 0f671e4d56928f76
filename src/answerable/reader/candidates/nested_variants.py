"""Variants with a nested query: rows that tie for first, rows of the first one elsewhere, membership."""

from collections.abc import Iterator

from answerable.reader.candidates.composition import Composition, Tests, compared_columns
from answerable.reader.candidates.relations import related_rows
from answerable.reader.linking.schema import Schema
from answerable.reader.plans.draft import ROWS, Draft, DraftCondition, Term
from answerable.reader.plans.joins import NoPath, join_tree


def rows_that_tie(draft: Draft, _: Tests, composition: Composition) -> Iterator[tuple[Draft, str]]:
    """The youngest singers: all rows that share the extreme value, where a first row alone would hide the others."""
    if draft.limit != 1 or len(draft.order) != 1 or draft.group or draft.combination:
        return
    term, down = draft.order[0]
    if term.function is not None or term.column is None:
        return
    table = composition.schema.columns[term.column].table
    extreme = Draft(table, (Term(term.column, "max" if down else "min"),), where=draft.where)
    where = (*draft.where, (DraftCondition(term, "=", extreme),))
    yield draft._replace(where=where, order=(), limit=None), "ties"


def rows_of_the_first(draft: Draft, _: Tests, composition: Composition) -> Iterator[tuple[Draft, str]]:
    """The players from the largest college: the superlative picks a row of another table first."""
    if draft.limit != 1 or len(draft.order) != 1:
        return
    order = draft.order[0]
    if order.term.function is None and order.term.column is not None and not draft.group:
        yield from _of_first_row(draft, composition.schema.columns[order.term.column].table, composition)
    elif order.term == ROWS and draft.group and draft.group[0].column is not None:
        yield from _of_largest_group(draft, draft.group[0], composition.schema.columns[draft.group[0].column].table)


def _of_largest_group(draft: Draft, group: Term, table: int) -> Iterator[tuple[Draft, str]]:
    """Names of the customers in the city with the most customers."""
    largest = Draft(table, (group,), group=(group,), order=draft.order, limit=1)
    outer = draft._replace(group=(), order=(), limit=None, extra=frozenset())
    yield outer._replace(where=(*draft.where, (DraftCondition(group, "=", largest),))), "nest_common"
    # "The city with the most orders" counts rows of a table without a used column: it belongs inside as well.
    if draft.extra:
        counted = largest._replace(extra=draft.extra)
        yield outer._replace(where=(*draft.where, (DraftCondition(group, "=", counted),))), "nest_common"


def _of_first_row(draft: Draft, table: int, composition: Composition) -> Iterator[tuple[Draft, str]]:
    if table == draft.entity:
        return
    try:
        path = join_tree(composition.schema, draft.entity, [table])
    except NoPath:
        return
    left, right = path[-1].pairs[0]
    # "The largest college in Ohio": conditions on the other table choose among its rows, so they go inside.
    inside = tuple(c for c in draft.where if all(_table_of(t, composition.schema) == table for t in c))
    outside = tuple(c for c in draft.where if c not in inside)
    first = Draft(table, (Term(right),), where=inside, order=draft.order, limit=1)
    where = (*outside, (DraftCondition(Term(left), "=", first),))
    nested = draft._replace(where=where, order=(), limit=None, extra=draft.extra - {table})
    yield nested, "nest_first"
    # "The oldest player of the largest college" has a second superlative for the rows outside.
    for other in composition.options.sortings[:3]:
        if other.limit == 1 and other.order != draft.order and other.order[0].term.function is None:
            yield nested._replace(order=other.order, limit=1), "nest_first"


def conditions_inside_comparison(draft: Draft, tests: Tests, _: Composition) -> Iterator[tuple[Draft, str]]:
    """Above the average of the modern ones: what is said after the comparison belongs inside it."""
    for number, test in enumerate(tests):
        inner = test.condition.right
        if not isinstance(inner, Draft):
            continue
        after = [i for i, other in enumerate(tests) if i != number and other.start >= test.start]
        if after:
            moved = inner._replace(where=tuple(draft.where[i] for i in after))
            where = tuple(c for i, c in enumerate(draft.where) if i != number and i not in after)
            yield draft._replace(where=(*where, (test.condition._replace(right=moved),))), "inner"


def membership(draft: Draft, tests: Tests, composition: Composition) -> Iterator[tuple[Draft, str]]:
    """States that some long river runs through: each state once, however many of its rivers are long."""
    if draft.group or draft.combination or draft.distinct or not draft.where:
        return
    schema = composition.schema
    tables = {_table_of(clause[0], schema) for clause in draft.where} - {draft.entity, None}
    shown = (*draft.select, *(order.term for order in draft.order))
    if len(tables) != 1 or {schema.columns[t.column].table for t in shown if t.column is not None} - {draft.entity}:
        return
    table = tables.pop()
    assert table is not None
    try:
        avoid = compared_columns(draft.where) & composition.parallel_keys
        path = join_tree(schema, draft.entity, [table], avoid)
    except NoPath:
        return
    left, right = path[0].pairs[0]
    inside = tuple(clause for clause in draft.where if _table_of(clause[0], schema) == table)
    outside = tuple(clause for clause in draft.where if clause not in inside)
    members = Draft(path[0].end, (Term(right),), where=inside)
    where = (*outside, (DraftCondition(Term(left), "in", members),))
    found = draft._replace(where=where, extra=frozenset())
    yield found, "member"
    # "States that border states that border Texas" is a membership first, and then a chain of them.
    yield from related_rows(found, tests, composition)


def _table_of(condition: DraftCondition, schema: Schema) -> int | None:
    column = condition.left.column
    return None if column is None else schema.columns[column].table
