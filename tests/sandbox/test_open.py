"""Backends by name: opened late, started once, and only for code that the policy lets through."""

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from answerable.core.errors import OperatorError, UserError
from answerable.sandbox.base import SandboxLimits, SandboxRequest
from answerable.sandbox.open import BACKENDS, Sandboxes, SandboxOptions, open_sandbox


def test_every_backend_has_its_name() -> None:
    assert {name: open_sandbox(name, SandboxOptions()).name for name in BACKENDS} == {name: name for name in BACKENDS}


def test_an_unknown_name_is_told_with_those_that_are_known() -> None:
    with pytest.raises(UserError, match="no sandbox 'chroot'") as caught:
        open_sandbox("chroot", SandboxOptions())
    assert caught.value.stable_code == "sandbox_unknown"
    assert "docker" in str(caught.value.hint)


def test_the_table_costs_nothing() -> None:
    code = """
import sys, answerable.sandbox.open as opened
print([name for name in sys.modules if name.startswith("answerable.sandbox.") or name in ("polars", "pydantic_monty")])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(["answerable.sandbox.base", "answerable.sandbox.open"])


@pytest.mark.parametrize(
    ("code", "reason", "said"),
    [
        ("import os", "policy", "os"),
        ("x = (", "exception", "never closed (line 1)"),
    ],
)
async def test_what_the_policy_refuses_reaches_no_sandbox(code: str, reason: str, said: str, tmp_path: Path) -> None:
    """The backend that is named could not even start."""
    sandboxes = Sandboxes(SandboxOptions(backend="docker", docker_host=f"unix://{tmp_path}/none"))
    result = await sandboxes.run(SandboxRequest(code))
    assert (result.outcome, result.reason, result.backend) == ("error", reason, "docker")
    assert said in str(result.message)
    with pytest.raises(UserError):
        await sandboxes.run(SandboxRequest(code), backend="chroot")


async def test_one_that_cannot_start_is_told_each_time(tmp_path: Path) -> None:
    sandboxes = Sandboxes(SandboxOptions(backend="docker", docker_host=f"unix://{tmp_path}/none"))
    for _ in range(2):
        with pytest.raises(OperatorError) as caught:
            await sandboxes.run(SandboxRequest("result = 1"))
        assert caught.value.stable_code == "sandbox_unavailable"
    await sandboxes.close()


async def test_a_backend_is_started_once_and_ends_with_the_rest() -> None:
    sandboxes = Sandboxes(SandboxOptions(backend="monty", pool=1))
    first, second = await asyncio.gather(sandboxes.get(), sandboxes.get("monty"))
    assert first is second
    limits = SandboxLimits(seconds=20)
    results = await asyncio.gather(*(sandboxes.run(SandboxRequest(f"result = {n}", limits=limits)) for n in range(4)))
    assert [result.value for result in results] == [0, 1, 2, 3]
    await sandboxes.close()
    await sandboxes.close()


async def test_what_the_machine_offers_is_told_for_every_backend(tmp_path: Path) -> None:
    options = SandboxOptions(docker_host=f"unix://{tmp_path}/none")
    found = await Sandboxes(options).availability()
    assert [availability.backend for availability in found] == list(BACKENDS)
    assert all(availability.detail for availability in found)
    assert all(availability.remedy for availability in found if not availability.available)
