import re
from contextlib import suppress
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from answerable.core.catalog import Catalog, Column, Relationship, Table, ValueName
from answerable.core.errors import SemanticError
from answerable.core.values import ColumnType
from answerable.sources.semantic import Semantic, apply, dump, load, parse

ROOT = Path(__file__).parents[2]
WRONG = sorted((ROOT / "tests" / "fixtures" / "semantic" / "wrong").glob("*.yaml"))


def table(called: str, /, **columns: ColumnType) -> Table:
    return Table(name=called, columns=tuple(Column(name=c, type=t) for c, t in columns.items()), primary_key=("id",))


def relationship(from_column: str) -> Relationship:
    return Relationship(
        name=f"orders.{from_column} -> customers.id",
        from_table="orders",
        from_columns=(from_column,),
        to_table="customers",
        to_columns=("id",),
        origin="inferred",
        confidence=0.7,
    )


SHOP = Catalog(
    source="shop",
    dialect="duckdb",
    tables=(
        table("orders", id="integer", customer_id="integer", amount="number", status="text"),
        table("customers", id="integer", name="text"),
    ),
    relationships=(relationship("customer_id"),),
)


def applied(text: str, catalog: Catalog = SHOP) -> Catalog:
    return apply(catalog, parse(text))


# What is right


def documented() -> str:
    return str(re.findall(r"```yaml\n(.*?)```", (ROOT / "docs" / "semantic.md").read_text("utf-8"), re.DOTALL)[0])


def test_the_documented_example() -> None:
    keys: dict[str, ColumnType] = {"year": "integer", "no": "integer", "cust_no": "integer", "qty": "integer"}
    guess = relationship("qty").model_copy(
        update={"from_table": "ord", "to_table": "cust", "to_columns": ("no",), "name": "ord.qty -> cust.no"}
    )
    catalog = Catalog(
        source="s",
        dialect="sqlite",
        tables=(
            Table(name="tmp_import", columns=(Column(name="x", type="text"),)),
            table("cust", no="integer", nm="text", stat="text", ssn="text"),
            table("ord", **keys, amt="number", disc="number"),
            table("shipment", ord_year="integer", ord_no="integer"),
        ),
        relationships=(guess,),
    )
    result = applied(documented(), catalog)
    assert [t.name for t in result.tables] == ["cust", "ord", "shipment"]
    assert [c.name for c in result.tables[0].columns] == ["no", "nm", "stat"]
    assert [(m.name, m.expression) for m in result.measures] == [
        ("revenue", 'SUM("amt" * (1 - "disc"))'),
        ("average order", 'SUM("amt") / COUNT(*)'),
    ]
    assert [r.name for r in result.relationships] == ["ord.cust_no -> cust.no", "shipment of an order"]
    assert result.relationships[1].from_columns == ("ord_year", "ord_no")
    assert [(link.from_table, link.to_source, link.to_table) for link in result.links] == [("ord", "crm", "accounts")]
    assert result.warnings == ()


def test_a_relationship_with_another_source_is_kept_apart() -> None:
    text = """
relationships:
  - {from: Orders.Customer_ID, to: {source: crm, table: People, columns: Id}, synonyms: bought by}
  - {from: {source: crm, table: calls, columns: customer}, to: customers.id, name: caller}
"""
    result = applied(text)
    assert result.relationships == SHOP.relationships
    out, back = result.links
    assert (out.name, out.from_columns, out.to_columns) == (
        "orders.customer_id -> People.Id",
        ("customer_id",),
        ("Id",),
    )
    assert (out.from_source, out.to_source, out.synonyms) == (None, "crm", ("bought by",))
    assert out.written_at == "semantic.yaml, line 3, column 32: relationships.0.to"
    assert (back.name, back.from_source, back.to_source, back.to_table) == ("caller", "crm", None, "customers")
    hidden = applied(text + "tables: {orders: {hidden: true}}\n")
    assert [link.name for link in hidden.links] == ["caller"]


def test_names_are_laid_over_tables_and_columns() -> None:
    result = applied(
        """
        tables:
          Orders:
            label: Purchases
            synonyms: [sales, no, 2024]
            description: What was bought.
            columns:
              AMOUNT: {label: total, synonyms: sum, unit: EUR, description: Before tax.}
              status: {values: {A: [active, live], C: closed}}
        """
    )
    orders = result.tables[0]
    assert (orders.label, orders.synonyms, orders.description) == (
        "Purchases",
        ("sales", "no", "2024"),
        "What was bought.",
    )
    amount, status = orders.columns[2:]
    assert (amount.name, amount.label, amount.synonyms, amount.unit) == ("amount", "total", ("sum",), "EUR")
    assert status.value_names == (
        ValueName(value="A", synonyms=("active", "live")),
        ValueName(value="C", synonyms=("closed",)),
    )
    assert result.tables[1] == SHOP.tables[1]


def test_what_the_source_knows_stays_when_nothing_else_is_said() -> None:
    described = SHOP.tables[0].model_copy(update={"label": "Orders", "description": "From the database."})
    catalog = SHOP.model_copy(update={"tables": (described, SHOP.tables[1])})
    result = applied("tables: {orders: {synonyms: [sales]}}", catalog).tables[0]
    assert (result.label, result.description, result.synonyms) == ("Orders", "From the database.", ("sales",))


