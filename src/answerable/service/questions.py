"""Questions: asked in plain words or as a written query, asked once more, and explained."""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import TYPE_CHECKING

from answerable.agents.graphs import QueryType, direct_graph
from answerable.agents.question_request import QuestionRequest
from answerable.agents.readers import Readers
from answerable.agents.routing import graph_of
from answerable.agents.run_policy import RunPolicy
from answerable.answers.answer import Answer
from answerable.core.context import Principal, RunContext
from answerable.core.errors import UserError
from answerable.core.ids import RunId, ThreadId, new_run_id, new_thread_id
from answerable.core.values import Json
from answerable.engine.graph import Graph
from answerable.engine.steps.understand import Question
from answerable.service.graph_permissions import GraphPermissions
from answerable.service.run_carrier import GRAPH_MODE, Subject
from answerable.service.runs import RunService
from answerable.sources.registry import SourceRegistry

if TYPE_CHECKING:
    from answerable.access.policy import Action
    from answerable.protection.content.content_filter import ContentFilter

MOST_SOURCES = 10
_ACTIONS: "Mapping[str | None, Sequence[Action]]" = {
    None: ("ask",),
    "sql": ("sql",),
    "cypher": ("cypher",),
    "python": ("python",),
    "plan": ("sql", "cypher", "python"),
}
"""Which permissions a question in words and each type of written query need."""


class QuestionService:
    def __init__(
        self,
        runs: RunService,
        registry: SourceRegistry,
        readers: Readers,
        default_source: str,
        policy: RunPolicy,
        content: "ContentFilter | None" = None,
    ) -> None:
        """`content`: what questions must pass; None for any."""
        self._content = content
        self._runs = runs
        self._registry = registry
        self.readers = readers
        self._default_source = default_source
        self._policy = policy

    async def ask(self, request: QuestionRequest, principal: Principal) -> Answer:
        """Asks and waits. A run that fails is an answer too, with its error in the provenance."""
        return await self._runs.wait(await self.begin(request, principal), principal)

    async def begin(
        self,
        request: QuestionRequest,
        principal: Principal,
        request_id: str | None = None,
        *,
        run: RunId | None = None,
    ) -> RunId:
        """Starts a run that goes on whether or not anybody waits for it. `run`: the id to give it; a run of that id
        that exists already is not started again."""
        sources = self._known(request.sources, principal)
        graph, mode = graph_of(request, sources)
        self._require(principal, written=mode if mode != request.mode else None)
        if self._content is not None:
            await self._content.check(request.message, "questions")
        context = RunContext(run or new_run_id(), principal, request.thread or new_thread_id(), request_id)
        return await self._runs.carrier.start(
            self._policy.applied(graph), Subject(request.message, sources, mode), context
        )

    async def begin_query(
        self,
        query_type: QueryType,
        code: Json,
        principal: Principal,
        *,
        source: str | None = None,
        thread: ThreadId | None = None,
        request_id: str | None = None,
        run: RunId | None = None,
    ) -> RunId:
        """Starts a run of a query that the user wrote: SQL, Cypher, Python or a plan."""
        self._require(principal, written=query_type)
        named = self._registry.known_as(source or self._default_source, principal)
        graph = self._policy.applied(direct_graph(query_type, self._recordable(code, principal), (named,)))
        subject = Subject(None, (named,), query_type)
        return await self._runs.carrier.start(
            graph, subject, RunContext(run or new_run_id(), principal, thread, request_id)
        )

    async def retry(
        self, run: RunId, principal: Principal, request_id: str | None = None, *, new: RunId | None = None
    ) -> RunId:
        """Asks the question or query of a run once more, in the same thread, as a run of its own with the id `new`."""
        record = await self._runs.get(run, principal)
        asked_in_words = record.question is not None and record.mode not in ("sql", "cypher", "python")
        if record.mode == GRAPH_MODE:
            GraphPermissions(self._registry).require(record.question or "", principal)
        else:
            self._require(principal, written=None if asked_in_words else record.mode)
        graph = await self._runs.first_graph(run, principal)
        subject = Subject(record.question, record.sources, record.mode)
        context = RunContext(new or new_run_id(), principal, record.thread, request_id)
        return await self._runs.carrier.start(graph, subject, context)

    async def run_graph(self, graph: Graph, question: str, principal: Principal) -> Answer:
        """Runs any graph that ends in an answer, in no thread, and waits for it."""
        run = await self._runs.carrier.start(graph, Subject(question, (), None), RunContext(new_run_id(), principal))
        return await self._runs.wait(run, principal)

    async def explain(
        self, question: str, principal: Principal, *, source: str | None = None, today: date | None = None
    ) -> Json:
        """How the reader reads a question, stage by stage."""
        asked = Question(text=question, source=source or self._default_source, today=today)
        return await self.readers.explain(asked, principal)

    def _require(self, principal: Principal, *, written: str | None) -> None:
        """Raises `RefusedError` if the person may not ask in this way. `written`: the type of a written query."""
        view = self._registry.view(principal)
        if view is not None:
            for action in _ACTIONS[written]:
                view.require(action)

    def _known(self, sources: Sequence[str], principal: Principal) -> tuple[str, ...]:
        asked = sources or [self._default_source]
        named = tuple(dict.fromkeys(self._registry.known_as(name, principal) for name in asked))
        if len(named) > MOST_SOURCES:
            raise UserError(
                f"A question can be about {MOST_SOURCES} sources at most; {len(named)} were named.",
                code="sources_too_many",
            )
        return named

    def _recordable(self, plan: Json, principal: Principal) -> Json:
        """A plan that names databases by URL, without the passwords in them."""
        if not isinstance(plan, dict):
            return plan
        if isinstance(plan.get("source"), str):
            plan = plan | {"source": self._registry.known_as(plan["source"], principal)}
        if isinstance(plan.get("steps"), list):
            plan = plan | {"steps": [self._recordable(step, principal) for step in plan["steps"]]}
        return plan
