"""Content-addressed files in a folder beside the database, and who may read them.

artifacts/staging/…        files that are still being written
artifacts/ab/cdef…         finished files: the SHA-256 of the content in hexadecimal, split after two digits
"""

import asyncio
import errno
import hashlib
import os
import secrets
import stat
import time
from pathlib import Path

from answerable.core.clock import Clock
from answerable.core.context import Scope
from answerable.core.errors import AnswerableError, InternalError, NotFoundError, OperatorError
from answerable.core.ids import ArtifactId
from answerable.store.database import Database, time_text

LEFTOVER_SECONDS = 86_400.0
"""A file in staging that nobody has written to for this long belongs to a dead process."""

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_INSERT = (
    "INSERT INTO artifacts (tenant_id, artifact_id, user_id, bytes, created_at) VALUES (?, ?, ?, ?, ?)"
    " ON CONFLICT (tenant_id, artifact_id, user_id) DO NOTHING"
)
_OWNED = "SELECT 1 FROM artifacts WHERE tenant_id = ? AND artifact_id = ? LIMIT 1"


class FolderArtifacts:
    def __init__(self, database: Database, folder: Path, clock: Clock) -> None:
        self._database = database
        self._folder = folder
        self._staging = folder / "staging"
        self._clock = clock

    def prepare(self) -> None:
        """Makes the folders and removes what dead processes left in staging."""
        try:
            self._staging.mkdir(mode=0o700, parents=True, exist_ok=True)
            for path in self._staging.iterdir():
                if time.time() - path.lstat().st_mtime > LEFTOVER_SECONDS:
                    path.unlink(missing_ok=True)
        except OSError as error:
            raise _failed(error, self._folder) from error

    def staging(self) -> Path:
        return self._staging / secrets.token_hex(16)

    async def adopt(self, scope: Scope, path: Path) -> ArtifactId:
        if path.parent != self._staging:
            raise InternalError(f"{path} is not in the staging folder of the artifacts.", code="artifact_not_staged")
        try:
            digest, size = await asyncio.to_thread(self._move_in, path)
        except OSError as error:
            raise _failed(error, path) from error
        artifact = ArtifactId(f"sha256:{digest}")
        now = time_text(self._clock.now())
        await self._database.write((_INSERT, (scope.tenant, artifact, scope.user, size, now)))
        return artifact

    async def path(self, scope: Scope, artifact: ArtifactId) -> Path:
        if not await self._database.rows(_OWNED, scope.tenant, artifact):
            raise NotFoundError(f"There is no artifact {artifact}.", code="artifact_not_found")
        path = self._place(artifact.removeprefix("sha256:"))
        if not path.is_file():
            raise OperatorError(
                f"The file of artifact {artifact} is missing: {path}.",
                code="artifact_missing",
                hint="Restore the artifact folder from the backup that belongs to this database.",
            )
        return path

    def _move_in(self, path: Path) -> tuple[str, int]:
        """On disk before it is named, named before anyone hears of it: no crash leaves half a file under a hash."""
        digest, size = _settled(path)
        target = self._place(digest)
        target.parent.mkdir(mode=0o700, exist_ok=True)
        path.replace(target)
        _sync_folder(target.parent)
        return digest, size

    def _place(self, digest: str) -> Path:
        return self._folder / digest[:2] / digest[2:]


def _settled(path: Path) -> tuple[str, int]:
    """Hash and size of a file that is safely on disk. A link is refused: it could name a file that is not ours."""
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW), "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "not a regular file")
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        os.fsync(file.fileno())
        return digest, status.st_size


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _failed(error: OSError, path: Path) -> AnswerableError:
    if error.errno in _FULL:
        return OperatorError(
            f"The artifact {path} could not be written: {error.strerror}.",
            code="store_full",
            hint="Make space on the disk (or raise the quota), then try again.",
        )
    return OperatorError(
        f"The artifact folder cannot be used: {path}: {error.strerror}.",
        code="store_unavailable",
        hint="The folder must exist on a local disk and be writable.",
    )
