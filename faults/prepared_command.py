"""Loaded by the process that commands are forked from: what each of them would have to load and to prepare."""

from collections.abc import Iterator
from importlib import import_module

from pydantic import BaseModel

from faults import forked_workers

_LOADED = (
    "answerable.agents.model_kinds",
    "answerable.answers.present",
    "answerable.app",
    "answerable.cli.ask",
    "answerable.cli.main",
    "answerable.cli.serve",
    "answerable.gateway.server",
    "answerable.reader.reader",
    "pydantic_ai.models.openai",
)


def _prepare() -> None:
    for name in _LOADED:
        import_module(name)
    forked_workers.prepare()
    for model in _models(BaseModel):
        if model.__module__.startswith("answerable."):
            model.model_rebuild()  # otherwise each process builds it at its first use


def _models(above: type[BaseModel]) -> Iterator[type[BaseModel]]:
    for model in above.__subclasses__():
        yield model
        yield from _models(model)


_prepare()
