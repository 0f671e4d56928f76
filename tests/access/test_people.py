"""People at the doors: over HTTP who asks is told by the key alone, and everybody has their own runs and threads."""

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import httpx
import pytest
from access_world import POLICY, fill_duckdb, rows_of
from served_app import serving

from answerable.access.policy import new_key
from answerable.agents.question_request import QuestionRequest
from answerable.answers.answer import Answer
from answerable.app import open_service
from answerable.core.context import LOCAL, Principal, person
from answerable.core.errors import AnswerableError, NotFoundError, OperatorError, RefusedError
from answerable.core.ids import ThreadId
from answerable.gateway.app import create_app
from answerable.service import Service
from answerable.settings import Settings

ANA, BO, BOSS = person("ana"), person("bo"), person("boss")
KEYS = {user: new_key() for user in ("ana", "bo", "boss", "late")}
TWIN = "  twin: {roles: [seller], attributes: {region: West}}\n"


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    home = tmp_path / "home"
    home.mkdir()
    text = POLICY.replace("  boss:", f"{TWIN}  boss:")
    for user, expires in (("ana", "2999-01-01"), ("bo", "2999-01-01"), ("boss", "2000-01-01")):
        digest = KEYS["late" if user == "boss" else user][1]
        key = f"{{name: k, digest: '{digest}', expires: {expires}}}"
        text = text.replace(f"  {user}: {{", f"  {user}: {{keys: [{key}], ")
    (home / "access.yaml").write_text(text)
    location = fill_duckdb(tmp_path / "shop.duckdb", rows_of(0))
    return Settings(home=home, sources={"shop": str(location)}, source="shop", store=":memory:")


@pytest.fixture
async def service(settings: Settings) -> AsyncIterator[Service]:
    async with open_service(settings, any_location=False) as opened:
        yield opened


async def _asked(service: Service, who: Principal, text: str = "SQL: SELECT count(*) AS n FROM staff") -> Answer:
    return await service.questions.ask(QuestionRequest(text, ()), who)


async def test_answers_name_the_rules_that_shaped_them(service: Service) -> None:
    answer = await service.questions.ask(QuestionRequest("SQL: SELECT count(email) AS n FROM staff", ()), ANA)
    assert answer.rows == ((3,),)
    assert answer.provenance.findings == (
        "staff: rows of region West only, by rule region.",
        "staff: email is shown in part, by rule mail-in-part.",
    )
    whole = await service.questions.ask(QuestionRequest("SQL: SELECT count(email) AS n FROM staff", ()), BOSS)
    assert whole.rows == ((6,),)
    assert whole.provenance.findings == ()


@pytest.mark.parametrize(
    ("question", "code", "text"),
    [
        (
            "what is the average salary?",
            "access_denied",
            "You may not see the column 'salary' of staff, by rule 'no-pay'.",
        ),
        ("how many planets are there?", None, ""),
    ],
)
async def test_a_question_about_what_is_hidden_is_told_from_one_about_nothing(
    service: Service, question: str, code: str | None, text: str
) -> None:
    answer = await _asked(service, ANA, question)
    error = answer.provenance.error
    assert (error.code if error else None) == code
    assert text in answer.text


async def test_nobody_reads_what_belongs_to_another(service: Service) -> None:
    run = (await _asked(service, BO)).run_id
    record = await service.runs.get(run, BO)
    answer = await service.runs.answer(run, BO)
    thread = record.thread
    assert thread is not None
    assert list(await service.runs.list(ANA)) == []
    assert await service.runs.count(ANA) == 0
    assert list(await service.threads.list(ANA)) == []
    assert list(await service.threads.list(ANA, search="staff")) == []
    attempts: tuple[Callable[[], Awaitable[object]], ...] = (
        lambda: service.runs.get(run, ANA),
        lambda: service.runs.answer(run, ANA),
        lambda: service.runs.wait(run, ANA),
        lambda: service.runs.journal(run, ANA),
        lambda: service.answers.replay(run, ANA),
        lambda: service.answers.freshness(run, ANA),
        lambda: service.answers.rows_path(answer, ANA),
        lambda: service.rows.page(run, ANA),
        lambda: service.comparisons.compare(run, run, ANA),
        lambda: service.questions.retry(run, ANA),
        lambda: service.threads.get(thread, ANA),
        lambda: service.threads.messages(thread, ANA),
        lambda: service.threads.change(thread, ANA, title="mine"),
        lambda: service.threads.share(thread, ANA),
        lambda: service.threads.delete(thread, ANA),
        lambda: service.threads.restore(thread, ANA),
        lambda: service.questions.begin(QuestionRequest("and by region?", (), thread), ANA),
        lambda: service.evals.add_case("mine", run, ANA),
    )
    for attempt in attempts:
        with pytest.raises(NotFoundError):
            await attempt()
    assert (await service.runs.answer(run, BO)).rows == ((3,),)


