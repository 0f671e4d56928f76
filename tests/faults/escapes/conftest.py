"""All chosen cases of a backend run together, once; each test then looks at its own case."""

import asyncio

import pytest
from tests.faults.escapes.attempts import Report, attempt_all
from tests.faults.escapes.catalog import Case, all_cases
from tests.faults.escapes.control import ControlSandbox
from tests.sandboxes import ABILITIES, Abilities, available_sandbox

SIZE = 6
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
def reports() -> dict[str, Report]:
    """By backend; filled when it is first asked for."""
    return {}


@pytest.fixture
def report(
    backend: str,
    request: pytest.FixtureRequest,
    reports: dict[str, Report],
    tmp_path_factory: pytest.TempPathFactory,
) -> Report:
    if backend not in reports:
        sandbox = asyncio.run(available_sandbox(backend, SIZE))
        folder = tmp_path_factory.mktemp(f"escapes-{backend}")
        chosen = _chosen(request.session, "case", backend)
        reports[backend] = asyncio.run(attempt_all(sandbox, chosen, folder, SIZE, ABILITIES[backend]))
    return reports[backend]


@pytest.fixture(scope="session")
def control_report(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Report:
    chosen = _chosen(request.session, "harmless", None)
    folder = tmp_path_factory.mktemp("escapes-control")
    return asyncio.run(attempt_all(ControlSandbox(), chosen, folder, SIZE, Abilities()))


def _chosen(session: pytest.Session, parameter: str, backend: str | None) -> list[Case]:
    """The cases whose tests were selected on the command line."""
    calls = [item.callspec.params for item in session.items if hasattr(item, "callspec")]
    return [params[parameter] for params in calls if parameter in params and params.get("backend") == backend]
