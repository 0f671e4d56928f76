"""The step kinds in which a language model takes part. Each is loaded when the first node of its kind runs."""

from collections.abc import Iterator
from functools import cached_property
from importlib import import_module
from typing import cast

from answerable.agents.dependencies import AgentDependencies
from answerable.agents.execution_plan import AdviceConfig, WriteConfig
from answerable.core.values import Json
from answerable.engine.steps.base import Step, StepKind
from answerable.engine.steps.descriptor import DescribedStepKind, StepDescriptor
from answerable.engine.steps.understand import Question

_KINDS = (
    (StepDescriptor(name="preplan", config=Question, produces="graph"), "preplan_step", "PreplanStep"),
    (
        StepDescriptor(name="write_sql", config=WriteConfig, produces="rows", rows_from="source", language="sql"),
        "write_steps",
        "WriteSqlStep",
    ),
    (
        StepDescriptor(name="write_combine", config=WriteConfig, produces="rows", rows_from="steps", language="sql"),
        "write_combine",
        "WriteCombineStep",
    ),
    (
        StepDescriptor(name="write_python", config=WriteConfig, produces="rows", rows_from="steps", language="python"),
        "write_steps",
        "WritePythonStep",
    ),
    (StepDescriptor(name="react", config=Question, title="Explore", produces="graph"), "react_step", "ReactStep"),
    (
        StepDescriptor(name="critic", config=AdviceConfig, produces="advice", rows_from="steps"),
        "advice_steps",
        "CriticStep",
    ),
    (
        StepDescriptor(name="format", config=AdviceConfig, produces="advice", rows_from="steps"),
        "advice_steps",
        "FormatStep",
    ),
)
"""Descriptor, module and class of each kind. A program that a model writes is recorded as a step of kind `sql`,
`combine` or `python`, so these kinds have no `data_source_type` of their own."""


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

    @cached_property
    def _kind(self) -> StepKind:
        kind = getattr(import_module(f"answerable.agents.{self._module}"), self._name)
        return cast(StepKind, kind(self._dependencies))
