"""A process that stands still (SIGSTOP) at one moment of a write to an API that knows no idempotency keys.

    python frozen_process.py URL ARTIFACTS LEASE_SECONDS API intent|connection

`intent`: right after the start of the write is stored. `connection`: when it has begun to send the request, and has not
connected yet. It prints the id of its run and, when it goes on and its run has ended, how.
"""

import asyncio
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import httpx

from answerable.answers.answer import Answer
from answerable.answers.capsule import capsule_body
from answerable.apis.broker import Broker
from answerable.apis.target import ApiTarget
from answerable.core.clock import SystemClock
from answerable.core.context import LOCAL, RunContext
from answerable.core.events import Event, StepStarted
from answerable.core.ids import new_run_id
from answerable.engine.graph import Graph
from answerable.engine.run import Engine
from answerable.engine.steps.api import ApiStep
from answerable.engine.steps.base import Step
from answerable.service.process_role import ProcessRole
from answerable.service.run_carrier import RunCarrier, Subject
from answerable.service.runs import RunService
from answerable.store.base import Capsule, Events, Lease, RunEnd, Store
from answerable.store.open import open_store


def freeze() -> None:
    os.kill(os.getpid(), signal.SIGSTOP)


class FrozenEvents:
    """Stands still once the start of the write is stored."""

    def __init__(self, events: Events) -> None:
        self._events = events
        self.read = events.read
        self.still_ours = events.still_ours

    async def append(self, events: Sequence[Event], lease: Lease, end: RunEnd | None = None) -> None:
        await self._events.append(events, lease, end)
        if any(isinstance(event, StepStarted) and event.node == "pay" for event in events):
            freeze()


class FrozenTransport(httpx.AsyncHTTPTransport):
    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        freeze()
        return await super().handle_async_request(request)


class End:
    def __init__(self, store: Store) -> None:
        self._store = store

    async def run(self, step: Step) -> Any:
        answer = Answer(run_id=step.context.run, status="done", kind="text", text="paid")
        capsule = Capsule(step.context.run, None, SystemClock().now(), capsule_body("?", answer))
        await self._store.capsules.put(LOCAL, capsule, step.journal.lease)


def graph() -> Graph:
    call = {"api": "shop", "method": "POST", "path": "/orders", "body": {"n": 1}}
    pay = {"id": "pay", "kind": "api", "effect": True, "config": call}
    return Graph.parse({"nodes": [pay, {"id": "end", "kind": "end", "after": ["pay"]}]})


async def opened(
    url: str, artifacts: str, lease: str, api: str, frozen_at: str = ""
) -> tuple[Store, RunService, Broker]:
    store = await open_store(url, artifacts=Path(artifacts), lease_seconds=float(lease))
    assert store.patient is not None
    target = ApiTarget.model_validate({"url": api, "paths": ["/orders"], "methods": ["POST"]})
    apis = Broker({"shop": target}, FrozenTransport() if frozen_at == "connection" else None)
    events = FrozenEvents(store.patient.events) if frozen_at == "intent" else store.patient.events
    engine = Engine({"api": ApiStep(apis, seconds=600), "end": End(store.patient)}, events)
    return (
        store,
        RunService(store, RunCarrier(store, engine, SystemClock(), {}, role=ProcessRole(patient=True)), {}),
        apis,
    )


async def main(url: str, artifacts: str, lease: str, api: str, frozen_at: str) -> None:
    store, runs, apis = await opened(url, artifacts, lease, api, frozen_at)
    context = RunContext(new_run_id(), LOCAL)
    print(context.run, flush=True)
    await runs.carrier.start(graph(), Subject(None, (), None), context)
    print((await runs.wait(context.run, LOCAL)).status, flush=True)
    await runs.carrier.close()
    await apis.close()
    await store.close()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
