from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from answerable.answers.checking.numerals import StatedDate, numerals


def read(text: str) -> list[tuple[str, str, Decimal]]:
    return [(n.text, n.kind, n.value) for n in numerals(text)]


@pytest.mark.parametrize(
    ("text", "kind", "value", "unit"),
    [
        ("1,234.5", "number", "1234.5", "0.1"),
        ("1234", "number", "1234", "1"),
        ("12,345,678", "number", "12345678", "1"),
        ("1\u00a0234", "number", "1234", "1"),
        ("−219,244", "number", "-219244", "1"),
        ("-5", "number", "-5", "1"),
        ("+5", "number", "5", "1"),
        ("$1.2m", "number", "1200000", "100000"),
        ("€3.45bn", "number", "3450000000", "10000000"),
        ("1.2 million", "number", "1200000", "100000"),
        ("2 thousand", "number", "2000", "1000"),
        ("7k", "number", "7000", "1000"),
        ("1.5e3", "number", "1500", "100"),
        ("41ms", "number", "41", "1"),
        ("5m", "number", "5", "1"),
        ("12%", "percent", "12", "1"),
        ("12.50 %", "percent", "12.5", "0.01"),
        ("3 percent", "percent", "3", "1"),
        ("+5.0 %", "percent", "5", "0.1"),
        ("3x", "ratio", "3", "1"),
        ("2.5 times", "ratio", "2.5", "0.1"),
        ("21st", "ordinal", "21", "1"),
        ("three", "number", "3", "1"),
        ("Twenty-one", "number", "21", "1"),
        ("one hundred and five", "number", "105", "1"),
        ("two dozen", "number", "24", "1"),
        ("three million", "number", "3000000", "1"),
        ("ten percent", "percent", "10", "1"),
        ("twice", "ratio", "2", "0.2"),
    ],
)
def test_reads(text: str, kind: str, value: str, unit: str) -> None:
    (found,) = numerals(f"It is {text}.")
    assert (found.text.strip(), found.kind, found.value, found.unit) == (text, kind, Decimal(value), Decimal(unit))


@pytest.mark.parametrize(
    ("text", "period"),
    [
        ("2024-01-31", StatedDate(2024, None, 1, 31)),
        ("2024-01-31T10:00:00Z", StatedDate(2024, None, 1, 31)),
        ("2024-11", StatedDate(2024, None, 11)),
        ("2024-Q3", StatedDate(2024, 3)),
        ("Q3 2024", StatedDate(2024, 3)),
        ("Q3", StatedDate(None, 3)),
        ("31 January 2024", StatedDate(2024, None, 1, 31)),
        ("January 31st, 2024", StatedDate(2024, None, 1, 31)),
        ("Nov 2024", StatedDate(2024, None, 11)),
        ("Sept. 5", StatedDate(None, None, 9, 5)),
    ],
)
def test_reads_dates(text: str, period: StatedDate) -> None:
    (found,) = numerals(f"Since {text}, it was so.")
    assert (found.text, found.kind, found.period) == (text, "date", period)


@pytest.mark.parametrize(
    "text", ["1.2.3", "192.168.0.1", "3/4", "12/31/2024", "A320", "1,23", "x²", "½", "Ⅻ", "3:1", "v2", "12,3456", "±5"]
)
def test_what_it_cannot_read_it_says(text: str) -> None:
    found = numerals(f"It was {text} there")
    assert [n.kind for n in found if n.kind == "unreadable"] == ["unreadable"]


def test_several_in_a_sentence() -> None:
    text = "From 5–10 in 2023 to 1,200 (12%) on 3 May 2024, two thirds of it at 13:48."
    assert [(n.text, n.kind) for n in numerals(text)] == [
        ("5", "number"),
        ("10", "number"),
        ("2023", "number"),
        ("1,200", "number"),
        ("12%", "percent"),
        ("3 May 2024", "date"),
        ("two thirds", "percent"),
        ("13:48", "time"),
    ]


def test_one_is_often_not_a_number() -> None:
    assert read("No one knows which one it is, one of them, the one.") == []
    assert read("Only one city is left.") == [("one", "number", Decimal(1))]


def test_rough_units_take_trailing_zeros_for_rounding() -> None:
    (found,) = numerals("about 1,200,000 in all")
    assert (found.unit, found.rough_unit) == (Decimal(1), Decimal(100_000))


def test_masked_spans_are_left_to_others() -> None:
    assert numerals("Boeing 747 has 4 engines", [(0, 10)])[0].text == "4"


@given(st.text(max_size=60))
def test_no_digit_is_overlooked(text: str) -> None:
    covered = {i for n in numerals(text) for i in range(n.start, n.end)}
    assert all(i in covered for i, c in enumerate(text) if c in "0123456789")


@given(st.integers(-(10**15), 10**15), st.integers(0, 4), st.booleans())
def test_reads_what_was_printed(whole: int, decimals: int, grouped: bool) -> None:
    value = Decimal(whole).scaleb(-decimals)
    printed = format(value, f"{',' if grouped else ''}.{decimals}f")
    (found,) = numerals(f"It is {printed} now")
    assert found.value == value
    assert found.unit == Decimal(10) ** -decimals
