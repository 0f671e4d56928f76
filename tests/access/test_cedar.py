"""Cedar policies are the other form of rules. The reference is Cedar's own engine: what it lets somebody see is what
they see here, and no more."""

from collections.abc import Mapping
from typing import Any

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from answerable.access.policy import AccessPolicy, parse_policy
from answerable.access.shape import Shaping
from answerable.access.view import HiddenTable, view_of
from answerable.core.catalog import Catalog, Column, Table
from answerable.core.context import person
from answerable.core.errors import OperatorError, RefusedError

cedarpy = pytest.importorskip("cedarpy")

PEOPLE = """
users: {ana: {roles: [seller], attributes: {region: [West, South]}}, bo: {roles: [boss]}}
roles: {seller: {actions: [ask, sql]}, boss: {actions: [ask, sql, administer]}}
"""
STORES = Table(
    name="stores",
    columns=(
        Column(name="id", type="integer"),
        Column(name="region", type="text"),
        Column(name="size", type="integer"),
        Column(name="open", type="boolean"),
    ),
)
CATALOG = Catalog(source="shop", dialect="duckdb", tables=(STORES, STORES.model_copy(update={"name": "staff"})))
NAMES = ("id", "region", "size", "open")
PERMIT = '@id("all") permit(principal in Role::"seller", action == Action::"see", resource in Source::"shop");'


def policy_of(*policies: str) -> AccessPolicy:
    body = "\n".join(policies)
    return parse_policy(PEOPLE + "cedar: |\n" + "".join(f"  {line}\n" for line in body.splitlines()))


def test_each_policy_is_the_rule_that_yaml_would_say() -> None:
    written = policy_of(
        PERMIT,
        '@id("rows") @reason("By region.") forbid(principal in Role::"seller", action == Action::"see", '
        'resource in Table::"shop/stores") unless { principal.region.contains(resource.region) };',
        '@id("mail") @mask("partial") forbid(principal, action, resource == Column::"shop/staff/e%2Fmail");',
        '@id("pay") @mask("bucket 1000") forbid(principal, action, resource == Column::"shop/staff/pay");',
        '@id("graph") permit(principal == User::"ana", action == Action::"run", resource == Graph::"weekly");',
        '@id("graphs") forbid(principal == User::"bo", action, resource is Graph);',
        '@id("tool") forbid(principal in Role::"seller", action == Action::"use", resource == Tool::"probe");',
        '@id("small") forbid(principal is User in Role::"seller", action, resource is Row in Table::"shop/stores") '
        'when { resource.size < 3 || !resource.open || resource["order"] == "it\'s" };',
    )
    same = parse_policy(
        PEOPLE
        + """
rules:
  - {name: all, for: seller, source: shop, allow: true}
  - {name: rows, for: seller, source: shop, tables: stores, rows: region = user.region, reason: By region.}
  - {name: mail, for: everyone, source: shop, tables: staff, columns: e/mail, mask: partial}
  - {name: pay, for: everyone, source: shop, tables: staff, columns: pay, mask: {bucket: 1000}}
  - {name: graph, users: ana, graphs: weekly, allow: true}
  - {name: graphs, users: bo, graphs: "*", deny: true}
  - {name: tool, for: seller, tools: probe, deny: true}
  - name: small
    for: seller
    source: shop
    tables: stores
    rows: NOT (((size < 3 OR NOT (open)) OR "order" = 'it''s'))
"""
    )
    assert written.rules == same.rules


@pytest.mark.parametrize(
    ("policy", "problem"),
    [
        ("permit(principal, action, resource", "not valid Cedar"),
        ('permit(principal, action, resource in Source::"shop");', "policy number 1: it needs a name"),
        ('@id("a") permit(principal, action, resource);', "policy 'a': say what it is about"),
        ('@id("a") permit(principal in Rolle::"x", action, resource in Source::"shop");', "entity type `Rolle`"),
        ('@id("a") permit(principal in Role::"chief", action, resource in Source::"shop");', "no role 'chief'"),
        ('@id("a") permit(principal == User::"eve", action, resource in Source::"shop");', "no user 'eve'"),
        ('@id("a") permit(principal in Role::"everyone", action, resource in Source::"shop");', "`principal` alone"),
        ('@id("a") permit(principal, action == Action::"run", resource in Source::"shop");', "applicable action"),
        ('@id("a") permit(principal, action == Action::"fly", resource in Source::"shop");', "unrecognized action"),
        ('@id("a") permit(principal, action, resource == Source::"shop");', "say resource in Source"),
        ('@id("a") permit(principal, action, resource in Table::"shop");', 'Table::"source/table"'),
        ('@id("a") permit(principal, action, resource in Source::"a/b/c/d");', 'Source::"source"'),
        ('@id("a") permit(principal, action, resource is Column in Table::"shop/staff");', "say what it is about"),
        ('@id("a") permit(principal == ?principal, action, resource);', "templates"),
        ('@id("a") @maks("null") forbid(principal, action, resource == Column::"s/t/c");', "@maks is not known"),
        ('@id("a") @mask("rot13") forbid(principal, action, resource == Column::"s/t/c");', "policy 'a'"),
        ('@id("a") @mask("null") permit(principal, action, resource == Column::"s/t/c");', "@mask belongs to"),
        ('@id("a") @mask("null") forbid(principal, action, resource in Table::"s/t");', "@mask belongs to"),
        (
            '@id("a") permit(principal, action, resource in Table::"s/t") when { resource.x == 1 };',
            "a permit has no condition",
        ),
        ('@id("a") forbid(principal, action, resource in Source::"s") when { resource.x == 1 };', "names its `tables`"),
        ('@id("a") forbid(principal, action, resource == Tool::"s") when { resource.x == 1 };', "policy 'a'"),
        ('@id("a") permit(principal, action, resource == Tool::"probe");', "tools need no rule"),
        *(
            (f'@id("a") forbid(principal, action, resource in Table::"s/t") unless {{ {condition} }};', problem)
            for condition, problem in [
                ('resource.name like "A*"', "cannot use 'like'"),
                ('principal in Role::"seller"', "cannot use 'in'"),
                ("context.now == 1", "columns of the row"),
                ("principal.region == resource.region", "columns of the row"),
                ("resource.region == principal.region", "columns of the row"),
                ("resource.a.b == 1", "columns of the row"),
                ("principal has region", "`has` asks"),
                ("[].contains(resource.x)", "at least one"),
                ("[resource.y].contains(resource.x)", "values only"),
                ('resource.x == User::"ana"', "compares with texts"),
                ('resource.x == "a\\\\b"', "compares with texts"),
                ("resource.x + 1 == 2", "columns of the row"),
                ('ip("1.1.1.1").isLoopback()', "cannot use 'isLoopback'"),
                ("true", "cannot use 'Value'"),
            ]
        ),
    ],
)
def test_a_policy_that_no_rule_can_say_is_an_error(policy: str, problem: str) -> None:
    with pytest.raises(OperatorError, match=r"access\.yaml, line 4.*cedar") as caught:
        policy_of(policy)
    assert problem in str(caught.value)


