"""How the zygote is started: in bubblewrap, in a root that we make ourselves, or, with Landlock alone, where it is."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Literal, TypeAlias

from answerable.sandbox.kernel.jail import view
from answerable.sandbox.kernel.jail.view import View

Way: TypeAlias = Literal["bubblewrap", "namespaces", "landlock"]
SCRATCH = "/work"
_ENVIRONMENT = {"LANG": "C.UTF-8", "MALLOC_ARENA_MAX": "2", "LD_LIBRARY_PATH": "/python/lib"}
"""All that the processes find set. The second keeps what is reserved near to what is used."""
_PYTHON_OPTIONS = ("-I", "-S", "-B", "-X", "utf8")


@dataclass(frozen=True, slots=True)
class Launch:
    way: Way
    view: View
    command: tuple[str, ...]
    environment: dict[str, str]

    @property
    def jailed(self) -> bool:
        return self.way != "landlock"

    def start(self, descriptor: int) -> "subprocess.Popen[bytes]":
        """Starts the jail with nothing of our environment, and no terminal whose keys could reach it."""
        return subprocess.Popen(  # noqa: S603 - a fixed command
            self.command,
            pass_fds=[descriptor],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env=self.environment,
            cwd="/",
            start_new_session=True,
        )


def bubblewrap() -> str | None:
    return shutil.which("bwrap")


def ways(*, with_bubblewrap: bool | None, with_namespaces: bool) -> tuple[Way, ...]:
    """The ways to start a jail, in the order in which they are tried."""
    if sys.platform != "linux" or not with_namespaces:
        return ("landlock",)
    if with_bubblewrap is False or (with_bubblewrap is None and bubblewrap() is None):
        return ("namespaces", "landlock")
    return ("bubblewrap",) if with_bubblewrap else ("bubblewrap", "namespaces", "landlock")


def launch(way: Way, descriptor: int) -> Launch:
    seen = view.shared() if way == "landlock" else view.private()
    zygote = _python(
        seen.python, seen.own, f"from answerable.sandbox.kernel.inside.zygote import main; main({descriptor})"
    )
    if way == "landlock":
        environment = {name: value for name, value in _ENVIRONMENT.items() if name != "LD_LIBRARY_PATH"}
        return Launch(way, seen, zygote, environment)
    if way == "bubblewrap":
        return Launch(way, seen, (*_bubblewrap_options(seen), *zygote), {})
    return Launch(way, seen, _pivot(seen, zygote), {})


def _python(python: str, own: str, program: str) -> tuple[str, ...]:
    return (python, *_PYTHON_OPTIONS, "-c", f"import sys; sys.path.insert(0, {own!r}); {program}")


def _pivot(seen: View, zygote: Sequence[str]) -> tuple[str, ...]:
    described = {
        "binds": [(bind.source, bind.target, bind.writable) for bind in seen.binds],
        "links": seen.links,
        "folders": [SCRATCH],
        "hidden": seen.hidden,
        "command": zygote,
        "environment": _ENVIRONMENT,
    }
    here = view.shared()
    program = f"from answerable.sandbox.kernel.inside.pivot import main; main({json.dumps(described)!r})"
    return _python(here.python, here.own, program)


def _bubblewrap_options(seen: View) -> list[str]:
    """The options of bubblewrap. As root the zygote itself lays down its ids, so that they are nobody's in the whole
    system."""
    ids = (
        ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
        if os.getuid() == 0
        else ["--unshare-user", "--uid", "65534", "--gid", "65534"]
    )
    apart = ["--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"]
    options = [bubblewrap() or "bwrap", *apart, "--die-with-parent", "--new-session", "--cap-drop", "ALL", *ids]
    for folder in _parents(seen):
        options += ["--perms", "0755", "--dir", folder]
    for bind in seen.binds:
        how = "--ro-bind" if not bind.writable else "--dev-bind" if bind.source.startswith("/dev/") else "--bind"
        options += [how, bind.source, bind.target]
    for target, place in seen.links:
        options += ["--symlink", target, place]
    for folder in seen.hidden:
        options += ["--tmpfs", folder]
    for name, value in _ENVIRONMENT.items():
        options += ["--setenv", name, value]
    return [*options, "--perms", "0755", "--dir", SCRATCH, "--remount-ro", "/", "--chdir", "/"]


def _parents(seen: View) -> list[str]:
    """Folders above the binds, from the top down; bubblewrap would make them for their owner alone."""
    above = {str(parent) for bind in seen.binds for parent in PurePosixPath(bind.target).parents}
    return sorted(above - {"/"})
