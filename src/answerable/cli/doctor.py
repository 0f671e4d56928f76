"""`answerable doctor`"""

import asyncio
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from answerable.cli.output import progress, tell_json
from answerable.cli.session import with_service

if TYPE_CHECKING:
    from answerable.core.errors import OperatorError
    from answerable.sandbox.base import Availability
    from answerable.service.retention import RetentionReport
    from answerable.settings import Settings


@click.command("doctor")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(as_json: bool) -> None:
    """What this machine offers: where generated code can run, what keeps it in, and how to get what is missing.

    Exit code 0 when generated code can run in the sandbox that the settings name, else 1.
    """
    from answerable.machine import machine_facts, sandboxes_found
    from answerable.settings import load_settings

    settings = load_settings()
    with progress("Looking …"):
        machine, backends = machine_facts(settings), asyncio.run(sandboxes_found(settings))
        retention = _retention()
    ready = any(found.available for found in backends if found.backend == settings.sandbox)
    if as_json:
        listed = [{"default": found.backend == settings.sandbox, **asdict(found)} for found in backends]
        tell_json(
            {"ready": ready, "machine": machine, "store": _retention_json(retention, settings), "sandboxes": listed}
        )
    else:
        _tell(machine, backends, settings.sandbox)
        _tell_retention(retention)
    sys.exit(0 if ready else 1)


def _retention() -> "RetentionReport | OperatorError":
    """Returns what the store keeps, or why it cannot be opened: a doctor is called when something is wrong."""
    from answerable.core.errors import OperatorError

    try:
        return with_service(lambda service, _: service.retention.report())
    except OperatorError as error:
        return error


def _retention_json(report: "RetentionReport | OperatorError", settings: "Settings") -> dict[str, Any]:
    if isinstance(report, Exception):
        limits = {name: getattr(settings, name) or None for name in ("keep_days", "keep_runs", "keep_mb")}
        return {**limits, "error": report.stable_code}
    return report.model_dump()


def _tell_retention(report: "RetentionReport | OperatorError") -> None:
    if isinstance(report, Exception):
        click.echo(f"\nstored runs      not known: {report.message}")
        return
    days, runs, space = report.keep_days, report.keep_runs, report.keep_mb
    limits = [f"{days} days"] * bool(days) + [f"{runs} runs"] * bool(runs) + [f"{space} MB"] * bool(space)
    database, results = report.database_bytes / 1e6, report.artifact_bytes / 1e6
    click.echo(f"\nstored runs      {report.runs:,}, of which {report.protected_runs:,} are pinned, shared or golden")
    click.echo(f"space            {database:.1f} MB in the database, {results:.1f} MB results")
    click.echo(f"kept             {'at most ' + ', '.join(limits) if limits else 'everything'}")
    last = report.last_pruned
    done = (
        f"{report.pruned_at:%Y-%m-%d %H:%M} UTC, {last.runs:,} runs removed" if report.pruned_at and last else "never"
    )
    click.echo(f"last pruned      {done}")


def _tell(machine: dict[str, Any], backends: "tuple[Availability, ...]", chosen: str) -> None:
    for name, found in machine.items():
        shown = "no" if found in (None, False) else "yes" if found is True else found
        click.echo(f"{name.replace('_', ' '):16} {shown}")
    for backend in backends:
        mark = "yes" if backend.available else "no"
        default = " (the default)" if backend.backend == chosen else ""
        click.echo(f"\n{backend.backend:14} {mark:4} {backend.detail}{default}")
        for wall, kept in backend.walls.items():
            click.echo(f"    {wall:11} {kept}")
        if backend.remedy:
            click.echo(f"    to get it: {backend.remedy}")
