"""Who is asking, what they may see, and within which run. Passed explicitly to whatever acts on their behalf."""

from dataclasses import dataclass

from answerable.core.ids import RunId, TenantId, ThreadId, UserId


@dataclass(frozen=True, slots=True)
class Visibility:
    """What a principal may see, as a key.

    Catalogs, value indexes, readers and statistics are cached under it, so they are shared by principals who may see
    the same and by nobody else. Today a tenant sees everything of its own. Rules about rows and columns will become
    fields of this class, and every cache will then keep apart what the rules keep apart.
    """

    tenant: TenantId


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

    @property
    def visibility(self) -> Visibility:
        return Visibility(self.tenant)


HOME_TENANT = TenantId("local")
"""The tenant of an installation without identities. Its files lie in the home folder itself."""
LOCAL = Principal(HOME_TENANT, UserId("local"))
"""The one person of an installation without identities. Only the doors use it."""


@dataclass(frozen=True, slots=True)
class RunContext:
    run: RunId
    principal: Principal
    thread: ThreadId | None = None
    request_id: str | None = None
    """The id of the HTTP request or command that started the run; found in the logs."""
