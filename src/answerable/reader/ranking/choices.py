"""Which readings are worth asking about: few, really different, and none that nobody would mean."""

import difflib
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from answerable.answers.answer import Binding
from answerable.core.catalog import Catalog, Column, Table
from answerable.core.errors import UserError
from answerable.core.words import name_words, normalise, stem, stemmed
from answerable.query.plan import (
    Aggregate,
    And,
    ColumnRef,
    Compare,
    Constant,
    Expr,
    Filter,
    IsNull,
    Not,
    Or,
    OrderItem,
    QueryPlan,
    ScalarQuery,
    SelectItem,
)
from answerable.query.row_source import rows_of
from answerable.query.scope import Scope, children, scope_of
from answerable.reader.explaining.bindings import UNUSED
from answerable.reader.explaining.brief_answer import brief_answer
from answerable.reader.linking.word_meanings import word_vector
from answerable.reader.ranking.dry_run import Rows
from answerable.reader.reading import Read, Reading, Reply, Unsure

MOST_CHOICES = 3
FULL_SENTENCE = 10
"""From so many words and marks on, a question is a full sentence that says what it wants to see."""
PARTLY_UNDERSTOOD = 0.8
"""A word that has no part in a reading keeps it from being sure, however likely it is."""
ALONE = 0.6
"""How likely the only sensible reading is at least."""
_ID_WORDS = frozenset({"id", "ids", "key", "keys", "code", "codes", "identifier"})
_EQUALS = re.compile(r" = '(.+)'$")
_ALIKE = 0.7
"""From this likeness on, a value was found by its spelling, not by one of its other names."""
_SAID_ANYWHERE = frozenset({"here", "there", "now", "please", "currently", "overall", "altogether", "exactly"})
"""Words that change nothing."""
_EACH = frozenset({"each", "every"})
_PARTICIPLES = frozenset(
    {"bought", "built", "done", "driven", "given", "held", "made", "run", "sold", "sung", "taken", "taught", "written"}
)
"""What is done "by" somebody, besides participles in -ed."""
_ADDED_UP = frozenset({"sum", "avg", "median", "stddev"})


class UnusedPhrase(NamedTuple):
    """A phrase of the question that has no part in the plan."""

    text: str
    describes: bool
    """It belongs to a name of the data, or says what to group by."""


def unused_phrases(reading: Reading) -> tuple[str, ...]:
    """Phrases of the question that have no part in the plan."""
    return tuple(
        binding.phrase
        for binding in reading.bindings
        if binding.meaning == UNUSED and binding.phrase.lower() not in _SAID_ANYWHERE
    )


def answered_or_asked(reply: Read, unused: Sequence[UnusedPhrase], catalog: Catalog) -> Reply:
    """Asks instead of answering if a word that describes what is asked for has no part in the best reading (the urban
    population), or if a word was taken for a value that is only spelt like it (Iceland for Ireland). Any other unused
    word keeps the answer from being sure."""
    describing = tuple(phrase.text for phrase in unused if phrase.describes)
    mistaken = next(filter(None, (_other_word(binding, catalog) for binding in reply.best.bindings)), None)
    if describing:
        words = ", ".join(f"“{word}”" for word in describing[:4])
        question = f"{words} {'was' if len(describing) == 1 else 'were'} not understood. Which of these do you mean?"
    elif mistaken is not None:
        question = f"“{mistaken.said}” is not in the data. Do you mean “{mistaken.value}”?"
    elif _ranks_by_row_numbers(reply.best.plan, catalog):
        question = "Which of these do you mean?"
    else:
        confidence = min(reply.best.confidence, PARTLY_UNDERSTOOD) if unused else reply.best.confidence
        return reply.model_copy(update={"best": reply.best.model_copy(update={"confidence": confidence})})
    unknown = describing or ((mistaken.said,) if mistaken else ())
    return Unsure(question=question, readings=(reply.best, *reply.others), unknown=unknown)


