"""Counts attempts to sign in. Each counts as failed until its password is found to be right."""

from datetime import timedelta

from answerable.core.clock import Clock
from answerable.core.errors import TooManyError
from answerable.core.ids import TenantId
from answerable.identity.passwords import wait_after
from answerable.store.protocols.identities import SignInAttempts


async def count_attempt(attempts: SignInAttempts, tenant: TenantId, name: str, clock: Clock) -> None:
    """Counts an attempt, or refuses it if it comes too early after others that failed."""
    while True:
        failures, open_at = await attempts.state(tenant, name) or (0, clock.now())
        now = clock.now()
        if open_at > now:
            seconds = int((open_at - now).total_seconds()) + 1
            raise TooManyError(
                f"There were too many attempts for this name. The next one is possible in {seconds} s.",
                code="sign_in_locked",
                hint="Sessions that are open go on.",
                retry_after=seconds,
            )
        opens = now + timedelta(seconds=wait_after(failures + 1))
        if await attempts.count(tenant, name, failures=failures + 1, open_at=opens):
            return
