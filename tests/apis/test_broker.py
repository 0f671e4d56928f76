"""The broker against a real server on this machine: what a caller can ask for, and what it gets to see."""

import asyncio
import gzip
import json
import ssl
import threading
import tracemalloc
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import replace
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from api_server import Answer, ApiServer, Received
from pydantic import ValidationError

from answerable.apis.broker import Broker
from answerable.apis.call import ApiCall, ApiReply, RequestRecord
from answerable.apis.target import ApiTarget
from answerable.core.errors import (
    AnswerableError,
    LimitError,
    NotFoundError,
    OperatorError,
    RefusedError,
    SourceError,
    TransientError,
    UserError,
)
from answerable.core.values import Json

CERTIFICATES = ssl.create_default_context()
"""Made once: it takes longer than a test."""
TOKEN = "s3cr3t/Tok+en=="
CREDENTIAL = {"kind": "header", "value": f"SSWS {TOKEN}"}
PATHS = ("/users", "/users/{id}", "/groups/{id}/users", "/echo", "/moved", "/odd/{what}")


@pytest.fixture(scope="module")
def server() -> Iterator[ApiServer]:
    server = ApiServer()
    yield server
    server.close()


@pytest.fixture
def api(server: ApiServer) -> ApiServer:
    server.forget()
    return server


class Host:
    """A broker with one API, a session of it, and the records of its requests."""

    def __init__(self, api: ApiServer, **target: Any) -> None:
        settings = {"url": api.url, "paths": PATHS, "credential": CREDENTIAL, **target}
        self.records: list[RequestRecord] = []
        transport = httpx.AsyncHTTPTransport(verify=CERTIFICATES)
        self.broker = Broker({"okta": ApiTarget.model_validate(settings)}, transport)
        self.session = self.broker.session("okta", self.records.append)

    async def get(self, path: Json, params: Json = None, paginate: bool = False) -> Json:
        return (await self.session.call(ApiCall(path, params=params, all_pages=paginate))).data


@pytest.fixture
async def open_host(api: ApiServer) -> AsyncIterator[Callable[..., Host]]:
    hosts: list[Host] = []

    def opened(**target: Any) -> Host:
        hosts.append(Host(api, **target))
        return hosts[-1]

    yield opened
    for host in hosts:
        await host.broker.close()


OpenHost = Callable[..., Host]


# What is asked


async def test_the_host_adds_the_credential_and_records_the_call(api: ApiServer, open_host: OpenHost) -> None:
    api.route = lambda received: Answer({"path": received.path, "query": received.query})
    host = open_host()
    params = {"limit": 5, "active": True, "q": "a b&c=d", "id": ["x", 2], "none": None}
    answer = await host.get("/users", params)
    assert answer == {
        "path": "/users",
        "query": {"limit": ["5"], "active": ["true"], "q": ["a b&c=d"], "id": ["x", "2"]},
    }
    assert api.received[0].headers["Authorization"] == f"SSWS {TOKEN}"
    (record,) = host.records
    assert record.duration_ms > 0
    assert record.byte_count > 10
    sent = {"limit": ["5"], "active": ["true"], "q": ["a b&c=d"], "id": ["x", "2"]}
    expected = RequestRecord("okta", "GET", "/users", sent, status=200)
    assert replace(record, duration_ms=0.0, byte_count=0) == expected


async def test_a_credential_in_the_query_is_neither_seen_nor_set_by_the_code(
    api: ApiServer, open_host: OpenHost
) -> None:
    api.route = lambda received: Answer(received.query)
    host = open_host(credential={"kind": "query", "name": "api_key", "value": TOKEN})
    assert await host.get("/users", {"q": "x"}) == {"q": ["x"], "api_key": ["[hidden]"]}
    assert api.received[0].query["api_key"] == [TOKEN]
    assert TOKEN not in repr(host.records)
    for name in ("api_key", "API_KEY"):
        with pytest.raises(UserError, match="set by the host"):
            await host.get("/users", {name: "other"})


async def test_connections_are_used_again(api: ApiServer, open_host: OpenHost) -> None:
    host = open_host()
    for _ in range(5):
        await host.get("/users")
    assert len(api.connections) == 1


@pytest.mark.parametrize("user", ["00u1", "ada@example.com", "a b", "ü", "a:b", "a+b&c=d", "~x", "{id}", "a,b"])
async def test_ids_are_sent_as_they_are(api: ApiServer, open_host: OpenHost, user: str) -> None:
    await open_host().get(f"/users/{user}")
    assert api.received[0].path == f"/users/{quote(user, safe='')}"


