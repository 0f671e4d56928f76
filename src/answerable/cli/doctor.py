"""`answerable doctor`"""

import asyncio
import os
import platform
import shutil
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from answerable.cli.output import progress, tell_json

if TYPE_CHECKING:
    from answerable.sandbox.base import Availability
    from answerable.settings import Settings


@click.command("doctor")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(as_json: bool) -> None:
    """What this machine offers: where generated code can run, what keeps it in, and how to get what is missing.

    Exit code 0 when generated code can run in the sandbox that the settings name, else 1.
    """
    from answerable.settings import load_settings

    settings = load_settings()
    with progress("Looking …"):
        machine, backends = _machine(settings), asyncio.run(_backends(settings))
    ready = any(found.available for found in backends if found.backend == settings.sandbox)
    if as_json:
        listed = [{"default": found.backend == settings.sandbox, **asdict(found)} for found in backends]
        tell_json({"ready": ready, "machine": machine, "sandboxes": listed})
    else:
        _tell(machine, backends, settings.sandbox)
    sys.exit(0 if ready else 1)


async def _backends(settings: "Settings") -> "tuple[Availability, ...]":
    from answerable.sandbox.open import Sandboxes

    sandboxes = Sandboxes(settings.sandbox_options)
    try:
        return await sandboxes.availability()
    finally:
        await sandboxes.close()


def _machine(settings: "Settings") -> dict[str, Any]:
    from answerable.sources.open import shown_location

    return {
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "processors": os.cpu_count(),
        "landlock": _landlock(),
        "user_namespaces": _user_namespaces(),
        "cgroups": _cgroups(),
        "bubblewrap": shutil.which("bwrap"),
        "store": shown_location(settings.store_url),
        "free_disk_mb": shutil.disk_usage(_nearest(settings.home)).free >> 20,
    }


def _landlock() -> int | None:
    """Its version, if the kernel has it."""
    from answerable.isolation import landlock
    from answerable.isolation.kernel import Unavailable

    try:
        return landlock.version()
    except Unavailable:
        return None


def _user_namespaces() -> bool:
    """Whether the kernel lets a user make one at all; a sandbox finds out for certain by trying."""
    most = Path("/proc/sys/user/max_user_namespaces")
    switch = Path("/proc/sys/kernel/unprivileged_userns_clone")
    try:
        return int(most.read_text()) > 0 and (not switch.exists() or switch.read_text().strip() == "1")
    except (OSError, ValueError):
        return False


def _cgroups() -> str | None:
    if Path("/sys/fs/cgroup/cgroup.controllers").exists():
        return "v2"
    return "v1" if Path("/sys/fs/cgroup/memory").is_dir() else None


def _nearest(folder: Path) -> Path:
    """The folder, or the one above it that is there already."""
    return next(path for path in (folder.absolute(), *folder.absolute().parents) if path.exists())


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
