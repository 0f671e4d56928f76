"""The sandboxes that the suites judge, by the name of the test's parameter, and what the language of each can do."""

import asyncio
import os
from dataclasses import dataclass
from typing import Any

import pytest

from answerable.core.values import Json
from answerable.sandbox.base import HostCalls, Sandbox, SandboxLimits, SandboxRequest, SandboxResult
from answerable.sandbox.monty.sandbox import MontySandbox
from answerable.sandbox.open import SandboxOptions, open_sandbox

WITH_DOCKER = bool(os.environ.get("ANSWERABLE_TEST_DOCKER"))
"""Read when tests are collected: no variable of Answerable reaches a test."""
EVERY_WAY = bool(os.environ.get("ANSWERABLE_TEST_EVERY_WAY"))
ON_DEMAND = ("kernel-bubblewrap", "kernel-landlock")
"""Other ways to the same walls, which `make test-sandboxes` judges too; containers are judged by `make test-docker`."""

ENDLESS = "while True:\n    pass\n"
PATIENCE = 300
"""Seconds after which a run counts as hanging; its turn may come late where a place takes long to make."""


@dataclass(frozen=True)
class Abilities:
    python: bool = True
    """All of Python with its libraries; else a small language that looks like it."""
    frames: bool = True
    """Frames are polars frames, and a result may be one."""
    scratch: bool = True
    """There is a folder to write to."""
    hides_names: bool = True
    """Not only the content of the host's files is out of reach, but also that they exist, and their size."""
    start_seconds: float = 0.0
    """How long it may take on a busy machine to make a place for the code, and to clear it away. Where places are kept
    ready this is nothing."""
    children: bool = True
    """Its processes are children of the host, and not of a daemon."""
    type_check: bool = False
    """Code is checked against the stubs of the host's functions before it runs."""


_ALL = {
    "monty": Abilities(python=False, frames=False, scratch=False, type_check=True),
    "kernel-bubblewrap": Abilities(),
    "kernel-namespaces": Abilities(),
    "kernel-landlock": Abilities(scratch=False, hides_names=False),
    "docker": Abilities(children=False, start_seconds=120.0),
}


def _is_judged(name: str) -> bool:
    return WITH_DOCKER if name == "docker" else EVERY_WAY or name not in ON_DEMAND


ABILITIES = {name: abilities for name, abilities in _ALL.items() if _is_judged(name)}


def names_with(ability: str | None = None) -> list[str]:
    return [name for name, abilities in ABILITIES.items() if ability is None or getattr(abilities, ability)]


async def available_sandbox(name: str, size: int, *, checks_types: bool = True) -> Sandbox:
    """Not yet started; the test is skipped where the machine has no such sandbox. `checks_types`: whether one
    that checks code before it runs may do so."""
    sandbox = make_sandbox(name, size, checks_types=checks_types)
    found = await sandbox.available()
    if not found.available:
        pytest.skip(f"{name}: {found.detail}")
    if name == "kernel-namespaces" and "mount namespace" not in found.walls["files"]:
        pytest.skip(f"{name}: this machine gives no namespaces")
    return sandbox


def make_sandbox(name: str, size: int, *, checks_types: bool = True) -> Sandbox:
    if name.startswith("kernel"):
        from answerable.sandbox.kernel.sandbox import KernelSandbox

        return KernelSandbox(size, bubblewrap=name == "kernel-bubblewrap", namespaces=name != "kernel-landlock")
    if name == "monty":
        return MontySandbox(size, checks_types=checks_types)
    return open_sandbox(name, SandboxOptions(pool=size))


async def ran(sandbox: Sandbox, code: str, **asked: Any) -> SandboxResult:
    result = await asyncio.wait_for(sandbox.run(SandboxRequest(code, **asked)), PATIENCE)
    assert result.backend == sandbox.name
    assert (result.outcome == "ok") == (result.reason is None)
    assert result.outcome == "ok" or result.message
    return result


async def endless(sandbox: Sandbox) -> "asyncio.Task[SandboxResult]":
    """Code that is under way, and has told so itself."""
    begun = asyncio.Event()

    async def begin() -> Json:
        begun.set()

    request = SandboxRequest(
        "begin()\n" + ENDLESS,
        limits=SandboxLimits(seconds=PATIENCE),
        host=HostCalls({"begin": begin}, "def begin() -> None: ..."),
    )
    running = asyncio.create_task(sandbox.run(request))
    await asyncio.wait_for(begun.wait(), PATIENCE)
    return running
