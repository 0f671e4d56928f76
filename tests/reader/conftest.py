"""A small shop as a catalog, with a value index over a handful of values."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date

import pytest
from tests.reader.small_databases import SmallDatabase, opened_databases

from answerable.core.catalog import Catalog, Column, Measure, Relationship, Table, ValueHit
from answerable.core.words import normalise as normal
from answerable.core.words import stemmed
from answerable.reader.linking.links import link
from answerable.reader.linking.scene import Scene, build_scene
from answerable.reader.linking.schema import Schema, build_schema
from answerable.reader.linking.tokens import tokenize


class ListedValues:
    """Finds a phrase among listed values: the same text, or the same stems."""

    def __init__(self, values: Mapping[tuple[str, str], Sequence[str]]) -> None:
        self._values = values

    def find(self, phrase: str, limit: int = 8, least: float = 0.0) -> list[ValueHit]:
        hits = []
        for (table, column), texts in self._values.items():
            for text in texts:
                score = (
                    1.0
                    if normal(text) == normal(phrase)
                    else 0.9
                    if stemmed(normal(text)) == stemmed(normal(phrase))
                    else 0
                )
                if score and score >= least:
                    hits.append(ValueHit(table=table, column=column, value=text, score=score))
        return sorted(hits, key=lambda hit: -hit.score)[:limit]


def _table(name: str, *columns: Column, key: str = "id", rows: int = 100) -> Table:
    return Table(name=name, columns=columns, primary_key=(key,), row_count=rows)


def _key(name: str = "id") -> Column:
    return Column(name=name, type="integer", unique=True, nullable=False)


@pytest.fixture(scope="session")
def shop() -> Catalog:
    customer = _table(
        "customer",
        _key(),
        Column(name="name", type="text", unique=True),
        Column(name="city", type="text", examples=("Berlin", "Paris")),
        Column(name="age", type="integer", minimum=18, maximum=90),
    )
    orders = _table(
        "orders",
        _key(),
        Column(name="customer_id", type="integer"),
        Column(name="order_date", type="date"),
        Column(name="status", type="text", examples=("Open", "Returned")),
    )
    product = _table(
        "product",
        _key(),
        Column(name="product_name", type="text", unique=True),
        Column(name="price", type="number", minimum=1, maximum=900),
        Column(name="category", type="text", synonyms=("department",)),
    )
    line = _table(
        "order_line",
        Column(name="order_id", type="integer"),
        Column(name="product_id", type="integer"),
        Column(name="amount", type="number"),
        key="order_id",
    )
    links = (
        ("orders", "customer_id", "customer"),
        ("order_line", "order_id", "orders"),
        ("order_line", "product_id", "product"),
    )
    relationships = tuple(
        Relationship(
            name=f"{table}_{column}",
            from_table=table,
            from_columns=(column,),
            to_table=to,
            to_columns=("id",),
            origin="declared",
        )
        for table, column, to in links
    )
    revenue = Measure(name="revenue", table="order_line", expression="sum(amount)", synonyms=("sales", "turnover"))
    return Catalog(
        source="shop",
        dialect="sqlite",
        tables=(customer, orders, product, line),
        relationships=relationships,
        measures=(revenue,),
    )


@pytest.fixture(scope="session")
def values() -> ListedValues:
    return ListedValues(
        {
            ("customer", "city"): ("Berlin", "Paris", "New York"),
            ("customer", "name"): ("Ada Lovelace", "Alan Turing"),
            ("orders", "status"): ("Open", "Returned"),
            ("product", "category"): ("Books", "Toys"),
        }
    )


@pytest.fixture(scope="session")
def schema(shop: Catalog, values: ListedValues) -> Schema:
    return build_schema(shop, values)


@pytest.fixture(scope="session")
def scene_of(schema: Schema, values: ListedValues) -> Callable[[str], Scene]:
    def make(text: str) -> Scene:
        question = tokenize(text)
        return build_scene(question, schema, link(question, schema, values))

    return make


@pytest.fixture
def today() -> Callable[[], date]:
    return lambda: date(2025, 6, 15)


@pytest.fixture(scope="session")
def small_databases(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, SmallDatabase]]:
    with opened_databases(tmp_path_factory.mktemp("small_databases")) as databases:
        yield databases
