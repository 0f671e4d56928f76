"""Conditions on values and numbers, and how many rows are wanted."""

from collections.abc import Iterable, Sequence

from answerable.core.records import dataclass
from answerable.query.plan import Between, Compare, Constant, Filter, InList
from answerable.reader.grammar.clause_parts import ColumnUse, Conditions, Words, both
from answerable.reader.grammar.dated_scene import DatedScene, places_of
from answerable.reader.grammar.scale_columns import CURRENCIES, pay_column, price_column
from answerable.reader.linking.cues import Cue
from answerable.reader.linking.links import Mention, ValueMention
from answerable.reader.linking.scene import comparison_at
from answerable.reader.linking.schema import Schema
from answerable.reader.linking.units import SCALES, is_unit, size_in
from answerable.reader.plans.draft_to_plan import column_ref, equals

# Below the score of a synonym (0.6), so that "older" names the age.
_COMPARED_NAMED = 0.5
# How many words may stand between a negation and the flag that it negates: not subscribed to the newsletter.
_SCOPE = 3
_GETTING_PAID = frozenset(["make", "makes", "making", "made", "earn", "earns", "earning", "earned", "paid"])
_NUMBER_CUES = ("GT", "LT", "GE", "LE", "EQ")


@dataclass(frozen=True, slots=True)
class RowLimit:
    rows: int
    words: Words


def value_conditions(question: DatedScene, table: int, *, negatable: bool = False) -> Conditions:
    """Every value of the question as a condition on the column that holds it. If more than one column holds it, the
    nearest is compared. With `negatable`, a negation right before a value negates its condition."""
    by_column: dict[tuple[int, bool], list[str]] = {}
    mentions: list[Mention | ValueMention | Cue] = []
    for value in question.values:
        best = min(question.rivals(value), key=lambda v: (-v.score, question.distance_to(table, v.column), v.column))
        negation = _negation_before(question, value.start) if negatable else None
        by_column.setdefault((best.column, negation is not None), []).append(best.value)
        mentions.extend([negation] if negation else [])
        owner = question.schema.columns[best.column].table
        mentions.append(value)
        mentions.extend(m for m in question.scene.columns.get(best.column, ()) if m.score >= 0.85)
        mentions.extend(m for m in question.scene.tables.get(owner, ()) if m.score >= 0.9)
    filters = tuple(_is_one_of(question.schema, *key, texts) for key, texts in by_column.items())
    return both(Conditions(filters, places_of(mentions)), _flag_conditions(question, table))


def _flag_conditions(question: DatedScene, table: int) -> Conditions:
    """Customers who get the newsletter, or do not: a column of yes and no that is named means its yes."""
    grouped = {cue.end for cue in question.cues("EACH", "BY")}
    filters: list[Filter] = []
    mentions: list[Mention | Cue] = []
    for column in question.schema.tables[table].columns:
        view = question.schema.columns[column]
        named = [m for m in question.columns() if m.id == column]
        if view.source.type != "boolean" or not named or any(m.start in grouped for m in named):
            continue
        negation = next((cue for cue in question.cues("NEG") if 0 <= named[0].start - cue.end <= _SCOPE), None)
        filters.append(equals(question.schema, column, negation is None))
        mentions += [*named, *([negation] if negation else [])]
    return Conditions(tuple(filters), places_of(mentions))


def _negation_before(question: DatedScene, place: int) -> Cue | None:
    # Two words may stand between: "other than the ones in Biscoe".
    return next((cue for cue in question.cues("NEG") if 0 <= place - cue.end <= 2), None)


def _is_one_of(schema: Schema, column: int, negated: bool, texts: Sequence[str]) -> Filter:
    if len(texts) == 1 and not negated:
        return equals(schema, column, texts[0])
    if len(texts) == 1:
        return Compare(left=column_ref(schema, column), op="!=", right=Constant(value=texts[0]))
    values = tuple(Constant(value=text) for text in texts)
    return InList(left=column_ref(schema, column), values=values, negated=negated)


def limit(question: DatedScene) -> RowLimit:
    """The first number that is said, else 1: "the top 3", "the best product"."""
    for place in question.free_numbers:
        number = question.scene.tokens[place].value
        if isinstance(number, int) and number > 0:
            return RowLimit(number, frozenset({place}))
    return RowLimit(1, frozenset())