@pytest.mark.parametrize(
    "path",
    [
        "",
        "users",
        "/",
        "/user",
        "/users/",
        "/users/1/2",
        "/USERS",
        "//evil.example/users",
        "/users//",
        "//users",
        "/users/..",
        "/users/.",
        "/users/../groups",
        "/groups/../users",
        "/users/%2e%2e",
        "/users/%2F",
        "/users/a%00b",
        "/users/..;/x",
        "/users/a;b=c",
        "/users?q=1",
        "/users#x",
        "/users\\..\\x",
        "/users/a\nb",
        "/users/a\r\nX-Header: 1",
        "/users/a\x00",
        "/users/a\x7f",
        "/users/a\u202eb",
        "/users/．．",
        "/users/a／b",
        "http://evil.example/users",
        "https:/evil.example",
        "@evil.example/users",
        ":8080/users",
        "/users/" + "a" * 3_000,
        None,
        7,
        ["/users"],
        {"path": "/users"},
    ],
)
async def test_other_paths_are_refused_and_never_asked(api: ApiServer, open_host: OpenHost, path: Json) -> None:
    host = open_host()
    with pytest.raises(RefusedError) as caught:
        await host.get(path)
    assert caught.value.stable_code == "api_path_refused"
    assert api.received == []
    assert [record.error for record in host.records] == ["api_path_refused"]


@pytest.mark.parametrize(
    "params",
    [
        "q=1",
        [1],
        {"a": {"b": 1}},
        {"a": [[1]]},
        {1: "a"},
        {"a": "x\r\ny"},
        {"a": "\x00"},
        {"a": "x" * 10_000},
        {str(n): n for n in range(200)},
    ],
)
async def test_wrong_parameters_are_errors(api: ApiServer, open_host: OpenHost, params: Json) -> None:
    with pytest.raises(UserError) as caught:
        await open_host().get("/users", params)
    assert caught.value.stable_code == "api_params_invalid"
    assert api.received == []


async def test_only_reading_is_allowed_unless_the_target_says_more(api: ApiServer, open_host: OpenHost) -> None:
    post = ApiCall("/echo", "POST", body={"filter": ["a"]})
    reader = open_host()
    assert reader.session.methods == ("GET",)
    with pytest.raises(RefusedError, match="POST"):
        await reader.session.call(post)
    assert api.received == []
    assert [record.error for record in reader.records] == ["api_path_refused"]
    api.route = lambda received: Answer({"method": received.method, "body": json.loads(received.body)})
    reply = await open_host(methods=("GET", "POST")).session.call(post)
    assert reply.data == {"method": "POST", "body": {"filter": ["a"]}}


async def test_a_reply_says_what_it_cost(api: ApiServer, open_host: OpenHost) -> None:
    link = {"Link": '</users?after=1>; rel="next"'}
    api.route = lambda received: Answer([1], 200, {} if received.query else link)
    session = open_host().session
    assert await session.call(ApiCall("/users", all_pages=True)) == ApiReply([1, 1], requests=2, byte_count=6)
    assert await session.call(ApiCall("/users")) == ApiReply([1], requests=1, byte_count=3)


def test_an_unknown_api_is_named(api: ApiServer) -> None:
    with pytest.raises(UserError, match="There is no API 'jira'") as caught:
        Broker({}).session("jira")
    assert caught.value.stable_code == "api_unknown"


# What comes back


@pytest.mark.parametrize(
    "echo",
    [
        {"you sent": f"SSWS {TOKEN}"},
        {"token": TOKEN},
        {"deep": [{"er": f"x{TOKEN}y"}]},
        {f"key {TOKEN}": 1},
        {"url": f"https://x/?t={quote(TOKEN, safe='')}"},
        {"case": TOKEN.upper()},
    ],
)
@pytest.mark.parametrize("status", [200, 400, 500])
async def test_a_credential_that_the_server_repeats_is_hidden(
    api: ApiServer, open_host: OpenHost, echo: Json, status: int
) -> None:
    api.route = lambda _received: Answer(echo, status, {"Retry-After": "999"})
    host = open_host()
    try:
        seen = json.dumps(await host.get("/echo"))
        assert "[hidden]" in seen
    except AnswerableError as error:
        seen = f"{error.message} {error.hint} {error.details}"
    for secret in (TOKEN, TOKEN.upper(), quote(TOKEN, safe="")):
        assert secret not in seen
        assert secret not in repr(host.records)


