"""`answerable doctor`"""

import asyncio
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from answerable.cli.output import progress, tell_json

if TYPE_CHECKING:
    from answerable.sandbox.base import Availability


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
    ready = any(found.available for found in backends if found.backend == settings.sandbox)
    if as_json:
        listed = [{"default": found.backend == settings.sandbox, **asdict(found)} for found in backends]
        tell_json({"ready": ready, "machine": machine, "sandboxes": listed})
    else:
        _tell(machine, backends, settings.sandbox)
    sys.exit(0 if ready else 1)


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
