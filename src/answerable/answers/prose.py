"""Writes a few honest sentences about the rows. Every number in them is a cell or a count."""

from calendar import month_name
from collections.abc import Callable, Sequence

from answerable.answers.format import FormatSpec, format_cell
from answerable.answers.roles import Field, calendar_part, fields, person_name
from answerable.core.records import dataclass
from answerable.core.values import Json, OutputColumn
from answerable.query.headings import COUNT_ROWS, RowNoun
from answerable.query.plan import QueryPlan

Rows = Sequence[Sequence[Json]]

_LISTED = 5
_FIELDS_IN_SENTENCE = 6
_LONG_TEXT = 80
_NAMED_IN_RANKING = 2
"""A ranking names the first two rows. If there are no more, it need not count them."""
_NAMES = frozenset({"name", "title", "full name", "label"})


@dataclass(frozen=True, slots=True)
class DescribedResult:
    """What there is to talk about."""

    columns: Sequence[OutputColumn]
    rows: Rows
    """All of them, or the first."""
    row_count: int
    spec: FormatSpec
    plan: QueryPlan | None = None
    noun: RowNoun | None = None
    """What the rows are, or what a plain count counts."""

    @property
    def complete(self) -> bool:
        return len(self.rows) == self.row_count

    def shown(self, row: int, column: int) -> str:
        """A cell as it stands in the table, with its unit; long text is cut."""
        how = self.spec.columns[column]
        text = format_cell(self.rows[row][column], how.format)
        if text is None:
            return "no value"
        cut = text if len(text) <= _LONG_TEXT else text[: _LONG_TEXT - 1].rstrip() + "…"
        return f"{cut} {how.unit}" if how.unit else cut


def prose(result: DescribedResult) -> str:
    if result.row_count == 0:
        return _nothing(result)
    if result.row_count == 1:
        return _one_row(result)
    parts = (_ranking(result) or _overview(result), _missing(result))
    return " ".join(part for part in parts if part)


def _nothing(result: DescribedResult) -> str:
    """What was looked for stands beside the answer, as what was understood."""
    if result.noun is not None and result.plan is not None and not result.plan.group_by:
        return f"No {result.noun.many} match."
    return "Nothing matched." if result.plan is not None else "The query ran and gave no rows."


def counted(rows: int, noun: RowNoun | None) -> str:
    """How many rows there are, in a sentence."""
    return f"{_number_of(rows, noun)}."


def _number_of(rows: int, noun: RowNoun | None) -> str:
    return f"{rows:,} {noun.of(rows) if noun else 'row' if rows == 1 else 'rows'}"


def _counted(result: DescribedResult, label: int | None = None) -> str:
    """The number of rows. A group without a name is a row, but no country."""
    unnamed = label is not None and any(row[label] is None for row in result.rows)
    return _number_of(result.row_count, None if unnamed else result.noun)


def _one_row(result: DescribedResult) -> str:
    if len(result.columns) == 1:
        return _one_value(result)
    if ranked := _ranked_by(result):
        return f"{_label(result, 0, ranked)} has {_superlative(result, ranked)}: {result.shown(0, ranked.index)}."
    if len(result.columns) > _FIELDS_IN_SENTENCE:
        return f"1 row with {len(result.columns)} columns."
    found = fields(result.columns, result.plan)
    name = person_name(found)
    # What a number is about comes before the number.
    rest = sorted((field for field in found if field not in name), key=lambda field: field.role == "measure")
    parts = [f"{result.spec.columns[field.index].header}: {result.shown(0, field.index)}" for field in rest]
    return _ended("; ".join([*([_full_name(result, 0, name)] if name else []), *parts]))


def _one_value(result: DescribedResult) -> str:
    head = result.spec.columns[0].header
    value = result.rows[0][0]
    if value is None:
        return f"{head}: no value. Either nothing matched, or what matched is empty."
    if isinstance(value, int) and (things := _counted_things(result, value)) is not None:
        return things
    shown = _ended(result.shown(0, 0))
    # A name needs no "Name:" before it.
    return shown if head.lower() in _NAMES and not shown[:1].isdigit() else f"{head}: {shown}"


def _counted_things(result: DescribedResult, count: int) -> str | None:
    """What a plain count counts: the rows of one table, all of them or those that match."""
    plan, noun = result.plan, result.noun
    if plan is None or noun is None or plan.group_by or len(plan.select) != 1 or plan.select[0].expr != COUNT_ROWS:
        return None
    match = (" matches" if count == 1 else " match") if plan.where or plan.joins else ""
    return f"{_number_of(count, noun)}{match}."


def _ranking(result: DescribedResult) -> str | None:
    """The first and the second, when the question was for the most or the least of something."""
    ranked = _ranked_by(result)
    if ranked is None:
        return None
    top, second = _label(result, 0, ranked), _label(result, 1, ranked)
    value, next_value = result.shown(0, ranked.index), result.shown(1, ranked.index)
    count = "" if result.row_count == _NAMED_IN_RANKING else f" {_counted(result)}."
    if result.rows[0][ranked.index] == result.rows[1][ranked.index]:
        return f"{top} and {second} share {_superlative(result, ranked)}: {value}.{count}"
    return f"{top} has {_superlative(result, ranked)}: {value}, followed by {second}: {next_value}.{count}"


