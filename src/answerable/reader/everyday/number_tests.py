"""Numbers of the question as conditions: of a column, in its unit, or of how many rows belong together."""

from math import log

from answerable.query.plan import Aggregate, Between, Compare, Constant, DateDifference, Expr, Filter
from answerable.reader.everyday.condition import ConditionChoice
from answerable.reader.everyday.derived import derived
from answerable.reader.everyday.proposal import Proposal
from answerable.reader.everyday.reach import UNSAID, UNSAID_NUMBER, headed, is_many, join_weight, reach
from answerable.reader.everyday.request import EverydayRequest, NumberTest
from answerable.reader.everyday.word_options import Element
from answerable.reader.linking.column_kinds import adds_up
from answerable.reader.linking.schema import ColumnView, Schema
from answerable.reader.linking.units import SPANS, size_in
from answerable.reader.plans.draft_to_plan import column_ref

_COUNT_ROWS = Aggregate(function="count")
_COMPARISON_WORDS = 3
_AMOUNT_OF_TABLE = 0.6
_NAMED = 0.6
_AGE = 0.4
_OLDEST = 120
_IN_ALL = frozenset({"altogether", "total", "overall", "combined"})
_MONEY_UNITS = frozenset({"bucks", "dollars", "euros", "pounds", "usd", "eur", "gbp", "grand"})


def number_options(request: EverydayRequest, table: int, test: NumberTest) -> list[ConditionChoice]:
    schema = request.question.schema
    found: list[tuple[float, ConditionChoice]] = []
    said_in_all = not _IN_ALL.isdisjoint(request.question.words)
    for view in schema.columns:
        if reach(schema, table, view.id) is None or not _may_be_compared(view, test):
            continue
        chance = max(headed(request, Element("column", view.id), test.heads), _compared(request, view, test))
        if view.table != table and adds_up(view):
            # Less than 100 in checking: the amount that the table is about.
            chance = max(chance, _AMOUNT_OF_TABLE * headed(request, Element("table", view.table), test.heads))
        if size_in(test.unit, view.words) is not None:
            chance = max(chance, 0.5)
        chance = max(chance, _AGE if _is_age(view, test) else 0.0)
        # A number that the column cannot have is none of it, unless the column is named.
        if not _in_range(view, test) and chance < _NAMED:
            continue
        if chance == 0.0 and view.table != table:
            continue
        weight = (0.0 if chance > 0.0 else UNSAID_NUMBER + UNSAID) + join_weight(schema, table, view.id)
        uses = frozenset({Element("column", view.id)}) if chance > 0.0 else frozenset()
        weight += 0.0 if _in_range(view, test) else -1.5
        where = (_comparison(view, test, column_ref(schema, view.id)),)
        option = ConditionChoice(where=where, uses=uses, weight=weight, tested=(view.id,))
        found.append((log(max(chance, 0.05)) + weight, option))
        if view.table == table and chance > 0.0 and adds_up(view):
            found.append((log(chance) + (0.3 if said_in_all else -1.0), _adds_up_to(schema, view, test, uses)))
    found += _time_taken(request, table, test)
    found += _counted(request, table, test)
    found.sort(key=lambda pair: -pair[0])
    return [option for _, option in found]


def _counted(request: EverydayRequest, table: int, test: NumberTest) -> list[tuple[float, ConditionChoice]]:
    """More than 3 times, at least 2 orders: how many rows belong together."""
    schema = request.question.schema
    found = []
    if test.unit in ("times", "time"):
        for end in (table, *(edge.end for edge in schema.edges.get(table, ()) if is_many(schema, table, edge.end))):
            said = request.options.best(Element("table", end), request.content)
            option = ConditionChoice(having=_count_is(test), counted=end, uses=frozenset({Element("table", end)}))
            found.append((log(max(said, 0.3)), option))
    for other in schema.tables:
        chance = headed(request, Element("table", other.id), test.heads)
        if test.unit in _MONEY_UNITS or test.low > (other.source.row_count or 0):
            continue
        if chance > 0.0 and other.id != table and is_many(schema, table, other.id):
            uses = frozenset({Element("table", other.id)})
            found.append((log(chance), ConditionChoice(having=_count_is(test), uses=uses, counted=other.id)))
    return found


