"""Tenants of Okta: synced into a database file each, which is a source like any other."""

import asyncio
import shutil
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from answerable.agents.question_request import QuestionRequest
from answerable.answers.answer import Answer
from answerable.apis.openapi.endpoints import ApiEndpoint
from answerable.core.clock import Clock, today
from answerable.core.context import Principal
from answerable.core.errors import UserError
from answerable.core.progress import Progress, no_progress
from answerable.core.values import Frozen
from answerable.okta.event_types import EventCategory, event_categories, events_of
from answerable.okta.live import DOCUMENT, SECRET_HEADER, checked_entities, endpoints
from answerable.okta.reports import REPORTS, TenantReport, report_named
from answerable.okta.schedule import SyncSchedule, remove_schedule, store_schedule, stored_schedule
from answerable.okta.status import EntityCount, SyncUnderWay, entity_counts, last_complete, under_way
from answerable.okta.sync.client import OktaClient
from answerable.okta.sync.database import SyncKind
from answerable.okta.sync.graph import FOLDER, GRAPH
from answerable.okta.sync.run import LOG_DAYS, SyncRecord, history, sync
from answerable.okta.tenant_names import tenant_folder, tenant_names
from answerable.okta.tenants import (
    StoredTenant,
    database_of,
    give_vocabulary,
    remembered,
    stored_tenant,
    unknown_tenant,
)
from answerable.service.okta_syncs import BackgroundSyncs
from answerable.service.questions import QuestionService
from answerable.service.sources import SourceService
from answerable.settings import Settings
from answerable.sources.added import source_name, tenant_home


def source_of_tenant(name: str) -> str:
    """The name of the source that a tenant is synced into: small letters, digits and underscores."""
    return source_name(name)


def graph_of_tenant(name: str) -> str:
    """The name of the source that holds the same as a graph."""
    return f"{source_name(name)}_graph"


class TenantSchedule(Frozen):
    cron: str
    zone: str
    next_at: datetime
    problem: str | None
    """Why the last sync by this schedule failed."""


class TenantView(Frozen):
    """A synced tenant, as the page shows it."""

    name: str
    source: str
    """The source that it is synced into."""
    graph: str
    """The source that holds the same as a graph."""
    live: str | None
    """The source that asks Okta itself, if it was added."""
    url: str
    last_sync: datetime | None
    """The end of the last complete sync."""
    data_as_of: datetime | None
    """The time of the newest event that the data knows."""
    entities: tuple[EntityCount, ...]
    schedule: TenantSchedule | None
    running: SyncUnderWay | None
    problem: str | None
    """Why the last sync failed, if none has been complete since."""


