"""What processes inside the `kernel` sandbox see of this machine: an interpreter, some libraries, our runner."""

import csv
import importlib.metadata
import os
import re
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from answerable.sandbox.libraries import STATISTICS, TABLES, distribution

_HOME = "/python"
_SITE, _OWN = f"{_HOME}/site", f"{_HOME}/own"
_SYSTEM = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/share/zoneinfo", "/etc/ld.so.cache")
_PACKAGE = Path(__file__).parents[3]
_PACKAGES = ("__init__.py", "sandbox/__init__.py", "sandbox/kernel/__init__.py")
"""What Python reads on the way to the modules below. In a root of its own it does without."""
_NEEDED_OF_US = ("isolation", "sandbox/kernel/inside", "sandbox/runner")


@dataclass(frozen=True, slots=True)
class Bind:
    source: str
    target: str
    writable: bool = False


@dataclass(frozen=True, slots=True)
class View:
    """How an interpreter finds its way."""

    python: str
    own: str
    """Where Answerable's own modules are found."""
    path: tuple[str, ...]
    """Where the libraries are found."""
    read: tuple[str, ...]
    """All that may be read."""
    binds: tuple[Bind, ...] = ()
    links: tuple[tuple[str, str], ...] = ()
    """Symbolic links to create: target and place."""
    hidden: tuple[str, ...] = ()
    """Folders below the binds that are to be seen empty."""


@cache
def private() -> View:
    """The view of a process in a root of its own, where nothing tells how this machine is laid out."""
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    stdlib = f"{_HOME}/{sys.platlibdir}/{version}"
    python = f"{_HOME}/bin/{version}"
    binds = [Bind(_interpreter(), python), Bind(sysconfig.get_path("stdlib"), stdlib)]
    if shared := _shared_interpreter():
        binds.append(Bind(shared, f"{_HOME}/lib/{os.path.basename(shared)}"))
    binds += [Bind(str(path), f"{_SITE}/{path.name}") for path in _library_files()]
    binds += [Bind(str(_PACKAGE / part), f"{_OWN}/answerable/{part}") for part in _NEEDED_OF_US]
    system = [path for path in _SYSTEM if os.path.exists(path)]
    binds += [Bind(path, path) for path in system if not os.path.islink(path)]
    binds += [Bind("/dev/null", "/dev/null", writable=True), Bind("/proc", "/proc", writable=True)]
    return View(
        python=python,
        own=_OWN,
        path=(_SITE,),
        read=(_HOME, *system, "/dev/null"),
        binds=tuple(binds),
        links=tuple((os.readlink(path), path) for path in system if os.path.islink(path)),
        hidden=tuple(f"{stdlib}/{name}" for name in ("site-packages", "dist-packages") if _has(name)),
    )


@cache
def shared() -> View:
    """Where no root of its own can be had: the places as they are; Landlock keeps all else away."""
    libraries = tuple(str(path) for path in _library_files())
    own = tuple(
        str(_PACKAGE / part)
        for part in ("__init__.py", "sandbox/__init__.py", "sandbox/kernel/__init__.py", *_NEEDED_OF_US)
    )
    stdlib = tuple(dict.fromkeys((sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib"))))
    return View(
        python=_interpreter(),
        own=str(_PACKAGE.parent),
        path=tuple(dict.fromkeys(os.path.dirname(path) for path in libraries)),
        read=(*stdlib, *libraries, *own, *_SYSTEM, "/dev/null"),
    )


def _interpreter() -> str:
    return os.path.realpath(getattr(sys, "_base_executable", sys.executable))


def _shared_interpreter() -> str | None:
    name, folder = sysconfig.get_config_var("INSTSONAME"), sysconfig.get_config_var("LIBDIR")
    path = os.path.join(folder or "", name or "")
    return path if name and ".so" in name and os.path.isfile(path) else None


def _has(name: str) -> bool:
    return os.path.isdir(os.path.join(sysconfig.get_path("stdlib"), name))


@cache
def _library_files() -> tuple[Path, ...]:
    """Files and folders of the libraries and of what they require, at the top of where they are installed."""
    found = [
        Path(str(required.locate_file(top)))
        for required in _required([distribution(module) for module in (*TABLES, *STATISTICS)])
        for top in _top_names(required)
        if top not in ("", "..", "__pycache__")
    ]
    return tuple(path for path in dict.fromkeys(found) if path.exists())


def _top_names(distribution: importlib.metadata.Distribution) -> Iterable[str]:
    """First parts of the names of a distribution's files; empty for a file outside of where it is installed."""
    # Read as text, because `files` makes a path of each of some thousand files, while the event loop waits.
    record = distribution.read_text("RECORD")
    if record is None:
        names = [str(file) for file in distribution.files or ()]
    else:
        names = [row[0] for row in csv.reader(record.splitlines()) if row]
    return dict.fromkeys(name.partition("/")[0] for name in names)


def _required(names: list[str]) -> Iterator[importlib.metadata.Distribution]:
    seen: set[str] = set()
    while names:
        name = re.sub(r"[-_.]+", "-", names.pop(0)).lower()
        if name in seen:
            continue
        seen.add(name)
        try:
            found = importlib.metadata.distribution(name)
        except importlib.metadata.PackageNotFoundError:
            continue
        yield found
        names += [
            required[0]
            for line in found.requires or ()
            if "extra ==" not in line and (required := re.match(r"[\w.-]+", line))
        ]
