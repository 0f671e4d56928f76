"""Quantities that no column holds, but that follow from two of them: takings, time taken, margins, one per other."""

from collections.abc import Iterator, Sequence
from itertools import permutations

from answerable.core.records import dataclass
from answerable.query.plan import Arithmetic, DateDifference, Expr
from answerable.reader.everyday.proposal import Proposal
from answerable.reader.everyday.reach import is_number
from answerable.reader.everyday.request import EverydayRequest
from answerable.reader.everyday.word_options import Element
from answerable.reader.linking.column_kinds import adds_up, is_flag
from answerable.reader.linking.name_words import spelled_out
from answerable.reader.linking.schema import ColumnView
from answerable.reader.plans.draft_to_plan import column_ref

_TAKINGS = frozenset(
    {"revenue", "takings", "turnover", "sales", "income", "worth", "value", "made", "take", "took", "taken", "money"}
    | {"earn", "earned", "charge", "charged", "bill", "billed", "invoice", "paid", "spent", "cost"}
)
_QUANTITIES = frozenset(
    {"quantity", "units", "unit", "pieces", "hours", "hour", "nights", "stock", "hand", "inventory", "sold"}
)
_PRICES = frozenset({"price", "cost", "rate", "adr", "fare", "fee"})
_TAKING_TIME = frozenset(
    {"long", "longest", "longer", "shortest", "quickest", "fastest", "slowest", "wait", "waited", "waiting", "take"}
    | {"takes", "took", "taken", "taking", "duration", "lasted", "last", "lasts", "running", "ahead", "turnaround"}
)
_UNITS = {"minutes": "minute", "minute": "minute", "hours": "hour", "hour": "hour", "seconds": "second"}
_BEGINNINGS = ("start", "begin", "open", "create", "order", "book", "request", "pickup", "check", "receive", "hire")
_ENDINGS = ("end", "finish", "close", "resolve", "resolution", "ship", "deliver", "return", "arrival", "drop", "stop")
_BIRTHS = frozenset({"birth", "born", "birthday", "dob"})
_GAINS = frozenset({"profit", "profits", "margin", "margins", "markup", "gain", "earnings"})
_RECEIVED = frozenset({"revenue", "sales", "price", "retail", "income", "turnover", "gross"})
_SPENT = frozenset({"cost", "spend", "spent", "budget", "expense", "expenses", "costs"})
_BETWEEN = frozenset({"minus", "difference", "gap", "swing", "between", "apart", "spread"})
_LEAST_NAMED = 0.3
_MOST = 3


@dataclass(frozen=True)
class Quantity:
    expr: Expr
    uses: frozenset[Element]
    added: bool
    """Amounts to something when the rows are taken together. What does not is averaged."""


def derived(request: EverydayRequest, base: Proposal) -> list[Quantity]:
    """What the words may ask for of the rows of the table, the likeliest first."""
    own = [request.question.schema.columns[column] for column in request.question.schema.tables[base.table].columns]
    found = [*_takings(request, own), *_times(request, own), *_gains(request, own), *_differences(request, own)]
    return found[:_MOST]


def _said(request: EverydayRequest, words: frozenset[str]) -> frozenset[Element]:
    places = (place for place, word in enumerate(request.question.words) if word in words)
    return frozenset(Element("word", place) for place in places)


def _named(view: ColumnView, words: frozenset[str]) -> bool:
    return not words.isdisjoint(spelled_out(view.words))


def _takings(request: EverydayRequest, own: Sequence[ColumnView]) -> Iterator[Quantity]:
    """Revenue where the data has only quantities and unit prices: one times the other."""
    said, schema = _said(request, _TAKINGS), request.question.schema
    prices = [view for view in own if is_number(view) and _named(view, _PRICES)]
    amounts = [view for view in own if is_number(view) and _named(view, _QUANTITIES) and view not in prices]
    totals = [view for view in own if adds_up(view) and view not in amounts and view not in prices]
    if not said or len(amounts) != 1 or totals:
        return
    for price in sorted(prices, key=lambda view: "unit" not in view.words)[:2]:
        expr = Arithmetic(op="*", left=column_ref(schema, amounts[0].id), right=column_ref(schema, price.id))
        yield Quantity(expr, said, added=True)


def _times(request: EverydayRequest, own: Sequence[ColumnView]) -> Iterator[Quantity]:
    """How long it takes to ship: from one date of the row to another."""
    schema, words = request.question.schema, request.question.words
    said = _said(request, _TAKING_TIME)
    dates = [view for view in own if view.temporal and _BIRTHS.isdisjoint(view.words)]
    if not said or len(dates) < 2:
        return
    moments = all(view.source.type == "datetime" for view in dates[:2])
    unit = next((_UNITS[word] for word in words if word in _UNITS), "hour" if moments and "wait" in words else "day")
    ranked = sorted(permutations(dates, 2), key=lambda pair: -_is_course(request, *pair))
    for start, end in ranked[:1]:
        expr = DateDifference.model_validate(
            {"unit": unit, "start": column_ref(schema, start.id), "end": column_ref(schema, end.id)}
        )
        uses = {Element("column", start.id), Element("column", end.id)}
        units = {Element("word", place) for place, word in enumerate(words) if word in (*_UNITS, "days", "day")}
        yield Quantity(expr, said | uses | units, added=False)


def _is_course(request: EverydayRequest, start: ColumnView, end: ColumnView) -> float:
    """How likely one date begins what the other ends."""
    begins = any(word.startswith(_BEGINNINGS) for word in start.words)
    ends = any(word.startswith(_ENDINGS) for word in end.words)
    low, high = str(start.source.minimum or ""), str(end.source.minimum or "")
    named = sum(request.options.best(Element("column", view.id), request.content) for view in (start, end))
    return begins + ends + named + 0.5 * (low <= high) + 0.1 * (start.id < end.id)


def _gains(request: EverydayRequest, own: Sequence[ColumnView]) -> Iterator[Quantity]:
    """Profit, markup: what comes in minus what goes out, where no column holds it."""
    said, schema = _said(request, _GAINS), request.question.schema
    numbers = [view for view in own if is_number(view) and not is_flag(view)]
    if not said or any(_named(view, _GAINS) for view in numbers):
        return
    for received in (view for view in numbers if _named(view, _RECEIVED)):
        for spent in (view for view in numbers if _named(view, _SPENT)):
            if received.id != spent.id:
                expr = Arithmetic(op="-", left=column_ref(schema, received.id), right=column_ref(schema, spent.id))
                uses = {Element("column", received.id), Element("column", spent.id)}
                yield Quantity(expr, said | uses, added=adds_up(received) and adds_up(spent))


def _differences(request: EverydayRequest, own: Sequence[ColumnView]) -> Iterator[Quantity]:
    """The swing between the low and the high: two numbers of the same row that are named."""
    said, schema = _said(request, _BETWEEN), request.question.schema
    named = {
        view.id: max(request.content, key=lambda place: request.options.chance(place, Element("column", view.id)))
        for view in own
        if is_number(view) and request.options.best(Element("column", view.id), request.content) >= _LEAST_NAMED
    }
    if not said or len(named) != 2 or len(set(named.values())) < 2 or request.numbers:
        return
    first, second = sorted(named, key=lambda column: named[column])
    if "minus" not in request.question.words:
        first, second = sorted((first, second), key=lambda column: -float(schema.columns[column].source.maximum or 0))
    expr = Arithmetic(op="-", left=column_ref(schema, first), right=column_ref(schema, second))
    uses = {Element("column", first), Element("column", second)}
    yield Quantity(expr, said | uses, added=False)
