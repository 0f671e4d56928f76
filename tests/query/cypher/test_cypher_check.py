"""Cypher that may run: typed, completed, and written anew; errors name what was probably meant."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from social import CATALOG

from answerable.core.errors import UserError
from answerable.query.cypher import tree
from answerable.query.cypher.check import checked
from answerable.query.cypher.parse import parsed
from answerable.query.cypher.write import written

GOOD = [
    ("MATCH (u:user) RETURN u.NAME", "MATCH (u:User)\nRETURN u.name AS `u.name`"),
    (
        "match (u)-[:LivesIn]->(c) return c.name as city, count(*) as n order by n desc limit 3 // top",
        "MATCH (u:User)-[:LivesIn]->(c:City)\nRETURN c.name AS city, count(*) AS n\nORDER BY n DESC\nLIMIT 3",
    ),
    ("MATCH (n) RETURN count(n) AS n;", "MATCH (n:City|User)\nRETURN count(n) AS n"),
    (
        "MATCH (u:User) RETURN u",
        "MATCH (u:User)\nRETURN u.name AS `u.name`, u.age AS `u.age`",
    ),
    (
        "MATCH (u:User) WHERE u.name != 'it\\'s' RETURN u.name AS `order`",
        "MATCH (u:User)\nWHERE u.name <> 'it\\'s'\nRETURN u.name AS `order`",
    ),
    (
        "MATCH (a)-[:Follows*2]->(b) RETURN DISTINCT b.name",
        "MATCH (a:User)-[:Follows*2..2]->(b:User)\nRETURN DISTINCT b.name AS `b.name`",
    ),
]


@pytest.mark.parametrize(("text", "expected"), GOOD)
def test_it_is_written_anew(text: str, expected: str) -> None:
    query = checked(text, CATALOG)
    assert query.text == expected
    assert checked(query.text, CATALOG).text == expected


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("MATCH (u:Usr) RETURN u.name", "Did you mean 'User'?"),
        ("MATCH (u:User) RETURN u.nmea", "Did you mean 'name'?"),
        ("MATCH (u:User)-[:LiveIn]->(c) RETURN c.name", "Did you mean 'LivesIn'?"),
        ("MATCH (u:User)<-[:LivesIn]-(c:City) RETURN c.name", "Turn the arrow around: -[:LivesIn]->."),
        ("MATCH (c:City)-[:LivesIn]->(u:User) RETURN c.name", "Turn the arrow around: <-[:LivesIn]-."),
        ("MATCH (u:LivesIn) RETURN u", "Write it as -[:LivesIn]->."),
    ],
)
def test_an_unknown_name_says_what_was_probably_meant(text: str, hint: str) -> None:
    with pytest.raises(UserError) as caught:
        checked(text, CATALOG)
    assert (caught.value.stable_code, caught.value.hint) == ("cypher_name_unknown", hint)


def test_what_is_read_is_known() -> None:
    query = checked("MATCH (u:User)-[:LivesIn]->(c) WHERE u.age > 3 RETURN c.name", CATALOG)
    assert query.tables == {"User", "LivesIn", "City"}
    assert query.columns == {"User": {"age"}, "City": {"name"}}


def test_cypher_is_not_for_other_sources() -> None:
    with pytest.raises(UserError) as caught:
        checked("MATCH (n) RETURN n", CATALOG.model_copy(update={"dialect": "other"}))
    assert caught.value.stable_code == "query_type_unavailable"


NAMES = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1, max_size=6)
VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**63) + 1, 2**63 - 1),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=8),
).map(tree.Given)


def _compound(inner: st.SearchStrategy[tree.Expression]) -> st.SearchStrategy[tree.Expression]:
    ops = ("OR", "AND", "XOR", "=", "<>", "<=", "+", "-", "*", "/", "%", "^", "IN", "CONTAINS", "STARTS WITH", "=~")
    no_number = inner.filter(lambda each: not isinstance(each, tree.Given))
    return st.one_of(
        st.builds(tree.Binary, st.sampled_from(ops), inner, inner),
        st.builds(tree.Unary, st.just("NOT"), inner),
        st.builds(tree.Unary, st.just("-"), no_number),
        st.builds(tree.NullTest, inner, st.booleans()),
        st.builds(tree.Property, inner, NAMES),
        st.builds(tree.ListElement, inner, inner),
        st.builds(tree.ListOf, st.tuples(inner)),
        st.builds(tree.Record, st.tuples(st.tuples(NAMES, inner))),
        st.builds(tree.Cast, inner, st.just("STRING")),
        st.builds(tree.CaseExpression, st.none() | inner, st.tuples(st.tuples(inner, inner)), st.none() | inner),
        st.builds(tree.FunctionCall, st.sampled_from(("lower", "coalesce")), st.tuples(inner, inner)),
        st.builds(tree.FunctionCall, st.just("count"), st.tuples(inner), st.booleans()),
        st.builds(tree.Quantified, st.sampled_from(("any", "none")), NAMES, inner, inner),
    )


EXPRESSIONS = st.recursive(st.one_of(VALUES, NAMES.map(tree.Variable)), _compound, max_leaves=8)
FIELDS = st.lists(st.tuples(NAMES, EXPRESSIONS), max_size=1).map(tuple)
NODES = st.builds(tree.NodePattern, st.none() | NAMES, st.lists(NAMES, max_size=2).map(tuple), FIELDS)
LENGTHS = st.none() | st.builds(
    tree.PathLength, st.integers(0, 2), st.integers(2, 4), st.sampled_from(("", "SHORTEST", "ALL SHORTEST", "TRAIL"))
)
EDGES = st.builds(
    tree.EdgePattern,
    st.none() | NAMES,
    st.lists(NAMES, max_size=2).map(tuple),
    st.sampled_from(("right", "left", "both")),
    FIELDS,
    LENGTHS,
)
PATTERNS = st.builds(tree.Pattern, st.tuples(NODES, NODES), st.tuples(EDGES), st.none() | NAMES)
ITEMS = st.lists(st.builds(tree.ReturnItem, EXPRESSIONS, st.none() | NAMES), min_size=1, max_size=2).map(tuple)
SORTED = st.lists(st.builds(tree.Sorting, EXPRESSIONS, st.booleans()), max_size=1).map(tuple)
COUNTS = st.none() | st.integers(0, 10**9)
RETURNED = st.builds(tree.Projection, ITEMS, st.booleans(), st.booleans(), st.none(), SORTED, COUNTS, COUNTS)
CARRIED = st.builds(
    tree.Projection, ITEMS, st.booleans(), st.booleans(), st.none() | EXPRESSIONS, SORTED, COUNTS, COUNTS
)
CLAUSES = st.one_of(
    st.builds(tree.MatchClause, st.tuples(PATTERNS), st.none() | EXPRESSIONS, st.booleans()),
    st.builds(tree.Unwind, EXPRESSIONS, NAMES),
    st.builds(tree.With, CARRIED),
)
PARTS = st.builds(tree.SingleQuery, st.lists(CLAUSES, max_size=2).map(tuple), RETURNED)
QUERIES = st.one_of(
    st.builds(tree.CypherQuery, st.tuples(PARTS)), st.builds(tree.CypherQuery, st.tuples(PARTS, PARTS), st.booleans())
)


@given(QUERIES)
@settings(max_examples=25, deadline=None)
def test_what_is_written_is_read_as_the_same_tree(query: tree.CypherQuery) -> None:
    assert parsed(written(query)) == query
