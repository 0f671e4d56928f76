"""`answerable sandbox`"""

import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from answerable.cli.output import progress, say, tell_json
from answerable.cli.session import with_service
from answerable.core.errors import NotFoundError, UserError
from answerable.core.terminal import printable
from answerable.isolation.own_folder import scratch_folder

if TYPE_CHECKING:
    import polars as pl

    from answerable.sandbox.base import SandboxResult


@click.group("sandbox")
def command() -> None:
    """Run Python where it can do no harm."""


@command.command("run", epilog="Example: answerable sandbox run sums.py --input orders=orders.csv")
@click.argument("file")
@click.option("--backend", help="Where it runs; `answerable doctor` lists the names.")
@click.option("--input", "inputs", multiple=True, metavar="NAME=FILE", help="A table that the code sees as NAME.")
@click.option("--seconds", type=click.FloatRange(min=0, min_open=True), help="Longest time it may take.")
@click.option("--memory-mb", type=click.IntRange(min=64), help="Most memory it may use.")
@click.option("--rows", type=click.IntRange(min=0), help="Most rows to print; 20 for people, 10,000 for programs.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def run(
    file: str,
    backend: str | None,
    inputs: tuple[str, ...],
    seconds: float | None,
    memory_mb: int | None,
    rows: int | None,
    as_json: bool,
) -> None:
    """Run FILE, or standard input for `-`. What it leaves in the variable `result` is shown.

    Exit code 0 when it ran to its end, 1 when it failed or was stopped, 4 when the policy refuses it.
    """
    code = _code(file)
    most = rows if rows is not None else 10_000 if as_json else 20
    with scratch_folder() as folder, progress("Running …"):
        frames, into = dict(_input(text, folder) for text in inputs), folder / "result.arrow"
        result = with_service(
            lambda service, principal: service.programs.run(code, principal, frames=frames, into=into),
            empty_store=True,  # nothing of it is recorded
            sandbox=backend,
            sandbox_seconds=seconds,
            sandbox_memory_mb=memory_mb,
        )
        # Reads the rows before the folder that holds them is removed.
        value = _value(result, into, most)
    if as_json:
        tell_json(_document(result, value))
    else:
        _tell(result, value)
    sys.exit(0 if result.outcome == "ok" else 4 if result.reason == "policy" else 1)


def _code(file: str) -> str:
    try:
        data = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
        # Editors on Windows put a byte order mark first, which Python would refuse as a character.
        return data.decode("utf-8-sig")
    except OSError as error:
        raise NotFoundError(f"{file} cannot be read: {error.strerror}.", code="code_unreadable") from error
    except UnicodeDecodeError as error:
        raise UserError(f"{file} is not text in UTF-8.", code="code_unreadable") from error


def _input(option: str, folder: Path) -> tuple[str, Path]:
    """Reads `NAME=FILE` and returns the name, with an Arrow file that holds the rows of the file."""
    name, _, place = option.partition("=")
    # The code sees the table as a variable, and the name becomes a part of a file name.
    if not name.isidentifier() or not place:
        raise UserError(
            f"{option!r} is not NAME=FILE.", code="input_invalid", hint="For example: --input orders=orders.csv"
        )
    path = folder / f"input-{name}.arrow"
    _frame(Path(place)).write_ipc(path)
    return name, path


def _frame(path: Path) -> "pl.DataFrame":
    import polars as pl
    from polars.exceptions import PolarsError

    readers: dict[str, Any] = {
        ".arrow": pl.read_ipc,
        ".csv": lambda file: pl.read_csv(file, try_parse_dates=True),
        ".feather": pl.read_ipc,
        ".ipc": pl.read_ipc,
        ".json": pl.read_json,
        ".jsonl": pl.read_ndjson,
        ".ndjson": pl.read_ndjson,
        ".parquet": pl.read_parquet,
    }
    reader = readers.get(path.suffix.lower())
    if reader is None:
        raise UserError(
            f"{path.name} is of no kind that can be an input.",
            code="input_invalid",
            hint=f"The name must end in one of {', '.join(readers)}.",
        )
    if not path.is_file():
        raise NotFoundError(f"There is no file {path}.", code="input_missing")
    try:
        frame: pl.DataFrame = reader(path)
    except (PolarsError, OSError) as error:
        first = str(error).partition("\n")[0]
        raise UserError(f"{path.name} cannot be read: {first}.", code="input_invalid") from error
    return frame


def _value(result: "SandboxResult", path: Path, most: int) -> Any:
    """The result as JSON holds it: a table as its columns and its first rows."""
    if result.frame is None:
        return result.value
    from answerable.answers import frame

    return {
        "columns": [column.model_dump() for column in result.frame.columns],
        "rows": frame.rows(path, 0, most),
        "row_count": result.frame.row_count,
    }


def _document(result: "SandboxResult", value: Any) -> dict[str, Any]:
    return {
        "outcome": result.outcome,
        "reason": result.reason,
        "message": result.message,
        "value": value,
        "output": result.output,
        "resources": asdict(result.resources),
        "backend": result.backend,
        "isolated": result.isolated,
        "isolation": dict(result.isolation),
    }


def _tell(result: "SandboxResult", value: Any) -> None:
    say(result.output, nl=False)
    if result.frame is not None:
        _tell_table(value)
    elif value is not None:
        import orjson

        text = value if isinstance(value, str) else orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()
        say(text)
    if result.outcome != "ok":
        say(f"{result.outcome.capitalize()}: {result.message} [{result.reason}]", err=True)
    if not result.isolated:
        say("Note: this ran without isolation.", err=True)


def _tell_table(value: dict[str, Any]) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    grid = Table(box=box.SIMPLE_HEAD)
    for column in value["columns"]:
        grid.add_column(
            Text(printable(column["name"])), justify="right" if column["type"] in ("integer", "number") else "left"
        )
    for row in value["rows"]:
        grid.add_row(*(Text("" if cell is None else printable(str(cell))) for cell in row))
    console = Console()
    console.print(grid)
    console.print(f"{value['row_count']:,} rows", style="dim", highlight=False)
