"""Passwords: what is accepted as one, how it is stored, and how long to wait after wrong ones."""

import asyncio
import unicodedata

from answerable.core.errors import UserError

SHORTEST = 12
LONGEST = 256
FREE_ATTEMPTS = 5
LONGEST_WAIT = 900.0
_MEMORY_KIB, _PASSES, _LANES = 19_456, 2, 1
"""What OWASP recommends for argon2id: 19 MiB and some hundredths of a second for each comparison."""
_NOBODYS = "$argon2id$v=19$m=19456,t=2,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
"""Compared with the password of somebody who has none, so that the time of a refusal does not tell who exists."""
_AT_ONCE = 2
"""A crowd at the door must not use up the machine."""


def check_new_password(password: str, user: str) -> None:
    """Refuses a password that is easy to guess. Length is what counts; no kinds of characters are demanded."""
    text = _normal(password)
    problem = None
    if len(text) < SHORTEST:
        problem = f"The password is too short: it needs at least {SHORTEST} characters."
    elif len(text) > LONGEST:
        problem = f"The password is too long: at most {LONGEST} characters are read."
    elif len(set(text)) < 5:
        problem = "The password repeats the same few characters."
    elif user.casefold() in text.casefold() or "answerable" in text.casefold():
        problem = "The password holds the name of the user or of this program."
    if problem is not None:
        raise UserError(problem, code="password_weak", hint="A few unrelated words make a good password.")


def wait_after(failures: int) -> float:
    """Seconds until the next attempt is allowed: none after the first few failures, then twice as long each time."""
    return 0.0 if failures < FREE_ATTEMPTS else min(2.0 ** (failures - FREE_ATTEMPTS), LONGEST_WAIT)


class Passwords:
    """Stores passwords as argon2id, off the event loop and only a few at a time."""

    def __init__(self) -> None:
        self._turns = asyncio.Semaphore(_AT_ONCE)

    async def hashed(self, password: str) -> str:
        from argon2 import PasswordHasher

        async with self._turns:
            return await asyncio.to_thread(PasswordHasher(_PASSES, _MEMORY_KIB, _LANES).hash, _normal(password))

    async def matches(self, stored: str | None, password: str) -> bool:
        """Whether this is the password. Takes as long for somebody who has none (`stored` is None)."""
        from argon2 import PasswordHasher
        from argon2.exceptions import InvalidHashError, VerificationError

        if len(password) > LONGEST:
            return False
        async with self._turns:
            try:
                await asyncio.to_thread(
                    PasswordHasher(_PASSES, _MEMORY_KIB, _LANES).verify, stored or _NOBODYS, _normal(password)
                )
            except (VerificationError, InvalidHashError):
                return False
        return stored is not None


def _normal(password: str) -> str:
    """The text in one normal form, whichever keyboard composed its accents."""
    return unicodedata.normalize("NFKC", password)
