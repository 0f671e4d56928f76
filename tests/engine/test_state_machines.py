"""The frontier and the journal against simple models of them, driven by random steps."""

import asyncio
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from answerable.core.clock import SystemClock
from answerable.core.context import LOCAL, RunContext
from answerable.core.errors import UserError
from answerable.core.events import StepFinished, StepStarted
from answerable.core.ids import NodeId, RunId
from answerable.engine.frontier import Frontier
from answerable.engine.graph import Graph, Node
from answerable.engine.journal import Journal, past_by_node
from answerable.store.base import LeaseLostError
from answerable.store.open import open_store

QUICK = settings(max_examples=60, stateful_step_count=30, deadline=None)


@st.composite
def graphs(draw: Any) -> Graph:
    names = [NodeId(f"n{number}") for number in range(draw(st.integers(1, 8)))]
    nodes = [
        Node(
            id=name,
            kind="literal",
            after=tuple(draw(st.sets(st.sampled_from(names[:index]), max_size=3))) if index else (),
            critical=draw(st.booleans()),
        )
        for index, name in enumerate(names)
    ]
    strategy = draw(st.sampled_from(["eager", "levels", "sequential", "events"]))
    return Graph(nodes=tuple(nodes), strategy=strategy, concurrency=draw(st.sampled_from([None, 1, 2])))


def _something_runs(machine: Any) -> bool:
    return bool(machine.running)


class FrontierMachine(RuleBasedStateMachine):
    """What a run does to its frontier, in any order."""

    @initialize(graph=graphs())
    def begin(self, graph: Graph) -> None:
        self.graph = graph
        self.frontier = Frontier(graph)
        self.running: list[NodeId] = []
        self.started: list[NodeId] = []
        self.ended: set[NodeId] = set()

    @rule()
    def take(self) -> None:
        for node in self.frontier.take():
            open_parents = [each for each in node.after if each not in self.ended | self.frontier.skipped.keys()]
            assert not open_parents, f"{node.id} started before {open_parents}"
            self.running.append(node.id)
            self.started.append(node.id)

    @precondition(_something_runs)
    @rule(choice=st.integers(0, 7), how=st.sampled_from(["finish", "finish", "fail", "hold"]))
    def end_one(self, choice: int, how: str) -> None:
        node = self.running.pop(choice % len(self.running))
        if how == "hold":
            self.frontier.hold(node)
            return
        if how == "finish":
            self.frontier.finish(node, 1)
        else:
            self.frontier.fail(node, UserError("x", code="x"))
        self.ended.add(node)

    @invariant()
    def nothing_starts_twice_or_beside_too_many(self) -> None:
        assert len(self.started) == len(set(self.started))
        most = 1 if self.graph.strategy == "sequential" else self.graph.concurrency
        assert most is None or len(self.running) <= most

    @invariant()
    def what_failed_blocks_what_needs_it(self) -> None:
        for node in self.started:
            parents = self.graph.by_id[node].after
            assert not any(each in self.frontier.errors and self.graph.by_id[each].critical for each in parents)

    def teardown(self) -> None:
        """However it went so far, the run comes to an end, and each node has one."""
        if not hasattr(self, "frontier"):
            return
        for _ in range(100):
            self.take()
            if not self.running:
                break
            self.end_one(0, "finish")
        assert self.frontier.ended
        if not self.frontier.held:
            assert self.frontier.complete
            assert self.ended | self.frontier.skipped.keys() == set(self.graph.by_id)


class JournalMachine(RuleBasedStateMachine):
    """A run whose process stops and is continued, with a second process that does not know that it has lost the run."""

    @initialize()
    def begin(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.expected: list[tuple[str, str]] = []
        self.loop.run_until_complete(self._open())

    async def _open(self) -> None:
        self.store = await open_store(":memory:")
        self.context = RunContext(RunId("run_machine"), LOCAL)
        self.lease = (await self.store.runs.create(self.context, "q")).lease
        self.journal = Journal(self.context, SystemClock(), self.store.events, lease=self.lease)

    async def _stored(self) -> list[Any]:
        return list(await self.store.events.read(LOCAL, self.context.run))

    @rule(node=st.sampled_from("abc"), ends=st.booleans())
    def record(self, node: str, ends: bool) -> None:
        async def act() -> None:
            if ends:
                self.journal.record(StepFinished, NodeId(node), 1)
            else:
                self.journal.record(StepStarted, NodeId(node), 1)
            await self.journal.flush()

        self.loop.run_until_complete(act())
        self.expected.append((node, "finished" if ends else "started"))

    @rule()
    def continued(self) -> None:
        async def act() -> None:
            past = await self._stored()
            self.journal = Journal(self.context, SystemClock(), self.store.events, past=past, lease=self.lease)

        self.loop.run_until_complete(act())

    @rule()
    def a_late_process_writes(self) -> None:
        """With a token that is not the run's: nothing of it is stored."""

        async def act() -> bool:
            wrong = type(self.lease)(self.lease.run, self.lease.token + 7)
            late = Journal(self.context, SystemClock(), self.store.events, past=await self._stored(), lease=wrong)
            late.record(StepFinished, NodeId("late"), 1)
            try:
                await late.flush()
            except LeaseLostError:
                return True
            return False

        assert self.loop.run_until_complete(act())

    @invariant()
    def what_is_stored_is_what_was_recorded(self) -> None:
        if not hasattr(self, "loop"):
            return
        events = self.loop.run_until_complete(self._stored())
        assert [each.seq for each in events] == list(range(1, len(events) + 1))
        kinds = {StepFinished: "finished", StepStarted: "started"}
        assert [(each.node, kinds[type(each)]) for each in events] == self.expected
        ended = {node for node, how in self.expected if how == "finished"}
        past = past_by_node(events)
        last = dict(self.expected)
        assert {node for node in past if past[node].ended is not None} == {n for n in ended if last[n] == "finished"}

    def teardown(self) -> None:
        if hasattr(self, "loop"):
            self.loop.run_until_complete(self.store.close())
            self.loop.close()


TestFrontier = FrontierMachine.TestCase
TestFrontier.settings = QUICK
TestJournal = JournalMachine.TestCase
TestJournal.settings = settings(QUICK, max_examples=15)
