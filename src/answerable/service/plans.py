"""Answers changed in place: the parts of their plans, and runs of plans with some parts changed."""

from collections.abc import Sequence

from pydantic import ValidationError

from answerable.agents.graphs import query_graph
from answerable.agents.run_policy import RunPolicy
from answerable.core.catalog import Catalog
from answerable.core.context import Principal, RunContext
from answerable.core.errors import UserError
from answerable.core.ids import RunId, new_run_id, new_thread_id
from answerable.engine.steps.present import Presentation
from answerable.engine.steps.sql import SqlConfig
from answerable.query.changes import Change, changed
from answerable.query.plan import QueryPlan
from answerable.reader.explaining.sentence import sentence
from answerable.service.exploring import explored_plan
from answerable.service.plan_parts import NO_PARTS, PlanParts, plan_parts
from answerable.service.run_carrier import Subject, ended
from answerable.service.runs import RunService
from answerable.sources.registry import SourceRegistry
from answerable.store.base import RunRecord

CHANGED = "changed"
"""The mode of a run whose plan a person made by changing the plan of another run."""
YOURS = "You changed the plan yourself."


class PlanService:
    def __init__(self, runs: RunService, registry: SourceRegistry, policy: RunPolicy) -> None:
        self._runs = runs
        self._registry = registry
        self._policy = policy

    async def parts(self, run: RunId, principal: Principal) -> PlanParts:
        """The measure, group, filters, period and order of an answer, with what each can be changed to. An answer
        whose plan has no such parts has none."""
        record = await self._runs.get(run, principal)
        plan = await self._plan_of(record, principal)
        if plan is None:
            return NO_PARTS
        catalog = await (await self._registry.get(record.sources[0], principal)).describe()
        try:
            return plan_parts(plan, catalog, record.sources[0])
        except UserError:  # the data has changed so much that the plan does not fit any more
            return NO_PARTS

    async def change(
        self,
        run: RunId,
        changes: Sequence[Change],
        principal: Principal,
        request_id: str | None = None,
        *,
        new: RunId | None = None,
    ) -> RunId:
        """Starts a run of the plan of another run, with changes, in the same thread and under the same question."""
        view = self._registry.view(principal)
        if view is not None:
            view.require("ask")
        record = await self._runs.get(run, principal)
        plan = await self._plan_of(record, principal)
        if plan is None:
            raise UserError(
                "This answer has no parts that can be changed one by one.",
                code="plan_fixed",
                hint="Ask the question in other words.",
            )
        source = record.sources[0]
        catalog = await (await self._registry.get(source, principal)).describe()
        plan = changed(plan, changes, catalog)
        context = RunContext(new or new_run_id(), principal, record.thread, request_id)
        return await self._begin(plan, catalog, source, record.question or "", context)

    async def ask_explored(
        self,
        source: str,
        table: str,
        changes: Sequence[Change],
        principal: Principal,
        request_id: str | None = None,
        *,
        new: RunId | None = None,
    ) -> RunId:
        """Starts a run, in a thread of its own, of what somebody sees who explores a table."""
        view = self._registry.view(principal)
        if view is not None:
            view.require("ask")
        catalog = await (await self._registry.get(source, principal)).describe()
        plan = explored_plan(table, changes, catalog)
        context = RunContext(new or new_run_id(), principal, new_thread_id(), request_id)
        return await self._begin(plan, catalog, source, sentence(plan, catalog).rstrip("."), context)

    async def _begin(self, plan: QueryPlan, catalog: Catalog, source: str, question: str, context: RunContext) -> RunId:
        presentation = Presentation(
            question=question,
            understood=sentence(plan, catalog),
            confidence="high",
            confidence_reason=YOURS,
            plan=plan,
        )
        graph = self._policy.applied(query_graph(SqlConfig(source=source, plan=plan), presentation))
        return await self._runs.carrier.start(graph, Subject(question or None, (source,), CHANGED), context)

    async def _plan_of(self, record: RunRecord, principal: Principal) -> QueryPlan | None:
        if not ended(record) or len(record.sources) != 1:
            return None
        plan = (await self._runs.answer(record.run, principal)).provenance.plan
        try:
            return QueryPlan.model_validate(plan) if plan else None
        except ValidationError:  # a plan of several steps
            return None