class OktaService:
    def __init__(
        self,
        sources: SourceService,
        questions: QuestionService,
        background: BackgroundSyncs,
        settings: Settings,
        clock: Clock,
    ) -> None:
        self._sources = sources
        self._questions = questions
        self._settings = settings
        self._clock = clock
        self._background = background

    async def sync(
        self,
        name: str,
        principal: Principal,
        *,
        url: str | None = None,
        token_from: str | None = None,
        client_id: str | None = None,
        full: bool = False,
        log_days: float = LOG_DAYS,
        progress: Progress = no_progress,
    ) -> SyncRecord:
        """Syncs a tenant and makes it a source of that name. The address is needed the first time only; the token is
        read from the environment variable `token_from`. A sync that was interrupted goes on where it stopped."""
        folder = self._folder(name, principal)
        tenant = remembered(folder, url, token_from, client_id)
        client = OktaClient(tenant.url, tenant.credential(), self._clock)
        try:
            kind: SyncKind | None = "full" if full else None
            record = await sync(
                folder, client, self._clock, kind=kind, log_days=log_days, graph=True, progress=progress
            )
        finally:
            await client.close()
        give_vocabulary(folder)
        for source, location in ((name, database_of(folder)), (graph_of_tenant(name), folder / FOLDER / GRAPH)):
            if source_name(source) not in self._sources.names(principal):
                await self._sources.add(str(location), principal, name=source)
        return record

    async def report(
        self, name: str, report: str, principal: Principal, inputs: Mapping[str, Any] | None = None
    ) -> Answer:
        """Answers a report about a synced tenant, with its inputs. It runs like any other statement: checked, within
        access rules, and recorded."""
        if source_of_tenant(name) not in self._sources.names(principal):
            raise unknown_tenant(name)
        sql = report_named(report).sql(inputs or {}, today(self._clock))
        request = QuestionRequest(f"SQL: {sql}", (source_of_tenant(name),))
        return await self._questions.ask(request, principal)

    def reports(self, principal: Principal) -> Sequence[TenantReport]:
        """Every report, with its inputs. They are the same for everybody."""
        del principal
        return tuple(REPORTS.values())

    async def live(self, name: str, principal: Principal, entities: Sequence[str] = ()) -> str:
        """Adds the live API of a synced tenant as a source beside it, and returns its name. `entities`: those that
        become tables, else the usual ones. It is asked with the API token of the tenant."""
        _, tenant = self._known(name, principal)
        if tenant.client_id is not None:
            raise UserError(
                "The live API is asked with an API token, and this tenant is synced with a private key.",
                code="okta_live_needs_token",
                hint=f"Name a variable with a token: answerable okta sync {name} --token-from OKTA_API_TOKEN",
            )
        chosen = checked_entities(entities)
        called = f"{source_of_tenant(name)}_live"
        if called in self._sources.names(principal):
            await self._sources.remove(called, principal)
        await self._sources.add_api(
            str(DOCUMENT),
            tenant.url,
            principal,
            name=called,
            secret_env=tenant.token_from,
            secret_header=SECRET_HEADER,
            entities=chosen,
        )
        return called

    def endpoints(self, principal: Principal) -> Sequence[ApiEndpoint]:
        """Every GET endpoint of Okta's API. They are the same for everybody."""
        del principal
        return endpoints().endpoints

    def events(self, categories: Sequence[str], principal: Principal) -> Sequence[EventCategory]:
        """The event types of one to three categories of Okta's log, or all categories if none is named."""
        del principal
        return events_of(categories) if categories else tuple(event_categories().values())

    async def remove(self, name: str, principal: Principal) -> None:
        """Removes a synced tenant: the source, its data and what is stored about it."""
        folder, _ = self._known(name, principal)
        source = source_of_tenant(name)
        for each in (source, graph_of_tenant(name), f"{source}_live"):
            if each in self._sources.names(principal):
                await self._sources.remove(each, principal)
        await asyncio.to_thread(shutil.rmtree, folder)

    def is_synced(self, name: str, principal: Principal) -> bool:
        """Whether a tenant is stored under this name."""
        return stored_tenant(self._folder(name, principal)) is not None

    def history(self, name: str, principal: Principal) -> Sequence[SyncRecord]:
        """Every sync of a tenant, the oldest first."""
        return history(self._known(name, principal)[0])

    async def tenants(self, principal: Principal) -> Sequence[TenantView]:
        """Every synced tenant, by name."""
        return [await self.tenant(name, principal) for name in tenant_names(self._home(principal))]

    async def tenant(self, name: str, principal: Principal) -> TenantView:
        """A synced tenant: what it holds, when it was synced, its schedule, and the sync that is under way."""
        return await asyncio.to_thread(self._view, name, principal)

    def _view(self, name: str, principal: Principal) -> TenantView:
        folder, tenant = self._known(name, principal)
        last, schedule, live = last_complete(folder), stored_schedule(folder), f"{source_of_tenant(name)}_live"
        attempts = history(folder)
        failed = attempts[-1].error if attempts and attempts[-1].status != "complete" else None
        running = under_way(folder)
        if running is None and self._background.is_under_way(name, principal):
            running = SyncUnderWay("Syncing", 0, 0)
        return TenantView(
            name=name,
            source=source_of_tenant(name),
            graph=graph_of_tenant(name),
            live=live if live in self._sources.names(principal) else None,
            url=tenant.url,
            last_sync=_time(last.finished) if last else None,
            data_as_of=_time(last.data_as_of) if last else None,
            entities=entity_counts(folder),
            schedule=_shown_schedule(schedule) if schedule else None,
            running=running,
            problem=self._background.problem(name, principal) or failed,
        )

    async def start_sync(self, name: str, principal: Principal, *, full: bool = False) -> TenantView:
        """Begins a sync of a tenant that was synced before, and does not wait for it. One that is under way goes on."""
        _, tenant = self._known(name, principal)
        tenant.credential()  # raises if the token is missing
        self._background.begin(name, principal, lambda each, who: self.sync(each, who, full=full))
        return await self.tenant(name, principal)

    async def schedule(self, name: str, cron: str, principal: Principal, *, zone: str = "UTC") -> TenantView:
        """Syncs a tenant by itself at these times, as long as a server runs. A missed time is made up for once."""
        folder, tenant = self._known(name, principal)
        tenant.credential()  # raises if the token is missing
        schedule = SyncSchedule(cron=cron, zone=zone, user=principal.user, after=self._clock.now())
        _ = schedule.next_at  # raises if it is no schedule
        store_schedule(folder, schedule)
        return await self.tenant(name, principal)

    async def unschedule(self, name: str, principal: Principal) -> None:
        """Ends the schedule of a tenant. Its data stays."""
        remove_schedule(self._known(name, principal)[0])

    def _home(self, principal: Principal) -> Path:
        return tenant_home(self._settings.home, principal.tenant)

    def _folder(self, name: str, principal: Principal) -> Path:
        return tenant_folder(self._home(principal), name)

    def _known(self, name: str, principal: Principal) -> tuple[Path, StoredTenant]:
        folder = self._folder(name, principal)
        tenant = stored_tenant(folder)
        if tenant is None:
            raise unknown_tenant(name)
        return folder, tenant


def _shown_schedule(schedule: SyncSchedule) -> TenantSchedule:
    return TenantSchedule(cron=schedule.cron, zone=schedule.zone, next_at=schedule.next_at, problem=schedule.problem)


def _time(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text).replace(tzinfo=UTC)
