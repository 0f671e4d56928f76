"""An answer on a terminal, and in a notebook."""

import html
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from textwrap import indent
from typing import TYPE_CHECKING

from answerable.answers.answer import Answer, Provenance, StepRecord, Usage
from answerable.answers.format import FormatSpec, format_cell, format_spec, total_cells
from answerable.core.terminal import printable
from answerable.core.values import Json

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType

TERMINAL_ROWS = 20
NOTEBOOK_ROWS = 100


def render(question: str | None, answer: Answer, *, rows: int = TERMINAL_ROWS, code: bool = True) -> "RenderableType":
    """Question, what was understood, code, text, table, provenance; what is absent takes no room."""
    from rich.console import Group

    return Group(*_parts(answer, question, rows, code))


def to_text(answer: Answer, *, rows: int = TERMINAL_ROWS, width: int = 100) -> str:
    """Plain text, for `repr` and logs."""
    import io

    from rich.console import Console

    console = Console(file=io.StringIO(), width=width, no_color=True, force_terminal=False, legacy_windows=False)
    console.print(render(None, answer, rows=rows, code=False))
    return str(console.file.getvalue()).rstrip()  # type: ignore[attr-defined]


def to_html(answer: Answer, *, rows: int = NOTEBOOK_ROWS) -> str:
    """The HTML of `_repr_html_`: no script, no style sheet, and every text from data escaped."""
    body = [f"<p>{html.escape(answer.text)}</p>"]
    error = answer.provenance.error
    body += [f"<p>Hint: {html.escape(error.hint)}</p>"] if error is not None and error.hint else []
    body += (
        [f"<ol>{''.join(f'<li>{html.escape(c.label)}</li>' for c in answer.choices)}</ol>"] if answer.choices else []
    )
    shows_table = answer.rows and answer.kind != "value" and not spec_of(answer).markdown
    body += [_html_table(answer, rows)] if shows_table else []
    body += [f"<p><small>{html.escape(line)}</small></p>" for line in (*answer.provenance.findings, receipt(answer))]
    body += [
        f"<details><summary>{html.escape(step.id)}</summary><pre>{html.escape(step.code)}</pre></details>"
        for step in answer.steps
        if step.code
    ]
    return "<div>" + "".join(body) + "</div>"


def receipt(answer: Answer, now: datetime | None = None) -> str:
    """One line that says what the answer stands on: data, age, fingerprint, steps, time, cost."""
    return " · ".join(_receipt(answer.provenance, answer.steps, answer.usage, answer.run_id, now or datetime.now(UTC)))


def duration(milliseconds: float) -> str:
    """41 ms, 6.84 s, 2 min 41 s."""
    if milliseconds < 1_000:
        return f"{milliseconds:.0f} ms"
    if milliseconds < 60_000:
        return f"{milliseconds / 1_000:.2f} s"
    minutes, seconds = divmod(round(milliseconds / 1_000), 60)
    return f"{minutes} min {seconds} s"


