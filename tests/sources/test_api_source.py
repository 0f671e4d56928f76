"""An API as a source, over a real socket: what is asked of it, and what its failures look like."""

import functools
import json
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import pytest_asyncio
from api_server import Answer, ApiServer, Received
from shop_api import CUSTOMERS, DOCUMENT, TOKEN, ShopApi

from answerable import app
from answerable.agents.question_request import QuestionRequest
from answerable.core.context import LOCAL, Principal
from answerable.core.errors import AnswerableError, RefusedError
from answerable.core.ids import UserId
from answerable.query.sql.check import checked
from answerable.service import Service
from answerable.settings import Settings
from answerable.sources.base import Limits, QueryResult, Source
from answerable.sources.open import open_source
from answerable.sources.sql.source import SqlSource
from answerable.sources.sql.statements import Sql

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.fixture(scope="module")
def server() -> Iterator[ShopApi]:
    server = ShopApi()
    yield server
    server.close()


@pytest.fixture
def shop(server: ShopApi, monkeypatch: pytest.MonkeyPatch) -> ShopApi:
    monkeypatch.setenv("SHOP_TOKEN", TOKEN)
    server.forget()
    return server


Open = Callable[..., Any]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def described(server: ShopApi, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Source]:
    """The source, described while all was well: opened once, because its worker takes a while to start."""
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("SHOP_TOKEN", TOKEN)
        server.forget()
        source = await open_source(server.location, name="shop", cache=tmp_path_factory.mktemp("cache"))
        await source.describe()
    yield source
    await source.close()


@pytest.fixture
def source(described: Source, shop: ShopApi) -> Source:
    shop.forget()
    return described


@pytest_asyncio.fixture(loop_scope="module")
async def opened(shop: ShopApi, tmp_path: Path) -> AsyncIterator[Open]:
    sources: list[Source] = []

    async def open_at(location: str = "") -> Source:
        sources.append(await open_source(location or shop.location, name="shop", cache=tmp_path / "cache"))
        return sources[-1]

    yield open_at
    for source in sources:
        await source.close()


async def ask(source: Source, sql: str, into: Path) -> tuple[list[tuple[Any, ...]], QueryResult]:
    result = await source.execute(checked(sql, await source.describe()), into / "rows.arrow", Limits())
    rows = pl.read_ipc(into / "rows.arrow").rows()
    (into / "rows.arrow").unlink()
    return rows, result


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def running(server: ShopApi, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Service]:
    settings = Settings(home=tmp_path_factory.mktemp("home"), sources={"shop": server.location})
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("SHOP_TOKEN", TOKEN)
        server.forget()
        async with app.open_service(settings, any_location=False) as service:
            await service.sources.describe("shop", LOCAL)
            yield service


@pytest.fixture
def service(running: Service, shop: ShopApi) -> Service:
    return running


# Questions in plain words, with no model


@pytest.mark.parametrize(
    ("question", "rows", "asked"),
    [
        ("how many customers are active", [(5,)], ["/v1/customers?status=active"] * 2),
        (
            "name and email of customers in Lisbon",
            [("Ben", "ben@example.com"), ("Emil", "emil@example.com")],
            ["/v1/customers"] * 3,
        ),
        (
            "how many notes does each customer have",
            [("Ada", 2)],
            ["/v1/customers"] * 3 + [f"/v1/customers/c{number}/notes" for number in range(7)],
        ),
        (
            "total of orders per city",
            [("Berlin", 819.0), ("Lisbon", 661.5), ("Oslo", 724.5)],
            ["/v1/customers"] * 3 + ["/v1/orders"] * 4,
        ),
    ],
)
async def test_plain_questions_are_answered_live_and_say_what_it_took(
    service: Service, shop: ShopApi, question: str, rows: list[Any], asked: list[str]
) -> None:
    answer = await service.questions.ask(QuestionRequest(question, ("shop",)), LOCAL)
    assert answer.status == "done"
    assert sorted(answer.rows) == rows
    assert sorted(shop.asked) == asked
    assert answer.provenance.data_source_type == "api"
    calls = f"{len(asked)} calls, {len(asked)} pages."
    assert any(said.startswith("Live from the API at") and said.endswith(calls) for said in answer.provenance.findings)
    replayed = await service.answers.replay(answer.run_id, LOCAL)
    assert replayed.verdict == "cannot"


