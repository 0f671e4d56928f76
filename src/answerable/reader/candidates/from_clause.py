"""The from clause: the tables that take part, with or without a used column, and the ways in which they are joined."""

from collections.abc import Iterator

from answerable.reader.candidates.composition import Composition, UnscoredCandidate
from answerable.reader.plans.draft import ROWS, Draft, own_columns

# A second table may be what is asked about only if it is about as likely as not: "how many are there in Berlin?"
_LEAST_ENTITY = 0.3


def with_joined_tables(candidate: UnscoredCandidate, composition: Composition) -> Iterator[UnscoredCandidate]:
    """The draft with the tables of its columns alone, and with likely tables that none of its columns is from."""
    draft, evidence = candidate
    named = [composition.schema.columns[column].table for column in own_columns(draft)]
    likely = sorted(set(_tables_without_column(draft, composition)) - set(named))
    for entity in _entities(draft, named, composition):
        seen = set()
        # Not every subset, so that the number of drafts grows only linearly with the number of likely tables.
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
    # The table of the first shown column is the entity: "customers and their orders" lists customers.
    if draft.select and draft.select[0].column is not None:
        return [composition.schema.columns[draft.select[0].column].table]
    chances = composition.options.tables
    ranked = sorted(range(len(chances)), key=lambda table: (-chances[table], table))
    if named:
        return list(dict.fromkeys([named[0], *(t for t in ranked[:2] if chances[t] > _LEAST_ENTITY)]))[:2]
    return ranked[:2]
