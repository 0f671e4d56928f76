"""What this machine offers, for `answerable doctor` and the page."""

import os
import platform
import shutil
from pathlib import Path
from typing import Any

from answerable.isolation import landlock
from answerable.isolation.kernel import Unavailable
from answerable.sandbox.base import Availability
from answerable.sandbox.open import Sandboxes, open_sandbox
from answerable.settings import Settings
from answerable.sources.open import shown_location


async def sandboxes_found(settings: Settings) -> tuple[Availability, ...]:
    """Where generated code can run, tried out."""
    sandboxes = Sandboxes(settings.sandbox_options)
    try:
        return await sandboxes.availability()
    finally:
        await sandboxes.close()


async def runs_programs(settings: Settings) -> bool:
    """Whether the sandbox that the settings name works, tried out."""
    sandbox = open_sandbox(settings.sandbox, settings.sandbox_options)
    try:
        return (await sandbox.available()).available
    finally:
        await sandbox.close()


def machine_facts(settings: Settings) -> dict[str, Any]:
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
