"""`answerable runs`"""

import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from answerable.cli.output import (
    exit_code,
    json_option,
    json_or_text,
    progress,
    say,
    tell_answer,
    tell_json,
    tell_table,
    write_whole,
)
from answerable.cli.run_progress import WAITING, tell_waits
from answerable.cli.session import with_service

if TYPE_CHECKING:
    from answerable.answers.answer import Answer
    from answerable.core.context import Principal
    from answerable.core.events import Event, Verdict
    from answerable.core.values import Json
    from answerable.engine.open_questions import OpenQuestion
    from answerable.engine.timeline import Timeline
    from answerable.service import Service
    from answerable.service.comparison import RunComparison
    from answerable.service.rows import RowsPage
    from answerable.store.base import RunRecord


@click.group("runs")
def command() -> None:
    """List, show, compare, cancel and continue recorded runs, and ask again."""


@command.command("list")
@click.option("--limit", type=click.IntRange(1, 500), default=20, show_default=True)
@json_option
def list_runs(limit: int, as_json: bool) -> None:
    """Recorded runs, newest first."""
    records = with_service(lambda service, principal: service.runs.list(principal, limit=limit))
    if as_json:
        tell_json({"runs": [_summary(record) for record in records]})
        return
    for record in records:
        question = (record.question or "").replace("\n", " ")[:80]
        say(f"{record.run}  {record.created_at:%Y-%m-%d %H:%M}  {record.status:9}  {question}")


@command.command("show")
@click.argument("run")
@click.option("--json", "as_json", is_flag=True, help="Print the answer and its events as one JSON object.")
def show(run: str, as_json: bool) -> None:
    """One run: its question, answer and record."""
    from answerable.core.codec import encode
    from answerable.core.ids import RunId

    async def look(
        service: "Service", principal: "Principal"
    ) -> "tuple[RunRecord, Answer | None, Sequence[OpenQuestion], Sequence[Event]]":
        record = await service.runs.get(RunId(run), principal)
        events = await service.runs.journal(record.run, principal)
        if record.finished_at is None:
            return record, None, await service.runs.waits(record.run, principal), events
        return record, await service.runs.answer(record.run, principal), (), events

    import orjson

    record, answer, waits, events = with_service(look)
    if as_json:
        found = {
            "run": _summary(record),
            "answer": answer and answer.model_dump(mode="json"),
            "waits": [each.model_dump(mode="json") for each in waits],
        }
        tell_json({**found, "events": [orjson.loads(encode(event)) for event in events]})
    elif answer is not None:
        tell_answer(record.question or "(a query)", answer)
    else:
        _tell_unfinished(record, waits)


@command.command("pause")
@click.argument("run")
@json_option
def pause(run: str, as_json: bool) -> None:
    """Have RUN wait until it is resumed. Steps that are under way end first; no other starts."""
    from answerable.core.ids import RunId

    async def hold(service: "Service", principal: "Principal") -> "RunRecord":
        await service.runs.pause(RunId(run), principal)
        return await service.runs.get(RunId(run), principal)

    record = with_service(hold)
    if as_json:
        tell_json({"run_id": record.run, "status": record.status})
    elif record.status == "paused":
        say(f"{record.run}: paused")
    else:
        say(f"{record.run}: pauses once the steps that are under way have ended")


@command.command("resume")
@click.argument("run", required=False)
@json_option
def resume(run: str | None, as_json: bool) -> None:
    """Continue RUN, which was paused, or without RUN the runs that an earlier process left unfinished, and wait."""
    if run is not None:
        _resume_paused(run, as_json)
        return

    async def go_on(service: "Service", principal: "Principal") -> int:
        count = await service.runs.resume_patiently(principal)
        await service.runs.carrier.idle()
        return count

    count = with_service(go_on)
    if as_json:
        tell_json({"resumed": count})
    else:
        say(f"{count} continued." if count else "Nothing to continue.")


def _resume_paused(run: str, as_json: bool) -> None:
    from answerable.core.ids import RunId

    async def go_on(service: "Service", principal: "Principal") -> "RunRecord":
        await service.runs.resume(RunId(run), principal)
        async for _ in service.runs.events(RunId(run), principal):
            pass
        return await service.runs.get(RunId(run), principal)

    with progress("Going on …"):
        record = with_service(go_on)
    if as_json:
        tell_json({"run_id": record.run, "status": record.status})
    else:
        say(f"{record.run}: {record.status}")


@command.command("cancel")
@click.argument("run")
@json_option
def cancel(run: str, as_json: bool) -> None:
    """Stop RUN, whichever process carries it out. A run that has ended stays as it is."""
    from answerable.core.ids import RunId

    async def stop(service: "Service", principal: "Principal") -> "RunRecord":
        await service.runs.cancel(RunId(run), principal)
        return await service.runs.get(RunId(run), principal)

    record = with_service(stop)
    if as_json:
        tell_json({"run_id": record.run, "status": record.status})
    else:
        say(f"{record.run}: {record.status}")