def test_two_rules_of_both_forms_have_two_names() -> None:
    text = PEOPLE + "rules:\n  - {name: all, for: seller, source: shop, allow: true}\ncedar: |\n  " + PERMIT
    with pytest.raises(OperatorError, match="cedar: policy 'all': there are two rules named 'all'"):
        parse_policy(text)


conditions = st.recursive(
    st.sampled_from(
        [
            "principal.region.contains(resource.region)",
            'resource.region == "West"',
            'resource.region != "North"',
            "resource.size > 2",
            "3 > resource.size",
            "resource.size <= resource.id",
            "[1, 3, 5].contains(resource.size)",
            "resource.open",
            "resource.open == false",
            "resource has size",
        ]
    ),
    lambda inner: st.one_of(
        st.builds("({} && {})".format, inner, inner),
        st.builds("({} || {})".format, inner, inner),
        st.builds("!({})".format, inner),
    ),
    max_leaves=5,
)
people = st.sampled_from(["principal", 'principal in Role::"seller"', 'principal == User::"bo"'])


@st.composite
def a_policy(draw: st.DrawFn) -> str:
    who, table = draw(people), draw(st.sampled_from(["shop/stores", "shop/stores", "shop/staff"]))
    about = draw(st.sampled_from([f'resource in Table::"{table}"', f'resource in Table::"{table}"', "source"]))
    about = 'resource in Source::"shop"' if about == "source" else about
    effect = draw(st.sampled_from(["permit", "forbid", "rows", "rows", "rows"]))
    if effect != "rows":
        return f"{effect}({who}, action, {about});"
    kind = draw(st.sampled_from(["when", "unless"]))
    return f'forbid({who}, action, resource in Table::"{table}") {kind} {{ {draw(conditions)} }};'


a_row = st.fixed_dictionaries(
    {
        "id": st.integers(0, 5),
        "region": st.none() | st.sampled_from(["West", "South", "North"]),
        "size": st.none() | st.integers(0, 5),
        "open": st.booleans(),
    }
)


@settings(max_examples=40, deadline=None)
@given(st.lists(a_policy(), max_size=4), st.lists(a_row, min_size=1, max_size=6))
def test_what_is_seen_is_what_cedar_permits(policies: list[str], rows: list[Mapping[str, Any]]) -> None:
    texts = [f'@id("p{number}") {text}' for number, text in enumerate([PERMIT.partition(") ")[2], *policies])]
    view = view_of(policy_of(*texts), person("ana")).of("shop")
    permitted = [row for number, row in enumerate(rows) if _is_permitted("\n".join(texts), number, row)]
    if isinstance(view.table(STORES), HiddenTable):
        assert permitted == []
        with pytest.raises(RefusedError):
            Shaping(view, CATALOG, "x").shaped("SELECT * FROM stores")
        return
    with duckdb.connect(":memory:") as database:
        database.execute("CREATE TABLE stores (id BIGINT, region TEXT, size BIGINT, open BOOLEAN)")
        database.executemany("INSERT INTO stores VALUES (?, ?, ?, ?)", [[row[name] for name in NAMES] for row in rows])
        shaped = Shaping(view, CATALOG, "x").shaped("SELECT * FROM stores")
        shown = [dict(zip(NAMES, row, strict=True)) for row in database.execute(shaped).fetchall()]
    whole = [[row[name] for name in NAMES] for row in permitted if None not in row.values()]
    assert sorted(whole) == sorted([*row.values()] for row in shown if None not in row.values())
    assert all(row in permitted for row in shown)


def _is_permitted(policies: str, number: int, row: Mapping[str, Any]) -> bool:
    entities = [
        {
            "uid": {"type": "User", "id": "ana"},
            "attrs": {"region": ["West", "South"]},
            "parents": [{"type": "Role", "id": "seller"}],
        },
        {"uid": {"type": "Table", "id": "shop/stores"}, "attrs": {}, "parents": [{"type": "Source", "id": "shop"}]},
        {
            "uid": {"type": "Row", "id": str(number)},
            "attrs": {name: value for name, value in row.items() if value is not None},
            "parents": [{"type": "Table", "id": "shop/stores"}],
        },
    ]
    request = {"principal": 'User::"ana"', "action": 'Action::"see"', "resource": f'Row::"{number}"'}
    return bool(cedarpy.is_authorized(request, policies, entities).allowed)
