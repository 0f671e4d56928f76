"""Tables that are worked out from the synced ones when a sync is complete: who has which application and why, who
administers what, who signed in, and which sign-ins were risky."""

import sqlite3
from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime

from answerable.okta.sync.login_risk import MFA, PUSH_DENIED, SIGN_IN, LogEvent, risks_of
from answerable.okta.sync.rule_expressions import condition_of
from answerable.okta.sync.touched import JOINED_USERS, RENAMED_GROUPS, TOUCHED, is_watched

_MEMBERSHIPS = ("group_memberships m", "_affected f CROSS JOIN group_memberships m ON m.user_id = f.user_id")
"""All of them, and those of the people concerned."""
_ACCESS = (
    "INSERT INTO application_access SELECT user_id, application_id, 'direct', assigned, NULL, NULL "
    "FROM application_users{of_affected}",
    "INSERT INTO application_access SELECT m.user_id, a.application_id, 'through ' || g.name, a.assigned, "
    "r.rules, j.joined "
    "FROM {memberships} JOIN application_groups a ON m.group_id = a.group_id JOIN groups g ON g.id = a.group_id "
    "LEFT JOIN (SELECT user_id, group_id, group_concat(rule, '; ') AS rules FROM _rule_members GROUP BY 1, 2) r "
    "ON r.user_id = m.user_id AND r.group_id = m.group_id "
    "LEFT JOIN _joined j ON j.user_id = m.user_id AND j.group_id = m.group_id",
    "INSERT INTO administrators SELECT user_id, role, 'direct', granted FROM user_roles{of_affected}",
    "INSERT INTO administrators SELECT m.user_id, r.role, 'through ' || g.name, r.granted "
    "FROM {memberships} JOIN group_roles r ON m.group_id = r.group_id JOIN groups g ON g.id = r.group_id",
)
_OF_AFFECTED = " WHERE user_id IN (SELECT user_id FROM _affected)"
_AFFECTED = (
    f"SELECT key AS user_id FROM {TOUCHED} WHERE name IN ('users', '{JOINED_USERS}') "  # noqa: S608 - fixed names
    # the keys of the others are two ids, the user's last
    f"UNION SELECT substr(key, instr(key, char(31)) + 1) FROM {TOUCHED} "
    "WHERE name IN ('group_memberships', 'application_users', 'user_roles') "
    "UNION SELECT user_id FROM group_memberships WHERE group_id IN ("
    f"SELECT substr(key, instr(key, char(31)) + 1) FROM {TOUCHED} WHERE name IN ('application_groups', 'group_roles') "
    f"UNION SELECT key FROM {TOUCHED} WHERE name = '{RENAMED_GROUPS}')"
)
_RULES_TOUCHED = f"SELECT 1 FROM {TOUCHED} WHERE name IN ('group_rules', 'group_rule_groups')"  # noqa: S608
_SIGN_INS = (
    "INSERT OR IGNORE INTO sign_ins SELECT id, user_id, published, event_result, event_reason, ip_address, "
    "city, country, browser, operating_system FROM log_events "
    "WHERE event_type = 'user.session.start' AND published >= ?"
)
_JOINED = (
    "CREATE TEMP TABLE _joined AS SELECT user_id, group_id, max(published) AS joined FROM log_events{of_affected} "
    "GROUP BY user_id, group_id"
)
_JOINS = "event_type = 'group.user_membership.add' AND group_id IS NOT NULL"
_OF_RISK = (
    "SELECT DISTINCT user_id FROM log_events WHERE published >= ? AND user_id IS NOT NULL AND event_type IN (?, ?, ?)"
)


def derive(db: sqlite3.Connection, *, since: str | None) -> None:
    """`since`: the log is known up to this time; None for all of it."""
    affected = is_watched(db) and db.execute(_RULES_TOUCHED).fetchone() is None
    if affected:
        db.execute(f"CREATE TEMP TABLE _affected AS {_AFFECTED}")
    _derive_access(db, only_affected=affected)
    db.execute("DROP TABLE IF EXISTS temp._affected")
    db.execute(_SIGN_INS, [since or ""])
    _derive_risks(db, since)