def answered_alone(only: Reading) -> Read:
    """The only sensible reading as an answer: fairly sure, because others were left out."""
    return Read(best=only.model_copy(update={"confidence": min(max(only.confidence, ALONE), PARTLY_UNDERSTOOD)}))


class _Mistaken(NamedTuple):
    said: str
    value: str


def _other_word(binding: Binding, catalog: Catalog) -> _Mistaken | None:
    """A phrase that is a word of its own, with the value that it was taken for because of its spelling."""
    found = _EQUALS.search(binding.meaning)
    said, value = normalise(binding.phrase), normalise(found[1]) if found else ""
    alike = difflib.SequenceMatcher(None, said, value).ratio() >= _ALIKE
    if not alike or stemmed(said) == stemmed(value) or said in value or value in said or word_vector(said) is None:
        return None
    columns = (column for table in catalog.tables for column in table.columns)
    if found is not None and any(column.calls(found[1], binding.phrase) for column in columns):
        return None
    return _Mistaken(binding.phrase, found[1] if found else "")


def sensible(readings: Sequence[Reading], words: Sequence[str], catalog: Catalog) -> tuple[Reading, ...]:
    """The readings that somebody may mean, each once, the best first. `words` are those of the question, in small
    letters."""
    possible = [reading for reading in readings if not _is_absurd(reading.plan, words, catalog)] or readings[:1]
    if not possible:
        return ()
    distinct: dict[object, Reading] = {}
    for reading in possible:
        distinct.setdefault(_content(reading.plan), reading)
    found = list(distinct.values())
    found = [reading for reading in found if not _ignores_the_groups(reading.plan, words)] or found
    first, *rest = found
    by_condition = not _ignores_the_condition(first.plan)
    if len(words) >= FULL_SENTENCE:
        return (first, *sorted(rest, key=lambda one: by_condition and _ignores_the_condition(one.plan)))
    rest = [one for one in rest if not (by_condition and _ignores_the_condition(one.plan))]
    # Who says little mostly asks for things by their names.
    return (first, *sorted(rest, key=lambda one: not _shows_names(one.plan, catalog)))


def choices_of(readings: Sequence[Reading], results: Sequence[Rows | None]) -> tuple[Reading, ...]:
    """At most three readings, each with what it would answer. Those that give the same rows are one choice."""
    found: dict[object, Reading] = {}
    for reading, rows in zip(readings, results, strict=True):
        key = reading.sql if rows is None else tuple(sorted((tuple(row) for row in rows), key=repr))
        example = None if rows is None else brief_answer(rows)
        found.setdefault(key, reading.model_copy(update={"example": example}))
    return tuple(found.values())[:MOST_CHOICES]


def _content(plan: QueryPlan) -> object:
    """Equal for plans that say the same: the order of the columns and the removal of repeats do not count."""
    shown = [item.model_dump_json() for item in plan.select]
    plain = plan.model_copy(update={"select": (), "distinct": False})
    rest = _as_first_row(plain).model_dump_json()
    return tuple(sorted(shown)), rest


def _as_first_row(plan: QueryPlan) -> QueryPlan:
    """ "Whose price is the highest price" as "the one with the highest price": they differ only in ties."""
    match plan.where:
        case Compare(
            op="=", left=left, right=ScalarQuery(plan=QueryPlan(select=[SelectItem(expr=Aggregate() as best)]))
        ):
            if best.of == left and best.function in ("min", "max") and not plan.order_by:
                order = (OrderItem(expr=left, descending=best.function == "max"),)
                return plan.model_copy(update={"where": None, "order_by": order, "limit": 1})
        case IsNull(negated=True, left=left) if [item.expr for item in plan.order_by] == [left]:
            return plan.model_copy(update={"where": None})
    return plan


def _ignores_the_condition(plan: QueryPlan) -> bool:
    return plan.where is None and plan.having is None and plan.limit is None


