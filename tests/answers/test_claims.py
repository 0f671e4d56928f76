from collections.abc import Callable, Sequence
from decimal import Decimal
from itertools import combinations
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from answerable.answers.checking.claims import UNVERIFIED, CheckedText, check_claims
from answerable.answers.checking.facts import ExtraFact, plan_facts
from answerable.answers.checking.numerals import numerals
from answerable.answers.checking.sentence import sentences
from answerable.core.values import OutputColumn
from answerable.query.plan import ColumnRef, Compare, Constant, QueryPlan

COLUMNS = (
    OutputColumn(name="city", type="text"),
    OutputColumn(name="revenue", type="number"),
    OutputColumn(name="orders", type="integer"),
    OutputColumn(name="month", type="date"),
)
ROWS = [
    ("Berlin", 1234567.5, 500, "2024-01-01"),
    ("Paris", 999000.0, 400, "2024-02-01"),
    ("Rome", 12.25, 3, "2024-03-01"),
    ("Boeing 747", 7.0, 2, "2024-03-01"),
]


def check(text: str, *facts: ExtraFact, **options: Any) -> CheckedText:
    return check_claims(text, COLUMNS, ROWS, facts, **options)


@pytest.mark.parametrize(
    "text",
    [
        "Berlin has the highest revenue: 1,234,567.50, followed by Paris: 999,000.",
        "Berlin has revenue of 1.2 million.",
        "Berlin makes about 1,200,000 in revenue.",
        "Berlin makes over 1.2 million in revenue.",
        "Paris makes nearly a million: 999,000.",
        "Paris has 999k in revenue.",
        "All cities together have 905 orders.",
        "The average is 226.25 orders.",
        "On average there are 226 orders.",
        "The median of orders is 201.5.",
        "Berlin has 100 more orders than Paris.",
        "Berlin has 25% more orders than Paris.",
        "Paris has 20% fewer orders than Berlin.",
        "Berlin has 55.2% of orders.",
        "Berlin and Paris together have 900 orders.",
        "Berlin had 500 orders and Paris 400.",
        "There were 500 orders in Berlin, 400 in Paris.",
        "Boeing 747 made 7 in revenue.",
        "In January 2024 orders were 500.",
        "On 2024-01-01 revenue was 1,234,567.5.",
        "Four cities are listed.",
        "4 rows.",
        "4 columns are shown.",
        "The 4th city is Boeing 747.",
        "The months run from January 2024 to March 2024.",
        "All of this is from 2024.",
        "Nothing to check here.",
        "1. Berlin: 500 orders\n2. Paris: 400 orders",
        "Berlin has 1.25 times the orders of Paris.",
    ],
)
def test_true_prose_stays(text: str) -> None:
    checked = check(text)
    assert checked.text == text
    assert checked.findings == ()


@pytest.mark.parametrize(
    "text",
    [
        "Berlin has 101 more orders than Paris.",
        "Berlin has 56% of orders.",
        "Berlin had 400 orders and Paris 500.",
        "In April 2024 orders were 500.",
        "In January 2024 orders rose by 400.",
        "Five cities are listed.",
        "The 5th city is unknown.",
        "Berlin makes over 1,250,000 in revenue.",
        "Half of the orders came from Berlin.",
        "Berlin has twice the orders of Paris.",
        "Orders from 2023 are shown.",
        "The mean is 230 orders in 2019.",
        "There were 77 orders.",
        "Berlin lost 500.5 orders.",
        "Paris has the most orders.",
        "Rome has more orders than Paris.",
        "No city has more than 400 orders.",
        "Only Berlin has more than 300 orders.",
    ],
)
def test_what_the_rows_contradict_is_left_out(text: str) -> None:
    checked = check(text + " Paris has 400 orders.")
    assert checked.text == "Paris has 400 orders."
    (finding,) = checked.findings
    assert finding.startswith("Left out a sentence")


@pytest.mark.parametrize(
    "text",
    [
        "Paris makes over 999,500",
        "Version 1.2.3 was used",
        "It was 3/4 of them",
        "Revenue grew by 12%",
        "Berlin grew by 55.2%",
        "Route 66 leads there",
        "It opened at 13:48",
        "About 2 million in all",
        "Berlin fell 25% behind",
        "Madrid has 400 orders",
        "Rome has ½ of orders",
    ],
)
def test_what_nothing_decides_is_marked(text: str) -> None:
    checked = check(f"{text}. Paris has 400 orders.")
    assert checked.text == f"{text} (unverified). Paris has 400 orders."
    (finding,) = checked.findings
    assert finding.startswith("Could not verify a sentence")


