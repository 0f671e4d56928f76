"""Content-addressed files in a folder beside the database, and who may read them.

artifacts/staging/…        files that are still being written, in a folder for each process
artifacts/ab/cdef…         finished files: the SHA-256 of the content in hexadecimal, split after two digits
"""

import asyncio
import errno
import hashlib
import os
import secrets
import stat
from pathlib import Path

from answerable.core.clock import Clock
from answerable.core.context import Principal
from answerable.core.errors import InternalError, NotFoundError, OperatorError
from answerable.core.ids import ArtifactId
from answerable.isolation.own_folder import own_folder, remove_abandoned
from answerable.store.database import OWN, SqlDatabase, own, time_text
from answerable.store.disk import disk_error

_PREFIX = "sha256:"
_NOT_A_FILE = {errno.ENOENT, errno.ELOOP, errno.EISDIR, errno.EINVAL}
_INSERT = (
    "INSERT INTO artifacts (tenant_id, artifact_id, user_id, bytes, created_at) VALUES (?, ?, ?, ?, ?)"
    " ON CONFLICT (tenant_id, artifact_id, user_id) DO UPDATE SET created_at = excluded.created_at"
)
_BYTES = "SELECT bytes FROM artifacts WHERE artifact_id = ? LIMIT 1"
_DELETE = "DELETE FROM artifacts WHERE artifact_id = ? AND created_at < ?"
_OWNED = f"SELECT 1 FROM artifacts WHERE {OWN} AND artifact_id = ? LIMIT 1"  # noqa: S608


class FolderArtifacts:
    def __init__(self, database: SqlDatabase, folder: Path, clock: Clock) -> None:
        self._database = database
        self._folder = folder.expanduser().absolute()
        self._staging = self._folder / "staging"
        self._clock = clock

    def prepare(self) -> None:
        """Makes the folders and removes what dead processes left in staging."""
        try:
            self._folder.mkdir(mode=0o700, exist_ok=True)
            self._staging.mkdir(mode=0o700, exist_ok=True)
            remove_abandoned(self._staging)
        except OSError as error:
            raise disk_error(error, f"The artifact folder {self._folder}") from error

    def staging(self) -> Path:
        try:
            return own_folder(self._staging) / secrets.token_hex(16)
        except OSError as error:
            raise disk_error(error, f"The artifact folder {self._folder}") from error

    async def adopt(self, principal: Principal, path: Path) -> ArtifactId:
        if path.parent != own_folder(self._staging):
            raise _not_staged(path, "it is not in the staging folder")
        try:
            digest, size = await asyncio.to_thread(_settled, path)
            artifact = ArtifactId(_PREFIX + digest)
            now = time_text(self._clock.now())
            # The row comes first: it keeps `remove` from taking the file of an earlier artifact of the same content.
            await self._database.write((_INSERT, (principal.tenant, artifact, principal.user, size, now)))
            await asyncio.to_thread(self._move_in, path, digest)
        except OSError as error:
            if error.errno in _NOT_A_FILE:
                raise _not_staged(path, error.strerror or "it is not a file") from error
            raise disk_error(error, f"The artifact {path}") from error
        return artifact

    async def path(self, principal: Principal, artifact: ArtifactId) -> Path:
        if not await self._database.rows(_OWNED, *own(principal), artifact):
            raise NotFoundError(f"There is no artifact {artifact}.", code="artifact_not_found")
        path = self._place(artifact.removeprefix(_PREFIX))
        if not path.is_file():
            raise OperatorError(
                f"The file of artifact {artifact} is missing: {path}.",
                code="artifact_missing",
                hint="Restore the artifact folder from the backup that belongs to this database.",
            )
        return path

    async def remove(self, artifact: ArtifactId, before: str) -> int:
        """Removes an artifact that was last adopted before then; returns how many bytes that freed. The file is put
        aside, and put back if somebody has adopted the same content in the meantime."""
        rows = await self._database.rows(_BYTES, artifact)
        await self._database.write((_DELETE, (artifact, before)))
        target, aside = self._place(artifact.removeprefix(_PREFIX)), self.staging()
        if await self._database.rows(_BYTES, artifact) or not target.exists():
            return 0
        target.replace(aside)
        if await self._database.rows(_BYTES, artifact):
            aside.replace(target)
            return 0
        aside.unlink(missing_ok=True)
        return int(rows[0][0]) if rows else 0

    def _move_in(self, path: Path, digest: str) -> None:
        """Moves a file in. It is on disk before it is named, and named before anyone hears of it, so that no crash
        leaves half a file under a hash."""
        target = self._place(digest)
        if not target.parent.is_dir():
            target.parent.mkdir(mode=0o700, exist_ok=True)
            _sync_folder(self._folder)
        path.replace(target)
        _sync_folder(target.parent)

    def _place(self, digest: str) -> Path:
        return self._folder / digest[:2] / digest[2:]


def _settled(path: Path) -> tuple[str, int]:
    """Hash and size of a file that is safely on disk.

    Whoever wrote it may not be trusted: a link could name a file that is not ours, a pipe would never end.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file")
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        os.fsync(descriptor)
        return digest, status.st_size


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _not_staged(path: Path, reason: str) -> InternalError:
    return InternalError(f"{path} cannot become an artifact: {reason}.", code="artifact_not_staged")
