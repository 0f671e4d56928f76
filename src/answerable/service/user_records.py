"""What a record of a user must be like: its name, its origin, its roles, and whether it can have a password."""

from collections.abc import Mapping, Sequence, Set
from typing import TYPE_CHECKING

from answerable.access.directory import ListedPerson
from answerable.access.policy import RESERVED_USERS
from answerable.core.errors import SignInError, UserError
from answerable.store.protocols.identities import UserRecord

if TYPE_CHECKING:
    from answerable.access.policy import AccessPolicy

LONGEST_NAME = 200
LOCAL_ORIGIN = "local"
SCIM_ORIGIN = "scim"
"""Managed by a directory. They sign in at their provider."""
SERVICE_ORIGIN = "service"
"""A program that comes with keys, and never signs in."""


def with_password(record: UserRecord) -> UserRecord:
    """The record, if the user can have a password of ours: for others it would be a way around their provider."""
    if record.origin == LOCAL_ORIGIN:
        return record
    hint = "Give it a key: `answerable keys add`." if record.origin == SERVICE_ORIGIN else "They sign in there."
    raise UserError(
        f"{record.name!r} comes from {record.origin!r} and has no password here.", code="user_not_local", hint=hint
    )


def checked_name(name: str) -> str:
    name = name.strip()
    if not name or len(name) > LONGEST_NAME or not name.isprintable():
        raise UserError(f"A user needs a name of 1 to {LONGEST_NAME} characters.", code="user_name_invalid")
    if name in RESERVED_USERS:
        raise UserError(f"{name!r} is the person at the machine. Choose another name.", code="user_name_invalid")
    return name


def check_roles(roles: Sequence[str], policy: "AccessPolicy") -> None:
    for role in roles:
        if role not in policy.roles:
            known = ", ".join(policy.roles) or "none"
            raise UserError(f"There is no role {role!r}.", code="role_unknown", hint=f"access.yaml has: {known}.")


def invitation_invalid() -> SignInError:
    return SignInError(
        "This link was used already, or its time is over.",
        code="invitation_invalid",
        hint="Ask for a new one: `answerable users password NAME --link`, or a restart of the server for the first.",
    )


def listed_people(
    records: Sequence[UserRecord], given: Mapping[str, Set[str]], policy: "AccessPolicy | None"
) -> dict[str, ListedPerson]:
    """The people of the store as the access rules see them. `given`: the roles that approved requests give."""
    listed = {
        record.name: ListedPerson(
            frozenset(record.roles) | given.get(record.name, frozenset()),
            dict(record.attributes),
            disabled=record.disabled_at is not None,
        )
        for record in records
    }
    for name, roles in given.items():
        if name not in listed and policy is not None and name in policy.users:
            listed[name] = ListedPerson(frozenset(roles))
    return listed
