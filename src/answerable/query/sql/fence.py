"""Fences tables that have columns with secrets: `*`, whole rows and joins by name reach only the other columns."""

from sqlglot import exp

from answerable.core.catalog import Catalog, Table
from answerable.core.errors import RefusedError


def fenced(tree: exp.Query, catalog: Catalog) -> exp.Query:
    """Replaces each table that has secrets by a selection of its other columns. The names of the query have been
    checked before, so it names no secret itself."""
    secret = {table.name.casefold(): table for table in catalog.tables if table.name in _with_secrets(catalog)}
    if not secret:
        return tree
    if any(cte.alias.casefold() in secret for cte in tree.find_all(exp.CTE)):
        raise _refused("A name in WITH must not be that of a table with secret columns.")
    for node in list(tree.find_all(exp.Table)):
        table = secret.get(".".join(part for part in (node.db, node.name) if part).casefold())
        if table is not None:
            _replace(node, table)
    return tree


def _with_secrets(catalog: Catalog) -> set[str]:
    return {secret.table for secret in catalog.secrets}


def _replace(node: exp.Table, table: Table) -> None:
    if not isinstance(node.parent, exp.From | exp.Join):
        raise _refused(f"{table.name} has secret columns, so it can only be read with SELECT.")
    bare = exp.Table(this=node.this.copy(), db=node.args.get("db"), catalog=node.args.get("catalog"))
    columns = [exp.column(exp.to_identifier(column.name, quoted=True)) for column in table.columns]
    alias = node.args.get("alias") or exp.TableAlias(this=node.this.copy())
    selection = exp.Subquery(this=exp.select(*columns).from_(bare), alias=alias)
    for name in ("joins", "pivots", "laterals", "sample"):
        if node.args.get(name):
            selection.set(name, node.args[name])
    node.replace(selection)


def _refused(message: str) -> RefusedError:
    return RefusedError(message, code="sql_not_allowed")
