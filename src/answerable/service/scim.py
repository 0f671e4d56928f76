"""People and groups that a directory such as Entra ID or Okta sends by SCIM 2.0."""

import base64
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, ValidationError

from answerable.core.context import Principal
from answerable.core.errors import NotFoundError, OperatorError, UserError
from answerable.core.ids import TenantId
from answerable.core.validation import first_problem
from answerable.core.values import Frozen
from answerable.identity.scim import ENTERPRISE, GROUP, LIST, USER, field_of, invalid, patched, stored_fields, truth
from answerable.identity.scim_filter import parsed_filter, values_at
from answerable.service.identity import IdentityService
from answerable.service.user_records import SCIM_ORIGIN
from answerable.store.protocols.groups import GroupRecord, UserGroups
from answerable.store.protocols.identities import UserRecord, Users

MOST_RESULTS = 200
MOST_MEMBERS = 50_000
LONGEST_PROFILE = 100_000
Resource = dict[str, Any]


def _listed(value: object) -> object:
    return [value] if isinstance(value, str) else value


class ScimRules(Frozen):
    """What groups and attributes of the directory mean here: `scim` in settings.yaml."""

    roles: Mapping[str, Annotated[tuple[str, ...], BeforeValidator(_listed)]] = Field(default_factory=dict)
    """Which roles of `access.yaml` a group gives, by its display name."""
    attributes: Mapping[str, str] = Field(default_factory=dict)
    """Attributes for row rules, each by the path of a SCIM attribute, such as `urn:…:enterprise:2.0:User:division`."""


class GroupView(Frozen):
    """A group that the directory has sent."""

    name: str
    members: list[str]
    roles: list[str] = Field(description="The roles of `access.yaml` that it gives, by `scim` in settings.yaml.")


@dataclass(frozen=True, slots=True)
class Versioned:
    resource: Resource
    etag: str


