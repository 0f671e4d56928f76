"""The principal who asks, what the principal may see, and the run. Passed explicitly to all code that acts for them."""

from typing import Protocol

from answerable.core.ids import RunId, TenantId, ThreadId, UserId
from answerable.core.records import dataclass


@dataclass(frozen=True, slots=True)
class Visibility:
    """What a principal may see, as the key of caches.

    Catalogs, value indexes, readers and statistics are cached by visibility, so only principals who may see the same
    data share them.
    """

    tenant: TenantId
    rules: str = ""
    """A digest of the access rules that apply, with the attributes that they use. Empty for a principal who sees all
    data of the tenant."""


@dataclass(frozen=True, slots=True)
class Principal:
    """The person who asks. Each door (command line, HTTP, library) creates one and hands it down to all code that acts
    for this person.

    What the principal may see decides what stores return, what a catalog contains and what caches may share. A store
    never returns a row of another tenant.
    """

    tenant: TenantId
    user: UserId
    roles: frozenset[str] = frozenset()
    attributes: tuple[tuple[str, str], ...] = ()
    """Facts about the person for row rules, such as a region. Pairs instead of a dict, so that a principal is hashable
    and can be a key."""
    own_only: bool = False
    """Whether stores return only what belongs to this person: runs, threads, answers. Set by the doors for everybody
    who signs in; the one person of an installation without identities sees all of the tenant."""

    scopes: frozenset[str] | None = None
    """The permissions to which a key limits the person; None for all that the person has."""

    @property
    def is_at_the_machine(self) -> bool:
        """Whether this is the local user, who can read the files themselves. No access rule applies to them."""
        return self == LOCAL

    def seeing_all(self) -> "Principal":
        """The local user: for code that compares the rules with all of the data, after it has asked for permission."""
        return LOCAL


HOME_TENANT = TenantId("local")
"""The tenant of an installation without identities. Its files lie in the home folder itself."""
LOCAL = Principal(HOME_TENANT, UserId("local"))
"""The one person of an installation without identities. Only the doors use it."""


def person(user: str, tenant: TenantId = HOME_TENANT, *, scopes: frozenset[str] | None = None) -> Principal:
    """Somebody who is known by name. What they may see, the access rules say. `scopes`: the permissions to which the
    key that they sent limits them."""
    return Principal(tenant, UserId(user), own_only=True, scopes=scopes)


class Spending(Protocol):
    """What a run may still use of models. Calls that are under way count."""

    def begin_call(self) -> None:
        """Raises a `LimitError` if the run may make no further call."""
        ...

    def end_call(self) -> None:
        """Called once for each call that was begun, after its use is recorded."""
        ...


@dataclass(frozen=True, slots=True)
class RunContext:
    run: RunId
    principal: Principal
    thread: ThreadId | None = None
    request_id: str | None = None
    """The id of the HTTP request or command that started the run. Log lines carry it."""
    spending: Spending | None = None
    """What bounds the calls of models of the run; None if nothing does."""
