"""Variants of a draft that follow a relation of things with their like: states that border states, friends of friends.

Such a relation is a table with two columns that both point to the same table.
"""

from collections.abc import Iterator

from answerable.reader.candidates.composition import Composition, Relation, Tests
from answerable.reader.linking.scene import Scene
from answerable.reader.linking.schema import Schema
from answerable.reader.plans.draft import Clause, Draft, DraftCondition, Term

# A weaker mention is one by a synonym of a synonym: it does not say that the relation is meant.
_LEAST_SAID = 0.45
# Each step is one more nested query. Nobody asks for the neighbours of neighbours of neighbours twice over.
_MOST_STEPS = 4


def related_rows(draft: Draft, _: Tests, composition: Composition) -> Iterator[tuple[Draft, str]]:
    """States that border Texas; rivers of the states that border the largest state."""
    for relation in composition.relations:
        steps = _times_said(relation, composition.scene)
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
    words = {scene.tokens[m.start].stem for m in scene.tables.get(relation.table, ()) if m.score >= _LEAST_SAID}
    places = {m.start for m in mentions if m.score >= _LEAST_SAID and scene.tokens[m.start].stem in words}
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
