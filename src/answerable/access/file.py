"""The file `access.yaml` of a home folder, read again whenever it changes, and the secret for hashed values."""

import os
import secrets
from pathlib import Path
from typing import TYPE_CHECKING

from answerable.access.directory import Directory
from answerable.core.context import Principal
from answerable.core.errors import OperatorError, UserError
from answerable.core.file_errors import no_descriptors

if TYPE_CHECKING:
    from answerable.access.policy import AccessPolicy
    from answerable.access.view import AccessView

_LARGEST = 4_000_000


class AccessFile:
    """The rules of one tenant. Without the file there are no identities, and one person may see all.

    Once this process has seen the file, its absence is an error and not the end of all rules: whoever replaces the file
    may delete it for a moment.
    """

    def __init__(self, home: Path) -> None:
        self.path = home / "access.yaml"
        self._secret = home / "access.secret"
        self._read: tuple[tuple[int, int, int], AccessPolicy] | None = None
        self._views: dict[Principal, AccessView] = {}
        self._directory: Directory = {}

    @property
    def directory(self) -> Directory:
        """The people of the store who can sign in."""
        return self._directory

    @directory.setter
    def directory(self, people: Directory) -> None:
        if people != self._directory:
            self._directory = people
            self._views = {}

    @property
    def is_on(self) -> bool:
        return self._read is not None or self.path.exists()

    def policy(self) -> "AccessPolicy | None":
        """The rules as they are now; None without the file. A file that cannot be used raises, and lets nobody in."""
        try:
            seen = self.path.stat()
        except FileNotFoundError:
            if self._read is None:
                return None
            raise OperatorError(
                f"{self.path} is gone.",
                code="access_missing",
                hint="Put it back, or stop the server before you remove it.",
            ) from None
        state = (seen.st_ino, seen.st_size, seen.st_mtime_ns)
        if self._read is None or self._read[0] != state:
            from answerable.access.policy import parse_policy

            self._read = (state, parse_policy(self.text(), self.path.name))
            self._views = {}
        return self._read[1]

    def required_policy(self) -> "AccessPolicy":
        """The rules, for what makes no sense without them."""
        policy = self.policy()
        if policy is None:
            raise UserError(
                f"There are no access rules here: {self.path} does not exist.",
                code="access_off",
                hint="Everybody who can reach this installation sees all of it. docs/identity.md says how to begin.",
            )
        return policy

    def view(self, principal: Principal) -> "AccessView | None":
        """What the person may see and do; None for all. The person at the machine can read the files themselves, so no
        rule applies to them."""
        if principal.is_at_the_machine:
            return None
        policy = self.policy()
        if policy is None:
            return None
        if principal not in self._views:
            from answerable.access.view import view_of

            self._views[principal] = view_of(policy, principal, self._directory.get(principal.user))
        return self._views[principal]

    def secret(self) -> str:
        """The secret of hashed values. It is the same for all people and at all times, so that hashes can be compared
        and joined."""
        try:
            return self._secret.read_text(encoding="ascii")
        except FileNotFoundError:
            pass
        secret = secrets.token_hex(32)
        try:
            descriptor = os.open(self._secret, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:  # another process was quicker
            return self._secret.read_text(encoding="ascii")
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(secret)
        return secret

    def write(self, text: str) -> None:
        """Replaces the file as a whole, so that nobody ever reads a part of it."""
        beside = self.path.with_name(f"{self.path.name}.{secrets.token_hex(4)}")
        try:
            beside.write_text(text, encoding="utf-8")
            beside.chmod(self.path.stat().st_mode & 0o777)
            beside.replace(self.path)
        except OSError as error:
            beside.unlink(missing_ok=True)
            raise no_descriptors(error) or OperatorError(
                f"{self.path} cannot be written: {error.strerror}.", code="access_unwritable"
            ) from error

    def text(self) -> str:
        """The file as it is now, also if its rules cannot be used."""
        try:
            with self.path.open("rb") as file:
                return file.read(_LARGEST).decode("utf-8-sig")
        except OSError as error:
            raise no_descriptors(error) or OperatorError(
                f"{self.path} cannot be read: {error.strerror}.", code="access_unreadable"
            ) from error
        except UnicodeDecodeError as error:
            raise OperatorError(
                f"{self.path} is not UTF-8 text.", code="access_invalid", hint="Save the file as UTF-8."
            ) from error
