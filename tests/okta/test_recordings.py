"""The connector agrees with recorded answers of real tenants: it knows their endpoints, finds their rows, and syncs
from the server that replays them."""

import asyncio
import importlib.util
import re
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from http.server import ThreadingHTTPServer
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from okta_recordings import recorded

from answerable.apis.openapi.endpoints import ApiEndpoint
from answerable.apis.paging import rows_of
from answerable.core.clock import SystemClock
from answerable.okta.live import endpoints
from answerable.okta.sync.client import OktaClient
from answerable.okta.sync.credentials import ApiToken
from answerable.okta.sync.database import PUBLISHED
from answerable.okta.sync.jobs import JOB_KINDS, Since
from answerable.okta.sync.run import SyncRecord, sync

UNDOCUMENTED = {
    "alg",
    "created",
    "credentials",
    "default",
    "description",
    "isCloneable",
    "lastUpdated",
    "mfaActive",
    "resourceDisplayName",
    "resourceId",
    "resourceType",
}
"""Fields that Okta sends and its specification does not name."""


@pytest.fixture(scope="module")
def answers(shared_data: Path) -> list[dict[str, Any]]:
    return [answer for answer in recorded(shared_data) if answer["method"] == "GET"]


@pytest.fixture
def replay(shared_data: Path) -> Iterator[str]:
    module = _module(shared_data / "okta" / "replay.py")
    server = ThreadingHTTPServer(("127.0.0.1", 0), module.H)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


def _module(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("okta_replay", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _matching(template: str) -> re.Pattern[str]:
    return re.compile(re.sub(r"\\\{[^}]*\\\}", "[^/]+", re.escape(template)) + "/?")


def _endpoint(path: str) -> ApiEndpoint | None:
    """The endpoint of a path: the one with the fewest ids comes first, as `/groups/rules` before `/groups/{id}`."""
    ordered = sorted(endpoints().endpoints, key=lambda endpoint: endpoint.path.count("{"))
    return next((each for each in ordered if _matching(each.path).fullmatch(path)), None)


def test_every_recorded_endpoint_is_known_and_its_rows_are_found(answers: list[dict[str, Any]]) -> None:
    unknown: set[str] = set()
    for answer in answers:
        endpoint = _endpoint(answer["path"])
        if endpoint is None:
            assert answer["status"] in (404, 405), answer["path"]
        elif answer["status"] == 200:
            body = answer["json"]
            found = rows_of(body, endpoint.pages.pages) if endpoint.operation == "list" else [body]
            for row in found:
                known = {column.path[:1] for column in endpoint.columns}
                fields = [name for name in row if not name.startswith("_")] if isinstance(row, dict) else []
                unknown |= {name for name in fields if (name,) not in known}
    assert unknown <= UNDOCUMENTED


def test_every_recorded_list_that_a_sync_reads_becomes_rows(answers: list[dict[str, Any]]) -> None:
    read = 0
    for name, kind in JOB_KINDS.items():
        path = kind.first("{id}/{id}" if name == "app_user" else "{id}", Since(None)).partition("?")[0]
        template = _matching(path.replace("%7Bid%7D", "{id}"))
        for answer in answers:
            if answer["status"] == 200 and template.fullmatch(answer["path"]):
                items = kind.items(answer["json"])
                content = kind.read(items, "an id", Since(None))
                [main, *_] = content.rows.values()
                assert len(main) <= len(items)
                read += 1
    assert read >= 100


async def _synced(folder: Path, url: str) -> SyncRecord:
    client = OktaClient(url, ApiToken("any", "OKTA_API_TOKEN"), SystemClock())
    try:
        return await sync(folder, client, SystemClock(), graph=True)
    finally:
        await client.close()


def test_a_replayed_tenant_is_synced_although_it_lacks_a_log_and_its_pages_go_round(
    tmp_path: Path, replay: str, answers: list[dict[str, Any]]
) -> None:
    first = asyncio.run(_synced(tmp_path, replay))
    again = asyncio.run(_synced(tmp_path, replay))
    assert (first.kind, first.status) == (again.kind, again.status) == ("full", "complete")
    assert "The pages of servers go round in a circle." in str(first.error)
    assert "the tenant does not have it: log" in str(first.error)
    assert (again.added, again.changed, again.removed) == (0, 0, 0)
    lists = [answer["json"] for answer in answers if answer["path"] == "/api/v1/apps" and answer["status"] == 200]
    labels = {app["id"]: app["label"] for each in lists for app in each}
    with closing(sqlite3.connect(tmp_path / PUBLISHED)) as db:
        synced = dict(db.execute("SELECT id, name FROM applications").fetchall())
    assert synced
    assert synced.items() <= labels.items()
