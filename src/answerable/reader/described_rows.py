"""Rows that a few words describe: "contractors in London" are users with a user type and a city.

Every word must be a name of the table or of a column, a value of a column, or a word that says nothing. Anything else,
such as a negation, is not understood here.
"""

from collections.abc import Iterator, Sequence

from answerable.core.catalog import Table, ValueHit, ValueLookup
from answerable.core.records import dataclass
from answerable.core.words import name_words, stem, words

_SURE = 0.9
"""Least score of a value: whole names and slips of the pen, never parts of names."""
_CANDIDATES = 24
_LONGEST_VALUE = 4
_SILENT = frozenset(
    word
    for line in (
        "a an the of in on at from for with is are was were be been who whose that which all any our their his her its",
        "work works working based account accounts",
    )
    for word in line.split()
)


@dataclass(frozen=True, slots=True)
class DescribedRows:
    table: str
    key: str
    conditions: tuple[tuple[str, str], ...]
    """Columns and the values that they have."""
    said: str = ""
    """The words that describe them, without those around that say nothing."""


def described_rows(phrase: str, table: Table, values: ValueLookup) -> DescribedRows | None:
    """None if a word is not understood, or if nothing is said of the rows beside what they are."""
    said = words(phrase)
    conditions: dict[str, str] = {}
    telling: list[int] = []
    place = 0
    while place < len(said):
        found = next(_values_at(said, place, table, values), None)
        if found is not None:
            length, hit = found
            if conditions.setdefault(hit.column, hit.value) != hit.value:
                return None
            telling += range(place, place + length)
            place += length
        elif stem(said[place]) in _names(table) or said[place] in _SILENT:
            telling += [place] if said[place] not in _SILENT else []
            place += 1
        else:
            return None
    if not conditions or len(table.primary_key) != 1:
        return None
    shown = " ".join(said[telling[0] : telling[-1] + 1])
    return DescribedRows(table.name, table.primary_key[0], tuple(conditions.items()), shown)


def _values_at(said: Sequence[str], place: int, table: Table, values: ValueLookup) -> Iterator[tuple[int, ValueHit]]:
    """The value of one column that the words from this place on name, the longest first."""
    for length in range(min(_LONGEST_VALUE, len(said) - place), 0, -1):
        text = " ".join(said[place : place + length])
        if length == 1 and (text in _SILENT or stem(text) in _nouns(table)):
            continue
        hits = [hit for hit in values.find(text, _CANDIDATES, _SURE) if hit.table == table.name]
        best = [hit for hit in hits if hit.score == hits[0].score]
        if len(best) == 1:
            yield length, best[0]


def _nouns(table: Table) -> frozenset[str]:
    return frozenset(
        stem(word) for name in (table.name, table.label or "", *table.synonyms) for word in name_words(name)
    )


def _names(table: Table) -> frozenset[str]:
    """Words that are in names of the table or of its columns."""
    columns = (name for column in table.columns for name in (column.name, column.label or "", *column.synonyms))
    return _nouns(table) | frozenset(stem(word) for name in columns for word in name_words(name))