def _ignores_the_groups(plan: QueryPlan, words: Sequence[str]) -> bool:
    """ "By region" asks for groups or for an order, never for neither, and "each region" for groups, unless rows are
    listed: "the party of each delegate". Bridges that were built by somebody are no groups."""
    if plan.group_by:
        return False
    if not _EACH.isdisjoint(words) and any(isinstance(item.expr, Aggregate) for item in plan.select):
        return True
    by = any(word == "by" and not _is_participle(before) for before, word in pairwise(("", *words)))
    return (by or "per" in words) and not _as_first_row(plan).order_by


def _is_participle(word: str) -> bool:
    return word.endswith("ed") or word in _PARTICIPLES


def _is_absurd(plan: QueryPlan, words: Sequence[str], catalog: Catalog) -> bool:
    """Whether types, ranges or roles of columns say that nobody asks for this."""
    try:
        scope = scope_of(plan, catalog)
    except UserError:
        return True
    speaks_of_keys = not _ID_WORDS.isdisjoint(words)
    shown = [item.expr for item in plan.select]
    conditions = [*_compared(plan.where), *_compared(plan.having)]
    keys = [] if speaks_of_keys else [ref for ref in shown if isinstance(ref, ColumnRef) and _is_key(ref, scope)]
    return (
        any(_adds_up_keys(expr, scope) for expr in (*shown, *(item.expr for item in plan.order_by)))
        or _ranks_by_row_numbers(plan, catalog)
        or any(_never_holds(part, speaks_of_keys, scope) for part in conditions)
        or bool(keys and len(keys) == len(shown))
        or _counts_its_own_groups(plan)
        or counts_single_rows(plan, catalog)
        or _hides_its_groups(plan)
        or _shows_only_what_is_fixed(plan, conditions)
        or any(isinstance(key, ColumnRef) and scope.column(key).type == "number" for key in plan.group_by)
    )


def _compared(condition: Filter | None) -> Iterator[Compare]:
    match condition:
        case And() | Or():
            for part in condition.parts:
                yield from _compared(part)
        case Not():
            yield from _compared(condition.part)
        case Compare():
            yield condition


def _is_key(ref: ColumnRef, scope: Scope) -> bool:
    """Whether it tells rows apart by numbers or codes. A name that happens to be a key is what people ask for."""
    table, column = scope.tables[ref.table], scope.column(ref)
    if _is_name(column) or _is_worded(column):
        return False
    if not any(_is_name(other) for other in table.columns) and table.primary_key == (column.name,):
        return False
    return column.name in table.primary_key or _refers(table, column, scope)


def _is_name(column: Column) -> bool:
    return column.type == "text" and bool({"name", "title", "label"} & set(name_words(column.name)))


def _is_worded(column: Column) -> bool:
    """Whether it holds words, and is not called a code."""
    coded = column.type != "text" or not _ID_WORDS.isdisjoint(name_words(column.name))
    return not coded and bool(column.examples) and not any(map(_has_digit, column.examples))


def _has_digit(text: str) -> bool:
    return any(char.isdigit() for char in text)


def _shows_names(plan: QueryPlan, catalog: Catalog) -> bool:
    """Whether the rows are shown by their own names."""
    scope = scope_of(plan, catalog)
    root = rows_of(plan, scope).root
    shown = [item.expr for item in plan.select]
    return any(isinstance(ref, ColumnRef) and ref.table == root and _is_name(scope.column(ref)) for ref in shown)


def _refers(table: Table, column: Column, scope: Scope) -> bool:
    return any(
        relationship.from_table == table.name and relationship.from_columns == (column.name,)
        for relationship in scope.catalog.relationships
    )


def _adds_up_keys(expr: Expr, scope: Scope) -> bool:
    if isinstance(expr, Aggregate) and expr.function in _ADDED_UP and isinstance(expr.of, ColumnRef):
        table, column = scope.tables[expr.of.table], scope.column(expr.of)
        return column.name in table.primary_key or _refers(table, column, scope) or _numbers_rows(table, column)
    return any(_adds_up_keys(child, scope) for _, child in children(expr))


