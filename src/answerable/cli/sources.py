"""`answerable sources`"""

import sys
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click

from answerable.cli.output import json_option, progress, say, tell_json, tell_table, write_whole
from answerable.cli.session import with_service
from answerable.core.terminal import printable

if TYPE_CHECKING:
    from answerable.core.catalog import Catalog, Table
    from answerable.core.context import Principal
    from answerable.service import Service
    from answerable.service.source_views import SourceSummary, SourceTest


@click.group("sources")
def command() -> None:
    """Add and remove sources, show what they hold and how they were understood."""


@command.command("list")
@json_option
def list_sources(as_json: bool) -> None:
    """The sources that can be asked by name."""

    async def look(service: "Service", principal: "Principal") -> "Sequence[SourceSummary]":
        # A list of names must not start to read every source.
        return service.sources.list(principal, look=False).sources

    listed = with_service(look)
    if as_json:
        # The other fields are known only after a look into the source.
        shown = {"name", "location", "origin", "default", "removable", "files"}
        tell_json({"sources": [source.model_dump(mode="json", include=shown) for source in listed]})
        return
    for source in listed:
        say(f"{source.name:20} {source.location}")


@command.command("show")
@click.argument("source")
@click.option("--json", "as_json", is_flag=True, help="Print the whole catalog as JSON.")
def show(source: str, as_json: bool) -> None:
    """Tables, columns, keys, relationships and measures of SOURCE: a name, a file, a folder or a database URL."""
    with progress("Looking at the data …"):
        catalog = with_service(lambda service, principal: service.sources.describe(source, principal))
    if as_json:
        tell_json(catalog.model_dump(mode="json"))
    else:
        _tell(catalog)


@command.command("add")
@click.argument("location")
@click.option("--name", help="How it is called from now on; else after the file, folder or database.")
@click.option("--copy", is_flag=True, help="Copy the file into the home folder, as an upload on the page does.")
@click.option("--replace", is_flag=True, help="With --copy: take the place of a file of the same name.")
@click.option("--base-url", help="LOCATION is the OpenAPI document of an API, whose paths begin here.")
@click.option("--secret-env", help="With --base-url: the environment variable that holds the API's credential.")
@click.option("--secret-header", help="With --base-url: its header, as `X-Api-Key` or `Authorization: SSWS`.")
@click.option("--entity", "entities", multiple=True, help="With --base-url: only this entity; may be repeated.")
@click.option("--test", "only_test", is_flag=True, help="Only try it: say what is wrong, and add nothing.")
@json_option
def add(
    location: str,
    name: str | None,
    copy: bool,
    replace: bool,
    base_url: str | None,
    secret_env: str | None,
    secret_header: str | None,
    entities: tuple[str, ...],
    only_test: bool,
    as_json: bool,
) -> None:
    """Add LOCATION, a file, a folder, a database URL or an API, to the sources that can be asked by name.

    Files stay where they are unless --copy is given. A password in a URL is stored readable by you alone, and never
    shown. The source is then read; exit code 1 when that fails (it stays added).
    """

    if replace and not copy:
        raise click.UsageError("--replace goes with --copy.")
    if base_url is None and (secret_env or secret_header or entities):
        raise click.UsageError("--secret-env, --secret-header and --entity go with --base-url.")
    if only_test and copy:
        raise click.UsageError("--test copies nothing: leave out --copy.")

    async def tested(service: "Service", principal: "Principal") -> "SourceTest":
        place = location
        if base_url is not None:
            place = service.sources.api_location(
                location, base_url, secret_env=secret_env, secret_header=secret_header, entities=entities
            )
        return await service.sources.test(place, principal, name=name)

    async def added(service: "Service", principal: "Principal") -> "SourceSummary":
        if copy:
            path = _file(location)
            pieces = _pieces(path)
            stored = await service.sources.upload(
                path.name, pieces, principal, source=name, replace=replace, announced=path.stat().st_size
            )
            return await service.sources.wait(stored.source.name, principal)
        if base_url is not None:
            summary = await service.sources.add_api(
                location,
                base_url,
                principal,
                name=name,
                secret_env=secret_env,
                secret_header=secret_header,
                entities=entities,
            )
        else:
            summary = await service.sources.add(location, principal, name=name)
        return await service.sources.wait(summary.name, principal)

    with progress("Reading it …"):
        if only_test:
            _tell_test(with_service(tested), as_json)
        summary = with_service(added)
    _tell_summary(summary, as_json)


