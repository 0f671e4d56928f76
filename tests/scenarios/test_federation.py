"""Federation: one question over a folder of CSV files, SQLite, DuckDB and PostgreSQL."""

import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import psycopg
import pytest
from scripted_model import Reply, Request, ScriptedModel

from answerable import Answerable
from answerable.core.errors import AnswerableError, LimitError, SemanticError, UserError

Run = Callable[..., Any]

ORDERS = """order_id,ordered_on,customer_id,product_id,amount
1,2025-01-15,1,10,10.5
2,2025-02-15,1,11,20
3,2025-02-20,2,10,5
4,2024-12-31,3,11,100
5,2025-03-01,,10,7
"""
SHOP = """
relationships:
  - from: orders.customer_id
    to: {source: crm, table: customers, columns: id}
  - from: orders.product_id
    to: {source: stock, table: products, columns: product_id}
"""
PLAN = """
question: What do customers of each country buy?
source: {shop}
steps:
  - {{id: sold, tool: sql, code: "SELECT customer_id, product_id, amount FROM orders"}}
  - {{id: people, tool: sql, source: {crm}, code: "SELECT id, city FROM customers"}}
  - {{id: goods, tool: sql, source: {stock}, code: "SELECT product_id, category FROM products"}}
  - {{id: places, tool: sql, source: "{places}", code: "SELECT city, country FROM cities"}}
  - id: joined
    tool: combine
    after: [sold, people, goods, places]
    code: |
      {sql}
"""
JOINED = (
    "SELECT country, category, sum(amount) AS amount FROM sold JOIN people ON customer_id = id"
    " JOIN goods USING (product_id) JOIN places USING (city) GROUP BY country, category ORDER BY country, category"
)


@dataclass(frozen=True)
class Places:
    shop: str
    crm: str
    stock: str
    cities: str

    def plan(self, sql: str) -> str:
        return PLAN.format(shop=self.shop, crm=self.crm, stock=self.stock, places=self.cities, sql=sql)


@pytest.fixture
def places(tmp_path: Path, postgres_url: str) -> Places:
    folder = tmp_path / "shop"
    folder.mkdir()
    (folder / "orders.csv").write_text(ORDERS)
    (folder / "semantic.yaml").write_text(SHOP)
    with sqlite3.connect(tmp_path / "crm.db") as crm:
        crm.execute("CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT, city TEXT, since TEXT)")
        people = [(1, "Ana", "Berlin", "2020-05-01"), (2, "Bo", "Paris", "2024-06-01"), (3, "Cy", "Rome", "2021-01-01")]
        people.append((4, "Dee", "Oslo", "2022-02-02"))
        crm.executemany("INSERT INTO customers VALUES (?, ?, ?, ?)", people)
    crm.close()
    with duckdb.connect(str(tmp_path / "stock.duckdb")) as stock:
        stock.execute("CREATE TABLE products (product_id INTEGER PRIMARY KEY, product VARCHAR, category VARCHAR)")
        stock.execute("INSERT INTO products VALUES (10, 'Tea', 'Drinks'), (11, 'Cake', 'Food')")
    with psycopg.connect(postgres_url) as cities:
        cities.execute("CREATE TABLE cities (city text PRIMARY KEY, country text)")
        cities.execute("INSERT INTO cities VALUES ('Berlin', 'Germany'), ('Paris', 'France'), ('Rome', 'Italy')")
    database = postgres_url.partition("?")[0].rpartition("/")[2]
    (tmp_path / "crm.semantic.yaml").write_text(
        f"relationships:\n  - from: customers.city\n    to: {{source: {database}, table: cities, columns: city}}\n"
    )
    return Places(
        str(folder), str(tmp_path / "crm.db"), str(tmp_path / "stock.duckdb"), postgres_url.replace(":@", "@")
    )


