"""What runs first inside a container, a pod or a virtual machine: the runner, and the walls that it raises by itself.

The image needs Python 3.11 or newer as `python3` with polars (and whatever else code may import), and nothing of
Answerable: the modules that are needed travel as text with the command.
"""

from functools import cache
from pathlib import Path

from answerable.sandbox.base import Request

USER = 65534
SCRATCH = "/tmp"  # noqa: S108 - inside the container, where nobody else is
TASKS = 128
"""Threads, in effect: processes are not made."""
ENVIRONMENT = {
    "HOME": SCRATCH,
    "LANG": "C.UTF-8",
    "MALLOC_ARENA_MAX": "2",
    "OPENBLAS_NUM_THREADS": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
}
_MODULES = ("isolation/kernel.py", "isolation/seccomp.py", "sandbox/runner.py")
_BOOT = """\
import resource, sys, types
for name in ("answerable", "answerable.isolation", "answerable.sandbox"):
    sys.modules[name] = types.ModuleType(name)
for name, text in {modules!r}.items():
    sys.modules[name] = types.ModuleType(name)
    exec(compile(text, name, "exec"), sys.modules[name].__dict__)
from answerable.isolation import kernel, seccomp
from answerable.sandbox import runner
def confine(request):
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (request["cpu_seconds"], request["cpu_seconds"] + 1))
    kernel.forbid_new_privileges()
    seccomp.restrict(network=False)
runner.serve(confine)
"""
"""`from package import module` finds a module in `sys.modules` though the package holds nothing."""


def command() -> tuple[str, ...]:
    return ("python3", "-I", "-c", _program())


@cache
def _program() -> str:
    root = Path(__file__).parents[1]
    modules = {
        "answerable." + name.removesuffix(".py").replace("/", "."): (root / name).read_text(encoding="utf-8")
        for name in _MODULES
    }
    return _BOOT.format(modules=modules)


def memory_mb(request: Request) -> int:
    """The inputs are held in memory there; they do not count as the code's."""
    inputs = sum(path.stat().st_size for path in request.frames.values())
    return request.limits.memory_mb + -(-inputs // (1 << 20))
