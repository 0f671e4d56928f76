"""The nodes and relationships of a tenant's graph, and the rows of its database that they are."""

import csv
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from answerable.okta.sync import tables
from answerable.okta.sync.tables import SyncedTable

TYPES = {"TEXT": "STRING", "TIMESTAMP": "TIMESTAMP", "INTEGER": "INT64", "BOOLEAN": "BOOL", "REAL": "DOUBLE"}


@dataclass(frozen=True, slots=True)
class TenantNodes:
    name: str
    table: SyncedTable

    @property
    def ddl(self) -> str:
        columns = ", ".join(f"`{name}` {TYPES[kind]}" for name, kind in self.table.columns.items())
        return f"CREATE NODE TABLE {self.name} ({columns}, PRIMARY KEY (id))"

    @property
    def rows(self) -> str:
        return f'SELECT * FROM "{self.table.name}"'  # noqa: S608 - names of this file


@dataclass(frozen=True, slots=True)
class TenantEdges:
    """A relationship: the table whose rows it is, with the columns that name its ends."""

    name: str
    table: SyncedTable
    start: tuple[str, TenantNodes]
    end: tuple[str, TenantNodes]
    properties: tuple[str, ...] = ()

    @property
    def ddl(self) -> str:
        properties = "".join(f", `{name}` {TYPES[self.table.columns[name]]}" for name in self.properties)
        return f"CREATE REL TABLE {self.name} (FROM {self.start[1].name} TO {self.end[1].name}{properties})"

    @property
    def rows(self) -> str:
        """Only those whose ends are there: of two lists that are read one after the other, one may be ahead."""
        shown = ", ".join(f't."{name}"' for name in (self.start[0], self.end[0], *self.properties))
        joins = " ".join(
            f'JOIN "{node.table.name}" {alias} ON {alias}.id = t."{column}"'
            for alias, (column, node) in (("a", self.start), ("b", self.end))
        )
        return f'SELECT {shown} FROM "{self.table.name}" t {joins}'  # noqa: S608 - names of this file


USER, GROUP = TenantNodes("User", tables.USERS), TenantNodes("UserGroup", tables.GROUPS)
APPLICATION, RULE = TenantNodes("Application", tables.APPLICATIONS), TenantNodes("GroupRule", tables.RULES)
FACTOR, DEVICE = TenantNodes("Factor", tables.FACTORS), TenantNodes("Device", tables.DEVICES)
POLICY, POLICY_RULE = TenantNodes("Policy", tables.POLICIES), TenantNodes("PolicyRule", tables.POLICY_RULES)
ZONE, SERVER = TenantNodes("NetworkZone", tables.ZONES), TenantNodes("AuthorizationServer", tables.SERVERS)
NODES = (USER, GROUP, APPLICATION, RULE, FACTOR, DEVICE, POLICY, POLICY_RULE, ZONE, SERVER)
EDGES = (
    TenantEdges("MemberOf", tables.MEMBERSHIPS, ("user_id", USER), ("group_id", GROUP)),
    TenantEdges("Has", tables.APP_USERS, ("user_id", USER), ("application_id", APPLICATION), ("assigned",)),
    TenantEdges("Gives", tables.APP_GROUPS, ("group_id", GROUP), ("application_id", APPLICATION), ("assigned",)),
    TenantEdges("PutsInto", tables.RULE_GROUPS, ("rule_id", RULE), ("group_id", GROUP)),
    TenantEdges("Enrolled", tables.FACTORS, ("user_id", USER), ("id", FACTOR), ("enrolled",)),
    TenantEdges("Uses", tables.DEVICE_USERS, ("user_id", USER), ("device_id", DEVICE), ("management",)),
    TenantEdges("Contains", tables.POLICY_RULES, ("policy_id", POLICY), ("id", POLICY_RULE)),
)
ROLES = "SELECT DISTINCT role FROM (SELECT role FROM user_roles UNION SELECT role FROM group_roles)"
ROLE_EDGES = {
    "Administers": ("User", "SELECT r.user_id, r.role, r.granted FROM user_roles r JOIN users u ON u.id = r.user_id"),
    "GivesRole": (
        "UserGroup",
        "SELECT r.group_id, r.role, r.granted FROM group_roles r JOIN groups g ON g.id = r.group_id",
    ),
}


def graph_content() -> Sequence[tuple[str, str, str]]:
    """Names, how they are created, and the rows that they get; nodes before what connects them."""
    found = [(each.name, each.ddl, each.rows) for each in (*NODES, *EDGES)]
    found.append(("Role", "CREATE NODE TABLE Role (name STRING, PRIMARY KEY (name))", ROLES))
    for name, (start, query) in ROLE_EDGES.items():
        found.append((name, f"CREATE REL TABLE {name} (FROM {start} TO Role, granted TIMESTAMP)", query))
    return found


def exported(rows: sqlite3.Cursor, file: Path) -> int:
    """Writes rows to a file, and returns how many there are."""
    count = 0
    with file.open("w", encoding="utf-8", newline="") as text:
        writer = csv.writer(text)
        while batch := rows.fetchmany(10_000):
            writer.writerows(batch)
            count += len(batch)
    return count
