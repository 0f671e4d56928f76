"""What clients ask of a server, each kind with a look afterwards whether it is there, once and as acknowledged.

A request is repeated with its key until it is acknowledged, as a careful client does.
"""

import asyncio
import json
import secrets
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Protocol

import httpx

from faults.stock import Stock

SOURCE = "people"
PAUSE_SECONDS = 0.1
ENDS = {"run.finished", "run.failed", "run.cancelled"}


class RefusedError(Exception):
    """A reply that no repetition will change."""


@dataclass
class Door:
    """The servers of a store, asked in turn: who gets no answer from one tries the next."""

    clients: list[httpx.AsyncClient]
    allowed: frozenset[str] = frozenset()
    """Codes of failures that are an honest outcome of the harm."""
    _next: int = 0

    @property
    def one(self) -> httpx.AsyncClient:
        self._next += 1
        return self.clients[self._next % len(self.clients)]

    async def acknowledged(self, method: str, path: str, key: str | None = None, **more: Any) -> httpx.Response:
        headers = {} if key is None else {"Idempotency-Key": key}
        while True:
            try:
                reply = await self.one.request(method, path, headers=headers, **more)
            except httpx.TransportError:
                reply = None
            if reply is not None and reply.is_success:
                return reply
            if reply is not None and reply.status_code not in (502, 503) and reply.json()["code"] not in self.allowed:
                raise RefusedError(f"{method} {path}: {reply.status_code} {reply.text[:300]}")
            await asyncio.sleep(PAUSE_SECONDS)

    async def json(self, path: str, **more: Any) -> Any:
        return (await self.acknowledged("GET", path, **more)).json()


class Work(Protocol):
    async def do(self, door: Door) -> None:
        """Returns when it is acknowledged."""

    async def check(self, door: Door, stock: Stock) -> None:
        """Long after the harm."""


@dataclass
class Run:
    """What is common to work that ends in a run."""

    number: int
    key: str = field(default_factory=lambda: secrets.token_hex(8))
    run: str = ""

    @property
    def thread(self) -> str:
        return f"thr_{self.run.removeprefix('run_')}"

    async def check(self, door: Door, stock: Stock) -> None:
        found = await door.json(f"/runs/{self.run}")
        answer = found["answer"]
        if answer is None:  # the run has not ended, which is counted elsewhere
            return
        error = (answer["provenance"]["error"] or {}).get("code")
        if error is None and answer["rows"] != [[self.number]]:
            stock.lost.append(f"{self.run}: {self.number} was asked for, the answer is {answer['rows']}")
        if error is not None and error not in door.allowed:
            stock.lost.append(f"{self.run}: failed as {error}: {answer['text'][:200]}")
        if found["run"]["duration_ms"] < 0:
            stock.lost.append(f"{self.run}: it took {found['run']['duration_ms']} ms")
        said = (await door.json(f"/threads/{self.thread}/messages"))["messages"]
        roles = [message["role"] for message in said]
        for role in ("user", "assistant"):
            if role not in roles:
                stock.lost.append(f"{self.run}: no message of the {role}")
            if roles.count(role) > 1:
                stock.doubled.append(f"{self.run}: {roles.count(role)} messages of the {role}")


@dataclass
class Question(Run):
    """A question and its answer: `POST /chat`."""

    @property
    def message(self) -> str:
        return f"SQL: SELECT count(*) + {self.number - 3} AS n FROM people"

    async def do(self, door: Door) -> None:
        reply = await door.acknowledged("POST", "/chat", self.key, json={"message": self.message, "source": SOURCE})
        self.run = reply.json()["run_id"]


class Program(Question):
    """A program in the sandbox."""

    @property
    def message(self) -> str:
        return f"PYTHON: result = sum([1] * {self.number})"


