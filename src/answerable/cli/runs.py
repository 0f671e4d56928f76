"""`answerable runs`"""

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from answerable.cli.output import tell_answer, tell_json
from answerable.cli.session import with_service

if TYPE_CHECKING:
    from answerable.answers.answer import Answer
    from answerable.core.context import Principal
    from answerable.core.events import Event
    from answerable.service import Service
    from answerable.store.base import RunRecord


@click.group("runs")
def command() -> None:
    """List, show and continue recorded runs."""


@command.command("list")
@click.option("--limit", type=click.IntRange(1, 500), default=20, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def list_runs(limit: int, as_json: bool) -> None:
    """Recorded runs, newest first."""
    records = with_service(lambda service, principal: service.runs.list(principal, limit=limit))
    if as_json:
        tell_json({"runs": [_summary(record) for record in records]})
        return
    for record in records:
        question = (record.question or "").replace("\n", " ")[:80]
        click.echo(f"{record.run}  {record.created_at:%Y-%m-%d %H:%M}  {record.status:9}  {question}")


@command.command("show")
@click.argument("run")
@click.option("--json", "as_json", is_flag=True, help="Print the answer and its events as one JSON object.")
def show(run: str, as_json: bool) -> None:
    """One run: its question, answer and record."""
    from answerable.core.codec import encode
    from answerable.core.ids import RunId

    async def look(service: "Service", principal: "Principal") -> "tuple[RunRecord, Answer, Sequence[Event]]":
        record = await service.runs.get(RunId(run), principal)
        answer = await service.runs.answer(record.run, principal)
        return record, answer, await service.runs.journal(record.run, principal)

    import orjson

    record, answer, events = with_service(look)
    if as_json:
        told = [orjson.loads(encode(event)) for event in events]
        tell_json({"run": _summary(record), "answer": answer.model_dump(mode="json"), "events": told})
    else:
        tell_answer(record.question or "(a query)", answer)


@command.command("resume")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def resume(as_json: bool) -> None:
    """Continue runs that an earlier process left unfinished, and wait for them."""

    async def go_on(service: "Service", principal: "Principal") -> int:
        count = await service.runs.resume_patiently(principal)
        await service.runs.idle()
        return count

    count = with_service(go_on)
    if as_json:
        tell_json({"resumed": count})
    else:
        click.echo(f"{count} continued." if count else "Nothing to continue.")


@command.command("prune")
@click.option("--dry-run", is_flag=True, help="Only say what would be removed.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def prune(dry_run: bool, as_json: bool) -> None:
    """Remove runs beyond the settings `keep_days`, `keep_runs` and `keep_mb`, with their results.

    Pinned, shared and golden runs stay. `answerable serve` does the same once an hour.
    """
    pruned = with_service(lambda service, _: service.retention.prune(dry_run=dry_run))
    if as_json:
        tell_json({"dry_run": dry_run, "pruned": asdict(pruned) if pruned is not None else None})
    elif pruned is None:
        click.echo("Another process does this now.")
    elif dry_run:
        click.echo(f"{pruned.runs} runs would be removed.")
    else:
        freed = f"{pruned.bytes / 1e6:.1f} MB of results"
        click.echo(f"{pruned.runs} runs and {pruned.threads} threads removed, {freed} freed.")


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
