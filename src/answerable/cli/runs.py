"""`answerable runs`"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

import click

from answerable.cli.output import tell_answer, tell_json

if TYPE_CHECKING:
    from answerable.answers.answer import Answer
    from answerable.core.events import Event
    from answerable.service import Service
    from answerable.store.base import RunRecord

T = TypeVar("T")


@click.group("runs")
def command() -> None:
    """List, show and continue recorded runs."""


@command.command("list")
@click.option("--limit", type=click.IntRange(1, 500), default=20, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def list_runs(limit: int, as_json: bool) -> None:
    """Recorded runs, newest first."""
    from answerable.core.context import LOCAL

    records = _with_service(lambda service: service.store.runs.recent(LOCAL, limit=limit))
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
    from answerable.core.context import LOCAL
    from answerable.core.ids import RunId

    async def look(service: "Service") -> "tuple[RunRecord, Answer, Sequence[Event]]":
        record = await service.store.runs.get(LOCAL, RunId(run))
        answer = await service.answer(RunId(run))
        return record, answer, await service.store.events.read(LOCAL, RunId(run))

    import orjson

    record, answer, events = _with_service(look)
    if as_json:
        told = [orjson.loads(encode(event)) for event in events]
        tell_json({"run": _summary(record), "answer": answer.model_dump(mode="json"), "events": told})
    else:
        tell_answer(record.question or "(a query)", answer)


@command.command("resume")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def resume(as_json: bool) -> None:
    """Continue runs that an earlier process left unfinished, and wait for them."""

    async def go_on(service: "Service") -> int:
        count = await service.resume_unfinished()
        await service.idle()
        return count

    count = _with_service(go_on)
    if as_json:
        tell_json({"resumed": count})
    else:
        click.echo(f"{count} continued." if count else "Nothing to continue.")


def _with_service(work: "Callable[[Service], Awaitable[T]]") -> T:
    from answerable.app import open_service
    from answerable.settings import load_settings

    async def inside() -> T:
        async with open_service(load_settings(), any_location=True) as service:
            return await work(service)

    return asyncio.run(inside())


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
