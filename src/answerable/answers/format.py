"""How a result is written: which columns, under which heads, with which decimals, in which order.

A format is data. We or a model derive it from the rows of a small result or from samples of a large one, and
`formatted.py` applies it to any number of rows. Nothing of it is ever executed.
"""

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Annotated, Literal, TypeAlias

from pydantic import Field as Setting

from answerable.answers.roles import Field, fields, is_fraction_name, words
from answerable.core.values import Frozen, Json, OutputColumn
from answerable.query.plan import QueryPlan
from answerable.query.quantities import Quantity

DIRECT_ROWS = 200
"""Results up to this size are formatted from all of their rows; larger ones from a sample."""

MINUS = "−"
DATE_PATTERNS = {
    "second": "%Y-%m-%d %H:%M:%S",
    "minute": "%Y-%m-%d %H:%M",
    "day": "%Y-%m-%d",
    "month": "%Y-%m",
    "year": "%Y",
}
_LONGEST_HEAD = 60
_MOST_DECIMALS = 2
_MOST_DECIMALS_OF_SMALL = 4
_ACRONYMS = frozenset(
    {"id", "url", "sku", "vat", "usd", "eur", "gbp", "api", "ip", "mfa", "kpi", "ytd", "uuid", "isbn"}
)


class NumberFormat(Frozen):
    kind: Literal["number"] = "number"
    decimals: int = Setting(default=0, ge=0, le=12)
    grouped: bool = True
    """1,234 rather than 1234. Keys and years are not grouped."""
    percent: bool = False
    """The values are fractions and are shown times 100 with a percent sign."""


class DateFormat(Frozen):
    kind: Literal["date"] = "date"
    style: Literal["second", "minute", "day", "month", "quarter", "year"] = "day"


class TextFormat(Frozen):
    kind: Literal["text"] = "text"


ValueFormat: TypeAlias = Annotated[NumberFormat | DateFormat | TextFormat, Setting(discriminator="kind")]


class ColumnFormat(Frozen):
    column: str
    header: str
    unit: str | None = None
    """Shown once, in the head."""
    format: ValueFormat = TextFormat()
    quantity: Quantity | None = None
    """Whether the values add up to a total, and whether a bar beside them tells more."""

    @property
    def right(self) -> bool:
        return isinstance(self.format, NumberFormat)


class Sort(Frozen):
    column: str
    descending: bool = False


class Total(Frozen):
    """The sum of a column over all rows, which the user asked for."""

    column: str
    value: Json


class FormatSpec(Frozen):
    columns: tuple[ColumnFormat, ...]
    sort: tuple[Sort, ...] = ()
    """Empty if the rows stay in their order."""
    totals: tuple[Total, ...] = ()
    """The last line of the table; empty if nobody asked for one."""
    markdown: bool = False
    """Whether the answer's text holds the table, as markdown."""


def format_spec(
    columns: Sequence[OutputColumn],
    sample: Sequence[Sequence[Json]],
    plan: QueryPlan | None = None,
    units: Mapping[str, str] | None = None,
    quantities: Mapping[str, Quantity] | None = None,
) -> FormatSpec:
    """A format that fits these rows."""
    known, amounts = units or {}, quantities or {}
    return FormatSpec(
        columns=tuple(
            ColumnFormat(
                column=field.name,
                header=readable(field.name),
                unit=known.get(field.name),
                format=_value_format(field, [row[field.index] for row in sample]),
                quantity=amounts.get(field.name),
            )
            for field in fields(columns, plan)
        )
    )


def headed(spec: FormatSpec, headers: Mapping[str, str]) -> FormatSpec:
    """The table with other heads for some columns. A head that would fill the page is cut."""
    columns = tuple(
        column.model_copy(update={"header": headers.get(column.column, column.header)[:_LONGEST_HEAD]})
        for column in spec.columns
    )
    return spec.model_copy(update={"columns": columns})


