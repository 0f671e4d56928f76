"""Who is asking, and within which run. Passed explicitly to whatever acts on their behalf."""

from dataclasses import dataclass

from answerable.core.ids import RunId, TenantId, ThreadId, UserId


@dataclass(frozen=True, slots=True)
class Principal:
    """Who asks. Made at a door (command line, HTTP, library) and handed down to everything that acts for this person.

    What the principal may see decides what stores return, what a catalog holds and what caches may share. A store never
    returns a row of another tenant.
    """

    tenant: TenantId
    user: UserId
    roles: frozenset[str] = frozenset()
    attributes: tuple[tuple[str, str], ...] = ()
    """Facts about the person that row rules compare with, such as a region. Pairs, so that a principal can be a key."""


LOCAL = Principal(TenantId("local"), UserId("local"))
"""The one person of an installation without identities."""


@dataclass(frozen=True, slots=True)
class RunContext:
    run: RunId
    principal: Principal = LOCAL
    thread: ThreadId | None = None
    request_id: str | None = None
    """The id of the HTTP request or command that started the run; found in the logs."""