def _derive_access(db: sqlite3.Connection, *, only_affected: bool) -> None:
    of_affected = _OF_AFFECTED if only_affected else ""
    _rule_members(db, of_affected)
    joins = f"{of_affected} AND {_JOINS}" if only_affected else f" WHERE {_JOINS}"
    db.execute(_JOINED.format(of_affected=joins))
    db.execute("CREATE INDEX temp._joined_by_user ON _joined (user_id, group_id)")
    for table in ("application_access", "administrators"):
        if not only_affected:
            db.execute(f"DROP INDEX IF EXISTS {table}_user_id")
        db.execute(f"DELETE FROM {table}{of_affected}")  # noqa: S608 - fixed names
    for statement in _ACCESS:
        db.execute(statement.format(of_affected=of_affected, memberships=_MEMBERSHIPS[only_affected]))
    for table in ("application_access", "administrators"):
        db.execute(f"CREATE INDEX IF NOT EXISTS {table}_user_id ON {table} (user_id)")
    db.execute("DROP TABLE _rule_members")
    db.execute("DROP TABLE _joined")


def _rule_members(db: sqlite3.Connection, of_affected: str) -> None:
    """Fills the table of whom the rules put into which groups."""
    db.execute("CREATE TEMP TABLE _rule_members (user_id TEXT, group_id TEXT, rule TEXT)")
    rules = (
        "SELECT r.name, r.expression, g.group_id FROM group_rules r JOIN group_rule_groups g ON g.rule_id = r.id "
        "WHERE r.rule_status = 'ACTIVE'"
    )
    of_affected = of_affected.replace(" WHERE ", " AND ")
    for name, expression, group in db.execute(rules).fetchall():
        _add_rule_members(db, f"{name}: {expression}", expression, group, of_affected)
    db.execute("CREATE INDEX temp._rule_members_by_user ON _rule_members (user_id, group_id)")


def _add_rule_members(db: sqlite3.Connection, rule: str, expression: str | None, group: str, of_affected: str) -> None:
    """Whom the rule puts into the group. If its expression is not understood, it may be every member."""
    condition = condition_of(expression)
    if condition is None:
        every = "INSERT INTO _rule_members SELECT user_id, group_id, ? FROM group_memberships WHERE group_id = ?"
        db.execute(every + of_affected, [f"{rule} (not worked out)", group])
        return
    text, parameters = condition
    users = of_affected.replace("user_id IN", "id IN", 1)
    matching = f"INSERT INTO _rule_members SELECT id, ?, ? FROM users WHERE ({text}){users}"  # noqa: S608 - fixed names
    db.execute(matching, [group, rule, *parameters])


def _derive_risks(db: sqlite3.Connection, since: str | None) -> None:
    """Looks again at everybody of whom something new is in the log."""
    kinds = (SIGN_IN, PUSH_DENIED, MFA)
    users = [user for (user,) in db.execute(_OF_RISK, [since or "", *kinds])]
    for start in range(0, len(users), 500):
        some = users[start : start + 500]
        marks = ", ".join("?" for _ in some)
        db.execute(f"DELETE FROM login_risks WHERE user_id IN ({marks})", some)  # noqa: S608 - only question marks
        for user, events in _events(db, some, marks, kinds):
            rows = [(user, risk.kind, f"{risk.detected:%Y-%m-%d %H:%M:%S}", risk.details) for risk in risks_of(events)]
            db.executemany("INSERT INTO login_risks VALUES (?, ?, ?, ?)", rows)


def _events(
    db: sqlite3.Connection, users: list[str], marks: str, kinds: tuple[str, ...]
) -> Iterator[tuple[str, list[LogEvent]]]:
    query = (
        "SELECT user_id, published, event_type, event_result = 'SUCCESS', city, latitude, longitude, browser, "  # noqa: S608
        f"operating_system FROM log_events WHERE user_id IN ({marks}) AND event_type IN (?, ?, ?)"
    )
    by_user: defaultdict[str, list[LogEvent]] = defaultdict(list)
    for user, published, kind, succeeded, *rest in db.execute(query, [*users, *kinds]):
        by_user[user].append(LogEvent(datetime.fromisoformat(published), kind, bool(succeeded), *rest))
    yield from by_user.items()
