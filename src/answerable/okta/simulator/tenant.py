"""The state of a simulated tenant. Things are stored as Okta sends them, without `_links`, which depend on the host."""

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any, TypeAlias

Item: TypeAlias = dict[str, Any]

_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_ID_WIDTH = 6


class Items:
    """Things of one kind in the order of their ids."""

    def __init__(self) -> None:
        self._by_id: dict[str, Item] = {}
        self._ids: list[str] = []

    def __len__(self) -> int:
        return len(self._ids)

    def __iter__(self) -> Iterator[Item]:
        return (self._by_id[key] for key in self._ids)

    def get(self, key: str) -> Item | None:
        return self._by_id.get(key)

    def __getitem__(self, key: str) -> Item:
        return self._by_id[key]

    def add(self, item: Item) -> Item:
        if item["id"] not in self._by_id:
            insort(self._ids, item["id"])
        self._by_id[item["id"]] = item
        return item

    def remove(self, key: str) -> Item:
        del self._ids[bisect_left(self._ids, key)]
        return self._by_id.pop(key)

    def after(self, cursor: str) -> Iterator[Item]:
        """Objects whose id is greater than the cursor. The object that the cursor names may be gone."""
        for index in range(bisect_right(self._ids, cursor), len(self._ids)):
            yield self._by_id[self._ids[index]]


class Tenant:
    def __init__(self, seed: int, now: datetime) -> None:
        self.random = Random(seed)  # noqa: S311 - nothing here is secret
        self.now = now.astimezone(UTC).replace(microsecond=0)
        """The time in the tenant. It moves on with each change."""
        self.users = Items()
        self.groups = Items()
        self.rules = Items()
        self.apps = Items()
        self.devices = Items()
        self.policies = Items()
        self.zones = Items()
        self.authorization_servers = Items()
        self.members: dict[str, list[str]] = {}
        """Ids of the users of each group, in order."""
        self.app_groups: dict[str, dict[str, Item]] = {}
        self.app_users: dict[str, dict[str, Item]] = {}
        """Assignments that name the user. Those that come through a group are worked out in `assigned`."""
        self.factors: dict[str, list[Item]] = {}
        self.roles: dict[str, list[Item]] = {}
        """Administrator roles by the id of a user or a group."""
        self.device_users: dict[str, list[Item]] = {}
        self.policy_rules: dict[str, list[Item]] = {}
        self.log: list[Item] = []
        """In the order of the time of publishing."""
        self._counter = 0
        self._assigned: dict[str, list[Item]] = {}

    def new_id(self, prefix: str) -> str:
        """Ids grow, so that pages stay in order while things are added."""
        self._counter += 1
        number, digits = self._counter, ""
        for _ in range(_ID_WIDTH):
            number, digit = divmod(number, len(_DIGITS))
            digits = _DIGITS[digit] + digits
        tail = "".join(self.random.choices(_DIGITS, k=20 - len(prefix) - _ID_WIDTH - 3))
        return f"{prefix}{digits}{tail}5d7"

    def user_by(self, key: str) -> Item | None:
        """The user of this id or login."""
        found = self.users.get(key)
        return found or next((user for user in self.users if user["profile"]["login"].lower() == key.lower()), None)

    # Who belongs to what

    def join(self, user: str, group: str) -> bool:
        members = self.members.setdefault(group, [])
        index = bisect_left(members, user)
        if index < len(members) and members[index] == user:
            return False
        members.insert(index, user)
        self._assigned.clear()
        return True

    def leave(self, user: str, group: str) -> bool:
        members = self.members.get(group, [])
        index = bisect_left(members, user)
        if index == len(members) or members[index] != user:
            return False
        del members[index]
        self._assigned.clear()
        return True

    def has(self, group: str, user: str) -> bool:
        members = self.members.get(group, [])
        index = bisect_left(members, user)
        return index < len(members) and members[index] == user

    def groups_of(self, user: str) -> list[Item]:
        return [group for group in self.groups if self.has(group["id"], user)]

    def assigned(self, app: str) -> Sequence[Item]:
        """The users of an application in the order of their ids, whether assigned by name or through a group."""
        if app not in self._assigned:
            found = {user: self._through_group(user, app) for user in self._users_through_groups(app)}
            found |= self.app_users.get(app, {})
            self._assigned[app] = [found[key] for key in sorted(found)]
        return self._assigned[app]

    def gives_app(self, group: str, app: str) -> bool:
        return group in self.app_groups.get(app, {})

    def has_app(self, user: str, app: str) -> bool:
        assigned = self.assigned(app)
        index = bisect_left(assigned, user, key=lambda item: item["id"])
        return index < len(assigned) and bool(assigned[index]["id"] == user)

    def _users_through_groups(self, app: str) -> Iterator[str]:
        for group in self.app_groups.get(app, {}):
            yield from self.members.get(group, [])

    def _through_group(self, user: str, app: str) -> Item:
        since = max(self.users[user]["created"], self.apps[app]["created"])
        return app_user(self.users[user], since, "GROUP")

    def assign(self, user: str, app: str, since: str) -> None:
        self.app_users.setdefault(app, {})[user] = app_user(self.users[user], since, "USER")
        self._assigned.pop(app, None)

    def unassign(self, user: str, app: str) -> None:
        self.app_users.get(app, {}).pop(user, None)
        self._assigned.pop(app, None)

    def remove_user(self, user: str) -> Item:
        for group in list(self.members):
            self.leave(user, group)
        for app in list(self.app_users):
            self.unassign(user, app)
        self.factors.pop(user, None)
        self.roles.pop(user, None)
        self._assigned.clear()
        return self.users.remove(user)

    # Time

    def at(self, **ago: float) -> str:
        return stamp(self.now - timedelta(**ago))

    def record(self, event: Item) -> None:
        insort(self.log, event, key=lambda each: each["published"])


def app_user(user: Mapping[str, Any], since: str, scope: str) -> Item:
    return {
        "id": user["id"],
        "externalId": None,
        "created": since,
        "lastUpdated": since,
        "scope": scope,
        "status": "ACTIVE",
        "statusChanged": since,
        "passwordChanged": None,
        "syncState": "DISABLED",
        "credentials": {"userName": user["profile"]["login"]},
        "profile": {},
    }


def stamp(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%S.000Z")


def named(items: Iterable[Item], name: str) -> Item:
    """The group or application of that name."""
    return next(item for item in items if item.get("label", item.get("profile", {}).get("name")) == name)
