"""Plans become Cypher: a join along a relationship is one hop in its own direction, and the text is always the same."""

import pytest
from social import CATALOG

from answerable.core.errors import UserError
from answerable.query.cypher.to_cypher import compiled_cypher
from answerable.query.plan import (
    Aggregate,
    Arithmetic,
    ColumnRef,
    Compare,
    Constant,
    InQuery,
    Join,
    OrderItem,
    QueryPlan,
    ScalarQuery,
    SelectItem,
    SetOperation,
    TextMatch,
)

NAME, AGE = ColumnRef(table="User", column="name"), ColumnRef(table="User", column="age")
CITY = ColumnRef(table="City", column="name")
COUNT = Aggregate(function="count")
LIVES = (
    Join(table="LivesIn", relationship="LivesIn.user_name"),
    Join(table="City", relationship="LivesIn.city_name"),
)
SELECT_NAME = (SelectItem(expr=NAME),)
AVERAGE = QueryPlan(entity="User", select=(SelectItem(expr=Aggregate(function="avg", of=AGE)),))
OLDER = "WHERE u.age > 35 RETURN u.name AS name"
OLD = Compare(left=AGE, op=">", right=Constant(value=35))


@pytest.mark.parametrize(
    ("plan", "expected"),
    [
        (
            QueryPlan(entity="User", select=SELECT_NAME, where=OLD),
            f"MATCH (u:User) {OLDER}",
        ),
        (
            QueryPlan(
                entity="User",
                joins=LIVES,
                select=(SelectItem(expr=CITY), SelectItem(expr=COUNT)),
                group_by=(CITY,),
                order_by=(OrderItem(expr=COUNT, descending=True),),
                limit=1,
            ),
            "MATCH (u:User)-[l1:LivesIn]->(c2:City) WITH c2.name AS key0, count(*) AS figure0"
            " RETURN key0 AS name, figure0 AS `count` ORDER BY figure0 IS NULL, figure0 DESC LIMIT 1",
        ),
        (
            QueryPlan(entity="LivesIn", select=(SelectItem(expr=ColumnRef(table="LivesIn", column="city_name")),)),
            "MATCH (l_from:User)-[l:LivesIn]->(l_to:City) RETURN l_to.name AS city_name",
        ),
        (
            QueryPlan(
                entity="User",
                joins=(Join(table="LivesIn", relationship="LivesIn.user_name", outer=True),),
                select=SELECT_NAME,
                where=OLD,
            ),
            f"MATCH (u:User) OPTIONAL MATCH (u)-[l1:LivesIn]->(l1_to:City) WITH * {OLDER}",
        ),
        (
            QueryPlan(
                entity="User",
                select=SELECT_NAME,
                where=Compare(left=AGE, op=">", right=ScalarQuery(plan=AVERAGE)),
            ),
            "MATCH (part0_u:User) WITH avg(part0_u.age) AS figure0 WITH figure0 AS value"
            " WITH collect(value) AS part0 MATCH (u:User) WHERE u.age > (part0[1]) RETURN u.name AS name",
        ),
        (
            QueryPlan(
                entity="User",
                select=(SelectItem(expr=Arithmetic(op="/", left=AGE, right=Constant(value=2)), label="half"),),
                where=TextMatch(left=NAME, how="contains", pattern="A'm"),
                distinct=True,
            ),
            "MATCH (u:User) WHERE lower(u.name) CONTAINS 'a\\'m'"
            " RETURN DISTINCT CAST(u.age AS DOUBLE) / (CASE WHEN 2 = 0 THEN NULL ELSE 2 END) AS half",
        ),
    ],
)
def test_a_plan_becomes_the_same_cypher_each_time(plan: QueryPlan, expected: str) -> None:
    assert " ".join(compiled_cypher(plan, CATALOG).text.split()) == expected
    assert compiled_cypher(plan, CATALOG) == compiled_cypher(plan, CATALOG)


def test_rows_are_looked_up_in_an_inner_plan() -> None:
    inner = QueryPlan(entity="LivesIn", select=(SelectItem(expr=ColumnRef(table="LivesIn", column="user_name")),))
    plan = QueryPlan(entity="User", select=SELECT_NAME, where=InQuery(left=NAME, plan=inner, negated=True))
    assert "WHERE NOT (u.name IN part0)" in compiled_cypher(plan, CATALOG).text


@pytest.mark.parametrize(
    "plan",
    [
        QueryPlan(entity="User", select=(SelectItem(expr=Aggregate(function="stddev", of=AGE)),)),
        QueryPlan(
            entity="User",
            select=SELECT_NAME,
            set_operation=SetOperation(op="except", right=QueryPlan(entity="User", select=SELECT_NAME)),
        ),
        QueryPlan(entity="Users", select=()),
    ],
)
def test_what_a_graph_cannot_do_is_said(plan: QueryPlan) -> None:
    with pytest.raises(UserError) as caught:
        compiled_cypher(plan, CATALOG)
    assert caught.value.stable_code == "plan_invalid"
