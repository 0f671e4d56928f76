"""The host's half: whatever a taken-over sandbox says, the limits hold and a wrong word ends the run."""

import struct
from pathlib import Path

import pytest

from answerable.core.errors import OperatorError
from answerable.sandbox.base import HostCalls, SandboxLimits, SandboxRequest
from answerable.sandbox.exchange import converse
from answerable.sandbox.results import RunPlace, result_of
from answerable.sandbox.tables.workers import TableWorkers

READY = b'{"ready": true}'


def message(body: bytes, letter: bytes = b"J") -> bytes:
    return struct.pack("!cI", letter, len(body)) + body


class Forged:
    """Says what it was told to, a few bytes at a time, whatever it hears."""

    def __init__(self, said: bytes, piece: int = 7) -> None:
        self._said = said
        self._piece = piece
        self.heard = b""

    async def send(self, data: bytes) -> None:
        self.heard += data

    async def receive(self) -> bytes:
        data, self._said = self._said[: self._piece], self._said[self._piece :]
        return data


async def told(*bodies: bytes, into: Path | None = None) -> tuple[str, str | None, str]:
    limits = SandboxLimits(seconds=5, output_bytes=10, result_mb=1, host_calls=2)
    request = SandboxRequest("", limits=limits, into=into, host=HostCalls({}))
    heard = await converse(Forged(message(READY) + b"".join(bodies), 1 << 20), request)
    tables = TableWorkers()
    result = await result_of(heard, request, RunPlace("forged"), tables)
    await tables.close()
    return result.outcome, result.reason, result.output


@pytest.mark.parametrize(
    ("bodies", "expected"),
    [
        ([message(b'{"done": {"outcome": "ok", "value": 1}}')], ("ok", None, "")),
        ([message(b'{"print": "0123456789more"}')], ("stopped", "output", "0123456789")),
        ([message(b'{"print": 1}')], ("stopped", "died", "")),
        ([message(b"not json")], ("stopped", "died", "")),
        ([message(b"[" * 100_000)], ("stopped", "died", "")),
        ([message(b'{"done": NaN}')], ("stopped", "died", "")),
        ([message(b"[1]")], ("stopped", "died", "")),
        ([message(b'{"else": 1}')], ("stopped", "died", "")),
        ([message(b"x", b"Z")], ("stopped", "died", "")),
        ([struct.pack("!cI", b"J", 0xFFFFFFFF)], ("stopped", "died", "")),
        ([message(b"rows", b"B")], ("stopped", "died", "")),
        ([message(b'{"call": "f"}')] * 3, ("stopped", "host_calls", "")),
        ([message(b'{"done": {"outcome": "fine"}}')], ("stopped", "died", "")),
        ([message(b'{"done": {"outcome": "stopped", "reason": "luck"}}')], ("stopped", "died", "")),
        ([message(b'{"done": {"outcome": "ok"}}')[:-3]], ("stopped", "died", "")),
        ([], ("stopped", "died", "")),
    ],
)
async def test_what_is_forged_is_checked(bodies: list[bytes], expected: tuple[str, str | None, str]) -> None:
    assert await told(*bodies) == expected


async def test_rows_are_bounded_and_looked_into(tmp_path: Path) -> None:
    into = tmp_path / "rows.arrow"
    frame = message(b'{"done": {"outcome": "ok", "frame": true}}')
    assert (await told(message(b"no arrow", b"B"), frame, into=into))[:2] == ("error", "result")
    assert (await told(*[message(bytes(1 << 19), b"B")] * 3, frame, into=into))[:2] == ("stopped", "result_size")


async def test_a_place_that_never_begins_is_the_operators_problem() -> None:
    for said in (b"", message(b'{"done": {}}'), b"\0" * 10):
        with pytest.raises(OperatorError) as caught:
            await converse(Forged(said), SandboxRequest(""))
        assert caught.value.stable_code == "sandbox_failed"


async def test_messages_are_put_together_from_pieces() -> None:
    said = message(READY) + message(b'{"print": "a"}') + message(b'{"done": {"outcome": "ok", "value": [2]}}')
    heard = await converse(Forged(said, 1), SandboxRequest(""))
    assert (heard.output, heard.done) == ("a", {"outcome": "ok", "value": [2]})


async def test_rows_for_a_full_disk(small_disk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The host writes down what a container sends."""
    monkeypatch.setattr("tempfile.tempdir", str(small_disk))
    with pytest.raises(OperatorError) as caught:
        await told(message(b"x" * 200_000, b"B"), into=small_disk / "rows.arrow")
    assert caught.value.stable_code == "disk_full"
