"""The sandboxes that the suites judge, by the name of the test's parameter."""

import os

import pytest

from answerable.sandbox.base import Sandbox
from answerable.sandbox.open import SandboxOptions, open_sandbox

NAMES = ("monty", "kernel", "kernel-namespaces", "docker")
WITH_DOCKER = bool(os.environ.get("ANSWERABLE_TEST_DOCKER"))
"""Read when tests are collected: no variable of Answerable reaches a test."""


def is_full_python(name: str) -> bool:
    return name != "monty"


async def available_sandbox(name: str, size: int) -> Sandbox:
    """Not yet started; the test is skipped where the machine has no such sandbox."""
    if name == "docker" and not WITH_DOCKER:
        pytest.skip("docker is judged by `make test-docker`")
    sandbox = make_sandbox(name, size)
    found = await sandbox.available()
    if not found.available:
        pytest.skip(f"{name}: {found.detail}")
    return sandbox


def make_sandbox(name: str, size: int) -> Sandbox:
    if name == "kernel-namespaces":
        from answerable.sandbox.kernel import KernelSandbox

        return KernelSandbox(pool=size, bubblewrap=False)
    return open_sandbox(name, SandboxOptions(pool=size))
