"""Variants of a draft: other structures that the same options may stand for.

First those whose conditions belong together (either, both, not, one list of two tables), then those with a nested query
(ties for the first place, rows of the first one of another table, membership, related rows). `VARIANTS`, at the end, is
their order.
"""

from collections.abc import Iterator

from answerable.reader.candidates.composition import (
    Composition,
    Relation,
    Tests,
    UnscoredCandidate,
    Variant,
    compared_columns,
)
from answerable.reader.linking.scene import Scene
from answerable.reader.linking.schema import ColumnView, Schema
from answerable.reader.plans.draft import ROWS, Clause, Combination, Draft, DraftCondition, Term
from answerable.reader.plans.draft_to_plan import tables_of
from answerable.reader.plans.joins import NoPath, join_tree

# Below this score a table is mentioned by part of its name only: "staff names" does not ask for the list of customers.
_LEAST_TABLE_SAID = 0.6
# After "not" even a weakly mentioned table is tried, because people often describe the excluded rows in other words.
_LEAST_NEGATED = 0.03
# A weaker mention is a synonym of a synonym, which is no evidence that the question uses the relation.
_LEAST_RELATION_SAID = 0.45
# Each step is one more nested query. Nobody asks for the neighbours of neighbours of neighbours twice over.
_MOST_STEPS = 4


def either_or_both(draft: Draft, tests: Tests, composition: Composition) -> Iterator[tuple[Draft, str]]:
    """In Berlin and Paris: two conditions on one column mean either of them, or both at once by two rows."""
    cues = composition.scene.cue_tags
    for first in range(len(tests)):
        for second in range(first + 1, len(tests)):
            one, two = tests[first].condition, tests[second].condition
            rest = tuple(clause for i, clause in enumerate(draft.where) if i not in (first, second))
            same = one.left == two.left
            if same or "EITHER" in cues:
                yield draft._replace(where=(*rest, (one, two))), "or"
            # Sorted lists cannot be intersected: the order would belong to the result of both.
            if (same or "BOTH" in cues) and not draft.order:
                right = draft._replace(where=(*rest, (two,)))
                both = Combination("intersect", right)
                yield draft._replace(where=(*rest, (one,)), combination=both), "intersect"


def list_of_two_tables(draft: Draft, _: Tests, composition: Composition) -> Iterator[tuple[Draft, str]]:
    """Names of customers and staff: the same column of another table that is mentioned, in one list."""
    scene = composition.scene
    if len(draft.select) != 1 or draft.where or draft.order or draft.group or draft.select[0].function:
        return
    column = draft.select[0].column
    if column is None or draft.extra:
        return
    own = scene.schema.columns[column]
    for table, mentions in scene.tables.items():
        if table == own.table or max(m.score for m in mentions) < _LEAST_TABLE_SAID:
            continue
        twin = _twin(scene.schema, own, table)
        if twin is not None:
            right = Draft(table, (Term(twin),))
            for operator in _operators(scene):
                yield draft._replace(combination=Combination(operator, right)), operator  # type: ignore[arg-type]


def _operators(scene: Scene) -> tuple[str, ...]:
    return ("except",) if "NEG" in scene.cue_tags else ("union", "intersect")


def _twin(schema: Schema, own: ColumnView, table: int) -> int | None:
    """The column that is called the same there, or that names the rows as this one does here."""
    for column in schema.tables[table].columns:
        if schema.columns[column].words == own.words:
            return column
    if schema.tables[own.table].display == own.id:
        return schema.tables[table].display
    return None


def conditions_apart(draft: Draft, tests: Tests, composition: Composition) -> Iterator[tuple[Draft, str]]:
    """Those in A above 3 or in B below 2: what stands on either side of the conjunction belongs together."""
    if len(tests) < 3 or draft.order or draft.combination:
        return
    for cue in composition.scene.cues_of("EITHER", "AND", "BOTH"):
        left = tuple(c for c, test in zip(draft.where, tests, strict=True) if test.end <= cue.start)
        right = tuple(c for c, test in zip(draft.where, tests, strict=True) if test.start >= cue.end)
        # A condition that lies across the conjunction, as "between 3 and 5" does, has no side.
        if not left or not right or len(left) + len(right) < len(tests):
            continue
        operator = "intersect" if cue.tag == "BOTH" else "union"
        other = draft._replace(where=right)
        yield draft._replace(where=left, combination=Combination(operator, other)), operator  # type: ignore[arg-type]


