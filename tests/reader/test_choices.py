"""Readings that are offered differ in what they mean."""

from answerable.reader.candidates.compose import Candidate, Evidence
from answerable.reader.candidates.shape import shape_of
from answerable.reader.pipeline import Ranked
from answerable.reader.plans.draft import Condition, Draft, Order, Term
from answerable.reader.ranking.meaning import gist, varied

NAMES = Draft(0, (Term(1),))
BERLIN = Condition(Term(5), "=", "Berlin")


def ranked(draft: Draft, score: float) -> Ranked:
    evidence = Evidence(0.0, 0.0, 0.0, 0.0, 0.0, 0, (), "")
    return Ranked(Candidate(draft, shape_of(draft), (), evidence, score), [], score)


def test_one_that_means_something_else_comes_before_more_of_the_same() -> None:
    found = [
        ranked(NAMES, 3.0),
        ranked(NAMES._replace(distinct=True), 2.5),
        ranked(NAMES._replace(extra=frozenset({2})), 2.4),
        ranked(Draft(0, (Term(2),)), 2.2),
    ]
    assert [one.candidate.draft for one in varied(found)] == [
        NAMES,
        Draft(0, (Term(2),)),
        NAMES._replace(distinct=True),
        NAMES._replace(extra=frozenset({2})),
    ]


def test_what_is_far_better_stays_before() -> None:
    twice = NAMES._replace(distinct=True)
    found = [ranked(NAMES, 9.0), ranked(twice, 8.0), ranked(Draft(0, (Term(2),)), 2.0)]
    assert [one.candidate.draft for one in varied(found)][1] == twice


def test_the_gist_is_what_is_shown_under_which_conditions() -> None:
    joined = Draft(0, (Term(1),), where=((BERLIN,),))
    member = Draft(0, (Term(1),), where=((Condition(Term(0), "in", Draft(1, (Term(4),), where=((BERLIN,),))),),))
    first = Draft(0, (Term(1),), order=(Order(Term(2), True),), limit=1)
    tied = Draft(0, (Term(1),), where=((Condition(Term(2), "=", Draft(0, (Term(2, "max"),))),),))
    assert gist(joined) == gist(member)
    assert gist(first) == gist(tied)
    assert gist(joined) != gist(NAMES)
    assert gist(first) != gist(first._replace(order=(Order(Term(2), False),)))
    assert gist(first) != gist(first._replace(limit=3))
