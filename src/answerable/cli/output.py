"""How commands speak: people get text, programs get one JSON document, and the exit code says how it went."""

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from answerable.core.errors import AnswerableError, kind_of
from answerable.core.terminal import printable

if TYPE_CHECKING:
    from answerable.answers.answer import Answer
    from answerable.core.events import Event

EXIT_CODES = {"done": 0, "partial": 0, "failed": 1, "cancelled": 1, "clarify": 3, "refused": 4}


json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")


def say(text: object = "", *, err: bool = False, nl: bool = True) -> None:
    """Prints text. Every command prints through this, because text from data may hold commands for the terminal."""
    click.echo(printable(str(text)), err=err, nl=nl)


def tell_table(rows: Iterable[Sequence[object]]) -> None:
    """Lines of text in columns; the last column is as long as it needs."""
    cells = [[("" if cell is None else str(cell)).replace("\n", " ") for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for row in cells:
        say("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def tell_json(document: Any) -> None:
    import orjson

    # As bytes: JSON is UTF-8 whatever encoding the terminal has.
    sys.stdout.buffer.write(orjson.dumps(document, option=orjson.OPT_INDENT_2) + b"\n")
    sys.stdout.buffer.flush()


def json_or_text(text: str) -> Any:
    """A value of the command line: JSON if it is JSON, else the text itself."""
    import orjson

    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return text


def tell_error(error: AnswerableError, *, as_json: bool = False) -> int:
    if as_json:
        record = {"kind": kind_of(error), "code": error.stable_code, "message": str(error), "hint": error.hint}
        tell_json({"status": "failed", "text": str(error), "error": record})
    else:
        say(f"Error: {error} [{error.stable_code}]", err=True)
        if error.hint:
            say(f"Hint: {error.hint}", err=True)
    return error.exit_code


def exit_code(answer: "Answer") -> int:
    """A wrong question exits as wrong usage does, though its run was recorded as failed."""
    error = answer.provenance.error
    if error is None:
        return EXIT_CODES[answer.status]
    from answerable.core.errors import restored

    return restored(error.kind, error.code, error.message, error.hint).exit_code


def tell_answer(question: str, answer: "Answer", thread: str | None = None) -> None:
    from rich.console import Console

    from answerable.answers.render import render

    console = Console()
    console.print(render(question, answer), soft_wrap=not console.is_terminal)  # in a pipe, lines and paths stay whole
    if thread is not None and answer.status in ("done", "partial", "clarify"):
        console.print(f"Go on with: --thread {thread}", style="dim", highlight=False)


@contextmanager
def progress(message: str) -> Iterator[Callable[[str], None] | None]:
    """Shows a spinner on a terminal. Yields the function that changes its message, or None in a pipe."""
    # Progress goes to stderr, so stdout holds the result alone.
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console

    with Console(stderr=True).status(message) as status:
        yield status.update


def progress_text(event: "Event") -> str | None:
    """What a waiting person is shown of an event, in one line; None if it says nothing about progress."""
    from answerable.core.events import StepProgress, StepRetried

    match event:
        case StepProgress(done=done, total=total) if done is not None and total:
            return f"{event.message} … {done:,.0f} of {total:,.0f}"
        case StepProgress():
            return f"{event.message} …"
        case StepRetried():
            return f"{event.message} Trying again in {event.delay:.1f} s …"
    return None


def write_whole(output: Path, pieces: Iterable[bytes]) -> None:
    """Writes a file that is there whole or not at all."""
    from answerable.core.errors import UserError
    from answerable.store.whole_files import whole_file

    try:
        with whole_file(output) as partial, partial.open("wb") as file:
            file.writelines(pieces)
    except OSError as error:
        raise UserError(
            f"{output} cannot be written: {error.strerror}.",
            code="output_unwritable",
            hint="Name a file in a folder that exists and may be written to.",
        ) from error