async def test_a_credential_in_escapes_is_hidden(api: ApiServer, open_host: OpenHost) -> None:
    escaped = "".join(f"\\u{ord(sign):04x}" for sign in TOKEN)
    api.route = lambda _received: Answer(f'{{"a": "{escaped}"}}'.encode())
    assert await open_host().get("/echo") == {"a": "[hidden]"}


async def test_a_password_is_hidden_too(api: ApiServer, open_host: OpenHost) -> None:
    api.route = lambda _received: Answer({"a": "for reader:open-sesame", "b": "open-sesame"})
    host = open_host(credential={"kind": "header", "value": "Basic cmVhZGVyOm9wZW4tc2VzYW1l"})
    assert await host.get("/echo") == {"a": "for [hidden]", "b": "[hidden]"}


@pytest.mark.parametrize(
    ("answer", "error", "code"),
    [
        (Answer({}, 404), NotFoundError, "api_not_found"),
        (Answer({}, 401), OperatorError, "api_unauthorised"),
        (Answer({}, 403), OperatorError, "api_unauthorised"),
        (Answer({"why": "no such filter"}, 400), SourceError, "api_failed"),
        (Answer({}, 429, {"Retry-After": "3600"}), TransientError, "api_busy"),
        (Answer({}, 503, {"Retry-After": "3600"}), TransientError, "api_busy"),
        (Answer({}, 429, {"Retry-After": "Wed, 21 Oct 2099 07:28:00 GMT"}), TransientError, "api_busy"),
        (Answer(b"<html>", 200), SourceError, "api_html"),
        (Answer(b"\x00\xff", 200), SourceError, "api_failed"),
        (Answer(b"[" * 100_000, 200), SourceError, "api_failed"),
        (Answer(b"not gzip", 200, {"Content-Encoding": "gzip"}), SourceError, "api_failed"),
        (Answer(b"{}", 200, {"Content-Encoding": "br"}), SourceError, "api_failed"),
    ],
)
async def test_each_failure_is_named(
    api: ApiServer, open_host: OpenHost, answer: Answer, error: type[AnswerableError], code: str
) -> None:
    api.route = lambda _received: answer
    host = open_host()
    with pytest.raises(error) as caught:
        await host.get("/users")
    assert caught.value.stable_code == code
    assert len(api.received) == 1
    assert api.url not in caught.value.message


async def test_the_reason_of_the_api_is_given(api: ApiServer, open_host: OpenHost) -> None:
    api.route = lambda _received: Answer({"why": "no such filter"}, 400)
    with pytest.raises(SourceError, match="no such filter"):
        await open_host().get("/users")


async def test_a_busy_api_is_asked_again(api: ApiServer, open_host: OpenHost) -> None:
    api.route = lambda _received: Answer([1]) if len(api.received) > 2 else Answer({}, 429, {"Retry-After": "0"})
    host = open_host()
    assert await host.get("/users") == [1]
    assert [record.status for record in host.records] == [429, 429, 200]


async def test_an_api_that_is_not_there_is_named(open_host: OpenHost) -> None:
    host = open_host(url="http://127.0.0.1:9", credential={"kind": "query", "name": "k", "value": TOKEN})
    with pytest.raises(TransientError) as caught:
        await host.get("/users")
    assert caught.value.stable_code == "api_unreachable"
    assert TOKEN not in f"{caught.value!r} {caught.value.__cause__!r}"
    assert host.records[0].error == "api_unreachable"


async def test_an_api_that_does_not_answer_is_not_waited_for(api: ApiServer, open_host: OpenHost) -> None:
    release = threading.Event()

    def stuck(_received: Received) -> Answer:
        release.wait(10)
        return Answer([])

    api.route = stuck
    with pytest.raises(TransientError) as caught:
        await open_host(seconds=0.2).get("/users")
    release.set()
    assert caught.value.stable_code == "api_unreachable"


async def test_gzip_is_read(api: ApiServer, open_host: OpenHost) -> None:
    api.route = lambda _received: Answer(gzip.compress(b'{"a": 1}'), 200, {"Content-Encoding": "gzip"})
    assert await open_host().get("/users") == {"a": 1}


async def test_an_answer_that_unpacks_to_too_much_is_cut_off(api: ApiServer, open_host: OpenHost) -> None:
    packed = Answer(gzip.compress(b" " * 50_000_000), 200, {"Content-Encoding": "gzip"})
    api.route = lambda _received: packed
    host = open_host(budget={"bytes": 100_000})
    tracemalloc.start()
    with pytest.raises(LimitError) as caught:
        await host.get("/users")
    _now, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert caught.value.stable_code == "api_budget_spent"
    assert peak < 20_000_000


# Elsewhere


