"""Who is asking, and within which run. Passed explicitly to whatever acts on their behalf."""

from dataclasses import dataclass

from answerable.core.ids import RunId, TenantId, ThreadId, UserId


@dataclass(frozen=True, slots=True)
class Scope:
    """The owner of every stored thing. A store never returns a row of another scope's tenant."""

    tenant: TenantId
    user: UserId


LOCAL = Scope(TenantId("local"), UserId("local"))
"""The one person of an installation without identities."""


@dataclass(frozen=True, slots=True)
class RunContext:
    run: RunId
    scope: Scope = LOCAL
    thread: ThreadId | None = None
    request: str | None = None
    """The id of the HTTP request or command that started the run; found in the logs."""
