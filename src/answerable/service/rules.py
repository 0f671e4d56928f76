"""The versions of `access.yaml`: what changed, when, and how to undo it. Requests for more, and what came of them."""

import difflib
import secrets
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Literal

from pydantic import Field

from answerable.access.policy import AccessPolicy, Rule, parse_policy
from answerable.core.clock import Clock
from answerable.core.context import Principal
from answerable.core.errors import AnswerableError, NotFoundError, RefusedError, UserError
from answerable.core.ids import TenantId
from answerable.core.values import Frozen
from answerable.service.identity import IdentityService
from answerable.sources.registry import SourceRegistry
from answerable.store.protocols.access_records import AccessRecords, AccessRequest, AccessVersion, RequestState

LONGEST_DAYS = 366
MOST_OPEN = 20
"""Requests of one user that wait for a decision."""


class RulesVersion(Frozen):
    version: int
    at: datetime
    user: str | None = Field(description="Null for a file that was edited by other means.")
    note: str


class RoleView(Frozen):
    name: str
    actions: list[str]
    description: str | None


class RuleView(Frozen):
    """One rule, in fields and in words."""

    name: str
    roles: list[str] = Field(description="For whom it holds; `everyone` stands for all.")
    users: list[str]
    source: str = Field(description="Empty for a rule about graphs or tools.")
    graphs: list[str] = Field(description="Stored graphs that it is about; `*` stands for all.")
    tools: list[str] = Field(description="Tools that it is about.")
    tables: list[str] = Field(description="Empty for all tables.")
    columns: list[str] = Field(description="Empty for all columns.")
    effect: Literal["allow", "deny", "rows", "mask"]
    says: str
    reason: str | None


class RulesState(Frozen):
    """The rules as they are now. Their text, with another one in its place, goes back with the version."""

    version: int
    text: str
    contact: str | None
    roles: list[RoleView]
    rules: list[RuleView]
    problem: str | None = Field(description="Why the file cannot be used as it is; it then lets nobody in.")


class RequestView(Frozen):
    request_id: str
    user: str
    wanted: str
    reason: str
    asked_at: datetime
    state: RequestState
    decided_by: str | None
    decided_at: datetime | None
    role: str | None = Field(description="The role that was given.")
    expires_at: datetime | None = Field(description="Until when the role counts.")
    note: str


