"""Carries out a run in a process of its own, for tests of runs that several processes share.

    python run_process.py URL ARTIFACTS DIARY LEASE_SECONDS START|EFFECT|POISON|ADOPT

START begins a run, prints its id and, when it has ended, how; with EFFECT the run's first step is an effect. POISON
begins a run whose second step kills its process, and another run beside it, and prints both ids. ADOPT carries out what
others left, until it is killed.
"""

import asyncio
import os
import signal
import sys
from pathlib import Path
from typing import Any

from answerable.answers.answer import Answer
from answerable.answers.capsule import capsule_body
from answerable.core.clock import SystemClock
from answerable.core.context import LOCAL, RunContext
from answerable.core.ids import new_run_id
from answerable.engine.graph import Graph
from answerable.engine.run import Engine
from answerable.engine.steps.base import Step
from answerable.service.process_role import ProcessRole
from answerable.service.run_carrier import RunCarrier, Subject
from answerable.service.runs import RunService
from answerable.store.base import Capsule, Store
from answerable.store.open import open_store

STEPS = 8
PIECES = 20


class Talk:
    """Streams text for a while, and writes down on the disk that it has done its work."""

    def __init__(self, store: Store, diary: Path, seconds: float) -> None:
        self._store = store
        self._diary = diary
        self._seconds = seconds

    async def run(self, step: Step) -> Any:
        if step.node.kind == "poison":
            os.kill(os.getpid(), signal.SIGKILL)
        for number in range(PIECES):
            step.output("token", {"agent": "a", "text": f"{step.id}:{number} "})
            await asyncio.sleep(self._seconds / PIECES)
        with self._diary.open("a") as lines:
            lines.write(f"{os.getpid()} {step.id}\n")
        if step.node.kind == "end":
            answer = Answer(run_id=step.context.run, status="done", kind="text", text="all said")
            capsule = Capsule(step.context.run, None, SystemClock().now(), capsule_body("?", answer))
            await self._store.capsules.put(LOCAL, capsule, step.journal.lease)
        return step.id


def graph(first: str = "talk") -> Graph:
    nodes: list[dict[str, Any]] = [
        {"id": f"n{i}", "kind": "talk", "after": [f"n{i - 1}"] if i else []} for i in range(STEPS)
    ]
    if first == "effect":
        nodes[0]["effect"] = True
    if first == "poison":
        nodes[1]["kind"] = "poison"
    return Graph.parse({"nodes": [*nodes, {"id": "end", "kind": "end", "after": [f"n{STEPS - 1}"]}]})


async def opened(url: str, artifacts: str, diary: str, lease: str, seconds: float = 0.3) -> tuple[Store, RunService]:
    """As in a server: its runs wait for a store that is away."""
    store = await open_store(url, artifacts=Path(artifacts), lease_seconds=float(lease))
    assert store.patient is not None
    talk = Talk(store.patient, Path(diary), seconds)
    engine = Engine({"talk": talk, "end": talk, "poison": talk}, store.patient.events)
    return store, RunService(store, RunCarrier(store, engine, SystemClock(), {}, role=ProcessRole(patient=True)), {})


async def main(url: str, artifacts: str, diary: str, lease: str, how: str) -> None:
    store, runs = await opened(url, artifacts, diary, lease)
    if how == "ADOPT":
        runs.carrier.keep_adopting()
        print("adopting", flush=True)
        await asyncio.Event().wait()
    if how == "POISON":
        contexts = [RunContext(new_run_id(), LOCAL) for _ in range(2)]
        print(*(context.run for context in contexts), flush=True)
        await runs.carrier.start(graph("poison"), Subject(None, (), None), contexts[0])
        await asyncio.sleep(0.25)  # so that the second has done nothing when the first kills
        await runs.carrier.start(graph(), Subject(None, (), None), contexts[1])
        await asyncio.Event().wait()
    context = RunContext(new_run_id(), LOCAL)
    await runs.carrier.start(graph("effect" if how == "EFFECT" else "talk"), Subject(None, (), None), context)
    print(context.run, flush=True)
    answer = await runs.wait(context.run, LOCAL)
    print(answer.status, flush=True)
    await runs.carrier.close()
    await store.close()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