@dataclass
class Followed(Question):
    """A stream that is taken up again where it broke off."""

    seen: list[int] = field(default_factory=list)
    last: str = ""

    async def do(self, door: Door) -> None:
        body = {"message": self.message, "source": SOURCE}
        while self.last not in ENDS:
            arguments: dict[str, Any]
            path, arguments = "/chat/stream", {"json": body, "headers": {"Idempotency-Key": self.key}}
            if self.run:
                after = str(self.seen[-1] if self.seen else 0)
                path, arguments = f"/runs/{self.run}/events", {"headers": {"Last-Event-ID": after}}
            try:
                async with door.one.stream("GET" if self.run else "POST", path, **arguments) as reply:
                    if reply.is_success:
                        self.run = reply.headers.get("x-run-id", self.run)
                        async for number, kind in _events(reply):
                            self.seen.append(number)
                            self.last = kind
                    elif reply.status_code != 503:
                        raise RefusedError(f"{path}: {reply.status_code} {await reply.aread()!r}")
            except httpx.TransportError:
                pass
            await asyncio.sleep(0 if self.last in ENDS else PAUSE_SECONDS)

    async def check(self, door: Door, stock: Stock) -> None:
        await super().check(door, stock)
        if len(set(self.seen)) < len(self.seen):
            stock.doubled.append(f"{self.run}: events came twice: {self.seen}")
        if sorted(set(self.seen)) != list(range(1, max(self.seen, default=0) + 1)):
            stock.lost.append(f"{self.run}: events are missing: {self.seen}")


@dataclass
class Conversation(Question):
    """Two questions in one thread, the second after the answer to the first."""

    async def do(self, door: Door) -> None:
        await super().do(door)
        body = {"message": f"SQL: SELECT {self.number} AS second", "source": SOURCE, "thread_id": self.thread}
        await door.acknowledged("POST", "/chat", f"{self.key}-2", json=body)

    async def check(self, door: Door, stock: Stock) -> None:
        said = (await door.json(f"/threads/{self.thread}/messages"))["messages"]
        if [(one["role"], "second" in one["content"].lower()) for one in said] != [
            ("user", False),
            ("assistant", False),
            ("user", True),
            ("assistant", True),
        ]:
            stock.lost.append(f"{self.thread}: the order of its messages: {[one['content'] for one in said]}")


@dataclass
class Named:
    """A change of what a column is called, and its line in the history."""

    number: int
    key: str = field(default_factory=lambda: secrets.token_hex(8))

    async def do(self, door: Door) -> None:
        note = f"word {self.number}"
        edit = {"kind": "name", "table": "people", "column": "city", "description": note}
        body = {"edits": [edit], "note": note}
        await door.acknowledged("PATCH", f"/sources/{SOURCE}/semantic", self.key, json=body)

    async def check(self, door: Door, stock: Stock) -> None:
        history = (await door.json(f"/sources/{SOURCE}/semantic/history", params={"limit": 500}))["changes"]
        found = [change for change in history if change["note"] == f"word {self.number}"]
        if not found and len(history) < 500:
            stock.lost.append(f"the history has no `word {self.number}`")
        if len(found) > 1:
            stock.doubled.append(f"the history has `word {self.number}` {len(found)} times")
        for newer, older in pairwise(history):
            if newer["note"] == f"word {self.number}" and newer["before"] != older["after"]:
                stock.lost.append(f"`{older['note']}` was overwritten by `{newer['note']}`")
        text = (await door.json(f"/sources/{SOURCE}/semantic"))["text"]
        if found and found[0] == history[0] and text != found[0]["after"]:
            stock.lost.append(f"`word {self.number}` is the newest in the history, and not in force")


@dataclass
class Uploaded:
    """A file that becomes a source."""

    number: int
    key: str = field(default_factory=lambda: secrets.token_hex(8))
    source: str = ""

    async def do(self, door: Door) -> None:
        content = f"id\n{self.number}\n".encode()
        parameters = {"name": f"file{self.number}.csv"}
        reply = await door.acknowledged("POST", "/uploads", self.key, params=parameters, content=content)
        self.source = reply.json()["source"]["name"]

    async def check(self, door: Door, stock: Stock) -> None:
        listed = [source["name"] for source in (await door.json("/sources"))["sources"]]
        named = [name for name in listed if name.startswith(f"file{self.number}_") or name == f"file{self.number}"]
        if self.source not in named:
            stock.lost.append(f"the upload {self.source} is not listed")
        if len(named) > 1:
            stock.doubled.append(f"one upload became {named}")


async def _events(reply: httpx.Response) -> AsyncIterator[tuple[int, str]]:
    """The numbered ones."""
    number = 0
    async for line in reply.aiter_lines():
        name, _, value = line.partition(": ")
        if name == "id":
            number = int(value)
        elif name == "data" and number:
            yield number, json.loads(value)["type"]
            number = 0


KINDS: tuple[Callable[[int], Work], ...] = (Question, Followed, Program, Question, Named, Followed, Question, Uploaded)
