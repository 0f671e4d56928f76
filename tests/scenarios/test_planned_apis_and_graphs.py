"""Plans that call APIs and ask graphs: a model plans and writes, over real sockets; the host makes every call."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from scripted_model import Reply, Request, ScriptedModel
from shop_api import TOKEN, ShopApi

from answerable.agents.question_request import QuestionRequest
from answerable.answers.answer import Answer
from answerable.app import open_service
from answerable.core.context import LOCAL, Principal
from answerable.core.ids import UserId
from answerable.service import Service
from answerable.settings import Settings
from graphs import write_graph

pytestmark = pytest.mark.asyncio(loop_scope="module")
ACCESS = (
    "CREATE NODE TABLE User(name STRING, status STRING, skills STRING[], PRIMARY KEY (name))",
    "CREATE NODE TABLE Team(name STRING, PRIMARY KEY (name))",
    "CREATE NODE TABLE App(name STRING, PRIMARY KEY (name))",
    "CREATE REL TABLE MEMBER_OF(FROM User TO Team)",
    "CREATE REL TABLE HAS_ACCESS(FROM User TO App, FROM Team TO App)",
    "CREATE (:User {name: 'Ada', status: 'ACTIVE', skills: ['sql', 'go']}),"
    " (:User {name: 'Ben', status: 'SUSPENDED', skills: ['go']}), (:User {name: 'Cleo', status: 'ACTIVE', skills: []})",
    "CREATE (:Team {name: 'Data'}), (:App {name: 'Vault'})",
    "MATCH (u:User), (t:Team) WHERE u.name IN ['Ada', 'Ben'] CREATE (u)-[:MEMBER_OF]->(t)",
    "MATCH (t:Team), (a:App) CREATE (t)-[:HAS_ACCESS]->(a)",
    "MATCH (u:User), (a:App) WHERE u.name IN ['Ada', 'Cleo'] CREATE (u)-[:HAS_ACCESS]->(a)",
)
UNITED = (
    "MATCH (u:User)-[:HAS_ACCESS]->(a:App {name: 'Vault'}) RETURN u.name AS person "
    "UNION MATCH (u:User)-[:MEMBER_OF]->(:Team)-[:HAS_ACCESS]->(a:App {name: 'Vault'}) RETURN u.name AS person"
)
NOTES = """
result = [
    {"customer_id": id, "text": note["text"]}
    for id in vips["customer_id"].to_list()
    for note in api_get(f"/v1/customers/{id}/notes", paginate=True) or []
]
"""


RULES = """
users:
  eva: {roles: [seller]}
roles:
  seller: {actions: [ask, sql, cypher, python]}
rules:
  - {name: see, for: seller, source: shop, allow: true}
  - {name: berlin, for: seller, source: shop, tables: customers, rows: city = 'Berlin'}
