"""The command in a process of its own that need not load it first: it is forked from one that has.

Loading is most of what a short command does, and more than what a server does for some requests; tests start both more
than a hundred times. That the installed command loads by itself is shown in `tests/test_docs.py`.
"""

import io
import multiprocessing
import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from subprocess import CompletedProcess, TimeoutExpired

from faults import forked_workers

_forks = multiprocessing.get_context("forkserver")
_forks.set_forkserver_preload(["faults.prepared_command"])


class ForkedCommand:
    """`answerable` with these arguments, started at once. The methods are those of `subprocess.Popen`.

    `out` and `err`: files to write to, which may be one. `changed_by`: a module whose `change` is called first, in the
    new process.
    """

    def __init__(
        self,
        arguments: Sequence[str],
        *,
        cwd: Path,
        env: Mapping[str, str],
        out: Path,
        err: Path,
        given: Path | None = None,
        changed_by: str | None = None,
    ) -> None:
        self.arguments = arguments
        streams = (given or Path(os.devnull), out, err)
        # A daemon: whoever forgets it leaves no server behind.
        self._process = _forks.Process(
            target=_command, args=(arguments, cwd, dict(env), streams, changed_by), daemon=True
        )
        self._process.start()
        assert self._process.pid is not None
        self.pid = self._process.pid

    def poll(self) -> int | None:
        return self._process.exitcode

    def wait(self, timeout: float | None = None) -> int:
        self._process.join(timeout)
        if self._process.exitcode is None:
            raise TimeoutExpired(list(self.arguments), timeout or 0)
        return self._process.exitcode

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        self._process.terminate()

    def kill(self) -> None:
        self._process.kill()


def run(
    arguments: Sequence[str], *, cwd: Path, env: Mapping[str, str], given: str, timeout: float
) -> CompletedProcess[str]:
    with tempfile.TemporaryDirectory() as folder:
        text, out, err = (Path(folder, name) for name in ("given", "out", "err"))
        text.write_text(given)
        process = ForkedCommand(arguments, cwd=cwd, env=env, out=out, err=err, given=text)
        try:
            code = process.wait(timeout)
        finally:
            process.kill()
        return CompletedProcess(arguments, code, out.read_text(), err.read_text())


def _command(
    arguments: Sequence[str], cwd: Path, env: dict[str, str], streams: Sequence[Path], changed_by: str | None
) -> None:
    """In the new process: all that a command finds when a shell starts it."""
    from answerable.cli.main import main

    forked_workers.use_loaded_nursery()
    for number, stream in enumerate(streams):
        os.dup2(os.open(stream, os.O_RDWR | os.O_CREAT | os.O_APPEND), number)
    sys.stdin = io.TextIOWrapper(io.FileIO(0))
    os.environ.clear()
    os.environ.update(env)
    os.chdir(cwd)
    if changed_by is not None:
        import_module(changed_by).change()
    sys.argv = ["answerable", *arguments]
    main()
