"""`python -m faults.okta_sync [--users N] [--every N]`: kills a sync of Okta with -9 at each of its requests.

After each kill the sync is run to its end, and what it copied is compared with the tenant. Prints how many rows were
lost or doubled, and exits with 1 if any was.
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

from starlette.responses import Response

from answerable.core.clock import SystemClock
from answerable.okta.simulator.populate import simulated_tenant
from answerable.okta.simulator.server import TOKEN, Simulator, served
from answerable.okta.simulator.tenant import Tenant
from answerable.okta.sync.client import OktaClient
from answerable.okta.sync.credentials import ApiToken
from answerable.okta.sync.database import PUBLISHED
from answerable.okta.sync.run import sync

PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(["answerable.okta.sync.run", "answerable.okta.simulator.server"])
NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)


def synced(folder: Path, url: str) -> None:
    async def inside() -> None:
        client = OktaClient(url, ApiToken(TOKEN, "simulator"), SystemClock())
        try:
            await sync(folder, client, SystemClock())
        finally:
            await client.close()

    asyncio.run(inside())


def differences(folder: Path, tenant: Tenant) -> tuple[int, int]:
    """Rows that were lost, and rows that are there twice or should not be."""
    expected: dict[str, Counter[Any]] = {
        "SELECT id FROM users": Counter((user["id"],) for user in tenant.users),
        "SELECT id FROM groups": Counter((group["id"],) for group in tenant.groups),
        "SELECT id FROM applications": Counter((app["id"],) for app in tenant.apps),
        "SELECT group_id, user_id FROM group_memberships": Counter(
            (group, user) for group, users in tenant.members.items() for user in users
        ),
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
    return lost, doubled


def killed_at(number: int, users: int) -> tuple[bool, int, int]:
    """Whether the sync was killed, and what was lost and doubled in the end."""
    tenant = simulated_tenant(users, 3, NOW, groups=1)
    child: list[Any] = []

    def kill(request: int, _path: str) -> Response | None:
        if request == number and child:
            os.kill(child[0].pid, signal.SIGKILL)
        return None

    with tempfile.TemporaryDirectory() as folder, served(Simulator(tenant, fault=kill)) as url:
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
    options = parser.parse_args()
    kills = lost = doubled = 0
    while True:
        killed, missing, twice = killed_at(1 + kills * options.every, options.users)
        lost, doubled = lost + missing, doubled + twice
        if not killed:
            break
        kills += 1
        print(f"killed {kills} times: lost {lost}, doubled {doubled}", flush=True)
    print(f"killed {kills} times; lost {lost}, doubled {doubled}")
    return 1 if lost or doubled else 0


if __name__ == "__main__":
    sys.exit(main())