"""


@pytest.fixture(scope="module")
def model() -> Iterator[ScriptedModel]:
    server = ScriptedModel()
    yield server
    server.close()


@pytest.fixture(scope="module")
def shop() -> Iterator[ShopApi]:
    server = ShopApi()
    yield server
    server.close()


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("world") / "home"
    folder.mkdir()
    return folder


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def service(model: ScriptedModel, shop: ShopApi, home: Path) -> AsyncIterator[Service]:
    folder = home.parent
    (folder / "vips.csv").write_text("customer_id,level\nc0,gold\nc3,gold\nc5,silver\nc9,gold\n")
    sources = {
        "crm": str(folder / "vips.csv"),
        "shop": f"{shop.location}&entities=customers,notes",
        "access": str(write_graph(folder / "access.lbug", ACCESS)),
    }
    settings = Settings(home=home, sources=sources, model="compatible:scripted", model_base_url=model.base_url)
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("SHOP_TOKEN", TOKEN)
        async with open_service(settings, any_location=False) as opened:
            yield opened


async def ask(service: Service, model: ScriptedModel, sources: tuple[str, ...], *replies: Any, **more: Any) -> Answer:
    """The model says these replies in turn, and words no answer."""
    left = iter(replies)

    def reply(request: Request) -> Reply:
        return Reply.object({}) if is_wording(request) else Reply.object(next(left))

    model.script(reply)
    request = QuestionRequest("zigzag what do the vips say?", sources, mode="plan")
    return await service.questions.ask(request, more.get("principal", LOCAL))


def is_wording(request: Request) -> bool:
    return str(request.messages[0]["content"]).startswith("You put")


def vips(where: str = "level = 'gold'") -> dict[str, Any]:
    return {"id": "vips", "tool": "sql", "source": "crm", "code": f"SELECT customer_id FROM vips WHERE {where}"}


def notes(**more: Any) -> dict[str, Any]:
    step = {"id": "notes", "tool": "api", "source": "shop", "entity": "notes", "operation": "list", "after": ["vips"]}
    return {**step, "context": "The notes of each customer_id.", **more}


async def test_rows_of_a_table_lead_to_calls_of_an_api_by_their_ids(
    service: Service, model: ScriptedModel, shop: ShopApi
) -> None:
    await service.questions.ask(QuestionRequest("how many customers?", ("shop",)), LOCAL)  # describes the API
    shop.forget()
    plan = {"steps": [vips("customer_id IN ('c0', 'c3')"), notes()]}
    answer = await ask(service, model, ("crm", "shop"), plan, {"code": NOTES})
    assert (answer.status, answer.rows) == ("done", (("c0", "Likes tea"), ("c0", "Pays late")))
    assert answer.provenance.data_source_type == "hybrid"
    assert [step.data_source_type for step in answer.steps] == ["sql", "api"]
    assert shop.asked == ["/v1/customers/c0/notes", "/v1/customers/c3/notes"]
    planner, writer, _ = model.requests
    assert '"notes" list: GET "/v1/customers/{customerId}/notes"' in planner.last("user")
    assert '"notes" list: GET "/v1/customers/{customerId}/notes"' in writer.last("user")
    assert "/v1/orders" not in writer.last("user")  # only the endpoints of the step's entity
    assert '"customer_id": "c0"' in writer.last("user")
    assert not any(TOKEN in request.text or shop.url in request.text for request in model.requests)


async def test_rows_of_an_api_lead_to_a_query_by_their_ids(service: Service, model: ScriptedModel) -> None:
    live = {"id": "live", "tool": "api", "source": "shop", "entity": "customers", "context": "Ids of active customers."}
    after = {
        "id": "levels",
        "tool": "sql",
        "source": "crm",
        "after": ["live"],
        "code": "SELECT customer_id, level FROM vips WHERE customer_id IN (SELECT id FROM live) ORDER BY 1",
    }
    program = "result = [{'id': c['id']} for c in api_get('/v1/customers', {'status': 'active'}, paginate=True)]"
    answer = await ask(service, model, ("crm", "shop"), {"steps": [live, after]}, {"code": program})
    assert answer.rows == (("c0", "gold"), ("c3", "gold"))
    assert answer.steps[-1].code is not None
    assert "'c6'" in answer.steps[-1].code  # the statement that ran holds the ids
    assert answer.provenance.data_source_type == "hybrid"


async def test_a_partial_step_goes_on_without_the_calls_that_fail(
    service: Service, model: ScriptedModel, shop: ShopApi
) -> None:
    plan = {"steps": [vips(), notes(entity="customers", operation="get", partial=True)]}
    program = """
