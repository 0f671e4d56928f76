"""A query that a model wrote as text, checked in the language of the source that it is for."""

import re
from typing import TYPE_CHECKING

from answerable.core.catalog import Catalog
from answerable.sources.base import Source

if TYPE_CHECKING:
    from answerable.query.cypher.check import CheckedCypher
    from answerable.query.sql.check import CheckedSql

CYPHER = "cypher"
_QUOTED_OR_BLANKS = re.compile(r"'(?:[^']|'')*'|\"[^\"]*\"|`[^`]*`|\s+")


def checked_text(text: str, catalog: Catalog) -> "CheckedSql | CheckedCypher":
    """Raises a `UserError` or `RefusedError` with the exact reason for a query that must not run."""
    # Each parser is imported when a source speaks its language.
    if catalog.dialect == CYPHER:
        from answerable.query.cypher.check import checked as checked_cypher

        return checked_cypher(text, catalog)
    from answerable.query.sql.check import checked

    return checked(text, catalog)


async def check_query(text: str, source: Source) -> None:
    """Checks the text, and lets the source plan it without running it. Raises the exact reason if it would not run."""
    await source.check(checked_text(text, await source.describe()))


def on_one_line(query: str) -> str:
    """The query without line breaks and indents, for a model: they cost more than they tell. Quoted text stays."""
    return _QUOTED_OR_BLANKS.sub(lambda found: " " if found[0].isspace() else found[0], query).strip()
