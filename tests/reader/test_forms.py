"""Forms of candidates: comparisons with other rows and columns, lists of two tables, conditions that stand apart."""

from collections.abc import Callable

import pytest

from answerable.core.catalog import Catalog, Column, Relationship, Table, ValueHit
from answerable.reader.candidates.compose import compose_candidates, find_options
from answerable.reader.candidates.composition import (
    Candidate,
    ClauseOptions,
    Composition,
    ConditionOption,
    composition_of,
)
from answerable.reader.candidates.roles import COLUMN_ROLES, Roles, ValueUse, assign_roles
from answerable.reader.candidates.shape import PARTS, grams
from answerable.reader.candidates.variants import conditions_apart, list_of_two_tables, related_rows
from answerable.reader.candidates.where_clause import comparing_tests
from answerable.reader.linking.links import link
from answerable.reader.linking.scene import Scene, build_scene
from answerable.reader.linking.schema import Schema, build_schema
from answerable.reader.linking.tokens import tokenize
from answerable.reader.plans.draft import ROWS, Draft, DraftCondition, DraftOrder, Term
from answerable.reader.weights import load_weights

SceneOf = Callable[[str], Scene]


class NoValues:
    def find(self, phrase: str, limit: int = 8, least: float = 0.0) -> list[object]:
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
    visit = Table(
        name="visit",
        columns=(
            Column(name="visit_id", type="integer", unique=True),
            _number("ship_id"),
            _number("passengers"),
            Column(name="delayed", type="text", examples=("No", "Yes")),
        ),
        primary_key=("visit_id",),
    )
    border = Table(name="border", columns=(_number("first_id"), _number("second_id")))
    ways += tuple(
        Relationship(
            name=f"border_{column}",
            from_table="border",
            from_columns=(column,),
            to_table="station",
            to_columns=("id",),
            origin="declared",
        )
        for column in ("first_id", "second_id")
    )
    tables = (station, ship, visit, border)
    return build_schema(Catalog(source="weather", dialect="sqlite", tables=tables, relationships=ways))


def _scene(schema: Schema, text: str) -> Scene:
    question = tokenize(text)
    return build_scene(question, schema, link(question, schema, NoValues()))  # type: ignore[arg-type]


def _conditions(scene: Scene) -> list[DraftCondition]:
    roles = Roles([0.9] * len(scene.schema.tables))
    return [test.condition for test in comparing_tests(scene, roles)]


def _composition(scene: Scene) -> Composition:
    """Without options: enough for variants, which look at the draft and the scene."""
    no_options = ClauseOptions([], [], [], [], [], [0.0] * len(scene.schema.tables), [])
    return composition_of(scene, no_options, {part: {} for part in PARTS})


def _candidates(scene: Scene) -> list[Candidate]:
    weights = load_weights()
    roles = assign_roles(scene, weights.roles)
    return compose_candidates(scene, roles, weights.shapes.chances(grams(scene)))


def _unsure(scene: Scene) -> Roles:
    return Roles([0.9] * len(scene.schema.tables), columns={role: {} for role in COLUMN_ROLES})


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
    assert DraftCondition(Term(spring), operator, Term(autumn)) in _conditions(_scene(weather, text))  # type: ignore[arg-type]


@pytest.mark.parametrize("function", ["max", "min"])
def test_more_than_other_rows(scene_of: SceneOf, schema: Schema, function: str) -> None:
    price = _id(schema, "product.price")
    inner = Draft(schema.table_ids["product"], (Term(price, function),))  # type: ignore[arg-type]
    scene = scene_of("products with a price higher than that of all books")
    assert DraftCondition(Term(price), ">", inner) in _conditions(scene)


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
    found = [one for one, _ in list_of_two_tables(draft, (), _composition(_scene(weather, text)))]
    assert {one.combination.operator for one in found if one.combination} == operators
    right = Draft(weather.table_ids["station"], (Term(_id(weather, "station.name")),))
    assert all(one.combination and one.combination.right == right for one in found)


