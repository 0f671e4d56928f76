"""Frames between a worker and its parent."""

import os
import socket
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest

from answerable.isolation import wire


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, None),
        ("tëxt\n", "tëxt\n"),
        (2**70, 2**70),
        (1.5, 1.5),
        (True, True),
        (date(2024, 2, 29), date(2024, 2, 29)),
        (datetime(2024, 1, 1, 10, 30, 0, 5), datetime(2024, 1, 1, 10, 30, 0, 5)),
        (datetime(2024, 1, 1, 10, tzinfo=UTC), datetime(2024, 1, 1, 10)),
        (time(10, 30), time(10, 30)),
        (b"\x00\xff", b"\x00\xff"),
        (Decimal("1.25"), 1.25),
        (Decimal("7"), 7),
        (UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (timedelta(days=1), "1 day, 0:00:00"),
    ],
)
def test_values_survive(value: Any, expected: Any) -> None:
    sent = wire.encoded({"rows": [[value]]})
    assert wire.decoded(sent[wire.HEADER.size :]) == {"rows": [[expected]]}


def test_what_cannot_be_sent_is_an_error() -> None:
    with pytest.raises(TypeError):
        wire.encoded({"x": object()})


def test_nested_values_become_text() -> None:
    assert wire.nested_as_text({"a": [1, date(2024, 1, 1)]}) == '{"a": [1, "2024-01-01"]}'
    assert wire.nested_as_text("x") == "x"


def test_a_descriptor_rides_along() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        read_end, write_end = os.pipe()
        frame = wire.encoded({"hello": "x" * 10_000})
        sent = socket.send_fds(ours, [frame[:1]], [write_end])
        ours.sendall(frame[sent:])
        received = wire.receive(theirs)
        assert received is not None
        message, descriptor = received
        assert message == {"hello": "x" * 10_000}
        assert descriptor is not None
        os.write(descriptor, b"through")
        assert os.read(read_end, 10) == b"through"
        for number in (read_end, write_end, descriptor):
            os.close(number)


@pytest.mark.parametrize("sent", [b"", b"\x00\x00", b"\x00\x00\x00\x05abc"])
def test_a_cut_connection_is_an_end(sent: bytes) -> None:
    ours, theirs = socket.socketpair()
    with theirs:
        with ours:
            ours.sendall(sent)
        assert wire.receive(theirs) is None
