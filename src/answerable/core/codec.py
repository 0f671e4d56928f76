"""Encodes events as JSON and decodes them without loss. Store, clients and audit use the same JSON.

The encoder is strict: it refuses values that would come back as another type (a date, an object, a key that is not
text). So a continued run sees exactly the values that the first process saw. JSON has no NaN and no infinity: they
become null.
"""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import orjson

from answerable.core.errors import InternalError, OperatorError
from answerable.core.events import EVENT_TYPES, Event
from answerable.core.ids import RunId
from answerable.core.values import Json

_STRICT = orjson.OPT_PASSTHROUGH_DATETIME | orjson.OPT_PASSTHROUGH_DATACLASS
_HEAD = ("run", "seq", "at")
_BODY: Mapping[type[Event], tuple[str, ...]] = {
    cls: tuple(field.name for field in fields(cls) if field.name not in _HEAD) for cls in EVENT_TYPES.values()
}


def json_bytes(value: Json, what: str) -> bytes:
    """The value as JSON. `what` names its owner in the error for a value that JSON cannot hold exactly."""
    try:
        return orjson.dumps(value, option=_STRICT)
    except TypeError as error:
        raise InternalError(
            f"{what} holds a value that JSON cannot keep: {error}.",
            code="not_json",
            hint="Allowed are text, numbers up to 64 bits, booleans, null, lists, and maps with text keys.",
        ) from error


def encode(event: Event) -> bytes:
    """The whole event as one JSON object, with its type first."""
    head = {"type": event.type, "run": event.run, "seq": event.seq, "at": event.at}
    return json_bytes(head | _body(event), event.type)


def decode(data: bytes | str) -> Event:
    """The event from the result of `encode`."""
    value = _loads(data)
    if not isinstance(value, dict):
        raise _unreadable("an event is a JSON object")
    return _built(value.pop("type", None), value)


def encode_body(event: Event) -> str:
    """The fields that only this type of event has. A table stores them beside columns for type, run, number and
    time."""
    return json_bytes(_body(event), event.type).decode()


def decode_body(type_: str, run: RunId, seq: int, at: float, body: bytes | str) -> Event:
    """The event from the result of `encode_body` and the columns beside it."""
    value = _loads(body)
    if not isinstance(value, dict):
        raise _unreadable("the body of an event is a JSON object")
    return _built(type_, {"run": run, "seq": seq, "at": at, **value})


def _body(event: Event) -> dict[str, Json]:
    return {name: getattr(event, name) for name in _BODY[type(event)]}


def _loads(data: bytes | str) -> Json:
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise _unreadable(str(error)) from error


def _built(type_: Json, values: dict[str, Any]) -> Event:
    cls = EVENT_TYPES.get(type_) if isinstance(type_, str) else None
    if cls is None:
        raise OperatorError(
            f"The event type {type_!r} is not known to this version of Answerable.",
            code="event_unknown",
            hint="The event was written by a newer version: use that version or a later one.",
        )
    try:
        return cls(**values)
    except TypeError as error:
        raise OperatorError(
            f"An event of type {type_} does not have the fields that this version of Answerable expects: {error}.",
            code="event_unknown",
            hint="The event was written by a newer version: use that version or a later one.",
        ) from error


def _unreadable(reason: str) -> OperatorError:
    return OperatorError(
        f"A stored event cannot be read: {reason}.",
        code="store_corrupt",
        hint="Restore the store from a backup.",
    )
