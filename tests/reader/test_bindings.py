"""Every answer says what each phrase of the question became, in the user's own words and true of what runs."""

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.reader.small_databases import FOLDER, SmallDatabase

from answerable.answers.answer import Binding
from answerable.core.catalog import Catalog
from answerable.demo import golden_cases, location
from answerable.query.plan import QueryPlan
from answerable.reader.explaining.bindings import BEFORE, IMPLIED, UNUSED
from answerable.reader.explaining.plan_parts import parts_of
from answerable.reader.grammar.grammar import FILLERS
from answerable.reader.linking.cues import find_cues
from answerable.reader.linking.lexicon import GENERIC, STOPWORDS
from answerable.reader.linking.tokens import OriginalText, tokenize
from answerable.reader.reader import Reader
from answerable.reader.reading import Read
from answerable.sources.open import open_source


@pytest.fixture(scope="module")
def reader(shop: Catalog, values: Any) -> Reader:
    return Reader(shop, values, today=lambda: date(2025, 6, 15))


@asynccontextmanager
async def opened(path: Path, cache: Path) -> AsyncIterator[Reader]:
    source = await open_source(str(path), cache=cache)
    try:
        yield Reader(await source.describe(), await source.values(), today=lambda: date(2025, 12, 31))
    finally:
        await source.close()


def tied(bindings: tuple[Binding, ...]) -> dict[str, str]:
    """The meaning of each phrase; of several implied parts, all of them."""
    found: dict[str, str] = {}
    for binding in bindings:
        earlier = f"{found[binding.phrase]}; " if binding.phrase in found else ""
        found[binding.phrase] = earlier + binding.meaning
    return found


def places(question: str, bindings: tuple[Binding, ...]) -> Iterator[tuple[int, int]]:
    """Where the phrases stand; that they are found one after the other proves that none overlap."""
    at = 0
    for phrase in (b.phrase for b in bindings if b.phrase not in (IMPLIED, BEFORE)):
        start = question.find(phrase, at)
        assert start >= 0, (question, phrase)
        at = start + len(phrase)
        yield start, at


def check(question: str, plan: QueryPlan, bindings: tuple[Binding, ...], catalog: Catalog) -> None:
    spans = list(places(question, bindings))
    meanings = [binding.meaning for binding in bindings]
    for part in parts_of(plan, catalog):
        if part.kind in ("test", "limit", "aggregate", "order", "group", "measure"):
            assert any(part.meaning in meaning for meaning in meanings), (question, part)
    cues = {place for cue in find_cues(tokenize(question).tokens) for place in range(cue.start, cue.end)}
    asked = tokenize(question)
    for place, token in enumerate(asked.tokens):
        small = token.lower in STOPWORDS | GENERIC | FILLERS or place in cues or token.kind == "mark"
        at, _ = OriginalText(question, asked).span(place, place + 1)
        assert small or any(start <= at < end for start, end in spans), (question, token.text)


async def test_of_each_golden_question(tmp_path: Path) -> None:
    plans: dict[str, QueryPlan] = {}
    async with opened(location(), tmp_path) as reader:
        for case in map(json.loads, golden_cases().read_text("utf-8").splitlines()):
            reply = reader.read(case["question"], previous=plans.get(case.get("after")))
            assert isinstance(reply, Read)
            plans[case["id"]] = reply.best.plan
            check(case["question"], reply.best.plan, reply.best.bindings, reader.catalog)
            assert UNUSED not in tied(reply.best.bindings).values(), case["question"]


@pytest.mark.parametrize("name", ["clinic", "greenhouse", "library"])
def test_of_questions_of_other_databases(name: str, small_databases: dict[str, SmallDatabase]) -> None:
    cases = [json.loads(line) for line in (FOLDER / "questions.jsonl").read_text("utf-8").splitlines()]
    reader = small_databases[name].reader
    for case in cases:
        if case["database"] == name and case["sql"] is not None:
            reply = reader.read(case["question"], force=True)
            assert isinstance(reply, Read)
            check(case["question"], reply.best.plan, reply.best.bindings, reader.catalog)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        (
            "How many orders in 2024?",
            {"How many": "count(rows)", "orders": "orders", "in 2024": "orders.order_date in 2024"},
        ),
        (
            "the 3 most expensive products of Books",
            {
                "3": "the first 3",
                "most expensive": "sorted by product.price, descending",
                "products": "product",
                "Books": "product.category = 'Books'",
                IMPLIED: "product.product_name; product.price is known",
            },
        ),
        ("revenue per month", {"revenue": "revenue: sum(amount)", "per month": "for each month of orders.order_date"}),
        ("customers older than 30", {"customers": "customer", "older than 30": "customer.age > 30"}),
        (
            "top 5 products by revenue",
            {
                "top": "sorted by revenue, descending",
                "5": "the first 5",
                "products": "product; for each product.id, product.product_name",
                "revenue": "revenue: sum(amount)",
            },
        ),
    ],
)
def test_each_phrase(reader: Reader, question: str, expected: dict[str, str]) -> None:
    reply = reader.read(question, force=True)
    assert isinstance(reply, Read)
    found = tied(reply.best.bindings)
    assert expected.items() <= found.items(), found


def test_phrases_are_the_users_own_text(reader: Reader) -> None:
    question = "  How  many CUSTOMERS are in\t“new   york” ?"
    reply = reader.read(question, force=True)
    assert isinstance(reply, Read)
    assert tied(reply.best.bindings)["new   york"] == "customer.city = 'New York'"
    check(question, reply.best.plan, reply.best.bindings, reader.catalog)


def test_a_word_that_the_plan_has_no_part_for_is_named(reader: Reader) -> None:
    reply = reader.read("names of grumpy customers not in Berlin", force=True)
    assert isinstance(reply, Read)
    assert tied(reply.best.bindings)["grumpy"] == UNUSED


def test_what_is_taken_over_is_told_apart_from_what_is_said(reader: Reader) -> None:
    first = reader.read("revenue in 2025")
    assert isinstance(first, Read)
    second = reader.read("and in 2024?", previous=first.best.plan)
    assert isinstance(second, Read)
    assert [(b.phrase, b.meaning) for b in second.best.bindings] == [
        ("in 2024", "orders.order_date in 2024"),
        (BEFORE, "revenue: sum(amount)"),
    ]


def test_a_plan_that_was_chosen_is_tied_as_well(reader: Reader) -> None:
    reply = reader.read("How many orders in 2024?")
    assert isinstance(reply, Read)
    assert reader.bindings("How many orders in 2024?", reply.best.plan) == reply.best.bindings


LETTERS = st.sampled_from("aé \u00a0\t\n'“”„.,3\u0301\u0308u\u1100\u1161\u11a8\u09c7\u09beक\u093f")


@given(st.text(st.one_of(LETTERS, st.characters()), max_size=40))
@example("«\u093f")
def test_places_lead_back_to_the_text(text: str) -> None:
    question = tokenize(text)
    own = OriginalText(text, question)
    ends = [own.span(place, place + 1) for place in range(len(question.tokens))]
    assert ends == sorted(ends)
    for place, token in enumerate(question.tokens):
        assert tokenize(token.text).text in tokenize(own.of(place, place + 1)).text
