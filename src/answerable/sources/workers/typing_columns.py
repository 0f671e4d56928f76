"""Text columns become numbers, dates and truth values, but only when every value of the column is one.

A few rows suggest what a column may be; all rows must then agree. A column that nearly fits stays text. A note
says so, and also what became of dates that could be read in two ways.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from answerable.sources.workers.engine import quoted

_SAMPLE_ROWS = 2_000
_MOST_PATTERNS = 60
"""In one statement; a pattern can take 16 MB of address space, even when it uses little of it."""
_NEARLY = 0.9
"""From this share of fitting values on, a note says why the column stays text."""

_MISSING = ("", "NULL", "null", "N/A", "n/a", "#N/A", "NaN", "nan", "\\N", "<NA>")
"""Texts that stand for a missing value in every column."""
_PERHAPS_MISSING = ("NA", "na", "-", "--", "None", "none", "nil", "?", ".")
"""Texts that stand for a missing value only in a column that otherwise holds numbers, dates or truth values."""
_ALL_MISSING = frozenset((*_MISSING, *_PERHAPS_MISSING))
_NA = "NA"

_DAY = r"(0?[1-9]|[12][0-9]|3[01])"
_MONTH = r"(0?[1-9]|1[0-2])"
_CLOCK = r"[0-9]{1,2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,9})?)?"
_WORD = r"[A-Za-z]{3,9}"


@dataclass(frozen=True, slots=True)
class TextForm:
    """One way to read text: the shape it must have, and the expression that reads it and is null when it cannot."""

    name: str
    pattern: str
    expression: str
    """With `{v}` for the text."""
    order: str = ""
    """`dmy` or `mdy` where the two can be confused."""
    note: str = ""
    """The note about a column that is read so, if it needs one."""

    def read(self, value: str) -> str:
        return self.expression.format(v=value)

    def fits(self, value: str) -> str:
        return f"(regexp_full_match({value}, {literal(self.pattern)}) AND {self.read(value)} IS NOT NULL)"


def _date(form: str, pattern: str, order: str = "") -> TextForm:
    return TextForm("date", pattern, f"try_strptime({{v}}, {literal(form)})::DATE", order)


def _moment(form: str, pattern: str, order: str = "") -> TextForm:
    return TextForm("datetime", pattern, f"try_strptime({{v}}, {literal(form)})", order)


def literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _numeric_dates() -> Iterable[TextForm]:
    for mark, shown in (("/", "/"), (".", r"\."), ("-", "-")):
        for order, form, first, second in (("dmy", "%d{0}%m{0}%", _DAY, _MONTH), ("mdy", "%m{0}%d{0}%", _MONTH, _DAY)):
            for year, digits in (("Y", "[0-9]{4}"), ("y", "[0-9]{2}")):
                written, shape = form.format(mark) + year, first + shown + second + shown + digits
                yield _date(written, shape, order)
                yield _moment(written + " %H:%M", shape + " [0-9]{1,2}:[0-9]{2}", order)
                yield _moment(written + " %H:%M:%S", shape + " [0-9]{1,2}:[0-9]{2}:[0-9]{2}", order)
                yield _moment(written + " %I:%M %p", shape + " [0-9]{1,2}:[0-9]{2} [AaPp][Mm]", order)


def _worded_dates() -> Iterable[TextForm]:
    for month in ("%b", "%B"):
        yield _date(f"{month} %d %Y", f"{_WORD} {_DAY} [0-9]{{4}}")
        yield _date(f"{month} %d, %Y", f"{_WORD} {_DAY}, [0-9]{{4}}")
        yield _date(f"%d {month} %Y", f"{_DAY} {_WORD} [0-9]{{4}}")
        yield _date(f"%d-{month}-%Y", f"{_DAY}-{_WORD}-[0-9]{{4}}")
        yield _date(f"%d-{month}-%y", f"{_DAY}-{_WORD}-[0-9]{{2}}")


_ISO_DAY = r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}"
_ZONE = r" ?(Z|UTC|[+-][0-9]{2}(:?[0-9]{2})?)"
# No leading zeros: 00123 is a code, and a number would lose them. 18 digits always fit 64 bits.
INTEGER = TextForm("integer", r"[+-]?(0|[1-9][0-9]{0,17})", "TRY_CAST({v} AS BIGINT)")
# At most 15 digits before the point, as a double holds no more exactly.
NUMBER = TextForm(
    "number", r"[+-]?((0|[1-9][0-9]{0,14})(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,3})?", "TRY_CAST({v} AS DOUBLE)"
)
_COMMA_NUMBER = TextForm(
    "number",
    r"[+-]?(0|[1-9][0-9]{0,14})(,[0-9]+)?",
    "TRY_CAST(replace({v}, ',', '.') AS DOUBLE)",
    note="the comma was read as the decimal sign",
)
_KINDS: tuple[TextForm, ...] = (
    INTEGER,
    NUMBER,
    TextForm("boolean", "(?i)true|false", "TRY_CAST({v} AS BOOLEAN)"),
    TextForm("date", _ISO_DAY, "TRY_CAST({v} AS DATE)"),
    TextForm("date", _ISO_DAY + r"[ T]00:00:00(\.0+)?", "TRY_CAST({v} AS DATE)"),
    TextForm("datetime", f"{_ISO_DAY}[ T]{_CLOCK}", "TRY_CAST(replace({v}, 'T', ' ') AS TIMESTAMP)"),
    TextForm("datetime", f"{_ISO_DAY}[ T]{_CLOCK}{_ZONE}", "TRY_CAST({v} AS TIMESTAMPTZ)"),
    _date("%Y/%m/%d", f"[0-9]{{4}}/{_MONTH}/{_DAY}"),
    _moment("%Y/%m/%d %H:%M:%S", f"[0-9]{{4}}/{_MONTH}/{_DAY} [0-9]{{1,2}}:[0-9]{{2}}:[0-9]{{2}}"),
    TextForm("time", _CLOCK, "TRY_CAST(CASE WHEN length({v}) <= 5 THEN {v} || ':00' ELSE {v} END AS TIME)"),
    *_numeric_dates(),
    *_worded_dates(),
)
_COMMON = 7
"""The first so many kinds are tried on a column of which the sample shows no value."""
_PUNCTUATED = TextForm(
    "number with separators", r"[^0-9]{0,3}[+-]?[0-9]{1,3}([,.' ][0-9]{3})+([.,][0-9]+)?[^0-9]{0,3}", "{v}"
)
_WITH_SIGN = TextForm("number with a sign", r"[$€£¥₹]\s?[0-9.,]+|[0-9.,]+\s?[%$€£¥₹]", "{v}")
_TELLING = (_PUNCTUATED, _WITH_SIGN)


@dataclass(frozen=True, slots=True)
class Typed:
    """Expressions over the scanned columns, and what there is to tell."""

    expressions: tuple[str, ...]
    notes: tuple[str, ...]
    rows: int


def typed(
    cursor: Any, scan: str, names: Sequence[str], *, comma_decimals: bool, checked_scan: str | None = None
) -> Typed:
    """`scan` reads the columns c0, c1, … as text. `checked_scan` reads them once more, counting what it rejects."""
    kinds = (*_KINDS, _COMMA_NUMBER) if comma_decimals else _KINDS
    sample = cursor.execute(f"SELECT * FROM ({scan}) LIMIT {_SAMPLE_ROWS}").fetchall()
    columns = zip(*sample, strict=True) if sample else [()] * len(names)
    candidates = {place: likely(values, (*kinds, *_TELLING)) for place, values in enumerate(columns)}
    rows, found = 0, dict[int, _Count]()
    for turn, part in enumerate(_parts(candidates)):
        rows, counts = _counts(cursor, scan if turn or not checked_scan else checked_scan, part)
        found |= counts
    chosen = {place: _choice(cursor, scan, place, found[place]) for place in range(len(names))}
    # In a text column, NA may be a value (Namibia). If a column of numbers or dates uses it for a missing value, so do
    # the text columns of the file.
    missing_na = any(kind is not None and found[place].na for place, (kind, _note) in chosen.items())
    notes = [f"{names[place]}: {note}" for place, (_kind, note) in chosen.items() if note]
    if missing_na:
        notes.append(f"{_NA!r} was read as a missing value")
    expressions = tuple(_expression(f"c{place}", kind, missing_na) for place, (kind, _note) in chosen.items())
    return Typed(expressions, tuple(notes), rows)


def likely(values: Sequence[str | None], kinds: Sequence[TextForm] = _KINDS) -> tuple[TextForm, ...]:
    """What these values allow or nearly allow. Without any, whatever is common."""
    certain = [text for value in values if value and (text := value.strip()) not in _ALL_MISSING]
    if not certain:
        return _KINDS[:_COMMON]
    tolerated = int((1 - _NEARLY) * len(certain))
    found = tuple(kind for kind in kinds if _mostly(certain, re.compile(kind.pattern), tolerated))
    # Rows after the sample may have decimals.
    return (*found, NUMBER) if INTEGER in found and NUMBER not in found else found


def _mostly(values: Sequence[str], pattern: re.Pattern[str], tolerated: int) -> bool:
    for value in values:
        if pattern.fullmatch(value) is None:
            tolerated -= 1
            if tolerated < 0:
                return False
    return True


def _expression(column: str, kind: TextForm | None, missing_na: bool) -> str:
    if kind is not None:
        return kind.read(_value(column, (*_MISSING, *_PERHAPS_MISSING), "trim({c})"))
    return _value(column, (*_MISSING, _NA) if missing_na else _MISSING, "{c}")


def _value(column: str, missing: Sequence[str], form: str) -> str:
    tokens = ", ".join(map(literal, missing))
    return f"(CASE WHEN NOT list_contains([{tokens}], trim({column})) THEN {form.format(c=column)} END)"


@dataclass(frozen=True, slots=True)
class _Count:
    filled: int
    """Values that are certainly there."""
    certain: int
    """Those that cannot mean a missing value either."""
    na: int
    fitting: Mapping[TextForm, int]

    def fits(self, kind: TextForm) -> bool:
        return 0 < self.certain == self.fitting.get(kind, -1)


def _parts(wanted: Mapping[int, Sequence[TextForm]]) -> Iterator[dict[int, Sequence[TextForm]]]:
    """Columns that are looked at in one pass: every pattern takes memory of its own for as long as it lasts."""
    part: dict[int, Sequence[TextForm]] = {}
    patterns = 0
    for place, kinds in wanted.items():
        patterns += 1 + len(kinds)
        if part and patterns > _MOST_PATTERNS:
            yield part
            part, patterns = {}, 1 + len(kinds)
        part[place] = kinds
    yield part


def _counts(cursor: Any, scan: str, wanted: Mapping[int, Sequence[TextForm]]) -> tuple[int, dict[int, _Count]]:
    """How many values of each column fit each kind, in one pass over the rows."""
    values = ", ".join(f"{_value(f'c{place}', _MISSING, 'trim({c})')} AS v{place}" for place in wanted)
    weak = ", ".join(map(literal, _PERHAPS_MISSING))
    figures = ["count(*)"]
    for place, kinds in wanted.items():
        value = f"v{place}"
        figures += [
            f"count({value})",
            f"count(*) FILTER (NOT list_contains([{weak}], {value}))",
            f"count(*) FILTER ({value} = {literal(_NA)})",
            *(f"count(*) FILTER ({kind.fits(value)})" for kind in kinds),
        ]
    [counted] = cursor.execute(f"SELECT {', '.join(figures)} FROM (SELECT {values} FROM ({scan}))").fetchall()
    row = iter(counted)
    return next(row), {
        place: _Count(next(row), next(row), next(row), {kind: next(row) for kind in kinds})
        for place, kinds in wanted.items()
    }


def _choice(cursor: Any, scan: str, place: int, found: _Count) -> tuple[TextForm | None, str | None]:
    fitting = [kind for kind in found.fitting if kind not in _TELLING and found.fits(kind)]
    orders = {kind.order for kind in fitting if kind.order}
    if len(orders) == 2:
        return _ordered(cursor, scan, place, [kind for kind in fitting if kind.order])
    if fitting:
        return fitting[0], fitting[0].note or None
    return None, _why_text(cursor, scan, place, found)


def _ordered(cursor: Any, scan: str, place: int, fitting: Sequence[TextForm]) -> tuple[TextForm | None, str | None]:
    """Dates like 01/02/2024 can be read in two ways. If only one makes all of them the same day of a month, take it."""
    value = _value(f"c{place}", (*_MISSING, *_PERHAPS_MISSING), "trim({c})")
    # Reversed, so that the first form of each order stays.
    by_order = {kind.order: kind for kind in reversed(fitting)}
    days = {
        order: cursor.execute(
            f"SELECT count(DISTINCT day(d)), count(DISTINCT d) FROM (SELECT {kind.read(value)} AS d FROM ({scan}))"
        ).fetchone()
        for order, kind in by_order.items()
    }
    constant = [order for order, (same, distinct) in days.items() if same == 1 and distinct > 1]
    if len(constant) != 1:
        return None, "its dates can be read as day/month or month/day, so it is left as text; write them as YYYY-MM-DD"
    kind = by_order[constant[0]]
    first = "day" if kind.order == "dmy" else "month"
    return kind, f"its dates were read with the {first} first, as every one is then the same day of a month"


def _why_text(cursor: Any, scan: str, place: int, found: _Count) -> str | None:
    for kind in _TELLING:
        if found.fits(kind):
            return f"it holds a {kind.name} and is left as text"
    nearly = [
        kind for kind, count in found.fitting.items() if kind not in _TELLING and count >= _NEARLY * found.certain > 9
    ]
    if not nearly:
        return None
    kind = max(nearly, key=lambda kind: found.fitting[kind])
    value = _value(f"c{place}", (*_MISSING, *_PERHAPS_MISSING), "trim({c})")
    odd = cursor.execute(
        f"SELECT v FROM (SELECT {value} AS v FROM ({scan})) WHERE v IS NOT NULL AND NOT {kind.fits('v')} LIMIT 1"
    ).fetchone()
    count = found.certain - found.fitting[kind]
    example = f", such as {odd[0][:40]!r}" if odd else ""
    return f"{count:,} of {found.certain:,} values are no {kind.name}{example}, so it is left as text"


def selected(names: Sequence[str], expressions: Sequence[str], scan: str) -> str:
    items = ", ".join(f"{expression} AS {quoted(name)}" for name, expression in zip(names, expressions, strict=True))
    return f"SELECT {items} FROM ({scan})"
