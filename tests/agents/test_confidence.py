"""How sure an answer claims to be is held against answers of which it is known whether they are right.

Each case has a right query, wrong ones as models write them, and the checks that were written for the question alone.
"""

from collections import defaultdict
from pathlib import Path
from typing import Any

import yaml

from answerable.agents.checks import CheckedRows, CheckResult, is_independent, verdict
from answerable.agents.replies import Verification
from answerable.answers import frame
from answerable.app import open_service
from answerable.core.context import LOCAL
from answerable.engine.steps.sql import SqlConfig
from answerable.evals.cases import load_cases
from answerable.evals.measured import measured
from answerable.evals.recorded import Replayed, load_recorded
from answerable.evals.run import evaluate
from answerable.models.playback import Playback
from answerable.query.sql.check import checked
from answerable.service import Service
from answerable.settings import load_settings

CASES = yaml.safe_load((Path(__file__).parents[1] / "fixtures" / "confidence" / "cases.yaml").read_text())


async def rows_of(service: Service, sql: str) -> CheckedRows:
    path = await service.answers.query(SqlConfig(source="demo", sql=sql), LOCAL)
    rows = frame.rows(path)
    return CheckedRows(frame.columns(path), rows, len(rows), sql)


async def confidence(service: Service, case: Any, sql: str, found: dict[str, Any]) -> str | None:
    catalog = await service.sources.describe("demo", LOCAL)
    rows, program = await rows_of(service, sql), checked(sql, catalog)
    results = []
    for check in (Verification.model_validate(each) for each in case["checks"]):
        query = checked(check.sql, catalog)
        counts = is_independent(query.text, query.tables, program.text, program.tables)
        result = CheckResult(
            check, rows.value(check), found[check.sql], ran=counts, decisive=rows.decides(check), program=sql
        )
        results.append(result)
    return verdict(results, case.get("concerns", ())).confidence


async def test_of_answers_that_are_called_sure_nearly_all_are_right(demo_home: Path) -> None:
    told: defaultdict[str | None, list[tuple[bool, str]]] = defaultdict(list)
    async with open_service(load_settings({}, home=demo_home, store=":memory:"), any_location=True) as service:
        for case in CASES:
            found = {each["sql"]: (await rows_of(service, each["sql"])).rows[0][0] for each in case["checks"]}
            for sql in (case["right"], *case["wrong"]):
                told[await confidence(service, case, sql, found)].append((sql == case["right"], sql))
    sure = told["high"]
    assert sum(right for right, _ in sure) >= 0.95 * len(sure), [sql for right, sql in sure if not right]
    assert sum(right for right, _ in sure) >= 0.75 * len(CASES), told
    assert [sql for right, sql in told["low"] if right] == []


async def test_in_recorded_runs_nearly_all_that_is_called_high_is_right(tmp_path: Path) -> None:
    """Whole runs on other data, with the replies of a model that was played by hand: right ones, and wrong ones as
    models give them (a condition dropped, a bound, nulls, a column, a unit, the same mistake in query and check)."""
    folder = Path(__file__).parents[1] / "fixtures" / "confidence" / "penguins"
    cases = load_cases(str(folder / "cases.jsonl"))
    async with Playback(strict=False) as playback:
        settings = load_settings(
            {}, home=tmp_path, store=":memory:", model="compatible:recorded", model_base_url=playback.base_url
        )
        async with open_service(settings, any_location=True, tape=playback) as service:
            answerer = Replayed(
                service.evals.runner(LOCAL, "plan", counting=True),
                playback,
                load_recorded(str(folder / "recorded.jsonl")),
            )
            found = measured((await evaluate(cases, answerer, concurrency=1)), "recorded", "plan", 0)
    assert found.sure_and_right >= 0.95 * found.sure
    assert found.sure >= 20
    wrong = [each for each in found.results if each.outcome == "wrong"]
    assert len(wrong) >= 6
    assert [each.id for each in wrong if each.confidence == "high"] in ([], ["wrong_twice"])