def test_hidden_things_take_their_relationships_and_keys_along() -> None:
    result = applied("tables: {customers: {columns: {id: {hidden: true}}}}")
    assert [c.name for c in result.tables[1].columns] == ["name"]
    assert result.tables[1].primary_key == ()
    assert result.relationships == ()
    assert [t.name for t in applied("tables: {orders: {hidden: true}}").tables] == ["customers"]


def test_a_relationship_that_is_written_replaces_the_guess() -> None:
    [found] = applied(
        "relationships: [{name: buyer, from: orders.customer_id, to: customers.id, synonyms: bought by}]"
    ).relationships
    assert (found.name, found.origin, found.confidence, found.synonyms) == ("buyer", "semantic", 1.0, ("bought by",))


def test_a_guess_can_be_hidden_and_another_added() -> None:
    result = applied(
        """
        relationships:
          - {from: orders.customer_id, to: customers.id, hidden: true}
          - {from: orders.id, to: {table: customers, columns: id}}
        """
    )
    assert [r.name for r in result.relationships] == ["orders.id -> customers.id"]


def test_columns_of_measures_are_spelt_as_in_the_table() -> None:
    [measure] = applied("measures: {revenue: {table: ORDERS, expression: sum(Amount), unit: EUR}}").measures
    assert (measure.table, measure.expression, measure.unit) == ("orders", 'SUM("amount")', "EUR")


def test_the_day_to_count_from() -> None:
    assert applied("as_of: 2025-12-31").as_of == date(2025, 12, 31)
    assert parse(dump(parse("as_of: 2025-12-31"))).as_of == date(2025, 12, 31)


def test_a_synonym_of_two_things_is_told() -> None:
    result = applied(
        """
        tables:
          orders: {synonyms: [sales], columns: {amount: {synonyms: [Sáles, volume]}}}
        measures:
          revenue: {table: orders, expression: sum(amount), synonyms: [volume, income]}
        """
    )
    assert [(w.subject, w.message) for w in result.warnings] == [
        ("sales", "this synonym means 2 things: table orders, column orders.amount"),
        ("volume", "this synonym means 2 things: column orders.amount, measure revenue"),
    ]


@pytest.mark.parametrize("text", ["", "# nothing\n", "null", "tables:\n", "{}", "tables:\n  orders:\n", "\ufeff{}"])
def test_empty_files_change_nothing(text: str) -> None:
    assert applied(text.removeprefix("\ufeff")) == SHOP


# There and back again


def test_what_is_written_reads_back_the_same() -> None:
    semantic = parse(documented())
    assert parse(dump(semantic)) == semantic
    assert dump(parse(dump(semantic))) == dump(semantic)


texts = st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=12).filter(
    lambda t: t.strip() == t
)


@given(st.dictionaries(texts, st.tuples(texts, st.lists(texts, max_size=3), st.booleans()), max_size=3))
def test_any_text_survives_being_written(tables: dict[str, tuple[str, list[str], bool]]) -> None:
    semantic = Semantic.model_validate(
        {
            "tables": {
                name: {"label": label, "synonyms": synonyms, "hidden": hidden, "columns": {label: {"unit": name}}}
                for name, (label, synonyms, hidden) in tables.items()
            }
        }
    )
    assert parse(dump(semantic)) == semantic


# What is wrong


@pytest.mark.parametrize("path", WRONG, ids=lambda path: path.stem)
def test_mistakes_are_named_with_their_place(path: Path) -> None:
    lines = path.read_text("utf-8").splitlines()
    expected = lines[0].removeprefix("# error: ")
    hint = lines[1].removeprefix("# hint: ") if lines[1].startswith("# hint: ") else None
    with pytest.raises(SemanticError) as raised:
        apply(SHOP, load(path))
    assert raised.value.message == f"{path.name}, {expected}"
    assert hint is None or raised.value.hint == hint
    assert raised.value.details["file"] == path.name


def test_a_file_that_is_not_text(tmp_path: Path) -> None:
    path = tmp_path / "semantic.yaml"
    path.write_bytes(b"tables:\n  orders: {label: caf\xe9}\n")
    with pytest.raises(SemanticError, match=r"semantic\.yaml, line 2, column 1: this is not UTF-8 text"):
        load(path)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(SemanticError, match=r"semantic\.yaml cannot be read: No such file"):
        load(tmp_path / "semantic.yaml")
    with pytest.raises(SemanticError, match="cannot be read"):
        load(tmp_path)


def test_a_file_that_is_too_large(tmp_path: Path) -> None:
    path = tmp_path / "semantic.yaml"
    path.write_text("# " + "x" * 1_000_000, "utf-8")
    with pytest.raises(SemanticError, match="larger than 1,000,000 characters"):
        load(path)


@pytest.mark.parametrize("text", ["\x00", "\x07: a", "tables: {\ud800: a}"])
def test_characters_that_yaml_does_not_allow(text: str) -> None:
    with pytest.raises(SemanticError, match="not valid YAML"):
        parse(text)


@given(st.text(st.characters(codec="utf-8"), max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    with suppress(SemanticError):
        applied(text)
