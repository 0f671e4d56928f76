"""The step kinds in which a language model takes part. Each is loaded when the first node of its kind runs."""

from collections.abc import Mapping
from functools import cached_property
from importlib import import_module
from typing import cast

from answerable.agents.dependencies import AgentDependencies
from answerable.core.values import Json
from answerable.engine.steps.base import Step, StepKind

_KINDS = {
    "preplan": ("preplan_step", "PreplanStep"),
    "write_sql": ("write_steps", "WriteSqlStep"),
    "write_combine": ("write_combine", "WriteCombineStep"),
    "write_python": ("write_steps", "WritePythonStep"),
    "react": ("react_step", "ReactStep"),
    "critic": ("advice_steps", "CriticStep"),
    "format": ("advice_steps", "FormatStep"),
}


def model_kinds(dependencies: AgentDependencies) -> Mapping[str, StepKind]:
    return {kind: _Late(module, name, dependencies) for kind, (module, name) in _KINDS.items()}


class _Late:
    """Most runs ask no model, and what tells a model of the data is slow to load."""

    def __init__(self, module: str, name: str, dependencies: AgentDependencies) -> None:
        self._module = module
        self._name = name
        self._dependencies = dependencies

    async def run(self, step: Step) -> Json:
        return await self._kind.run(step)

    @cached_property
    def _kind(self) -> StepKind:
        made = getattr(import_module(f"answerable.agents.{self._module}"), self._name)
        return cast(StepKind, made(self._dependencies))
