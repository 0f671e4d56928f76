"""What a server says over HTTP names no folder of its disk, whatever goes wrong. Over real sockets, with real failures:
each folder on the way to the data and to the home folder has a name that is looked for in every reply."""

import gzip
import os
import re
import shutil
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest
import pytest_asyncio
from served_app import serving

from answerable.core.errors import LimitError
from answerable.core.hidden_paths import HiddenPaths
from answerable.gateway.app import create_app
from answerable.settings import Settings

MARK = "zqmarker"
PEOPLE = "id,name,city\n1,Ana,Berlin\n2,Bo,Paris\n"
DECLARED = re.compile(r'"(location|file)":"(\\.|[^"\\])*"')
"""Fields whose meaning is where something is: for the operator, who sees them on the page."""


BROKEN = {
    "gone.csv": "source_missing",
    "loop.csv": "source_missing",
    "empty.csv": "file_empty",
    "noise.parquet": None,
    "noise.sqlite": "file_mismatch",
    "torn.sqlite": None,
    "text.duckdb": "file_mismatch",
    "torn.duckdb": None,
    "noise.xlsx": None,
    "cut.csv.gz": "file_damaged",
    "pipe": "source_unsupported",
    "nothing": "source_empty",
    "odd": "source_empty",
    "wrong": "semantic_invalid",
}
"""A source for each way in which data on the disk can be unusable, and the code that tells of it."""


def broken_sources(base: Path) -> list[Path]:
    (base / "loop.csv").symlink_to(base / "loop.csv")
    (base / "empty.csv").touch()
    noise = bytes(range(256)) * 40
    for name, start in (("noise.parquet", b"PAR1"), ("noise.sqlite", b""), ("noise.xlsx", b"PK\3\4")):
        (base / name).write_bytes(start + noise + start)
    (base / "torn.sqlite").write_bytes(b"SQLite format 3\0" + noise)
    (base / "text.duckdb").write_text("only text\n")
    (base / "torn.duckdb").write_bytes(b"\0" * 8 + b"DUCK" + noise)
    (base / "cut.csv.gz").write_bytes(gzip.compress(PEOPLE.encode() * 1_000)[:40])
    os.mkfifo(base / "pipe")
    for folder in ("nothing", "odd", "wrong"):
        (base / folder).mkdir()
    (base / "odd" / "a.bin").write_bytes(noise)
    (base / "wrong" / "people.csv").write_text(PEOPLE)
    (base / "wrong" / "semantic.yaml").write_text("tables:\n  nobody:\n    description: x\n  people: [")
    return [base / name for name in BROKEN]


Served = tuple[httpx.AsyncClient, Path]


@asynccontextmanager
async def server_below(folder: Path) -> AsyncIterator[Served]:
    """Serves a good source and every broken one, from folders whose names carry the mark."""
    base = folder / f"{MARK} a" / f"{MARK}-b"
    base.mkdir(parents=True)
    (base / "good").mkdir()
    (base / "good" / "people.csv").write_text(PEOPLE)
    broken = {path.name: str(path) for path in broken_sources(base)}
    settings = Settings(home=base / "home", sources={**broken, "good": str(base / "good")})
    async with (
        serving(create_app(settings)) as port,
        httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}/api/v1", timeout=60) as client,
    ):
        yield client, base


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def served(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Served]:
    """One server for all broken sources: each is asked by one test."""
    async with server_below(tmp_path_factory.mktemp("served")) as found:
        yield found


@pytest.fixture
async def own_served(tmp_path: Path) -> AsyncIterator[Served]:
    """A server whose disk a test may harm."""
    async with server_below(tmp_path) as found:
        yield found


