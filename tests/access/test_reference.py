"""Random tables, rules and queries: a rewritten statement over all data gives what the plain statement gives over a
database that holds only what the person may see. What they may see, a second evaluator works out in plain Python."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import duckdb
from hypothesis import given, settings
from hypothesis import strategies as st

from answerable.access.catalogs import visible
from answerable.access.policy import AccessPolicy, Rule
from answerable.access.shape import HASH_LENGTH, Shaping
from answerable.access.view import view_of
from answerable.core.catalog import Catalog, Column, Table
from answerable.core.context import person
from answerable.core.errors import RefusedError, UserError
from answerable.query.sql.check import checked

SECRET = "of this installation"
Value = int | str | None
Row = Mapping[str, Value]
COLUMNS = {"region": "text", "n": "integer", "m": "integer", "word": "text"}
REGIONS, WORDS = ("West", "East", "North"), ("ink", "pen", "cap", "")


@dataclass(frozen=True)
class Case:
    tables: Mapping[str, Sequence[Row]]
    rules: Sequence[Mapping[str, Any]]
    attributes: Mapping[str, Sequence[str]]
    statement: str


values = {
    "region": st.sampled_from([*REGIONS, None]),
    "n": st.none() | st.integers(-25, 25),
    "m": st.integers(0, 3),
    "word": st.sampled_from([*WORDS, None]),
}
rows = st.lists(st.fixed_dictionaries(values), min_size=2, max_size=8)
masks = st.sampled_from(["null", "hash", "partial", "bucket"])


@st.composite
def one_rule(draw: st.DrawFn) -> dict[str, Any]:
    table = draw(st.sampled_from(["a", "a", "b"]))
    kind = draw(st.sampled_from(["mask", "rows", "rows n", "mask", "rows", "rows n", "deny column", "allow", "deny"]))
    rule: dict[str, Any] = {"for": "everyone", "source": "s", "tables": table}
    if kind == "deny":
        return rule | {"deny": True}
    if kind == "deny column":
        return rule | {"deny": True, "columns": draw(st.sampled_from(sorted(COLUMNS)))}
    if kind == "rows":
        return rule | {"rows": "region = user.region"}
    if kind == "rows n":
        return rule | {"rows": f"n > {draw(st.integers(-10, 10))} OR m = 0"}
    if kind == "allow":
        return rule | {"allow": True}
    mask = draw(masks)
    column = draw(st.sampled_from(["n", "m"] if mask == "bucket" else sorted(COLUMNS)))
    return rule | {"columns": column, "mask": {"bucket": draw(st.sampled_from([2, 10]))} if mask == "bucket" else mask}


def condition(column: str) -> str:
    return {
        "region": "region <> 'East'",
        "n": "n / 2 > 1",
        "m": "m IN (0, 1)",
        "word": "length(word) > 2",
    }[column]


@st.composite
def a_statement(draw: st.DrawFn) -> str:
    table, column = draw(st.sampled_from(["a", "a", "b"])), draw(st.sampled_from(sorted(COLUMNS)))
    other = "b" if table == "a" else "a"
    where = f" WHERE {condition(draw(st.sampled_from(sorted(COLUMNS))))}" if draw(st.booleans()) else ""
    return draw(
        st.sampled_from(
            [
                f"SELECT * FROM {table}{where}",
                f"SELECT {column}, count(*) AS c FROM {table}{where} GROUP BY {column}",
                f"SELECT count(*) AS c, count({column}) AS d, max({column}) AS e FROM {table}{where}",
                f"SELECT DISTINCT x.{column} FROM {table} AS x JOIN {other} AS y ON x.m = y.m",
                f"WITH t AS (SELECT {column} AS v FROM {table}{where}) SELECT v, count(*) AS c FROM t GROUP BY v",
                f"SELECT {column} FROM {table} UNION ALL SELECT {column} FROM {other}",
                f"SELECT {column} FROM {table} EXCEPT SELECT {column} FROM {other}",
                f"SELECT count(*) AS c FROM {table} WHERE {column} IN (SELECT {column} FROM {other})",
                f"SELECT count(*) AS c FROM {table} AS x WHERE EXISTS (SELECT 1 FROM {other} AS y WHERE y.n = x.n)",
                f"SELECT {column}, row_number() OVER (ORDER BY n, m, word, region) AS r FROM {table}",
                f"SELECT (SELECT min({column}) FROM {table}) AS lowest, count(*) AS c FROM {other}",
            ]
        )
    )


cases = st.builds(
    Case,
    tables=st.fixed_dictionaries({"a": rows, "b": rows}),
    rules=st.lists(one_rule(), min_size=1, max_size=5),
    attributes=st.sampled_from([{}, {"region": ["West"]}, {"region": ["East", "North"]}]),
    statement=a_statement(),
)


def _own(case: Case) -> Sequence[str]:
    return case.attributes.get("region", ())


CONDITIONS: Mapping[str, Callable[[Row, Case], bool]] = {
    "n > 3 OR m = 0": lambda row, _: _above(row["n"], 3) or row["m"] == 0,
    "m = 1 OR region = user.region": lambda row, case: (
        bool(_own(case)) and (row["m"] == 1 or row["region"] in _own(case))
    ),
    "NOT (word = 'ink' OR m > 2)": lambda row, _: (
        row["word"] is not None and row["word"] != "ink" and row["m"] in (0, 1, 2)
    ),
    "n IS NULL OR n < 0": lambda row, _: not isinstance(row["n"], int) or row["n"] < 0,
    "m IN (SELECT m FROM b WHERE region = user.region)": lambda row, case: (
        row["m"] in {other["m"] for other in case.tables["b"] if other["region"] in _own(case)}
    ),
    "coalesce(word, '') <> 'pen' AND m >= 0": lambda row, _: row["word"] != "pen",
}
"""Conditions of rules, and what they mean. A sub-query reads all rows of its table, whatever the rules show of it."""


def _above(value: Value, least: int) -> bool:
    return isinstance(value, int) and value > least


@st.composite
def meeting_rules(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Two to four rules about the rows of one table, one about the other, and masks of columns that they compare."""
    kinds = st.sampled_from(["null", "hash", "partial"])
    texts = draw(st.lists(st.sampled_from(sorted(CONDITIONS)), min_size=2, max_size=4, unique=True))
    of: dict[str, Any] = {"for": "everyone", "source": "s"}
    rules = [of | {"tables": "a", "rows": text} for text in texts]
    rules.append(of | {"tables": "b", "rows": draw(st.sampled_from(["n > 3 OR m = 0", "n IS NULL OR n < 0"]))})
    for column in draw(st.lists(st.sampled_from(["n", "m", "region", "word"]), max_size=2, unique=True)):
        rules.append(of | {"tables": "a", "columns": column, "mask": draw(kinds)})
    return draw(st.permutations(rules))


