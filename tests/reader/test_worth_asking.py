"""What is worth asking back: few readings, really different, none that nobody would mean."""

import pytest
from tests.reader.small_databases import SmallDatabase

from answerable.answers.answer import Binding
from answerable.core.catalog import Catalog, Column, Relationship, Table
from answerable.query.plan import Aggregate, ColumnRef, Compare, Constant, Expr, OrderItem, QueryPlan, SelectItem
from answerable.query.plan import ScalarQuery as Nested
from answerable.reader.explaining.brief_answer import brief_answer
from answerable.reader.ranking.choices import UnusedPhrase, answered_or_asked, choices_of, sensible
from answerable.reader.reading import Read, Reading, Unsure

CATALOG = Catalog(
    source="weather",
    dialect="sqlite",
    tables=(
        Table(
            name="days",
            primary_key=("day_id",),
            columns=(
                Column(name="day_id", type="integer", unique=True, minimum=1, maximum=900),
                Column(name="station_id", type="integer", minimum=1, maximum=9),
                Column(name="weather", type="text", examples=("rain", "sun")),
                Column(name="wind", type="number", minimum=0, maximum=20),
                Column(name="quantity", type="integer", minimum=1, maximum=100),
                Column(name="name", type="text"),
            ),
        ),
        Table(name="stations", primary_key=("station_id",), columns=(Column(name="station_id", type="integer"),)),
    ),
    relationships=(
        Relationship(
            name="station",
            from_table="days",
            from_columns=("station_id",),
            to_table="stations",
            to_columns=("station_id",),
            origin="declared",
        ),
    ),
)
COUNT = Aggregate(function="count")


def of(column: str) -> ColumnRef:
    return ColumnRef(table="days", column=column)


def is_(column: str, value: str | int) -> Compare:
    return Compare(left=of(column), op="=", right=Constant(value=value))


def reading(*shown: Expr, bindings: tuple[Binding, ...] = (), **parts: object) -> Reading:
    plan = QueryPlan.model_validate(
        {"entity": "days", "select": tuple(SelectItem(expr=expr) for expr in shown), **parts}
    )
    return Reading(plan=plan, sentence="", confidence=0.9, bindings=bindings, sql=plan.model_dump_json())


GOOD = reading(COUNT)


@pytest.mark.parametrize(
    "absurd",
    [
        reading(Aggregate(function="sum", of=of("day_id"))),
        reading(Aggregate(function="avg", of=of("station_id"))),
        reading(COUNT, where=is_("weather", "2014")),
        reading(COUNT, where=is_("quantity", 2025)),
        reading(COUNT, where=is_("station_id", 5)),
        reading(of("day_id")),
        reading(of("station_id")),
        reading(of("weather"), where=is_("weather", "rain")),
        reading(of("weather"), Aggregate(function="count", of=of("weather"), distinct=True), group_by=(of("weather"),)),
        reading(of("wind"), COUNT, group_by=(of("wind"),)),
    ],
    ids=lambda one: one.plan.model_dump_json(exclude_defaults=True)[:80],
)
def test_what_nobody_means_is_not_offered(absurd: Reading) -> None:
    assert sensible([GOOD, absurd], ["how", "many"], CATALOG) == (GOOD,)


def test_what_rows_are_called_by_is_neither_added_up_nor_ranked() -> None:
    flights = Table(
        name="flights_jan",
        columns=(Column(name="flight", type="integer"), Column(name="distance", type="integer")),
    )
    catalog = Catalog(source="air", dialect="sqlite", tables=(flights,))
    number, distance = (ColumnRef(table="flights_jan", column=name) for name in ("flight", "distance"))

    def longest(by: ColumnRef) -> Reading:
        order = (OrderItem(expr=by, descending=True),)
        return reading(number, distance, entity="flights_jan", order_by=order, limit=1)

    total = reading(Aggregate(function="sum", of=number), entity="flights_jan")
    assert sensible([longest(number), total, longest(distance)], ["longest", "flight"], catalog) == (longest(distance),)
    assert isinstance(answered_or_asked(Read(best=longest(number)), (), catalog), Unsure)
    assert isinstance(answered_or_asked(Read(best=longest(distance)), (), catalog), Read)


def test_what_a_table_counts_is_added_up() -> None:
    deaths = Table(name="deaths", columns=(Column(name="deaths", type="integer"), Column(name="year", type="integer")))
    total = reading(Aggregate(function="sum", of=ColumnRef(table="deaths", column="deaths")), entity="deaths")
    shown = reading(ColumnRef(table="deaths", column="year"), entity="deaths")
    assert sensible([shown, total], ["deaths"], Catalog(source="x", dialect="sqlite", tables=(deaths,))) == (
        shown,
        total,
    )


def test_an_id_is_offered_to_who_asks_for_it() -> None:
    asked = reading(of("station_id"))
    assert sensible([GOOD, asked], ["station", "id"], CATALOG) == (GOOD, asked)


def test_a_reading_that_ignores_a_condition_or_the_groups_is_no_alternative() -> None:
    rainy = reading(COUNT, where=is_("weather", "rain"))
    assert sensible([rainy, GOOD], ["rain"], CATALOG) == (rainy,)
    grouped = reading(of("weather"), COUNT, group_by=(of("weather"),))
    turned = reading(COUNT, of("weather"), group_by=(of("weather"),))
    assert sensible([GOOD, grouped, turned], ["days", "by", "weather"], CATALOG) == (grouped,)


def test_a_full_sentence_may_state_no_condition() -> None:
    """The first thought may have made a condition of a word that was none."""
    rainy = reading(COUNT, where=is_("weather", "rain"))
    assert sensible([rainy, GOOD], ["rain", *["word"] * 9], CATALOG) == (rainy, GOOD)


