"""Identity: who can sign in, who is signed in, and how somebody proves who they are."""

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from answerable.access.policy import digest_of
from answerable.core.clock import Clock, today
from answerable.core.context import Principal, person
from answerable.core.errors import NotFoundError, RefusedError, SignInError, UserError
from answerable.core.ids import TenantId
from answerable.identity.passwords import Passwords, check_new_password
from answerable.identity.provider import Vouched
from answerable.service.identity_views import (
    Invitation,
    Profile,
    SessionView,
    SignedIn,
    UserView,
    administrators,
    user_view,
)
from answerable.service.sign_in_attempts import count_attempt
from answerable.service.user_records import (
    LOCAL_ORIGIN,
    LONGEST_NAME,
    SCIM_ORIGIN,
    SERVICE_ORIGIN,
    check_roles,
    checked_name,
    invitation_invalid,
    listed_people,
    with_password,
)
from answerable.sources.registry import SourceRegistry
from answerable.store.protocols.identities import Identities, InvitationRecord, SessionRecord, UserRecord

if TYPE_CHECKING:
    from answerable.access.policy import AccessPolicy

SESSION_PREFIX = "ses_"
LINK_VALID = timedelta(days=1)
RENEW_EVERY = timedelta(minutes=1)
"""A session that is used is written to the store at most so often."""
DIRECTORY_SECONDS = 2.0
"""For so long, the people of the store are not read again. What this process changes, it knows at once."""


