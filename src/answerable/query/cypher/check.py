"""The wall in front of a graph: Cypher is parsed, typed against the catalog, completed, and written anew.

Labels, types and properties are those that the catalog shows. A pattern without labels gets all labels that can stand
there, so that a query never reaches a table that the catalog leaves out. Whole nodes, relationships and paths are never
returned as they are, because they would bring every property: they become the properties that the catalog shows.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from answerable.core.catalog import Catalog
from answerable.core.errors import UserError
from answerable.query.checked import CheckedQuery
from answerable.query.cypher import tree, write
from answerable.query.cypher.checking import CypherCheck
from answerable.query.cypher.graph import GraphSchema
from answerable.query.cypher.language import LANGUAGE
from answerable.query.cypher.parse import parsed
from answerable.query.cypher.tokens import invalid


@dataclass(frozen=True, slots=True)
class CheckedCypher(CheckedQuery):
    tables: frozenset[str]
    """The node and relationship tables that it reads."""
    columns: Mapping[str, frozenset[str]]
    """The properties that it reads, by table."""


def checked(query: str | tree.CypherQuery, catalog: Catalog) -> CheckedCypher:
    """The query as it may run. Trees of our own compiler pass here too: the check is the one wall."""
    if catalog.dialect != LANGUAGE:
        raise UserError(
            f"The source {catalog.source} is not a graph, so it is not asked in Cypher.",
            code="query_type_unavailable",
            hint="Write SQL: and a SELECT statement, PYTHON: and a program, or ask in plain words.",
        )
    check = CypherCheck(GraphSchema(catalog))
    try:
        completed = check.query(parsed(query) if isinstance(query, str) else query)
    except RecursionError:
        raise invalid("The query is nested too deeply.") from None
    read = {table: frozenset(columns) for table, columns in check.read.items()}
    return CheckedCypher(LANGUAGE, write.written(completed), frozenset(check.tables), read)
