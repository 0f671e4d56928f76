"""Makes the data of the golden cases from the simulator, and their rows: `python -m answerable.okta.golden`."""

import asyncio
import json
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from answerable.core.clock import SystemClock
from answerable.isolation.own_folder import scratch_folder
from answerable.okta.simulator.populate import simulated_tenant
from answerable.okta.simulator.server import TOKEN, Simulator, served
from answerable.okta.sync.client import OktaClient
from answerable.okta.sync.credentials import ApiToken
from answerable.okta.sync.run import sync

HERE = Path(__file__).parent
CASES = HERE / "golden.jsonl"
DATA = HERE / "data" / "okta.sqlite"
NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)
USERS, SEED = 120, 1


def make_data() -> None:
    with scratch_folder() as folder, served(Simulator(simulated_tenant(USERS, SEED, NOW))) as url:

        async def synced() -> None:
            client = OktaClient(url, ApiToken(TOKEN, "simulator"), SystemClock())
            try:
                await sync(folder, client, SystemClock())
            finally:
                await client.close()

        asyncio.run(synced())
        with closing(sqlite3.connect(folder / "okta.sqlite")) as db:
            # when the data was made must not be in it: the file is the same each time
            db.execute("UPDATE sync_history SET started = data_as_of, finished = data_as_of, seconds = 0")
            db.commit()
            db.execute("VACUUM")
        DATA.write_bytes((folder / "okta.sqlite").read_bytes())


def refreshed(line: str, db: sqlite3.Connection) -> str:
    """The line of a case with the rows that its statement returns now."""
    case = json.loads(line)
    rows = [list(row) for row in db.execute(case["gold_sql"]).fetchall()]
    if not case["ordered"]:
        rows.sort(key=str)
    return json.dumps(case | {"gold_rows": rows}, ensure_ascii=False)


def main() -> None:
    make_data()
    with closing(sqlite3.connect(DATA)) as db:
        lines = [refreshed(line, db) for line in CASES.read_text("utf-8").splitlines()]
    CASES.write_text("\n".join(lines) + "\n", "utf-8")


if __name__ == "__main__":
    main()
