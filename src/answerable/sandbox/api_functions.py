"""`api_get` and `api_post`: how sandboxed code calls a configured API. The code sees neither credential nor address."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from answerable.core.values import Json
from answerable.sandbox.base import HostCalls, HostFunction

if TYPE_CHECKING:
    from answerable.apis.call import ApiCall, ApiReply, BeforeWrite, Method, RequestRecord
    from answerable.apis.session import ApiSession

_STUBS: "dict[Method, str]" = {
    "GET": "def api_get(path: str, params: dict[str, Any] | None = None, paginate: bool = False) -> Any: ...",
    "POST": "def api_post(path: str, body: Any = None, params: dict[str, Any] | None = None) -> Any: ...",
}


class ApiSessions(Protocol):
    """`ConfiguredApis` or `Broker`."""

    def session(
        self,
        api: str,
        record: "Callable[[RequestRecord], None]",
        *,
        seconds: float,
        before_write: "BeforeWrite | None" = None,
    ) -> "ApiSession": ...


class ProgramSession(Protocol):
    """The session of an API as programs use it."""

    @property
    def methods(self) -> "tuple[Method, ...]": ...

    async def call(self, call: "ApiCall") -> "ApiReply": ...


class ApiFunctions:
    """Opens a session for each run of generated code and offers it as functions."""

    def __init__(self, apis: ApiSessions, seconds: float) -> None:
        """`seconds`: how long all calls of one run may take together."""
        self._apis = apis
        self._seconds = seconds

    def calls(self, api: str, tell: Callable[[Json], None]) -> HostCalls:
        """`tell` receives every request as `{"function", "target", "path", "params", "status", "duration_ms", "bytes",
        "error"}`, which is stored in the run's events."""
        return host_calls(self._apis.session(api, lambda record: tell(request_entry(record)), seconds=self._seconds))


def host_calls(session: ProgramSession) -> HostCalls:
    return HostCalls(
        {_name(method): _function(session, method) for method in session.methods},
        "\n".join(_STUBS[method] for method in session.methods),
    )


def _name(method: "Method") -> str:
    return f"api_{method.lower()}"


def _function(session: ProgramSession, method: "Method") -> HostFunction:
    from answerable.apis.call import ApiCall

    async def api_get(path: Json, params: Json = None, paginate: Json = False) -> Json:
        return (await session.call(ApiCall(path, "GET", params, all_pages=bool(paginate)))).data

    async def api_post(path: Json, body: Json = None, params: Json = None) -> Json:
        return (await session.call(ApiCall(path, "POST", params, body))).data

    return api_get if method == "GET" else api_post


def request_entry(record: "RequestRecord") -> dict[str, Json]:
    return {
        "function": _name(record.method),
        "target": record.api,
        "path": record.path,
        "params": record.params,
        "status": record.status,
        "duration_ms": record.duration_ms,
        "bytes": record.byte_count,
        "error": record.error,
    }
