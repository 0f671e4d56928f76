"""Files that must not outlive their process: in a folder that belongs to it, and that is removed however it ends.

The folder is locked as long as its process lives. It is removed when the process ends by itself; what is left of
processes that were killed is removed by the next one that asks for a folder at the same place.
"""

import atexit
import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_PREFIX = "answerable-"
_LOCK = ".lock"
_owned: dict[tuple[int, Path], tuple[Path, int]] = {}
"""By process and parent: the folder, and the descriptor of its lock. A copy of this process gets folders of its own."""


def own_folder(parent: Path | None = None) -> Path:
    """The folder of this process in `parent`, by default where temporary files go. Raises `OSError`."""
    parent = Path(tempfile.gettempdir()) if parent is None else parent.absolute()
    key = (os.getpid(), parent)
    if key not in _owned or not _owned[key][0].is_dir():
        remove_abandoned(parent)
        _owned[key] = _created(parent)
    return _owned[key][0]


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """A folder for temporary files, in the folder of this process. It is removed with its content at the end of the
    block."""
    with tempfile.TemporaryDirectory(dir=own_folder()) as folder:
        yield Path(folder)


def remove_abandoned(parent: Path | None = None) -> None:
    """Removes what killed processes have left there."""
    parent = Path(tempfile.gettempdir()) if parent is None else parent
    with suppress(OSError):
        for lock in parent.glob(f"{_PREFIX}*{_LOCK}"):
            _remove_if_abandoned(lock)


def _created(parent: Path) -> tuple[Path, int]:
    """The lock is there and taken before the folder is made, so that no folder is without one."""
    while True:
        descriptor, lock = tempfile.mkstemp(prefix=_PREFIX, suffix=_LOCK, dir=parent)
        # Another process may have looked before the lock was taken, and have removed it.
        if _locked(descriptor) and os.fstat(descriptor).st_nlink:
            folder = Path(lock.removesuffix(_LOCK))
            folder.mkdir(mode=0o700)
            return folder, descriptor
        os.close(descriptor)


def _remove_if_abandoned(lock: Path) -> None:
    try:
        descriptor = os.open(lock, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return  # of another user, or removed meanwhile
    try:
        if os.fstat(descriptor).st_uid == os.getuid() and _locked(descriptor):
            _remove(lock.with_suffix(""))
    finally:
        os.close(descriptor)


def _remove(folder: Path) -> None:
    """The lock last: as long as it is there, a removal that was cut short is done again."""
    shutil.rmtree(folder, ignore_errors=True)
    if not folder.exists():
        folder.with_suffix(_LOCK).unlink(missing_ok=True)


def _locked(lock: int) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


@atexit.register
def remove_own() -> None:
    """Removes the folders of this process. Called when Python ends; one that is ended by a signal has to call it."""
    for (pid, _parent), (folder, _descriptor) in _owned.items():
        if pid == os.getpid():
            with suppress(OSError):  # its place is gone or no folder any more, and nobody is left to tell
                _remove(folder)
