"""Rows, records, entries: words for what a table holds, whichever table that is."""

from dataclasses import replace

from answerable.reader.linking.links import Links, Mention
from answerable.reader.linking.tokens import Question

_ROWS = frozenset(
    {"row", "rows", "record", "records", "entry", "entries", "line", "lines", "observation", "observations"}
)


def is_row_word(word: str) -> bool:
    return word in _ROWS


def place_of_rows(question: Question, links: Links) -> int | None:
    """Where the question says such a word, unless it names something of the data or the question names a table."""
    if any(mention.score >= 0.6 for mention in links.tables):
        return None
    named = links.covered()
    return next((p for p, token in enumerate(question.tokens) if token.lower in _ROWS and p not in named), None)


def rows_of(links: Links, place: int, table: int) -> Links:
    """With that word as a name of the table."""
    return replace(links, tables=(*links.tables, Mention("table", table, place, place + 1, 1.0)))