def seen(table: str, case: Case) -> tuple[list[str], list[Row]] | None:
    """The reference: the columns and rows of a table that the rules show. None if the whole table is hidden."""
    about = [rule for rule in case.rules if rule["tables"] == table]
    if any(rule.get("deny") and "columns" not in rule for rule in about):
        return None
    denied = {rule["columns"] for rule in about if rule.get("deny")}
    columns = [name for name in COLUMNS if name not in denied]
    if not columns:
        return None
    shown = [
        row for row in case.tables[table] if all(_holds(rule["rows"], row, case) for rule in about if "rows" in rule)
    ]
    return columns, [{name: _masked(row[name], name, about) for name in columns} for row in shown]


def _holds(text: str, row: Row, case: Case) -> bool:
    if text in CONDITIONS:
        return CONDITIONS[text](row, case)
    if text == "region = user.region":
        return row["region"] is not None and row["region"] in case.attributes.get("region", ())
    least = int(text.split()[2])
    n = row["n"]
    return (isinstance(n, int) and n > least) or row["m"] == 0


def _masked(value: Value, column: str, rules: Sequence[Mapping[str, Any]]) -> Value:
    order = ("partial", "bucket", "hash", "null")
    masking = [rule["mask"] for rule in rules if rule.get("columns") == column and "mask" in rule]
    if not masking:
        return value
    strongest = max(order.index("bucket" if isinstance(mask, dict) else mask) for mask in masking)
    mask = next(each for each in masking if order.index("bucket" if isinstance(each, dict) else each) == strongest)
    if mask == "null" or value is None:
        return None
    if mask == "hash":
        return _hashed(str(value))
    return str(value)[:1] + "***" if mask == "partial" else int(value) // mask["bucket"] * mask["bucket"]


