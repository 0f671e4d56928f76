"""A graph with parallel branches, a map, a loop and a subgraph, cut off after every one of its events and continued.

Whatever the cut, the continued run ends as the whole one did, and no node that has ended runs again.
"""

import asyncio
from collections import Counter
from collections.abc import Sequence
from textwrap import dedent
from typing import Any

from answerable.core.clock import SystemClock
from answerable.core.context import LOCAL, RunContext
from answerable.core.events import Event, RunFinished, StepFinished, StepStarted
from answerable.core.ids import new_run_id
from answerable.engine.bindings import Bindings
from answerable.engine.graph import Graph
from answerable.engine.guards import default_guards
from answerable.engine.run import Engine
from answerable.engine.steps.base import Step
from answerable.engine.steps.join import JoinOutputsStep
from answerable.engine.steps.literal import LiteralStep
from answerable.engine.steps.loop import LoopStep
from answerable.engine.steps.map import MapStep
from answerable.engine.steps.router import RouterStep
from answerable.engine.steps.subgraph import SubgraphStep, with_input
from answerable.graphs.compiling import compiled
from answerable.graphs.reading import read_graph

TEXT = dedent(
    """
    name: swept
    nodes:
      items:
        kind: map
        over: "{{ input.items }}"
        concurrency: 3
        body: {nodes: {one: {kind: transform, value: ["{{ input.item }}"]}}}
      nested:
        kind: map
        over: [1, 2]
        body:
          output: b
          nodes:
            a: {kind: transform, value: "{{ input.item }}"}
            b: {kind: transform, template: "<{{ a }}>"}
      rounds:
        kind: loop
        start: {n: 0}
        most: 3
        body: {nodes: {next: {kind: transform, value: {before: "{{ input.previous }}", n: "{{ input.round }}"}}}}
      sub:
        kind: subgraph
        input: {word: "{{ input.word }}"}
        body: {nodes: {said: {kind: transform, template: "said {{ input.word }}"}}}
      way: {kind: router, routes: {yes: input.word = hi}, default: no}
      taken: {kind: transform, when: way = yes, template: "{{ sub.output }}"}
      other: {kind: transform, when: way = no, template: never}
      all: {kind: join, after: [items, nested, rounds, taken, other]}
    output: all
    """
)


class Values:
    """The kind `transform` without a sandbox. Counts how often each node ran to its end."""

    def __init__(self) -> None:
        self.ran: Counter[str] = Counter()

    async def run(self, step: Step) -> Any:
        await asyncio.sleep(0)
        self.ran[step.id] += 1
        return step.node.config["value"]


class Answers:
    async def run(self, step: Step) -> Any:
        return None


class StoredEvents:
    def __init__(self, events: Sequence[Event] = ()) -> None:
        self.stored = list(events)

    async def append(self, events: Sequence[Event], lease: object, end: object = None) -> None:
        self.stored.extend(events)

    async def still_ours(self, lease: object) -> None: ...

    async def read(self, principal: object, run: str, *, after: int = 0, limit: int | None = None) -> Sequence[Event]:
        return [event for event in self.stored if event.seq > after][:limit]


def engine(events: StoredEvents, values: Values) -> Engine:
    own = (LiteralStep(), MapStep(), LoopStep(), RouterStep(), JoinOutputsStep(), SubgraphStep())
    kinds = {kind.descriptor.name: kind for kind in own}
    guards = (Bindings(None, None), *default_guards(SystemClock()))  # type: ignore[arg-type]
    return Engine({**kinds, "transform": values, "graph_answer": Answers()}, events, guards=guards)


def graph() -> Graph:
    return with_input(compiled(*read_graph(TEXT, "swept")).graph, {"items": [5, 6, 7, 8], "word": "hi"})


async def test_a_run_that_is_cut_off_anywhere_ends_as_the_whole_one() -> None:
    context, whole = RunContext(new_run_id(), LOCAL), StoredEvents()
    done = await engine(whole, Values()).run(graph(), context)
    assert done.status == "done"
    assert done.output["items"] == [[5], [6], [7], [8]]
    assert done.output["nested"] == ["<1>", "<2>"]
    assert done.output["rounds"]["before"]["before"] == {"before": {"n": 0}, "n": 1}
    assert done.output["taken"] == "said hi"
    assert "other" not in done.output
    for cut in range(1, len(whole.stored)):
        kept = whole.stored[:cut]
        ended = {event.node for event in kept if isinstance(event, StepFinished)}
        rest, values = StoredEvents(kept), Values()
        again = await engine(rest, values).resume(context)
        assert (again.status, again.output) == ("done", done.output), cut
        assert not ended & set(values.ran), cut
        finished = Counter(event.node for event in rest.stored if isinstance(event, StepFinished))
        assert max(finished.values()) == 1, cut
        started_again = {e.node for e in rest.stored[cut:] if isinstance(e, StepStarted)}
        assert not started_again & ended, cut
        assert isinstance(rest.stored[-1], RunFinished)