def test_a_plan_asks_each_source_and_combines(answerable: Run, places: Places, tmp_path: Path) -> None:
    (tmp_path / "plan.yaml").write_text(places.plan(JOINED))
    done = answerable("ask", "--plan", str(tmp_path / "plan.yaml"), "--json")
    assert done.code == 0, done.out + done.err
    assert done.json["rows"] == [
        ["France", "Drinks", 5.0],
        ["Germany", "Drinks", 10.5],
        ["Germany", "Food", 20.0],
        ["Italy", "Food", 100.0],
    ]
    assert [step["kind"] for step in done.json["steps"]] == ["sql", "sql", "sql", "sql", "combine"]
    assert done.json["provenance"]["sources"] == [places.shop, places.crm, places.stock, places.cities]
    assert done.json["provenance"]["data_source_type"] == "sql"
    assert done.json["provenance"]["last_sync"]
    replayed = answerable("replay", done.json["run_id"], "--json")
    assert replayed.json["verdict"] == "same", replayed.out
    assert [step["verdict"] for step in replayed.json["steps"]] == ["same"] * 5


def test_the_plan_of_the_documentation_runs(answerable: Run, places: Places, tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "federation.md").read_text()
    plan = page.partition("```yaml\n# plan.yaml\n")[2].partition("```")[0]
    (tmp_path / "plan.yaml").write_text(plan)
    done = answerable("ask", "--plan", "plan.yaml", "--json")
    assert done.json["rows"] == [["Cy", 100.0], ["Ana", 30.5], ["Bo", 5.0]], done.out


@pytest.mark.parametrize(
    ("sql", "exit_code", "error"),
    [
        ("SELECT * FROM read_csv('/etc/passwd')", 4, "sql_function_refused"),
        ("SELECT * FROM solid", 2, "sql_table_unknown"),
    ],
)
def test_what_combining_may_not_do_is_said(
    answerable: Run, sales: Path, tmp_path: Path, sql: str, exit_code: int, error: str
) -> None:
    steps = f"""
source: {sales}
steps:
  - {{id: sold, tool: sql, code: "SELECT * FROM orders"}}
  - {{id: joined, tool: combine, after: [sold], code: "{sql}"}}
"""
    (tmp_path / "plan.yaml").write_text(steps)
    done = answerable("ask", "--plan", str(tmp_path / "plan.yaml"), "--json")
    assert done.code == exit_code, done.out + done.err
    assert done.json["provenance"]["error"]["code"] == error
    assert done.json["provenance"]["error"]["step"] == "joined"


def test_the_reader_follows_a_declared_relationship(answerable: Run, places: Places) -> None:
    sources = ("--source", places.shop, "--source", places.crm, "--json")
    done = answerable("ask", "total amount per city", *sources)
    assert done.code == 0, done.out + done.err
    assert sorted(done.json["rows"]) == [["Berlin", 30.5], ["Paris", 5.0], ["Rome", 100.0]]
    assert [step["id"] for step in done.json["steps"]] == ["orders", "customers", "combined"]
    assert [step["source"] for step in done.json["steps"]] == [places.shop, places.crm, None]
    assert done.json["provenance"]["sources"] == [places.shop, places.crm]
    assert done.json["provenance"]["mind"] == "reader"
    assert answerable("replay", done.json["run_id"], "--json").json["verdict"] == "same"
    shown = answerable("ask", "total amount per city", "--plan-only", *sources)
    assert "tool: combine" in shown.json["text"]


@pytest.fixture
def asked() -> Iterator[Callable[..., Any]]:
    """`asked(question, source, …)`: the rows, the sources and the steps of an answer, all in this process."""
    opened: list[Answerable] = []

    def asked(question: str, *sources: str) -> Any:
        opened.append(Answerable(*sources))
        return opened[-1].ask(question).answer

    yield asked
    for each in opened:
        each.close()


