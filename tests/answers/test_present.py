import datetime as dt
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from answerable.answers import frame
from answerable.answers.answer import Answer, Choice, Provenance
from answerable.answers.checking.claims import check_claims
from answerable.answers.format import format_spec
from answerable.answers.present import asked_back
from answerable.answers.prose import DescribedResult, prose
from answerable.core.ids import RunId
from answerable.core.values import OutputColumn
from answerable.query.headings import RowNoun
from answerable.query.plan import Aggregate, ColumnRef, IsNull, OrderItem, QueryPlan, SelectItem

Answered = Callable[..., Answer]
Ranked = Callable[..., QueryPlan]


def test_one_value(answered: Answered) -> None:
    answer = answered({"total_revenue": [1234567.0]}, units={"total_revenue": "EUR"})
    assert (answer.kind, answer.text) == ("value", "Total revenue: 1,234,567 EUR.")
    (link,) = answer.provenance.links
    assert answer.text[link.start : link.end] == "1,234,567"
    assert (link.row, link.column) == (0, 0)


TICKETS = RowNoun(one="support ticket", many="support tickets")


def test_a_plain_count_says_what_it_counts(answered: Answered) -> None:
    plan = QueryPlan(entity="support_tickets", select=(SelectItem(expr=Aggregate(function="count")),))
    assert answered({"count": [1141]}, plan=plan, noun=TICKETS).text == "1,141 support tickets."
    narrowed = plan.model_copy(update={"where": IsNull(left=ColumnRef(table="support_tickets", column="closed_on"))})
    assert answered({"count": [12]}, plan=narrowed, noun=TICKETS).text == "12 support tickets match."
    assert answered({"count": [1]}, plan=narrowed, noun=TICKETS).text == "1 support ticket matches."
    assert answered({"count": [0]}, plan=narrowed, noun=TICKETS).text == "0 support tickets match."
    assert answered({"count": [12]}, plan=narrowed).text == "Count: 12."


def test_what_the_rows_are_called_may_have_digits_in_it(answered: Answered) -> None:
    noun = RowNoun(one="q3 2023 sale", many="q3 2023 sales")
    plan = QueryPlan(entity="q3_2023_sales", select=(SelectItem(expr=Aggregate(function="count")),))
    answer = answered({"count": [91]}, plan=plan, noun=noun)
    assert answer.text == "91 q3 2023 sales."
    assert answer.provenance.findings == ()


def test_a_number_of_things_in_the_sentences_of_a_model_has_to_be_in_the_rows(answered: Answered) -> None:
    data = {"city": ["Berlin", "Paris"], "revenue": [5, 9]}
    answer = answered(data, noun=RowNoun(one="city", many="cities"), proposed="Paris has 2 shops.")
    assert "2 shops" not in answer.text


def test_people_have_full_names(answered: Answered, ranked: Ranked) -> None:
    people = {"LastName": ["Lovelace", "Turing"], "FirstName": ["Ada", "Alan"]}
    noun = RowNoun(one="customer", many="customers")
    assert answered(people, noun=noun).text == "2 customers: Ada Lovelace and Alan Turing."
    assert answered({name: values[:1] for name, values in people.items()}).text == "Ada Lovelace."
    paid = {**people, "paid": [9, 5]}
    assert answered(paid, plan=ranked("paid", "LastName", "FirstName")).text == (
        "Ada Lovelace has the highest paid: 9, followed by Alan Turing: 5."
    )


def test_a_group_without_a_name_is_a_row(answered: Answered) -> None:
    noun = RowNoun(one="country", many="countries")
    assert answered({"country": ["Peru", "Chile", None], "n": [1, 2, 2]}, noun=noun).text.startswith("3 rows.")
    assert answered({"country": ["Peru", "Chile", "Cuba"], "n": [1, 3, 2]}, noun=noun).text.startswith("3 countries.")


def test_the_label_comes_before_the_number(answered: Answered) -> None:
    assert answered({"count": [12], "channel": ["Online"]}).text == "Channel: Online; Count: 12."


def test_one_value_that_is_missing(answered: Answered) -> None:
    answer = answered({"average_price": pl.Series([None], dtype=pl.Float64)})
    assert answer.text == "Average price: no value. Either nothing matched, or what matched is empty."


def test_nothing_matched(answered: Answered, ranked: Ranked) -> None:
    empty = pl.DataFrame(schema={"city": pl.String, "revenue": pl.Int64})
    told = Provenance(understood="total revenue of sales where city is “Atlantis” in 2024")
    answer = answered(empty, provenance=told, plan=ranked("revenue", "city"))
    assert answer.kind == "table"
    assert answer.row_count == 0
    # What was understood stands beside the answer, and is not said twice.
    assert answer.text == "Nothing matched."
    noun = RowNoun(one="sale", many="sales")
    listed = QueryPlan(entity="sales", select=(SelectItem(expr=ColumnRef(table="sales", column="city")),))
    assert answered(empty, plan=listed, noun=noun).text == "No sales match."
    assert answered(empty).text == "The query ran and gave no rows."


