"""Cypher that writes, loads, calls, attaches, installs, explodes or shows what is hidden: nothing passes the check."""

import pytest
from social import CATALOG

from answerable.core.catalog import HiddenName
from answerable.core.errors import RefusedError, UserError
from answerable.query.cypher.check import checked

WRITING = [
    "CREATE (:User {name: 'x'})",
    "CREATE (u:User {name: 'x'}) RETURN u.name",
    "MATCH (a:User), (b:User) CREATE (a)-[:Follows]->(b)",
    "MATCH (u:User) SET u.age = 1",
    "MATCH (u:User) SET u.age = 1 RETURN u.name",
    "MATCH (u:User) DELETE u",
    "MATCH (u:User) DETACH DELETE u",
    "MATCH (u:User) REMOVE u.age",
    "MERGE (u:User {name: 'x'})",
    "MERGE (u:User {name: 'x'}) ON CREATE SET u.age = 1",
    "INSERT (:User {name: 'x'})",
    "CREATE NODE TABLE x(id INT64, PRIMARY KEY (id))",
    "CREATE REL TABLE x(FROM User TO User)",
    "CREATE SEQUENCE s",
    "CREATE MACRO m(x) AS x + 1",
    "CREATE TYPE t AS INT64",
    "CREATE GRAPH g",
    "DROP TABLE User",
    "DROP TABLE IF EXISTS User",
    "DROP SEQUENCE s",
    "DROP MACRO m",
    "ALTER TABLE User ADD x INT64",
    "ALTER TABLE User RENAME TO x",
    "ALTER TABLE User DROP age",
    "COMMENT ON TABLE User IS 'x'",
    "FOREACH (x IN [1] | CREATE (:User {name: 'x'}))",
    "UPDATE User SET age = 1",
    "MATCH (u:User) RETURN nextval('s')",
    "RETURN currval('s')",
    "RETURN setseed(0.5)",
]
REACHING_OUT = [
    "LOAD FROM '/etc/passwd' RETURN *",
    "LOAD FROM '/etc/passwd' (file_format='csv') RETURN *",
    "LOAD WITH HEADERS (a STRING) FROM 'x.csv' RETURN *",
    "LOAD CSV FROM 'file:///etc/passwd' AS row RETURN row",
    "LOAD FROM 'http://127.0.0.1/x.csv' RETURN *",
    "LOAD FROM 's3://b/x.parquet' RETURN *",
    "LOAD FROM df RETURN *",
    "LOAD EXTENSION httpfs",
    "LOAD EXTENSION '/tmp/x.so'",
    "LOAD httpfs",
    "INSTALL httpfs",
    "INSTALL json FROM 'http://127.0.0.1/'",
    "FORCE INSTALL httpfs",
    "UNINSTALL httpfs",
    "UPDATE httpfs",
    "COPY User FROM 'x.csv'",
    "COPY User TO 'x.csv'",
    "COPY (MATCH (u:User) RETURN u.name) TO 'x.csv'",
    "COPY User FROM (LOAD FROM 'x.csv' RETURN *)",
    "EXPORT DATABASE 'x'",
    "IMPORT DATABASE 'x'",
    "ATTACH 'x.db' AS x (dbtype sqlite)",
    "ATTACH '/etc' AS e (dbtype lbug)",
    "DETACH x",
    "USE x",
    "USE GRAPH g",
    "CALL show_tables() RETURN *",
    "CALL table_info('User') RETURN *",
    "CALL current_setting('threads') RETURN *",
    "CALL threads = 8",
    "CALL timeout = 0",
    "CALL spill_to_disk = true",
    "CALL home_directory = '/'",
    "CALL file_search_path = '/'",
    "CALL db_version() RETURN *",
    "CALL read_csv_serial('x') RETURN *",
    "CALL SHOW_FUNCTIONS() RETURN *",
    "CALL project_graph('g', ['User'], ['Follows'])",
    "CALL page_rank('g') RETURN *",
    "CALL CREATE_FTS_INDEX('User', 'i', ['name'])",
    "CALL QUERY_VECTOR_INDEX('User', 'i', [1.0], 1) RETURN *",
    "CALL { MATCH (u:User) RETURN u } RETURN 1",
    "MATCH (u:User) CALL show_tables() RETURN *",
    "BEGIN TRANSACTION",
    "BEGIN TRANSACTION READ ONLY",
    "COMMIT",
    "ROLLBACK",
    "CHECKPOINT",
    "EXPLAIN MATCH (u:User) RETURN u",
    "PROFILE MATCH (u:User) RETURN u",
    "EXPLAIN LOGICAL MATCH (u:User) RETURN u",
    "ANALYZE",
    "GRANT ALL",
    "PROJECT GRAPH g(User)",
]
SEVERAL = [
    "MATCH (u:User) RETURN u.name; DROP TABLE User",
    "MATCH (u:User) RETURN u.name; MATCH (u:User) RETURN u.name",
    "MATCH (u:User) RETURN u.name;; ",
    "RETURN 1; RETURN 2;",
    "MATCH (u:User) RETURN u.name CREATE (:User {name: 'x'})",
    "MATCH (u:User) RETURN u.name UNION CREATE (:User {name: 'x'})",
    "MATCH (u:User) WITH u CREATE (:User {name: 'x'}) RETURN u.name",
    "MATCH (u:User) RETURN u.name /* */ ; /* */ CREATE (:User {name: 'x'})",
    "/* RETURN 1 */ CREATE (:User {name: 'x'})",
    "// RETURN 1\nCREATE (:User {name: 'x'})",
    "RETURN 1 // x\n; DROP TABLE User",
    "RETURN 1 /* open",
    "RETURN '; DROP TABLE User",
    "RETURN 'a\\' ; DROP TABLE User",
    "RETURN `a",
    "CR/**/EATE (:User {name: 'x'})",
    "MATCH (u:User) RETURN u.name LIMIT 1 SET u.age = 1",
    "",
    " ",
    ";",
    "-- x",
]
EXPLODING = [
    "MATCH (a:User)-[*]->(b:User) RETURN a.name",
    "MATCH (a:User)-[*1..30]->(b:User) RETURN a.name",
    "MATCH (a:User)-[:Follows*..30]->(b) RETURN a.name",
    "MATCH (a:User)-[:Follows*2..]->(b) RETURN a.name",
    "MATCH (a:User)-[:Follows*30]->(b) RETURN a.name",
    "MATCH (a:User)-[:Follows*..]->(b) RETURN a.name",
    "MATCH (a)-[* SHORTEST]->(b) RETURN a.name",
    "MATCH (a)-[* SHORTEST 1..1000]->(b) RETURN a.name",
    "MATCH (a)-[* ALL SHORTEST 1..99]->(b) RETURN a.name",
    "MATCH (a)-[* TRAIL 1..31]->(b) RETURN a.name",
    "MATCH (a)-[* ACYCLIC]->(b) RETURN a.name",
    "MATCH (a)-[*1..8]->(b)-[*1..8]->(c)-[*1..8]->(d) RETURN a.name",
    "MATCH (a)-[*1..8]->(b) MATCH (c)-[*1..8]->(d) MATCH (e)-[*1..8]->(f) RETURN a.name",
    "MATCH (a) WHERE EXISTS { MATCH (a)-[*1..99]->(b) } RETURN a.name",
    "MATCH (a) RETURN COUNT { MATCH (a)-[*]->(b) }",
    "MATCH " + ", ".join(f"(a{n})" for n in range(13)) + " RETURN count(*)",
    " ".join(f"MATCH (a{n})" for n in range(31)) + " RETURN count(*)",
    "MATCH (a0)" + "".join(f"-[]->(a{n})" for n in range(1, 19)) + " RETURN count(*)",
    "UNWIND range(1, 1000000000) AS x RETURN x",
    "RETURN repeat('x', 1000000000)",
    "RETURN lpad('x', 1000000000, 'y')",
    "RETURN rpad('x', 1000000000, 'y')",
    "RETURN factorial(20)",
    "RETURN " + "(" * 200 + "1" + ")" * 200,
    "RETURN " + "NOT " * 200 + "true",
    "RETURN " + "-" * 200 + "1",
    "RETURN " + "[" * 200 + "]" * 200,
    "RETURN " + "1 + " * 6000 + "1",
    "RETURN '" + "x" * 30_000 + "'",
    "RETURN 1" + " " * 30_000,
    "RETURN 99999999999999999999999",
    "RETURN 1e999",
    "MATCH (u:User) RETURN u.name LIMIT 99999999999999",
    "MATCH (u:User) RETURN u.name LIMIT -1",
]
ODD = [
    "RETURN $name",
    "MATCH (u:User {name: $name}) RETURN u.name",
    "MATCH (u:User) RETURN u.name LIMIT $n",
    "ＣＲＥＡＴＥ (:User {name: 'x'})",
    "MATCH (u:User) RETURN u\u200b.name",
    "MATCH (u:User) RETURN u.name\u2028DROP TABLE User",
    "MATCH (ü:User) RETURN ü.name",
    "RETURN '\\u0000'",
    "RETURN 'a\x00b'",
    "RETURN '\\ud800'",
    "RETURN '\\U00110000'",
    "RETURN '\\x41'",
    "MATCH (`u\x00`:User) RETURN 1",
    "MATCH (u:``) RETURN u",
    "RETURN 1 | 2",
    "RETURN 1 ! 2",
    "RETURN @x",
    "RETURN #1",
    "RETURN 1 ~ 2",
    "MATCH (u:User) RETURN u{.*}",
    "MATCH (u:User) RETURN [x IN [1] | x]",
    "RETURN x -> x",
    "RETURN reduce(a = 0, x IN [1] | a + x)",
    "RETURN list_reduce([1], (a, b) -> a + b)",
    "RETURN error('x')",
    "RETURN random()",
    "RETURN gen_random_uuid()",
    "RETURN uuid('x')",
    "RETURN hash('x')",
    "RETURN read_csv('x')",
    "RETURN current_setting('x')",
    "RETURN current_user()",
    "RETURN getenv('HOME')",
    "RETURN `read_parquet`('x')",
    "RETURN CAST(1 AS NODE)",
    "RETURN CAST('x' AS BLOB)",
    "RETURN encode('x')",
    "MATCH (u:User) RETURN id(u)",
    "MATCH (u:User) RETURN offset(id(u))",
    "MATCH (u:User) RETURN u._ID",
    "MATCH (u:User) RETURN u._LABEL",
    "MATCH (u:User) RETURN u.*",
    "MATCH ()-[f:Follows]->() RETURN f._SRC",
    "MATCH (u:User)-[e:Follows*1..2 (r, n | WHERE r.since > 1)]->(v) RETURN u.name",
    "MATCH (u:User) WHERE (u)-[:Follows]->() RETURN u.name",
    "MATCH (u:User) USING INDEX x RETURN u.name",
    "MATCH (u:User) HINT (u) RETURN u.name",
]
UNTRUE = [
    "MATCH (u:Usr) RETURN u.name",
    "MATCH (u:Follows) RETURN u",
    "MATCH (u:User)-[:User]->(v) RETURN u.name",
    "MATCH (u:User)-[:Knows]->(v) RETURN u.name",
    "MATCH (u:User) RETURN u.nam",
    "MATCH (u:User) WHERE u.nam = 1 RETURN u.name",
    "MATCH (u:User {nam: 'x'}) RETURN u.name",
    "MATCH (c:City)-[:LivesIn]->(u:User) RETURN c.name",
    "MATCH (u:User)<-[:LivesIn]-(c:City) RETURN c.name",
    "MATCH (c:City)-[:Follows]-(d) RETURN c.name",
    "MATCH (c:City)-[:LivesIn*1..2]->(u) RETURN c.name",
    "MATCH (u:User) RETURN v.name",
    "MATCH (u:User) WITH u.name AS n RETURN u.name",
    "MATCH (u:User) RETURN collect(u)",
    "MATCH (u:User) RETURN [u]",
    "MATCH (u:User) RETURN {a: u}",
    "MATCH (u:User) RETURN string(u)",
    "MATCH (u:User) RETURN typeof(u)",
    "MATCH (u:User) RETURN coalesce(u, NULL)",
    "MATCH (u:User) RETURN CASE WHEN true THEN u END",
    "MATCH (u:User) WITH {a: 1} AS x RETURN x.a",
    "MATCH p = (u:User)-[:Follows]->(v) RETURN p.name",
    "MATCH p = (u:User)-[:Follows]->(v) RETURN nodes(p).name",
    "MATCH p = (u:User)-[:Follows]->(v) RETURN list_transform(nodes(p), n -> n)",
    "MATCH p = (u:User)-[:Follows]->(v) RETURN list_transform(nodes(p), n -> {x: n})",
    "MATCH p = (u:User)-[:Follows]->(v) RETURN properties(nodes(p), 'nam')",
    "MATCH p = (u:User)-[:Follows]->(v) RETURN properties(p, 'name')",
    "MATCH (u:User) RETURN properties(u)",
    "MATCH ()-[f:LivesIn]->() RETURN f.user_name",
    "MATCH (u:User) WHERE count(*) > 1 RETURN u.name",
    "MATCH (u:User) RETURN u.name UNION MATCH (c:City) RETURN c.name",
]