def _adds_up_to(schema: Schema, view: ColumnView, test: NumberTest, uses: frozenset[Element]) -> ConditionChoice:
    """Who spent over 2000 altogether: what the rows of each amount to."""
    total = Aggregate(function="sum", of=column_ref(schema, view.id))
    having = _comparison(view, test, total)
    return ConditionChoice(having=having, uses=uses, tested=(view.id,), counted=view.table)


def _is_age(view: ColumnView, test: NumberTest) -> bool:
    """Anyone over 85, men between 30 and 40: of people, a number without a name is their age."""
    compared = test.operator in ("<", "<=", ">", ">=", "between")
    return compared and "age" in view.words and test.low <= _OLDEST and not test.unit.isalpha()


def _time_taken(request: EverydayRequest, table: int, test: NumberTest) -> list[tuple[float, ConditionChoice]]:
    """Took more than 5 days: the time from one date of the row to another."""
    if test.unit not in SPANS or test.high is not None:
        return []
    unit, size = SPANS[test.unit]
    right = Constant(value=_whole(test.low * size))
    found = []
    for quantity in derived(request, Proposal(table)):
        if isinstance(quantity.expr, DateDifference):
            taken = quantity.expr.model_copy(update={"unit": unit})
            compared = Compare.model_validate({"left": taken, "op": test.operator, "right": right})
            found.append((log(0.7), ConditionChoice(where=(compared,), uses=quantity.uses)))
    return found


def _compared(request: EverydayRequest, view: ColumnView, test: NumberTest) -> float:
    """How well the words of the comparison name the column: *older* than 30."""
    before = range(max(0, test.place - _COMPARISON_WORDS), test.place)
    mentions = [m for m in request.question.scene.links.columns if m.id == view.id and m.start in before]
    return max((m.score for m in mentions if m.start not in request.options.by_place), default=0.0)


def _count_is(test: NumberTest) -> Filter:
    low = Constant(value=_whole(test.low))
    if test.high is not None:
        return Between(left=_COUNT_ROWS, low=low, high=Constant(value=_whole(test.high)))
    return Compare.model_validate({"left": _COUNT_ROWS, "op": test.operator, "right": low})


def _may_be_compared(view: ColumnView, test: NumberTest) -> bool:
    if view.key or view.foreign or view.looks_like_id:
        return False
    if view.temporal:
        return False
    if view.numeric:
        return True
    return test.operator == "=" and any(example.strip().isdigit() for example in view.source.examples[:3])


def _in_range(view: ColumnView, test: NumberTest) -> bool:
    low, high = view.source.minimum, view.source.maximum
    if not isinstance(low, int | float) or not isinstance(high, int | float):
        return True
    return low <= _said_number(view, test) <= high


def _in_unit(view: ColumnView, number: float, unit: str = "") -> float:
    """50 million passengers are 50 where the column counts millions, 5 kg are 5000 in `mass_g`."""
    words = view.words
    if (size := size_in(unit, words)) is not None:
        return number * size
    for word, size in (("million", 10**6), ("billion", 10**9), ("thousand", 10**3)):
        if word in words or f"{word}s" in words:
            return number / size if number >= size else number
    return number


def _said_number(view: ColumnView, test: NumberTest) -> float:
    number, high = _in_unit(view, test.low, test.unit), view.source.maximum
    fits = not isinstance(high, int | float) or number <= high or test.unscaled > high
    return number if fits else test.unscaled


def _comparison(view: ColumnView, test: NumberTest, left: Expr) -> Filter:
    low = _whole(_said_number(view, test))
    if test.high is not None:
        high = _whole(_in_unit(view, test.high, test.unit))
        return Between(left=left, low=Constant(value=low), high=Constant(value=high))
    right = Constant(value=low if view.numeric else str(low))
    return Compare.model_validate({"left": left, "op": test.operator, "right": right})


def _whole(number: float) -> float | int:
    return int(number) if float(number).is_integer() else number