@command.command("remove")
@click.argument("source")
@json_option
def remove(source: str, as_json: bool) -> None:
    """Remove SOURCE, which was added. Copied files are deleted; files that stayed where they are stay there."""
    with_service(lambda service, principal: service.sources.remove(source, principal))
    if as_json:
        tell_json({"removed": source})
    else:
        say(f"{source} removed.")


@command.command("sync")
@click.argument("source")
@json_option
def sync(source: str, as_json: bool) -> None:
    """Read SOURCE again as it is now. Exit code 1 when it cannot be read."""

    async def read(service: "Service", principal: "Principal") -> "SourceSummary":
        service.sources.sync(source, principal)
        return await service.sources.wait(source, principal)

    with progress("Reading it …"):
        summary = with_service(read)
    _tell_summary(summary, as_json)


@command.command("rows")
@click.argument("source")
@click.argument("table")
@click.option("--offset", type=click.IntRange(min=0), default=0, show_default=True, help="First row to print.")
@click.option("--limit", type=click.IntRange(1, 500), default=20, show_default=True, help="Most rows to print.")
@json_option
def rows(source: str, table: str, offset: int, limit: int, as_json: bool) -> None:
    """Some rows of TABLE as they are stored in SOURCE."""
    found = with_service(
        lambda service, principal: service.sources.preview(source, table, principal, offset=offset, limit=limit)
    )
    if as_json:
        tell_json(found.model_dump(mode="json"))
    else:
        tell_table([[column.name for column in found.columns], *found.rows])


@command.command("statistics")
@click.argument("source")
@click.argument("table")
@json_option
def statistics(source: str, table: str, as_json: bool) -> None:
    """How the values of each column of TABLE are distributed."""
    found = with_service(lambda service, principal: service.sources.statistics(source, table, principal))
    document = found.model_dump(mode="json")
    if as_json:
        tell_json(document)
    else:
        for column in document["columns"]:
            say(", ".join(f"{name} {value}" for name, value in column.items() if isinstance(value, str | int)))


@command.command("relationships")
@click.argument("source")
@json_option
def relationships(source: str, as_json: bool) -> None:
    """How the tables of SOURCE belong together, and how many rows refer to no row."""
    found = with_service(lambda service, principal: service.sources.relationships(source, principal))
    if as_json:
        tell_json({"relationships": [each.model_dump(mode="json") for each in found]})
        return
    for each in found:
        orphans = "not counted" if each.orphan_rows is None else f"{each.orphan_rows:,} refer to no row"
        start, end = (
            f"{each.from_table}.{', '.join(each.from_columns)}",
            f"{each.to_table}.{', '.join(each.to_columns)}",
        )
        say(f"{start} → {end}  ({orphans})")


@command.command("questions")
@click.argument("source")
@json_option
def questions(source: str, as_json: bool) -> None:
    """A few questions that SOURCE can answer."""
    found = with_service(lambda service, principal: service.suggestions.questions(source, principal))
    if as_json:
        tell_json({"questions": [each.model_dump(mode="json") for each in found]})
    else:
        for each in found:
            say(each.question + (f"  {each.answer}" if each.answer else ""))


@command.command("learn")
@click.argument("source")
@click.option("--accept", is_flag=True, help="Put what was learned in force at once.")
@click.option("--review", type=click.Path(dir_okay=False, path_type=Path), help="Write the proposal to this file.")
@click.option("--max-tokens", type=click.IntRange(min=1_000), default=100_000, show_default=True)
@json_option
def learn(source: str, accept: bool, review: Path | None, max_tokens: int, as_json: bool) -> None:
    """Let a model write what people call the things of SOURCE, and questions with statements.

    All of it is checked against the data. Without --accept nothing changes: read the proposal, edit it, and put it in
    force with `answerable names write SOURCE FILE`. `answerable names undo` takes it back.
    """
    with progress("Asking a model, then checking what it says …"):
        learned = with_service(
            lambda service, principal: service.learning.learn(source, principal, accept=accept, max_tokens=max_tokens)
        )
    if review is not None:
        write_whole(review, [learned.text.encode()])
    if as_json:
        tell_json(learned.model_dump(mode="json"))
        return
    if review is None and not accept:
        say(learned.text)
    added = ", ".join(f"{count} {name}" for name, count in learned.added.model_dump().items())
    say(f"New: {added}; {learned.usage.input_tokens + learned.usage.output_tokens:,} tokens.")
    for each in learned.left_out:
        say(f"Left out: {each.what}: {each.reason}")
    if learned.accepted:
        say(f"In force now. To take it back: answerable names history {source}, then names undo.")
    elif review is not None:
        say(f"Nothing has changed. To put it in force: answerable names write {source} {review}")
    else:
        say("Nothing has changed. --review FILE writes the proposal to a file, --accept puts it in force.")