def test_the_highest(answered: Answered, ranked: Ranked) -> None:
    data = {"city": ["Berlin", "Paris", "Rome"], "revenue": [1234567, 900, 3]}
    answer = answered(data, plan=ranked("revenue", "city"))
    assert answer.text == "Berlin has the highest revenue: 1,234,567, followed by Paris: 900. 3 rows."
    assert [(link.row, link.column) for link in answer.provenance.links] == [(0, 1), (1, 1), (None, None)]


def test_the_lowest_alone(answered: Answered, ranked: Ranked) -> None:
    plan = ranked("revenue", "city", descending=False, limit=1)
    assert answered({"city": ["Rome"], "revenue": [3]}, plan=plan).text == "Rome has the lowest revenue: 3."


def test_a_shared_first_place(answered: Answered, ranked: Ranked) -> None:
    answer = answered({"city": ["Berlin", "Paris"], "revenue": [5, 5]}, plan=ranked("revenue", "city"))
    assert answer.text == "Berlin and Paris share the highest revenue: 5."


def test_extremes_of_unordered_rows(answered: Answered) -> None:
    answer = answered({"city": ["Berlin", "Paris", "Rome"], "revenue": [5, 9, 1]})
    assert answer.text == "3 rows. Revenue: highest for Paris (9), lowest for Rome (1)."
    tied = answered({"city": ["Berlin", "Paris", "Rome"], "revenue": [5, 5, 1]})
    assert tied.text == "3 rows. Revenue: lowest for Rome (1)."
    same_name = answered({"city": ["Berlin", "Berlin"], "revenue": [5, 9]})
    assert same_name.text == "2 rows."


def test_a_time_series(answered: Answered) -> None:
    days = [dt.date(2024, month, 1) for month in range(1, 13)]
    answer = answered({"month": days, "orders": [m * m for m in range(12)]})
    assert answer.text == (
        "12 rows, from 2024-01-01 to 2024-12-01. Orders: highest in 2024-12-01 (121), lowest in 2024-01-01 (0)."
    )


def test_lists(answered: Answered) -> None:
    assert answered({"name": ["Ann", "Bo"]}).text == "2 rows: Ann and Bo."
    assert answered({"name": list("ABCDEFG")}).text == "7 rows; the first are A, B, C, D and E."
    assert answered({"id": [1, 2, 3], "a": [1, 2, 3], "b": ["x", "y", "z"]}).text == "3 rows."


def test_one_row_of_many_columns(answered: Answered) -> None:
    assert answered({"name": ["Ann"], "age": [7]}).text == "Name: Ann; Age: 7."
    assert answered({f"c{i}": [i] for i in range(9)}).text == "1 row with 9 columns."


def test_rows_are_limited_and_marked_as_cut(answered: Answered) -> None:
    answer = answered({"n": range(5_000), "name": [f"row {i}" for i in range(5_000)]})
    assert len(answer.rows) == 1_000
    assert answer.row_count == 5_000
    assert answer.provenance.truncated
    assert answer.text == "5,000 rows."  # whoever shows rows says how many: the terminal shows fewer than the page
    assert len(answered({"n": range(5)}, row_limit=2).rows) == 2


def test_what_the_file_cannot_say_is_a_finding(answered: Answered) -> None:
    answer = answered({"v": [float("nan"), 1.0]}, provenance=Provenance(findings=("a file was left out",)))
    assert answer.provenance.findings == (
        "a file was left out",
        "1 value is not a number (NaN) or infinite in “v”; shown as null.",
    )


def test_a_chart_comes_along_and_is_the_answer_when_asked_for(answered: Answered) -> None:
    data = {"city": ["Berlin", "Paris"], "revenue": [5, 9]}
    assert answered(data).kind == "table"
    assert answered(data).provenance.chart["mark"]["type"] == "bar"
    assert answered(data, question="Plot revenue by city").kind == "chart"
    assert answered({"a": ["x"], "b": ["y"]}, question="chart of a").kind == "table"


def test_long_text_is_cut_in_prose_only(answered: Answered) -> None:
    answer = answered({"note": ["word " * 100]})
    assert len(answer.text) < 100
    assert answer.rows[0][0] == "word " * 100


def test_the_json_form_is_the_contract(answered: Answered) -> None:
    body = answered({"day": [dt.date(2024, 1, 1)], "n": [2]}).model_dump(mode="json")
    assert list(body) == [
        "run_id", "status", "kind", "text", "columns", "rows", "row_count", "steps", "choices", "graph", "provenance",
        "usage",
    ]  # fmt: skip
    assert body["rows"] == [["2024-01-01", 2]]
    assert body["columns"] == [{"name": "day", "type": "date"}, {"name": "n", "type": "integer"}]
    assert Answer.model_validate(body).model_dump(mode="json") == body


