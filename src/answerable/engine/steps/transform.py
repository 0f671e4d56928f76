"""Kind `transform`: gives a value that was written into the graph, or computes one with an expression. No model.

A value may hold references to earlier nodes (`bind`), which are filled before this step runs. An expression is one
Python expression over the values in `values`; it runs in the small sandbox, which has no files, network or modules.
"""

import textwrap
from collections.abc import Mapping
from typing import Protocol

from answerable.core.errors import LimitError, UserError
from answerable.core.values import Frozen, Json
from answerable.engine.graph import Node
from answerable.engine.steps.base import Step
from answerable.engine.steps.descriptor import StepDescriptor
from answerable.sandbox.base import SandboxLimits, SandboxRequest, SandboxResult

BACKEND = "monty"
LIMITS = SandboxLimits(seconds=30.0, memory_mb=256, output_bytes=1_024, result_mb=16, recursion=200)


class ExpressionRunner(Protocol):
    async def run(self, request: SandboxRequest, backend: str | None = None) -> SandboxResult: ...


class TransformConfig(Frozen):
    value: Json = None
    """The output itself, if there is no expression."""
    expression: str | None = None
    values: Mapping[str, Json] = {}
    """What the expression can name."""


class TransformStep:
    descriptor = StepDescriptor(name="transform", config=TransformConfig, produces="value", label="transform")

    def __init__(self, sandboxes: ExpressionRunner) -> None:
        self._sandboxes = sandboxes

    def is_computed(self, node: Node) -> bool:
        return node.config.get("expression") is None

    async def run(self, step: Step) -> Json:
        config = step.node.config  # not as a model: this is the cheapest of kinds, and a map may run it 10,000 times
        if config.get("expression") is None:
            return config.get("value")
        checked = step.config_as(TransformConfig)
        assert checked.expression is not None
        return await self._computed(checked.expression, checked.values)

    async def _computed(self, expression: str, values: Mapping[str, Json]) -> Json:
        code = f"result = (\n{textwrap.indent(expression, '    ')}\n)"
        ran = await self._sandboxes.run(SandboxRequest(code, values=values, limits=LIMITS), BACKEND)
        if ran.outcome == "ok":
            return ran.value
        message = ran.message or "The expression did not end as it should."
        if ran.outcome == "error":
            raise UserError(message, code="expression_failed", hint="Look at the outputs of the nodes before it.")
        raise LimitError(message, code="expression_stopped", hint="Do less, or use a `python` node.")
