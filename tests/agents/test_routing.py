"""The routing table: which row a situation reaches, and that rows above it win."""

from dataclasses import replace
from datetime import date
from typing import Any

import pytest

from answerable.agents.question_request import QuestionRequest
from answerable.agents.replies import Planned
from answerable.agents.routing import ROUTES, Fact, Route, graph_of
from answerable.agents.situation import MAX_QUESTION, Situation
from answerable.answers.answer import Choice
from answerable.engine.steps.understand import Question
from answerable.query.plan import QueryPlan
from answerable.reader.graph_words import PathAnswer
from answerable.reader.learned_questions import LearnedAnswer
from answerable.reader.reading import Read, Reading, Unreadable, Unsure

QUERY = QueryPlan(entity="orders")
READING = Reading(plan=QUERY, sentence="The number of orders.", confidence=0.9)
SURE, UNSURE = Read(best=READING), Unsure(question="Which?", readings=(READING,))
STEP = {"id": "a", "tool": "sql", "context": "count"}
WITH_PLAN = Choice(id=1, label="orders", plan=QUERY.model_dump(mode="json"))
LEARNED = LearnedAnswer(question="How many orders are there?", sql="SELECT 1", same_values=True)
PATHS = PathAnswer(cypher="MATCH (n) RETURN n", sentence="Show what connects them.")
IN_WORDS = Choice(id=2, label="how many orders?")


def situation(text: str = "how many orders?", *, planned: dict[str, Any] | None = None, **facts: Any) -> Situation:
    of_question = {name: facts.pop(name) for name in ("mode", "plan_only", "sources", "hint") if name in facts}
    question = Question(text=text, source="demo", **of_question)
    return Situation(question, planned=None if planned is None else Planned.model_validate(planned), **facts)


def row_of(known: Situation) -> str:
    """The row that a situation reaches once all its facts are known."""
    return next(row.name for row in ROUTES if isinstance(row, Route) and row.applies(known))


@pytest.mark.parametrize(
    ("known", "row"),
    [
        (situation(mode="plan"), "mode without a model"),
        (situation("", mode="react"), "mode without a model"),
        (situation(" \n"), "empty question"),
        (situation("", chosen=WITH_PLAN), "empty question"),
        (situation("x" * (MAX_QUESTION + 1)), "too long a question"),
        (situation(chosen=WITH_PLAN), "chosen reading"),
        (situation(chosen=WITH_PLAN, has_model=True, mode="react"), "chosen reading"),
        (situation(chosen=WITH_PLAN, plan_only=True, reply=SURE), "chosen reading"),
        (situation(topic="help"), "small talk"),
        (situation(topic="greeting", mode="react", has_model=True), "small talk"),
        (situation(mode="react", has_model=True), "exploration on request"),
        (situation(mode="react", has_model=True, reply=SURE), "exploration on request"),
        (situation(learned=LEARNED), "learned question"),
        (situation(learned=LEARNED, reply=SURE), "learned question"),
        (situation(learned=LEARNED, reply=SURE, plan_only=True), "reading to be shown"),
        (situation(paths=PATHS, reply=SURE), "ways through a graph"),
        (situation(paths=PATHS, reply=SURE, plan_only=True), "reading to be shown"),
        (situation(reply=SURE, plan_only=True), "reading to be shown"),
        (situation(reply=SURE, plan_only=True, sources=("a", "b")), "reading to be shown"),
        (situation(reply=SURE, sources=("a", "b")), "reading of several sources"),
        (situation(reply=SURE), "reading of one source"),
        (situation(reply=SURE, has_model=True, wants_first_look=True), "reading of one source"),
        (situation(reply=SURE, chosen=IN_WORDS), "reading of one source"),
        (situation(reply=UNSURE), "question back"),
        (situation(reply=UNSURE, plan_only=True), "question back"),
        (situation(reply=UNSURE, wants_first_look=True), "question back"),
        (situation(reply=Unreadable(message="No.")), "question back"),
        (situation(reply=UNSURE, has_model=True, wants_first_look=True), "first look"),
        (situation(reply=SURE, has_model=True, wants_first_look=True, mode="plan"), "first look"),
        (situation(has_model=True, reply=UNSURE, failure="It broke off."), "reading in place of a model"),
        (situation(has_model=True, planned={"explore": True, "steps": [STEP]}), "exploration"),
        (situation(has_model=True, planned={"explore": True}, plan_only=True), "exploration"),
        (situation(has_model=True, planned={"ask": ["a", "b"]}), "readings of a model"),
        (situation(has_model=True, planned={"cannot": "no such data"}), "not in the data"),
        (situation(has_model=True, planned={"explore": True}, mode="plan"), "not in the data"),
        (situation(has_model=True, planned={"steps": [STEP]}, plan_only=True), "plan to be shown"),
        (situation(has_model=True, planned={"steps": [STEP]}), "plan"),
        (situation(has_model=True, planned={"steps": [STEP], "ask": ["a", "b"]}), "plan"),
        (situation(has_model=True, planned={"steps": [STEP]}, wants_first_look=True, hint="easy"), "plan"),
        (situation(has_model=True, planned={"steps": [STEP]}, mode="plan", reply=SURE), "plan"),
    ],
)
def test_the_row_of_a_situation(known: Situation, row: str) -> None:
    assert row_of(known) == row


