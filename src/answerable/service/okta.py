"""Tenants of Okta: synced into a database file each, which is a source like any other."""

import asyncio
import shutil
from collections.abc import Mapping, Sequence
from typing import Any

from answerable.agents.question_request import QuestionRequest
from answerable.answers.answer import Answer
from answerable.apis.openapi.endpoints import ApiEndpoint
from answerable.core.clock import Clock, today
from answerable.core.context import Principal
from answerable.core.errors import UserError
from answerable.core.progress import Progress, no_progress
from answerable.okta.live import DOCUMENT, SECRET_HEADER, checked_entities, endpoints
from answerable.okta.reports import REPORTS, TenantReport, report_named
from answerable.okta.sync.client import OktaClient
from answerable.okta.sync.database import SyncKind
from answerable.okta.sync.run import LOG_DAYS, SyncRecord, history, sync
from answerable.okta.tenants import (
    database_of,
    give_vocabulary,
    remembered,
    stored_tenant,
    tenant_folder,
    unknown_tenant,
)
from answerable.service.questions import QuestionService
from answerable.service.sources import SourceService
from answerable.settings import Settings
from answerable.sources.added import source_name, tenant_home


def source_of_tenant(name: str) -> str:
    """The name of the source that a tenant is synced into: small letters, digits and underscores."""
    return source_name(name)


class OktaService:
    def __init__(self, sources: SourceService, questions: QuestionService, settings: Settings, clock: Clock) -> None:
        self._sources = sources
        self._questions = questions
        self._settings = settings
        self._clock = clock

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
        folder = tenant_folder(tenant_home(self._settings.home, principal.tenant), name)
        tenant = remembered(folder, url, token_from, client_id)
        client = OktaClient(tenant.url, tenant.credential(), self._clock)
        try:
            kind: SyncKind | None = "full" if full else None
            record = await sync(folder, client, self._clock, kind=kind, log_days=log_days, progress=progress)
        finally:
            await client.close()
        give_vocabulary(folder)
        if source_name(name) not in self._sources.names(principal):
            await self._sources.add(str(database_of(folder)), principal, name=name)
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
        tenant = stored_tenant(tenant_folder(tenant_home(self._settings.home, principal.tenant), name))
        if tenant is None:
            raise unknown_tenant(name)
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

    async def remove(self, name: str, principal: Principal) -> None:
        """Removes a synced tenant: the source, its data and what is stored about it."""
        folder = tenant_folder(tenant_home(self._settings.home, principal.tenant), name)
        if stored_tenant(folder) is None:
            raise unknown_tenant(name)
        if source_name(name) in self._sources.names(principal):
            await self._sources.remove(source_name(name), principal)
        await asyncio.to_thread(shutil.rmtree, folder)

    def is_synced(self, name: str, principal: Principal) -> bool:
        """Whether a tenant is stored under this name."""
        return stored_tenant(tenant_folder(tenant_home(self._settings.home, principal.tenant), name)) is not None

    def history(self, name: str, principal: Principal) -> Sequence[SyncRecord]:
        """Every sync of a tenant, the oldest first."""
        folder = tenant_folder(tenant_home(self._settings.home, principal.tenant), name)
        if stored_tenant(folder) is None:
            raise unknown_tenant(name)
        return history(folder)