async def test_rows_of_an_api_are_joined_with_those_of_a_file(shop: ShopApi, tmp_path: Path) -> None:
    (tmp_path / "budget.csv").write_text("customer_id,budget\nc0,100\nc1,200\n")
    sql = "SQL: SELECT name, budget FROM customers c JOIN budget b ON b.customer_id = c.id ORDER BY name"
    places = {"shop": f"{shop.location}&entities=customers", "plan": str(tmp_path / "budget.csv")}
    settings = Settings(home=tmp_path / "home", sources=places)
    async with app.open_service(settings, any_location=False) as both:
        answer = await both.questions.ask(QuestionRequest(sql, ("shop", "plan")), LOCAL)
    assert answer.rows == (("Ada", 100), ("Ben", 200))
    assert answer.provenance.data_source_type == "hybrid"
    assert [step.data_source_type for step in answer.steps] == ["api", "sql", "combine"]
    assert answer.provenance.findings[0].startswith("Live from the API at")


# What is fetched


async def test_a_page_is_asked_for_at_its_documented_size(shop: ShopApi, opened: Open) -> None:
    await (await opened()).describe()
    sizes = {r.path: r.query.get("limit", r.query.get("per_page")) for r in shop.received}
    assert sizes["/v1/customers"] == ["50"]
    assert sizes["/v1/orders"] == ["200"]
    assert sizes["/v1/stock"] == ["100"]


@pytest.mark.parametrize(
    ("sql", "rows", "asked"),
    [
        ("SELECT name FROM customers WHERE id = 'c4'", [("Emil",)], ["/v1/customers/c4"]),
        ("SELECT name FROM customers WHERE id = 'nobody'", [], ["/v1/customers/nobody"]),
        (
            "SELECT text FROM notes WHERE customer_id = 'c0'",
            [("Likes tea",), ("Pays late",)],
            ["/v1/customers/c0/notes"],
        ),
        (
            "SELECT text FROM notes n JOIN customers c ON n.customer_id = c.id WHERE c.name = 'Ada' AND text LIKE 'L%'",
            [("Likes tea",)],
            ["/v1/customers"] * 3 + ["/v1/customers/c0/notes"],
        ),
        ("SELECT count(*) FROM stock", [(3,)], ["/v1/stock"] * 3),
    ],
)
async def test_a_row_is_got_by_its_id_and_rows_of_others_for_each_id(
    shop: ShopApi, source: Source, tmp_path: Path, sql: str, rows: list[Any], asked: list[str]
) -> None:
    found, result = await ask(source, sql, tmp_path)
    assert found == rows
    assert shop.asked == asked
    assert result.live is not None
    assert (result.live.calls, result.live.pages) == (len(asked), len(asked))


LEFT_OUT = [
    "SELECT name FROM customers WHERE status = 'active' OR city = 'Oslo'",
    "SELECT name FROM customers WHERE NOT status = 'active'",
    "SELECT a.name, b.name FROM customers a JOIN customers b ON a.id <> b.id WHERE a.status = 'active'",
    "SELECT name FROM customers WHERE status = 'active' AND since > (SELECT min(since) FROM customers WHERE id = 'c2')",
    "SELECT name FROM customers WHERE status = 'active' UNION SELECT name FROM customers",
    "SELECT name FROM customers WHERE city IN (SELECT city FROM customers WHERE id = 'c0')",
    "SELECT count(*) FILTER (WHERE status = 'active'), count(*) FROM customers",
    "SELECT o.id FROM orders o LEFT JOIN customers c ON o.customer_id = c.id AND c.status = 'active'",
]