def test_questions_that_cross_sources(asked: Run, places: Places) -> None:
    everywhere = (places.shop, places.crm, places.stock, places.cities)
    expected: dict[str, list[list[Any]]] = {
        "total amount per category": [["Drinks", 22.5], ["Food", 120.0]],
        "total amount per country": [["France", 5.0], ["Germany", 30.5], ["Italy", 100.0]],
        "how many orders in Germany": [[2]],
        "total amount of orders in 2025 per country": [["France", 5.0], ["Germany", 30.5]],
        "customers with more than one order": [["Ana"]],
        "number of customers per country": [["France", 1], ["Germany", 1], ["Italy", 1]],
    }
    found = {question: asked(question, *everywhere) for question in expected}
    rows = {
        question: sorted([sorted(row, key=lambda cell: isinstance(cell, int | float)) for row in answer.rows])
        for question, answer in found.items()
    }
    assert rows == expected
    assert found["total amount per country"].provenance.sources == (places.shop, places.crm, places.cities)


def test_a_question_about_one_of_them_asks_only_that_one(asked: Run, places: Places) -> None:
    answer = asked("how many customers per city", places.shop, places.crm)
    assert [step.source for step in answer.steps] == [places.crm]
    assert answer.provenance.sources == (places.crm,)


def test_a_chosen_reading_crosses_sources_too(places: Places) -> None:
    with Answerable(places.shop, places.crm) as several:
        asked_back = several.ask("which customers have no orders")
        wanted = "List the name of the customers that have no orders."
        chosen = next(choice.id for choice in asked_back.answer.choices if choice.label == wanted)
        answer = several.ask("which customers have no orders", choice=chosen).answer
    assert answer.rows == (("Dee",),)
    assert [step.kind for step in answer.steps] == ["sql", "sql", "combine"]


def test_times_with_an_offset_are_those_of_utc(asked: Run, places: Places, tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "log.db") as log:
        log.execute("CREATE TABLE visits (customer_id INTEGER, visited_at TEXT)")
        log.execute("INSERT INTO visits VALUES (1, '2025-01-01T01:30:00+02:00'), (1, '2025-01-01 00:30:00')")
    log.close()
    declared = "relationships: [{from: visits.customer_id, to: {source: crm, table: customers, columns: id}}]"
    (tmp_path / "log.semantic.yaml").write_text(declared)
    answer = asked("number of visits per year per city", str(tmp_path / "log.db"), places.crm)
    assert len(answer.steps) == 3, answer
    assert sorted(row[-1] for row in answer.rows) == [1, 1], answer.rows


def test_dates_that_sqlite_keeps_as_text_are_dates(asked: Run, places: Places) -> None:
    answer = asked("total amount per customer since", places.shop, places.crm)
    assert {column.type for column in answer.columns} == {"date", "number"}, answer
    assert sorted(map(list, answer.rows)) == [["2020-05-01", 30.5], ["2021-01-01", 100.0], ["2024-06-01", 5.0]]


def test_only_the_rows_and_columns_that_are_needed_are_fetched(asked: Run, places: Places) -> None:
    answer = asked("total amount in Berlin", places.shop, places.crm)
    assert answer.rows == ((30.5,),)
    orders, customers, _combined = answer.steps
    assert (orders.row_count, customers.row_count) == (5, 1)
    assert [step.rows_in for step in answer.steps] == [5, 4, 6]
    assert "product_id" not in orders.code
    assert "Berlin" in customers.code


def test_sources_without_a_declared_relationship_are_not_joined(asked: Run, places: Places, tmp_path: Path) -> None:
    (tmp_path / "shop" / "semantic.yaml").unlink()
    answer = asked("total amount per city", places.shop, places.crm)
    assert answer.kind == "clarify"
    assert "declare a relationship in semantic.yaml" in answer.text
    assert not any("amount" in choice.label and "city" in choice.label for choice in answer.choices)