def negation(draft: Draft, tests: Tests, composition: Composition) -> Iterator[tuple[Draft, str]]:
    """Customers not in Berlin: the value differs, or the rows with that value are taken away."""
    if "NEG" not in composition.scene.cue_tags:
        return
    negated = [i for i, test in enumerate(tests) if test.negated]
    if negated:
        flipped = tuple((_opposite(clause[0]),) if i in negated else clause for i, clause in enumerate(draft.where))
        if flipped != draft.where:
            yield draft._replace(where=flipped), "unequal"
    outer = tuple(clause for i, clause in enumerate(draft.where) if i not in negated)
    inner = tuple(clause for i, clause in enumerate(draft.where) if i in negated)
    yield from _not_in(draft, outer, inner, composition)
    if inner and len(draft.select) <= 2 and not draft.group and all(t.function is None for t in draft.select):
        left = draft._replace(where=outer, extra=frozenset())
        right = Draft(draft.entity, draft.select, where=inner, extra=draft.extra)
        yield left._replace(combination=Combination("except", right)), "except"


def _not_in(
    draft: Draft, outer: tuple[Clause, ...], inner: tuple[Clause, ...], composition: Composition
) -> Iterator[tuple[Draft, str]]:
    """Customers who never ordered: rows without a partner in another table that meets the negated conditions."""
    avoid = compared_columns(inner) & composition.parallel_keys
    for table in _negated_tables(draft.entity, inner, composition):
        try:
            path = join_tree(composition.schema, draft.entity, [table], avoid)
        except NoPath:
            continue
        if not path:
            continue
        # The first step of the path becomes NOT IN. The subquery joins the other steps.
        edge = path[0]
        left, right = edge.pairs[0]
        sub = Draft(edge.end, (Term(right),), where=inner, extra=frozenset({table} if table != edge.end else ()))
        others = draft.extra - {table}
        where = (*outer, (DraftCondition(Term(left), "not_in", sub),))
        yield draft._replace(where=where, extra=frozenset()), "not_in"
        if others:
            yield draft._replace(where=where, extra=others), "not_in"


def _negated_tables(entity: int, inner: tuple[Clause, ...], composition: Composition) -> list[int]:
    """The tables that "not" may be about: those of the negated conditions, mentioned after it, or likely anyway."""
    columns = composition.schema.columns
    found = [columns[c.left.column].table for clause in inner for c in clause if c.left.column is not None]
    start = min(cue.end for cue in composition.scene.cues_of("NEG"))
    for number, mentions in composition.scene.tables.items():
        if any(m.end > start for m in mentions) and composition.options.tables[number] > _LEAST_NEGATED:
            found.append(number)
    found.extend(t for t in composition.likely_tables if t not in found)
    return [t for t in dict.fromkeys(found) if t != entity][:3]


def _opposite(condition: DraftCondition) -> DraftCondition:
    # Other operators contain the negation already: "not more than" is a cue for `<=`.
    return condition._replace(operator="!=") if condition.operator == "=" else condition


def other_relationship(draft: Draft, _: Tests, composition: Composition) -> Iterator[tuple[Draft, str]]:
    """A match has a home team and an away team: a draft that uses one of two relationships is tried with the other."""
    if not composition.parallel_keys:
        return
    named = tables_of(draft, composition.schema)
    tree = join_tree(composition.schema, draft.entity, named, draft.avoid) if len(named) > 1 else []
    used = {column for edge in tree for pair in edge.pairs for column in pair}
    for column in sorted(composition.parallel_keys & (used | compared_columns(draft.where))):
        yield draft._replace(avoid=frozenset({column})), "avoid"


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
    inside = tuple(c for c in draft.where if all(_table(t.left, composition.schema) == table for t in c))
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
    tables = {_table(clause[0].left, schema) for clause in draft.where} - {draft.entity, None}
    shown = (*draft.select, *(order.term for order in draft.order))
    if len(tables) != 1 or {schema.columns[t.column].table for t in shown if t.column is not None} - {draft.entity}:
        return
    table = tables.pop()
    assert table is not None
    try:
        # A column that a condition fixes cannot also join the tables: states that border Texas are found by the other
        # end of the border.
        avoid = compared_columns(draft.where) & composition.parallel_keys
        path = join_tree(schema, draft.entity, [table], avoid)
    except NoPath:
        return
    left, right = path[0].pairs[0]
    inside = tuple(clause for clause in draft.where if _table(clause[0].left, schema) == table)
    outside = tuple(clause for clause in draft.where if clause not in inside)
    members = Draft(path[0].end, (Term(right),), where=inside)
    where = (*outside, (DraftCondition(Term(left), "in", members),))
    found = draft._replace(where=where, extra=frozenset())
    yield found, "member"
    # "States that border states that border Texas" is a membership first, and then a chain of them.
    yield from related_rows(found, tests, composition)


