"""Readings that are offered differ in what they mean."""

from answerable.reader.candidates.composition import Candidate, Evidence
from answerable.reader.candidates.shape import shape_of
from answerable.reader.plans.draft import Draft, DraftCondition, DraftOrder, Term
from answerable.reader.ranking.meaning import diverse, meaning_of
from answerable.reader.ranking.rank import RankedCandidate

NAMES = Draft(0, (Term(1),))
BERLIN = DraftCondition(Term(5), "=", "Berlin")


def ranked(draft: Draft, score: float) -> RankedCandidate:
    evidence = Evidence(0.0, 0.0, 0.0, 0.0, 0.0, 0, (), "")
    return RankedCandidate(Candidate(draft, shape_of(draft), (), evidence, score), [], score)


def test_one_that_means_something_else_comes_before_more_of_the_same() -> None:
    found = [
        ranked(NAMES, 3.0),
        ranked(NAMES._replace(distinct=True), 2.5),
        ranked(NAMES._replace(extra=frozenset({2})), 2.4),
        ranked(Draft(0, (Term(2),)), 2.2),
    ]
    assert [one.candidate.draft for one in diverse(found)] == [
        NAMES,
        Draft(0, (Term(2),)),
        NAMES._replace(distinct=True),
        NAMES._replace(extra=frozenset({2})),
    ]


def test_what_is_far_better_stays_before() -> None:
    twice = NAMES._replace(distinct=True)
    found = [ranked(NAMES, 9.0), ranked(twice, 8.0), ranked(Draft(0, (Term(2),)), 2.0)]
    assert [one.candidate.draft for one in diverse(found)][1] == twice


def test_the_gist_is_what_is_shown_under_which_conditions() -> None:
    joined = Draft(0, (Term(1),), where=((BERLIN,),))
    member = Draft(0, (Term(1),), where=((DraftCondition(Term(0), "in", Draft(1, (Term(4),), where=((BERLIN,),))),),))
    first = Draft(0, (Term(1),), order=(DraftOrder(Term(2), True),), limit=1)
    tied = Draft(0, (Term(1),), where=((DraftCondition(Term(2), "=", Draft(0, (Term(2, "max"),))),),))
    assert meaning_of(joined) == meaning_of(member)
    assert meaning_of(first) == meaning_of(tied)
    assert meaning_of(joined) != meaning_of(NAMES)
    assert meaning_of(first) != meaning_of(first._replace(order=(DraftOrder(Term(2), False),)))
    assert meaning_of(first) != meaning_of(first._replace(limit=3))
