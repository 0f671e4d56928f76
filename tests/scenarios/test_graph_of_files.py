"""A folder of CSV or Parquet files with a schema in Cypher is a graph: built once, asked like any other."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import polars as pl
import pytest

from answerable import app
from answerable.agents.question_request import QuestionRequest
from answerable.core.context import LOCAL
from answerable.core.errors import AnswerableError, FileError
from answerable.query.cypher.check import checked
from answerable.settings import Settings
from answerable.sources.base import Limits, Source, browsable
from answerable.sources.open import open_source
from graphs import write_documented_graph

INVALID = "graph_schema_invalid"
SCHEMA = """CREATE NODE TABLE User(name STRING, age INT64, nicknames STRING[], PRIMARY KEY (name));
create node table if not exists City (name STRING PRIMARY KEY, population INT64)
CREATE REL TABLE Follows(FROM User TO User, since INT64, MANY_MANY);
CREATE REL TABLE LivesIn(FROM User TO City);
"""
COPIES = """COPY User FROM "somewhere/else/people.csv" (HEADER=true);
COPY City FROM 'city.csv' COPY Follows FROM "follows.csv"; COPY LivesIn FROM "lives-in.csv"
"""


def write(folder: Path, **changed: str) -> Path:
    """The folder with its files; a file is changed by its name, with `_` for `.` and `-`."""
    files = {
        "schema.cypher": SCHEMA,
        "copy.cypher": COPIES,
        "people.csv": 'age,NAME,nicknames\n30,Adam,"[Ad,A]"\n40,Karissa,[]\n50,Zhang,\n',
        "city.csv": "Waterloo,150000\nGuelph,75000\n",
        "follows.csv": "Adam,Karissa,2020\nAdam,Zhang,2021\n",
        "lives-in.csv": "Adam,Waterloo\nKarissa,Waterloo\nZhang,Guelph\n",
    }
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(changed.get(name.replace(".", "_").replace("-", "_"), text))
    return folder


@asynccontextmanager
async def opened(location: Path, cache: Path) -> AsyncIterator[Source]:
    source = await open_source(str(location), cache=cache)
    try:
        yield source
    finally:
        await source.close()


async def failure(location: Path, cache: Path) -> AnswerableError:
    with pytest.raises(FileError) as caught:
        async with opened(location, cache) as source:
            await source.describe()
    return caught.value


def built(cache: Path) -> list[Path]:
    return sorted(cache.rglob("graph.lbug"))


async def test_it_is_built_once_and_described(tmp_path: Path) -> None:
    folder, cache = write(tmp_path / "friends"), tmp_path / "cache"
    async with opened(folder, cache) as source:
        catalog = await source.describe()
        assert (source.name, source.kind) == ("friends", "graph")
        assert [(table.name, table.row_count) for table in catalog.tables] == [
            ("City", 2),
            ("User", 3),
            ("Follows", 2),
            ("LivesIn", 3),
        ]
        # The columns of people.csv stand in another order than those of the table.
        [first, *_] = await browsable(source).first_rows(catalog.table("User"), 0, 1)  # type: ignore[arg-type]
        assert first == ("Adam", 30, '["Ad", "A"]')
    [graph] = built(cache)
    written = graph.stat().st_mtime_ns
    async with opened(folder, cache) as again:
        assert (await again.describe()).fingerprint == catalog.fingerprint
    assert graph.stat().st_mtime_ns == written

    (folder / "city.csv").write_text("Waterloo,150000\nGuelph,75000\nKitchener,200000\n")
    async with opened(folder, cache) as changed:
        assert (await changed.describe()).table("City").row_count == 3  # type: ignore[union-attr]
    assert len(built(cache)) == 1


async def test_questions_and_cypher_are_answered(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path / "home", sources={"friends": str(write(tmp_path / "friends"))}, source="friends")
    async with app.open_service(settings, any_location=False) as service:
        for question, rows in (
            ("how many users live in Waterloo", ((2,),)),
            ("CYPHER: MATCH (u:User)-[:Follows]->(v) RETURN v.name AS name ORDER BY name", (("Karissa",), ("Zhang",))),
        ):
            answer = await service.questions.ask(QuestionRequest(question), LOCAL)
            assert (answer.status, answer.rows) == ("done", rows)


async def test_parquet_files_are_found_by_the_names_of_the_tables(tmp_path: Path) -> None:
    folder = tmp_path / "graph"
    folder.mkdir()
    (folder / "schema.cypher").write_text(
        "CREATE NODE TABLE City(name STRING, people INT64, PRIMARY KEY(name)); CREATE REL TABLE Road(FROM City TO City)"
    )
    pl.DataFrame({"people": [1, 2], "name": ["a", "b"]}).write_parquet(folder / "city.parquet")
    (folder / "road.csv").write_text("from,to\na,b\n")
    async with opened(folder / "schema.cypher", tmp_path / "cache") as source:
        catalog = await source.describe()
        query = checked("MATCH (a:City)-[:Road]->(b) RETURN a.name, b.people", catalog)
        result = await source.execute(query, tmp_path / "rows.arrow", Limits())
        assert result.plain_rows == (("a", 2),)
    (folder / "road.csv").unlink()
    error = await failure(folder, tmp_path / "cache")
    assert error.stable_code == "graph_file_missing"
    assert "schema.cypher, line 1: there is no file 'Road.csv'" in error.message


@pytest.mark.parametrize(
    ("changed", "code", "said"),
    [
        (
            {"schema_cypher": SCHEMA.replace("age INT64", "age INTEGR")},
            INVALID,
            "line 1: there is no type",
        ),
        ({"schema_cypher": SCHEMA.replace("TO City", "TO Town")}, INVALID, "line 4: 'Town' is not"),
        ({"schema_cypher": SCHEMA.replace(", PRIMARY KEY (name)", "")}, INVALID, "has no PRIMARY KEY"),
        (
            {"schema_cypher": SCHEMA + "LOAD FROM '/etc/passwd' RETURN *"},
            INVALID,
            "line 5: there is 'LOAD'",
        ),
        ({"schema_cypher": SCHEMA + "CREATE (:User {name: 'x'})"}, INVALID, "line 5: there is '('"),
        ({"schema_cypher": "INSTALL httpfs"}, INVALID, "line 1: there is 'INSTALL'"),
        ({"schema_cypher": SCHEMA * 2}, INVALID, "line 5: the table 'User' is already defined"),
        ({"schema_cypher": "", "copy_cypher": ""}, INVALID, "no table is defined"),
        ({"schema_cypher": SCHEMA + "//" + "x" * 1_000_000}, INVALID, "has more than 1,000,000 bytes"),
        ({"copy_cypher": 'COPY User TO "x.csv"'}, INVALID, "line 1: there is 'TO'"),
        ({"copy_cypher": "COPY User FROM (MATCH (n) RETURN n)"}, INVALID, "a file between quotes"),
        ({"copy_cypher": 'COPY Users FROM "people.csv"'}, INVALID, "'Users' is not a table"),
        ({"copy_cypher": 'COPY User FROM "peple.csv"'}, "graph_file_missing", "there is no file 'peple.csv'"),
        ({"copy_cypher": 'COPY User FROM "../../etc/passwd"'}, "graph_file_missing", "there is no file 'passwd'"),
        (
            {"city_csv": "Waterloo,1\nGuelph,2\nWaterloo,3\n"},
            "graph_key_duplicated",
            "city.csv, line 3: the key",
        ),
        ({"city_csv": "Waterloo,1\nGuelph,many\n"}, "file_malformed", "city.csv, line 2: "),
        ({"city_csv": "Waterloo,1\nGuelph\n"}, "file_malformed", "city.csv, line 2: "),
        ({"lives_in_csv": "Adam,Waterloo\nAdam,Atlantis\n"}, "graph_node_missing", "lives-in.csv, line 2: "),
    ],
)
async def test_what_is_wrong_is_named_with_its_file_and_line(
    changed: dict[str, str], code: str, said: str, tmp_path: Path
) -> None:
    error = await failure(write(tmp_path / "graph", **changed), tmp_path / "cache")
    assert (error.stable_code, said in error.message) == (code, True), error.message
    assert built(tmp_path / "cache") == []


async def test_a_link_out_of_the_folder_is_not_followed(tmp_path: Path) -> None:
    folder = write(tmp_path / "graph")
    (folder / "city.csv").rename(tmp_path / "elsewhere.csv")
    (folder / "city.csv").symlink_to(tmp_path / "elsewhere.csv")
    assert "leads out of" in (await failure(folder, tmp_path / "cache")).message


async def test_the_example_of_the_documentation_works(tmp_path: Path) -> None:
    settings = Settings(
        home=tmp_path / "home", sources={"company": str(write_documented_graph(tmp_path / "company"))}, source="company"
    )
    async with app.open_service(settings, any_location=False) as service:
        answer = await service.questions.ask(QuestionRequest("how many people work in Engines"), LOCAL)
        assert (answer.status, answer.rows) == ("done", ((2,),))


async def test_a_file_of_another_kind_than_its_name_is_called_by_its_name(tmp_path: Path) -> None:
    folder = write(tmp_path / "graph", copy_cypher=COPIES.replace("city.csv", "city.parquet"))
    (folder / "city.parquet").write_bytes(b"PAR1 and nothing else")
    error = await failure(folder, tmp_path / "cache")
    assert (error.stable_code, "staging" in error.message) == ("file_malformed", False)
    write(folder)
    (folder / "city.csv").write_bytes("Waterloo,1\nZürich,2\n".encode("latin-1"))
    assert (await failure(folder, tmp_path / "cache")).message == "city.csv: it is not text in UTF-8."


async def test_an_empty_file_and_a_long_schema_are_no_mistakes(tmp_path: Path) -> None:
    fields = ", ".join(f"a_field_with_a_name_{number} STRING" for number in range(2_000))
    folder = write(
        tmp_path / "graph",
        schema_cypher=f"{SCHEMA}CREATE NODE TABLE Wide (id INT64 PRIMARY KEY, all_of_it STRUCT({fields}))",
        follows_csv="",
    )
    async with opened(folder, tmp_path / "cache") as source:
        catalog = await source.describe()
        assert [len(catalog.table(name).columns) for name in ("Wide", "City")] == [2, 2]  # type: ignore[union-attr]
        assert catalog.table("Follows").row_count == 0  # type: ignore[union-attr]


async def test_what_a_copy_can_say(tmp_path: Path) -> None:
    folder = tmp_path / "odd [1]*'names"
    folder.mkdir()
    for name, text in {
        "schema.cypher": "CREATE NODE TABLE A(id INT64, t STRING, PRIMARY KEY(id)); CREATE NODE TABLE B(id INT64"
        " PRIMARY KEY) CREATE REL TABLE R(FROM A TO B, FROM A TO A, w INT64)",
        "copy.cypher": "COPY A(t, id) FROM 'a.tsv' (HEADER=false); COPY B FROM 'b;1.csv' COPY R FROM 'ab.csv'"
        " (FROM='A', TO='b', HEADER=true, DELIM='|') COPY R FROM ['aa.csv', 'more.csv'] (from='A', to='A')",
        "a.tsv": "x\t1\ny\t2\n",
        "b;1.csv": "7\n8\n",
        "ab.csv": "from|to|w\n1|7|3\n",
        "aa.csv": "1,2,5\n",
        "more.csv": "2,1,6\n",
    }.items():
        (folder / name).write_text(text)
    async with opened(folder, tmp_path / "o'cache") as source:
        text = "MATCH (a:A)-[r:R]->(b) RETURN a.t AS t, label(b) AS b, r.w AS w ORDER BY w"
        query = checked(text, await source.describe())
        result = await source.execute(query, tmp_path / "rows.arrow", Limits())
        assert result.plain_rows == (("x", "B", 3), ("x", "A", 5), ("y", "A", 6))
