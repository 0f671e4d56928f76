"""What runs first inside a container, a pod or a virtual machine: the runner, and the walls that it raises by itself.

The image needs Python 3.11 or newer as `python3` with polars (and whatever else code may import), and nothing of
Answerable: the modules that are needed travel as text with the command.
"""

from functools import cache
from pathlib import Path

from answerable.sandbox.base import SandboxRequest

USER = 65534
SCRATCH = "/tmp"  # noqa: S108 - inside the container, where nobody else is
TASKS = 128
"""Threads, in effect: the code cannot start processes."""
ENVIRONMENT = {
    "HOME": SCRATCH,
    "LANG": "C.UTF-8",
    "MALLOC_ARENA_MAX": "2",
    "OPENBLAS_NUM_THREADS": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
}
_HEADROOM_MB = 128
"""What allocators keep in reserve, and stacks of threads."""
_RESERVED_MB = 2_048
"""Addresses that are set aside without being used."""
_OPEN_FILES = 256
_MODULES = (
    "isolation/kernel.py",
    "isolation/seccomp.py",
    "isolation/computing.py",
    "sandbox/runner/plain.py",
    "sandbox/runner/frames.py",
    "sandbox/runner/execute.py",
    "sandbox/runner/streams.py",
)
"""Each after those that it imports."""
_BOOT = """\
import mmap, resource, sys, types
for name in ("answerable", "answerable.isolation", "answerable.sandbox", "answerable.sandbox.runner"):
    sys.modules[name] = types.ModuleType(name)
for name, text in {modules!r}.items():
    sys.modules[name] = types.ModuleType(name)
    exec(compile(text, name, "exec"), sys.modules[name].__dict__)
from answerable.isolation import computing, kernel
from answerable.sandbox.runner import streams
def confine(request):
    with open("/proc/self/statm") as file:
        sizes = [int(pages) * mmap.PAGESIZE for pages in file.read().split()]
    memory = (request["memory_mb"] + {headroom}) * 1048576
    for which, most in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_NOFILE, {open_files}),
        (resource.RLIMIT_CPU, request["cpu_seconds"]),
        (resource.RLIMIT_DATA, sizes[5] + memory),
        (resource.RLIMIT_AS, sizes[0] + memory + {reserved} * 1048576),
    ):
        resource.setrlimit(which, (most, most))
    kernel.forbid_new_privileges()
    computing.restrict_to_computing(own_files=True)
streams.serve(confine)
"""
"""`from package import module` finds a module in `sys.modules` though the package holds nothing."""


def command() -> tuple[str, ...]:
    return ("python3", "-I", "-c", _program())


@cache
def _program() -> str:
    root = Path(__file__).parents[2]
    modules = {
        "answerable." + name.removesuffix(".py").replace("/", "."): (root / name).read_text(encoding="utf-8")
        for name in _MODULES
    }
    return _BOOT.format(modules=modules, open_files=_OPEN_FILES, headroom=_HEADROOM_MB, reserved=_RESERVED_MB)


def memory_mb(request: SandboxRequest) -> int:
    """The inputs are held in memory there; they do not count as the code's."""
    inputs = sum(path.stat().st_size for path in request.frames.values())
    return request.limits.memory_mb + -(-inputs // (1 << 20))