class RulesService:
    def __init__(
        self, records: AccessRecords, identity: IdentityService, registry: SourceRegistry, clock: Clock
    ) -> None:
        self._records = records
        self._identity = identity
        self._registry = registry
        self._clock = clock

    # Versions

    async def history(self, principal: Principal) -> list[RulesVersion]:
        """The versions of the rules, the newest first. A file that was edited since becomes a version now."""
        self._identity.require_administrator(principal)
        await self.note(principal.tenant)
        return [_version_view(each) for each in await self._records.versions(principal.tenant)]

    async def current(self, principal: Principal) -> RulesState:
        """The rules as they are now, also if they have a mistake, so that it can be seen and mended."""
        self._identity.require_administrator(principal)
        newest = await self._newest(principal.tenant)
        try:
            policy, problem = parse_policy(newest.body), None
        except AnswerableError as error:
            policy, problem = AccessPolicy(), error.message
        return RulesState(
            version=newest.version,
            text=newest.body,
            contact=policy.contact,
            roles=[
                RoleView(name=name, actions=list(role.actions), description=role.description)
                for name, role in policy.roles.items()
            ],
            rules=[_rule_view(rule) for rule in policy.rules],
            problem=problem,
        )

    async def replace(self, text: str, principal: Principal, *, version: int) -> RulesVersion:
        """Writes other rules in place of `version`, which must be the newest: two people who edit at once do not undo
        each other's work. Rules with a mistake, or after which nobody could administer, are refused."""
        self._identity.require_administrator(principal)
        newest = await self._newest(principal.tenant)
        if newest.body == text:
            return _version_view(newest)
        if newest.version != version:
            raise _changed_meanwhile()
        return await self._write(text, newest, "", principal)

    async def diff(self, principal: Principal, *, version: int | None = None) -> str:
        """What has changed since a version, by default since the one before: a unified diff, empty if nothing has."""
        self._identity.require_administrator(principal)
        old, new = await self._versions(principal.tenant, version)
        lines = difflib.unified_diff(
            old.body.splitlines(),
            new.body.splitlines(),
            f"version {old.version}",
            f"version {new.version}",
            lineterm="",
        )
        return "\n".join(lines)

    async def undo(self, principal: Principal, *, version: int | None = None) -> RulesVersion:
        """Brings back a version, by default the one before. It is checked like a new file and becomes a new version,
        unless the rules are the same already."""
        self._identity.require_administrator(principal)
        old, new = await self._versions(principal.tenant, version)
        if old.body == new.body:
            return _version_view(new)
        return await self._write(old.body, new, f"Brings back version {old.version}.", principal)

    async def _write(self, text: str, newest: AccessVersion, note: str, principal: Principal) -> RulesVersion:
        await self._identity.check_policy(parse_policy(text), principal.tenant)
        record = AccessVersion(newest.version + 1, principal.user, self._clock.now(), note, text)
        if not await self._records.add_version(principal.tenant, record):  # before the file: only one of two gets on
            raise _changed_meanwhile()
        self._registry.access(principal.tenant).write(text)
        return _version_view(record)

    async def _newest(self, tenant: TenantId) -> AccessVersion:
        await self.note(tenant)
        return (await self._records.versions(tenant, limit=1))[0]

    async def note(self, tenant: TenantId) -> None:
        """Stores the rules as a version if they are not the newest one."""
        file = self._registry.access(tenant)
        if not file.is_on:
            file.required_policy()
        text = file.text()
        newest = await self._records.versions(tenant, limit=1)
        if not newest or newest[0].body != text:
            number = newest[0].version + 1 if newest else 1
            await self._records.add_version(tenant, AccessVersion(number, None, self._clock.now(), "", text))

    async def _versions(self, tenant: TenantId, version: int | None) -> tuple[AccessVersion, AccessVersion]:
        await self.note(tenant)
        known = await self._records.versions(tenant)
        wanted = known[0].version - 1 if version is None else version
        found = next((each for each in known if each.version == wanted), None)
        if found is None:
            raise NotFoundError(f"There is no version {wanted} of the rules.", code="access_version_unknown")
        return found, known[0]

    # Requests

    async def ask(self, wanted: str, principal: Principal, *, reason: str = "") -> RequestView:
        """Asks for more than one may see or do. Who administers decides. What is asked already is not asked twice."""
        if self._registry.view(principal) is None:
            self._registry.access(principal.tenant).required_policy()
            raise UserError("You may see and do everything already.", code="access_request_invalid")
        if not wanted.strip() or len(wanted) > 2_000 or len(reason) > 2_000:
            raise UserError("Say in up to 2,000 characters what you need.", code="access_request_invalid")
        mine = await self._records.requests(principal.tenant, principal.user)
        said = (wanted.strip(), reason.strip())
        same = next((each for each in mine if each.state == "open" and (each.wanted, each.reason) == said), None)
        if same is not None:
            return _view(same)
        if sum(each.state == "open" for each in mine) >= MOST_OPEN:
            raise UserError(f"{MOST_OPEN} of your requests are open already.", code="access_request_invalid")
        request = AccessRequest("req_" + secrets.token_hex(8), principal.user, *said, self._clock.now())
        await self._records.add_request(principal.tenant, request)
        return _view(request)

    async def requests(self, principal: Principal) -> list[RequestView]:
        """One's own requests; for who administers, those of everybody. The newest first."""
        view = self._registry.view(principal)
        whose = None if view is None or "administer" in view.actions else principal.user
        return [_view(each) for each in await self._records.requests(principal.tenant, whose)]

    async def approve(
        self, request_id: str, role: str, principal: Principal, *, days: int = 30, note: str = ""
    ) -> RequestView:
        """Gives whoever asked a role, for some days."""
        self._identity.require_administrator(principal)
        policy = self._registry.access(principal.tenant).required_policy()
        if role not in policy.roles:
            known = ", ".join(policy.roles) or "none"
            raise UserError(f"There is no role {role!r}.", code="role_unknown", hint=f"access.yaml has: {known}.")
        if not 1 <= days <= LONGEST_DAYS:
            raise UserError(f"A role is given for 1 to {LONGEST_DAYS} days.", code="access_request_invalid")
        expires_at = self._clock.now() + timedelta(days=days)
        return await self._decide(request_id, principal, "approved", note, role=role, expires_at=expires_at)

    async def deny(self, request_id: str, principal: Principal, *, note: str = "") -> RequestView:
        self._identity.require_administrator(principal)
        return await self._decide(request_id, principal, "denied", note)

    async def _decide(
        self,
        request_id: str,
        principal: Principal,
        state: RequestState,
        note: str,
        *,
        role: str | None = None,
        expires_at: datetime | None = None,
    ) -> RequestView:
        request = await self._records.request(principal.tenant, request_id)
        if request is None:
            raise NotFoundError(f"There is no request {request_id}.", code="access_request_unknown")
        if request.user == principal.user:
            raise RefusedError("Nobody decides about their own request.", code="access_request_own")
        decided = replace(
            request,
            state=state,
            decided_by=str(principal.user),
            decided_at=self._clock.now(),
            role=role,
            expires_at=expires_at,
            note=note[:2_000],
        )
        if (request.state, request.decided_by, request.role, request.note) == (
            state,
            decided.decided_by,
            role,
            decided.note,
        ):
            return _view(request)  # the same decision once more, by somebody who did not hear the reply
        if not await self._records.decide(principal.tenant, decided):
            raise UserError(f"The request {request_id} was decided already.", code="access_request_decided")
        await self._identity.refresh(principal.tenant, now=True)
        return _view(decided)


def _changed_meanwhile() -> UserError:
    return UserError(
        "Somebody else has just changed the rules.",
        code="access_changed",
        hint="Look at the rules as they are now, and change them once more.",
    )


def _version_view(record: AccessVersion) -> RulesVersion:
    return RulesVersion(version=record.version, at=record.seen_at, user=record.user, note=record.note)


def _rule_view(rule: Rule) -> RuleView:
    return RuleView(
        name=rule.name,
        roles=list(rule.for_),
        users=list(rule.users),
        source=rule.source or "",
        graphs=list(rule.graphs),
        tools=list(rule.tools),
        tables=list(rule.tables),
        columns=list(rule.columns),
        effect="allow" if rule.allow else "deny" if rule.deny else "rows" if rule.rows is not None else "mask",
        says=str(rule),
        reason=rule.reason,
    )


def _view(request: AccessRequest) -> RequestView:
    return RequestView(
        request_id=request.request_id,
        user=request.user,
        wanted=request.wanted,
        reason=request.reason,
        asked_at=request.asked_at,
        state=request.state,
        decided_by=request.decided_by,
        decided_at=request.decided_at,
        role=request.role,
        expires_at=request.expires_at,
        note=request.note,
    )
