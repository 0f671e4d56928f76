"""Reads the distinct texts of a graph for the index of values, page by page."""

from collections.abc import Iterable, Iterator

from answerable.query.cypher import tree, write
from answerable.query.cypher.table_rows import column_of, rows_of
from answerable.sources.sql.statements import Sql
from answerable.sources.sql.value_build import TextColumn, ValueReader

_VALUE = tree.Variable("v")


class CypherValueReader(ValueReader):
    def groups(self, places: Iterable[TextColumn]) -> Iterator[list[TextColumn]]:
        """Each column by itself."""
        return ([place] for place in places)

    async def page(self, place: TextColumn, after: str | None) -> list[str]:
        table, column = place
        size = tree.FunctionCall("size", (_VALUE,))
        low, high = (
            tree.Binary(">=", size, tree.Given(1)),
            tree.Binary("<=", size, tree.Given(self.limits.longest_value)),
        )
        condition: tree.Expression = tree.Binary("AND", low, high)
        if after is not None:
            condition = tree.Binary("AND", condition, tree.Binary(">", _VALUE, tree.Given(after)))
        value = tree.Projection((tree.ReturnItem(column_of(table, column.name), "v"),), distinct=True, where=condition)
        returned = tree.Projection(
            (tree.ReturnItem(_VALUE, "v"),), order=(tree.Sorting(_VALUE),), limit=self.limits.page
        )
        clauses: tuple[tree.Clause, ...] = (tree.MatchClause((rows_of(table),)), tree.With(value))
        statement = Sql(write.written(tree.CypherQuery((tree.SingleQuery(clauses, returned),))))
        return [text for (text,) in await self.probe.rows(statement)]
