"""Variants of conditions that belong together: either, both, not, and one list of two tables."""

from collections.abc import Iterator

from answerable.reader.candidates.composition import Composition, Tests, compared_columns
from answerable.reader.linking.scene import Scene
from answerable.reader.linking.schema import ColumnView, Schema
from answerable.reader.plans.draft import Clause, Combination, Draft, DraftCondition, Term
from answerable.reader.plans.joins import NoPath, join_tree

# Below this score a table is mentioned by part of its name only: "staff names" does not ask for the list of customers.
_LEAST_SAID = 0.6
# "Not" makes even a faintly mentioned table worth a try, because the rows to exclude are often told in other words.
_LEAST_NEGATED = 0.03


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
        if table == own.table or max(m.score for m in mentions) < _LEAST_SAID:
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
    return condition._replace(operator="!=") if condition.operator == "=" else condition