def test_what_is_made_by_somebody_is_no_group() -> None:
    grouped = reading(of("weather"), COUNT, group_by=(of("weather"),))
    assert sensible([grouped, GOOD], ["days", "by", "weather"], CATALOG) == (grouped,)
    assert sensible([grouped, GOOD], ["days", "measured", "by", "somebody"], CATALOG) == (grouped, GOOD)
    listed = reading(of("name"), of("weather"))
    assert sensible([grouped, listed], ["weather", "of", "each", "day"], CATALOG) == (grouped, listed)
    assert sensible([grouped, GOOD], ["days", "of", "each", "weather"], CATALOG) == (grouped,)


def test_a_name_that_is_a_key_is_offered() -> None:
    """Tables of states and people are often kept by their names."""
    state = Table(name="state", primary_key=("state_name",), columns=(Column(name="state_name", type="text"),))
    friend = Column(name="friend", type="text", examples=("Zach", "Bob"))
    friends = Table(name="friends", primary_key=("friend",), columns=(friend, Column(name="name", type="text")))
    catalog = Catalog(source="people", dialect="sqlite", tables=(state, friends))
    for table, column in (("state", "state_name"), ("friends", "friend")):
        shown = SelectItem(expr=ColumnRef(table=table, column=column))
        plan = QueryPlan(entity=table, select=(shown,), limit=1)
        one = Reading(plan=plan, sentence="", confidence=0.5, sql=column)
        count = Reading(
            plan=QueryPlan(entity=table, select=(SelectItem(expr=COUNT),)), sentence="", confidence=0.4, sql="count"
        )
        assert one in sensible([count, one], ["which"], catalog)


def test_the_highest_is_offered_once() -> None:
    first = reading(of("name"), order_by=(OrderItem(expr=of("wind"), descending=True),), limit=1)
    highest = Nested(plan=reading(Aggregate(function="max", of=of("wind"))).plan)
    same = reading(of("name"), where=Compare(left=of("wind"), op="=", right=highest))
    assert sensible([first, same], ["windiest"], CATALOG) == (first,)


def test_at_most_three_that_differ_in_what_they_answer() -> None:
    readings = [reading(Aggregate(function=how, of=of("wind"))) for how in ("sum", "avg", "min", "max", "median")]
    offered = choices_of(readings, [[(1,)], [(1,)], [(2,)], None, [(3,)]])
    assert [one.example for one in offered] == ["1", "2", None]
    assert choices_of([], []) == ()


@pytest.mark.parametrize(
    ("rows", "brief"),
    [
        ([], "nothing matches"),
        ([(1297,)], "1,297"),
        ([(2014,)], "2014"),
        ([(None,)], "no value"),
        ([(3.14159, "Rock")], "Rock 3.14"),
        ([(1, "a"), (2, "b"), (3, "c"), (4, "d")], "4 rows: a 1, b 2, c 3, …"),
    ],
)
def test_what_a_choice_would_answer(rows: list[tuple[object, ...]], brief: str) -> None:
    assert brief_answer(rows) == brief


def test_a_describing_word_without_a_part_in_the_plan_is_asked_about() -> None:
    asked = answered_or_asked(Read(best=GOOD), [UnusedPhrase("urban", describes=True)], CATALOG)
    assert isinstance(asked, Unsure)
    assert asked.question.startswith("“urban” was not understood")
    assert answered_or_asked(Read(best=GOOD), [], CATALOG) == Read(best=GOOD)


def test_any_other_unused_word_keeps_the_answer_from_being_sure() -> None:
    answered = answered_or_asked(Read(best=GOOD), [UnusedPhrase("live", describes=False)], CATALOG)
    assert isinstance(answered, Read)
    assert answered.best.confidence < 0.85


def test_nobody_is_asked_to_choose_from_one(small_databases: dict[str, SmallDatabase]) -> None:
    for question in ("appointments by status", "doctors by specialty", "patients by town", "fees by day"):
        reply = small_databases["clinic"].read(question)
        assert not isinstance(reply, Unsure) or len(reply.readings) > 1 or reply.unknown, question
    assert not isinstance(small_databases["clinic"].read("appointments by colour"), Read)


@pytest.mark.parametrize(
    ("said", "value", "asks"),
    [
        ("Iceland", "Ireland", True),
        ("Germny", "Germany", False),  # no word of its own, so it is a slip
        ("Adelie", "Adelie", False),
        ("females", "female", False),
    ],
)
def test_another_word_that_is_spelt_alike_is_asked_about(said: str, value: str, asks: bool) -> None:
    best = reading(COUNT, bindings=(Binding(phrase=said, meaning=f"Customer.Country = '{value}'"),))
    assert isinstance(answered_or_asked(Read(best=best), [], CATALOG), Unsure) == asks


@pytest.mark.parametrize("question", ["show {}", "{} by type", "{} in 2019", "what about {}?", "list {} and their id"])
def test_never_more_than_three(small_databases: dict[str, SmallDatabase], question: str) -> None:
    for database in small_databases.values():
        for table in database.reader.catalog.tables:
            reply = database.read(question.format(table.name))
            assert not isinstance(reply, Unsure) or len(reply.readings) <= 3


def test_a_form_is_not_called_sure_if_another_answer_is_likelier(small_databases: dict[str, SmallDatabase]) -> None:
    clinic = small_databases["clinic"]
    open_to_both = clinic.read("fees in March 2024")  # their list, or their total
    assert isinstance(open_to_both, Read)
    assert open_to_both.best.confidence < 0.85
    plain = clinic.read("fees per month")
    assert isinstance(plain, Read)
    assert plain.best.confidence >= 0.85
