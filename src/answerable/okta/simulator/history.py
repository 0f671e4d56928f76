"""The system log of a simulated tenant: sign-ins, changes of access, and what reports about risks must find."""

from datetime import datetime

from answerable.okta.simulator.log_events import app_target, event, group_target, user_target
from answerable.okta.simulator.tenant import Item, Tenant, named, stamp

LOG_DAYS = 30
MOST_SIGN_INS = 60_000


def add_log(tenant: Tenant) -> None:
    since = tenant.at(days=LOG_DAYS)
    recent = [user for user in tenant.users if user["lastLogin"] and user["lastLogin"] >= since]
    each = max(1, min(4, MOST_SIGN_INS // max(1, len(recent))))
    for user in recent:
        _sign_ins(tenant, user, each)
    for user in recent[: max(3, len(recent) // 50)]:
        _access_changes(tenant, user)
    if len(recent) >= 12:
        _risks(tenant, recent)
    tenant.log.sort(key=lambda entry: entry["published"])


def _sign_ins(tenant: Tenant, user: Item, count: int) -> None:
    city, last = user["profile"]["city"], datetime.fromisoformat(user["lastLogin"])
    reach = max(0, int((last - datetime.fromisoformat(tenant.at(days=LOG_DAYS))).total_seconds()))
    times = sorted(
        {user["lastLogin"], *(_earlier(tenant, last, reach) for _ in range(tenant.random.randint(0, count)))}
    )
    slack = named(tenant.apps, "Slack")
    for moment in times:
        if tenant.random.random() < 0.08:
            failed = event(
                tenant, "user.session.start", moment, user, user_target(user), city=city, failure="INVALID_CREDENTIALS"
            )
            tenant.log.append(failed)
        tenant.log.append(event(tenant, "user.session.start", moment, user, user_target(user), city=city))
        if tenant.random.random() < 0.5:
            tenant.log.append(event(tenant, "user.authentication.sso", moment, user, app_target(slack), city=city))


def _earlier(tenant: Tenant, last: datetime, reach: int) -> str:
    return stamp(datetime.fromtimestamp(last.timestamp() - tenant.random.randint(0, reach), last.tzinfo))


def _access_changes(tenant: Tenant, user: Item) -> None:
    moment = tenant.at(days=tenant.random.uniform(0, LOG_DAYS))
    vpn = named(tenant.groups, "vpn-users")
    if tenant.has(vpn["id"], user["id"]):
        actor = next(iter(tenant.users))
        targets = (user_target(user), group_target(vpn))
        tenant.log.append(event(tenant, "group.user_membership.add", moment, actor, *targets))


def _risks(tenant: Tenant, users: list[Item]) -> None:
    """What reports about risky sign-ins must find: a traveller too fast, a burst of failures, and tired thumbs."""
    traveller, guessed, tired = users[-1], users[-2], users[-3]
    far = "Singapore" if traveller["profile"]["city"] != "Singapore" else "New York"
    for hours, city in ((30, traveller["profile"]["city"]), (29, far)):
        moment = tenant.at(hours=hours)
        tenant.log.append(event(tenant, "user.session.start", moment, traveller, user_target(traveller), city=city))
    for second in range(12):
        moment = tenant.at(hours=20, seconds=-5 * second)
        failed = event(
            tenant, "user.session.start", moment, guessed, user_target(guessed), failure="INVALID_CREDENTIALS"
        )
        tenant.log.append(failed)
    tenant.log.append(event(tenant, "user.account.lock", tenant.at(hours=19.9), guessed, user_target(guessed)))
    for second in range(7):
        moment = tenant.at(hours=10, seconds=-40 * second)
        denied = event(
            tenant, "user.mfa.okta_verify.deny_push", moment, tired, user_target(tired), failure="USER_REJECTED"
        )
        tenant.log.append(denied)
    accepted = tenant.at(hours=10, seconds=-400)
    tenant.log.append(event(tenant, "user.authentication.auth_via_mfa", accepted, tired, user_target(tired)))
    for user in (traveller, tired):
        user["lastLogin"] = max(user["lastLogin"], tenant.at(hours=10, seconds=-400))
