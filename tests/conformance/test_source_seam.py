"""What every kind of source must do, whatever language it speaks. `test_sources.py` adds what SQL sources must do.

A source that does not speak SQL is added here the way anyone would add one: a file, and a row in each of two tables.
"""

import json
import sqlite3
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import psycopg
import pytest
from api_server import Answer, ApiServer
from as_written import as_written
from lookup import SOURCE_ROW, LookupStep, checked_lookup

from answerable import app
from answerable.answers import export, frame
from answerable.core.catalog import Catalog
from answerable.core.context import LOCAL
from answerable.core.errors import RefusedError, UserError
from answerable.core.events import StepProgress
from answerable.core.ids import NodeId
from answerable.engine.graph import Graph, Node
from answerable.engine.steps.descriptor import RepeatableStepKind
from answerable.engine.steps.present import Presentation
from answerable.query.checked import CheckedQuery
from answerable.query.cypher.check import checked as checked_cypher
from answerable.query.sql.check import checked
from answerable.settings import Settings
from answerable.sources import open as opening
from answerable.sources.base import Limits, Source
from answerable.sources.open import open_source
from graphs import write_graph

PAIRS = {"tea": 3, "coffee": 5}
CYPHER = "MATCH (p:pairs {key: 'tea'}) RETURN p.key AS key, p.value AS value"
SQL = "SELECT key, value FROM pairs WHERE key = 'tea'"


