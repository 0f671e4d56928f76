"""A graph as a source: described, asked in Cypher at every door, replayed, and closed to whatever is not reading."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from as_written import as_written

from answerable import app
from answerable.agents.question_request import QuestionRequest
from answerable.answers.answer import Answer
from answerable.core.context import LOCAL, Principal
from answerable.core.errors import AnswerableError, FileError, LimitError, RefusedError, UserError
from answerable.core.ids import UserId
from answerable.query.cypher.check import checked
from answerable.query.cypher.language import LANGUAGE
from answerable.service import Service
from answerable.settings import Settings
from answerable.sources.base import Limits, Source, browsable
from answerable.sources.open import open_source
from graphs import SOCIAL, write_graph


async def ask(service: Service, message: str, *sources: str) -> Answer:
    return await service.questions.ask(QuestionRequest(message, sources), LOCAL)


FOLLOWERS = "MATCH (u:User)-[:Follows]->(v) RETURN v.name AS name, count(*) AS followers ORDER BY followers DESC, name"


@pytest.fixture(scope="module")
def social(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_graph(tmp_path_factory.mktemp("graph") / "social.lbug")


@pytest.fixture
async def source(social: Path, tmp_path: Path) -> AsyncIterator[Source]:
    opened = await open_source(str(social), cache=tmp_path / "cache")
    yield opened
    await opened.close()


@pytest.fixture
async def service(social: Path, tmp_path: Path) -> AsyncIterator[Service]:
    settings = Settings(home=tmp_path / "home", sources={"social": str(social)}, source="social")
    async with app.open_service(settings, any_location=False) as opened:
        yield opened


async def test_it_is_described_with_its_nodes_relationships_and_directions(source: Source) -> None:
    catalog = await source.describe()
    assert [(table.name, table.row_count, table.primary_key) for table in catalog.tables] == [
        ("City", 3, ("name",)),
        ("User", 4, ("name",)),
        ("Follows", 4, ()),
        ("LivesIn", 4, ()),
    ]
    age = catalog.tables[1].columns[1]
    assert (age.type, age.minimum, age.maximum, age.distinct_count) == ("integer", 25, 50, 4)
    [connection] = catalog.tables[3].connections
    assert (connection.from_table, connection.to_table) == ("User", "City")
    assert [(each.from_table, each.to_table) for each in catalog.relationships] == [
        ("Follows", "User"),
        ("Follows", "User"),
        ("LivesIn", "User"),
        ("LivesIn", "City"),
    ]
    [hit] = (await source.values()).find("kitchener")
    assert (hit.table, hit.column, hit.value) == ("City", "name", "Kitchener")


async def test_its_tables_can_be_looked_at(source: Source) -> None:
    catalog = await source.describe()
    lives_in = catalog.table("LivesIn")
    assert lives_in is not None
    assert sorted(await browsable(source).first_rows(lives_in, 0, 2)) == [("Adam", "Waterloo"), ("Karissa", "Waterloo")]
    statistics = await browsable(source).statistics(lives_in)
    assert next((top.value, top.count) for top in statistics.columns[1].top_values) == ("Waterloo", 2)


async def test_a_question_in_cypher_is_answered_shown_and_replayed(service: Service) -> None:
    answer = await ask(service, f"CYPHER: {FOLLOWERS}")
    assert answer.rows == (("Zhang", 2), ("Karissa", 1), ("Noura", 1))
    assert answer.provenance.data_source_type == "graph"
    [step] = answer.steps
    assert (step.kind, step.language, step.source) == ("cypher", "cypher", "social")
    assert step.code is not None
    assert step.code.startswith("MATCH (u:User)-[:Follows]->(v:User)")
    assert (await service.answers.replay(answer.run_id, LOCAL)).verdict == "same"


async def test_a_path_is_returned_with_its_nodes_and_relationships_in_order(service: Service) -> None:
    asked = "CYPHER: MATCH p = (a:User {name: 'Adam'})-[*1..3]->(c:City {name: 'Guelph'}) RETURN p LIMIT 1"
    answer = await ask(service, asked)
    nodes, relationships = (json.loads(str(cell)) for cell in answer.rows[0])
    assert [node["key"] for node in nodes] == ["Adam", "Zhang", "Noura", "Guelph"]
    assert relationships == ["Follows", "Follows", "LivesIn"]
    assert answer.graph is not None
    assert [(node.kind, node.name) for node in answer.graph.nodes] == [
        ("User", "Adam"),
        ("User", "Zhang"),
        ("User", "Noura"),
        ("City", "Guelph"),
    ]
    assert [(edge.source, edge.target, edge.directed) for edge in answer.graph.edges][-1] == (
        "User:Noura",
        "City:Guelph",
        True,
    )
    backwards = await ask(service, "CYPHER: MATCH p = (c:City {name: 'Guelph'})<-[:LivesIn]-(u:User) RETURN p")
    assert backwards.graph is not None
    assert [(edge.source, edge.target) for edge in backwards.graph.edges] == [("User:Noura", "City:Guelph")]
    other = "CYPHER: MATCH (u:User) RETURN u.name AS `a nodes`, [u.age] AS `a relationships`"
    assert (await ask(service, other)).graph is None


async def test_cypher_for_a_table_and_sql_for_a_graph_are_refused_clearly(tmp_path: Path, social: Path) -> None:
    (tmp_path / "towns.csv").write_text("name\nRome\n")
    sources = {"social": str(social), "towns": str(tmp_path / "towns.csv")}
    settings = Settings(home=tmp_path / "home", sources=sources, source="towns")
    async with app.open_service(settings, any_location=False) as service:
        wrong = await ask(service, "CYPHER: MATCH (n) RETURN n")
        assert wrong.provenance.error is not None
        assert wrong.provenance.error.code == "query_type_unavailable"
        wrong = await ask(service, "SQL: SELECT 1", "social")
        assert wrong.provenance.error is not None
        assert wrong.provenance.error.code == "query_type_unavailable"


@pytest.mark.parametrize(
    "text",
    [
        "CREATE (:User {name: 'x'})",
        "MATCH (u:User) SET u.age = 1",
        "MATCH (u:User) DETACH DELETE u",
        "DROP TABLE LivesIn",
        "LOAD FROM '/etc/passwd' (file_format='csv') RETURN *",
        "COPY (MATCH (u:User) RETURN u.name) TO '{folder}/escape.csv'",
        "EXPORT DATABASE '{folder}/escape'",
        "INSTALL httpfs",
        "LOAD EXTENSION '/tmp/x.so'",
        "ATTACH '/etc/passwd' AS x (dbtype lbug)",
        "RETURN 1 AS x; CREATE (:User {name: 'x'})",
    ],
)
async def test_the_source_holds_by_itself_when_nothing_was_checked(source: Source, tmp_path: Path, text: str) -> None:
    with pytest.raises(AnswerableError):
        await source.execute(
            as_written(text.replace("{folder}", str(tmp_path)), LANGUAGE), tmp_path / "rows.arrow", Limits()
        )
    assert not (tmp_path / "rows.arrow").exists()
    assert not (tmp_path / "escape.csv").exists()
    assert not (tmp_path / "escape").exists()


async def test_limits_of_rows_and_time_hold(source: Source, tmp_path: Path) -> None:
    catalog = await source.describe()
    with pytest.raises(LimitError) as caught:
        await source.execute(checked("MATCH (u:User) RETURN u.name", catalog), tmp_path / "a", Limits(rows=2))
    assert caught.value.stable_code == "result_rows"
    many = ", ".join(f"(a{n})" for n in range(12))
    names = ", ".join(f"a{n}.name" for n in range(12))
    endless = checked(f"MATCH {many} RETURN count(DISTINCT concat({names}))", catalog)
    with pytest.raises(LimitError) as caught:
        await source.execute(endless, tmp_path / "b", Limits(seconds=1.0))
    assert caught.value.stable_code in ("query_time", "query_memory")


ODD = "quo'te \" back\\slash `tick` \n line \u2028 \x1b é 漢 🎈 $x {y} // */"


async def test_texts_reach_the_graph_as_they_were_written(source: Source, tmp_path: Path) -> None:
    from answerable.query.cypher import tree

    catalog = await source.describe()
    item = tree.ReturnItem(tree.Given(ODD), ODD.replace("\n", "").replace("\u2028", ""))
    query = tree.CypherQuery((tree.SingleQuery((), tree.Projection((item,))),))
    result = await source.execute(checked(query, catalog), tmp_path / "rows.arrow", Limits())
    assert result.plain_rows == ((ODD,),)


async def test_a_file_that_is_no_graph_of_this_version_is_named(tmp_path: Path) -> None:
    whole = write_graph(tmp_path / "old.lbug").read_bytes()
    (tmp_path / "old.lbug").write_bytes(whole[:12] + b"\xfe" + whole[13:])
    source = await open_source(str(tmp_path / "old.lbug"), cache=tmp_path / "cache")
    try:
        with pytest.raises(FileError) as caught:
            await source.describe()
        assert caught.value.stable_code == "source_unreadable"
        assert "Ladybug" in caught.value.message
    finally:
        await source.close()


async def test_a_graph_that_changes_is_described_anew(tmp_path: Path) -> None:
    file = write_graph(tmp_path / "social.lbug")
    source = await open_source(str(tmp_path), cache=tmp_path / "cache")
    try:
        before = await source.describe()
        file.unlink()
        write_graph(file, (*SOCIAL, "CREATE (:User {name: 'Zoë', age: 20})"))
        after = await source.describe()
        assert (before.table("User").row_count, after.table("User").row_count) == (4, 5)  # type: ignore[union-attr]
        assert before.fingerprint != after.fingerprint
    finally:
        await source.close()


async def test_cypher_is_asked_of_one_graph_and_given_as_text(service: Service) -> None:
    with pytest.raises(UserError) as caught:
        await service.questions.begin_query("cypher", {"a": 1}, LOCAL)
    assert caught.value.stable_code == "query_not_text"
    refused = await ask(service, "CYPHER: MATCH (u:User) DELETE u")
    assert refused.status == "refused"
    assert RefusedError.exit_code == 4


@pytest.mark.parametrize(
    ("question", "rows"),
    [
        ("how many users are there", ((4,),)),
        ("average age of users", ((36.25,),)),
        ("how many users live in Waterloo", ((2,),)),
        ("number of users per city", (("Waterloo", 2), ("Kitchener", 1), ("Guelph", 1))),
        ("cities with more than one user", (("Waterloo",),)),
    ],
)
async def test_a_question_in_words_is_answered_without_a_model(
    service: Service, question: str, rows: tuple[tuple[object, ...], ...]
) -> None:
    answer = await ask(service, question)
    assert sorted(answer.rows, key=str) == sorted(rows, key=str)
    [step] = answer.steps
    assert (step.kind, step.language, step.data_source_type) == ("cypher", "cypher", "graph")
    assert step.code is not None
    assert step.code.startswith("MATCH")


RULES = """
roles:
  reader: {actions: [ask, cypher]}
