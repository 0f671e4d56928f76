"""What is told of people, their sessions and the links with which they come in."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import TYPE_CHECKING

from pydantic import Field

from answerable.core.values import Frozen
from answerable.service.user_records import LOCAL_ORIGIN, SERVICE_ORIGIN
from answerable.store.protocols.identities import UserRecord

if TYPE_CHECKING:
    from answerable.access.policy import AccessPolicy


class Profile(Frozen):
    """Who somebody is here, and what they may do."""

    user: str
    origin: str = Field(description="`local`, or the provider that vouches for the person.")
    roles: list[str]
    actions: list[str]
    attributes: dict[str, list[str]]
    has_password: bool


class UserView(Frozen):
    """Somebody who can sign in or is named by `access.yaml`."""

    name: str
    origin: str
    roles: list[str] = Field(description="From the directory and from `access.yaml` together.")
    attributes: dict[str, list[str]]
    can_sign_in: bool = Field(description="Whether there is a password, or a provider that vouches for the person.")
    disabled: bool
    in_file: bool = Field(description="Whether `access.yaml` names the person.")


class SessionView(Frozen):
    session_id: str
    client: str
    created_at: datetime
    used_at: datetime
    expires_at: datetime
    current: bool


class Invitation(Frozen):
    user: str
    token: str = Field(description="Goes into a link that can be used once. It is shown this once.")
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class SignedIn:
    user: str
    token: str = field(repr=False)


def user_view(name: str, record: UserRecord | None, policy: "AccessPolicy") -> UserView:
    user = policy.users.get(name)
    own, listed = (user.roles if user else ()), (record.roles if record else ())
    attributes = {**(record.attributes if record else {}), **(user.attributes if user else {})}
    return UserView(
        name=name,
        origin=record.origin if record else LOCAL_ORIGIN,
        roles=sorted({*own, *(role for role in listed if role in policy.roles)}),
        attributes={key: list(values) for key, values in attributes.items()},
        can_sign_in=record is not None
        and (record.password_hash is not None or record.origin not in (LOCAL_ORIGIN, SERVICE_ORIGIN)),
        disabled=record is not None and record.disabled_at is not None,
        in_file=user is not None,
    )


def administrators(policy: "AccessPolicy", users: Sequence[UserRecord], today: date, *, keys: bool = True) -> set[str]:
    """The people who may administer and can get in: with a password, by a provider, or with a key if `keys`."""
    records = {record.name: record for record in users}
    views = [user_view(name, records.get(name), policy) for name in records.keys() | policy.users.keys()]
    with_key = {
        name
        for name, user in policy.users.items()
        if any(key.expires is None or key.expires >= today for key in user.keys)
    }
    return {
        view.name
        for view in views
        if not view.disabled
        and (view.can_sign_in or (keys and view.name in with_key))
        and any("administer" in policy.roles[role].actions for role in view.roles if role in policy.roles)
    }
