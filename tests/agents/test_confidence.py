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
