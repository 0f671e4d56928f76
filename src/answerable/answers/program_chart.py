"""A chart that a program drew: a vega-lite specification of which only known words are passed on.

Whatever could run, load or link (expressions, parameters, URLs, images) has no word here, so it is refused, not
filtered. Fields are renamed as in every chart of ours: `c0`, `c1`, … in the order of the columns.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from answerable.core.errors import UserError
from answerable.core.values import Json

_MARKS = frozenset(
    ("arc", "area", "bar", "boxplot", "circle", "line", "point", "rect", "rule", "square", "text", "tick", "trail")
)
_POSITIONS = ("x", "y", "x2", "y2", "xOffset", "yOffset", "theta", "theta2", "radius", "row", "column", "facet")
_LOOKS = ("color", "opacity", "size", "shape", "strokeDash", "detail", "order", "text", "tooltip")
_CHANNELS = frozenset((*_POSITIONS, *_LOOKS))
_AGGREGATES = frozenset(
    ("average", "count", "distinct", "max", "mean", "median", "min", "q1", "q3", "stdev", "sum", "variance")
)
_TYPES = frozenset(("quantitative", "temporal", "ordinal", "nominal"))
_SORTS = frozenset(("ascending", "descending", "x", "y", "-x", "-y"))
_TOP = frozenset(("$schema", "data", "mark", "encoding", "title", "description", "width", "height", "layer"))
_SIZES = ("width", "height")
_LARGEST = 10_000
_LONGEST_TITLE = 1_000
_MOST_LAYERS = 50
_MOST_SORTED = 1_000
_MOST_CHANNELS = 50
_SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"


def is_chart(value: Json) -> bool:
    return isinstance(value, dict) and "data" in value and ("mark" in value or "layer" in value)


def chart_from(chart: Mapping[str, Json]) -> tuple[list[dict[str, Json]], dict[str, Any]]:
    """The rows that came with a chart, and the chart over data named `rows`."""
    rows = _rows(chart)
    # Vega-lite builds programs from field names, so names that a program chose never become field names.
    fields = {name: f"c{index}" for index, name in enumerate(dict.fromkeys(name for row in rows for name in row))}
    return rows, {"$schema": _SCHEMA, "data": {"name": "rows"}, **_view(chart, fields)}


def _rows(chart: Mapping[str, Json]) -> list[dict[str, Json]]:
    data = chart["data"]
    rows = data.get("values") if isinstance(data, dict) and set(data) == {"values"} else None
    if not isinstance(rows, list) or not rows or not all(isinstance(row, dict) for row in rows):
        raise _refused('`data` must be `{"values": [ {…}, … ]}` with at least one row')
    return rows


def _view(chart: Mapping[str, Json], fields: Mapping[str, str]) -> dict[str, Any]:
    _only(chart, _TOP, "a chart")
    view: dict[str, Any] = {name: str(chart[name])[:200] for name in ("title", "description") if chart.get(name)}
    view |= {name: _size(chart[name]) for name in _SIZES if isinstance(chart.get(name), int | float)}
    if "layer" in chart:
        view["layer"] = [_view(layer, fields) for layer in _layers(chart["layer"])]
    else:
        view["mark"] = _mark(chart.get("mark"))
    if "encoding" in chart:
        view["encoding"] = _encoding(chart["encoding"], fields)
    return view


def _size(size: float) -> float:
    """A picture of any size would take any amount of a browser's memory."""
    if not 0 < size <= _LARGEST:
        raise _refused(f"a width and a height are numbers up to {_LARGEST:,}")
    return size


def _layers(layers: Json) -> Sequence[Mapping[str, Json]]:
    if not isinstance(layers, list) or not all(isinstance(layer, dict) and "layer" not in layer for layer in layers):
        raise _refused("`layer` must be a list of charts without layers")
    if len(layers) > _MOST_LAYERS:
        raise _refused(f"it has more than {_MOST_LAYERS} layers")
    return layers


def _mark(mark: Json) -> dict[str, Any]:
    kind = mark.get("type") if isinstance(mark, dict) else mark
    if not isinstance(kind, str) or kind not in _MARKS:
        raise _refused(f"the mark {str(kind)[:40]!r} is not one of {', '.join(sorted(_MARKS))}")
    options = mark if isinstance(mark, dict) else {}
    _only(options, {"type", "point", "opacity", "filled"}, "a mark")
    flags = {name: value for name, value in options.items() if isinstance(value, bool | int | float)}
    return {"type": kind, **flags}


def _encoding(encoding: Json, fields: Mapping[str, str]) -> dict[str, Any]:
    if not isinstance(encoding, dict):
        raise _refused("`encoding` must be an object")
    _only(encoding, _CHANNELS, "an encoding")
    if any(isinstance(channel, list) and len(channel) > _MOST_CHANNELS for channel in encoding.values()):
        raise _refused(f"a channel has more than {_MOST_CHANNELS} parts")
    return {
        name: [_channel(each, fields) for each in channel] if isinstance(channel, list) else _channel(channel, fields)
        for name, channel in encoding.items()
    }


def _channel(channel: Json, fields: Mapping[str, str]) -> dict[str, Any]:
    if not isinstance(channel, dict):
        raise _refused("each channel of `encoding` must be an object")
    checked: dict[str, Any] = {}
    for word, value in channel.items():
        if word not in _WORDS:
            raise _refused(f"{str(word)[:40]!r} is not known in a channel")
        if not _WORDS[word](value, fields):
            raise _refused(f"the {word} {str(value)[:60]!r} cannot be used")
        checked[word] = fields[value] if word == "field" else value
    if "field" in checked:
        checked.setdefault("title", str(channel["field"]))
    return checked


def _plain(value: Json) -> bool:
    return value is None or isinstance(value, str | int | float | bool)


_WORDS: Mapping[str, Callable[[Any, Mapping[str, str]], bool]] = {
    "field": lambda value, fields: isinstance(value, str) and value in fields,
    "type": lambda value, _: isinstance(value, str) and value in _TYPES,
    "aggregate": lambda value, _: isinstance(value, str) and value in _AGGREGATES,
    "bin": lambda value, _: isinstance(value, bool),
    "timeUnit": lambda value, _: isinstance(value, str) and value.isalpha() and len(value) <= _LONGEST_TITLE,
    "stack": lambda value, _: value in (True, False, None, "zero", "normalize", "center"),
    "sort": lambda value, _: (
        value is None
        or (isinstance(value, str) and value in _SORTS)
        or (isinstance(value, list) and len(value) <= _MOST_SORTED and all(map(_plain, value)))
    ),
    "title": lambda value, _: value is None or (isinstance(value, str) and len(value) <= _LONGEST_TITLE),
    # No parenthesis: a colour such as `url(…)` would load something.
    "value": lambda value, _: (
        isinstance(value, int | float | str) and "(" not in str(value) and len(str(value)) <= _LONGEST_TITLE
    ),
}
"""What a channel may say, and what may be said with each word."""


def _only(words: Mapping[str, Json], known: frozenset[str] | set[str], what: str) -> None:
    unknown = sorted(set(map(str, words)) - known)
    if unknown:
        raise _refused(f"{unknown[0][:40]!r} is not known in {what}")


def _refused(reason: str) -> UserError:
    return UserError(
        f"The chart cannot be shown: {reason}.",
        code="chart_refused",
        hint="A chart is a vega-lite specification with data.values, mark and encoding; see docs/sandboxes.md.",
    )
