"""Every event survives the way to JSON and back, whatever JSON it carries."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from datetime import UTC, datetime
from typing import Any, get_args, get_type_hints

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from answerable.core.codec import decode, decode_body, encode, encode_body, json_bytes
from answerable.core.errors import InternalError, OperatorError
from answerable.core.events import EVENT_TYPES, Event, RunFinished, StepFinished, StepStarted
from answerable.core.ids import NodeId, RunId

_text = st.text(st.characters(codec="utf-8"), max_size=20)
_numbers = st.integers(-(2**63), 2**63 - 1)
_floats = st.floats(allow_nan=False, allow_infinity=False)
_json = st.recursive(
    st.none() | st.booleans() | _numbers | _floats | _text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_text, inner, max_size=3),
    max_leaves=8,
)
_by_type: dict[Any, st.SearchStrategy[Any]] = {
    Any: _json,
    bool: st.booleans(),
    float: _floats,
    int: _numbers,
    str: _text,
    type(None): st.none(),
    Sequence[Mapping[str, str]]: st.lists(st.dictionaries(_text, _text, max_size=2), max_size=3),
    Sequence[Sequence[Any]]: st.lists(st.lists(_json, max_size=3), max_size=3),
}


def _values(annotation: Any) -> st.SearchStrategy[Any]:
    annotation = getattr(annotation, "__supertype__", annotation)  # a NewType id is text
    if annotation in _by_type:
        return _by_type[annotation]
    return st.one_of([_values(part) for part in get_args(annotation)])


def _events(cls: type[Event]) -> st.SearchStrategy[Event]:
    hints = get_type_hints(cls)
    return st.builds(cls, **{field.name: _values(hints[field.name]) for field in fields(cls)})


any_event = st.one_of([_events(cls) for cls in EVENT_TYPES.values()])


@given(any_event)
def test_an_event_comes_back_as_it_was(event: Event) -> None:
    assert decode(encode(event)) == event


@given(any_event)
def test_a_body_with_its_columns_comes_back_as_the_event(event: Event) -> None:
    assert decode_body(event.type, event.run, event.seq, event.at, encode_body(event)) == event


@pytest.mark.parametrize("cls", EVENT_TYPES.values(), ids=lambda cls: cls.type)
def test_the_wire_form_begins_with_type_run_number_and_time(cls: type[Event]) -> None:
    required: dict[str, Any] = {field.name: "x" for field in fields(cls)} | {"run": "run_1", "seq": 7, "at": 1.5}
    value = orjson.loads(encode(cls(**required)))
    assert list(value)[:4] == ["type", "run", "seq", "at"]
    assert (value["type"], value["run"], value["seq"], value["at"]) == (cls.type, "run_1", 7, 1.5)
    assert set(value) == {"type"} | set(required)


def test_an_older_event_without_a_newer_field_takes_its_default() -> None:
    event = decode(b'{"type":"step.started","run":"run_1","seq":1,"at":2.0,"node":"a"}')
    assert event == StepStarted(RunId("run_1"), 1, 2.0, NodeId("a"), attempt=1)


@pytest.mark.parametrize(
    "data",
    [
        b'{"type":"step.dreamt","run":"run_1","seq":1,"at":2.0}',
        b'{"run":"run_1","seq":1,"at":2.0}',
        b'{"type":["step.started"],"run":"run_1","seq":1,"at":2.0}',
        b'{"type":"step.started","run":"run_1","seq":1,"at":2.0,"node":"a","mood":"new"}',
        b'{"type":"step.started","run":"run_1","seq":1,"at":2.0}',
    ],
)
def test_an_event_of_a_newer_version_is_named_not_guessed(data: bytes) -> None:
    with pytest.raises(OperatorError) as caught:
        decode(data)
    assert caught.value.stable_code == "event_unknown"
    assert "newer version" in (caught.value.hint or "")


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"7", b"\xff"])
def test_what_is_no_event_at_all_is_damage(data: bytes) -> None:
    attempts: tuple[Callable[[], Event], ...] = (
        lambda: decode(data),
        lambda: decode_body("step.started", RunId("run_1"), 1, 2.0, data),
    )
    for attempt in attempts:
        with pytest.raises(OperatorError) as caught:
            attempt()
        assert caught.value.stable_code == "store_corrupt"


@pytest.mark.parametrize(
    "value", [datetime.now(UTC), 2**64, {1: "a"}, {"a"}, object(), "\ud800", RunFinished(RunId("r"), 1, 1.0, "done")]
)
def test_a_value_that_would_come_back_different_is_refused(value: object) -> None:
    event = StepFinished(RunId("run_1"), 1, 2.0, NodeId("a"), output={"deep": [value]})
    for attempt in (lambda: encode(event), lambda: encode_body(event), lambda: json_bytes(value, "The output of a")):
        with pytest.raises(InternalError) as caught:
            attempt()
        assert caught.value.stable_code == "not_json"