@pytest.mark.parametrize(
    "location",
    [
        "http://127.0.0.1:1/users",
        "http://localhost/users",
        "//evil.example/users",
        "https://evil.example/users",
        "/secret",
        "/users/%2e%2e",
        "/users/a%2Fb",
        "file:///etc/passwd",
        "http://[::1/",
        "http://127.0.0.1:99999999/users",
    ],
)
@pytest.mark.parametrize("how", ["redirect", "link"])
async def test_nothing_is_followed_elsewhere(api: ApiServer, open_host: OpenHost, location: str, how: str) -> None:
    if how == "redirect":
        api.route = lambda _received: Answer([], 302, {"Location": location})
    else:
        api.route = lambda _received: Answer([], 200, {"Link": f'<{location}>; rel="next"'})
    with pytest.raises(RefusedError) as caught:
        await open_host().get("/users", paginate=True)
    assert caught.value.stable_code == "api_path_refused"
    assert len(api.received) == 1


async def test_a_redirect_to_an_allowed_path_is_followed(api: ApiServer, open_host: OpenHost) -> None:
    moved = Answer({}, 301, {"Location": "/users/7?x=1"})
    api.route = lambda received: moved if received.path == "/moved" else Answer(received.query)
    assert await open_host().get("/moved") == {"x": ["1"]}


async def test_redirects_end(api: ApiServer, open_host: OpenHost) -> None:
    api.route = lambda _received: Answer({}, 302, {"Location": "/moved"})
    with pytest.raises(SourceError, match="again and again"):
        await open_host().get("/moved")


# Pages


async def test_links_are_followed(api: ApiServer, open_host: OpenHost) -> None:
    def page(received: Received) -> Answer:
        after = int(received.query.get("after", ["0"])[0])
        link = {"Link": f'<{api.url}/users?after={after + 1}&limit=2>; rel="next", <{api.url}/x>; rel="self"'}
        return Answer([after * 2, after * 2 + 1], 200, link if after < 3 else {})

    api.route = page
    host = open_host()
    assert await host.get("/users", {"limit": 2}, True) == list(range(8))
    assert await host.get("/users", {"limit": 2}) == [0, 1]
    assert len(host.records) == 5


async def test_cursors_are_followed(api: ApiServer, open_host: OpenHost) -> None:
    def page(received: Received) -> Answer:
        n = int(received.query.get("from", ["0"])[0])
        return Answer({"data": {"items": [n]}, "meta": {"next": n + 1 if n < 2 else None}, "q": received.query["q"]})

    api.route = page
    host = open_host(pages={"kind": "cursor", "field": "meta.next", "parameter": "from", "items": "data.items"})
    assert await host.get("/users", {"q": "x"}, True) == [0, 1, 2]


async def test_numbered_pages_are_followed(api: ApiServer, open_host: OpenHost) -> None:
    api.route = lambda received: Answer([n] if (n := int(received.query.get("page", ["1"])[0])) < 4 else [])
    host = open_host(pages={"kind": "number"})
    assert await host.get("/users", None, True) == [1, 2, 3]
    assert await host.get("/users", {"page": 3}, True) == [3]
    api.route = lambda _received: Answer([1])
    with pytest.raises(UserError, match="number of a page"):
        await host.get("/users", {"page": "last"}, True)


async def test_pages_without_rows_are_an_error(api: ApiServer, open_host: OpenHost) -> None:
    api.route = lambda _received: Answer({"a": 1})
    with pytest.raises(SourceError, match="list of rows"):
        await open_host().get("/users", None, True)


async def test_offsets_advance_by_the_rows_that_came(api: ApiServer, open_host: OpenHost) -> None:
    rows = list(range(7))
    api.route = lambda received: Answer(rows[(at := int(received.query.get("offset", ["0"])[0])) : at + 3])
    assert await open_host(pages={"kind": "offset"}).get("/users", {"limit": 5}, True) == rows


async def test_the_address_of_the_next_page_may_stand_in_the_page(api: ApiServer, open_host: OpenHost) -> None:
    def page(received: Received) -> Answer:
        number = int(received.query.get("n", ["1"])[0])
        return Answer({"results": [number], "next": f"{api.url}/users?n={number + 1}" if number < 3 else None})

    api.route = page
    pages = {"kind": "next", "items": "results"}
    assert await open_host(pages=pages).get("/users", None, True) == [1, 2, 3]
    api.route = lambda _received: Answer({"results": [1], "next": "https://evil.example/users"})
    with pytest.raises(RefusedError):
        await open_host(pages=pages).get("/users", None, True)