def test_conditions_on_either_side_of_or_stay_together(scene_of: SceneOf, schema: Schema) -> None:
    scene = scene_of("customers in Berlin older than 40 or in Paris younger than 30")
    city, age = Term(_id(schema, "customer.city")), Term(_id(schema, "customer.age"))
    conditions = [
        (DraftCondition(city, "=", "Berlin"), 2),
        (DraftCondition(age, ">", 40), 5),
        (DraftCondition(city, "=", "Paris"), 8),
        (DraftCondition(age, "<", 30), 11),
    ]
    tests = [ConditionOption(condition, place, place + 1, 0.9) for condition, place in conditions]
    where = tuple((condition,) for condition, _ in conditions)
    draft = Draft(schema.table_ids["customer"], (Term(_id(schema, "customer.name")),), where=where)
    [(found, variant)] = list(conditions_apart(draft, tuple(tests), _composition(scene)))
    assert (variant, found.where) == ("union", where[:2])
    assert found.combination is not None
    assert found.combination.right.where == where[2:]


def test_how_many_are_in_the_largest_group(scene_of: SceneOf, schema: Schema) -> None:
    drafts = [one.draft for one in _candidates(scene_of("how many customers are in the city with the most customers"))]
    city = Term(_id(schema, "customer.city"))
    assert any(d.select == (ROWS,) and d.group == (city,) and d.order == (DraftOrder(ROWS, True),) for d in drafts)


def test_everything_about_a_table(scene_of: SceneOf, schema: Schema) -> None:
    drafts = [one.draft for one in _candidates(scene_of("show all information about customers"))]
    assert Draft(schema.table_ids["customer"]) in drafts


def test_a_table_that_points_twice_is_joined_either_way(weather: Schema) -> None:
    drafts = [one.draft for one in _candidates(_scene(weather, "names of ships and names of their stations"))]
    ways = {_id(weather, "ship.home_id"), _id(weather, "ship.goal_id")}
    assert any(ways & draft.avoid for draft in drafts)


@pytest.mark.parametrize("often", ["twice", "2 times"])
def test_how_often_is_counted(scene_of: SceneOf, often: str) -> None:
    scene = scene_of(f"customers that were seen more than {often}")
    roles = _unsure(scene)
    roles.number_roles = {place: {"where": 0.9, "having": 0.0, "limit": 0.0} for place in scene.numbers}
    assert [having.condition for having in find_options(scene, roles).havings] == [DraftCondition(ROWS, ">", 2)]


def test_both_orders_of_two_columns(scene_of: SceneOf, schema: Schema) -> None:
    drafts = [one.draft for one in _candidates(scene_of("list the age and the name of all customers"))]
    name, age = Term(_id(schema, "customer.name")), Term(_id(schema, "customer.age"))
    assert {(age, name), (name, age)} <= {draft.select for draft in drafts}


def test_a_chain_of_one_relation(weather: Schema) -> None:
    first, second = Term(_id(weather, "border.first_id")), Term(_id(weather, "border.second_id"))
    border = weather.table_ids["border"]
    scene = _scene(weather, "what borders those that border station 3")
    draft = Draft(border, (second,), where=((DraftCondition(first, "=", 3),),))
    inner = Draft(border, (second,), where=((DraftCondition(first, "=", 3),),))
    found = [one for one, _ in related_rows(draft, (), _composition(scene))]
    assert draft._replace(where=((DraftCondition(first, "in", inner),),)) in found


def test_a_chain_that_the_rows_themselves_belong_to(weather: Schema) -> None:
    station, border = weather.table_ids["station"], weather.table_ids["border"]
    first, second = Term(_id(weather, "border.first_id")), Term(_id(weather, "border.second_id"))
    scene = _scene(weather, "names of stations that border stations that border station 3")
    step = Draft(border, (second,), where=((DraftCondition(first, "=", 3),),))
    key = Term(_id(weather, "station.id"))
    draft = Draft(station, (Term(_id(weather, "station.name")),), where=((DraftCondition(key, "in", step),),))
    found = [one for one, _ in related_rows(draft, (), _composition(scene))]
    chained = step._replace(where=((DraftCondition(first, "in", step),),))
    assert draft._replace(where=((DraftCondition(key, "in", chained),),)) in found