def test_every_row_is_covered_above() -> None:
    marks = next(mark for mark in test_the_row_of_a_situation.pytestmark if mark.name == "parametrize")  # type: ignore[attr-defined]
    assert {row for _, row in marks.args[1]} == {row.name for row in ROUTES if isinstance(row, Route)}


def test_rows_and_facts_stand_in_the_order_in_which_they_are_needed() -> None:
    assert [row.name for row in ROUTES] == [
        "mode without a model",
        "empty question",
        "too long a question",
        "choice",
        "chosen reading",
        "question behind the choice",
        "topic",
        "small talk",
        "exploration on request",
        "learned question",
        "learned question",
        "ways through a graph",
        "ways through a graph",
        "follow-up",
        "reading",
        "saved question like it",
        "reading to be shown",
        "reading of several sources",
        "reading of one source",
        "question back",
        "first look",
        "plan of a model",
        "reading in place of a model",
        "exploration",
        "readings of a model",
        "not in the data",
        "plan to be shown",
        "plan",
    ]


def test_no_row_applies_before_the_fact_that_it_is_about() -> None:
    """What a fact has not yet filled in must not decide anything: a model is not asked to plan what was never read."""
    nothing_known = situation(has_model=True)
    assert not [row.name for row in ROUTES if isinstance(row, Route) and row.applies(nothing_known)]
    read = replace(nothing_known, reply=UNSURE)
    assert not [row.name for row in ROUTES if isinstance(row, Route) and row.applies(read)]
    assert [row.name for row in ROUTES if isinstance(row, Fact)][-1] == "plan of a model"


@pytest.mark.parametrize(
    ("asked", "kinds", "mode"),
    [
        (QuestionRequest("SQL: SELECT 1"), ["sql", "present"], "sql"),
        (QuestionRequest("python: result = 1"), ["program", "subgraph"], "python"),
        (QuestionRequest("SQL: SELECT 1", choice=1), ["understand", "subgraph"], "auto"),
        (QuestionRequest("how many orders?", mode="plan"), ["understand", "subgraph"], "plan"),
    ],
)
def test_a_written_query_is_not_routed(asked: QuestionRequest, kinds: list[str], mode: str) -> None:
    graph, name = graph_of(asked, ("demo",))
    assert ([node.kind for node in graph.nodes], name) == (kinds, mode)


def test_sql_over_several_sources_is_taken_apart_first() -> None:
    graph, _ = graph_of(QuestionRequest("SQL: SELECT 1"), ("a", "b"))
    assert [node.kind for node in graph.nodes] == ["statement", "subgraph"]


def test_a_question_carries_what_was_asked_for() -> None:
    day = date(2026, 1, 2)
    graph, _ = graph_of(QuestionRequest("how many?", choice=2, force=True, today=day, plan_only=True), ("a", "b"))
    question = Question.model_validate(graph.nodes[0].config)
    assert question == Question(
        text="how many?", source="a", sources=("a", "b"), choice=2, force=True, today=day, plan_only=True
    )