class ScimService:
    def __init__(
        self, configured: Mapping[str, Any], identity: IdentityService, users: Users, groups: UserGroups
    ) -> None:
        try:
            self._rules = ScimRules.model_validate(configured)
        except ValidationError as error:
            problem = first_problem(error).at("scim")
            raise OperatorError(f"`scim` in settings.yaml is wrong: {problem}.", code="scim_settings_invalid") from None
        self._identity = identity
        self._users = users
        self._groups = groups

    # Users

    async def users(
        self, principal: Principal, *, filter_text: str | None = None, start: int = 1, count: int = 100
    ) -> Resource:
        self._identity.require_administrator(principal)
        groups = await self._groups.list(principal.tenant)
        found = [_user(record, groups) for record in await self._users.list(principal.tenant) if _is_ours(record)]
        return _listing(found, filter_text, start, count)

    async def user(self, user_id: str, principal: Principal) -> Versioned:
        self._identity.require_administrator(principal)
        return await self._shown(await self._record(user_id, principal.tenant), principal.tenant)

    async def add_user(self, body: Mapping[str, Any], principal: Principal) -> Versioned:
        """Adds somebody. Who was deleted before comes back, with what is theirs."""
        self._identity.require_administrator(principal)
        name = field_of(body, "userName")
        if not isinstance(name, str) or not name.strip():
            raise invalid("A user needs a `userName`.", "invalidValue")
        known = await self._users.find(principal.tenant, name.strip())
        if known is not None and (known.origin != SCIM_ORIGIN or known.profile is not None):
            raise UserError(f"There is a user {name!r} already.", code="user_exists", scim_type="uniqueness")
        record = known or UserRecord(name.strip(), SCIM_ORIGIN)
        return await self._stored(record, {**body, "userName": record.name}, principal.tenant)

    async def replace_user(
        self, user_id: str, body: Mapping[str, Any], principal: Principal, *, etag: str | None = None
    ) -> Versioned:
        self._identity.require_administrator(principal)
        record = await self._record(user_id, principal.tenant)
        _check_version(etag, record.version)
        return await self._stored(record, body, principal.tenant)

    async def patch_user(
        self, user_id: str, body: object, principal: Principal, *, etag: str | None = None
    ) -> Versioned:
        self._identity.require_administrator(principal)
        record = await self._record(user_id, principal.tenant)
        _check_version(etag, record.version)
        before = {"active": record.disabled_at is None, **(record.profile or {})}
        return await self._stored(record, patched(before, body), principal.tenant)

    async def delete_user(self, user_id: str, principal: Principal, *, etag: str | None = None) -> None:
        """Keeps somebody out, at once. The directory forgets the user; what the user has asked stays."""
        self._identity.require_administrator(principal)
        record = await self._record(user_id, principal.tenant)
        _check_version(etag, record.version)
        gone = replace(record, profile=None, roles=(), attributes={})
        await self._identity.save_listed(gone, disabled=True, tenant=principal.tenant)
        for group in await self._groups.list(principal.tenant):
            if record.name in group.members:
                members = tuple(name for name in group.members if name != record.name)
                await self._groups.save(principal.tenant, replace(group, members=members))

    # Groups

    async def groups(
        self, principal: Principal, *, filter_text: str | None = None, start: int = 1, count: int = 100
    ) -> Resource:
        self._identity.require_administrator(principal)
        found = [_group(record) for record in await self._groups.list(principal.tenant)]
        return _listing(found, filter_text, start, count)

    async def listed_groups(self, principal: Principal) -> list[GroupView]:
        """The groups by name, for people to read."""
        self._identity.require_administrator(principal)
        return [
            GroupView(name=each.name, members=list(each.members), roles=list(self._rules.roles.get(each.name, ())))
            for each in await self._groups.list(principal.tenant)
        ]

    async def group(self, group_id: str, principal: Principal) -> Versioned:
        self._identity.require_administrator(principal)
        return _versioned_group(await self._known_group(group_id, principal.tenant))

    async def add_group(self, body: Mapping[str, Any], principal: Principal) -> Versioned:
        self._identity.require_administrator(principal)
        record = GroupRecord("grp_" + secrets.token_hex(8), "")
        return await self._stored_group(record, body, principal.tenant)

    async def replace_group(
        self, group_id: str, body: Mapping[str, Any], principal: Principal, *, etag: str | None = None
    ) -> Versioned:
        self._identity.require_administrator(principal)
        record = await self._known_group(group_id, principal.tenant)
        _check_version(etag, record.version)
        return await self._stored_group(record, body, principal.tenant)

    async def patch_group(
        self, group_id: str, body: object, principal: Principal, *, etag: str | None = None
    ) -> Versioned:
        self._identity.require_administrator(principal)
        record = await self._known_group(group_id, principal.tenant)
        _check_version(etag, record.version)
        return await self._stored_group(record, patched(_group(record), body), principal.tenant)

    async def delete_group(self, group_id: str, principal: Principal, *, etag: str | None = None) -> None:
        self._identity.require_administrator(principal)
        record = await self._known_group(group_id, principal.tenant)
        _check_version(etag, record.version)
        others = [each for each in await self._groups.list(principal.tenant) if each.group_id != group_id]
        await self._give_roles(record.members, others, principal.tenant)
        await self._groups.remove(principal.tenant, group_id)

    # Parts

    async def _stored(self, record: UserRecord, body: Mapping[str, Any], tenant: TenantId) -> Versioned:
        name = field_of(body, "userName")
        if name is not None and name != record.name:
            raise invalid("A `userName` cannot be changed: what the user has asked belongs to the name.", "mutability")
        profile = {key: value for key, value in stored_fields(body).items() if key.lower() != "active"}
        if len(str(profile)) > LONGEST_PROFILE:
            raise invalid("The user has too many attributes.", "tooMany")
        active = field_of(body, "active")
        attributes = {
            ours: tuple(value for value in values_at(profile, path) if isinstance(value, str) and value)
            for ours, path in self._rules.attributes.items()
        }
        groups = await self._groups.list(tenant)
        changed = replace(
            record,
            profile={**profile, "userName": record.name},
            attributes={ours: values for ours, values in attributes.items() if values},
            roles=self._roles(record.name, groups),
        )
        disabled = active is not None and not truth(active)
        stored = await self._identity.save_listed(changed, disabled=disabled, tenant=tenant)
        return await self._shown(stored, tenant)

    async def _stored_group(self, record: GroupRecord, body: Mapping[str, Any], tenant: TenantId) -> Versioned:
        name, external = field_of(body, "displayName"), field_of(body, "externalId")
        if not isinstance(name, str) or not name.strip() or len(name) > 500:
            raise invalid("A group needs a `displayName`.", "invalidValue")
        others = [each for each in await self._groups.list(tenant) if each.group_id != record.group_id]
        if any(other.name.casefold() == name.casefold() for other in others):
            raise UserError(f"There is a group {name!r} already.", code="group_exists", scim_type="uniqueness")
        members = await self._members(field_of(body, "members") or [], tenant)
        changed = replace(
            record, name=name, external_id=external if isinstance(external, str) else None, members=members
        )
        # The roles first: if they would leave nobody who can administer, nothing is stored.
        await self._give_roles(sorted({*record.members, *members}), [*others, changed], tenant)
        return _versioned_group(await self._groups.save(tenant, changed))

    async def _members(self, listed: object, tenant: TenantId) -> tuple[str, ...]:
        if not isinstance(listed, list) or len(listed) > MOST_MEMBERS:
            raise invalid("`members` is a list of users.", "invalidValue")
        known = {_id_of(record.name): record.name for record in await self._users.list(tenant) if _is_ours(record)}
        names = []
        for member in listed:
            user_id = field_of(member, "value") if isinstance(member, dict) else None
            if user_id not in known:
                raise invalid(f"There is no user {str(user_id)[:100]!r}.", "invalidValue")
            names.append(known[user_id])
        return tuple(dict.fromkeys(names))

    async def _give_roles(self, names: Sequence[str], groups: Sequence[GroupRecord], tenant: TenantId) -> None:
        """Gives users the roles of their groups."""
        for name in names:
            record = await self._users.find(tenant, name)
            if record is not None and record.roles != (roles := self._roles(name, groups)):
                disabled = record.disabled_at is not None
                await self._identity.save_listed(replace(record, roles=roles), disabled=disabled, tenant=tenant)

    def _roles(self, name: str, groups: Sequence[GroupRecord]) -> tuple[str, ...]:
        own = [group.name for group in groups if name in group.members]
        return tuple(dict.fromkeys(role for group in own for role in self._rules.roles.get(group, ())))

    async def _shown(self, record: UserRecord, tenant: TenantId) -> Versioned:
        return Versioned(_user(record, await self._groups.list(tenant)), _etag(record.version))

    async def _record(self, user_id: str, tenant: TenantId) -> UserRecord:
        record = await self._users.find(tenant, _name_of(user_id))
        if record is None or not _is_ours(record):
            raise NotFoundError(f"There is no user {user_id!r}.", code="user_not_found")
        return record

    async def _known_group(self, group_id: str, tenant: TenantId) -> GroupRecord:
        record = await self._groups.find(tenant, group_id)
        if record is None:
            raise NotFoundError(f"There is no group {group_id!r}.", code="group_not_found")
        return record