def test_names_in_descending_order(weather: Schema) -> None:
    name = Term(_id(weather, "ship.name"))
    drafts = [one.draft for one in _candidates(_scene(weather, "What are the names of ships in descending order?"))]
    assert drafts[0].select == (name,)
    assert drafts[0].order == (DraftOrder(name, True),)


def test_what_is_contained_may_be_rows(weather: Schema) -> None:
    assert _scene(weather, "stations that do not contain any ships").rivals == {}
    assert _scene(weather, "stations that contain ships").rivals == {}
    words = {value.value for value in _scene(weather, "names of ships that contain bo").links.values}
    assert words == {"bo"}


def test_parts_that_do_not_go_together_leave_room_for_others(weather: Schema) -> None:
    asked = "total spring rain and autumn rain of all stations sorted by the total rain in ascending order"
    assert _candidates(_scene(weather, asked))


def test_what_is_said_of_related_rows(weather: Schema) -> None:
    station = weather.table_ids["station"]
    key, name = Term(_id(weather, "station.id")), Term(_id(weather, "station.name"))
    order = (DraftOrder(Term(_id(weather, "station.spring_rain")), True),)
    scene = _scene(weather, "names of stations that border the station with the most spring rain")
    draft = Draft(station, (name,), order=order, limit=1)
    [(found, _), *_] = related_rows(draft, (), _composition(scene))
    [[condition]] = found.where
    assert (condition.left, condition.operator) == (key, "in")
    assert isinstance(condition.right, Draft)
    [[step]] = condition.right.where
    assert step.right == Draft(station, (key,), order=order, limit=1)


@pytest.mark.parametrize(
    ("text", "answer"), [("visits that were delayed", "Yes"), ("visits that were not delayed", "No")]
)
def test_columns_of_yes_and_no(weather: Schema, text: str, answer: str) -> None:
    wanted = DraftCondition(Term(_id(weather, "visit.delayed")), "=", answer)
    scene = _scene(weather, text)
    options = find_options(scene, assign_roles(scene, load_weights().roles))
    assert wanted in [test.condition for phrase in options.tests for test in phrase]


def test_numbers_that_a_column_holds_are_added_up(weather: Schema) -> None:
    drafts = [one.draft for one in _candidates(_scene(weather, "how many passengers are there"))]
    assert (Term(_id(weather, "visit.passengers"), "sum"),) in {draft.select for draft in drafts}


def test_the_largest_by_a_number_that_is_not_named(scene_of: SceneOf, schema: Schema) -> None:
    drafts = [one.draft for one in _candidates(scene_of("which is the greatest product"))]
    price = Term(_id(schema, "product.price"))
    assert any(order == DraftOrder(price, True) for draft in drafts for order in draft.order)


def test_a_column_called_like_a_key_points_there(weather: Schema) -> None:
    edges = weather.edges[weather.table_ids["visit"]]
    assert [edge.end for edge in edges] == [weather.table_ids["ship"]]


def test_a_quoted_name_in_two_columns(weather: Schema) -> None:
    class Names:
        def find(self, phrase: str, limit: int = 8, least: float = 0.0) -> list[ValueHit]:
            table = {"Ada": ("ship", "name"), "Byron": ("station", "name")}.get(phrase)
            return [ValueHit(table=table[0], column=table[1], value=phrase, score=1.0)] if table else []

    question = tokenize('names of ships called "Ada Byron"')
    scene = build_scene(question, weather, link(question, weather, Names()))
    roles = _unsure(scene)
    uses = [value for rivals in scene.rivals.values() for value in rivals]
    roles.values = [ValueUse(0.2 if value.score else 0.9, value) for value in uses]
    options = find_options(scene, roles)
    said = {test.condition.right for phrase in options.tests for test in phrase}
    assert {"Ada", "Byron"} <= said
    assert "Ada Byron" not in said