def _hashed(text: str) -> str:
    return hashlib.sha256(f"{SECRET}{text}".encode()).hexdigest()[:HASH_LENGTH]


def database_of(tables: Mapping[str, tuple[Sequence[str], Sequence[Row]]], case: Case | None) -> Any:
    """A database with these tables. `case`: whose masks change the types of columns."""
    database = duckdb.connect(":memory:", config={"threads": 1})
    for name, (columns, content) in tables.items():
        about = [rule for rule in case.rules if rule["tables"] == name] if case else []
        typed = ", ".join(f"{column} {type_of(column, about)}" for column in columns)
        database.execute(f"CREATE TABLE {name} ({typed})")
        for row in content:
            marks = ", ".join("?" for _ in columns)
            database.execute(f"INSERT INTO {name} VALUES ({marks})", [row[column] for column in columns])
    return database


def type_of(column: str, rules: Sequence[Mapping[str, Any]]) -> str:
    masks_of = [rule["mask"] for rule in rules if rule.get("columns") == column and "mask" in rule]
    if COLUMNS[column] == "text":
        return "TEXT"
    shown = _masked(7, column, rules) if masks_of else 7
    return "TEXT" if isinstance(shown, str) else "BIGINT"


def result(database: Any, statement: str) -> list[tuple[Any, ...]] | str:
    try:
        return sorted(database.execute(statement).fetchall(), key=repr)
    except duckdb.Error as error:
        return type(error).__name__


@settings(max_examples=60, deadline=None)
@given(cases)
def test_a_rewritten_statement_sees_what_the_reference_shows(case: Case) -> None:
    _compare(case)


@settings(max_examples=25, deadline=None)
@given(
    st.builds(
        Case,
        tables=st.fixed_dictionaries({"a": rows, "b": rows}),
        rules=meeting_rules(),
        attributes=st.sampled_from([{}, {"region": ["West"]}, {"region": ["East", "North"]}]),
        statement=a_statement(),
    )
)
def test_where_several_row_rules_meet_all_of_them_hold(case: Case) -> None:
    _compare(case)


def _compare(case: Case) -> None:
    rules = [{"name": "all", "for": "everyone", "source": "s", "allow": True}]
    rules += [{"name": f"r{number}", **rule} for number, rule in enumerate(case.rules)]
    policy = AccessPolicy(
        users={"ana": {"attributes": dict(case.attributes)}}, rules=tuple(Rule.model_validate(rule) for rule in rules)
    )
    catalog = Catalog(
        source="s",
        dialect="duckdb",
        tables=tuple(
            Table(name=name, columns=tuple(Column(name=column, type=kind) for column, kind in COLUMNS.items()))
            for name in ("a", "b")
        ),
    )
    view = view_of(policy, person("ana")).of("s")
    shown = {name: found for name in ("a", "b") if (found := seen(name, case)) is not None}
    seen_catalog = visible(catalog, view)
    assert {table.name: [column.name for column in table.columns] for table in seen_catalog.tables} == {
        name: columns for name, (columns, _) in shown.items()
    }
    everything = {name: (list(COLUMNS), content) for name, content in case.tables.items()}
    with database_of(everything, None) as whole, database_of(shown, case) as part:
        try:
            plain = checked(case.statement, seen_catalog).text
        except (RefusedError, UserError):
            # It names what the person may not see: then the rewriting refuses it too, or the database cannot know it.
            try:
                rewritten = Shaping(view, catalog, SECRET).shaped(case.statement)
            except RefusedError:
                return
            assert isinstance(result(whole, rewritten), str)
            return
        assert result(whole, Shaping(view, catalog, SECRET).shaped(plain)) == result(part, plain)