@pytest.mark.parametrize("sql", LEFT_OUT)
async def test_what_is_left_out_of_the_calls_never_changes_the_answer(
    source: SqlSource, tmp_path: Path, sql: str
) -> None:
    live, _result = await ask(source, sql, tmp_path)
    copied = await source.rows(Sql(checked(sql, await source.describe()).text))
    assert sorted(map(str, live)) == sorted(map(str, copied))


async def test_a_column_called_like_the_number_of_a_page_is_no_filter(
    shop: ShopApi, opened: Open, tmp_path: Path
) -> None:
    row = {"type": "object", "properties": {"id": {"type": "integer"}, "page": {"type": "integer"}}}
    content = {"application/json": {"schema": {"type": "array", "items": row}}}
    numbered = {"name": "page", "in": "query", "schema": {"type": "integer"}}
    listed = {"get": {"parameters": [numbered], "responses": {"200": {"content": content}}}}
    (tmp_path / "book.json").write_text(json.dumps({"openapi": "3.0.0", "paths": {"/quotes": listed}}))
    shop.route = lambda r: Answer([{"id": 1, "page": 2}] if r.query.get("page", ["1"]) == ["1"] else [])
    source = await opened(f"api+{shop.url}?document={tmp_path / 'book.json'}")
    assert (await ask(source, "SELECT id FROM quotes WHERE page = 2", tmp_path))[0] == [(1,)]


async def test_values_that_do_not_fit_the_document_are_kept_as_text(
    shop: ShopApi, opened: Open, tmp_path: Path
) -> None:
    odd = [{"id": 1, "total": 5}, {"id": "two", "total": "much", "placed_at": "yesterday"}]
    shop.route = lambda r: (
        Answer(odd if r.query.get("page", ["1"]) == ["1"] else []) if "orders" in r.path else shop.answer(r)
    )
    rows, _result = await ask(await opened(), "SELECT id, total, placed_at FROM orders ORDER BY id", tmp_path)
    assert rows == [("1", "5", None), ("two", "much", "yesterday")]


# Failures


