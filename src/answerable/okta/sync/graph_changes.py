"""Writes what a sync has changed into a graph of the tenant: rows that differ, are new or are gone, and no others.

Rows go in as files, many at a time: nodes are merged; of relationships, those that were touched are deleted, and those
that are there now are copied.
"""

import csv
import sqlite3
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from answerable.okta.sync import tables
from answerable.okta.sync.graph_tables import EDGES, NODES, ROLE_EDGES, ROLES, TYPES, TenantEdges, TenantNodes
from answerable.okta.sync.tables import Row
from answerable.okta.sync.touched import TouchedKeys

if TYPE_CHECKING:
    from ladybug import Connection


class GraphChanges:
    """One transaction on a graph that nobody else has open."""

    def __init__(self, db: sqlite3.Connection, graph: "Connection", touched: TouchedKeys, scratch: Path) -> None:
        self._db = db
        self._graph = graph
        self._touched = touched
        self._file = scratch / "rows.csv"
        self._new: dict[str, list[Row]] = {}
        """Keys of nodes that the graph did not have, by the name of their kind."""

    def write(self) -> None:
        self._db.execute("CREATE TEMP TABLE wanted (first TEXT, second TEXT)")
        self._graph.execute("BEGIN TRANSACTION")
        for edges in EDGES:
            self._remove_edges(edges)
        for nodes in NODES:
            self._change_nodes(nodes)
        for edges in EDGES:
            self._add_edges(edges)
        self._write_roles()
        self._graph.execute("COMMIT")

    # Nodes

    def _change_nodes(self, nodes: TenantNodes) -> None:
        touched = self._touched.get(nodes.table, [])
        if not touched:
            return
        known = {
            row[0] for row in self._run(touched, ["STRING"], f"MATCH (n:{nodes.name}) WHERE n.id = c0 RETURN n.id")
        }
        present = self._rows(f"{nodes.rows} WHERE id IN (SELECT first FROM wanted)", touched)  # noqa: S608
        ids = {row[0] for row in present}
        gone = [(key,) for key in known - ids]
        self._new[nodes.name] = [(key,) for key in ids - known]
        self._run(gone, ["STRING"], f"MATCH (n:{nodes.name}) WHERE n.id = c0 DETACH DELETE n")
        types = [TYPES[kind] for kind in nodes.table.columns.values()]
        values = ", ".join(f"n.`{name}` = c{index}" for index, name in enumerate(nodes.table.columns) if name != "id")
        self._run(present, types, f"MERGE (n:{nodes.name} {{id: c0}}) SET {values}")

    # Relationships

    def _remove_edges(self, edges: TenantEdges) -> None:
        """Removes the relationships of the touched rows, whose keys name one end or both."""
        columns = list(edges.table.key)
        ends = (("a", edges.start[0]), ("b", edges.end[0]))
        known = [f"{alias}.id = c{columns.index(name)}" for alias, name in ends if name in columns]
        pattern = f"MATCH (a:{edges.start[1].name})-[r:{edges.name}]->(b:{edges.end[1].name})"
        touched = self._touched.get(edges.table, [])
        self._run(touched, ["STRING" for _ in columns], f"{pattern} WHERE {' AND '.join(known)} DELETE r")

    def _add_edges(self, edges: TenantEdges) -> None:
        """Adds the relationships of the touched rows and of new nodes: a relationship may have come before its node."""
        key = ", ".join(f't."{name}"' for name in edges.table.key)
        wanted = ", ".join(("first", "second")[: len(edges.table.key)])
        of_key = f"{edges.rows} WHERE ({key}) IN (SELECT {wanted} FROM wanted)"  # noqa: S608 - fixed names
        found = self._rows(of_key, self._touched.get(edges.table, []))
        for column, nodes in (edges.start, edges.end):
            of_node = f'{edges.rows} WHERE t."{column}" IN (SELECT first FROM wanted)'  # noqa: S608 - fixed names
            found += self._rows(of_node, self._new.get(nodes.name, []))
        self._copy(edges.name, dict.fromkeys(found))

    # Roles

    def _write_roles(self) -> None:
        """All of them anew, because they are few."""
        concerned = (tables.USER_ROLES, tables.GROUP_ROLES)
        if not any(self._touched.get(table) for table in concerned) and not any(
            map(self._new.get, ("User", "UserGroup"))
        ):
            return
        for name in ROLE_EDGES:
            self._graph.execute(f"MATCH ()-[r:{name}]->() DELETE r")
        roles = self._db.execute(ROLES).fetchall()
        self._run(roles, ["STRING"], "MERGE (n:Role {name: c0})")
        former = {row[0] for row in self._result("MATCH (n:Role) RETURN n.name")} - {row[0] for row in roles}
        self._run([(name,) for name in former], ["STRING"], "MATCH (n:Role) WHERE n.name = c0 DETACH DELETE n")
        for name, (_, query) in ROLE_EDGES.items():
            self._copy(name, self._db.execute(query).fetchall())

    # Rows

    def _rows(self, query: str, keys: Sequence[Row]) -> list[Row]:
        """Rows of the database, of a query over the table `wanted`."""
        if not keys:
            return []
        self._db.execute("DELETE FROM wanted")
        self._db.executemany("INSERT INTO wanted VALUES (?, ?)", [(*key, None)[:2] for key in keys])
        return self._db.execute(query).fetchall()

    def _run(self, rows: Sequence[Row], types: Sequence[str], statement: str) -> list[Row]:
        """Runs a statement for each row, whose values it knows as `c0`, `c1` and so on."""
        if not rows:
            return []
        columns = ", ".join(f"c{index} {kind}" for index, kind in enumerate(types))
        self._write(rows)
        return self._result(
            f'LOAD WITH HEADERS ({columns}) FROM "{self._file}" (HEADER=false, PARALLEL=false) {statement}'
        )

    def _copy(self, name: str, rows: Iterable[Row]) -> None:
        if self._write(rows):
            self._result(f'COPY {name} FROM "{self._file}" (HEADER=false, PARALLEL=false)')

    def _write(self, rows: Iterable[Row]) -> bool:
        with self._file.open("w", encoding="utf-8", newline="") as text:
            csv.writer(text).writerows(rows)
        return self._file.stat().st_size > 0

    def _result(self, statement: str) -> list[Row]:
        result = self._graph.execute(statement)
        found = []
        while result.has_next():  # type: ignore[union-attr]
            found.append(tuple(result.get_next()))  # type: ignore[union-attr]
        return found