@pytest.fixture(autouse=True)
def added(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rows by which the source and the step kind are added."""
    monkeypatch.setattr(opening, "SOURCE_KINDS", (SOURCE_ROW, *opening.SOURCE_KINDS))
    row = lambda parts: [LookupStep(parts.dependencies.sources, parts.store.artifacts, Limits())]  # noqa: E731
    monkeypatch.setattr(app, "STEP_KINDS", (*app.STEP_KINDS, row))


@dataclass(frozen=True)
class Asked:
    source: Source
    query: Callable[[Catalog], CheckedQuery]


CREATE = "CREATE TABLE pairs (key TEXT, value INTEGER)"
INSERT = f"INSERT INTO pairs VALUES {', '.join(map(str, PAIRS.items()))}"


def _lookup_file(folder: Path, pairs: dict[str, int] = PAIRS) -> str:
    (folder / "stock.pairs").write_text(json.dumps(pairs))
    return str(folder / "stock.pairs")


def _files(folder: Path) -> str:
    pl.DataFrame({"key": list(PAIRS), "value": list(PAIRS.values())}).write_csv(folder / "pairs.csv")
    return str(folder / "pairs.csv")


def _sqlite(folder: Path) -> str:
    with closing(sqlite3.connect(folder / "stock.db")) as connection:
        connection.executescript(f"{CREATE}; {INSERT}")
    return str(folder / "stock.db")


def _duckdb(folder: Path) -> str:
    with duckdb.connect(str(folder / "stock.duckdb")) as connection:
        connection.execute(f"{CREATE}; {INSERT}")
    return str(folder / "stock.duckdb")


def _postgres(url: str) -> str:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(CREATE)
        connection.execute(INSERT)
    return url


def _ladybug(folder: Path) -> str:
    create = "CREATE NODE TABLE pairs(key STRING, value INT64, PRIMARY KEY (key))"
    inserts = tuple(f"CREATE (:pairs {{key: '{key}', value: {value}}})" for key, value in PAIRS.items())
    return str(write_graph(folder / "stock.lbug", (create, *inserts)))


def _api(server: ApiServer) -> str:
    """An API with one entity, whose document lies beside the cache."""
    server.route = lambda _received: Answer([{"key": key, "value": value} for key, value in PAIRS.items()])
    row = {"type": "object", "properties": {"key": {"type": "string"}, "value": {"type": "integer"}}}
    content = {"application/json": {"schema": {"type": "array", "items": row}}}
    document = {"openapi": "3.0.0", "paths": {"/pairs": {"get": {"responses": {"200": {"content": content}}}}}}
    folder = Path(tempfile.mkdtemp(prefix="answerable-test-"))
    (folder / "stock.json").write_text(json.dumps(document))
    return f"api+{server.url}?document={folder}/stock.json"


@pytest.fixture
def api_server() -> Iterator[ApiServer]:
    server = ApiServer()
    yield server
    server.close()


WRITERS: dict[str, tuple[Callable[[Any], str], str]] = {
    "lookup": (_lookup_file, "tmp_path"),
    "files": (_files, "tmp_path"),
    "sqlite": (_sqlite, "tmp_path"),
    "duckdb": (_duckdb, "tmp_path"),
    "postgres": (_postgres, "postgres_url"),
    "graph": (_ladybug, "tmp_path"),
    "api": (_api, "api_server"),
}
"""For each kind of source: what writes the pairs and returns the location, and the fixture that says where to."""


QUERIES: dict[str, Callable[[Catalog], CheckedQuery]] = {
    "lookup": lambda catalog: checked_lookup("get tea", catalog),
    "graph": lambda catalog: checked_cypher(CYPHER, catalog),
}
"""The queries of sources that do not speak SQL."""


@pytest.fixture(params=WRITERS)
async def asked(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Asked]:
    kind = request.param
    write, place = WRITERS[kind]
    location = write(request.getfixturevalue(place))
    source = await open_source(location, name="stock", cache=tmp_path / "cache")
    yield Asked(source, QUERIES.get(kind, lambda c: checked(SQL, c)))
    await source.close()


def test_every_kind_of_source_is_judged_here() -> None:
    assert {kind.name for kind in opening.SOURCE_KINDS} == set(WRITERS)


async def test_it_is_described_with_its_language(asked: Asked) -> None:
    reports: list[tuple[str, float | None, float | None]] = []
    catalog = await asked.source.describe(lambda *report: reports.append(report))
    assert catalog.source == "stock"
    assert catalog.dialect == asked.source.languages[0]
    assert [(table.name, table.row_count) for table in catalog.tables] == [("pairs", 2)]
    assert catalog.fingerprint == (await asked.source.describe()).fingerprint
    assert reports
    assert all(message for message, _done, _total in reports)
    hits = (await asked.source.values()).find("TEA")
    assert [(hit.table, hit.column, hit.value) for hit in hits] == [("pairs", "key", "tea")]


async def test_it_runs_a_checked_query_of_its_language(asked: Asked, tmp_path: Path) -> None:
    query = asked.query(await asked.source.describe())
    await asked.source.check(query)
    result = await asked.source.execute(query, tmp_path / "rows.arrow", Limits())
    assert [column.name for column in result.columns] == ["key", "value"]
    assert result.row_count == 1
    assert result.byte_count == (tmp_path / "rows.arrow").stat().st_size
    assert pl.read_ipc(tmp_path / "rows.arrow").rows() == [("tea", 3)]


async def test_it_refuses_a_query_of_another_language(asked: Asked, tmp_path: Path) -> None:
    foreign = as_written("RETURN n", "gremlin")
    with pytest.raises(UserError) as caught:
        await asked.source.execute(foreign, tmp_path / "rows.arrow", Limits())
    assert caught.value.stable_code == "query_language_unknown"
    with pytest.raises(UserError):
        await asked.source.check(foreign)
    assert not (tmp_path / "rows.arrow").exists()


def test_its_checker_refuses_what_is_not_allowed() -> None:
    with pytest.raises(RefusedError):
        checked_lookup("DROP tea", Catalog(source="stock", dialect="lookup", tables=()))


async def test_a_new_kind_is_asked_presented_exported_and_replayed(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path / "home", sources={"stock": _lookup_file(tmp_path)})
    graph = Graph(
        nodes=(
            Node(id=NodeId("pairs"), kind="ask_pairs", config={"source": "stock", "text": "get tea coffee"}),
            Node(
                id=NodeId("answer"),
                kind="present",
                config=Presentation(question="How much is there?", mind="direct").model_dump(mode="json"),
                after=(NodeId("pairs"),),
            ),
        ),
        output=NodeId("answer"),
    )
    async with app.open_service(settings, any_location=False) as service:
        answer = await service.questions.run_graph(graph, "How much is there?", LOCAL)
        assert answer.rows == (("tea", 3), ("coffee", 5))
        assert answer.provenance.data_source_type == "pairs"
        [step] = answer.steps
        assert (step.kind, step.source, step.data_source_type) == ("ask_pairs", "stock", "pairs")
        assert (step.code, step.language, step.row_count) == ("GET tea coffee", "text", 2)

        events = await service.runs.journal(answer.run_id, LOCAL)
        assert "Reading stock.pairs" in [event.message for event in events if isinstance(event, StepProgress)]
        timeline = await service.runs.timeline(answer.run_id, LOCAL)
        assert {each.id: (each.kind, each.row_count, each.code) for each in timeline.steps}["pairs"] == (
            "ask_pairs",
            2,
            "GET tea coffee",
        )

        path = await service.answers.rows_path(answer, LOCAL)
        assert b"".join(export.export(path, "csv")).decode().split() == ["key,value", "tea,3", "coffee,5"]
        assert frame.rows(path, 0, 10) == [("tea", 3), ("coffee", 5)]

        assert (await service.answers.replay(answer.run_id, LOCAL)).verdict == "same"
        _lookup_file(tmp_path, PAIRS | {"tea": 4})
        replayed = await service.answers.replay(answer.run_id, LOCAL)
        assert replayed.verdict == "differs"
        assert replayed.steps[0].data_changed


def _graph(*nodes: Node) -> Graph:
    config = Presentation(question="How much?", mind="direct").model_dump(mode="json")
    shown = Node(id=NodeId("answer"), kind="present", config=config, after=tuple(node.id for node in nodes), final=True)
    return Graph(nodes=(*nodes, shown), output=NodeId("answer"))


def _lookup(name: str, text: str, *after: str, critical: bool = True) -> Node:
    config = {"source": "stock", "text": text}
    parents = tuple(NodeId(parent) for parent in after)
    return Node(id=NodeId(name), kind="ask_pairs", config=config, after=parents, critical=critical)


async def test_an_answer_accounts_for_steps_of_a_new_kind_that_failed_or_were_skipped(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path / "home", sources={"stock": _lookup_file(tmp_path)})
    failing = _graph(
        _lookup("found", "get tea"), _lookup("bad", "drop tea", "found"), _lookup("late", "get tea", "bad")
    )
    partial = _graph(_lookup("found", "get tea"), _lookup("bad", "drop tea", critical=False))
    async with app.open_service(settings, any_location=False) as service:
        failed = await service.questions.run_graph(failing, "How much?", LOCAL)
        assert failed.status == "refused"
        assert [(step.id, step.kind, step.status, step.code, step.language) for step in failed.steps] == [
            ("found", "ask_pairs", "done", "GET tea", "text"),
            ("bad", "ask_pairs", "failed", "drop tea", "text"),
            ("late", "ask_pairs", "skipped", "get tea", "text"),
        ]
        incomplete = await service.questions.run_graph(partial, "How much?", LOCAL)
        assert incomplete.status == "partial"
        assert [(step.id, step.kind, step.status) for step in incomplete.steps] == [
            ("found", "ask_pairs", "done"),
            ("bad", "ask_pairs", "failed"),
        ]


async def test_descriptors_and_kinds_agree(tmp_path: Path) -> None:
    async with app.open_service(Settings(home=tmp_path), any_location=True) as service:
        names = [descriptor.name for descriptor in service.step_kinds]
        assert len(set(names)) == len(names)
        assert {"sql", "combine", "python", "given", "subgraph", "understand", "present", "ask_pairs"} <= set(names)
        for descriptor in service.step_kinds:
            kind = service.answers._kinds[descriptor.name]
            assert descriptor.repeatable == isinstance(kind, RepeatableStepKind)
            assert (descriptor.data_source_type is None) or descriptor.produces == "rows"
            assert not descriptor.repeatable or descriptor.language
            assert descriptor.writes is None or descriptor.writes in names
            fields = descriptor.config.model_fields if descriptor.config is not None else {}
            assert descriptor.code_field is None or descriptor.code_field in fields
