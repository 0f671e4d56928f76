"""What a caller hands to an API session and what it gets back, and the record of each HTTP request in between."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Literal, TypeAlias

from answerable.core.records import dataclass
from answerable.core.values import Json

Method: TypeAlias = Literal["GET", "POST"]
BeforeWrite: TypeAlias = Callable[[], Awaitable[None]]
"""Awaited right before the bytes of a request that may change something are sent; raises if they must not be."""


@dataclass(frozen=True, slots=True)
class ApiCall:
    """One call. Path and parameters may come from generated code: the session checks them, types included."""

    path: Json
    """Plain text without scheme, host, query or encoding: `/api/v1/users/00u1`."""
    method: Method = "GET"
    params: Json = None
    """A dictionary of texts, numbers, booleans or lists of these."""
    body: Json = None
    all_pages: bool = False
    """Whether to follow the pages to the end and return their rows as one list."""
    key: str | None = None
    """The idempotency key of a call that changes something. It is sent if the API is configured to recognise keys."""


@dataclass(frozen=True, slots=True)
class ApiReply:
    data: Json
    """The decoded JSON, without the credential; None if the API sent no content."""
    requests: int
    """How many HTTP requests the call took: pages, redirects and retries count."""
    byte_count: int


@dataclass(frozen=True, slots=True)
class RequestRecord:
    """The account of one HTTP request, without the credential. A call that is refused has a record too."""

    api: str
    method: Method
    path: str
    params: Mapping[str, Sequence[str]]
    status: int | None = None
    """None if the API did not answer or was not asked."""
    duration_ms: float = 0.0
    byte_count: int = 0
    error: str | None = None
    """The stable code of the error that ended the request."""