def test_asking_back() -> None:
    answer = asked_back(RunId("run_1"), "Which date?", [Choice(id=1, label="The order date")])
    assert (answer.status, answer.kind) == ("clarify", "clarify")
    assert answer.choices[0].label == "The order date"


NAMES = st.text(st.characters(codec="utf-8", categories=("Lu", "Ll", "Zs", "Nd", "Po")), min_size=1, max_size=12)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    data=st.lists(st.tuples(NAMES, st.one_of(st.integers(-(10**6), 10**9), st.none())), min_size=1, max_size=8),
    descending=st.booleans(),
    with_plan=st.booleans(),
)
def test_own_prose_states_only_what_can_be_proved(
    data: list[tuple[str, int | None]], descending: bool, with_plan: bool
) -> None:
    columns = (OutputColumn(name="name", type="text"), OutputColumn(name="amount", type="integer"))
    amount = Aggregate(function="sum", of=ColumnRef(table="t", column="amount"))
    name = ColumnRef(table="t", column="name")
    plan = QueryPlan(
        entity="t",
        select=(SelectItem(expr=name), SelectItem(expr=amount)),
        group_by=(name,),
        order_by=(OrderItem(expr=amount, descending=descending),),
    )
    used = plan if with_plan else None
    text = prose(DescribedResult(columns, data, len(data), format_spec(columns, data, used), used))
    checked = check_claims(text, columns, data, plan=used)
    digits = [c for c in checked.text if c.isdigit()]
    linked = {i for link in checked.links for i in range(link.start, link.end)}
    names = "".join(str(row[0]) for row in data)
    loose = [c for i, c in enumerate(checked.text) if c.isdigit() and i not in linked and c not in names]
    assert not loose, digits


def test_present_reads_only_what_it_shows(tmp_path: Path, answered: Answered, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[Any, ...]] = []
    read = frame.shown_rows

    def watched(path: Path, offset: int = 0, limit: int = 1_000) -> list[tuple[Any, ...]]:
        asked.append((offset, limit))
        return read(path, offset, limit)

    monkeypatch.setattr(frame, "shown_rows", watched)
    answered({"n": range(100_000)})
    assert asked == [(0, 1_000), (50_000, 50), (99_950, 50)]


@pytest.mark.parametrize(
    "proposed",
    ["There are 7 of them.", "That depends on the year.", "Nobody knows.", "The answer is 12,345."],
)
def test_the_value_of_an_answer_is_always_said(answered: Answered, proposed: str) -> None:
    answer = answered({"orders": [2]}, question="How many orders are open?", proposed=proposed)
    assert re.search(r"\b2\b", answer.text)


def test_a_model_that_says_the_value_is_not_repeated(answered: Answered) -> None:
    answer = answered({"capital": ["austin"]}, question="What is the capital of Texas?", proposed="It is Austin.")
    assert answer.text == "It is Austin."


def test_true_sentences_that_were_once_cut_stay(answered: Answered) -> None:
    doctors = {"doctor": ["Ada Berg", "Bo Lind", "Cy Moe", "Di Ray", "Ed Sun"]}
    assert answered(doctors, question="Which doctors worked in 2024?", proposed="5 doctors match in 2024.").text == (
        "5 doctors match in 2024."
    )
    rate = {"readmission": [12.89]}
    said = "The readmission rate in claims_2024.csv is 12.89 percent."
    assert answered(rate, question="What percentage was readmitted, by claims_2024.csv?", proposed=said).text == said
    months = {"month": ["Mar.2020", "Apr.2020"], "orders": [7, 9]}
    assert answered(months, proposed="Mar.2020 had 7 orders.").text == "Mar.2020 had 7 orders."


def test_a_direction_that_the_rows_deny_is_left_out(answered: Answered) -> None:
    regions = {"region": ["North", "East"], "change": [80.5, -9.5]}
    answer = answered(regions, proposed="North lost the most. East fell by 9.5.")
    assert answer.text == "East fell by 9.5."
    assert any(finding.startswith("Left out a sentence") for finding in answer.provenance.findings)


def test_the_values_of_a_single_row_are_said_even_if_a_sentence_about_them_is_left_out(answered: Answered) -> None:
    data: dict[str, list[Any]] = {"room": ["Frugal not apropos"], "revenue": [53800.0], "nights": [214]}
    answer = answered(data, proposed="It was booked for 241 guests and 199 nights.")
    assert answer.text == "Room: Frugal not apropos; Revenue: 53,800; Nights: 214."


def test_our_own_sentence_is_never_cut(answered: Answered) -> None:
    # The check cannot read “3/4” and “½”, but a cell is quoted as it is.
    answer = answered({"part": ["3/4 ½"], "size": [2]}, proposed="The size is 7.")
    assert answer.text.startswith("Part: 3/4 ½; Size: 2.")
