"""What has happened to a row, and what has not: homes that were *sold*, *unpaid* bills, *uninsured* patients."""

from collections.abc import Iterator, Sequence

from answerable.core.words import stem
from answerable.query.plan import Compare, Constant, Filter, IsNull
from answerable.reader.everyday.condition import ConditionChoice
from answerable.reader.everyday.reach import is_number, reach
from answerable.reader.everyday.request import EverydayRequest
from answerable.reader.everyday.word_options import Element
from answerable.reader.linking.column_kinds import flag_values
from answerable.reader.linking.schema import ColumnView, Schema
from answerable.reader.plans.draft_to_plan import column_ref

NONE_VALUES = frozenset({"none", "no", "nothing", "n/a", "-", "nil"})
_IRREGULAR = """
sold:sell sells:sell selling:sell paid:pay pays:pay sent:send left:leave leaves:leave built:build bought:buy
given:give begun:begin began:begin started:start done:do taken:take won:win wins:win lost:lose returned:return
shipped:ship delivered:deliver closed:close cancelled:cancel canceled:cancel resolved:resolve
"""
_BASES = dict(pair.split(":") for pair in _IRREGULAR.split())
_HAPPENING = frozenset({*_BASES, *_BASES.values()})
_OWING = frozenset({"owe", "owes", "owed", "owing", "outstanding"})
"""Words for what is not paid."""
_NEGATING = ("un", "non")
_STOCK = frozenset({"stock", "quantity", "qty", "hand", "inventory", "available", "units"})
_LEVELS = frozenset({"reorder", "minimum", "threshold"})
_GONE = (("out", "of", "stock"), ("sold", "out"), ("none", "left"))
_REORDERING = frozenset({"reorder", "reordering", "restock", "restocking", "reordered", "restocked"})
_STOCK_WORDS = frozenset({"stock", "sold", "need", "order", "left"}) | _REORDERING
_LEAST_ROOT = 4
_FEW_VALUES = 12
_FAR = 1.0
_OF_ANOTHER = -0.3
_IMPLIED = -0.4


def happenings(request: EverydayRequest, table: int) -> Iterator[list[ConditionChoice]]:
    for place in request.content:
        word = request.question.words[place]
        root = _negated_root(word)
        if root is not None:
            found = [one for view in _near(request, table) for one in _lacks(request, table, view, root, place)]
            if found:
                yield sorted(found, key=lambda one: -one.weight)
        elif word in _HAPPENING and place not in request.negated:
            known = [one for view in _near(request, table) for one in _is_known(request, table, view, word, place)]
            if known:
                # A period says when it happened, and so that it did.
                dated = request.question.spans("range", "point")
                yield [ConditionChoice(), *known] if dated else [*known, ConditionChoice(weight=_IMPLIED)]


def stock_conditions(request: EverydayRequest, table: int) -> Iterator[list[ConditionChoice]]:
    """What is out of stock, and what has to be ordered again."""
    words, schema = request.question.words, request.question.schema
    stocks = [view for view in _near(request, table) if view.numeric and not _STOCK.isdisjoint(view.words)]
    levels = [view for view in stocks if not _LEVELS.isdisjoint(view.words)]
    levels += [view for view in _near(request, table) if view.numeric and not _LEVELS.isdisjoint(view.words)]
    amounts = [view for view in stocks if view not in levels]
    said = frozenset(Element("word", place) for place in request.content if words[place] in _STOCK_WORDS)
    if not amounts:
        return
    amount = column_ref(schema, amounts[0].id)
    uses = said | {Element("table", amounts[0].table)}
    many = amounts[0].table != table
    if any(_says(words, phrase) for phrase in _GONE):
        gone = Compare(left=amount, op="=", right=Constant(value=0))
        yield [ConditionChoice(where=(gone,), uses=uses, multiplies=many)]
    elif levels and not _REORDERING.isdisjoint(words):
        low = Compare(left=amount, op="<", right=column_ref(schema, levels[0].id))
        yield [ConditionChoice(where=(low,), uses=uses | {Element("column", levels[0].id)}, multiplies=many)]


def _says(words: Sequence[str], phrase: Sequence[str]) -> bool:
    return any(list(words[place : place + len(phrase)]) == list(phrase) for place in range(len(words)))


def _negated_root(word: str) -> str | None:
    """What an unpaid bill is not."""
    if word in _OWING:
        return "paid"
    for prefix in _NEGATING:
        root = word.removeprefix(prefix).lstrip("-")
        if word.startswith(prefix) and len(root) >= _LEAST_ROOT:
            return root
    return None


def _near(request: EverydayRequest, table: int) -> Iterator[ColumnView]:
    """Columns of the table and of those that are one join away."""
    schema = request.question.schema
    for view in schema.columns:
        far = reach(schema, table, view.id)
        if far is not None and far <= _FAR and not (view.key or view.foreign):
            yield view


def _same(one: str, other: str) -> bool:
    """Sold, sell; insured, insurance; paid, payment."""
    left, right = (stem(_BASES.get(word, word)) for word in (one, other))
    short, long = sorted((left, right), key=len)
    return left == right or (len(short) >= _LEAST_ROOT and long.startswith(short))


def _lacks(request: EverydayRequest, table: int, view: ColumnView, root: str, place: int) -> Iterator[ConditionChoice]:
    schema = request.question.schema
    weight = 0.0 if view.table == table else _OF_ANOTHER
    uses = frozenset({Element("word", place), Element("table", view.table)})
    for condition in _lacking(schema, view, root):
        yield ConditionChoice(
            where=(condition,), uses=uses, weight=weight, tested=(view.id,), multiplies=view.table != table
        )


def _lacking(schema: Schema, view: ColumnView, root: str) -> Iterator[Filter]:
    left, source = column_ref(schema, view.id), view.source
    few = source.type == "text" and 1 < (source.distinct_count or 0) <= _FEW_VALUES
    value = next((text for text in source.examples if few and _same(root, text.lower())), None)
    if value is not None:
        yield Compare(left=left, op="!=", right=Constant(value=value))
    if not any(_same(root, name) for name in view.words):
        return
    flag = flag_values(view)
    none = next((text for text in source.examples if text.strip().lower() in NONE_VALUES), None)
    if flag is not None:
        no: str | int | bool = flag[1]
        if view.source.type == "boolean":
            no = False
        elif view.numeric:
            no = int(flag[1])
        yield Compare(left=left, op="=", right=Constant(value=no))
    elif none is not None and few:
        yield Compare(left=left, op="=", right=Constant(value=none))
    elif is_number(view) and source.minimum == 0:
        yield Compare(left=left, op="=", right=Constant(value=0))
    elif source.null_count:
        yield IsNull(left=left)


def _is_known(
    request: EverydayRequest, table: int, view: ColumnView, word: str, place: int
) -> Iterator[ConditionChoice]:
    """Sold: the date or price of the sale is known."""
    dated = view.temporal or view.numeric
    if view.table == table and dated and view.source.null_count and any(_same(word, name) for name in view.words):
        condition = IsNull(left=column_ref(request.question.schema, view.id), negated=True)
        uses = frozenset({Element("word", place), Element("column", view.id)})
        yield ConditionChoice(where=(condition,), uses=uses, weight=0.0 if view.temporal else _IMPLIED)
