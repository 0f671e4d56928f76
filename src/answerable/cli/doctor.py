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
    from answerable.settings import Settings
    from answerable.store.base import StoreUse


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
        use = _store_use()
    ready = any(found.available for found in backends if found.backend == settings.sandbox)
    if as_json:
        listed = [{"default": found.backend == settings.sandbox, **asdict(found)} for found in backends]
        tell_json({"ready": ready, "machine": machine, "store": _stored(use, settings), "sandboxes": listed})
    else:
        _tell(machine, backends, settings.sandbox)
        _tell_store(use, settings)
    sys.exit(0 if ready else 1)


def _store_use() -> "StoreUse | OperatorError":
    """What the store holds, or why it cannot be opened: a doctor is called when something is wrong."""
    from answerable.core.errors import OperatorError

    try:
        return with_service(lambda service, _: service.retention.use())
    except OperatorError as error:
        return error


def _stored(use: "StoreUse | OperatorError", settings: "Settings") -> dict[str, Any]:
    limits = {name: getattr(settings, name) or None for name in ("keep_days", "keep_runs", "keep_mb")}
    if isinstance(use, Exception):
        return {**limits, "error": use.stable_code}
    return {**limits, **asdict(use)}


def _tell_store(use: "StoreUse | OperatorError", settings: "Settings") -> None:
    if isinstance(use, Exception):
        click.echo(f"\nstored runs      not known: {use.message}")
        return
    days, runs, space = settings.keep_days, settings.keep_runs, settings.keep_mb
    limits = [f"{days} days"] * bool(days) + [f"{runs} runs"] * bool(runs) + [f"{space} MB"] * bool(space)
    click.echo(f"\nstored runs      {use.runs:,}, of which {use.protected_runs:,} are pinned, shared or golden")
    click.echo(
        f"space            {use.database_bytes / 1e6:.1f} MB in the database, {use.artifact_bytes / 1e6:.1f} MB results"
    )
    click.echo(f"kept             {'at most ' + ', '.join(limits) if limits else 'everything'}")
    last = use.last_pruned
    done = f"{use.pruned_at:%Y-%m-%d %H:%M} UTC, {last.runs:,} runs removed" if use.pruned_at and last else "never"
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