def _file(location: str) -> Path:
    from answerable.core.errors import NotFoundError

    path = Path(location).expanduser()
    if not path.is_file():
        raise NotFoundError(f"There is no file {path}.", code="source_missing", hint="--copy takes one file.")
    return path


async def _pieces(path: Path) -> AsyncIterator[bytes]:
    with path.open("rb") as file:
        while piece := file.read(1 << 20):
            yield piece


def _tell_summary(summary: "SourceSummary", as_json: bool) -> None:
    if as_json:
        tell_json(summary.model_dump(mode="json"))
    elif summary.error is not None:
        say(f"{summary.name} cannot be read: {summary.error.message} [{summary.error.code}]", err=True)
        if summary.error.hint:
            say(f"Hint: {summary.error.hint}", err=True)
    else:
        tables = "1 table" if summary.tables == 1 else f"{summary.tables or 0:,} tables"
        say(f"{summary.name}: {tables}, {summary.rows or 0:,} rows ({summary.location})")
    sys.exit(0 if summary.state == "ready" else 1)


def _tell_test(test: "SourceTest", as_json: bool) -> NoReturn:
    if as_json:
        tell_json(test.model_dump(mode="json"))
    elif test.problem is not None:
        say(f"{test.location} cannot be read: {test.problem.message} [{test.problem.code}]", err=True)
        if test.problem.hint:
            say(f"Hint: {test.problem.hint}", err=True)
    else:
        tables = "1 table" if test.tables == 1 else f"{test.tables or 0:,} tables"
        say(f"{test.location} can be added as {test.name}: {tables}, {test.rows or 0:,} rows")
    sys.exit(0 if test.problem is None else 1)


def _tell(catalog: "Catalog") -> None:
    from rich.console import Console

    console = Console()
    for table in catalog.tables:
        console.print(_grid(table))
    for link in catalog.relationships:
        how = "" if link.origin != "inferred" else f"  (seen in the values, {link.confidence:.0%} sure)"
        columns = ", ".join(link.from_columns), ", ".join(link.to_columns)
        console.print(
            printable(f"{link.from_table}.{columns[0]} → {link.to_table}.{columns[1]}{how}"),
            highlight=False,
            markup=False,
        )
    for other in catalog.links:
        start = _end(other.from_source, other.from_table, other.from_columns)
        end = _end(other.to_source, other.to_table, other.to_columns)
        console.print(printable(f"{start} → {end}"), highlight=False, markup=False)
    for measure in catalog.measures:
        console.print(printable(f"{measure.name} = {measure.expression}"), highlight=False, markup=False)
    for secret in catalog.secrets:
        text = f"Secret, left out: {secret.table}.{secret.column} ({secret.reason})"
        console.print(printable(text), highlight=False, markup=False)
    personal = [(t.name, c) for t in catalog.tables for c in t.columns if c.sensitivity == "personal"]
    for name, column in personal:
        text = f"Personal data: {name}.{column.name} ({column.sensitivity_reason})"
        console.print(printable(text), highlight=False, markup=False)
    for warning in catalog.warnings:
        console.print(printable(f"Note: {warning.subject}: {warning.message}"), highlight=False, markup=False)


def _end(source: str | None, table: str, columns: Sequence[str]) -> str:
    return f"{f'{source}: ' if source else ''}{table}.{', '.join(columns)}"


def _grid(table: "Table") -> object:
    from rich import box
    from rich.table import Table as Grid
    from rich.text import Text

    rows = "" if table.row_count is None else f" · {table.row_count:,} rows"
    grid = Grid(box=box.SIMPLE_HEAD, title=Text(printable(table.name + rows)), title_justify="left")
    for head in ("column", "type", "distinct", "range or examples", "also called"):
        grid.add_column(head)
    for column in table.columns:
        span = f"{column.minimum} … {column.maximum}" if column.minimum is not None else ", ".join(column.examples[:4])
        distinct = "" if column.distinct_count is None else f"{column.distinct_count:,}"
        also = ", ".join(name for name in (column.label, *column.synonyms) if name)
        key = " (key)" if column.name in table.primary_key else ""
        # `Text`, because rich would take brackets in a name for its markup.
        grid.add_row(*(Text(printable(cell)) for cell in (column.name + key, column.type, distinct, span[:60], also)))
    return grid