def _only_orders(shop: ShopApi, answer: Callable[[Received], Answer]) -> Callable[[Received], Answer]:
    return lambda received: answer(received) if "orders" in received.path else shop.answer(received)


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (Answer(b"<html>Sign in</html>", 200), "api_html"),
        (Answer(b"not json", 200), "api_failed"),
        (Answer({}, 401), "api_unauthorised"),
        (Answer({}, 403), "api_unauthorised"),
        (Answer({}, 404), "api_not_found"),
        (Answer({"why": "bad"}, 400), "api_failed"),
        (Answer({}, 302, {"Location": "https://evil.example/"}), "api_path_refused"),
        (Answer({"rows": "none"}, 200), "api_failed"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
async def test_each_failure_is_an_error_of_its_own_and_never_an_empty_table(
    shop: ShopApi, source: Source, tmp_path: Path, answer: Answer, code: str
) -> None:
    shop.route = _only_orders(shop, lambda _received: answer)
    with pytest.raises(AnswerableError) as caught:
        await ask(source, "SELECT count(*) FROM orders", tmp_path)
    assert caught.value.stable_code == code
    assert TOKEN not in str(caught.value)
    assert not (tmp_path / "rows.arrow").exists()


async def test_an_api_that_is_busy_for_long_is_said_to_be(shop: ShopApi, opened: Open) -> None:
    shop.route = lambda _received: Answer({}, 429, {"Retry-After": "3600"})
    with pytest.raises(AnswerableError) as caught:
        await (await opened()).describe()
    assert caught.value.stable_code == "api_busy"


async def test_a_failure_in_the_middle_of_the_pages_is_a_failure(shop: ShopApi, source: Source, tmp_path: Path) -> None:
    shop.route = _only_orders(shop, lambda r: Answer({}, 400) if r.query.get("page") == ["2"] else shop.answer(r))
    with pytest.raises(AnswerableError) as caught:
        await ask(source, "SELECT count(*) FROM orders", tmp_path)
    assert caught.value.stable_code == "api_failed"


async def test_what_is_deleted_between_two_calls_is_passed_over_and_said(
    shop: ShopApi, source: Source, tmp_path: Path
) -> None:
    shop.route = lambda r: Answer({}, 404) if r.path == "/v1/customers/c1/notes" else shop.answer(r)
    rows, result = await ask(source, "SELECT count(*) FROM notes", tmp_path)
    assert rows == [(2,)]
    assert result.live is not None
    assert result.live.notes == ("notes: 1 of those whose rows were asked for are no longer there.",)
    shop.route = lambda r: Answer({}, 404) if r.path.endswith("/notes") else shop.answer(r)
    with pytest.raises(AnswerableError) as caught:
        await ask(source, "SELECT count(*) FROM notes", tmp_path)
    assert caught.value.stable_code == "api_not_found"


async def test_an_entity_that_may_not_be_read_is_left_out_and_said(shop: ShopApi, opened: Open) -> None:
    shop.route = _only_orders(shop, lambda _received: Answer({}, 403))
    catalog = await (await opened()).describe()
    assert [table.name for table in catalog.tables] == ["customers", "notes", "stock"]
    assert [warning.subject for warning in catalog.warnings] == ["orders"]


async def test_an_entity_without_an_id_to_ask_with_is_a_table_all_the_same(
    shop: ShopApi, opened: Open, tmp_path: Path
) -> None:
    shop.route = lambda r: Answer({"data": []}) if r.path == "/v1/customers" else shop.answer(r)
    source = await opened(f"{shop.location}&entities=notes")
    catalog = await source.describe()
    assert [(table.name, table.row_count) for table in catalog.tables] == [("customers", 0), ("notes", None)]
    shop.forget()
    assert (await ask(source, "SELECT count(*) FROM notes", tmp_path))[0] == [(2,)]


async def test_an_api_of_which_nothing_can_be_read_is_an_error(shop: ShopApi, opened: Open) -> None:
    shop.route = lambda _received: Answer({}, 401)
    with pytest.raises(AnswerableError) as caught:
        await (await opened()).describe()
    assert caught.value.stable_code == "api_unauthorised"


def _notes(answer: Answer, received: Received) -> Answer:
    assert "notes" in received.path
    return answer


async def test_the_credential_goes_to_the_configured_host_only(shop: ShopApi, source: Source, tmp_path: Path) -> None:
    assert all(r.query["api_key"] == [TOKEN] for r in shop.received)
    other = ApiServer()
    try:
        for elsewhere in (
            Answer({}, 302, {"Location": f"{other.url}/v1/orders"}),
            Answer([{"id": 1}], 200, {"Link": f'<{other.url}/v1/orders>; rel="next"'}),
        ):
            shop.route = functools.partial(_notes, elsewhere)
            with pytest.raises(RefusedError):
                await ask(source, "SELECT count(*) FROM notes WHERE customer_id = 'c0'", tmp_path)
        assert other.received == []
    finally:
        other.close()


async def test_an_id_from_the_data_cannot_climb_out_of_its_path(shop: ShopApi, source: Source, tmp_path: Path) -> None:
    for name in ("../orders", "c0/../../orders", "c0?x=1", "c0%2f", "//evil.example"):
        with pytest.raises(RefusedError):
            await ask(source, f"SELECT * FROM notes WHERE customer_id = '{name}'", tmp_path)


@pytest.mark.parametrize(
    ("location", "code"),
    [
        ("api+ftp://host?document=x", "source_unsupported"),
        ("api+https://host", "api_location_invalid"),
        ("api+https://?document=x", "api_location_invalid"),
        ("api+https://user:pass@host?document=x", "api_location_invalid"),
        ("api+https://host?document=x&token=y", "api_location_invalid"),
        (f"api+https://host?document={DOCUMENT}&secret_env=a-b", "api_location_invalid"),
        ("api+https://host?document=/nowhere.yaml", "source_missing"),
        (f"api+http://elsewhere.example?document={DOCUMENT}", "api_location_invalid"),
        (f"api+https://host?document={DOCUMENT}&secret_env=NOT_SET_ANYWHERE", "api_secret_missing"),
        (f"api+https://host?document={DOCUMENT}&entities=dragons", "api_entity_unknown"),
        (f"api+https://host?document={__file__}", "openapi_invalid"),
        (str(DOCUMENT), "api_base_url_missing"),
    ],
)
async def test_a_location_that_is_wrong_says_why(opened: Open, location: str, code: str) -> None:
    with pytest.raises(AnswerableError) as caught:
        await (await opened(location)).describe()
    assert caught.value.stable_code == code


async def test_a_last_page_that_is_full_is_said(shop: ShopApi, tmp_path: Path, source: Source) -> None:
    shop.route = lambda r: Answer({"data": CUSTOMERS * 8}) if r.path == "/v1/customers" else shop.answer(r)
    _rows, result = await ask(source, "SELECT count(*) FROM customers", tmp_path)
    assert result.live is not None
    assert "may have more rows" in result.live.notes[0]


# Who may do what


POLICY = """
users:
  ana: {roles: [seller]}
roles:
  seller: {actions: [ask, sql]}
rules:
  - {name: see, for: seller, source: shop, allow: true}
  - {name: berlin, for: seller, source: shop, tables: customers, rows: city = 'Berlin'}
  - {name: no-mail, for: seller, source: shop, tables: customers, columns: contact_email, deny: true}
  - {name: no-notes, for: seller, source: shop, tables: notes, deny: true}
"""


async def test_access_rules_cut_rows_and_columns(shop: ShopApi, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "access.yaml").write_text(POLICY)
    ana = Principal(LOCAL.tenant, UserId("ana"))
    settings = Settings(home=home, sources={"shop": shop.location})
    async with app.open_service(settings, any_location=False) as service:
        catalog = await service.sources.describe("shop", ana)
        assert {table.name for table in catalog.tables} == {"customers", "orders", "stock"}
        for sql, expected in (
            ("SELECT name FROM customers WHERE id IN ('c0', 'c1')", (("Ada",),)),
            ("SELECT count(*) FROM orders JOIN customers ON orders.customer_id = customers.id", ((8,),)),
        ):
            answer = await service.questions.ask(QuestionRequest(f"SQL: {sql}", ("shop",)), ana)
            assert answer.rows == expected
        for sql in ("SELECT contact_email FROM customers", "SELECT text FROM notes"):
            answer = await service.questions.ask(QuestionRequest(f"SQL: {sql}", ("shop",)), ana)
            assert answer.status == "refused"


async def test_only_the_operator_adds_an_api(shop: ShopApi, tmp_path: Path) -> None:
    settings = Settings(home=tmp_path / "home")
    async with app.open_service(settings, any_location=False) as service:
        with pytest.raises(RefusedError) as caught:
            await service.sources.add(shop.location, LOCAL)
        assert caught.value.stable_code == "api_source_refused"
        with pytest.raises(RefusedError):
            await service.sources.add_api(str(DOCUMENT), shop.url, LOCAL)
    async with app.open_service(settings, any_location=True) as service:
        added = await service.sources.add_api(
            str(DOCUMENT), shop.url, LOCAL, secret_env="SHOP_TOKEN", entities=["orders"]
        )
        ready = await service.sources.wait(added.name, LOCAL)
        assert (ready.name, ready.kind, ready.state, ready.tables) == ("shop", "api", "ready", 1)
        assert TOKEN not in ready.model_dump_json()
        assert TOKEN not in (tmp_path / "home" / "added-sources.json").read_text()