@pytest.mark.parametrize(
    ("text", "mended"),
    [
        ("Berlin has 400 orders.", "Berlin has 500 orders."),
        ("Berlin has 1,500 orders.", "Berlin has 500 orders."),
        ("Berlin has revenue of 1.3 million.", "Berlin has revenue of 1.2 million."),
        ("Berlin makes 1,200,000 in revenue.", "Berlin makes 1,234,568 in revenue."),
        ("Berlin makes 5.00 in revenue.", "Berlin makes 1,234,567.50 in revenue."),
        ("The total is 906 orders.", "The total is 905 orders."),
        ("The average is 227.1 orders.", "The average is 226.2 orders."),
        ("7 rows.", "4 rows."),
        ("These are 12 results.", "These are 4 results."),
    ],
)
def test_what_was_plainly_meant_is_put_right(text: str, mended: str) -> None:
    checked = check(text)
    assert checked.text == mended
    (finding,) = checked.findings
    assert finding.startswith("Corrected")


@pytest.mark.parametrize(
    ("text", "stays"),
    [
        ("July 2014 had the largest gap: 12.5 degrees.", True),
        ("May 2014 had the largest gap: 12.5 degrees.", False),
        ("July 2015 had the largest gap: 12.5 degrees.", False),
    ],
)
def test_a_month_may_be_named_for_its_number(text: str, stays: bool) -> None:
    columns = (OutputColumn(name="month", type="integer"), OutputColumn(name="gap", type="number"))
    checked = check_claims(text, columns, [(7, 12.474)], question="In which month of 2014 was the gap the largest?")
    assert (checked.text == text) is stays, checked


def test_links_point_to_the_cells() -> None:
    checked = check("Something wrong: 77. Berlin has 500 orders, all together 905.")
    found = [(checked.text[k.start : k.end], k.kind, k.row, k.column, k.basis) for k in checked.links]
    assert found == [
        ("500", "cell", 0, 2, "orders of row 1"),
        ("905", "aggregate", None, 2, "sum of orders"),
    ]


def test_over_a_part_of_the_rows_nothing_is_aggregated() -> None:
    assert check("All together have 905 orders.", row_count=4_000).text == ""
    assert check("Berlin has 55.2% of orders.", row_count=4_000).text == ""
    assert check("4,000 rows. Berlin has 500 orders.", row_count=4_000).findings == ()
    whole = ExtraFact(value=81_234, basis="sum of orders over all rows")
    assert check("All together have 81,234 orders.", whole, row_count=4_000).links[0].basis == whole.basis


def test_facts_that_were_handed_in() -> None:
    plan = QueryPlan(
        entity="sales",
        where=Compare(
            left=ColumnRef(table="sales", column="day"), op=">=", right=Constant(value="2021-06-01", type="date")
        ),
        limit=10,
    )
    facts = plan_facts(plan)
    assert check("The top 10 since June 2021.", *facts).findings == ()
    assert check("The top 10 since 2021.", *facts).findings == ()
    assert UNVERIFIED in check("The top 11 since June 2021.", *facts).text
    assert check(
        "Looked for: orders over 77 in Atlantis.", ExtraFact(value="orders over 77 in Atlantis", basis="asked")
    ).text


def test_losses(columns: Callable[..., Sequence[OutputColumn]]) -> None:
    rows = [("Spain", -42_675), ("Italy", 110_434)]
    kinds = columns(country="text", change="integer")
    assert check_claims("Spain fell by 42,675.", kinds, rows).findings == ()
    assert check_claims("Spain changed by −42,675.", kinds, rows).findings == ()
    assert check_claims("Spain rose by 42,675.", kinds, rows).text == ""
    assert check_claims("Spain was 42,675 minutes early.", kinds, rows).findings == ()
    assert check_claims("Italy changed by −110,434.", kinds, rows).text != "Italy changed by −110,434."


def test_shares_and_percentages(columns: Callable[..., Sequence[OutputColumn]]) -> None:
    kinds = columns(country="text", share="number", visitors="integer")
    rows = [("Spain", 0.125, 30), ("Italy", 0.875, 99)]
    assert check_claims("Spain has a share of 12.5 %.", kinds, rows).findings == ()
    assert check_claims("Spain has a share of 13%.", kinds, rows).findings == ()
    assert check_claims("Spain has a share of 14%.", kinds, rows).text == ""
    assert check_claims("Spain has 30% visitors.", kinds, rows).text == "", "a count is not a percentage"


def test_keys_count_only_when_they_are_called_so(columns: Callable[..., Sequence[OutputColumn]]) -> None:
    kinds = columns(order_id="integer", city="text")
    rows = [(1042, "Berlin"), (17, "Rome"), (18, "Rome")]
    assert check_claims("Order 1042 went to Berlin.", kinds, rows).findings == ()
    assert check_claims("Berlin has #1042.", kinds, rows).findings == ()
    assert check_claims("There are 17 of them.", kinds, rows).text == ""


def test_numbers_in_other_scripts_are_read_or_refused() -> None:
    assert check("Rome has ٣ orders.").findings == ()
    assert check("Rome has ٤ orders.").text != "Rome has ٤ orders."