@pytest.mark.parametrize("text", [*WRITING, *REACHING_OUT, *SEVERAL, *EXPLODING, *ODD, *UNTRUE], ids=lambda t: t[:60])
def test_it_does_not_pass(text: str) -> None:
    with pytest.raises((RefusedError, UserError)) as caught:
        checked(text, CATALOG)
    assert caught.value.stable_code in {
        "cypher_invalid",
        "cypher_refused",
        "cypher_name_unknown",
        "cypher_path_too_long",
    }
    assert len(caught.value.message) < 400


def test_there_are_enough_attempts() -> None:
    assert len({*WRITING, *REACHING_OUT, *SEVERAL, *EXPLODING, *ODD}) >= 150


@pytest.mark.parametrize("text", [*WRITING, *REACHING_OUT], ids=lambda t: t[:60])
@pytest.mark.parametrize("form", ["{}", "  {} ;", "/* x */ {}", "MATCH (u:User) {} RETURN u.name", "RETURN 1 UNION {}"])
def test_nor_in_another_form(text: str, form: str) -> None:
    for written in (text, text.lower(), text.replace(" ", "\n")):
        with pytest.raises((RefusedError, UserError)):
            checked(form.format(written), CATALOG)


HIDDEN = CATALOG.model_copy(
    update={
        "tables": tuple(
            table.model_copy(update={"columns": table.columns[:1]}) if table.name == "User" else table
            for table in CATALOG.tables
            if table.name != "Follows"
        ),
        "hidden": (HiddenName(table="User", column="age", rule="ages"), HiddenName(table="Follows", rule="friends")),
    }
)


