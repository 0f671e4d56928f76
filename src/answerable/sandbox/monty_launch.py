"""Becomes a worker of Monty that ends with the process that started it. Run as a file, with Python's own library only:
`python -I -S monty_launch.py BINARY ARGUMENT…`
"""

import ctypes
import os
import resource
import signal
import sys

_PR_SET_PDEATHSIG = 1
_PR_SET_NO_NEW_PRIVS = 38


def main() -> None:
    libc = ctypes.CDLL(None)
    libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.execve(sys.argv[1], sys.argv[1:], {})  # noqa: S606 - the worker, by its full path


if __name__ == "__main__":
    main()
