"""Forms of candidates: comparisons with other rows and columns, lists of two tables, conditions that stand apart."""

from collections.abc import Callable

import pytest

from answerable.core.catalog import Catalog, Column, Relationship, Table
from answerable.reader import pieces
from answerable.reader.combinations import of_conditions, of_two_tables
from answerable.reader.comparisons import comparing_tests
from answerable.reader.compose import Candidate, Composer
from answerable.reader.draft import ROWS, Condition, Draft, Order, Term
from answerable.reader.link import link
from answerable.reader.normalise import normalise
from answerable.reader.options import gather
from answerable.reader.roles import Roles, assign_roles
from answerable.reader.scene import Scene, lay_out
from answerable.reader.schema import Schema, build_schema
from answerable.reader.shape import grams
from answerable.reader.weights import load_weights

SceneOf = Callable[[str], Scene]


class NoValues:
    def find(self, phrase: str, limit: int = 8) -> list[object]:
        return []


def _number(name: str) -> Column:
    return Column(name=name, type="integer")


@pytest.fixture(scope="module")
def weather() -> Schema:
    station = Table(
        name="station",
        columns=(
            Column(name="id", type="integer", unique=True),
            Column(name="name", type="text", unique=True),
            _number("spring_rain"),
            _number("autumn_rain"),
        ),
        primary_key=("id",),
    )
    ship = Table(
        name="ship",
        columns=(
            Column(name="ship_id", type="integer", unique=True),
            Column(name="name", type="text"),
            _number("home_id"),
            _number("goal_id"),
        ),
        primary_key=("ship_id",),
    )
    ways = tuple(
        Relationship(
            name=f"ship_{column}",
            from_table="ship",
            from_columns=(column,),
            to_table="station",
            to_columns=("id",),
            origin="declared",
        )
        for column in ("home_id", "goal_id")
    )
    return build_schema(Catalog(source="weather", dialect="sqlite", tables=(station, ship), relationships=ways))


def _scene(schema: Schema, text: str) -> Scene:
    question = normalise(text)
    return lay_out(question, schema, link(question, schema, NoValues()))  # type: ignore[arg-type]


def _conditions(scene: Scene) -> list[Condition]:
    roles = Roles([0.9] * len(scene.schema.tables))
    return [test.condition for test in comparing_tests(scene, roles)]


def _candidates(scene: Scene) -> list[Candidate]:
    weights = load_weights()
    roles = assign_roles(scene, weights.roles)
    return Composer(scene, gather(scene, roles), weights.shapes.chances(grams(scene))).candidates()


def _id(schema: Schema, name: str) -> int:
    table, column = name.split(".")
    return schema.column_ids[(table, column)]


@pytest.mark.parametrize(
    ("text", "operator"),
    [
        ("which stations have lower spring rain than autumn rain", "<"),
        ("names of stations whose spring rain is higher than their autumn rain", ">"),
    ],
)
def test_two_columns_are_compared(weather: Schema, text: str, operator: str) -> None:
    spring, autumn = _id(weather, "station.spring_rain"), _id(weather, "station.autumn_rain")
    assert Condition(Term(spring), operator, Term(autumn)) in _conditions(_scene(weather, text))  # type: ignore[arg-type]


@pytest.mark.parametrize("function", ["max", "min"])
def test_more_than_other_rows(scene_of: SceneOf, schema: Schema, function: str) -> None:
    price = _id(schema, "product.price")
    inner = Draft(schema.table_ids["product"], (Term(price, function),))  # type: ignore[arg-type]
    scene = scene_of("products with a price higher than that of all books")
    assert Condition(Term(price), ">", inner) in _conditions(scene)


def test_a_number_is_no_other_row(scene_of: SceneOf) -> None:
    assert _conditions(scene_of("products with a price higher than 30")) == []


@pytest.mark.parametrize(
    ("text", "operators"),
    [
        ("names of the stations and the ships", {"union", "intersect"}),
        ("names of ships that are not names of stations", {"except"}),
    ],
)
def test_one_list_of_two_tables(weather: Schema, text: str, operators: set[str]) -> None:
    draft = Draft(weather.table_ids["ship"], (Term(_id(weather, "ship.name")),))
    found = [one for one, _ in of_two_tables(draft, _scene(weather, text))]
    assert {one.combination.operator for one in found if one.combination} == operators
    right = Draft(weather.table_ids["station"], (Term(_id(weather, "station.name")),))
    assert all(one.combination and one.combination.right == right for one in found)


def test_conditions_on_either_side_of_or_stay_together(scene_of: SceneOf, schema: Schema) -> None:
    scene = scene_of("customers in Berlin older than 40 or in Paris younger than 30")
    city, age = Term(_id(schema, "customer.city")), Term(_id(schema, "customer.age"))
    conditions = [
        (Condition(city, "=", "Berlin"), 2),
        (Condition(age, ">", 40), 5),
        (Condition(city, "=", "Paris"), 8),
        (Condition(age, "<", 30), 11),
    ]
    tests = [pieces.Test(condition, place, place + 1, 0.9) for condition, place in conditions]
    where = tuple((condition,) for condition, _ in conditions)
    draft = Draft(schema.table_ids["customer"], (Term(_id(schema, "customer.name")),), where=where)
    [(found, variant)] = list(of_conditions(draft, tests, scene))
    assert (variant, found.where) == ("union", where[:2])
    assert found.combination is not None
    assert found.combination.right.where == where[2:]


def test_how_many_are_in_the_largest_group(scene_of: SceneOf, schema: Schema) -> None:
    drafts = [one.draft for one in _candidates(scene_of("how many customers are in the city with the most customers"))]
    city = Term(_id(schema, "customer.city"))
    assert any(d.select == (ROWS,) and d.group == (city,) and d.order == (Order(ROWS, True),) for d in drafts)


def test_everything_about_a_table(scene_of: SceneOf, schema: Schema) -> None:
    drafts = [one.draft for one in _candidates(scene_of("show all information about customers"))]
    assert Draft(schema.table_ids["customer"]) in drafts


def test_a_table_that_points_twice_is_joined_either_way(weather: Schema) -> None:
    drafts = [one.draft for one in _candidates(_scene(weather, "names of ships and names of their stations"))]
    ways = {_id(weather, "ship.home_id"), _id(weather, "ship.goal_id")}
    assert any(ways & draft.avoid for draft in drafts)


def test_how_often_is_counted(scene_of: SceneOf, schema: Schema) -> None:
    drafts = [one.draft for one in _candidates(scene_of("which cities occur more than twice among the customers"))]
    city = Term(_id(schema, "customer.city"))
    assert any(d.group == (city,) and d.having == (Condition(ROWS, ">", 2),) for d in drafts)


def test_both_orders_of_two_columns(scene_of: SceneOf, schema: Schema) -> None:
    drafts = [one.draft for one in _candidates(scene_of("list the age and the name of all customers"))]
    name, age = Term(_id(schema, "customer.name")), Term(_id(schema, "customer.age"))
    assert {(age, name), (name, age)} <= {draft.select for draft in drafts}
