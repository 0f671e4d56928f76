"""Draws a result as a vega-lite specification, if a chart fits it.

The data is left out and named `rows`: one object a row, whose fields are called `c0`, `c1`, … in the order of the
columns (`chart_data` makes them). Vega-lite builds programs from field names, so names that come from data never are
field names; they appear only as titles. Valid for vega-lite 5 and 6.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from answerable.answers.format import readable
from answerable.answers.roles import Field, distinct, fields
from answerable.core.records import dataclass
from answerable.core.values import Json, OutputColumn
from answerable.query.plan import QueryPlan

Rows = Sequence[Sequence[Json]]
Spec = dict[str, Any]

SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"
SERIES = 6
"""A reader cannot tell more lines or colours than this apart."""
BARS = 50
LYING_BARS = 8
"""From this many bars on, or with long names, bars lie and names are read straight."""
LONG_NAME = 12
POINTS = 5_000
DOTTED_POINTS = 40
"""Up to this many, each point of a line gets a dot."""
_SAME_SCALE = 20
"""Measures share an axis when the largest of one is at most this many times the largest of the other."""
_TITLE_LENGTH = 90


@dataclass(frozen=True, slots=True)
class _Data:
    rows: Rows
    row_count: int
    units: Mapping[str, str]
    heads: Mapping[str, str]

    @property
    def complete(self) -> bool:
        return len(self.rows) == self.row_count

    def values(self, field: Field) -> list[Json]:
        return [row[field.index] for row in self.rows]

    def distinct(self, *wanted: Field) -> int:
        return len({tuple(repr(row[f.index]) for f in wanted) for row in self.rows})

    def title(self, field: Field) -> str:
        return _cut(_printable(self.heads.get(field.name) or readable(field.name)))


def chart(
    columns: Sequence[OutputColumn],
    rows: Rows,
    row_count: int,
    *,
    plan: QueryPlan | None = None,
    units: Mapping[str, str] | None = None,
    heads: Mapping[str, str] | None = None,
) -> Spec | None:
    """`rows` are all rows of the result, or the first of them. `heads`: what columns are called in the table."""
    data = _Data(rows, row_count, units or {}, heads or {})
    found = fields(columns, plan)
    times = [f for f in found if f.role == "time"]
    names = [f for f in found if f.role == "category"]
    measures = [f for f in found if f.role == "measure" and _has_numbers(data, f)]
    # A column of role `other`, for example a list, has no place in a chart; without it, the chart would hide a part of
    # the answer.
    if row_count < 2 or not measures or any(f.role == "other" for f in found):
        return None
    if len(times) == 1 and len(names) <= 1:
        return _over_time(data, times[0], names, measures)
    if not times and names:
        return _by_name(data, names, measures)
    if not times and len(measures) == 2:
        return _against(data, measures)
    return None


def chart_data(rows: Rows) -> list[dict[str, Json]]:
    """Rows as the specification expects them under the name `rows`."""
    return [{_key(i): value for i, value in enumerate(row)} for row in rows]


def _over_time(data: _Data, time: Field, names: list[Field], measures: list[Field]) -> Spec | None:
    # Two rows for one point in time would draw a zigzag that is not in the data, and a part of the rows a line that
    # ends too early.
    if data.row_count > POINTS or not data.complete or data.distinct(time, *names) < data.row_count:
        return None
    if data.distinct(time) < 2:
        return _by_name(data, names, measures) if names else None
    x = {"field": _key(time.index), "title": data.title(time), **_time_type(data, time)}
    mark = {"type": "line", "tooltip": True, "point": data.distinct(time) <= DOTTED_POINTS}
    if names:
        return _series(data, "Line", mark, {"x": x}, measures[0], time, names[0])
    return _measures(data, "Line", mark, {"x": x}, _together(data, measures), time)


def _by_name(data: _Data, names: list[Field], measures: list[Field]) -> Spec | None:
    label, others = _widest(data, names)
    fits = data.complete and data.row_count <= BARS and data.distinct(label, *others) == data.row_count
    if len(names) == 1 and len(measures) == 2 and not fits:
        return _against(data, measures)
    if not fits or len(others) > 1:
        return None
    lying = data.distinct(label) >= LYING_BARS or any(len(str(v)) > LONG_NAME for v in data.values(label))
    # `sort: None` keeps the order of the rows, which is the order that was asked for; vega-lite would sort by name.
    place = {"field": _key(label.index), "type": "nominal", "sort": None, "title": data.title(label)}
    axis, mark = "y" if lying else "x", {"type": "bar", "tooltip": True}
    if others:
        return _series(data, "Bar", mark, {axis: place}, measures[0], label, others[0])
    return _measures(data, "Bar", mark, {axis: place}, _together(data, measures)[:2], label)


def _against(data: _Data, measures: list[Field]) -> Spec | None:
    """Two measures of the same things, as points."""
    if data.row_count > POINTS or data.row_count < 3:
        return None
    across, up = measures
    encoding = {axis: _quantity(data, f) | {"scale": {"zero": False}} for axis, f in (("x", across), ("y", up))}
    return _whole(data, "Point", {"type": "point", "tooltip": True}, encoding, [up, across])


def _series(data: _Data, kind: str, mark: Spec, place: Spec, measure: Field, by: Field, name: Field) -> Spec | None:
    """One measure, a colour for each name; with more names than colours, nothing."""
    if data.distinct(name) > SERIES:
        return None
    axis, across = _axes(place)
    color = {"field": _key(name.index), "type": "nominal", "sort": None, "title": data.title(name)}
    encoding = place | {across: _quantity(data, measure), "color": color}
    if kind == "Bar":
        encoding[f"{axis}Offset"] = {"field": _key(name.index), "sort": None}
    return _whole(data, kind, mark, encoding, [measure, by, name])


def _measures(data: _Data, kind: str, mark: Spec, place: Spec, measures: list[Field], by: Field) -> Spec:
    """One measure, or several on one axis, each a colour under its own title."""
    axis, across = _axes(place)
    if len(measures) == 1:
        return _whole(data, kind, mark, place | {across: _quantity(data, measures[0])}, [*measures, by])
    # A fold needs the keys c0, c1, …, and a legend needs titles: the lookup below leads from one to the other.
    keys, titles = [_key(m.index) for m in measures], [data.title(m) for m in measures]
    color = {"field": "series", "type": "nominal", "title": None, "sort": titles}
    encoding = place | {
        across: {"field": "value", "type": "quantitative", "title": _unit(data, measures[0])},
        "color": color,
    }
    if kind == "Bar":
        encoding[f"{axis}Offset"] = {"field": "series", "sort": titles}
    named = [{"key": key, "series": title} for key, title in zip(keys, titles, strict=True)]
    return _whole(data, kind, mark, encoding, [*measures, by]) | {
        "transform": [
            {"fold": keys, "as": ["measure", "value"]},
            {"lookup": "measure", "from": {"data": {"values": named}, "key": "key", "fields": ["series"]}},
        ]
    }


def _axes(place: Spec) -> tuple[str, str]:
    """The axis that is taken, and the one across."""
    return ("x", "y") if "x" in place else ("y", "x")


def _whole(data: _Data, kind: str, mark: Spec, encoding: Spec, fields: list[Field]) -> Spec:
    shown, by = [f for f in fields if f.role == "measure"], [f for f in fields if f.role != "measure"]
    names = " and ".join(data.title(f) for f in shown)
    title = f"{names} by {' and '.join(_lower(data.title(f)) for f in by)}" if by else f"{names}"
    return {
        "$schema": SCHEMA,
        "description": f"{kind} chart: {title}. {data.row_count:,} rows.",
        "title": title,
        "data": {"name": "rows"},
        "mark": mark,
        "encoding": encoding,
    }


def _quantity(data: _Data, field: Field) -> Spec:
    unit = _unit(data, field)
    title = data.title(field) + (f" ({unit})" if unit else "")
    return {"field": _key(field.index), "type": "quantitative", "title": title}


def _unit(data: _Data, field: Field) -> str | None:
    unit = data.units.get(field.name)
    return _printable(unit) if unit else None


def _time_type(data: _Data, field: Field) -> Spec:
    """A date without a time is midnight in UTC to a browser, so its axis has to be UTC as well."""
    if field.type == "date":
        return {"type": "temporal", "scale": {"type": "utc"}}
    if field.type == "datetime":
        return {"type": "temporal"}
    return {"type": "ordinal"} if data.distinct(field) <= BARS else {"type": "quantitative", "axis": {"format": "d"}}


def _together(data: _Data, measures: list[Field]) -> list[Field]:
    """The measures that can share the first one's axis: same unit and similar size."""
    first = measures[0]
    return [
        m
        for m in measures
        if data.units.get(m.name) == data.units.get(first.name)
        and _largest(data, m) <= _SAME_SCALE * _largest(data, first)
        and _largest(data, first) <= _SAME_SCALE * _largest(data, m)
    ][:SERIES]


def _largest(data: _Data, field: Field) -> float:
    return max(abs(v) for v in data.values(field) if isinstance(v, int | float))


def _has_numbers(data: _Data, field: Field) -> bool:
    values = [v for v in data.values(field) if v is not None]
    return bool(values) and all(isinstance(v, int | float) for v in values)


def _widest(data: _Data, names: list[Field]) -> tuple[Field, list[Field]]:
    """The name with the most values labels the axis; the others become series."""
    label = max(names, key=lambda f: distinct(data.rows, f.index))
    return label, [f for f in names if f is not label]


def _key(index: int) -> str:
    return f"c{index}"


def _cut(text: str) -> str:
    return text if len(text) <= _TITLE_LENGTH else text[: _TITLE_LENGTH - 1] + "…"


def _printable(text: str) -> str:
    return "".join(c if c.isprintable() else " " for c in text).strip() or "column"


def _lower(title: str) -> str:
    return title if title[1:2].isupper() else title[:1].lower() + title[1:]
