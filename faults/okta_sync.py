"""`python -m faults.okta_sync [--users N] [--every N] [--changes N]`: kills a sync of Okta with -9 at each request.

After each kill the sync is run to its end, and what it copied is compared with the tenant: tables, and users and
memberships of the graph. With `--changes`, a sync that reads that many changes is killed instead of the first one.
Prints how many rows were lost or doubled, and exits with 1 if any was.
"""

import argparse
import asyncio
import multiprocessing
import os
import signal
import sqlite3
import sys
import tempfile
from collections import Counter
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import ladybug
from starlette.responses import Response

from answerable.core.clock import SystemClock
from answerable.okta.simulator.changes import change
from answerable.okta.simulator.populate import simulated_tenant
from answerable.okta.simulator.server import TOKEN, Simulator, served
from answerable.okta.simulator.tenant import Tenant
from answerable.okta.sync.client import OktaClient
from answerable.okta.sync.credentials import ApiToken
from answerable.okta.sync.database import PUBLISHED
from answerable.okta.sync.graph import FOLDER, GRAPH
from answerable.okta.sync.run import sync

PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(["answerable.okta.sync.run", "answerable.okta.simulator.server"])
_MEMBERS = "SELECT group_id, user_id FROM group_memberships"
NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)


def synced(folder: Path, url: str) -> None:
    async def inside() -> None:
        client = OktaClient(url, ApiToken(TOKEN, "simulator"), SystemClock())
        try:
            await sync(folder, client, SystemClock(), graph=True)
        finally:
            await client.close()

    asyncio.run(inside())


def differences(folder: Path, tenant: Tenant) -> tuple[int, int]:
    """Rows that were lost, and rows that are there twice or should not be."""
    expected: dict[str, Counter[Any]] = {
        "SELECT id FROM users": Counter((user["id"],) for user in tenant.users),
        "SELECT id FROM groups": Counter((group["id"],) for group in tenant.groups),
        "SELECT id FROM applications": Counter((app["id"],) for app in tenant.apps),
        _MEMBERS: Counter((group, user) for group, users in tenant.members.items() for user in users),
        "SELECT application_id, user_id FROM application_users": Counter(
            (app, user) for app, users in tenant.app_users.items() for user in users
        ),
        "SELECT id FROM log_events": Counter((event["uuid"],) for event in tenant.log),
    }
    lost = doubled = 0
    with closing(sqlite3.connect(f"{(folder / PUBLISHED).as_uri()}?mode=ro", uri=True)) as db:
        for query, wanted in expected.items():
            found = Counter(db.execute(query).fetchall())
            lost += (wanted - found).total()
            doubled += (found - wanted).total()
    wanted = expected["SELECT id FROM users"] + Counter((user, group) for group, user in expected[_MEMBERS].elements())
    found = in_graph(folder)
    return lost + (wanted - found).total(), doubled + (found - wanted).total()


def in_graph(folder: Path) -> Counter[Any]:
    """Ids of users, and pairs of users and groups."""
    found: Counter[Any] = Counter()
    queries = "MATCH (u:User) RETURN u.id", "MATCH (u:User)-[:MemberOf]->(g:UserGroup) RETURN u.id, g.id"
    file = str(folder / FOLDER / GRAPH)
    with ladybug.Database(file, read_only=True, max_db_size=1 << 30) as database, ladybug.Connection(database) as graph:
        for query in queries:
            rows = graph.execute(query)
            while rows.has_next():  # type: ignore[union-attr]
                found[tuple(rows.get_next())] += 1  # type: ignore[union-attr]
    return found


def killed_at(number: int, users: int, changes: int) -> tuple[bool, int, int]:
    """Whether the sync was killed, and what was lost and doubled in the end."""
    tenant = simulated_tenant(users, 3, NOW, groups=1)
    simulator = Simulator(tenant)
    child: list[Any] = []

    def kill(request: int, _path: str) -> Response | None:
        if request == before + number and child:
            os.kill(child[0].pid, signal.SIGKILL)
        return None

    with tempfile.TemporaryDirectory() as folder, served(simulator) as url:
        if changes:
            synced(Path(folder), url)
            change(tenant, changes, 20)
        before, simulator.fault = simulator.requests, kill
        child.append(PROCESSES.Process(target=synced, args=(Path(folder), url)))
        child[0].start()
        child[0].join(120)
        if child[0].exitcode not in (0, -signal.SIGKILL):
            raise SystemExit(f"The sync ended with {child[0].exitcode} at request {number}.")
        killed = child[0].exitcode == -signal.SIGKILL
        if killed:
            synced(Path(folder), url)
        return (killed, *differences(Path(folder), tenant))


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m faults.okta_sync")
    parser.add_argument("--users", type=int, default=10)
    parser.add_argument("--every", type=int, default=1, help="kill at every Nth request only")
    parser.add_argument("--changes", type=int, default=0, help="kill a sync of that many changes, not the first sync")
    options = parser.parse_args()
    kills = lost = doubled = 0
    while True:
        killed, missing, twice = killed_at(1 + kills * options.every, options.users, options.changes)
        lost, doubled = lost + missing, doubled + twice
        if not killed:
            break
        kills += 1
        print(f"killed {kills} times: lost {lost}, doubled {doubled}", flush=True)
    print(f"killed {kills} times; lost {lost}, doubled {doubled}")
    return 1 if lost or doubled else 0


if __name__ == "__main__":
    sys.exit(main())