def related_rows(draft: Draft, _: Tests, composition: Composition) -> Iterator[tuple[Draft, str]]:
    """States that border Texas; rivers of the states that border the largest state."""
    for relation in composition.relations:
        steps = _times_said(relation, composition.scene)
        # The draft itself has the first step already.
        if steps > 1:
            yield from _chained(draft, relation, steps)
        if steps and relation.table != draft.entity:
            yield from _of_related_rows(draft, relation, composition.schema)


def _times_said(relation: Relation, scene: Scene) -> int:
    mentions = [
        *scene.tables.get(relation.table, ()),
        *scene.columns.get(relation.here, ()),
        *scene.columns.get(relation.there, ()),
    ]
    words = {
        scene.tokens[m.start].stem for m in scene.tables.get(relation.table, ()) if m.score >= _LEAST_RELATION_SAID
    }
    places = {m.start for m in mentions if m.score >= _LEAST_RELATION_SAID and scene.tokens[m.start].stem in words}
    return min(len(places), _MOST_STEPS)


def _chained(draft: Draft, relation: Relation, steps: int) -> Iterator[tuple[Draft, str]]:
    """States that border states that border Texas: the condition on one end is met by the ends of the step before."""
    for number, clause in enumerate(draft.where):
        if len(clause) == 1:
            for longer in _longer(clause[0], relation, steps):
                yield draft._replace(where=(*draft.where[:number], (longer,), *draft.where[number + 1 :])), "member"


def _longer(one: DraftCondition, relation: Relation, steps: int) -> Iterator[DraftCondition]:
    """The condition on one end, or one on rows that such an end belongs to, with all the steps before it."""
    inner = one.right
    if one.operator == "in" and isinstance(inner, Draft) and inner.entity == relation.table:
        for chained, _ in _chained(inner, relation, steps):
            yield one._replace(right=chained)
    if one.left == Term(relation.here) and (one.operator == "in" or not isinstance(inner, Draft)):
        for _ in range(steps - 1):
            one = DraftCondition(one.left, "in", Draft(relation.table, (Term(relation.there),), where=((one,),)))
        yield one


def _of_related_rows(draft: Draft, relation: Relation, schema: Schema) -> Iterator[tuple[Draft, str]]:
    """Rivers of the states that border the largest state: what is said of the related rows is asked of them first."""
    anchor = _anchor(draft.entity, relation, schema)
    inside = tuple(c for c in draft.where if _is_about(c, relation.to, schema))
    ordered = len(draft.order) == 1 and draft.limit == 1 and _table(draft.order[0].term, schema) == relation.to
    if anchor is None or draft.group or not (inside or ordered):
        return
    rest = tuple(c for c in draft.where if c not in inside)
    one = Draft(relation.to, (Term(relation.key),), where=inside)
    plain = draft._replace(extra=draft.extra - {relation.table, relation.to})
    if ordered:
        first = one._replace(order=draft.order, limit=1)
        plain_first = plain._replace(order=(), limit=None)
        yield plain_first._replace(where=(*rest, _through(anchor, relation, first))), "member"
    if inside:
        yield plain._replace(where=(*rest, _through(anchor, relation, one))), "member"


def _through(anchor: int, relation: Relation, rows: Draft) -> Clause:
    step = Draft(relation.table, (Term(relation.there),), where=((DraftCondition(Term(relation.here), "in", rows),),))
    return (DraftCondition(Term(anchor), "in", step),)


def _anchor(entity: int, relation: Relation, schema: Schema) -> int | None:
    if entity == relation.to:
        return relation.key
    pairs = [edge.pairs[0] for edge in schema.edges.get(entity, ()) if edge.end == relation.to]
    return next((here for here, there in pairs if there == relation.key), None)


def _is_about(clause: Clause, table: int, schema: Schema) -> bool:
    return all(_table(condition.left, schema) == table for condition in clause)


def _table(term: Term, schema: Schema) -> int | None:
    return None if term.column is None else schema.columns[term.column].table


VARIANTS: tuple[Variant, ...] = (
    either_or_both,
    rows_that_tie,
    rows_of_the_first,
    conditions_inside_comparison,
    other_relationship,
    membership,
    related_rows,
    list_of_two_tables,
    conditions_apart,
    negation,
)
"""The order decides between drafts of one score: the earlier variant is offered first."""


def with_variants(candidate: UnscoredCandidate, composition: Composition) -> Iterator[UnscoredCandidate]:
    """The draft itself, then each of its variants."""
    yield candidate
    draft, evidence = candidate
    for variant in VARIANTS:
        for other, name in variant(draft, evidence.tests, composition):
            yield UnscoredCandidate(other, evidence._replace(variant=name))