def age(then: datetime, now: datetime) -> str:
    """How old data is, in the largest unit that says enough."""
    past = max(now - then, timedelta(0))
    for name, length in (("day", 86_400), ("h", 3_600), ("min", 60)):
        count = int(past.total_seconds() // length)
        if count:
            return f"{count} {name}{'s' if name == 'day' and count > 1 else ''} old"
    return "less than a minute old"


def spec_of(answer: Answer) -> FormatSpec:
    """The format that came with the answer, else one derived from its rows."""
    if answer.provenance.format:
        return FormatSpec.model_validate(answer.provenance.format)
    return format_spec(answer.columns, answer.rows)


def _parts(answer: Answer, question: str | None, rows: int, code: bool) -> "Iterator[RenderableType]":
    provenance = answer.provenance
    if question:
        yield _text(question, "bold")
    if provenance.understood:
        yield _text(f"Understood: {provenance.understood}", "dim")
    if code:
        yield from (_Code(step) for step in answer.steps if step.code)
    yield _text(answer.text, _TEXT_STYLES.get(answer.status, ""))
    if provenance.error is not None and provenance.error.hint:
        yield _text(f"Hint: {provenance.error.hint}")
    for number, choice in enumerate(answer.choices, 1):
        yield _text(f"  {number}  {choice.label}{f' ({choice.example})' if choice.example else ''}")
    if answer.rows and answer.kind != "value" and not spec_of(answer).markdown:
        yield _table(answer, rows)
        if more := _more(answer, rows):
            yield _text(more, "dim")
    for step in answer.steps:
        if step.sample:
            yield _text(f"Step {step.id} found {step.row_count:,} rows, among them:")
            yield _sample_table(step)
    for finding in provenance.findings:
        yield _text(f"Note: {finding}", "yellow")
    yield _text(receipt(answer), "dim")


def _text(text: str, style: str = "") -> "RenderableType":
    from rich.text import Text

    return Text(printable(text), style=style)


_TEXT_STYLES = {"failed": "red", "refused": "red", "partial": "yellow", "cancelled": "yellow"}


class _Code:
    """A program. Without colours what would choose them is not loaded: it takes longer than everything else here."""

    def __init__(self, step: StepRecord) -> None:
        # Answers of older versions do not say; then only programs ran in a sandbox, and all else was SQL.
        self._language = step.language or ("python" if step.sandbox else "sql")
        self._text = printable(step.code or "")

    def __rich_console__(self, console: "Console", options: "ConsoleOptions") -> "Iterator[RenderableType]":
        from rich.padding import Padding

        if console.color_system:
            yield Padding(self._coloured(), (0, 0, 0, 2))
        else:
            # Not padded to the width of a terminal: in a pipe there is none, and a line that is cut is wrong SQL.
            yield _text(indent(self._text, "  "))

    def _coloured(self) -> "RenderableType":
        from rich.syntax import Syntax

        return Syntax(self._text, self._language, background_color="default", word_wrap=True)


def _table(answer: Answer, rows: int) -> "RenderableType":
    from rich import box
    from rich.table import Table
    from rich.text import Text

    spec = spec_of(answer)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in spec.columns:
        head = Text.assemble(
            printable(column.header), *([(printable(f" {column.unit}"), "dim")] if column.unit else [])
        )
        table.add_column(head, justify="right" if column.right else "left", overflow="fold")
    for row in answer.rows[:rows]:
        table.add_row(*map(_cell, _cells(row, spec)))
    if spec.totals:
        table.add_section()
        table.add_row(*map(_cell, total_cells(spec)))
    return table


def _sample_table(step: StepRecord) -> "RenderableType":
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in step.sample[0]:
        table.add_column(_text(name))
    for record in step.sample:
        table.add_row(*(_cell(None if value is None else str(value)) for value in record.values()))
    return table


def _cell(text: str | None) -> "RenderableType":
    return _text("null", "dim") if text is None else _text(text.replace("\n", "␤"))


def _cells(row: Sequence[Json], spec: FormatSpec) -> list[str | None]:
    return [format_cell(value, column.format) for value, column in zip(row, spec.columns, strict=True)]


def _more(answer: Answer, rows: int) -> str | None:
    left = answer.row_count - min(rows, len(answer.rows))
    return f"… and {left:,} more rows" if left > 0 else None


def _receipt(
    provenance: Provenance, steps: Sequence[StepRecord], usage: Usage, run_id: str, now: datetime
) -> Iterator[str]:
    if provenance.sources:
        yield ", ".join(provenance.sources)
    if provenance.last_sync:
        yield f"data {age(provenance.last_sync, now)}"
    if provenance.fingerprint:
        yield f"fingerprint {provenance.fingerprint.removeprefix('sha256:')[:8]}"
    if steps:
        total = sum(step.duration_ms for step in steps)
        yield f"{len(steps)} step{'s' if len(steps) > 1 else ''}, {duration(usage.duration_ms or total)}"
    yield _cost(usage)
    yield f"run {run_id}"


def _cost(usage: Usage) -> str:
    if not usage.model_calls:
        return "no model"
    price = "price not known" if usage.cost_usd is None else f"{usage.cost_usd:.4f} USD"
    return f"{usage.input_tokens + usage.output_tokens:,} tokens, {price}"


def _html_table(answer: Answer, rows: int) -> str:
    spec = spec_of(answer)
    heads = "".join(f"<th{_align(c.right)}>{html.escape(_head(c.header, c.unit))}</th>" for c in spec.columns)
    body = "".join(_html_row(row, spec) for row in answer.rows[:rows])
    body += _html_cells(total_cells(spec), spec) if spec.totals else ""
    more = _more(answer, rows)
    foot = f"<p><small>{html.escape(more)}</small></p>" if more else ""
    return f"<table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>{foot}"


def _html_row(row: Sequence[Json], spec: FormatSpec) -> str:
    return _html_cells(_cells(row, spec), spec)


def _html_cells(texts: Sequence[str | None], spec: FormatSpec) -> str:
    cells = zip(texts, spec.columns, strict=True)
    return "<tr>" + "".join(f"<td{_align(column.right)}>{_html_text(text)}</td>" for text, column in cells) + "</tr>"


def _html_text(text: str | None) -> str:
    return "<small>null</small>" if text is None else html.escape(text)


def _head(header: str, unit: str | None) -> str:
    return f"{header} ({unit})" if unit else header


def _align(right: bool) -> str:
    return ' style="text-align:right"' if right else ' style="text-align:left"'
