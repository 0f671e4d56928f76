"""`answerable doctor`"""

import asyncio
import sys
from typing import TYPE_CHECKING, Any

import click

from answerable.cli.output import progress, say, tell_json
from answerable.cli.session import with_service

if TYPE_CHECKING:
    from answerable.core.context import Principal
    from answerable.core.errors import OperatorError
    from answerable.service import Service
    from answerable.service.retention import RetentionReport
    from answerable.service.setup import DoctorReport


_SOURCE_SECONDS = 20.0


@click.command("doctor")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(as_json: bool) -> None:
    """What this machine offers: where generated code can run, what keeps it in, and how to get what is missing.

    Exit code 0 when generated code can run in the sandbox that the settings name, and the store can be used; else 1.
    """
    with progress("Looking …"):
        report, limits, sources = with_service(_machine, empty_store=True)
        retention = _retention()
    if as_json:
        if isinstance(retention, Exception):
            stored = {**limits, "error": retention.stable_code}
        else:
            stored = retention.model_dump()
        found = report.model_dump(mode="json")
        tell_json({"ready": found["ready"], "machine": found["machine"], "store": stored, **found, "sources": sources})
    else:
        _tell(report)
        _tell_sources(sources)
        _tell_retention(retention)
    sys.exit(0 if report.ready and not isinstance(retention, Exception) else 1)


async def _machine(
    service: "Service", principal: "Principal"
) -> "tuple[DoctorReport, dict[str, Any], list[dict[str, Any]]]":
    """What the machine offers, the limits of what is stored, and the sources: all are known without the store."""
    empty = await service.retention.report()
    limits = empty.model_dump(include={"keep_days", "keep_runs", "keep_mb"})
    names = dict.fromkeys([*service.sources.names(principal), service.sources.default])
    sources = await asyncio.gather(*(_source(service, principal, name) for name in names))
    return await service.setup.doctor(principal), limits, sources


async def _source(service: "Service", principal: "Principal", name: str) -> dict[str, Any]:
    """Whether a source can be read, and what had to be left out of it."""
    from answerable.core.errors import AnswerableError
    from answerable.sources.open import shown_location

    found: dict[str, Any] = {"name": shown_location(name), "tables": None, "error": None, "notes": []}
    try:
        async with asyncio.timeout(_SOURCE_SECONDS):
            catalog = await service.sources.describe(name, principal)
    except TimeoutError:
        message = f"Reading it takes longer than {_SOURCE_SECONDS:g} seconds."
        return {**found, "error": {"code": "source_slow", "message": message, "hint": None}}
    except AnswerableError as error:
        return {**found, "error": {"code": error.stable_code, "message": error.message, "hint": error.hint}}
    notes = [warning.model_dump() for warning in catalog.warnings]
    return {**found, "tables": len(catalog.tables), "notes": notes}


def _tell_sources(sources: list[dict[str, Any]]) -> None:
    say()
    for source in sources:
        if source["error"] is not None:
            say(f"source {source['name']}: cannot be read: {source['error']['message']} [{source['error']['code']}]")
            if source["error"]["hint"]:
                say(f"    Hint: {source['error']['hint']}")
            continue
        say(f"source {source['name']}: tables: {source['tables']:,}")
        for note in source["notes"]:
            say(f"    {note['subject']}: {note['message']}")


def _retention() -> "RetentionReport | OperatorError":
    """Returns what is stored, or why the store cannot be opened: a doctor is called when something is wrong."""
    from answerable.core.errors import OperatorError

    try:
        return with_service(lambda service, _: service.retention.report())
    except OperatorError as error:
        return error


def _tell_retention(report: "RetentionReport | OperatorError") -> None:
    if isinstance(report, Exception):
        say(f"\nstored runs      not known: {report.message}")
        return
    days, runs, space = report.keep_days, report.keep_runs, report.keep_mb
    limits = [f"{days} days"] * bool(days) + [f"{runs} runs"] * bool(runs) + [f"{space} MB"] * bool(space)
    database, results = report.database_bytes / 1e6, report.artifact_bytes / 1e6
    say(f"\nstored runs      {report.runs:,}, of which {report.protected_runs:,} are pinned, shared or golden")
    say(f"space            {database:.1f} MB in the database, {results:.1f} MB results")
    say(f"kept             {'at most ' + ', '.join(limits) if limits else 'everything'}")
    last = report.last_pruned
    done = (
        f"{report.pruned_at:%Y-%m-%d %H:%M} UTC, {last.runs:,} runs removed" if report.pruned_at and last else "never"
    )
    say(f"last pruned      {done}")


def _tell(report: "DoctorReport") -> None:
    for name, found in report.machine.items():
        shown = "no" if found in (None, False) else "yes" if found is True else found
        say(f"{name.replace('_', ' '):16} {shown}")
    for backend in report.sandboxes:
        mark = "yes" if backend.available else "no"
        default = " (the default)" if backend.default else ""
        say(f"\n{backend.backend:14} {mark:4} {backend.detail}{default}")
        for wall, mechanism in backend.walls.items():
            say(f"    {wall:11} {mechanism}")
        if backend.remedy:
            say(f"    to get it: {backend.remedy}")