@pytest.mark.parametrize(
    ("target", "part"),
    [
        ("{source: crm, table: custs, columns: id}", "line 4, column 5: relationships.0.to: the source 'crm' has no"),
        ("{source: crm, table: customers, columns: ident}", "table 'customers' of 'crm' has no column 'ident'"),
        ("{source: crm, table: customers, columns: name}", "'customer_id' is integer and 'name' is text"),
    ],
)
def test_a_relationship_that_leads_nowhere_is_named_with_its_line(
    asked: Run, places: Places, tmp_path: Path, target: str, part: str
) -> None:
    declared = f"relationships:\n\n  - from: orders.customer_id\n    to: {target}\n"
    (tmp_path / "shop" / "semantic.yaml").write_text(declared)
    with pytest.raises(SemanticError) as caught:
        asked("total amount per city", places.shop, places.crm)
    assert part in caught.value.message
    assert asked("how many orders", places.shop).rows == ((5,),)


def test_too_many_rows_to_fetch_are_a_limit(asked: Run, places: Places, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANSWERABLE_QUERY_ROWS", "4")
    with pytest.raises(LimitError) as caught:
        asked("total amount per city", places.shop, places.crm)
    assert caught.value.stable_code == "result_rows"


def test_a_query_joins_tables_of_several_sources(asked: Run, places: Places) -> None:
    sql = (
        "SELECT country, sum(amount) AS amount FROM shop.orders JOIN crm.customers c ON c.id = orders.customer_id"
        " JOIN cities USING (city) WHERE c.since < DATE '2024-01-01' GROUP BY country ORDER BY country"
    )
    answer = asked(f"SQL: {sql}", places.shop, places.crm, places.cities)
    assert answer.rows == (("Germany", 30.5), ("Italy", 100.0)), answer.text
    assert [step.kind for step in answer.steps] == ["sql", "sql", "sql", "combine"]
    alone = asked("SQL: SELECT count(*) AS n FROM customers", places.shop, places.crm)
    assert (alone.rows, alone.provenance.sources) == (((4,),), (places.crm,))
    with pytest.raises(AnswerableError) as caught:
        asked("how many orders", *map(str, range(11)))
    assert caught.value.stable_code == "sources_too_many"


def test_a_program_finds_its_tables_in_several_sources(asked: Run, places: Places, tmp_path: Path) -> None:
    code = "PYTHON: result = orders.join(customers, left_on='customer_id', right_on='id')['city'].n_unique()"
    answer = asked(code, places.shop, places.crm)
    assert answer.rows == ((3,),), answer.text
    assert answer.provenance.sources == (places.shop, places.crm)
    (tmp_path / "customers.csv").write_text("id,score\n1,5\n")
    with pytest.raises(UserError) as caught:
        asked("PYTHON: result = customers.height", places.crm, str(tmp_path / "customers.csv"))
    assert (caught.value.stable_code, caught.value.hint) == (
        "table_ambiguous",
        "Write crm_customers or customers_customers.",
    )


def test_tables_of_the_same_name_are_told_apart(asked: Run, places: Places, tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "old.db") as old:
        old.execute("CREATE TABLE customers (id INTEGER PRIMARY KEY, nickname TEXT)")
        old.execute("INSERT INTO customers VALUES (1, 'A'), (2, 'B')")
    old.close()
    answer = asked("how many old customers", places.crm, str(tmp_path / "old.db"))
    assert answer.rows == ((2,),), answer
    assert answer.provenance.sources == (str(tmp_path / "old.db"),)
    unclear = asked("how many customers", places.crm, str(tmp_path / "old.db"))
    assert unclear.kind == "clarify"
    assert [choice.label for choice in unclear.choices] == ["Count the crm customers.", "Count the old customers."]


def test_a_model_is_told_of_every_source_and_its_steps_are_combined(
    answerable: Run, places: Places, scripted_model: ScriptedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANSWERABLE_MODEL", "compatible:scripted")
    monkeypatch.setenv("ANSWERABLE_MODEL_BASE_URL", scripted_model.base_url)
    steps = [
        {"id": "sold", "tool": "sql", "source": "shop", "context": "customer_id and amount of every order"},
        {"id": "people", "tool": "sql", "source": "crm", "context": "id and name of every customer"},
        {"id": "joined", "tool": "combine", "context": "spread of amount by name", "after": ["sold", "people"]},
    ]
    written = {
        "every order": ["SELECT customer_id, amount FROM orders"],
        "every customer": ["SELECT id, name FROM customers"],
        "spread of amount": [
            "SELECT name FROM people JOIN solid USING (id)",
            "SELECT name, max(amount) - min(amount) AS spread FROM sold JOIN people ON customer_id = id GROUP BY name",
        ],
    }

    def answer(request: Request) -> Reply:
        if "You plan how" in request.text:
            return Reply.object({"reasoning": "How far the amounts of each customer lie apart.", "steps": steps})
        if "You put an answer into words" in request.text:
            return Reply.object({"text": "Ana varies most."})
        (task,) = [task for task in written if f"{task}" in request.text]
        return Reply.object({"sql": written[task].pop(0), "reasoning": "as asked"})

    scripted_model.script(answer)
    asked = ("ask", "whose purchases zigzag most wildly?", "--mode", "plan", "--json")
    done = answerable(*asked, "--source", places.shop, "--source", places.crm)
    assert done.code == 0, done.out + done.err
    assert sorted(done.json["rows"]) == [["Ana", 9.5], ["Bo", 0.0], ["Cy", 0.0]]
    assert done.json["provenance"]["sources"] == [places.shop, places.crm]
    planning = scripted_model.requests[0].text
    assert r"source \"shop\", in the SQL of " in planning
    assert r"source \"crm\", in the SQL of " in planning
    assert r"rows of \"shop\" and \"crm\" belong together by" in planning
    assert str(Path(places.crm).parent) not in planning
    assert any("no table 'solid'" in request.text for request in scripted_model.requests)


def test_a_model_explores_several_sources_together(
    answerable: Run, places: Places, scripted_model: ScriptedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANSWERABLE_MODEL", "compatible:scripted")
    monkeypatch.setenv("ANSWERABLE_MODEL_BASE_URL", scripted_model.base_url)
    joined = "SELECT city, sum(amount) AS amount FROM shop.orders JOIN crm.customers c ON c.id = customer_id GROUP BY 1"
    count = {"entity": "customers", "select": [{"expr": {"kind": "aggregate", "function": "count"}, "label": "n"}]}
    scripted_model.script(
        [
            Reply.tool_call("get_dataset_schema", {"dataset": "crm"}),
            Reply.tool_call("execute_sql", {"name": "bad", "sql": "SELECT * FROM crm.people"}),
            Reply.tool_call("execute_query_plan", {"name": "all", "plan": count}),
            Reply.tool_call("execute_sql", {"name": "cities", "sql": joined}),
            Reply.object({"show": "cities", "text": "Rome bought most."}),
        ]
    )
    both = ("--source", places.shop, "--source", places.crm)
    done = answerable("ask", "where do we sell most?", "--mode", "react", *both, "--json")
    assert sorted(done.json["rows"]) == [["Berlin", 30.5], ["Paris", 5.0], ["Rome", 100.0]], done.out + done.err
    ids = [(step["id"], step["source"]) for step in done.json["steps"]]
    fetched = [("cities__orders", places.shop), ("cities__customers", places.crm)]
    assert ids == [*fetched, ("all", places.crm), ("cities", None)]
    told = scripted_model.requests[0].text
    assert 'source \\"shop\\", in the SQL of duckdb' in told
    assert 'rows of \\"shop\\" and \\"crm\\" belong together by' in told
    assert 'table "customers"' in scripted_model.requests[1].last("tool")
    assert "The source 'crm' has no table 'people'" in scripted_model.requests[2].last("tool")
