"""Requests that a proxy and the server could cut at different places: none is answered but with 400, and nothing that
stands behind it is read as a request. Over real sockets."""

import asyncio
import json
from collections.abc import AsyncIterator
from itertools import product
from pathlib import Path

import pytest
from served_app import serving

from answerable.gateway.app import create_app
from answerable.settings import Settings

HOST = "Host: 127.0.0.1"
SMUGGLED = b"GET /healthz?smuggled HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
CHUNKED = "Transfer-Encoding: chunked"
NAMES = ("X: 1", "X-Request-Id: a")


def head(*lines: str, line: str = "POST /api/v1/runs HTTP/1.1", end: str = "\r\n") -> bytes:
    return (end.join([line, *lines]) + end + end).encode("latin-1")


def chunks(body: bytes) -> bytes:
    return head(HOST, CHUNKED) + body


LENGTHS = ("+4", "-4", "4 4", "4,4", "4, 4", "0x4", "4;", "٤", "1e1", "", "99999999999999999999", "4\t4", "\v4")
ENCODINGS = (
    "identity", "gzip, chunked", "chunked, chunked", "chunked, identity", "xchunked", "chunked;q=1", "chunked x",
    '"chunked"', "\vchunked", "chunked\x00", "", ",chunked", "chunked,",
)  # fmt: skip
SIZES = (
    b"0x4", b"+4", b"-4", b"4 ", b"4\t", b" 4", b"4;a=b", b"4;", b"4 ;a", b"4,4", b"g", b"", b"4\x00", b"4\v", b"4_0",
    b"00000000000000000000000000000004", b"fffffffffffffffff", b"4;a=\"\n\"", b"4;\r4",
)  # fmt: skip
TARGETS = (
    "http://127.0.0.1/api/v1/runs", "http://evil.example/healthz", "https://127.0.0.1/healthz", "127.0.0.1:80",
    "healthz", "*", "?a", "#", "/healthz#a", "\\healthz", ":80", "file:///etc/passwd",
)  # fmt: skip
HOSTS = (
    "evil@127.0.0.1", "127.0.0.1/evil.example", "127.0.0.1, evil.example", "127.0.0.1 evil.example", "127.0.0.1?",
    "127.0.0.1#", "127.0.0.1:80:80", "127.0.0.1:port", "127.0.0.1:", "[::1", "a\\b", "%31", "http://127.0.0.1",
)  # fmt: skip

REFUSED = {
    "a length beside chunks": head(HOST, "Content-Length: 4", CHUNKED) + b"0\r\n\r\n",
    "chunks beside a length": head(HOST, CHUNKED, "Content-Length: 4") + b"0\r\n\r\n",
    "chunks beside a length of zero": head(HOST, "content-length: 0", "TRANSFER-ENCODING: Chunked") + b"0\r\n\r\n",
    "two lengths that agree": head(HOST, "Content-Length: 0", "Content-Length: 0"),
    "two lengths that differ": head(HOST, "Content-Length: 0", "Content-Length: 60"),
    "two encodings": head(HOST, CHUNKED, CHUNKED) + b"0\r\n\r\n",
    "two encodings that differ": head(HOST, CHUNKED, "Transfer-Encoding: identity") + b"0\r\n\r\n",
    "an encoding in HTTP/1.0": head(HOST, CHUNKED, line="POST /api/v1/chat HTTP/1.0") + b"0\r\n\r\n",
    **{f"length {value!r}": head(HOST, f"Content-Length: {value}") for value in LENGTHS if value.isascii()},
    **{f"encoding {value!r}": head(HOST, f"Transfer-Encoding: {value}") + b"0\r\n\r\n" for value in ENCODINGS},
    **{f"chunk of {size!r}": chunks(size + b"\r\nabcd\r\n0\r\n\r\n") for size in SIZES},
    "a chunk that ends with LF": chunks(b"4\nabcd\n0\n\n"),
    "a chunk that is longer than it says": chunks(b"4\r\nabcde\r\n0\r\n\r\n"),
    "a chunk without an end": chunks(b"4\r\nabcd0\r\n\r\n"),
    "a trailer with LF": chunks(b"0\r\nX: 1\n\r\n"),
    "a folded trailer": chunks(b"0\r\nX: 1\r\n 2\r\n\r\n"),
    **{f"folded with {fold!r}": head(HOST, "X: 1", f"{fold}Content-Length: 4") for fold in (" ", "\t", "  ")},
    "a fold in the first header": head(" X: 1", HOST),
    **{f"line end {end!r}": head(HOST, *NAMES, end=end) for end in ("\n", "\r", "\r\r\n", "\n\r")},
    **{f"{mark!r} in a value": head(HOST, f"X: a{mark}b") for mark in ("\n", "\r", "\x00", "\x01", "\v", "\x7f")},
    "LF before a smuggled header": head(HOST, "X: a\nContent-Length: 4"),
    "CR before a smuggled header": head(HOST, "X: a\rContent-Length: 4"),
    **{
        f"{space!r} {where} a colon": head(HOST, f"Content-Length{space}: 4" if where == "before" else f"{space}X: 4")
        for space, where in product((" ", "\t", "\v"), ("before", "far before"))
    },
    "a header without a name": head(HOST, ": 4"),
    "a header without a colon": head(HOST, "Content-Length 4"),
    **{f"target {target}": head(HOST, line=f"GET {target} HTTP/1.1") for target in TARGETS},
    "an address to connect to": head(HOST, line="CONNECT 127.0.0.1:80 HTTP/1.1"),
    "two spaces before the target": head(HOST, line="GET  /healthz HTTP/1.1"),
    "a tab before the target": head(HOST, line="GET\t/healthz HTTP/1.1"),
    "no version": head(HOST, line="GET /healthz"),
    **{f"version {told}": head(HOST, line=f"GET /healthz {told}") for told in ("HTTP/2.0", "HTTP/1.2", "http/1.1")},
    "no host": head(),
    "no host in HTTP/1.0": head(line="GET /healthz HTTP/1.0"),
    "two hosts": head(HOST, HOST),
    "two hosts that differ": head(HOST, "host: evil.example"),
    **{f"host {host}": head(f"Host: {host}") for host in HOSTS},
}


