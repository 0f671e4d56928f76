"""What speaks for and against a proposal: one feature vector for each."""

from math import log
from typing import NamedTuple

from answerable.query.plan import Aggregate, ColumnRef
from answerable.reader.everyday.proposals import SHAPES, Proposal
from answerable.reader.everyday.request import Request
from answerable.reader.everyday.word_options import Element
from answerable.reader.fitted.features import Vector, prefixed
from answerable.reader.grammar.measure_expressions import is_additive

_ASKED = ("rows", "count", "sum", "avg", "median", "share", "gap")
_FIRST_WORDS = ("who", "where", "when", "which", "what", "how")


class Explained(NamedTuple):
    """How well the words of the question are explained."""

    words: float
    log_chance: float
    weakest: float
    left_over: float
    share: float
    subject: float
    weight: float
    behind: float
    """How far the weight set by rule is behind the best."""
    place: float


class Parts(NamedTuple):
    tables: float
    conditions: float
    guessed_values: float
    said: float
    figure_is_additive: float
    figure_is_summed: float
    figure_is_averaged: float
    entity_said: float
    shows_subject: float
    shows_tested: float
    shows_number: float
    shows_unique: float
    entity_of_people: float
    entity_of_places: float
    groups: float
    group_said: float
    limit: float
    distinct: float
    unsaid_tables: float


class Asked(NamedTuple):
    ranking: float
    groups: float
    numbers: float
    values: float
    negated: float
    compares: float
    dates: float
    trend: float
    tables_of_schema: float


EVERYDAY_FEATURE_NAMES = (
    *prefixed("explained", Explained._fields),
    *prefixed("parts", Parts._fields),
    *(f"shape={name}" for name in SHAPES),
    *(f"asked={name}" for name in _ASKED),
    *(f"first={name}" for name in _FIRST_WORDS),
    *prefixed("question", Asked._fields),
)
"""The names of the features of a proposal, in order."""


def proposal_vector(request: Request, proposal: Proposal, weight: float, best: float, place: int) -> Vector:
    first = request.question.words[:1]
    return [
        *_explained(request, proposal, weight, best, place),
        *_parts(request, proposal),
        *(float(proposal.shape == name) for name in SHAPES),
        *(float(request.asked == name) for name in _ASKED),
        *(float(first == [name]) for name in _FIRST_WORDS),
        *_question(request),
    ]


def explained(request: Request, proposal: Proposal, place: int) -> float:
    return max((request.options.chance(place, element) for element in proposal.uses), default=0.0)


def _explained(request: Request, proposal: Proposal, weight: float, best: float, place: int) -> Explained:
    chances = [explained(request, proposal, word) for word in request.content]
    said = [chance for chance in chances if chance > 0.0]
    subject = 0.0 if request.subject is None else explained(request, proposal, request.subject)
    return Explained(
        words=float(len(chances)),
        log_chance=sum(log(chance) for chance in said),
        weakest=min(chances, default=1.0),
        left_over=float(len(chances) - len(said)),
        share=len(said) / len(chances) if chances else 1.0,
        subject=subject,
        weight=weight,
        behind=best - weight,
        place=float(place),
    )


def _parts(request: Request, proposal: Proposal) -> Parts:
    schema, content = request.question.schema, request.content
    entity = schema.tables[proposal.table]
    shown = [expr for expr in proposal.select if isinstance(expr, ColumnRef)]
    columns = [schema.columns[schema.column_ids[(ref.table, ref.column)]] for ref in shown]
    figure = None if proposal.figure is None else schema.columns[proposal.figure]
    functions = [expr.function for expr in (*proposal.select, *(by for by, _ in proposal.order)) if isinstance(expr, Aggregate)]
    tested = {element.id for element in proposal.uses if element.kind == "column"} - {view.id for view in columns if proposal.shape == "column"}
    subject = {} if request.subject is None else request.options.by_place.get(request.subject, {})
    tables = {element.id for element in proposal.uses if element.kind == "table"}
    grouped = [place for places in request.groups for place in places]
    return Parts(
        tables=float(len(tables)),
        conditions=float(len(proposal.where)),
        guessed_values=float(proposal.guessed_values),
        said=proposal.said,
        figure_is_additive=float(figure is not None and is_additive(figure)),
        figure_is_summed=float("sum" in functions),
        figure_is_averaged=float("avg" in functions),
        entity_said=request.options.best(Element("table", proposal.table), content),
        shows_subject=max(
            [
                *(subject.get(Element("column", view.id), 0.0) for view in columns),
                *(subject.get(Element("table", view.table), 0.0) for view in columns if view.id in schema.tables[view.table].row_names),
            ],
            default=0.0,
        ),
        shows_tested=float(any(view.id in tested for view in columns)),
        shows_number=float(any(view.numeric for view in columns)),
        shows_unique=float(any(view.source.unique for view in columns)),
        entity_of_people=float(entity.people),
        entity_of_places=float(entity.places),
        groups=float(len(proposal.group)),
        group_said=max((explained(request, proposal, place) for place in grouped), default=0.0),
        limit=float(proposal.limit or 0),
        distinct=float(proposal.distinct),
        unsaid_tables=float(sum(request.options.best(Element("table", table), content) == 0.0 for table in tables)),
    )


def _question(request: Request) -> Asked:
    question = request.question
    return Asked(
        ranking=float(request.ranking is not None),
        groups=float(len(request.groups)),
        numbers=float(len(request.numbers)),
        values=float(len(question.values)),
        negated=float(bool(question.cues("NEG"))),
        compares=float(request.compares),
        dates=float(len(question.dates)),
        trend=float(request.trend),
        tables_of_schema=float(len(question.schema.tables)),
    )
