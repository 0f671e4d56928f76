"""Becomes a worker of Monty, behind walls as far as the kernel has them. Run as a file, with Python's own library only:
`python -I -S launch.py REPORT BINARY ARGUMENT…`

The language inside reaches nothing as it is. The walls are for the day when its interpreter has a hole: the process
ends with the one that started it, sees no file but system libraries, and may compute and talk over the pipes that it
has. Which of them stand is added to the file REPORT, as a line.
"""

import os
import resource
import signal
import sys
import types
from contextlib import suppress
from pathlib import Path

_READ = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/etc/ld.so.cache", "/dev/null", "/dev/urandom")
_LOADERS = ("/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1")
_GB = 1 << 30
_LIMITS = {
    resource.RLIMIT_CORE: 0,
    resource.RLIMIT_NOFILE: 64,
    resource.RLIMIT_DATA: 2 * _GB,
    resource.RLIMIT_AS: 8 * _GB,
}
"""Above what a run may have (512 MB) and what the check of types takes."""


def main() -> None:
    report, binary = sys.argv[1:3]
    with open(report, "a") as file:
        file.write(", ".join(_raised(binary)) + "\n")
    for which, value in _LIMITS.items():
        # A container may have lower hard limits, which a process without rights cannot raise.
        hard = resource.getrlimit(which)[1]
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(which, (value, value))
    os.execve(binary, sys.argv[2:], {})  # noqa: S606 - the worker, by its full path


def _raised(binary: str) -> list[str]:
    package = types.ModuleType("answerable")
    package.__path__ = [str(Path(__file__).parents[2])]
    sys.modules["answerable"] = package  # without what the package itself imports
    from answerable.isolation import computing, kernel, landlock

    kernel.signal_on_parent_death(signal.SIGKILL)
    kernel.forbid_new_privileges()
    standing = []
    with suppress(kernel.Unavailable):
        standing.append(f"Landlock {landlock.restrict(_READ, (), None, run=(binary, *_LOADERS))}")
    with suppress(kernel.Unavailable):
        computing.restrict_to_computing(own_files=False, programs=True)
        standing.append("seccomp")
    return standing


if __name__ == "__main__":
    main()