def _overview(result: DescribedResult) -> str:
    found = fields(result.columns, result.plan)
    measures = [f for f in found if f.role == "measure"]
    labels = [f for f in found if f.role in ("time", "category")]
    if len(labels) == 1 and len(measures) == 1 and len(found) == 2 and result.complete:
        return f"{_extent(result, labels[0])} {_extremes(result, labels[0], measures[0])}".strip()
    if len(found) == 1 and found[0].role in ("category", "time"):
        return _listed(result, lambda row: result.shown(row, 0))
    if name := person_name(found):
        return _listed(result, lambda row: _full_name(result, row, name))
    return f"{_counted(result, labels[0].index if len(labels) == 1 else None)}."


def _extent(result: DescribedResult, label: Field) -> str:
    values = [(row[label.index], i) for i, row in enumerate(result.rows) if row[label.index] is not None]
    if label.role != "time" or len(values) < len(result.rows):
        return f"{_counted(result, label.index)}."
    first, last = (result.shown(row, label.index) for _, row in (min(values), max(values)))
    return f"{_counted(result)}, from {first} to {last}."


def _extremes(result: DescribedResult, label: Field, measure: Field) -> str:
    """Names the highest and the lowest row. Leaves out an extreme that more than one row shares."""
    cells = [(row[measure.index], i) for i, row in enumerate(result.rows)]
    values = [(value, i) for value, i in cells if isinstance(value, int | float)]
    numbers = [value for value, _ in values]
    names = {row[label.index] for row in result.rows} - {None}
    if len(values) < 2 or len(names) < len(result.rows):
        return ""
    parts = []
    for word, (value, row) in (("highest", max(values)), ("lowest", min(values))):
        if numbers.count(value) == 1:
            month = _month(result, row, label)
            link = "in" if label.role == "time" or month else "for"
            name = month or result.shown(row, label.index)
            parts.append(f"{word} {link} {name} ({result.shown(row, measure.index)})")
    head = result.spec.columns[measure.index].header
    return f"{head}: {', '.join(parts)}." if parts else ""


def _month(result: DescribedResult, row: int, label: Field) -> str | None:
    """The name of a month that stands in a column as its number."""
    number = result.rows[row][label.index]
    named = label.type == "integer" and calendar_part(label.name) == "month"
    return month_name[number] if named and isinstance(number, int) and 1 <= number <= len(month_name) - 1 else None


def _listed(result: DescribedResult, name: Callable[[int], str]) -> str:
    names = [name(row) for row in range(min(_LISTED, len(result.rows)))]
    if result.row_count > len(names):
        return f"{_counted(result)}; the first are {_joined(names)}."
    return f"{_counted(result)}: {_joined(names)}."


def _full_name(result: DescribedResult, row: int, name: Sequence[Field]) -> str:
    return " ".join(result.shown(row, field.index) for field in name)


def _missing(result: DescribedResult) -> str:
    """Says for which columns no row has a value: a table of gaps must not look like an answer."""
    if not result.complete:
        return ""
    empty = [index for index in range(len(result.columns)) if all(row[index] is None for row in result.rows)]
    heads = [_inside_sentence(result.spec.columns[index].header) for index in empty[:_FIELDS_IN_SENTENCE]]
    return f"None of them has a value for {_joined(heads)}." if heads else ""


def _ranked_by(result: DescribedResult) -> Field | None:
    """The measure that the rows are ordered by, when there is a name to put beside it."""
    plan = result.plan
    if plan is None or not plan.order_by or plan.set_operation is not None or len(plan.select) != len(result.columns):
        return None
    wanted = plan.order_by[0].expr
    found = fields(result.columns, plan)
    at = next((i for i, item in enumerate(plan.select) if item.expr == wanted), None)
    if at is None or found[at].role != "measure" or not any(f.role in ("category", "time", "key") for f in found):
        return None
    return found[at] if all(row[at] is not None for row in result.rows[:2]) else None


def _label(result: DescribedResult, row: int, ranked: Field) -> str:
    named = [f for f in fields(result.columns, result.plan) if f.index != ranked.index]
    if name := person_name(named):
        return _full_name(result, row, name)
    best = [f for f in named if f.role == "category"] or [f for f in named if f.role in ("time", "key")]
    return ", ".join(result.shown(row, f.index) for f in best[:2])


def _superlative(result: DescribedResult, ranked: Field) -> str:
    assert result.plan is not None
    inside = _inside_sentence(result.spec.columns[ranked.index].header)
    if result.plan.order_by[0].expr == COUNT_ROWS and inside != "count":
        return f"the {'most' if result.plan.order_by[0].descending else 'fewest'} {inside}"
    return f"the {'highest' if result.plan.order_by[0].descending else 'lowest'} {inside}"


def _inside_sentence(header: str) -> str:
    """Abbreviations keep their capitals."""
    return header if header[1:2].isupper() else header[:1].lower() + header[1:]


def _joined(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _ended(sentence: str) -> str:
    return sentence if sentence.endswith((".", "?", "!", "…")) else sentence + "."