def _numbers_rows(table: Table, column: Column) -> bool:
    """Whether the rows are called by its numbers: the column `flight` of the table `flights` holds flight numbers. The
    column `deaths` of the table `deaths` counts."""
    words = name_words(column.name)
    plurals = [word for word in name_words(table.name) if word not in words]
    return column.type == "integer" and len(words) == 1 and stem(words[0]) in map(stem, plurals)


def _ranks_by_row_numbers(plan: QueryPlan, catalog: Catalog) -> bool:
    """Whether it picks the first rows by what the rows are called. The longest flight has not the highest number."""
    try:
        scope = scope_of(plan, catalog)
    except UserError:
        return False
    ranked = [item.expr for item in plan.order_by if plan.limit is not None and isinstance(item.expr, ColumnRef)]
    return any(
        _numbers_rows(scope.tables[ref.table], scope.column(ref)) for ref in ranked if isinstance(ref, ColumnRef)
    )


def _never_holds(part: Compare, speaks_of_keys: bool, scope: Scope) -> bool:
    """A number that the column cannot have, or a number where the column has words."""
    left, right = part.left, part.right
    if not isinstance(left, ColumnRef) or not isinstance(right, Constant) or right.type is not None:
        return False
    column, value = scope.column(left), right.value
    if isinstance(value, str) and value.isdigit() and column.type == "text":
        worded = bool(column.examples) and not any(map(_has_digit, column.examples))
        return worded or part.op not in ("=", "!=")
    if not isinstance(value, int | float) or isinstance(value, bool):
        return False
    if _is_key(left, scope) and not speaks_of_keys:
        return True
    low, high = column.minimum, column.maximum
    known = isinstance(low, int | float) and isinstance(high, int | float)
    return known and part.op == "=" and not low <= value <= high  # type: ignore[operator]


def _counts_its_own_groups(plan: QueryPlan) -> bool:
    """ "The number of different species, for each species" is always 1, and "the lowest age, for each age" the age."""
    calculated = [item.expr for item in plan.select if isinstance(item.expr, Aggregate)]
    return any(expr.of in plan.group_by and (expr.function != "count" or expr.distinct) for expr in calculated)


def counts_single_rows(plan: QueryPlan, catalog: Catalog) -> bool:
    """Whether rows are ranked by how many there are of each, and each is alone: "the track with the most tracks"."""
    counted = Aggregate(function="count")
    if plan.limit is None or plan.having is not None or [item.expr for item in plan.order_by] != [counted]:
        return False
    scope = scope_of(plan, catalog)
    rows = rows_of(plan, scope)
    keys = [key for key in plan.group_by if isinstance(key, ColumnRef) and key.table == rows.root]
    return rows.exact and any(_is_unique(key, scope) for key in keys)


def _is_unique(ref: ColumnRef, scope: Scope) -> bool:
    table, column = scope.tables[ref.table], scope.column(ref)
    return column.unique or table.primary_key == (column.name,)


def _hides_its_groups(plan: QueryPlan) -> bool:
    """Numbers of which nothing says what they belong to."""
    shown = [item.expr for item in plan.select]
    tables = {key.table for key in plan.group_by if isinstance(key, ColumnRef)}
    named = any(isinstance(expr, ColumnRef) and expr.table in tables for expr in shown)
    many = bool(plan.group_by) and plan.limit != 1 and plan.having is None
    return many and not named and not any(expr in plan.group_by for expr in shown)


def _shows_only_what_is_fixed(plan: QueryPlan, conditions: Sequence[Compare]) -> bool:
    """ "The region of the sales whose region is south"."""
    fixed = {part.left for part in conditions if part.op == "=" and isinstance(part.left, ColumnRef)}
    shown = [item.expr for item in plan.select]
    return isinstance(plan.where, Compare) and bool(shown) and all(expr in fixed for expr in shown)
