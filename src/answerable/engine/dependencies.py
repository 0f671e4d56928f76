"""The dependencies of every walk of an engine, and the call of a step's own code."""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from functools import cache
from typing import cast

import orjson

from answerable.core.clock import Clock
from answerable.core.codec import json_bytes
from answerable.core.errors import AnswerableError, GraphError, InternalError
from answerable.core.events import StepStarted
from answerable.core.file_errors import no_descriptors
from answerable.core.records import dataclass
from answerable.core.values import Json
from answerable.engine.graph import Graph, Node
from answerable.engine.guards import Call, Guard
from answerable.engine.steps.base import ComputedKind, Step, StepKind, Suspended
from answerable.engine.value_size import LARGEST, too_large

_log = logging.getLogger("answerable.engine")


@cache
def _may_be_computed(kind: type[StepKind]) -> bool:
    """Asked once for each class: whether a class fits a protocol takes longer to find out than a step of its own."""
    return issubclass(kind, ComputedKind)


@dataclass(frozen=True, slots=True)
class EngineDependencies:
    kinds: Mapping[str, StepKind]
    guards: Sequence[Guard]
    clock: Clock

    def check(self, graph: Graph) -> None:
        for node in graph.nodes:
            if node.kind not in self.kinds:
                known = ", ".join(f"`{kind}`" for kind in sorted(self.kinds))
                raise GraphError(
                    f"Node `{node.id}`: there is no step kind `{node.kind}`.", hint=f"There are {known}.", node=node.id
                )

    def guarded(self, node: Node) -> Call:
        """The call of a step, inside all its guards."""
        call: Call = self._attempt
        for guard in self.guards:  # each wraps the one before it, so the last guard is the outermost
            call = guard(node, call)
        return call

    def is_computed(self, node: Node) -> bool:
        """Whether the output of a node follows from its config and inputs alone, at next to no cost. Then others go on
        before its end is stored: whoever continues the run computes the same."""
        kind = self.kinds[node.kind]
        return _may_be_computed(type(kind)) and cast("ComputedKind", kind).is_computed(node)

    async def _attempt(self, step: Step) -> Json:
        step.journal.check_time()
        if step.journal.durable and self.is_computed(step.node):
            step.journal.defer(StepStarted, step.id, step.attempt)
        else:
            step.journal.record(StepStarted, step.id, step.attempt)
        if step.node.effect:
            # The start must be on disk before the effect happens: after a crash it is the only trace of the effect.
            await step.journal.flush()
            await step.journal.still_ours()
        try:
            return await self.kinds[step.node.kind].run(step)
        except (AnswerableError, Suspended):
            raise
        except asyncio.CancelledError as error:
            if (task := asyncio.current_task()) and task.cancelling():
                raise
            raise typed(error, step) from error  # the step was not cancelled: something that it waited for was
        except Exception as error:  # kinds may be plugins, so any error can come from them
            raise typed(error, step) from error


def as_stored(output: Json, step: Step) -> Json:
    """A copy of the output as it would be read back from the journal. So a continued run sees the same values, and the
    step cannot change its output later."""
    if output is None:
        return None
    what = f"The output of step `{step.id}`"
    # Written out without a look at its size: no value that a template made is beyond bounds, and no other grows.
    data = json_bytes(output, what)
    if len(data) > LARGEST:
        raise too_large(what, LARGEST)
    step.journal.count_output(len(data))
    return orjson.loads(data)


def typed(error: BaseException, step: Step) -> AnswerableError:
    """The error that users see. A defect becomes an `InternalError` without details, which go into the log: they may
    hold data or secrets."""
    if isinstance(error, AnswerableError):
        return error
    if isinstance(error, OSError) and (exhausted := no_descriptors(error)):
        return exhausted
    run = step.context.run
    _log.error("step failed", exc_info=error, extra={"fields": {"run": run, "node": step.id}})
    return InternalError(
        f"Step `{step.id}` failed because of a defect ({type(error).__name__}).",
        hint=f"The log says more; look for {run}.",
    )