@pytest.mark.parametrize("after", ["", "?after=1"])
async def test_pages_that_come_again_are_an_error(api: ApiServer, open_host: OpenHost, after: str) -> None:
    api.route = lambda _received: Answer([1], 200, {"Link": f'</users{after}>; rel="next"'})
    with pytest.raises(SourceError) as caught:
        await open_host().get("/users", None, True)
    assert caught.value.stable_code == "api_pages_endless"
    assert len(api.received) <= 2


async def test_pages_without_end_meet_the_budget(api: ApiServer, open_host: OpenHost) -> None:
    api.route = lambda _received: Answer([1], 200, {"Link": f'</users?after={len(api.received)}>; rel="next"'})
    host = open_host(budget={"calls": 5}, rate={"per_second": 1000, "burst": 100})
    with pytest.raises(LimitError) as caught:
        await host.get("/users", None, True)
    assert caught.value.stable_code == "api_budget_spent"
    assert len(api.received) == 5
    assert host.records[-1].error == "api_budget_spent"


async def test_bytes_are_counted_over_all_calls(api: ApiServer, open_host: OpenHost) -> None:
    api.route = lambda _received: Answer("x" * 600)
    host = open_host(budget={"bytes": 1_000})
    await host.get("/users")
    with pytest.raises(LimitError):
        await host.get("/users")


# Rate


class StillClock:
    """Time passes only by sleeping."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def now(self) -> Any:
        raise NotImplementedError

    def monotonic(self) -> float:
        return self.seconds

    async def sleep(self, seconds: float) -> None:
        self.seconds += seconds


async def test_the_rate_holds_for_all_runs_together(api: ApiServer) -> None:
    clock = StillClock()
    target = ApiTarget(url=api.url, paths=PATHS, rate={"per_second": 2, "burst": 3})
    broker = Broker({"a": target}, clock=clock)
    one, two = (broker.session("a", seconds=100) for _ in range(2))
    for _ in range(4):
        await one.call(ApiCall("/users"))
        await two.call(ApiCall("/users"))
    assert clock.seconds == pytest.approx((8 - 3) / 2)
    late = broker.session("a", seconds=0.1)
    with pytest.raises(TransientError, match="turn came too late"):
        await late.call(ApiCall("/users"))
    await broker.close()


# Targets


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"url": "http://example.com"}, "https"),
        ({"url": "ftp://example.com"}, "https"),
        ({"url": "https://a:b@example.com"}, "credential"),
        ({"url": "https://example.com?key=1"}, "credential"),
        ({"url": "example.com"}, "https"),
        ({"paths": ["users"]}, "slash"),
        ({"paths": []}, "at least 1"),
        ({"paths": ["/users/*"]}, "segment"),
        ({"paths": ["/users/.."]}, "segment"),
        ({"paths": ["/users/x{id}"]}, "segment"),
        ({"methods": ["DELETE"]}, "GET"),
        ({"credential": {"kind": "header", "value": "short"}}, "at least 8"),
        ({"credential": {"kind": "header", "value": "Bearer a\r\nX: y"}}, "printable"),
        ({"credential": {"kind": "header", "name": "A: b", "value": "x" * 9}}, "pattern"),
    ],
)
def test_a_wrong_target_is_refused(wrong: dict[str, Json], said: str) -> None:
    with pytest.raises(ValidationError, match=said) as caught:
        ApiTarget.model_validate({"url": "https://example.com", "paths": ["/users"], **wrong})
    assert "Bearer" not in str(caught.value)


@pytest.mark.parametrize("url", ["http://127.0.0.1:80", "http://localhost", "http://[::1]", "https://example.com/api/"])
def test_this_machine_may_be_asked_without_encryption(url: str) -> None:
    assert not ApiTarget(url=url, paths=("/users",)).url.endswith("/")
    assert ApiTarget(url="http://example.com", paths=("/a",), allow_http=True).allow_http


def test_a_credential_does_not_show_in_the_target() -> None:
    target = ApiTarget.model_validate({"url": "https://example.com", "paths": ["/a"], "credential": CREDENTIAL})
    assert TOKEN not in repr(target) + target.model_dump_json()


async def test_a_call_that_is_cancelled_is_recorded(api: ApiServer, open_host: OpenHost) -> None:
    arrived, release = threading.Event(), threading.Event()

    def stuck(_received: Received) -> Answer:
        arrived.set()
        release.wait(10)
        return Answer([])

    api.route = stuck
    host = open_host()
    asking = asyncio.create_task(host.get("/users"))
    await asyncio.to_thread(arrived.wait, 10)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    release.set()
    assert len(host.records) == 1
