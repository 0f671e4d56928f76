"""What the commands of graphs and agents are called with: names with versions, fields of the input, and files."""

from pathlib import Path

from answerable.cli.output import json_or_text


def named_version(named: str, code: str = "graph_version_not_found") -> tuple[str, int | None]:
    """Name and version of `NAME` or `NAME@VERSION`. `code`: of the error for what is no version."""
    from answerable.core.errors import UserError

    name, sign, version = named.partition("@")
    if sign and not version.isdigit():
        raise UserError(f"{named!r} names no version.", code=code, hint="Write NAME@2.")
    return name, int(version) if sign else None


def text_of(file: Path) -> str:
    from answerable.core.errors import UserError

    try:
        return file.read_bytes().decode()  # with its byte order mark, if it has one: what is stored is exported so
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise UserError(f"{file} cannot be read: {reason}.", code="file_unreadable") from error


def pairs(fields: tuple[str, ...]) -> dict[str, str]:
    from answerable.core.errors import UserError

    pairs = [field.partition("=") for field in fields]
    wrong = next((name for name, sign, _ in pairs if not sign or not name), None)
    if wrong is not None:
        raise UserError(f"{wrong}: write NAME=VALUE.", code="graph_input_invalid")
    return {name: value for name, _, value in pairs}


def json_values(fields: tuple[str, ...]) -> dict[str, object]:
    """JSON by name; what is no JSON is text."""
    return {name: json_or_text(text) for name, text in pairs(fields).items()}


def json_object(file: Path) -> dict[str, object]:
    import orjson

    from answerable.core.errors import UserError

    try:
        found = orjson.loads(text_of(file).removeprefix("\ufeff"))
    except orjson.JSONDecodeError as error:
        raise UserError(f"{file} is no JSON: {error}.", code="graph_input_invalid") from error
    if not isinstance(found, dict):
        raise UserError(f"{file} must hold one JSON object.", code="graph_input_invalid")
    return found
