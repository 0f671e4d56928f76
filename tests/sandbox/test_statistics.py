"""Libraries of statistics in the `kernel` sandbox: there, warm, and named when they are missing."""

from collections.abc import AsyncIterator

import polars as pl
import pytest
import pytest_asyncio
from tests.sandboxes import available_sandbox

from answerable.core.values import Json
from answerable.sandbox.base import SandboxLimits, SandboxRequest
from answerable.sandbox.kernel.sandbox import KernelSandbox
from answerable.sandbox.libraries import STATISTICS, TABLES, installed, loaded_for
from answerable.sandbox.policy import check_python, importable, importable_libraries

pytestmark = pytest.mark.asyncio(loop_scope="module")

PROGRAMS: dict[str, tuple[str, Json]] = {
    "t-test": (
        "from scipy import stats\nresult = round(float(stats.ttest_ind([1, 2, 3, 4], [3, 4, 5, 6]).statistic), 4)",
        -2.1909,
    ),
    "regression": (
        "import statsmodels.api as sm\n"
        "fit = sm.OLS([3.0, 5.0, 7.0, 9.0], sm.add_constant([1.0, 2.0, 3.0, 4.0])).fit()\n"
        "result = [round(float(each), 6) for each in fit.params]",
        [1.0, 2.0],
    ),
    "formula": (
        "import pandas, statsmodels.formula.api as smf\n"
        "frame = pandas.DataFrame({'x': [1.0, 2.0, 3.0, 4.0], 'y': [3.0, 5.0, 7.0, 9.0]})\n"
        "result = round(float(smf.ols('y ~ x', frame).fit().params['x']), 6)",
        2.0,
    ),
    "clusters": (
        "from sklearn.cluster import KMeans\n"
        "labels = KMeans(2, n_init=2, random_state=0).fit_predict([[0.0], [0.1], [9.0], [9.1]])\n"
        "result = bool(labels[0] == labels[1] != labels[2] == labels[3])",
        True,
    ),
    "forest": (
        "from sklearn.ensemble import RandomForestClassifier\n"
        "model = RandomForestClassifier(5, random_state=0, n_jobs=2).fit([[0.0], [1.0]] * 10, [0, 1] * 10)\n"
        "result = int(model.predict([[1.0]])[0])",
        1,
    ),
}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def sandbox() -> AsyncIterator[KernelSandbox]:
    opened = await available_sandbox("kernel-namespaces", 1)
    assert isinstance(opened, KernelSandbox)
    await opened.start()
    yield opened
    await opened.close()


async def test_code_without_statistics_does_not_wait_for_them(sandbox: KernelSandbox) -> None:
    assert (await sandbox.run(SandboxRequest("result = 1"))).value == 1
    assert list(sandbox._pools) == [TABLES]


@pytest.mark.parametrize("name", PROGRAMS)
async def test_programs_of_statistics(sandbox: KernelSandbox, name: str) -> None:
    code, expected = PROGRAMS[name]
    assert check_python(code, importable("kernel")) is None
    result = await sandbox.run(SandboxRequest(code, limits=SandboxLimits(seconds=20)))
    assert (result.outcome, result.value) == ("ok", expected), result.message


async def test_each_program_draws_other_numbers(sandbox: KernelSandbox) -> None:
    code = "import numpy, scipy.stats\nresult = float(scipy.stats.norm.rvs())"
    drawn = {(await sandbox.run(SandboxRequest(code))).value for _ in range(3)}
    assert len(drawn) == 3


async def test_what_is_missing_is_named_with_the_extra() -> None:
    without = importable("kernel") - set(STATISTICS)
    for name in STATISTICS:
        said = check_python(f"import polars\nimport {name}.api", without)
        assert said is not None
        assert said.startswith(f"`{name}` is not installed here (line 2).")
        assert "pip install 'answerable[analysis]'" in said


async def test_libraries_are_told_with_their_versions() -> None:
    told = importable_libraries("kernel")
    assert told.startswith(f"polars {pl.__version__}, ")
    assert [each.split()[0] for each in told.split(", ")] == list(installed())
    assert importable_libraries("monty") == ""
    assert importable_libraries("docker") == ", ".join((*TABLES, *STATISTICS))


async def test_only_code_that_names_a_library_has_it_loaded() -> None:
    assert loaded_for("result = 1") == TABLES
    assert {"scipy.stats", "sklearn.cluster", "statsmodels.api"} < set(loaded_for("import scipy"))
