"""The step kinds in which a language model takes part. Each is loaded when the first node of its kind runs."""

from collections.abc import Callable, Iterator
from functools import cached_property, partial
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
    (FORMAT, "advice_step", "FormatStep"),
    (AGENT, "agent_step", "AgentStep"),
    (TOOL, "tool_step", "ToolStep"),
)
"""Descriptor, module and class of each kind."""
_WRITERS = (
    (WRITE_SQL, "write_steps", "write_sql"),
    (WRITE_CYPHER, "write_cypher", "write_cypher"),
    (WRITE_COMBINE, "write_combine", "write_combine"),
    (WRITE_PYTHON, "write_steps", "write_python"),
    (WRITE_API, "write_api", "write_api"),
)
"""Descriptor, module and function of each kind whose code a model writes."""
DESCRIPTORS = tuple(descriptor for descriptor, _, _ in (*_KINDS, *_WRITERS))


def model_kinds(dependencies: AgentDependencies) -> Iterator[DescribedStepKind]:
    for descriptor, module, name in _KINDS:
        yield _LazyStepKind(descriptor, partial(_loaded, module, name, dependencies))
    for descriptor, module, name in _WRITERS:
        yield _LazyStepKind(descriptor, partial(_loaded_writer, module, name, dependencies))


def _loaded(module: str, name: str, dependencies: AgentDependencies) -> StepKind:
    kind = getattr(import_module(f"answerable.agents.{module}"), name)
    return cast(StepKind, kind(dependencies))


def _loaded_writer(module: str, name: str, dependencies: AgentDependencies) -> StepKind:
    from answerable.agents.write_steps import WriterStep

    return WriterStep(getattr(import_module(f"answerable.agents.{module}"), name), dependencies)


class _LazyStepKind:
    """Imports its step when it first runs. Most runs ask no model, and the modules that write prompts load slowly."""

    def __init__(self, descriptor: StepDescriptor, load: Callable[[], StepKind]) -> None:
        self.descriptor = descriptor
        self._load = load

    async def run(self, step: Step) -> Json:
        return await self._kind.run(step)

    # Cached, because a step kind is stateless and serves all nodes of its kind.
    @cached_property
    def _kind(self) -> StepKind:
        return self._load()
