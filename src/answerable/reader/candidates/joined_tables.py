"""The from clause: the tables that take part, with or without a used column, and the ways in which they are joined."""

from collections.abc import Iterator

from answerable.reader.candidates.composition import Composition, Tests, UnscoredCandidate, compared_columns
from answerable.reader.plans.draft import ROWS, Draft, own_columns
from answerable.reader.plans.draft_to_plan import tables_of
from answerable.reader.plans.joins import join_tree

# A second table may be what is asked about only if it is about as likely as not: "how many are there in Berlin?"
_LEAST_ENTITY = 0.3


def with_joined_tables(candidate: UnscoredCandidate, composition: Composition) -> Iterator[UnscoredCandidate]:
    """The draft with the tables of its columns alone, and with likely tables that none of its columns is from."""
    draft, evidence = candidate
    named = [composition.schema.columns[column].table for column in own_columns(draft)]
    likely = sorted(set(_tables_without_column(draft, composition)) - set(named))
    for entity in _entities(draft, named, composition):
        seen = set()
        for extra in ((), *((table,) for table in likely), tuple(likely)):
            joined = composition.joined(entity, frozenset((*named, *extra)))
            # A bridge that lies on the way anyway makes the same join as one that is asked for.
            if joined is not None and joined not in seen:
                seen.add(joined)
                based = draft._replace(entity=entity, extra=frozenset(extra) - {entity, *named})
                yield UnscoredCandidate(based, evidence)


def _tables_without_column(draft: Draft, composition: Composition) -> tuple[int, ...]:
    """Tables that may take part without a used column. If rows are counted by group, a table that is hardly mentioned
    may be the one that is counted: "which customer bought most often" counts orders."""
    counted = draft.having or any(order.term == ROWS for order in draft.order) or ROWS in draft.select
    if not (draft.group and counted):
        return composition.likely_tables
    return (*composition.likely_tables, *composition.possible_tables)


def _entities(draft: Draft, named: list[int], composition: Composition) -> list[int]:
    """The tables whose rows the answer may be about."""
    if draft.select and draft.select[0].column is not None:
        return [composition.schema.columns[draft.select[0].column].table]
    chances = composition.options.tables
    ranked = sorted(range(len(chances)), key=lambda table: (-chances[table], table))
    if named:
        return list(dict.fromkeys([named[0], *(t for t in ranked[:2] if chances[t] > _LEAST_ENTITY)]))[:2]
    return ranked[:2]


def other_relationship(draft: Draft, _: Tests, composition: Composition) -> Iterator[tuple[Draft, str]]:
    """A match has a home team and an away team: where one of two relationships is used, the other may be meant."""
    if not composition.parallel_keys:
        return
    named = tables_of(draft, composition.schema)
    tree = join_tree(composition.schema, draft.entity, named, draft.avoid) if len(named) > 1 else []
    used = {column for edge in tree for pair in edge.pairs for column in pair}
    for column in sorted(composition.parallel_keys & (used | compared_columns(draft.where))):
        yield draft._replace(avoid=frozenset({column})), "avoid"