@command.command("approve")
@click.argument("run")
@click.argument("step")
@click.option("--refuse", is_flag=True, help="Reject what the run asked instead.")
@click.option("--edit", metavar="JSON", help="Approve with this instead of what was shown.")
@click.option("--respond", metavar="JSON", help="Give this as the answer, or as the result of what has happened.")
@click.option("--note", help="Why; it is recorded.")
@json_option
def approve(
    run: str, step: str, refuse: bool, edit: str | None, respond: str | None, note: str | None, as_json: bool
) -> None:
    """Decide about STEP of RUN, which waits for it, and wait for the run to end or to ask something else.

    Exit codes: those of the answer; 3 if the run waits for something else.
    """
    from answerable.core.ids import RunId

    verdict, data = _verdict(refuse, edit, respond)

    async def decide(
        service: "Service", principal: "Principal"
    ) -> "tuple[RunRecord, Answer | None, Sequence[OpenQuestion]]":
        await service.runs.decide(RunId(run), step, principal, verdict=verdict, note=note, data=data)
        async for _ in service.runs.events(RunId(run), principal):
            pass
        record = await service.runs.get(RunId(run), principal)
        if record.status in ("waiting", "paused"):
            return record, None, await service.runs.waits(RunId(run), principal)
        return record, await service.runs.wait(RunId(run), principal), ()

    with progress("Going on …"):
        record, answer, waits = with_service(decide)
    if answer is None:
        if as_json:
            questions = [each.model_dump(mode="json") for each in waits]
            tell_json({"run_id": record.run, "status": record.status, "waits": questions})
        else:
            _tell_unfinished(record, waits)
        sys.exit(WAITING)
    if as_json:
        tell_json(answer.model_dump(mode="json"))
    else:
        tell_answer(f"{step} of {run}", answer)
    sys.exit(exit_code(answer))


@command.command("retry")
@click.argument("run")
@json_option
def retry(run: str, as_json: bool) -> None:
    """Ask the question or query of RUN once more, in its thread, as a run of its own, and wait for the answer."""
    from answerable.core.ids import RunId

    async def ask_again(service: "Service", principal: "Principal") -> "tuple[RunRecord, Answer]":
        new = await service.questions.retry(RunId(run), principal)
        answer = await service.runs.wait(new, principal)
        most = 10_000 if as_json else 20
        return await service.runs.get(new, principal), await service.answers.with_rows(answer, most, principal)

    with progress("Asking again …"):
        record, answer = with_service(ask_again)
    if as_json:
        tell_json(answer.model_dump(mode="json"))
    else:
        tell_answer(record.question or "(a query)", answer, record.thread)
    sys.exit(exit_code(answer))


@command.command("rows")
@click.argument("run")
@click.option("--offset", type=click.IntRange(min=0), default=0, show_default=True, help="First row to print.")
@click.option("--limit", type=click.IntRange(1, 100_000), default=100, show_default=True, help="Most rows to print.")
@click.option("--sort", multiple=True, metavar="COLUMN", help="Sort by this column; -COLUMN sorts descending.")
@click.option("--search", help="Only rows that hold this text in some column.")
@click.option("--output", "-o", type=click.Path(dir_okay=False, path_type=Path), help="Write all rows to this file.")
@json_option
def rows(
    run: str,
    offset: int,
    limit: int,
    sort: tuple[str, ...],
    search: str | None,
    output: Path | None,
    as_json: bool,
) -> None:
    """Rows of the answer RUN: a page of them, or with --output all of them as a file."""
    from answerable.answers.export import format_of
    from answerable.answers.view import Selection, SortKey
    from answerable.core.ids import RunId

    keys = tuple(SortKey(column=name.removeprefix("-"), descending=name.startswith("-")) for name in sort)
    selection = Selection(sort=keys, search=search)

    async def read(service: "Service", principal: "Principal") -> "RowsPage":
        if output is not None:
            pieces = await service.rows.export(RunId(run), principal, selection, format=format_of(output))
            write_whole(output, pieces)
        return await service.rows.page(RunId(run), principal, selection, offset=offset, limit=limit)

    page = with_service(read)
    if as_json:
        columns = [column.model_dump() for column in page.columns]
        tell_json({"columns": columns, "rows": page.rows, "offset": offset, "row_count": page.row_count})
    elif output is not None:
        say(f"{page.row_count:,} rows written to {output}")
    else:
        tell_table([[column.name for column in page.columns], *page.rows])


