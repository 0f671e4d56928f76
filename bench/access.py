"""Access rules: what rewriting a statement takes for somebody with 200 rules, with parsing and writing it, as a share
of the millisecond that was promised; and a question under rules against the same question without. Rewriting is
measured in time of the processor, so that other work on the machine does not count."""

import asyncio
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from answerable.access.policy import AccessPolicy, Rule, User
from answerable.access.shape import Shaping
from answerable.access.view import view_of
from answerable.agents.question_request import QuestionRequest
from answerable.app import open_service
from answerable.core.catalog import Catalog, Column, Table
from answerable.core.context import LOCAL, Principal, person
from answerable.service import Service
from answerable.settings import Settings
from bench.figures import Figure, compared

PROMISED_MS = 1.0
RULES = 200
POLICY = """
users: {ana: {roles: [seller], attributes: {region: [North, South, East, West]}}}
roles: {seller: {actions: [ask, sql]}}
rules:
  - {name: all, for: seller, source: demo, allow: true}
  - {name: region, for: seller, source: demo, tables: stores, rows: region = user.region}
"""
STATEMENT = "SELECT region, count(*) AS n FROM stores GROUP BY region ORDER BY region"


def measure(quick: bool) -> list[Figure]:
    with tempfile.TemporaryDirectory(prefix="answerable-bench-") as folder:
        plain, ruled = asyncio.run(_questions(Path(folder), 10 if quick else 40))
    return [
        compared(f"rewrite a statement, {RULES} rules, of the time promised", _rewritten_ms(), PROMISED_MS, "ms", 1.0),
        compared("a question under rules", ruled, plain, "s", 1.2),
    ]


def _rewritten_ms() -> float:
    """The median for statements that were not seen before, over tables that were."""
    columns = tuple(Column(name=f"c{number}", type="integer") for number in range(10))
    tables = tuple(Table(name=f"t{number}", columns=columns) for number in range(RULES // 2))
    catalog = Catalog(source="s", dialect="duckdb", tables=tables)
    rules = [Rule(name="all", for_=("everyone",), source="s", allow=True)]
    for table in tables:
        of = {"for_": ("everyone",), "source": "s", "tables": (table.name,)}
        rules.append(Rule.model_validate({"name": f"rows-{table.name}", "rows": "c1 > 3", **of}))
        rules.append(Rule.model_validate({"name": f"mask-{table.name}", "columns": "c2", "mask": "null", **of}))
    policy = AccessPolicy(users={"ana": User()}, rules=tuple(rules))
    shaping = Shaping(view_of(policy, person("ana")).of("s"), catalog, "secret")
    statements = [f"SELECT c1, count(*) AS n FROM t{n % 50} WHERE c3 > {n} GROUP BY c1" for n in range(300)]
    shaping.shaped("SELECT 1 AS x FROM t1")
    for text in statements[:100]:  # conditions are parsed once for each table
        shaping.shaped(text)
    return statistics.median(_timed(shaping.shaped, text) for text in statements[100:]) * 1000


async def _questions(home: Path, count: int) -> tuple[float, float]:
    (home / "access.yaml").write_text(POLICY)
    async with open_service(Settings(home=home), any_location=False) as service:
        for who in (LOCAL, person("ana")):
            await _asked(service, who)
        pairs = [(await _asked(service, LOCAL), await _asked(service, person("ana"))) for _ in range(count)]
    return statistics.median(pair[0] for pair in pairs), statistics.median(pair[1] for pair in pairs)


async def _asked(service: Service, who: Principal) -> float:
    began = time.perf_counter()
    answer = await service.questions.ask(QuestionRequest(f"SQL: {STATEMENT}", ("demo",)), who)
    assert answer.provenance.error is None, answer.text
    return time.perf_counter() - began


def _timed(work: Callable[[str], str], text: str) -> float:
    began = time.thread_time()
    work(text)
    return time.thread_time() - began
