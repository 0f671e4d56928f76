"""What a program may ask of an API that is a source: GET calls through its session, whose replies have no secrets."""

from answerable.apis.call import ApiCall, ApiReply, Method
from answerable.apis.openapi.endpoints import ApiEndpoint, EndpointCatalog
from answerable.apis.paths import PathTemplate
from answerable.apis.session import ApiSession
from answerable.core.catalog import Catalog
from answerable.core.values import Json
from answerable.sources.api.fetching import fetched
from answerable.sources.classing import secret_reason


class ProgramCalls:
    """Makes the calls of one program. Pages are followed as the endpoint's document says."""

    methods: tuple[Method, ...] = ("GET",)

    def __init__(self, session: ApiSession, endpoints: EndpointCatalog, catalog: Catalog) -> None:
        self._session = session
        self._endpoints = endpoints
        self._secret = {column.column.casefold() for column in catalog.secrets}
        self._shown = {column.name.casefold() for table in catalog.tables for column in table.columns}

    async def call(self, call: ApiCall) -> ApiReply:
        endpoint = self._endpoint(call.path) if call.all_pages else None
        if endpoint is None or endpoint.operation == "get":
            reply = await self._session.call(call)
            return ApiReply(self._without_secrets(reply.data), reply.requests, reply.byte_count)
        before = self._session.requests
        params = call.params if isinstance(call.params, dict) else {}
        at_path = endpoint.model_copy(update={"path": str(call.path)})
        rows = await fetched(self._session, at_path, filters=params)
        return ApiReply(self._without_secrets(rows.rows), self._session.requests - before, 0)

    def _endpoint(self, path: Json) -> ApiEndpoint | None:
        segments = str(path)[1:].split("/")
        return next((each for each in self._endpoints.endpoints if PathTemplate(each.path).matches(segments)), None)

    def _without_secrets(self, data: Json) -> Json:
        if isinstance(data, list):
            return [self._without_secrets(each) for each in data]
        if not isinstance(data, dict):
            return data
        return {name: self._without_secrets(value) for name, value in data.items() if not self._hides(name, value)}

    def _hides(self, name: str, value: Json) -> bool:
        folded = name.casefold()
        if folded in self._secret:
            return True
        return folded not in self._shown and isinstance(value, str) and bool(secret_reason(name, (value,)))