def test_sentences_join_to_the_text() -> None:
    text = "One. Two is 1.5 e.g. this! Is it?\n\n- a list\n- more (No. 5 too). End"
    assert "".join(sentences(text)) == text
    assert sentences("It is 1.5 now. Then 2. And") == ["It is 1.5 now. ", "Then 2. ", "And"]


NUMBERS = st.one_of(st.integers(-(10**7), 10**7), st.integers(-(10**7), 10**7).map(lambda n: n / 100))
NAMES = ("Alpha", "Beta", "Gamma", "Delta", "Epsilon", "Zeta")
TEMPLATES = [
    "The figure is {}.",
    "In short, {} was reached.",
    "Alpha has {} of it.",
    "It comes to {} in total.",
    "On average it is {}.",
    "Alpha has {} more than Beta.",
    "It fell by {}.",
    "Roughly {} was seen.",
    "({}) is what came out, more or less.",
]


def possible(values: list[float]) -> set[Decimal]:
    """By brute force, everything that could be said of one column, without regard to rows and words."""
    exact = [Decimal(repr(v)) for v in values]
    total = sum(exact, Decimal(0))
    ordered = sorted(exact)
    half = len(exact) // 2
    median = ordered[half] if len(exact) % 2 else (ordered[half - 1] + ordered[half]) / 2
    found = {*exact, total, total / len(exact), median, Decimal(len(values))}
    found |= {a - b for a, b in combinations(exact, 2)} | {sum(p, Decimal(0)) for p in combinations(exact, 2)}
    found |= {(a + b) / 2 for a, b in combinations(exact, 2)}
    return found | {-value for value in found}


@settings(deadline=None, max_examples=300)
@given(values=st.lists(NUMBERS, min_size=1, max_size=6), wrong=NUMBERS, template=st.sampled_from(TEMPLATES))
def test_a_wrong_number_never_survives(values: list[float], wrong: float, template: str) -> None:
    said = Decimal(repr(wrong))
    room = max(Decimal(1), abs(said) / 15)
    assume(all(abs(value - said) > room for value in possible(values)))
    columns = (OutputColumn(name="name", type="text"), OutputColumn(name="amount", type="number"))
    rows = list(zip(NAMES, values, strict=False))
    printed = format(wrong, ",") if isinstance(wrong, int) else format(wrong, ",.2f")
    checked = check_claims(template.format(printed), columns, rows)
    assert checked.findings
    assert UNVERIFIED in checked.text or said not in [numeral.value for numeral in numerals(checked.text)]


@settings(deadline=None)
@given(values=st.lists(NUMBERS, min_size=1, max_size=6), pick=st.integers(0, 5))
def test_a_cell_is_always_accepted(values: list[float], pick: int) -> None:
    columns = (OutputColumn(name="name", type="text"), OutputColumn(name="amount", type="number"))
    rows = [(f"City {i}", value) for i, value in enumerate(values)]
    value = values[pick % len(values)]
    text = f"City {pick % len(values)} has {value:,}."
    checked = check_claims(text, columns, rows)
    assert checked.text == text
    assert any(link.row == pick % len(values) or values.count(value) > 1 for link in checked.links)


@given(st.text(max_size=120))
def test_any_text_is_survived(text: str) -> None:
    checked = check(text)
    assert all(0 <= link.start < link.end <= len(text) + 40 for link in checked.links)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Which cities are in more than one country?", "Berlin and Paris are in more than one country."),
        ("Revenue per city in 2019?", "In 2019 Berlin had the highest revenue."),
        ("the top 7 cities by revenue", "Of the top 7 cities Berlin leads."),
        ("orders since March 2021", "Since March 2021 Berlin had 500 orders."),
    ],
)
def test_conditions_of_the_question_may_be_repeated(question: str, text: str) -> None:
    assert check(text).text != text
    assert check(text, question=question).text == text


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Are there more than 900 orders in Berlin?", "There are more than 900 orders in Berlin."),
        ("Revenue per city in 2019?", "Revenue rose by 2019."),
        ("which city has 77 orders?", "Rome has 77 orders."),
    ],
)
def test_what_the_question_asks_is_no_fact(question: str, text: str) -> None:
    assert check(text, question=question).text != text


@pytest.mark.parametrize("unit", ["EUR a year", "km/h", "%", "points", "", "°C", "mm", "thousand tonnes", "$", "🙂"])
def test_any_unit_of_a_column_is_survived(unit: str, columns: Callable[..., Sequence[OutputColumn]]) -> None:
    kinds, rows = columns(city="text", pay="integer"), [("Berlin", 500), ("Paris", 400)]
    for text in (
        "Berlin has 500.",
        "Berlin has 500 EUR.",
        "Berlin has $500.",
        "Berlin has 500 hours.",
        "Both: 900 km.",
    ):
        assert check_claims(text, kinds, rows, units={"pay": unit}).text is not None
    assert check_claims("Berlin has 500.", kinds, rows, units={"pay": unit}).findings == ()
