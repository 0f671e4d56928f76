"""An API as the operator configures it: where it is, which paths may be asked for, and how often.

A caller sees none of this but the paths. It names a path; the host knows the rest.
"""

import base64
import binascii
import ipaddress
from functools import cached_property
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import ConfigDict, Field, SecretStr, field_validator, model_validator

from answerable.apis.call import Method
from answerable.apis.paths import PathTemplate
from answerable.core.values import Frozen


class _Quiet(Frozen):
    """Its validation errors do not show the value, which may be a credential."""

    model_config = ConfigDict(hide_input_in_errors=True)


class HeaderCredential(_Quiet):
    """Sent as a header: `Authorization: Bearer …`, `X-Api-Key: …`."""

    kind: Literal["header"] = "header"
    name: str = Field(default="Authorization", pattern=r"^[A-Za-z0-9-]+$")
    value: SecretStr = Field(min_length=8)

    @field_validator("value")
    @classmethod
    def _sendable(cls, value: SecretStr) -> SecretStr:
        text = value.get_secret_value()
        if not (text.isascii() and text.isprintable()):
            raise ValueError("a header holds printable ASCII only")
        return value


class QueryCredential(_Quiet):
    """Sent as a query parameter."""

    kind: Literal["query"] = "query"
    name: str = Field(min_length=1)
    value: SecretStr = Field(min_length=8)


class LinkPages(Frozen):
    """The header `Link: <…>; rel="next"` names the next page."""

    kind: Literal["link"] = "link"
    items: str | None = None
    """Where the rows of a page are: a field such as `data`, or `data.items`; None if the page itself is the list."""


class CursorPages(Frozen):
    """A field of each page holds the cursor of the next; it is missing, null or empty on the last."""

    kind: Literal["cursor"] = "cursor"
    field: str
    parameter: str
    items: str | None = None


class NumberedPages(Frozen):
    """Pages are numbered; the first page without rows is the last."""

    kind: Literal["number"] = "number"
    parameter: str = "page"
    start: int = 1
    step: int = Field(default=1, ge=1)
    """1 for page numbers; the size of a page where the parameter is an offset."""
    items: str | None = None


class OffsetPages(Frozen):
    """A parameter holds how many rows to skip; the first page without rows is the last."""

    kind: Literal["offset"] = "offset"
    parameter: str = "offset"
    items: str | None = None


class BodyLinkPages(Frozen):
    """A field of each page holds the address of the next; it is missing, null or empty on the last."""

    kind: Literal["next"] = "next"
    field: str = "next"
    items: str | None = None


Pages = Annotated[LinkPages | CursorPages | NumberedPages | OffsetPages | BodyLinkPages, Field(discriminator="kind")]


class Rate(Frozen):
    """How often the API may be asked, by all sessions together."""

    per_second: float = Field(default=10.0, gt=0)
    burst: int = Field(default=20, ge=1)


class ApiBudget(Frozen):
    """What one session may use; every page, redirect and retry counts."""

    calls: int = Field(default=200, ge=1)
    bytes: int = Field(default=50_000_000, ge=1)


class ApiTarget(_Quiet):
    url: str
    """Where the paths begin: `https://example.okta.com`."""
    paths: tuple[str, ...] = Field(min_length=1)
    """Which paths may be asked for; `{name}` stands for one segment: `/api/v1/users/{id}`."""
    methods: tuple[Method, ...] = ("GET",)
    credential: Annotated[HeaderCredential | QueryCredential, Field(discriminator="kind")] | None = None
    headers: dict[str, str] = Field(default_factory=dict)
    """Further headers of each request."""
    idempotency_header: str | None = Field(default=None, pattern=r"^[A-Za-z0-9-]+$")
    """The header whose key the API recognises, so that the same request sent twice is carried out once; None if it
    recognises none."""
    pages: Pages = LinkPages()
    rate: Rate = Rate()
    budget: ApiBudget = ApiBudget()
    seconds: float = Field(default=30.0, gt=0)
    """How long one request may take."""
    allow_http: bool = False
    """Whether the credential may travel unencrypted to another machine."""

    @field_validator("url")
    @classmethod
    def _whole_address(cls, url: str) -> str:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("it must begin with https:// and a host")
        if parts.username or parts.password or parts.query or parts.fragment:
            raise ValueError("it must hold neither a name or password nor a query; give a credential")
        return url.rstrip("/")

    @field_validator("paths")
    @classmethod
    def _readable(cls, paths: tuple[str, ...]) -> tuple[str, ...]:
        for path in paths:
            PathTemplate(path)
        return paths

    @model_validator(mode="after")
    def _encrypted(self) -> "ApiTarget":
        parts = urlsplit(self.url)
        if parts.scheme == "http" and not self.allow_http and not _is_this_machine(parts.hostname or ""):
            raise ValueError("url: http is for this machine only; use https, or set allow_http")
        return self

    @cached_property
    def templates(self) -> tuple[PathTemplate, ...]:
        return tuple(map(PathTemplate, self.paths))

    @cached_property
    def reserved_parameter(self) -> str | None:
        """The query parameter that holds the credential, which no caller may set."""
        return self.credential.name if isinstance(self.credential, QueryCredential) else None

    @cached_property
    def secrets(self) -> tuple[str, ...]:
        """Every form of the credential that must not reach the caller."""
        if self.credential is None:
            return ()
        whole = self.credential.value.get_secret_value()
        token = whole.rpartition(" ")[2]
        return tuple({form for form in (whole, token, *_basic(token)) if len(form) >= 6})


def _basic(token: str) -> list[str]:
    """Name and password, if the token is a basic credential; else nothing."""
    try:
        pair = base64.b64decode(token, validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return []
    return [pair, pair.partition(":")[2]]


def _is_this_machine(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