class IdentityService:
    def __init__(self, identities: Identities, registry: SourceRegistry, clock: Clock, session: timedelta) -> None:
        """`session`: for how long an unused session lives."""
        self._users = identities.users
        self._sessions = identities.sessions
        self._invitations = identities.invitations
        self._attempts = identities.attempts
        self._keys = identities.keys
        self._records = identities.records
        self._registry = registry
        self._clock = clock
        self._session = session
        self._passwords = Passwords()
        self._read_at: dict[TenantId, float] = {}

    # Signing in

    async def sign_in(self, user: str, password: str, tenant: TenantId, *, client: str = "") -> SignedIn:
        """Begins a session. Every attempt counts as failed until its password is found to be right, so that attempts
        at the same moment gain nothing."""
        self._policy(tenant)
        user = user.strip()[:LONGEST_NAME]
        await count_attempt(self._attempts, tenant, user, self._clock)
        found = await self._users.find(tenant, user)
        right = await self._passwords.matches(found.password_hash if found else None, password)
        if found is None or not right or found.disabled_at is not None:
            raise SignInError(
                "The name or the password is wrong.",
                code="sign_in_failed",
                hint="Whoever runs this installation can send you a link to choose a new password.",
            )
        await self._attempts.forget(tenant, user)
        return await self.begin_session(found.name, tenant, client=client)

    async def begin_session(self, user: str, tenant: TenantId, *, client: str = "") -> SignedIn:
        """Begins a session for somebody who has proved who they are."""
        token, now = SESSION_PREFIX + secrets.token_urlsafe(32), self._clock.now()
        session = SessionRecord("sid_" + secrets.token_hex(8), user, client[:200], now, now, now + self._session)
        await self._sessions.begin(tenant, digest_of(token), session)
        return SignedIn(user, token)

    async def admit(self, vouched: Vouched, origin: str, tenant: TenantId, *, new_users: bool) -> str:
        """Takes in somebody for whom a provider vouches, with the roles and attributes that it gives now. Refuses a
        name that belongs to somebody else: a local user, or another account of the provider."""
        policy, name = self._policy(tenant), checked_name(vouched.name)
        record = await self._users.find(tenant, name)
        if record is None and not new_users and name not in policy.users:
            raise SignInError(
                f"{name!r} is not among the users of this installation.",
                code="sign_in_unknown",
                hint=f"Ask {policy.contact or 'whoever runs this installation'} for access.",
            )
        record = record or UserRecord(name, origin)
        if record.origin not in (origin, SCIM_ORIGIN) or record.subject not in (None, vouched.subject):
            raise SignInError(
                f"The name {name!r} belongs to another account here.",
                code="sign_in_name_taken",
                hint="Whoever runs this installation can tell the two apart by another `user_claim`.",
            )
        if record.disabled_at is not None:
            raise SignInError(f"The user {name!r} is disabled.", code="sign_in_failed")
        roles = tuple(role for role in vouched.roles if role in policy.roles)
        changed = replace(record, subject=vouched.subject)
        if record.origin != SCIM_ORIGIN:  # else the directory says what the user may do
            changed = replace(changed, roles=roles, attributes=dict(vouched.attributes))
        if changed != record or record.version == 0:
            await self._save(tenant, changed)
        return name

    async def person_with(self, token: str, tenant: TenantId) -> Principal | None:
        """The person whose session this is, or None. A session that is used lives on."""
        if not token.startswith(SESSION_PREFIX):
            return None
        session = await self._sessions.find(tenant, digest_of(token))
        if session is None:
            return None
        now = self._clock.now()
        if now - session.used_at > RENEW_EVERY:
            await self._sessions.renew(tenant, digest_of(token), used_at=now, expires_at=now + self._session)
        return person(session.user, tenant)

    async def sign_out(self, token: str, tenant: TenantId) -> None:
        session = await self._sessions.find(tenant, digest_of(token))
        if session is not None:
            await self._sessions.end(tenant, session.user, session.session_id)

    async def accept(
        self, token: str, password: str, tenant: TenantId, *, user: str | None = None, client: str = ""
    ) -> SignedIn:
        """Uses a one-time link: sets the password of the person whom it is for, and signs them in. `user`: the name
        that the first administrator chooses."""
        digest = digest_of(token)
        invitation = await self._invitations.find(tenant, digest)
        if invitation is None:
            raise invitation_invalid()
        name = checked_name(invitation.user or user or "")
        known = await self._users.find(tenant, name)
        if invitation.user is None and known is not None and known.password_hash is not None:
            raise UserError(f"There is a user {name!r} already.", code="user_exists", hint="Choose another name.")
        check_new_password(password, name)
        hashed = await self._passwords.hashed(password)
        if not await self._invitations.use(tenant, digest):
            raise invitation_invalid()
        record = known or UserRecord(name, LOCAL_ORIGIN)
        roles = tuple(dict.fromkeys((*record.roles, *invitation.roles)))
        await self._save(tenant, replace(record, password_hash=hashed, roles=roles))
        await self._sessions.end(tenant, name, None)
        await self._attempts.forget(tenant, name)
        return await self.begin_session(name, tenant, client=client)

    async def setup_token(self, tenant: TenantId) -> str | None:
        """A one-time token for the first administrator, or None if an administrator can sign in already or no role of
        `access.yaml` gives the permission."""
        policy = self._policy(tenant)
        administering = [name for name, role in policy.roles.items() if "administer" in role.actions]
        if not administering or administrators(policy, await self._users.list(tenant), today(self._clock), keys=False):
            return None
        return (await self._new_invitation(tenant, None, (administering[0],)))[0]

    # One's own account

    async def profile(self, principal: Principal) -> Profile:
        """Who the person is here, and what they may do."""
        view = self._registry.view(principal)
        found = await self._users.find(principal.tenant, principal.user)
        return Profile(
            user=principal.user,
            origin=found.origin if found else LOCAL_ORIGIN,
            roles=sorted(view.roles) if view else [],
            actions=sorted(view.actions) if view else [],
            attributes={name: list(values) for name, values in view.attributes.items()} if view else {},
            has_password=found is not None and found.password_hash is not None,
        )

    async def sessions(self, principal: Principal, *, current: str = "", user: str | None = None) -> list[SessionView]:
        """The person's sessions, or for an administrator those of `user`, the newest first. `current`: the token of the
        session that asks."""
        if user is not None:
            self.require_administrator(principal)
        here = await self._sessions.find(principal.tenant, digest_of(current))
        return [
            SessionView(
                session_id=each.session_id,
                client=each.client,
                created_at=each.created_at,
                used_at=each.used_at,
                expires_at=each.expires_at,
                current=here is not None and here.session_id == each.session_id,
            )
            for each in await self._sessions.of_user(principal.tenant, user or principal.user)
        ]

    async def end_session(self, session_id: str, principal: Principal, *, user: str | None = None) -> None:
        """Ends one of the person's sessions, or for an administrator one of `user`."""
        if user is not None:
            self.require_administrator(principal)
        if not await self._sessions.end(principal.tenant, user or principal.user, session_id):
            raise NotFoundError(f"There is no session {session_id}.", code="session_not_found")

    async def end_all_sessions(self, principal: Principal, *, user: str | None = None) -> int:
        """Ends all sessions of the person, or for an administrator those of `user`. Returns how many."""
        if user is not None:
            self.require_administrator(principal)
        return await self._sessions.end(principal.tenant, user or principal.user, None)

    async def change_password(self, old: str, new: str, principal: Principal) -> None:
        """Sets another password for the person, who knows the old one. All their sessions end."""
        await count_attempt(self._attempts, principal.tenant, principal.user, self._clock)
        found = await self._users.find(principal.tenant, principal.user)
        if found is None or not await self._passwords.matches(found.password_hash, old):
            raise SignInError("The old password is wrong.", code="sign_in_failed")
        await self._set_password(found, new, principal.tenant)

    # Administration

    async def users(self, principal: Principal) -> list[UserView]:
        """Everybody who can sign in or is named by `access.yaml`, by name."""
        self.require_administrator(principal)
        policy = self._policy(principal.tenant)
        records = {record.name: record for record in await self._users.list(principal.tenant)}
        names = sorted(records.keys() | policy.users.keys())
        return [user_view(name, records.get(name), policy) for name in names]

    async def user(self, name: str, principal: Principal) -> UserView:
        """One of them."""
        self.require_administrator(principal)
        return user_view(name, await self._known(name, principal.tenant), self._policy(principal.tenant))

    async def add_user(
        self,
        name: str,
        principal: Principal,
        *,
        roles: Sequence[str] = (),
        attributes: Mapping[str, Sequence[str]] | None = None,
    ) -> Invitation:
        """Lets somebody sign in. They choose their password through the one-time link that the reply is for."""
        self.require_administrator(principal)
        record = await self._new_record(name, LOCAL_ORIGIN, roles, attributes or {}, principal.tenant)
        return await self.invite(record.name, principal)

    async def add_service(
        self,
        name: str,
        principal: Principal,
        *,
        roles: Sequence[str] = (),
        attributes: Mapping[str, Sequence[str]] | None = None,
    ) -> UserView:
        """Adds a user who is a program: it comes with keys, and has no password."""
        self.require_administrator(principal)
        record = await self._new_record(name, SERVICE_ORIGIN, roles, attributes or {}, principal.tenant)
        return user_view(record.name, record, self._policy(principal.tenant))

    async def _new_record(
        self, name: str, origin: str, roles: Sequence[str], attributes: Mapping[str, Sequence[str]], tenant: TenantId
    ) -> UserRecord:
        name = checked_name(name)
        if await self._users.find(tenant, name) is not None:
            raise UserError(f"There is a user {name!r} already.", code="user_exists")
        check_roles(roles, self._policy(tenant))
        listed = {key: tuple(values) for key, values in attributes.items()}
        return await self._save(tenant, UserRecord(name, origin, tuple(roles), listed))

    async def invite(self, name: str, principal: Principal) -> Invitation:
        """A one-time link with which somebody chooses a new password."""
        self.require_administrator(principal)
        record = with_password(await self._known(name, principal.tenant))
        token, expires_at = await self._new_invitation(principal.tenant, record.name, ())
        return Invitation(user=record.name, token=token, expires_at=expires_at)

    async def set_password(self, name: str, password: str, principal: Principal) -> None:
        """Sets the password of a user. All their sessions end."""
        self.require_administrator(principal)
        record = with_password(await self._known(name, principal.tenant))
        await self._set_password(record, password, principal.tenant)

    async def set_roles(self, name: str, roles: Sequence[str], principal: Principal) -> UserView:
        """Replaces the roles that the directory gives to a user. Those of `access.yaml` stay."""
        self.require_administrator(principal)
        check_roles(roles, self._policy(principal.tenant))
        record = replace(await self._known(name, principal.tenant), roles=tuple(dict.fromkeys(roles)))
        return await self._changed(record, principal.tenant)

    async def set_attributes(
        self, name: str, attributes: Mapping[str, Sequence[str]], principal: Principal
    ) -> UserView:
        """Replaces the attributes that the directory gives to a user. Those of `access.yaml` win."""
        self.require_administrator(principal)
        listed = {key: tuple(values) for key, values in attributes.items()}
        return await self._changed(
            replace(await self._known(name, principal.tenant), attributes=listed), principal.tenant
        )

    async def set_disabled(self, name: str, disabled: bool, principal: Principal) -> UserView:
        """Keeps a user out, at once and everywhere, or lets them in again. What belongs to the user stays."""
        self.require_administrator(principal)
        record = await self._known(name, principal.tenant)
        changed = await self._changed(
            replace(record, disabled_at=self._clock.now() if disabled else None), principal.tenant
        )
        if disabled:
            await self._keep_out(name, principal.tenant)
        return changed

    async def refresh(self, tenant: TenantId, *, now: bool = False) -> None:
        """Hands the people of the store to the access rules, if it was not done just now, or anyway with `now`. The
        roles that approved requests give are among theirs."""
        time = self._clock.monotonic()
        if not now and time - self._read_at.get(tenant, -DIRECTORY_SECONDS) < DIRECTORY_SECONDS:
            return
        self._read_at[tenant] = time
        given: dict[str, set[str]] = {}
        for user, role in await self._records.given(tenant, self._clock.now()):
            given.setdefault(user, set()).add(role)
        file = self._registry.access(tenant)
        policy = file.policy() if given else None
        file.directory = listed_people(await self._users.list(tenant), given, policy)

    async def check_policy(self, policy: "AccessPolicy", tenant: TenantId) -> None:
        """Refuses rules after which nobody could administer, if somebody can now."""
        users = await self._users.list(tenant)
        day = today(self._clock)
        if administrators(self._policy(tenant), users, day) and not administrators(policy, users, day):
            raise RefusedError(
                "With these rules nobody could administer any more.",
                code="last_administrator",
                hint="Keep a role with the permission `administer`, and somebody who has it.",
            )

    # Parts

    async def _new_invitation(self, tenant: TenantId, user: str | None, roles: tuple[str, ...]) -> tuple[str, datetime]:
        token, expires_at = "inv_" + secrets.token_urlsafe(32), self._clock.now() + LINK_VALID
        await self._invitations.add(tenant, digest_of(token), InvitationRecord(user, roles, expires_at))
        return token, expires_at

    async def _set_password(self, record: UserRecord, password: str, tenant: TenantId) -> None:
        check_new_password(password, record.name)
        await self._save(tenant, replace(record, password_hash=await self._passwords.hashed(password)))
        await self._sessions.end(tenant, record.name, None)
        await self._attempts.forget(tenant, record.name)

    async def _changed(self, record: UserRecord, tenant: TenantId) -> UserView:
        """Stores a change, unless nobody could administer afterwards."""
        await self._check_administrators(record, tenant)
        return user_view(record.name, await self._save(tenant, record), self._policy(tenant))

    async def save_listed(self, record: UserRecord, *, disabled: bool, tenant: TenantId) -> UserRecord:
        """Stores what a directory says of a user, unless nobody could administer afterwards. Who is disabled is out at
        once."""
        checked_name(record.name)
        since = record.disabled_at or self._clock.now()
        changed = replace(record, disabled_at=since if disabled else None)
        await self._check_administrators(changed, tenant)
        stored = await self._save(tenant, changed)
        if disabled:
            await self._keep_out(record.name, tenant)
        return stored

    async def _keep_out(self, name: str, tenant: TenantId) -> None:
        await self._sessions.end(tenant, name, None)
        await self._keys.revoke(tenant, name, None)

    async def _check_administrators(self, record: UserRecord, tenant: TenantId) -> None:
        policy, users = self._policy(tenant), await self._users.list(tenant)
        others = [each for each in users if each.name != record.name]
        day = today(self._clock)
        before, after = administrators(policy, users, day), administrators(policy, [*others, record], day)
        if before and not after:
            raise RefusedError(
                f"{record.name!r} is the last administrator who can sign in.",
                code="last_administrator",
                hint="Give the permission `administer` to somebody else first.",
            )

    async def _save(self, tenant: TenantId, record: UserRecord) -> UserRecord:
        stored = await self._users.save(tenant, record)
        await self.refresh(tenant, now=True)
        return stored

    async def _known(self, name: str, tenant: TenantId) -> UserRecord:
        """The record of a user; a new one for somebody whom only `access.yaml` names."""
        record = await self._users.find(tenant, name)
        if record is None and name in self._policy(tenant).users:
            return UserRecord(name, LOCAL_ORIGIN)
        if record is None:
            raise NotFoundError(f"There is no user {name!r}.", code="user_not_found")
        return record

    def require_administrator(self, principal: Principal) -> None:
        """Raises `RefusedError` for everybody else."""
        view = self._registry.view(principal)
        if view is not None:
            view.require("administer")

    def _policy(self, tenant: TenantId) -> "AccessPolicy":
        return self._registry.access(tenant).required_policy()
