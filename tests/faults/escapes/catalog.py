"""The cases, as the files of `cases/` tell them."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import yaml

from answerable.sandbox.base import SandboxLimits

FOLDER = Path(__file__).with_name("cases")
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
USUAL_LIMITS = {"seconds": 4.0, "memory_mb": 512, "result_mb": 8, "scratch_mb": 16, "host_calls": 50}
AMPLE_SECONDS = 30.0


@dataclass(frozen=True)
class Case:
    id: str
    group: str
    code: str
    then: str | None = None
    """A later run that looks for what the first has left."""
    control: Literal["escapes", "may", "never"] = "escapes"
    """Whether it succeeds where nothing is kept in; `never`: it is not run there, because it would do harm."""
    stops: tuple[str, ...] = ()
    """The code cannot end well: one of these reasons must be reported."""
    may_end: bool = False
    """With `stops`: it may also end well."""
    raises: bool = False
    """The host's own function is broken in it, so that the run may raise."""
    judges: str | None = None
    """The ability that it judges; backends without it say so, and are not asked."""
    limits: SandboxLimits = field(default_factory=SandboxLimits)
    frame: bool = False
    into: bool = False
    table: bool = False
    """The value becomes a table, as that of a step of a question does."""
    host: bool = False
    visited: bool = False
    """The code waits for a connection, which the suite attempts meanwhile."""


def all_cases() -> list[Case]:
    return [case for path in sorted(FOLDER.glob("*.yaml")) for case in _cases(path)]


def _cases(path: Path) -> Iterator[Case]:
    shared = yaml.load(path.read_text(), _LOADER)
    group, entries = shared.pop("class"), shared.pop("cases")
    about = shared.pop("about")
    if not about.strip():
        raise ValueError(f"{path.name} does not say what it is about")
    for entry in entries:
        yield _case(
            path.stem, group, {**shared, **entry, "limits": {**shared.get("limits", {}), **entry.get("limits", {})}}
        )


def _case(prefix: str, group: str, told: dict[str, Any]) -> Case:
    setup = told.pop("setup", "")
    told["id"] = f"{prefix}/{told['id']}"
    told["code"] = setup + told["code"]
    if "then" in told:
        told["then"] = setup + told["then"]
    told["stops"] = tuple(told.get("stops", ()))
    limits = {**USUAL_LIMITS, **told["limits"]}
    if told["stops"] and "time" not in told["stops"]:
        # Another limit must end it, also where a busy machine needs long to get there.
        limits["seconds"] = max(limits["seconds"], AMPLE_SECONDS)
    told["limits"] = SandboxLimits(**limits)
    return Case(group=group, **told)