async def test_a_shared_thread_is_read_only_by_those_who_see_the_same(service: Service) -> None:
    run = (await _asked(service, ANA)).run_id
    thread = ThreadId(str((await service.runs.get(run, ANA)).thread))
    path = (await service.threads.share(thread, ANA)).share_path
    assert path is not None
    token = path.rpartition("/")[2]
    assert (await service.threads.shared(token, person("twin"))).messages
    for other in (BO, BOSS):
        with pytest.raises(RefusedError, match="data that you may not see"):
            await service.threads.shared(token, other)


async def test_a_case_of_another_is_neither_seen_nor_in_the_way(service: Service) -> None:
    text = "SQL: SELECT count(*) AS n FROM orders"
    for who in (BO, ANA):
        run = (await _asked(service, who, text)).run_id
        added = await service.evals.add_case("mine", run, who)
        assert [case.case.id for case in (await service.evals.cases(who))["mine"]] == [added.id]


async def test_permissions_come_from_roles(service: Service) -> None:
    for text in ("PYTHON: result = staff", "PYTHON: import os"):
        with pytest.raises(RefusedError, match="`python`"):
            await service.questions.ask(QuestionRequest(text, ()), ANA)
    with pytest.raises(RefusedError, match="`sql`"):
        await service.questions.begin_query("sql", "SELECT 1", person("idle"))
    with pytest.raises(RefusedError, match="`administer`"):
        await service.access.check(ANA)


async def test_a_broken_file_lets_nobody_in_and_loses_nothing(service: Service, settings: Settings) -> None:
    run = (await _asked(service, ANA)).run_id
    file = settings.home / "access.yaml"
    before = file.read_text()
    file.write_text(before + "\nrules: []\n")
    with pytest.raises(OperatorError, match="this is there twice"):
        await service.questions.ask(QuestionRequest("SQL: SELECT 1", ()), ANA)
    file.unlink()
    with pytest.raises(OperatorError, match="is gone"):
        await service.questions.ask(QuestionRequest("SQL: SELECT 1", ()), ANA)
    file.write_text(before.replace("  ana:", "  anna:"))
    with pytest.raises(RefusedError, match="'ana' is not among the users"):
        await service.questions.ask(QuestionRequest("SQL: SELECT 1", ()), ANA)
    file.write_text(before.replace("columns: [salary, note]", "columns: [salry, note]"))
    answer = await service.questions.ask(QuestionRequest("SQL: SELECT name FROM staff", ()), ANA)
    assert answer.provenance.error is not None
    assert answer.provenance.error.code == "access_rule_stale"
    file.write_text(before)
    assert (await service.runs.answer(run, ANA)).rows == ((3,),)


async def test_the_person_at_the_machine_sees_all_and_checks_the_rules(service: Service) -> None:
    assert (await _asked(service, LOCAL)).rows == ((6,),)
    report = await service.access.check(LOCAL)
    assert [(problem.rule, problem.message) for problem in report.problems] == [
        ("region", "'nobody' has no attribute 'region', and sees no row of 'staff'."),
        ("orders-of-region", "'nobody' has no attribute 'region', and sees no row of 'orders'."),
    ]
    told = await service.access.explain("ana", LOCAL, source="shop")
    assert "plans: by rule no-plans" in told.hidden
    with pytest.raises(AnswerableError, match="'eve'"):
        await service.access.explain("eve", LOCAL, source="shop")


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 401),
        ({"Authorization": "Bearer ans_wrong"}, 401),
        ({"Authorization": f"Bearer {KEYS['boss'][0]}"}, 401),
        ({"Authorization": f"Bearer {KEYS['late'][0]}"}, 401),
        ({"Authorization": f"Bearer {KEYS['ana'][1]}"}, 401),
        ({"Authorization": f"Basic {KEYS['ana'][0]}"}, 401),
        ({"X-API-Key": ""}, 401),
        ({"Authorization": f"Bearer {KEYS['ana'][0]}"}, 200),
        ({"X-API-Key": KEYS["ana"][0]}, 200),
    ],
)
async def test_over_http_the_key_says_who_asks(settings: Settings, headers: dict[str, str], status: int) -> None:
    async with serving(create_app(settings)) as port, httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}") as client:
        assert (await client.get("/api/v1/runs", headers=headers)).status_code == status
        if status == 200:
            asked = {"message": "SQL: SELECT count(*) AS n FROM staff", "user_id": "boss"}
            assert (await client.post("/api/v1/chat", json=asked, headers=headers)).status_code == 422
            asked.pop("user_id")
            reply = await client.post("/api/v1/chat", json=asked, headers=headers, timeout=30)
            assert reply.json()["rows"] == [[3]]
            for path in ("/api/v1/doctor", "/api/v1/evals", "/api/v1/sources/shop/semantic", "/api/v1/agents"):
                refused = await client.get(path, headers=headers)
                assert (refused.status_code, refused.json()["code"]) == (403, "access_action_denied"), path