class Heard:
    """Sends requests and looks for the mark in the replies."""

    def __init__(self, client: httpx.AsyncClient) -> None:
        self.client = client
        self.told: dict[str, str] = {}
        self.statuses: set[int] = set()
        self.codes: set[str] = set()

    async def __call__(self, method: str, path: str, **options: object) -> httpx.Response:
        reply = await self.client.request(method, path, **options)  # type: ignore[arg-type]
        said = DECLARED.sub("", reply.text)
        self.statuses.add(reply.status_code)
        self.codes |= set(re.findall(r'"code":"(\w+)"', said))
        if MARK in said or "%20" in said or str(Path(__file__).parent) in said:
            place = said.index(MARK) if MARK in said else 0
            self.told[f"{method} {path} {options.get('json')}"] = said[max(0, place - 300) : place + 100]
        return reply

    async def about(self, source: str) -> None:
        """Routes that name a source, and every view of a run that asks it."""
        at, edit = f"/sources/{source}", {"kind": "name", "table": "people", "description": "x"}
        await self("GET", f"{at}/tables/people/rows")
        await self("PATCH", f"{at}/semantic", json={"edits": [edit]})
        await self("PUT", f"{at}/semantic", json={"text": "tables: ["})
        await self.asked("/chat", {"message": "SQL: SELECT count(*) AS n FROM people", "source": source})
        await self("GET", f"{at}/status")

    async def asked(self, path: str, body: dict[str, str]) -> str:
        run = str((await self("POST", path, json=body)).json().get("run_id"))
        for part in ("", "/events", "/timeline", "/rows", "/rows/totals"):
            await self("GET", f"/runs/{run}{part}")
        await self("POST", f"/runs/{run}/replay")
        return run


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("source", BROKEN)
async def test_no_failure_of_data_names_a_folder_of_the_server(served: Served, source: str) -> None:
    heard = Heard(served[0])
    await heard.about(source)
    for path in ("/sources", "/runs", "/threads"):
        await heard("GET", path)
    assert heard.told == {}
    assert BROKEN[source] in (None, *heard.codes), heard.codes
    assert 500 not in heard.statuses


def _replace(path: Path) -> None:
    """With a file where a folder should be, or the other way round."""
    if path.is_dir():
        shutil.rmtree(path)
        path.write_text("")
    else:
        path.unlink(missing_ok=True)
        path.mkdir()


HARM: dict[str, Callable[[Path], object]] = {
    "data": lambda base: (base / "good" / "people.csv").unlink(),
    "folder": lambda base: shutil.rmtree(base / "good"),
    "artifacts": lambda base: shutil.rmtree(base / "home" / "artifacts"),
    "artifacts as a file": lambda base: _replace(base / "home" / "artifacts"),
    "cache as a file": lambda base: _replace(base / "home" / "cache"),
    "uploads as a file": lambda base: _replace(base / "home" / "uploads"),
    "semantic as a file": lambda base: (base / "home" / "semantic").write_text(""),
    "added sources": lambda base: (base / "home" / "added-sources.json").write_text("{"),
    "store": lambda base: (base / "home" / "answerable.db").unlink(),
    "store of another program": lambda base: (base / "home" / "answerable.db").write_bytes(b"SQLite format 3\0" * 999),
}


@pytest.mark.parametrize("harm", HARM)
async def test_no_failure_of_the_disk_names_a_folder_of_the_server(own_served: Served, harm: str) -> None:
    client, base = own_served
    heard = Heard(client)
    run = await heard.asked("/chat", {"message": "how many people?", "source": "good"})
    HARM[harm](base)
    if not harm.startswith("store"):  # without its store a run waits, and so does a replay
        await heard.about("good")
        await heard("POST", f"/runs/{run}/replay")
    for part in ("", "/events", "/rows", "/rows?format=csv", "/rows?format=arrow", "/rows/totals"):
        await heard("GET", f"/runs/{run}{part}")
    await heard("POST", f"/runs/{run}/rows/query", json={"sort": [{"column": "n"}]})
    await heard("POST", "/evals/mine/cases", json={"run_id": run})
    await heard("POST", "/uploads", params={"name": "a.csv"}, content=PEOPLE.encode())
    await heard("POST", "/sources", json={"url": "postgresql://127.0.0.1:1/x"})
    await heard("DELETE", "/sources/a")
    for path in ("/sources", "/runs", "/threads"):
        await heard("GET", path)
    await heard("GET", str(client.base_url).replace("/api/v1/", "/readyz"))
    assert heard.told == {}


@pytest.mark.parametrize(
    ("told", "shown"),
    [
        ("/a b/c/data/x/y.csv is empty.", "x/y.csv is empty."),
        ("/a b/c/data holds no table.", "data holds no table."),
        ("/a b/c/data.", "data."),
        ("'/a b/c/data/y.csv'", "'y.csv'"),
        ("/a b/c holds data, other.", "a folder of the server holds data, other."),
        ("file:///a%20b/c/data/y.csv", "y.csv"),
        ("/api/v1/runs stays, and so does x/a b/c/data", "/api/v1/runs stays, and so does x/a b/c/data"),
        ("1/2 of what https://a.example/a b says", "1/2 of what https://a.example/a b says"),
    ],
)
def test_what_is_left_of_a_path(told: str, shown: str) -> None:
    error = LimitError(told, hint=told)
    hidden = HiddenPaths([Path("/a b/c/data"), Path("/")])
    assert hidden.of(error) is error
    assert (str(error), error.hint) == (shown, shown)