@pytest.mark.parametrize(
    "text",
    [
        "MATCH (u:User) RETURN u.age",
        "MATCH (u:User) RETURN u.AGE",
        "MATCH (u:User) RETURN u.`age`",
        "MATCH (n) RETURN n.age",
        "MATCH (u:User {age: 30}) RETURN u.name",
        "MATCH (u:User) RETURN u.name ORDER BY u.age",
        "MATCH (u:User) WHERE u.age > 3 RETURN count(*)",
        "MATCH (u:User) RETURN sum(u.age)",
        "MATCH (u:User) WITH u AS x RETURN x.age",
        "MATCH (u:User)-[:Follows]->(v) RETURN u.name",
        "MATCH p = (u:User)-[:LivesIn]->(c) RETURN list_transform(nodes(p), n -> n.age)",
        "MATCH p = (u:User)-[:LivesIn]->(c) RETURN properties(nodes(p), 'age')",
        "MATCH p = (u:User)-[:LivesIn]->(c) WHERE any(n IN nodes(p) WHERE n.age > 1) RETURN c.name",
        "MATCH (c:City) WHERE EXISTS { MATCH (u:User)-[:LivesIn]->(c) WHERE u.age > 1 } RETURN c.name",
    ],
)
def test_what_rules_hide_is_refused_by_its_rule(text: str) -> None:
    with pytest.raises(RefusedError) as caught:
        checked(text, HIDDEN)
    assert caught.value.stable_code == "access_denied"


@pytest.mark.parametrize("text", ["MATCH (u:User) RETURN u", "MATCH (n) RETURN n", "MATCH (a)-[e]->(b) RETURN *"])
def test_whole_nodes_show_only_what_may_be_seen(text: str) -> None:
    query = checked(text, HIDDEN)
    assert "age" not in query.text
    assert "Follows" not in query.text


def test_a_path_goes_only_along_what_may_be_seen() -> None:
    assert "[:LivesIn*1..3]" in checked("MATCH p = (a)-[*1..3]->(b) RETURN p", HIDDEN).text
