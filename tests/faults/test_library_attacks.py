"""What somebody else can give to a program that uses the library: folders, names, questions and definitions that are
made to harm. Each ends soon, with an answer or an error of ours, and nothing outside of the folder is read."""

import os
import socket
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import pytest

from answerable.core.errors import AnswerableError
from answerable.library import Answerable

SECRET = "zq-not-for-you"
LONGEST = 30.0
"""Seconds. Most take a fraction of one; none may hang."""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Answerable]:
    with Answerable(home=tmp_path_factory.mktemp("library")) as opened:
        yield opened


def secret(base: Path) -> Path:
    """Beside the folder that is asked, never in it."""
    file = base / "outside" / "secret.csv"
    file.parent.mkdir(exist_ok=True)
    file.write_text(f"id,{SECRET}\n1,{SECRET}\n")
    return file


def definitions(text: str) -> Callable[[Path, Path], None]:
    return lambda folder, _base: (folder / "semantic.yaml").write_text(text)  # type: ignore[return-value]


def link(name: str, target: Callable[[Path], Path]) -> Callable[[Path, Path], None]:
    return lambda folder, base: (folder / name).symlink_to(target(base))


def _socket(folder: Path, _base: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listening:
        here = os.getcwd()
        os.chdir(folder)  # the path of a socket has 107 characters at most
        try:
            listening.bind("s.csv")
        finally:
            os.chdir(here)


def _sqlite(statements: str) -> Callable[[Path, Path], None]:
    def make(folder: Path, base: Path) -> None:
        with closing(sqlite3.connect(folder / "shop.sqlite")) as connection:
            connection.executescript(statements.replace("SECRET", str(secret(base))))

    return make


def _duckdb(statements: str) -> Callable[[Path, Path], None]:
    def make(folder: Path, base: Path) -> None:
        with duckdb.connect(str(folder / "shop.duckdb")) as connection:
            connection.execute(statements.replace("SECRET", str(secret(base))))

    return make


def _nested(depth: int) -> str:
    return "tables:\n" + "".join(f"{'  ' * level}a:\n" for level in range(1, depth))


LAUGHS = "a: &a [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{b}: &{b} [{', '.join([f'*{a}'] * 10)}]\n" for a, b in zip("abcdefgh", "bcdefghi", strict=True)
)
MEASURE = 'measures:\n  - {name: leak, table: people, expression: "%s"}\n'

FOLDERS: dict[str, Callable[[Path, Path], Any]] = {
    "a link to a file outside": link("linked.csv", secret),
    "a link to a folder outside": link("linked", lambda base: secret(base).parent),
    "a link to the environment": link("environment.csv", lambda _: Path("/proc/self/environ")),
    "a link to memory": link("memory.csv", lambda _: Path("/proc/self/mem")),
    "a link to endless zeros": link("zeros.csv", lambda _: Path("/dev/zero")),
    "a link to itself": link("loop.csv", lambda base: base / "folder" / "loop.csv"),
    "a folder in itself": link("again", lambda base: base / "folder"),
    "a pipe that nobody writes": lambda folder, _: os.mkfifo(folder / "pipe.csv"),
    "a socket": _socket,
    "a name with a line break and quotes": lambda folder, _: (folder / "a\n\"'; DROP TABLE b--.csv").write_text(
        "x\n1\n"
    ),
    "a name of control characters": lambda folder, _: (folder / "\x1b[2J\x07.csv").write_text("x\n1\n"),
    "a name that is no text": lambda folder, _: open(os.fsencode(folder) + b"/\xff\xfe.csv", "wb").close(),
    "a name as long as can be": lambda folder, _: (folder / f"{'x' * 251}.csv").write_text("x\n1\n"),
    "names that differ only in case": lambda folder, _: [(folder / n).write_text("x\n1\n") for n in ("A.csv", "a.csv")],
    "a header of ten thousand columns": lambda folder, _: (folder / "wide.csv").write_text(
        ",".join(f"c{n}" for n in range(10_000)) + "\n" + "1," * 9_999 + "1\n"
    ),
    "columns named as commands": lambda folder, _: (folder / "odd.csv").write_text(
        '"x""; DROP TABLE people; --","SELECT","\x1b[31m","__proto__"\n1,2,3,4\n'
    ),
    "JSON as deep as can be": lambda folder, _: (folder / "deep.json").write_text("[" * 50_000 + "]" * 50_000),
    "JSON numbers without end": lambda folder, _: (folder / "n.json").write_text('[{"x": 1%s}]' % ("0" * 50_000)),
    "definitions that laugh": definitions(LAUGHS),
    "definitions that make objects": definitions("!!python/object/apply:os.system ['touch /tmp/zq-owned']\n"),
    "definitions as deep as can be": definitions(_nested(3_000)),
    "definitions of many megabytes": definitions("tables:\n" + "  # nothing\n" * 1_000_000),
    "definitions that refer to themselves": definitions("tables: &a\n  people: *a\n"),
    "definitions that are no text": lambda folder, _: (folder / "semantic.yaml").write_bytes(b"\xff\xfe\x00tables"),
    "definitions from outside": link("semantic.yaml", lambda base: secret(base)),
    "definitions in a pipe": lambda folder, _: os.mkfifo(folder / "semantic.yaml"),
    "definitions in a device": link("semantic.yaml", lambda _: Path("/dev/zero")),
    "a measure that reads a file": definitions(MEASURE % "(SELECT any_value(content) FROM read_text('/etc/passwd'))"),
    "a measure that is two statements": definitions(MEASURE % "1); DROP TABLE people; SELECT (1"),
    "a measure that reads settings": definitions(MEASURE % "getenv('HOME')"),
    "a SQLite view that loads code": _sqlite("CREATE TABLE t (x); CREATE VIEW v AS SELECT load_extension('x') AS y;"),
    "a SQLite view that reads files": _sqlite("CREATE TABLE t (x); CREATE VIEW v AS SELECT readfile('SECRET') AS y;"),
    "a DuckDB view that reads a file": _duckdb(
        "CREATE TABLE t AS SELECT 1 AS x; CREATE VIEW v AS SELECT * FROM read_csv('SECRET')"
    ),
    "a DuckDB view that lists files": _duckdb(
        "CREATE TABLE t AS SELECT 1 AS x; CREATE VIEW v AS SELECT * FROM glob('/etc/*')"
    ),
}