found = [api_get(f"/v1/customers/{id}") for id in vips["customer_id"].to_list()]
result = [{"name": each["name"]} for each in found if each]
"""
    answer = await ask(service, model, ("crm", "shop"), plan, {"code": program})
    assert (answer.status, answer.rows) == ("partial", (("Ada",), ("Dora",)))
    [missing] = [said for said in answer.provenance.findings if "missing" in said]
    assert missing.startswith("1 of 3 calls of the API failed, so their rows are missing. The first: ")


async def test_a_call_that_fails_goes_back_to_the_writer(service: Service, model: ScriptedModel) -> None:
    plan = {"steps": [vips("customer_id = 'c0'"), notes()]}
    wrong = {"code": "result = api_get('/v1/customers/c0/secrets')"}
    answer = await ask(service, model, ("crm", "shop"), plan, wrong, {"code": NOTES})
    assert answer.row_count == 2
    assert "The path '/v1/customers/c0/secrets' is not allowed" in model.requests[2].text


async def test_rules_close_the_api_to_programs(home: Path, service: Service, model: ScriptedModel) -> None:
    (home / "access.yaml").write_text(RULES)
    try:
        eva = Principal(LOCAL.tenant, UserId("eva"))
        call = {"id": "all", "tool": "api", "api": "shop", "code": "result = api_get('/v1/customers')"}
        run = await service.questions.begin_query("plan", {"steps": [call]}, eva, source="shop")
        answer = await service.runs.wait(run, eva)
        assert answer.status == "refused"
        assert answer.text.startswith("Access rules apply to shop, so programs may not call it.")
        plan = {"steps": [{**notes(after=[]), "id": "notes"}]}
        answer = await ask(service, model, ("shop",), *[plan] * 3, principal=eva)
        assert "Input should be 'sql', 'combine' or 'python'" in model.requests[1].text
    finally:
        (home / "access.yaml").unlink()


async def test_what_one_graph_query_answers_costs_two_calls(service: Service, model: ScriptedModel) -> None:
    step = {"id": "who", "tool": "cypher", "entity": "User", "operation": "list", "code": UNITED}
    answer = await ask(service, model, ("access",), {"steps": [step]})
    assert sorted(answer.rows) == [("Ada",), ("Ben",), ("Cleo",)]
    assert answer.provenance.data_source_type == "graph"
    assert len(model.requests) == 2
    shown = model.requests[0].last("user")
    assert 'source "access", a graph, in Cypher' in shown
    assert 'relationship "HAS_ACCESS" from ("User")-[]->("App") or ("Team")-[]->("App")' in shown
    assert "user_name" not in shown  # the ends of a relationship are no properties


async def test_cypher_is_written_checked_and_repaired_twice(service: Service, model: ScriptedModel) -> None:
    step = {"id": "who", "tool": "cypher", "context": "Names of the people who know go."}
    unknown = {"cypher": "MATCH (p:Person) RETURN p.name AS person"}
    other_columns = {"cypher": "MATCH (u:User) RETURN u.name AS name", "expected_columns": ["person"]}
    right = {
        "cypher": "MATCH (u:User) WHERE any(x IN u.skills WHERE x = 'go') RETURN u.name AS person ORDER BY person",
        "expected_columns": ["person"],
        "explanation": "Looks into the list of skills.",
        "requires_union": False,
        "complexity": "simple",
    }
    answer = await ask(service, model, ("access",), {"steps": [step]}, unknown, other_columns, right)
    assert answer.rows == (("Ada",), ("Ben",))  # Ben is suspended: nobody asked for active people only
    _, _, second, third, _ = model.requests
    assert "There are no nodes 'Person'" in second.text
    assert "The query returns the columns name, and `expected_columns` are person." in third.text
    assert 'node "User", 3 of them, key "name"' in second.text.replace('\\"', '"')


async def test_sql_for_a_graph_goes_back_to_the_planner(service: Service, model: ScriptedModel) -> None:
    wrong = {"steps": [{"id": "who", "tool": "sql", "code": 'SELECT name FROM "User"'}]}
    right = {"steps": [{"id": "who", "tool": "cypher", "code": "MATCH (u:User) RETURN count(*) AS people"}]}
    answer = await ask(service, model, ("access",), wrong, right)
    assert answer.rows == ((3,),)
    assert "is asked with the tool cypher" in model.requests[1].text


async def test_a_check_of_a_graph_answer_is_cypher_too(service: Service, model: ScriptedModel) -> None:
    plan = {"steps": [{"id": "n", "tool": "cypher", "code": "MATCH (u:User) RETURN count(*) AS people"}]}
    check = {"question": "How many?", "sql": "MATCH (u:User) RETURN size(collect(u.name)) AS n", "column": "people"}

    def reply(request: Request) -> Reply:
        return Reply.object({"text": "3 people.", "checks": [check]} if is_wording(request) else plan)

    model.script(reply)
    answer = await service.questions.ask(QuestionRequest("zigzag how many?", ("access",), mode="plan"), LOCAL)
    assert (answer.text, answer.provenance.confidence) == ("3 people.", "high")
