"""The state of circuit breakers, shared through the store: what one process learns counts for the others a second
later.

Only that a breaker opens or closes is written, so calls that succeed cost nothing. If the store is away, each process
goes by what it has seen itself.
"""

from collections.abc import Mapping
from contextlib import suppress

from answerable.core.breaker import Breaker
from answerable.core.clock import Clock
from answerable.core.errors import AnswerableError
from answerable.store.protocols.breakers import OpenBreaker, OpenBreakers

LOOK_SECONDS = 1.0
"""How often a process looks for what others have learned, while it calls something."""


class SharedBreakers:
    def __init__(self, store: OpenBreakers, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._looked_at = float("-inf")
        self._known: set[str] = set()
        """The targets that this process had called when it looked last."""
        self._open: set[str] = set()
        """The targets whose breakers were open then."""

    async def learn(self, breakers: Mapping[str, Breaker]) -> None:
        """Opens and closes the breakers of this process as others have."""
        now = self._clock.monotonic()
        if now - self._looked_at < LOOK_SECONDS and breakers.keys() <= self._known:
            return
        self._looked_at, self._known = now, set(breakers)
        with suppress(AnswerableError):
            found = await self._store.all()
            for target in found.keys() & breakers.keys():
                opened, breaker = found[target], breakers[target]
                if breaker.state == "closed":
                    seconds = max(0.0, (self._clock.now() - opened.opened_at).total_seconds())
                    breaker.open(seconds, opened.failures, opened.reason)
            for target in (self._open - found.keys()) & breakers.keys():
                breakers[target].close()
            self._open = set(found)

    async def tell(self, target: str, breaker: Breaker) -> None:
        """Stores that a call has opened or closed a breaker."""
        with suppress(AnswerableError):
            if breaker.state == "closed":
                await self._store.remove(target)
                self._open.discard(target)
            else:
                await self._store.put(target, OpenBreaker(breaker.failures, self._clock.now(), breaker.reason))
                self._open.add(target)
