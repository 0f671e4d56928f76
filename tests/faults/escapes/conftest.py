"""All chosen cases of a backend run together, once; each test then looks at its own case."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.faults.escapes.attempts import Report, attempt_all
from tests.faults.escapes.catalog import Case, all_cases
from tests.faults.escapes.control import ControlSandbox
from tests.sandboxes import ABILITIES, Abilities, available_sandbox

SIZE = 3
"""How many run at once, and how many runs look for what an earlier one has left: one for each place to run in."""
CASES = {case.id: case for case in all_cases()}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "case" in metafunc.fixturenames:
        pairs = [(name, case) for name in ABILITIES for case in CASES.values() if _is_asked(name, case)]
        ids = [f"{name}-{case.id}" for name, case in pairs]
        metafunc.parametrize(("backend", "case"), pairs, ids=ids, scope="session")
    elif "backend" in metafunc.fixturenames:
        metafunc.parametrize("backend", list(ABILITIES), scope="session")
    if "harmless" in metafunc.fixturenames:
        chosen = [case for case in CASES.values() if case.control == "escapes"]
        metafunc.parametrize("harmless", chosen, ids=lambda case: case.id)


def _is_asked(name: str, case: Case) -> bool:
    return case.judges is None or bool(getattr(ABILITIES[name], case.judges))


@pytest.fixture(scope="session")
def reports(tmp_path_factory: pytest.TempPathFactory) -> "Reports":
    return Reports(tmp_path_factory)


@pytest.fixture
def report(backend: str, request: pytest.FixtureRequest, reports: "Reports") -> Report:
    def attempted(folder: Path) -> Report:
        # The check of types is a courtesy, and not the wall that is judged here.
        sandbox = asyncio.run(available_sandbox(backend, SIZE, checks_types=False))
        chosen = _chosen(request.session, "case", backend)
        return asyncio.run(attempt_all(sandbox, chosen, folder, SIZE, ABILITIES[backend]))

    return reports.of(backend, attempted)


@pytest.fixture
def control_report(request: pytest.FixtureRequest, reports: "Reports") -> Report:
    def attempted(folder: Path) -> Report:
        chosen = _chosen(request.session, "harmless", None)
        return asyncio.run(attempt_all(ControlSandbox(), chosen, folder, SIZE, Abilities()))

    return reports.of("control", attempted)


class Reports:
    """By backend; made when the first is asked for."""

    def __init__(self, folders: pytest.TempPathFactory) -> None:
        self._folders = folders
        self._known: dict[str, Report] = {}

    def of(self, name: str, attempted: Callable[[Path], Report]) -> Report:
        if name not in self._known:
            self._known[name] = attempted(self._folders.mktemp(name))
        return self._known[name]


def _chosen(session: pytest.Session, parameter: str, backend: str | None) -> list[Case]:
    """The cases whose tests were selected on the command line."""
    calls = [item.callspec.params for item in session.items if hasattr(item, "callspec")]
    return [params[parameter] for params in calls if parameter in params and params.get("backend") == backend]