def _is_ours(record: UserRecord) -> bool:
    """Whether the directory manages the user. One that it has deleted has no profile."""
    return record.origin == SCIM_ORIGIN and record.profile is not None


def _id_of(name: str) -> str:
    return base64.urlsafe_b64encode(name.encode()).rstrip(b"=").decode()


def _name_of(user_id: str) -> str:
    try:
        return base64.b64decode(user_id + "=" * (-len(user_id) % 4), altchars=b"-_", validate=True).decode()
    except ValueError:
        return ""


def _user(record: UserRecord, groups: Sequence[GroupRecord]) -> Resource:
    profile = dict(record.profile or {})
    schemas = [USER, *([ENTERPRISE] if ENTERPRISE in profile else [])]
    return {
        **profile,
        "schemas": schemas,
        "id": _id_of(record.name),
        "active": record.disabled_at is None,
        "groups": [
            {"value": group.group_id, "display": group.name} for group in groups if record.name in group.members
        ],
        "meta": _meta("User", _id_of(record.name), record.version),
    }


def _group(record: GroupRecord) -> Resource:
    return {
        "schemas": [GROUP],
        "id": record.group_id,
        "displayName": record.name,
        **({"externalId": record.external_id} if record.external_id else {}),
        "members": [{"value": _id_of(name), "display": name} for name in record.members],
        "meta": _meta("Group", record.group_id, record.version),
    }


def _versioned_group(record: GroupRecord) -> Versioned:
    return Versioned(_group(record), _etag(record.version))


def _meta(kind: str, resource_id: str, version: int) -> Resource:
    return {"resourceType": kind, "location": f"/scim/v2/{kind}s/{resource_id}", "version": _etag(version)}


def _etag(version: int) -> str:
    return f'W/"{version}"'


def _check_version(etag: str | None, version: int) -> None:
    if etag is not None and etag != "*" and _etag(version) not in [each.strip() for each in etag.split(",")]:
        raise UserError("Somebody else has changed this meanwhile.", code="scim_version", scim_status=412)


def _listing(resources: list[Resource], filter_text: str | None, start: int, count: int) -> Resource:
    if filter_text is not None:
        test = parsed_filter(filter_text)
        resources = [resource for resource in resources if test(resource)]
    start, count = max(start, 1), min(max(count, 0), MOST_RESULTS)
    page = resources[start - 1 : start - 1 + count]
    return {
        "schemas": [LIST],
        "totalResults": len(resources),
        "startIndex": start,
        "itemsPerPage": len(page),
        "Resources": page,
    }
