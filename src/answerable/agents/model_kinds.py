"""The step kinds in which a language model takes part. Each is loaded when the first node of its kind runs."""

from collections.abc import Iterator
from functools import cached_property
from importlib import import_module
from typing import cast

from answerable.agents.dependencies import AgentDependencies
from answerable.agents.model_descriptors import (
    AGENT,
    FORMAT,
    PREPLAN,
    REACT,
    TOOL,
    WRITE_API,
    WRITE_COMBINE,
    WRITE_CYPHER,
    WRITE_PYTHON,
    WRITE_SQL,
)
from answerable.core.values import Json
from answerable.engine.steps.base import Step, StepKind
from answerable.engine.steps.descriptor import DescribedStepKind, StepDescriptor

_KINDS = (
    (PREPLAN, "preplan_step", "PreplanStep"),
    (REACT, "react_step", "ReactStep"),
    (WRITE_SQL, "write_steps", "WriteSqlStep"),
    (WRITE_CYPHER, "write_cypher", "WriteCypherStep"),
    (WRITE_COMBINE, "write_combine", "WriteCombineStep"),
    (WRITE_PYTHON, "write_steps", "WritePythonStep"),
    (WRITE_API, "write_api", "WriteApiStep"),
    (FORMAT, "advice_step", "FormatStep"),
    (AGENT, "agent_step", "AgentStep"),
    (TOOL, "tool_step", "ToolStep"),
)
"""Descriptor, module and class of each kind."""
DESCRIPTORS = tuple(descriptor for descriptor, _, _ in _KINDS)


def model_kinds(dependencies: AgentDependencies) -> Iterator[DescribedStepKind]:
    for descriptor, module, name in _KINDS:
        yield _LazyStepKind(descriptor, module, name, dependencies)


class _LazyStepKind:
    """Imports its step when it first runs. Most runs ask no model, and the modules that write prompts load slowly."""

    def __init__(self, descriptor: StepDescriptor, module: str, name: str, dependencies: AgentDependencies) -> None:
        self.descriptor = descriptor
        self._module = module
        self._name = name
        self._dependencies = dependencies

    async def run(self, step: Step) -> Json:
        return await self._kind.run(step)

    # Cached, because a step kind is stateless and serves all nodes of its kind.
    @cached_property
    def _kind(self) -> StepKind:
        kind = getattr(import_module(f"answerable.agents.{self._module}"), self._name)
        return cast(StepKind, kind(self._dependencies))
