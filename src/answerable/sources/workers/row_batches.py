"""Rows of Python values as Arrow batches, for the engines that do not speak Arrow themselves."""

from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, date, datetime, time
from typing import Any

import nanoarrow

from answerable.sources.workers.engine import as_text

_EPOCH_DAY = date(1970, 1, 1).toordinal()
_EPOCH = datetime(1970, 1, 1)

_SCHEMAS: dict[str, Any] = {
    "text": nanoarrow.string(),
    "json": nanoarrow.string(),
    "integer": nanoarrow.int64(),
    "number": nanoarrow.float64(),
    "boolean": nanoarrow.bool_(),
    "date": nanoarrow.date32(),
    "datetime": nanoarrow.timestamp("us"),
    "datetime_utc": nanoarrow.timestamp("us", "UTC"),
    "time": nanoarrow.time64("us"),
    "binary": nanoarrow.binary(),
}
"""By our types, and one more for points in time with a zone."""
_CARRIERS: dict[str, Any] = {
    "date": nanoarrow.int32(),
    "datetime": nanoarrow.int64(),
    "datetime_utc": nanoarrow.int64(),
    "time": nanoarrow.int64(),
}


def schema(names: Sequence[str], types: Sequence[str]) -> Any:
    return nanoarrow.struct({name: _SCHEMAS[kind] for name, kind in zip(names, types, strict=True)})


def batch(names: Sequence[str], types: Sequence[str], rows: Sequence[Sequence[Any]]) -> Any:
    columns: Iterable[Sequence[Any]] = zip(*rows, strict=True) if rows else [()] * len(names)
    children = [_array(kind, values) for kind, values in zip(types, columns, strict=True)]
    return nanoarrow.c_array_from_buffers(schema(names, types), len(rows), [None], children=children)


def _array(kind: str, values: Sequence[Any]) -> Any:
    converter = _CONVERTERS.get(kind)
    if converter in _PLAIN and {*map(type, values)} <= {_PLAIN[converter], type(None)}:
        converter = None
    content = values if converter is None else [None if v is None else converter(v) for v in values]
    if kind not in _CARRIERS:
        return nanoarrow.c_array(content, _SCHEMAS[kind])
    carrier = nanoarrow.c_array(content, _CARRIERS[kind])
    return nanoarrow.c_array_from_buffers(_SCHEMAS[kind], len(values), list(carrier.view().buffers))


def _days(value: date | str) -> int:
    return (date.fromisoformat(value) if isinstance(value, str) else value).toordinal() - _EPOCH_DAY


def _microseconds(value: datetime | str) -> int:
    moment = datetime.fromisoformat(value) if isinstance(value, str) else value
    if moment.tzinfo is not None:
        moment = moment.astimezone(UTC).replace(tzinfo=None)
    since = moment - _EPOCH
    return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds


def _microseconds_of_day(value: time) -> int:
    return ((value.hour * 60 + value.minute) * 60 + value.second) * 1_000_000 + value.microsecond


_CONVERTERS: dict[str, Callable[[Any], Any]] = {
    "text": as_text,
    "json": as_text,
    "date": _days,
    "datetime": _microseconds,
    "datetime_utc": _microseconds,
    "time": _microseconds_of_day,
    "number": float,
}
_PLAIN: dict[Any, type] = {as_text: str, float: float}
"""Values of these types need no conversion."""