@command.command("compare")
@click.argument("run")
@click.argument("other")
@click.option("--key", multiple=True, metavar="COLUMN", help="Column that identifies a row; looked for if not given.")
@click.option("--limit", type=click.IntRange(0, 1_000), default=20, show_default=True, help="Most rows to print.")
@click.option("--output", "-o", type=click.Path(dir_okay=False, path_type=Path), help="Write all differing rows here.")
@json_option
def compare(run: str, other: str, key: tuple[str, ...], limit: int, output: Path | None, as_json: bool) -> None:
    """What is different in the later run OTHER: rows, columns, plan and code.

    Exit code 0 when the rows are the same, else 1.
    """
    from answerable.answers.export import format_of
    from answerable.core.ids import RunId

    async def look(service: "Service", principal: "Principal") -> "RunComparison":
        before, after, chosen = RunId(run), RunId(other), key or None
        if output is not None:
            format_ = format_of(output)
            pieces = await service.comparisons.export_differences(before, after, principal, format_, key=chosen)
            write_whole(output, pieces)
        return await service.comparisons.compare(before, after, principal, key=chosen, limit=limit)

    found = with_service(look)
    if as_json:
        tell_json(found.model_dump(mode="json"))
    else:
        _tell_comparison(found)
    counts = found.counts
    sys.exit(0 if found.rows_compared and not (counts.added or counts.removed or counts.changed) else 1)


@command.command("freshness")
@click.argument("run")
@json_option
def freshness(run: str, as_json: bool) -> None:
    """Whether the data of the answer RUN has changed since. Exit code 0 when it has not, else 1."""
    from answerable.core.ids import RunId

    found = with_service(lambda service, principal: service.answers.freshness(RunId(run), principal))
    if as_json:
        tell_json(found.model_dump(mode="json"))
    else:
        words = {True: "changed", False: "as it was", None: "cannot be looked at"}
        tell_table([(each.source, words[each.changed]) for each in found.sources])
    sys.exit(1 if found.stale else 0)


@command.command("timeline")
@click.argument("run")
@json_option
def timeline(run: str, as_json: bool) -> None:
    """When each step of RUN began and how long it took."""
    from answerable.core.ids import RunId

    async def look(service: "Service", principal: "Principal") -> "Timeline":
        await service.runs.get(RunId(run), principal)
        return await service.runs.timeline(RunId(run), principal)

    found = with_service(look)
    if as_json:
        tell_json(found.model_dump(mode="json"))
        return
    tell_table([(step.id, step.kind, step.status, _took(step.start_ms, step.end_ms)) for step in found.steps])


def _took(start_ms: float | None, end_ms: float | None) -> str:
    return f"{end_ms - start_ms:,.0f} ms" if start_ms is not None and end_ms is not None else ""


def _tell_comparison(found: "RunComparison") -> None:
    counts = found.counts
    if found.rows_compared:
        amounts = f"{counts.added:,} added, {counts.removed:,} removed, {counts.changed:,} changed"
        say(f"Rows: {amounts}, {counts.same:,} same")
    else:
        say("Rows: one of the runs has none")
    say(f"Plan: {'same' if found.same_plan else 'differs'}; code: {'same' if found.same_code else 'differs'}")
    for row in found.rows:
        say(f"{row.change:8} {list(row.before or ())} → {list(row.after or ())}")


@command.command("prune")
@click.option("--dry-run", is_flag=True, help="Only say what would be removed.")
@json_option
def prune(dry_run: bool, as_json: bool) -> None:
    """Remove runs beyond the settings `keep_days`, `keep_runs` and `keep_mb`, with their results.

    Pinned, shared and golden runs stay. `answerable serve` does the same once an hour.
    """
    pruned = with_service(lambda service, _: service.retention.prune(dry_run=dry_run))
    if as_json:
        tell_json({"dry_run": dry_run, "pruned": asdict(pruned) if pruned is not None else None})
    elif pruned is None:
        say("Another process does this now.")
    elif dry_run:
        say(f"{pruned.runs} runs would be removed.")
    else:
        freed = f"{pruned.bytes / 1e6:.1f} MB of results"
        say(f"{pruned.runs} runs and {pruned.threads} threads removed, {freed} freed.")


def _tell_unfinished(record: "RunRecord", waits: "Sequence[OpenQuestion]") -> None:
    say(f"{record.run}: {record.status}")
    for question in waits:
        say(f"{question.node}: {question.prompt}")
    tell_waits(record.run, record.status, waits)


def _summary(record: "RunRecord") -> dict[str, object]:
    return {
        "run_id": record.run,
        "thread_id": record.thread,
        "question": record.question,
        "status": record.status,
        "created_at": record.created_at,
        "finished_at": record.finished_at,
        "error_code": record.error_code,
    }


def _verdict(refuse: bool, edit: str | None, respond: str | None) -> "tuple[Verdict, Json]":
    from answerable.core.errors import UserError

    if refuse + (edit is not None) + (respond is not None) > 1:
        raise UserError("Give one of --refuse, --edit and --respond.", code="decision_invalid")
    if edit is not None:
        return "edit", json_or_text(edit)
    if respond is not None:
        return "respond", json_or_text(respond)
    return ("reject" if refuse else "approve"), None