users:
  ann: {roles: [reader]}
rules:
  - {name: all, for: reader, source: social, allow: true}
"""


@pytest.mark.parametrize(
    ("rule", "question", "code"),
    [
        ("tables: Follows, deny: true", FOLLOWERS, "access_denied"),
        ("tables: User, columns: age, deny: true", "MATCH (u:User) RETURN u.age", "access_denied"),
        ("tables: User, deny: true", "MATCH (c)<-[:LivesIn]-(u) RETURN u.name", "access_denied"),
        ("tables: User, rows: agee > 30", "MATCH (u:User) RETURN u.name", "access_rule_invalid"),
        ("tables: User, rows: count(age) > 30", "MATCH (u:User) RETURN u.name", "access_rule_invalid"),
        ("tables: Follows, columns: to_user_name, mask: hash", FOLLOWERS, "access_rule_unsupported"),
    ],
)
async def test_access_rules_hold_for_a_graph(social: Path, tmp_path: Path, rule: str, question: str, code: str) -> None:
    settings = Settings(home=tmp_path / "home", sources={"social": str(social)}, source="social")
    settings.make_home()
    (tmp_path / "home" / "access.yaml").write_text(f"{RULES}  - {{name: limit, for: reader, source: social, {rule}}}\n")
    ann = Principal(LOCAL.tenant, UserId("ann"))
    async with app.open_service(settings, any_location=False) as service:
        answer = await service.questions.ask(QuestionRequest(f"CYPHER: {question}"), ann)
        assert answer.provenance.error is not None
        assert answer.provenance.error.code == code


async def test_a_row_rule_shapes_what_is_asked_of_a_graph_in_words(social: Path, tmp_path: Path) -> None:
    settings = Settings(home=tmp_path / "home", sources={"social": str(social)}, source="social")
    settings.make_home()
    rules = f"{RULES}  - {{name: over-thirty, for: reader, source: social, tables: User, rows: age > 30}}\n"
    (tmp_path / "home" / "access.yaml").write_text(rules)
    ann = Principal(LOCAL.tenant, UserId("ann"))
    async with app.open_service(settings, any_location=False) as service:
        answer = await service.questions.ask(QuestionRequest("number of users per city"), ann)
        assert sorted(answer.rows) == [("Kitchener", 1), ("Waterloo", 1)]
        assert "over-thirty" in answer.model_dump_json()


ACCESS = (
    "CREATE NODE TABLE Person(id INT64, name STRING, PRIMARY KEY (id))",
    "CREATE NODE TABLE Team(id INT64, name STRING, PRIMARY KEY (id))",
    "CREATE NODE TABLE App(id INT64, name STRING, PRIMARY KEY (id))",
    "CREATE REL TABLE MemberOf(FROM Person TO Team)",
    "CREATE REL TABLE Gives(FROM Team TO App)",
    "CREATE REL TABLE Has(FROM Person TO App)",
    "CREATE (:Person {id: 1, name: 'Ada Hansen'}), (:Person {id: 2, name: 'Bo Kim'}),"
    " (:Team {id: 1, name: 'ops-team'}), (:Team {id: 2, name: 'sales'}),"
    " (:App {id: 1, name: 'GitHub'}), (:App {id: 2, name: 'Jira'})",
    *(
        f"MATCH (a:{start}), (b:{end}) WHERE a.id = {one} AND b.id = {other} CREATE (a)-[:{kind}]->(b)"
        for kind, start, end, one, other in (
            ("MemberOf", "Person", "Team", 1, 1),
            ("MemberOf", "Person", "Team", 2, 1),
            ("Gives", "Team", "App", 1, 1),
            ("Has", "Person", "App", 1, 1),
        )
    ),
)


@pytest.fixture
async def access(tmp_path: Path) -> AsyncIterator[Service]:
    graph = write_graph(tmp_path / "access.lbug", ACCESS)
    settings = Settings(home=tmp_path / "home", sources={"access": str(graph)}, source="access")
    async with app.open_service(settings, any_location=False) as opened:
        yield opened


async def test_ways_are_asked_for_in_plain_words(access: Service) -> None:
    why = await ask(access, "How does Ada Hansen have access to GitHub?")
    assert (why.status, why.row_count, why.provenance.data_source_type) == ("done", 2, "graph")
    assert why.graph is not None
    assert {(edge.source, edge.label, edge.target) for edge in why.graph.edges} == {
        ("Person:1", "Has", "App:1"),
        ("Person:1", "MemberOf", "Team:1"),
        ("Team:1", "Gives", "App:1"),
    }
    assert "Ada Hansen → MemberOf ops-team → Gives GitHub." in why.text
    backwards = await ask(access, "what is the path between GitHub and Bo Kim")
    assert backwards.graph is not None
    assert len(backwards.graph.edges) == 2
    assert all(edge.directed for edge in backwards.graph.edges)
    through = await ask(access, "Who can reach GitHub through a team?")
    assert {row[:2] for row in through.rows} == {("Ada Hansen", "ops-team"), ("Bo Kim", "ops-team")}
    none = await ask(access, "Why does Bo Kim have access to Jira?")
    assert (none.status, none.row_count, none.graph) == ("done", 0, None)
    for other in (
        "Why does Ada Hansen hate GitHub?",
        "How old is Ada Hansen?",
        "Who can reach GitHub through a window?",
    ):
        assert (await ask(access, other)).status == "clarify", other


async def test_the_shortest_ways_are_shown_where_ways_can_go_round(service: Service) -> None:
    answer = await ask(service, "How is Adam connected to Guelph?")
    assert (answer.row_count, "ALL SHORTEST" in str(answer.steps[0].code)) == (1, True)
    assert "Adam → Follows Zhang → Follows Noura → LivesIn Guelph." in answer.text


@pytest.mark.parametrize(
    ("question", "rows"),
    [
        ("who follows Zhang?", [("Adam",), ("Karissa",)]),
        ("Zhang's followers", [("Adam",), ("Karissa",)]),
        ("whom does Adam follow?", [("Karissa",), ("Zhang",)]),
        ("who is followed by Adam?", [("Karissa",), ("Zhang",)]),
        ("who is Karissa followed by?", [("Adam",)]),
        ("how many users follow Zhang?", [(2,)]),
        ("which user has the most followers?", [("Zhang", 2)]),
        ("who follows the most people?", [("Adam", 2)]),
        ("how many people does each user follow?", [("Adam", 2), ("Karissa", 1), ("Zhang", 1), ("Noura", 0)]),
        ("users who follow nobody", [("Noura",)]),
        ("users with no followers", [("Adam",)]),
        ("who does Karissa follow directly or indirectly?", [("Noura",), ("Zhang",)]),
        ("who can reach Noura?", [("Adam",), ("Karissa",), ("Zhang",)]),
        ("who can reach Guelph?", [("Adam",), ("Karissa",), ("Noura",), ("Zhang",)]),
        ("which cities can Zhang reach?", [("Guelph",), ("Kitchener",)]),
    ],
)
async def test_relationships_within_one_kind_are_read_by_the_order_of_the_words(
    service: Service, question: str, rows: list[tuple[object, ...]]
) -> None:
    answer = await ask(service, question)
    assert (answer.status, list(answer.rows)) == ("done", rows)


async def test_the_distance_of_two_nodes_is_told(service: Service) -> None:
    answer = await ask(service, "how many hops from Adam to Noura?")
    assert "Hops: 2." in answer.text
    assert (await ask(service, "is there a path from Zhang to Noura?")).row_count == 1
    assert (await ask(service, "who hates Zhang?")).status == "clarify"


WORK = (
    "CREATE NODE TABLE Person (name STRING, PRIMARY KEY (name))",
    "CREATE NODE TABLE Company (name STRING, PRIMARY KEY (name))",
    "CREATE REL TABLE StudiedAt (FROM Person TO Company)",
    "CREATE REL TABLE WorksAt (FROM Person TO Company)",
    "CREATE (:Person {name: 'Ada'}), (:Person {name: 'Bo'}), (:Company {name: 'Acme'}), (:Company {name: 'Umbrella'})",
    "MATCH (p:Person), (c:Company {name: 'Acme'}) CREATE (p)-[:StudiedAt]->(c)",
    "MATCH (p:Person {name: 'Ada'}), (c:Company {name: 'Umbrella'}) CREATE (p)-[:WorksAt]->(c)",
)


async def test_of_several_relationships_between_two_kinds_its_own_word_chooses(tmp_path: Path) -> None:
    graph = write_graph(tmp_path / "work.lbug", WORK)
    settings = Settings(home=tmp_path / "home", sources={"work": str(graph)}, source="work")
    async with app.open_service(settings, any_location=False) as opened:
        each = await ask(opened, "how many people work at each company?")
        assert list(each.rows) == [("Umbrella", 1), ("Acme", 0)]
        assert list((await ask(opened, "who studied at Acme?")).rows) == [("Ada",), ("Bo",)]
        assert list((await ask(opened, "where does Ada work?")).rows) == [("Umbrella",)]