def everything_said(library: Answerable, source: str) -> str:
    """What the library tells about a source, whichever way it ends."""
    catalog = told(lambda: library.sources.describe(source).model_dump_json())
    return catalog + told(lambda: library.names.read(source).model_dump_json())


def told(ask: Callable[[], str]) -> str:
    """The reply, or an error of ours."""
    try:
        return ask()
    except AnswerableError as error:
        failure = error
    assert failure.stable_code != "internal", failure
    return f"{failure} {failure.hint}"


@pytest.mark.parametrize("attack", FOLDERS)
def test_a_hostile_folder_is_read_or_refused(library: Answerable, tmp_path: Path, attack: str) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "people.csv").write_text("id,name\n1,Ana\n2,Bo\n")
    FOLDERS[attack](folder, tmp_path)
    database = next((path for path in folder.glob("shop.*")), folder)
    began = time.monotonic()
    said = everything_said(library, str(database))
    assert time.monotonic() - began < LONGEST
    assert SECRET not in said
    assert "root:" not in said
    assert not Path("/tmp/zq-owned").exists()
    assert library.sources.describe("demo").tables, "the library still answers"


NAMES = ("", " ", "\0", "a\0b", "../../etc/passwd", "/etc/passwd", "/proc/self/environ", "/dev/zero",
         "/dev/stdin", "file:///etc/passwd", "http://127.0.0.1:1/x.csv", "s3://bucket/x", "sqlite:///etc/passwd",
         "x" * 10_000, "\ud800", "\x1b[2J", "~root/.ssh", "postgresql://127.0.0.1:1/x", "duckdb::memory:")  # fmt: skip


@pytest.mark.parametrize("name", NAMES, ids=[repr(name[:30]) for name in NAMES])
def test_a_hostile_name_of_a_source_is_an_error_of_ours(library: Answerable, name: str) -> None:
    began = time.monotonic()
    with pytest.raises(AnswerableError) as refused:
        library.sources.describe(name)
    assert refused.value.stable_code != "internal"
    assert "root:" not in f"{refused.value} {refused.value.hint}"
    assert time.monotonic() - began < LONGEST


QUESTIONS = ("", "\0", "\ud800", "a" * 200_000, "how many " * 5_000, "\u202e\u2066orders", "SQL: " + "(" * 20_000,
             "SQL: SELECT * FROM read_text('/etc/passwd')", "SQL: COPY orders TO '/tmp/zq-owned'",
             "SQL: ATTACH '/etc/passwd'", "PYTHON: open('/etc/passwd').read()")  # fmt: skip


@pytest.mark.parametrize("question", QUESTIONS, ids=[repr(question[:30]) for question in QUESTIONS])
def test_a_hostile_question_is_answered_or_refused(library: Answerable, question: str) -> None:
    began = time.monotonic()
    assert "root:" not in told(lambda: library.ask(question).text)
    assert time.monotonic() - began < LONGEST
    assert not Path("/tmp/zq-owned").exists()
