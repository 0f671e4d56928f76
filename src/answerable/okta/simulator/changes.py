"""What happens in a tenant while time goes by: people come and go, move, and are given things."""

from datetime import timedelta

from answerable.okta.simulator.log_events import app_target, event, group_target, user_target
from answerable.okta.simulator.people import DEPARTMENTS
from answerable.okta.simulator.populate import enrol, new_user
from answerable.okta.simulator.tenant import Item, Tenant, named, stamp


def change(tenant: Tenant, count: int, seconds_apart: float = 1.0) -> None:
    """Makes changes one after the other, each in the log and with its time."""
    for _ in range(count):
        tenant.now += timedelta(seconds=seconds_apart)
        tenant.random.choices(CHANGES, weights=(2, 1, 1, 2, 4, 3, 3, 8))[0](tenant)


def _hire(tenant: Tenant) -> None:
    moment = stamp(tenant.now)
    user = tenant.users.add(new_user(tenant, len(tenant.users) + 1, "ACTIVE", moment))
    user |= {"lastUpdated": moment, "lastLogin": None}
    enrol(tenant, user)
    _record(tenant, "user.lifecycle.create", user, user_target(user))
    for name in ("Everyone", f"dept-{user['profile']['department'].lower()}"):
        _join(tenant, user, named(tenant.groups, name))


def _deactivate(tenant: Tenant) -> None:
    user = _someone(tenant)
    user |= {"status": "DEPROVISIONED", "statusChanged": stamp(tenant.now), "lastUpdated": stamp(tenant.now)}
    _record(tenant, "user.lifecycle.deactivate", user, user_target(user))
    for group in tenant.groups_of(user["id"]):
        _leave(tenant, user, group)
    for app, users in tenant.app_users.items():
        if user["id"] in users:
            _unassign(tenant, user, tenant.apps[app])


def _delete(tenant: Tenant) -> None:
    gone = [user for user in tenant.users if user["status"] == "DEPROVISIONED"]
    if gone:
        user = tenant.remove_user(tenant.random.choice(gone)["id"])
        _record(tenant, "user.lifecycle.delete.initiated", user, user_target(user))


def _move(tenant: Tenant) -> None:
    user = _someone(tenant)
    old, new = user["profile"]["department"], tenant.random.choice(list(DEPARTMENTS))
    user["profile"] = {**user["profile"], "department": new, "title": DEPARTMENTS[new][0]}
    user["lastUpdated"] = stamp(tenant.now)
    _record(tenant, "user.account.update_profile", user, user_target(user))
    if old != new:
        _leave(tenant, user, named(tenant.groups, f"dept-{old.lower()}"))
        _join(tenant, user, named(tenant.groups, f"dept-{new.lower()}"))


def _join_some(tenant: Tenant) -> None:
    _join(tenant, _someone(tenant), tenant.random.choice(_loose_groups(tenant)))


def _leave_some(tenant: Tenant) -> None:
    group = tenant.random.choice(_loose_groups(tenant))
    if members := tenant.members[group["id"]]:
        _leave(tenant, tenant.users[tenant.random.choice(members)], group)


def _assign_some(tenant: Tenant) -> None:
    user, app = _someone(tenant), tenant.random.choice(list(tenant.apps))
    tenant.assign(user["id"], app["id"], stamp(tenant.now))
    _record(tenant, "application.user_membership.add", user, user_target(user), app_target(app))


def _sign_in(tenant: Tenant) -> None:
    user = _someone(tenant)
    user["lastLogin"] = stamp(tenant.now)
    _record(tenant, "user.session.start", user, user_target(user))


CHANGES = (_hire, _deactivate, _delete, _move, _join_some, _leave_some, _assign_some, _sign_in)


def _someone(tenant: Tenant) -> Item:
    return tenant.random.choice([user for user in tenant.users if user["status"] == "ACTIVE"])


def _loose_groups(tenant: Tenant) -> list[Item]:
    """Groups that no rule fills."""
    return [group for group in tenant.groups if group["profile"]["name"].startswith(("project-", "vpn-"))]


def _join(tenant: Tenant, user: Item, group: Item) -> None:
    if tenant.join(user["id"], group["id"]):
        group["lastMembershipUpdated"] = stamp(tenant.now)
        _record(tenant, "group.user_membership.add", user, user_target(user), group_target(group))


def _leave(tenant: Tenant, user: Item, group: Item) -> None:
    if tenant.leave(user["id"], group["id"]):
        group["lastMembershipUpdated"] = stamp(tenant.now)
        _record(tenant, "group.user_membership.remove", user, user_target(user), group_target(group))


def _unassign(tenant: Tenant, user: Item, app: Item) -> None:
    tenant.unassign(user["id"], app["id"])
    _record(tenant, "application.user_membership.remove", user, user_target(user), app_target(app))


def _record(tenant: Tenant, kind: str, actor: Item, *targets: Item) -> None:
    tenant.record(event(tenant, kind, stamp(tenant.now), actor, *targets))
