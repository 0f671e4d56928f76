"""The APIs that a program of a plan may call: those of the settings, and sources of the question that are APIs.

A program names a path; the session of the API adds address and credential, and keeps to paths, rates and budgets. What
models see of an API are its endpoints, never its address.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from answerable.agents.data_text import as_data
from answerable.agents.federation import by_label
from answerable.apis.configured import ConfiguredApis
from answerable.core.context import Principal
from answerable.core.errors import UserError
from answerable.core.records import dataclass
from answerable.core.values import Json
from answerable.engine.steps.source_query import Sources
from answerable.engine.steps.understand import Question
from answerable.sandbox.api_functions import host_calls, request_entry
from answerable.sandbox.base import HostCalls
from answerable.sources.base import CallableApi

if TYPE_CHECKING:
    from answerable.apis.call import BeforeWrite, RequestRecord
    from answerable.apis.openapi.endpoints import ApiEndpoint, EndpointCatalog, Operation

_LISTED = 8
"""Endpoints of an API that the planner sees."""
_DESCRIBED = 5
"""Endpoints that the writer of a program sees, with their parameters and fields."""
_PATHS = 20
_FIELDS = 40


@dataclass(frozen=True, slots=True)
class ApiHelp:
    """What a model is told of an API beside its endpoints, and tools that tell it more."""

    path: str
    """Only an API with this path has it."""
    text: Callable[[], str]
    tools: tuple[Callable[..., str], ...]


class ReachableApis:
    def __init__(
        self, configured: ConfiguredApis, sources: Sources, seconds: float, helps: Sequence[ApiHelp] = ()
    ) -> None:
        """`seconds`: how long all calls of one program may take together."""
        self._helps = helps
        self._configured = configured
        self._sources = sources
        self._seconds = seconds

    async def calls(
        self,
        api: str,
        principal: Principal,
        record: Callable[[Json], None],
        before_write: "BeforeWrite | None" = None,
    ) -> HostCalls:
        """The functions with which a program calls the API. A name in the settings goes before a source, which is only
        read."""

        def tell(request: "RequestRecord") -> None:
            record(request_entry(request))

        if api in self._configured.names:
            return host_calls(self._configured.session(api, tell, seconds=self._seconds, before_write=before_write))
        source = await self._source(api, principal)
        return host_calls(await source.program_calls(tell, self._seconds))

    async def by_label(self, question: Question, principal: Principal) -> dict[str, str]:
        """The APIs that a plan for this question may call, by the name that a model sees."""
        found = {
            label: name
            for label, name in by_label(question).items()
            if isinstance(source := await self._sources.get(name, principal), CallableApi) and source.may_be_called
        }
        return found | {name: name for name in self._configured.names}

    async def overview(self, question: Question, principal: Principal) -> str:
        """The APIs with the endpoints that the question may need, for the planner; empty if there are none."""
        parts = []
        for label, name in (await self.by_label(question, principal)).items():
            if name in self._configured.names:
                paths = self._configured.target(name).paths
                lines = [f"  GET {as_data(path)}" for path in paths[:_PATHS]]
            else:
                catalog = await (await self._source(name, principal)).endpoints()
                chosen = catalog.narrowed(question.text, most=_LISTED) or catalog.endpoints[:_LISTED]
                lines = [f"  {as_data(each.entity)} {each.operation}: GET {as_data(each.path)}" for each in chosen]
            parts.append("\n".join([f"api {as_data(label)}", *lines]))
        return "\n".join(parts)

    async def endpoints_text(
        self, api: str, entity: str | None, operation: str | None, task: str, principal: Principal
    ) -> str:
        """The endpoints for one step, for the model that writes its program: a few, in full."""
        if api in self._configured.names:
            target = self._configured.target(api)
            paths = [f"GET {as_data(path)}" for path in target.paths[:_PATHS]]
            return "\n".join([*paths, f"at most {target.budget.calls} requests"])
        catalog = await (await self._source(api, principal)).endpoints()
        chosen = _chosen(catalog, entity or task, operation) or _chosen(catalog, task, operation)
        chosen = chosen or catalog.endpoints[:_DESCRIBED]
        return "\n".join([*map(_endpoint_text, chosen), *(each.text() for each in self._helping(chosen))])

    async def tools(self, api: str, principal: Principal) -> "tuple[Callable[..., str], ...]":
        """Tools of the model that writes a program for this API."""
        if api in self._configured.names:
            return ()
        catalog = await (await self._source(api, principal)).endpoints()
        return tuple(tool for each in self._helping(catalog.endpoints) for tool in each.tools)

    def _helping(self, endpoints: "Sequence[ApiEndpoint]") -> list[ApiHelp]:
        paths = {endpoint.path for endpoint in endpoints}
        return [each for each in self._helps if each.path in paths]

    async def _source(self, name: str, principal: Principal) -> CallableApi:
        source = await self._sources.get(name, principal)
        if isinstance(source, CallableApi):
            return source
        there = ", ".join(self._configured.names) or "none"
        raise UserError(
            f"{source.name} is not an API.",
            code="api_unknown",
            hint=f"A step calls a source that is an API, or one of the settings: {there}.",
        )


def _chosen(catalog: "EndpointCatalog", words: str, operation: str | None) -> "tuple[ApiEndpoint, ...]":
    known: Operation | None = "get" if operation == "get" else "list" if operation == "list" else None
    exact = catalog.find(words)
    # The other operation too: a program may have to list before it can get.
    return exact[:_DESCRIBED] if exact else catalog.narrowed(words, known, _DESCRIBED)


def _endpoint_text(endpoint: "ApiEndpoint") -> str:
    """One endpoint: entity, operation, path, parameters of its query, and the fields of its rows."""
    parameters = [each for each in endpoint.parameters if each.place == "query"]
    shown = [
        f"{p.name}{'' if p.required else '?'}{'=' + '|'.join(p.values[:8]) if p.values else ''}" for p in parameters
    ]
    fields = [f"{'.'.join(column.path)} {column.type}" for column in endpoint.columns[:_FIELDS]]
    text = f"{as_data(endpoint.entity)} {endpoint.operation}: GET {as_data(endpoint.path)}"
    text += f" with {as_data(', '.join(shown[:12]))}" if shown else ""
    text += f" gives {as_data(', '.join(fields))}" if fields else ""
    return text + (f" -- {as_data(endpoint.summary)}" if endpoint.summary else "")
