"""The process that every run is a copy of: it has loaded the libraries once, holds nothing, and runs nobody's code.

Over its control socket it receives `{"spawn": number, "scratch_mb": …}`, with the descriptors of the new process, and
`{"kill": number}`; it sends `{"ready": …}` or `{"failed": reason}` once, and `{"ended": number, "status", "cpu_ms",
"peak_mb"}` for each process that it started. When the socket closes, everything ends.
"""

import gc
import importlib
import os
import resource
import select
import signal
import socket
import sys
import traceback
from contextlib import suppress
from typing import Any, NoReturn

from answerable.isolation import namespaces, wire
from answerable.isolation.kernel import Unavailable, set_dumpable, signal_on_parent_death
from answerable.sandbox.kernel.inside import worker

_NESTED = namespaces.NEW_IDS | namespaces.NEW_MOUNTS | namespaces.NEW_PROCESSES | namespaces.NEW_MESSAGES
_MOST_DESCRIPTORS = 8


def main(descriptor: int) -> None:
    control = socket.socket(fileno=descriptor)
    received = wire.receive(control)
    if received is None:
        return
    setup = received[0]
    try:
        nested = _settle(control, setup)
        libraries = _load(setup)
        if nested:
            _give_copies_their_namespace(control)  # after this it can start no thread of its own
    except (Unavailable, OSError, ImportError) as error:
        wire.send(control, {"failed": str(error)})
        return
    wire.send(control, {"ready": libraries})
    _Zygote(control, {**setup, "nested": nested}).serve()


def _settle(control: socket.socket, setup: dict[str, Any]) -> bool:
    """Gives up its rights, and moves into a process namespace of its own. Returns whether the kernel allowed that."""
    if setup["jailed"] and os.getuid() == 0:
        namespaces.become_nobody()
        set_dumpable()  # or its own files in /proc would belong to root
    with suppress(Unavailable):
        signal_on_parent_death(signal.SIGKILL)
    if not setup["jailed"]:
        return False
    user, group = os.getuid(), os.getgid()
    try:
        namespaces.unshare(_NESTED)
    except Unavailable:
        return False
    namespaces.show_as(user, group)
    namespaces.keep_mounts_private()
    # A new process namespace holds only children of the process that asked for it, so the work goes on in a child.
    process = os.fork()
    if process:
        control.close()
        os._exit(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) & 0xFF)
    signal_on_parent_death(signal.SIGKILL)
    return True


def _give_copies_their_namespace(control: socket.socket) -> None:
    """They do not see the zygote. The first process there only waits: a first process is deaf to its own signals."""
    namespaces.unshare(namespaces.NEW_PROCESSES)
    if os.fork() == 0:
        control.close()
        signal_on_parent_death(signal.SIGKILL)
        while True:
            signal.pause()


def _load(setup: dict[str, Any]) -> list[str]:
    """Threads that libraries start for their own upkeep would not exist in a copy of this process: there are none."""
    os.environ.update(setup["environment"])
    sys.path += setup["path"]
    loaded = []
    for name in setup["libraries"]:
        try:
            importlib.import_module(name)
        except ModuleNotFoundError as error:
            if error.name != name.partition(".")[0] or name == setup["libraries"][0]:
                raise
            continue
        loaded.append(name)
    _look_at_own_libraries()
    gc.collect()
    gc.freeze()  # so that counting garbage does not copy what is shared
    return loaded


def _look_at_own_libraries() -> None:
    """scikit-learn finds out once which libraries of linear algebra are loaded; copies cannot read it from any file."""
    if cluster := sys.modules.get("sklearn.cluster"):
        cluster.KMeans(1, n_init=1).fit([[0.0]])


class _Zygote:
    def __init__(self, control: socket.socket, setup: dict[str, Any]) -> None:
        self._control = control
        self._setup = setup
        self._processes: dict[int, int] = {}
        """The number of the run, by process."""
        self._woken, self._wake = os.pipe()
        os.set_blocking(self._wake, False)
        os.set_blocking(self._woken, False)

    def serve(self) -> None:
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(self._wake, warn_on_full_buffer=False)
        while True:
            ready, _, _ = select.select([self._control.fileno(), self._woken], [], [])
            if self._woken in ready:
                self._bury()
            if self._control.fileno() in ready and not self._obey():
                os._exit(0)

    def _obey(self) -> bool:
        received = wire.receive_with(self._control, _MOST_DESCRIPTORS)
        if received is None:
            return False
        message, descriptors = received
        if "spawn" in message:
            self._spawn(message, descriptors)
        elif "kill" in message:
            self._kill(message["kill"])
        return True

    def _spawn(self, message: dict[str, Any], descriptors: list[int]) -> None:
        process = os.fork()
        if process == 0:
            self._become_worker(message, descriptors)
        self._processes[process] = message["spawn"]
        for descriptor in descriptors:
            os.close(descriptor)

    def _become_worker(self, message: dict[str, Any], descriptors: list[int]) -> NoReturn:
        try:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            self._control.detach()
            worker.main(self._setup, message, descriptors)
        except BaseException:
            # Whatever fails, a copy ends here: it must not return into the loop of the zygote.
            traceback.print_exc()
        finally:
            os._exit(1)

    def _kill(self, number: int) -> None:
        for process, found in self._processes.items():
            if found == number:
                with suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)

    def _bury(self) -> None:
        with suppress(BlockingIOError):
            os.read(self._woken, 4096)
        while self._processes:
            process, status, used = os.wait4(-1, os.WNOHANG)
            if process == 0:
                return
            number = self._processes.pop(process, None)
            if number is not None:
                wire.send(self._control, _account(number, status, used))


def _account(number: int, status: int, used: resource.struct_rusage) -> dict[str, Any]:
    return {
        "ended": number,
        "status": os.waitstatus_to_exitcode(status),
        "cpu_ms": round((used.ru_utime + used.ru_stime) * 1000, 3),
        "peak_mb": round(used.ru_maxrss / 1024, 1),
    }
