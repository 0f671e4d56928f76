"""`answerable names`"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from answerable.cli.output import json_option, say, tell_json, tell_table
from answerable.cli.session import with_service

if TYPE_CHECKING:
    from answerable.service.semantic import SemanticDocument


@click.group("names")
def command() -> None:
    """Show and change what tables and columns of a source are called and mean."""


@command.command("show")
@click.argument("source")
@json_option
def show(source: str, as_json: bool) -> None:
    """Everything that is said about SOURCE, as its semantic.yaml."""
    _tell(with_service(lambda service, principal: service.semantic.read(source, principal)), as_json)


@command.command("set", epilog="Example: answerable names set demo orders.amount --label revenue --synonym sales")
@click.argument("source")
@click.argument("thing", metavar="TABLE[.COLUMN]")
@click.option("--label", help="What it is called; empty takes the label away.")
@click.option("--synonym", "synonyms", multiple=True, help="Another word for it; replaces those of before.")
@click.option("--description", help="What it means; empty takes the description away.")
@click.option("--unit", help="What its numbers count; empty takes the unit away.")
@click.option("--hide/--show", "hidden", default=None, help="Whether questions may refer to it.")
@click.option(
    "--sensitivity",
    type=click.Choice(["secret", "personal", "none"]),
    help="Whether a column holds secrets, which are never shown, or personal data.",
)
@click.option("--note", default="", help="Why; it is recorded.")
@json_option
def set_name(source: str, thing: str, note: str, as_json: bool, **changes: Any) -> None:
    """Say what TABLE, or one of its columns, is called. What is not given stays as it is."""
    from pydantic import ValidationError

    from answerable.core.validation import first_problem
    from answerable.sources.editing import NameEdit

    table, _, column = thing.partition(".")
    # An empty text is a wish too: it takes the label, description or unit away.
    wanted = {name: value for name, value in changes.items() if value not in (None, ())}
    if not wanted:
        raise click.UsageError(
            "Give at least one of --label, --synonym, --description, --unit, --hide, --show or --sensitivity."
        )
    try:
        edit = NameEdit(table=table, column=column or None, **wanted)
    except ValidationError as error:
        raise click.UsageError(f"{first_problem(error).at('the change')}.") from error
    _tell(with_service(lambda service, principal: service.semantic.edit(source, [edit], principal, note=note)), as_json)


@command.command("write")
@click.argument("source")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--note", default="", help="Why; it is recorded.")
@json_option
def write(source: str, file: Path, note: str, as_json: bool) -> None:
    """Replace everything that is said about SOURCE by the YAML in FILE. A mistake changes nothing."""
    from answerable.core.errors import UserError

    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{file} cannot be read: {error}", code="semantic_invalid") from error
    _tell(
        with_service(lambda service, principal: service.semantic.rewrite(source, text, principal, note=note)), as_json
    )


@command.command("history")
@click.argument("source")
@click.option("--limit", type=click.IntRange(1, 500), default=20, show_default=True)
@json_option
def history(source: str, limit: int, as_json: bool) -> None:
    """Who changed what is said about SOURCE, the newest change first."""
    changes = with_service(lambda service, principal: service.semantic.history(source, principal, limit=limit))
    if as_json:
        tell_json({"changes": [change.model_dump(mode="json") for change in changes]})
    else:
        tell_table([(each.change_id, f"{each.at:%Y-%m-%d %H:%M}", each.user, each.note) for each in changes])


@command.command("undo")
@click.argument("source")
@click.argument("change")
@json_option
def undo(source: str, change: str, as_json: bool) -> None:
    """Put back how it was before CHANGE, the newest change of SOURCE. That is a change too, and can be undone."""
    _tell(with_service(lambda service, principal: service.semantic.undo(source, change, principal)), as_json)


def _tell(document: "SemanticDocument", as_json: bool) -> None:
    if as_json:
        tell_json(document.model_dump(mode="json", by_alias=True))
    else:
        say(document.text or f"Nothing is said about {document.source} yet; changes go to {document.file}.")
