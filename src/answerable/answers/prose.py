"""Writes a few honest sentences about the rows. Every number in them is a cell or a count."""

from collections.abc import Sequence
from dataclasses import dataclass

from answerable.answers.format import FormatSpec, format_cell
from answerable.answers.roles import Field, fields, words
from answerable.core.values import Json, OutputColumn
from answerable.query.plan import Aggregate, QueryPlan

Rows = Sequence[Sequence[Json]]

_LISTED = 5
_FIELDS_IN_SENTENCE = 6
_LONG_TEXT = 80


@dataclass(frozen=True, slots=True)
class DescribedResult:
    """What there is to talk about."""

    columns: Sequence[OutputColumn]
    rows: Rows
    """All of them, or the first."""
    row_count: int
    spec: FormatSpec
    plan: QueryPlan | None = None
    understood: str | None = None

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
    parts = (_ranking(result) or _overview(result), _missing(result), _cut(result))
    return " ".join(part for part in parts if part)


def counted(rows: int) -> str:
    return f"{rows:,} row{'' if rows == 1 else 's'}."


def _nothing(result: DescribedResult) -> str:
    if result.understood:
        return f"Nothing matched. What was looked for: {_ended(result.understood)}"
    if result.plan is not None:
        return f"Nothing matched in {result.plan.entity}."
    return "The query ran and gave no rows."


def _one_row(result: DescribedResult) -> str:
    if len(result.columns) == 1:
        return _one_value(result)
    if ranked := _ranked_by(result):
        return f"{_label(result, 0, ranked)} has {_superlative(result, ranked)}: {result.shown(0, ranked.index)}."
    if len(result.columns) > _FIELDS_IN_SENTENCE:
        return f"1 row with {len(result.columns)} columns."
    heads = [column.header for column in result.spec.columns]
    return "; ".join(f"{head}: {result.shown(0, i)}" for i, head in enumerate(heads)) + "."


def _one_value(result: DescribedResult) -> str:
    head = result.spec.columns[0].header
    if result.rows[0][0] is None:
        return f"{head}: no value. Either nothing matched, or what matched is empty."
    if (things := _counted_things(result)) is not None:
        return f"{result.shown(0, 0)} {things}."
    return f"{head}: {_ended(result.shown(0, 0))}"


def _counted_things(result: DescribedResult) -> str | None:
    """What a plain count counts: the rows of one table, all of them or those that match. Joins may repeat rows."""
    plan = result.plan
    if plan is None or plan.joins or plan.group_by or plan.set_operation or len(plan.select) != 1:
        return None
    # “1 orders” would be wrong, and the name of a table has no reliable singular.
    if plan.select[0].expr != Aggregate(function="count") or result.rows[0][0] == 1:
        return None
    return " ".join(words(plan.entity)) + (" match" if plan.where else "")


def _ranking(result: DescribedResult) -> str | None:
    """The first and the second, when the question was for the most or the least of something."""
    ranked = _ranked_by(result)
    if ranked is None:
        return None
    top, second = _label(result, 0, ranked), _label(result, 1, ranked)
    value, next_value = result.shown(0, ranked.index), result.shown(1, ranked.index)
    count = counted(result.row_count)
    if result.rows[0][ranked.index] == result.rows[1][ranked.index]:
        return f"{top} and {second} share {_superlative(result, ranked)}: {value}. {count}"
    return f"{top} has {_superlative(result, ranked)}: {value}, followed by {second}: {next_value}. {count}"


def _overview(result: DescribedResult) -> str:
    found = fields(result.columns, result.plan)
    measures = [f for f in found if f.role == "measure"]
    labels = [f for f in found if f.role in ("time", "category")]
    if len(labels) == 1 and len(measures) == 1 and len(found) == 2 and result.complete:
        return f"{_extent(result, labels[0])} {_extremes(result, labels[0], measures[0])}".strip()
    if len(found) == 1 and found[0].role in ("category", "time"):
        return _listed(result)
    return counted(result.row_count)


def _extent(result: DescribedResult, label: Field) -> str:
    values = [(row[label.index], i) for i, row in enumerate(result.rows) if row[label.index] is not None]
    if label.role != "time" or len(values) < len(result.rows):
        return counted(result.row_count)
    first, last = (result.shown(row, label.index) for _, row in (min(values), max(values)))
    return f"{result.row_count:,} rows, from {first} to {last}."


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
            link = "in" if label.role == "time" else "for"
            parts.append(f"{word} {link} {result.shown(row, label.index)} ({result.shown(row, measure.index)})")
    head = result.spec.columns[measure.index].header
    return f"{head}: {', '.join(parts)}." if parts else ""


def _listed(result: DescribedResult) -> str:
    names = [result.shown(i, 0) for i in range(min(_LISTED, len(result.rows)))]
    if result.row_count > len(names):
        return f"{result.row_count:,} rows; the first are {_joined(names)}."
    return f"{result.row_count:,} rows: {_joined(names)}."


def _missing(result: DescribedResult) -> str:
    """Says for which columns no row has a value: a table of gaps must not look like an answer."""
    if not result.complete:
        return ""
    empty = [index for index in range(len(result.columns)) if all(row[index] is None for row in result.rows)]
    heads = [_inside_sentence(result.spec.columns[index].header) for index in empty[:_FIELDS_IN_SENTENCE]]
    return f"None of them has a value for {_joined(heads)}." if heads else ""


def _cut(result: DescribedResult) -> str:
    return "" if result.complete else f"The first {len(result.rows):,} rows are shown."


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
    best = [f for f in named if f.role == "category"] or [f for f in named if f.role in ("time", "key")]
    return ", ".join(result.shown(row, f.index) for f in best[:2])


def _superlative(result: DescribedResult, ranked: Field) -> str:
    assert result.plan is not None
    inside = _inside_sentence(result.spec.columns[ranked.index].header)
    return f"the {'highest' if result.plan.order_by[0].descending else 'lowest'} {inside}"


def _inside_sentence(header: str) -> str:
    """Abbreviations keep their capitals."""
    return header if header[1:2].isupper() else header[:1].lower() + header[1:]


def _joined(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _ended(sentence: str) -> str:
    return sentence if sentence.endswith((".", "?", "!", "…")) else sentence + "."
