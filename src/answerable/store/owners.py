"""Which processes are alive: each keeps a file locked, and the lock goes with the process, however it ends."""

import fcntl
import secrets
from pathlib import Path

from answerable.store.disk import disk_error


class FileOwners:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.me = secrets.token_hex(8)
        try:
            folder.mkdir(mode=0o700, exist_ok=True)
            self._file = (folder / self.me).open("xb")
            fcntl.flock(self._file, fcntl.LOCK_EX)
        except OSError as error:
            raise disk_error(error, f"The folder {folder}") from error

    def lives(self, owner: str) -> bool:
        path = self._folder / owner
        try:
            with path.open("rb") as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except FileNotFoundError:
            return False
        except BlockingIOError:
            return True
        path.unlink(missing_ok=True)
        return False

    def close(self) -> None:
        (self._folder / self.me).unlink(missing_ok=True)
        self._file.close()
