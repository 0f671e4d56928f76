"""`answerable sources`"""

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from answerable.cli.output import progress, tell_json
from answerable.cli.session import principal

if TYPE_CHECKING:
    from answerable.core.catalog import Catalog, Table


@click.group("sources")
def command() -> None:
    """Show what a source holds and how it was understood."""


@command.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def list_sources(as_json: bool) -> None:
    """The sources that can be asked by name."""
    from answerable import demo
    from answerable.settings import load_settings
    from answerable.sources.open import shown_location

    settings = load_settings()
    named = {"demo": str(demo.location()), **settings.sources}
    listed = [{"name": name, "location": shown_location(place)} for name, place in named.items()]
    if as_json:
        tell_json({"sources": listed})
        return
    for source in listed:
        click.echo(f"{source['name']:20} {source['location']}")


@command.command("show")
@click.argument("source")
@click.option("--json", "as_json", is_flag=True, help="Print the whole catalog as JSON.")
def show(source: str, as_json: bool) -> None:
    """Tables, columns, keys, relationships and measures of SOURCE: a name, a file, a folder or a database URL."""
    catalog = asyncio.run(_catalog(source))
    if as_json:
        tell_json(catalog.model_dump(mode="json"))
    else:
        _tell(catalog)


async def _catalog(source: str) -> "Catalog":
    from answerable.app import open_service
    from answerable.settings import load_settings

    async with open_service(load_settings(), any_location=True) as service:
        with progress("Looking at the data …"):
            return await service.sources.describe(source, principal())


def _tell(catalog: "Catalog") -> None:
    from rich.console import Console

    console = Console()
    for table in catalog.tables:
        console.print(_grid(table))
    for link in catalog.relationships:
        how = "" if link.origin != "inferred" else f"  (seen in the values, {link.confidence:.0%} sure)"
        columns = ", ".join(link.from_columns), ", ".join(link.to_columns)
        console.print(
            f"{link.from_table}.{columns[0]} → {link.to_table}.{columns[1]}{how}", highlight=False, markup=False
        )
    for other in catalog.links:
        start = _end(other.from_source, other.from_table, other.from_columns)
        end = _end(other.to_source, other.to_table, other.to_columns)
        console.print(f"{start} → {end}", highlight=False, markup=False)
    for measure in catalog.measures:
        console.print(f"{measure.name} = {measure.expression}", highlight=False, markup=False)
    for warning in catalog.warnings:
        console.print(f"Note: {warning.subject}: {warning.message}", highlight=False, markup=False)


def _end(source: str | None, table: str, columns: Sequence[str]) -> str:
    return f"{f'{source}: ' if source else ''}{table}.{', '.join(columns)}"


def _grid(table: "Table") -> object:
    from rich import box
    from rich.table import Table as Grid
    from rich.text import Text

    rows = "" if table.row_count is None else f" · {table.row_count:,} rows"
    grid = Grid(box=box.SIMPLE_HEAD, title=Text(table.name + rows), title_justify="left")
    for head in ("column", "type", "distinct", "range or examples", "also called"):
        grid.add_column(head)
    for column in table.columns:
        span = f"{column.minimum} … {column.maximum}" if column.minimum is not None else ", ".join(column.examples[:4])
        distinct = "" if column.distinct_count is None else f"{column.distinct_count:,}"
        also = ", ".join(name for name in (column.label, *column.synonyms) if name)
        key = " (key)" if column.name in table.primary_key else ""
        grid.add_row(*(Text(cell) for cell in (column.name + key, column.type, distinct, span[:60], also)))
    return grid