def readable(name: str) -> str:
    """`total_amountEUR` becomes “Total amount EUR”. A name with blanks was written for people: its words stay."""
    if " " in name.strip():
        return name.strip()[:1].upper() + name.strip()[1:]
    found = [word.upper() if word in _ACRONYMS else word for word in words(name)]
    text = " ".join(found)
    return text[:1].upper() + text[1:] if text else name


def total_cells(spec: FormatSpec) -> list[str]:
    """The last line of a table: “Total” in the first column that has no sum, and the sums."""
    sums = {each.column: each.value for each in spec.totals}
    cells = [
        format_cell(sums[column.column], column.format) or "" if column.column in sums else ""
        for column in spec.columns
    ]
    free = next((place for place, column in enumerate(spec.columns) if column.column not in sums), None)
    if free is not None:
        cells[free] = "Total"
    return cells


def format_cell(value: Json, how: ValueFormat) -> str | None:
    """Writes one value of a JSON row as people read it. Returns None for null."""
    if value is None:
        return None
    if isinstance(how, NumberFormat) and isinstance(value, int | float) and not isinstance(value, bool):
        return format_number(value, how)
    if isinstance(how, DateFormat) and isinstance(value, str):
        return _dated(value, how)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return value if isinstance(value, str) else _compact(value)


def format_number(value: float, how: NumberFormat) -> str:
    scaled = value * 100 if how.percent else value
    text = format(abs(scaled), f"{',' if how.grouped else ''}.{how.decimals}f")
    # −0.004 with two decimals is 0.00, not −0.00.
    negative = scaled < 0 and any(digit in text for digit in "123456789")
    return (MINUS if negative else "") + text + (" %" if how.percent else "")


def _value_format(field: Field, values: Sequence[Json]) -> NumberFormat | DateFormat | TextFormat:
    numeric = field.type in ("integer", "number")
    if numeric and (field.role in ("key", "time", "category") or field.part == "year"):
        return NumberFormat(grouped=False, decimals=_decimals(values))
    if numeric:
        if is_fraction_name(field.name) and _fractions(values):
            return NumberFormat(percent=True, decimals=1)
        return NumberFormat(decimals=_decimals(values))
    if field.type in ("date", "datetime"):
        return DateFormat(style=_style(field, values))
    return TextFormat()


def _fractions(values: Sequence[Json]) -> bool:
    known = [v for v in values if v is not None]
    return bool(known) and all(isinstance(v, float) and abs(v) <= 1 for v in known)


def _decimals(values: Sequence[Json]) -> int:
    """Equal within a column: as many as a value needs, but no more than a reader can use."""
    numbers = [v for v in values if isinstance(v, float)]
    if not numbers:
        return 0
    largest = max(abs(v) for v in numbers)
    most = _MOST_DECIMALS if largest >= 1 or largest == 0 else _MOST_DECIMALS_OF_SMALL
    return min(most, max(_needed(v) for v in numbers))


def _needed(value: float) -> int:
    exponent = Decimal(repr(value)).normalize().as_tuple().exponent
    return max(0, -exponent) if isinstance(exponent, int) else 0


def _style(field: Field, values: Sequence[Json]) -> Literal["second", "minute", "day", "month", "quarter", "year"]:
    if field.unit in ("month", "quarter", "year"):
        return field.unit
    if field.type == "date" or field.unit in ("day", "week"):
        return "day"
    texts = [v for v in values if isinstance(v, str)]
    if all(v[11:19] == "00:00:00" for v in texts):
        return "day"
    return "minute" if all(v[17:19] == "00" for v in texts) else "second"


def _dated(value: str, how: DateFormat) -> str:
    try:
        moment: date = datetime.fromisoformat(value) if "T" in value else date.fromisoformat(value)
    except ValueError:
        return value
    if how.style == "quarter":
        return f"{moment.year:04d}-Q{(moment.month + 2) // 3}"
    # `%Y` writes years before 1000 without their zeros on some systems.
    return moment.strftime(DATE_PATTERNS[how.style].replace("%Y", f"{moment.year:04d}"))


def _compact(value: Json) -> str:
    import json

    return json.dumps(value, ensure_ascii=False)