@pytest.fixture
async def port(tmp_path: Path) -> AsyncIterator[int]:
    async with serving(create_app(Settings(home=tmp_path / "home"))) as port:
        yield port


async def exchanged(port: int, *sent: bytes) -> bytes:
    """All that the server says before it closes the connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        for piece in sent:
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(0)
        return await asyncio.wait_for(reader.read(), 3)
    except ConnectionError:  # bytes that nobody read were on the way when the server closed
        return bytes(reader._buffer)  # type: ignore[attr-defined]
    finally:
        writer.close()


async def test_what_has_two_readings_is_refused_and_nothing_behind_it_is_read(port: int) -> None:
    wrong = {}
    for name, request in REFUSED.items():
        replies = await exchanged(port, request + SMUGGLED)
        first, _, body = replies.partition(b"\r\n\r\n")
        if replies.count(b"HTTP/1.1 ") != 1 or not first.startswith(b"HTTP/1.1 400 "):
            wrong[name] = replies[:200]
            continue
        assert b"connection: close" in first.lower()
        assert json.loads(body)["code"] == "http_invalid", name
    assert wrong == {}


async def test_the_same_bytes_one_at_a_time_are_refused_too(port: int) -> None:
    for name in ("a length beside chunks", "line end '\\n'", "folded with ' '", "chunk of b'4;a=b'", "two hosts"):
        replies = await exchanged(port, *(bytes([byte]) for byte in REFUSED[name] + SMUGGLED))
        assert replies.startswith(b"HTTP/1.1 400 "), name
        assert replies.count(b"HTTP/1.1 ") == 1, name


async def test_each_refusal_says_why(port: int) -> None:
    reasons = {}
    for name in ("a length beside chunks", "two hosts", "target *", "line end '\\n'", "chunk of b'g'"):
        reasons[name] = json.loads((await exchanged(port, REFUSED[name])).partition(b"\r\n\r\n")[2])["detail"]
    assert len(set(reasons.values())) == len(reasons)
    assert "content-length or transfer-encoding" in reasons["a length beside chunks"]


ASKED = b'{"query_type": "sql"}'
LAST = head(HOST, "Connection: close", line="GET /healthz HTTP/1.1")


@pytest.mark.parametrize(
    "request_bytes",
    [
        head(HOST, "Content-Type: application/json", f"Content-Length: {len(ASKED)}") + ASKED,
        head(HOST, "Content-Type: application/json", CHUNKED) + b"%X\r\n%b\r\n0\r\n\r\n" % (len(ASKED), ASKED),
        head(HOST, "Content-Type: application/json", "transfer-encoding: Chunked")
        + b"5\r\n%b\r\n%x\r\n%b\r\n0\r\nX: 1\r\n\r\n" % (ASKED[:5], len(ASKED) - 5, ASKED[5:]),
    ],
    ids=["length", "one chunk", "chunks and a trailer"],
)
async def test_what_has_one_reading_is_answered_and_the_next_request_too(port: int, request_bytes: bytes) -> None:
    replies = await exchanged(port, request_bytes + LAST)
    assert [reply.split(b" ")[0] for reply in replies.split(b"HTTP/1.1 ")[1:]] == [b"422", b"200"]


async def test_what_is_wrong_behind_a_good_request_ends_the_connection_after_its_reply(port: int) -> None:
    good = head(HOST, line="GET /healthz HTTP/1.1")
    replies = await exchanged(port, good + REFUSED["a length beside chunks"] + SMUGGLED)
    assert [reply.split(b" ")[0] for reply in replies.split(b"HTTP/1.1 ")[1:]] == [b"200", b"400"]


async def test_a_bad_chunk_in_an_upload_that_was_answered_already_ends_the_connection(port: int) -> None:
    upload = head(HOST, CHUNKED, line="POST /api/v1/nowhere HTTP/1.1")
    replies = await exchanged(port, upload + b"4\r\nabcd\r\n", b"zz\r\n", SMUGGLED)
    assert replies.count(b"HTTP/1.1 ") <= 1
