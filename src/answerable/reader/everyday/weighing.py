"""Weighs proposals: each content word should have a part in the query, and each part of the query a word."""

from math import log
from typing import NamedTuple

from answerable.query.plan import Aggregate, QueryPlan
from answerable.reader.everyday.proposal import Proposal
from answerable.reader.everyday.proposals import proposals
from answerable.reader.everyday.request import EverydayRequest, request_of
from answerable.reader.everyday.word_options import word_options
from answerable.reader.grammar.dated_scene import DatedScene
from answerable.reader.linking.everyday_words import PERSON_WORDS
from answerable.reader.plans.joins import NoPath

_COUNT_ROWS = Aggregate(function="count")
# The noun that a question is about may be a name for the rows that the data does not know: "games" of `vgsales`.
_THE_ROWS = 0.15
_THE_ONLY_ROWS = 0.45
_THE_ROWS_COUNTED = 0.6
# From here on a word names a column or value by more than a far-fetched meaning.
_NAMED = 0.5
_MOST_PLANS = 8
# Columns that only people have.
_OF_PEOPLE = frozenset({"age", "sex", "gender", "birthday", "marital", "salary"})
_EACH_TABLE = 0.25


class WeighedPlan(NamedTuple):
    plan: QueryPlan
    weight: float
    left_over: int
    """How many content words have no part in it."""
    explained: float
    """The share of the content words that have a part in it."""
    weakest: float
    """How well the word is explained that is explained worst."""


def everyday_plans(question: DatedScene) -> list[WeighedPlan]:
    """The likeliest plans first, each once."""
    request = request_of(question, word_options(question))
    if _says_nothing(request):
        return []
    weighed = sorted(((_weight(request, one), one) for one in proposals(request)), key=lambda pair: -pair[0])
    found: dict[str, WeighedPlan] = {}
    for weight, proposal in weighed:
        if len(found) >= _MOST_PLANS:
            break
        try:
            plan = proposal.plan(question.schema)
        except NoPath:
            continue
        chances = [
            _explained(request, proposal, place)
            for place in request.content
            if not (_is_the_rows(request, place) or _is_what_is_counted(request, proposal, place))
        ]
        left_over = chances.count(0.0)
        explained = 1.0 - left_over / max(1, len(chances))
        one = WeighedPlan(plan, weight, left_over, explained, min(chances, default=1.0))
        found.setdefault(plan.model_dump_json(), one)
    return list(found.values())


def _says_nothing(request: EverydayRequest) -> bool:
    """Whether no word is about the data, as in "who are they". "The hottest day" is, by its superlative."""
    words = request.question.words
    about_people = all(words[place] in PERSON_WORDS for place in request.content)
    question = request.question
    asked = (
        question.values
        or question.spans("range", "point", "recurring")
        or request.numbers
        or (request.ranking is not None and (request.unit is not None or _asks_who_most(request)))
    )
    return about_people and not asked


def _asks_who_most(request: EverydayRequest) -> bool:
    """Who comes in the most: of a single table with people in it, whose rows there are most of."""
    schema = request.question.schema
    single = len(schema.tables) == 1 and any(view.people for view in schema.columns)
    return single and request.question.cue("MOST", "LEAST", "COMMON", "RARE") is not None


def _is_the_rows(request: EverydayRequest, place: int) -> bool:
    """In a single table, the noun of the question is its rows, whatever they are called. What is averaged or added up
    is no row: the average *high*."""
    schema = request.question.schema
    if len(schema.tables) == 1 and request.question.words[place] in PERSON_WORDS:
        return any(view.people or not _OF_PEOPLE.isdisjoint(view.words) for view in schema.columns)
    if place != request.subject or len(schema.tables) > 1:
        return False
    return request.asked in ("rows", "count", "share", "gap") or not any(
        element.kind == "column" and schema.columns[element.id].numeric for element in request.options.by_place[place]
    )


def _is_what_is_counted(request: EverydayRequest, proposal: Proposal, place: int) -> bool:
    """ "The island with the most birds": where the rows of a single table are counted, the noun after "most" or "how
    many" is the rows, unless it names something else."""
    if len(request.question.schema.tables) > 1 or _COUNT_ROWS not in proposal.select:
        return False
    named = max(request.options.by_place[place].values(), default=0.0)
    return named < _NAMED and any(cue.end == place for cue in request.question.cues("MOST", "LEAST", "COUNT"))


def _weight(request: EverydayRequest, proposal: Proposal) -> float:
    """The logarithm of how likely the proposal is."""
    tables = sum(element.kind == "table" for element in proposal.uses) - 1
    words = sum(log(_chance(request, proposal, place)) for place in request.content)
    return proposal.weight + words - _EACH_TABLE * tables


def _chance(request: EverydayRequest, proposal: Proposal, place: int) -> float:
    least = request.options.left_over(place)
    if _is_what_is_counted(request, proposal, place):
        return _THE_ROWS_COUNTED
    if place == request.subject:
        least = max(least, _THE_ONLY_ROWS if _is_the_rows(request, place) else _THE_ROWS)
    return max(_explained(request, proposal, place), least)


def _explained(request: EverydayRequest, proposal: Proposal, place: int) -> float:
    """How well the best part of the proposal explains the word."""
    return max((request.options.chance(place, element) for element in proposal.uses), default=0.0)