def compared_column(question: DatedScene, table: int, *, temporal: bool = False) -> ColumnUse | None:
    """The numeric column of the table that the question names, also by an adjective (older: age). With `temporal`, it
    may be a date: the newest."""
    mentions = [
        m
        for m in question.scene.links.columns
        if question.schema.columns[m.id].table == table
        and (question.schema.columns[m.id].numeric or (temporal and question.schema.columns[m.id].temporal))
        and not question.is_key(m.id)
        and question.value_places.isdisjoint(range(m.start, m.end))
        and m.score >= _COMPARED_NAMED
    ]
    best = max(mentions, key=lambda m: (m.score, -m.id), default=None)
    if best is None or _is_asked_for(question, best):
        return None
    return ColumnUse(best.id, places_of(m for m in mentions if m.id == best.id))


def _is_asked_for(question: DatedScene, mention: Mention) -> bool:
    """What is the height of …: the column is wanted, not compared."""
    before = [word for word in question.words[max(0, mention.start - 3) : mention.start] if word != "the"]
    verbs: Iterable[str] = ("return", "give", "show", "find", "list")
    return before[-2:] in (["what", "is"], ["what", "are"]) or before[-1:] in [[word] for word in verbs]


def number_conditions(question: DatedScene, table: int) -> Conditions:
    """Products above 50, people between 20 and 30."""
    numbers = question.free_numbers
    compared = (compared_column(question, table) or _unnamed_number(question, table)) if numbers else None
    if compared is None:
        return Conditions((), frozenset())
    left = column_ref(question.schema, compared.column)
    scales = {place + 1 for place in numbers if _is_unit(question, place + 1)}
    constants = [Constant(value=_in_unit(question, place, compared.column)) for place in numbers]
    words = compared.words | frozenset(numbers) | scales
    if len(numbers) == 2:
        between = Between(left=left, low=constants[0], high=constants[1])
        return Conditions((between,), words | places_of(question.cues("BETWEEN")))
    test = Compare(left=left, op=comparison_at(question.scene, numbers[0]), right=constants[0])
    return Conditions((test,), words | places_of(question.cues(*_NUMBER_CUES)))


def _unnamed_number(question: DatedScene, table: int) -> ColumnUse | None:
    """Cheaper than 20, less than 20 euros, goods over 400: the price of what has one; who makes more than 60k: the
    pay."""
    schema, words = question.schema, question.words
    paid = frozenset(place for place, word in enumerate(words) if word in _GETTING_PAID)
    if paid and schema.tables[table].people:
        pay = pay_column(schema, table)
        return None if pay is None else ColumnUse(pay, paid)
    price = price_column(schema, table)
    number = question.free_numbers[0]
    compared = any(cue.end == number for cue in question.cues("GT", "LT", "GE", "LE", "BETWEEN"))
    currency = (
        frozenset(range(number, number + 2))
        if words[number + 1 : number + 2] and words[number + 1] in CURRENCIES
        else frozenset()
    )
    return ColumnUse(price, currency) if price is not None and (compared or currency) else None


def _is_unit(question: DatedScene, place: int) -> bool:
    word = (question.words[place : place + 1] or [""])[0]
    return word in SCALES or is_unit(word)


def _scale(question: DatedScene, place: int) -> int:
    """What the word after a number multiplies it by."""
    after = question.words[place + 1 : place + 2]
    return SCALES.get(after[0], 1) if after else 1


def _in_unit(question: DatedScene, place: int, column: int) -> float | int | None:
    """The number in the unit of the column: 5 kg are 5000 in `mass_g`, 2 trillion are 2000 in `assets_billion`."""
    number = question.scene.tokens[place].value
    if number is None:
        return None
    words = question.schema.columns[column].words
    scale: float = _scale(question, place)
    own = next((SCALES[word.removesuffix("s")] for word in words if word.removesuffix("s") in SCALES), 1)
    scale *= size_in((question.words[place + 1 : place + 2] or [""])[0], words) or 1
    # A number that is far too small for such a scale was meant in the column's unit already.
    scaled = number * scale / own if scale >= own else number
    return int(scaled) if float(scaled).is_integer() else scaled
