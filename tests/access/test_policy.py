"""`access.yaml`: what is wrong with it names its place, and who may see what is decided by it alone."""

import pytest
from access_world import ANA, BO, BOSS, POLICY

from answerable.access.catalogs import told_rows
from answerable.access.policy import parse_policy
from answerable.access.view import HiddenTable, VisibleTable, view_of
from answerable.core.catalog import Column, Table
from answerable.core.context import person
from answerable.core.errors import OperatorError, RefusedError

STAFF = Table(
    name="staff",
    columns=tuple(Column(name=name, type="text") for name in ("id", "name", "region", "salary", "note", "email")),
)
PLANS = Table(name="plans", columns=(Column(name="id", type="integer"),))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("users: [", "line 1, column 9"),
        ("users:\n  ana: {rolls: [x]}", "line 2, column 9: users.ana.rolls: unknown field"),
        ("users:\n  ana: {roles: [chief]}", "line 2, column 9: users.ana.roles: there is no role 'chief'"),
        ("users:\n  local: {}", "line 2, column 3: users.local: 'local' is the person at the machine"),
        ("roles: {everyone: {}}", "line 1, column 9: roles.everyone: this stands for all people"),
        ("roles: {a: {actions: [fly]}}", "roles.a.actions.0"),
        ("rules:\n  - {name: a, for: everyone, source: x}", "line 2, column 5: rules.0: a rule has exactly one of"),
        ("rules:\n  - {name: a, for: everyone, source: x, allow: true, deny: true}", "exactly one of"),
        ("rules:\n  - {name: a, source: x, allow: true}", "a rule needs `for`"),
        ("rules:\n  - {name: a, for: everyone, source: x, rows: b = 1}", "a rule about rows names its `tables`"),
        ("rules:\n  - {name: a, for: everyone, source: x, mask: null}", "a rule with a mask names its `columns`"),
        ("rules:\n  - {name: a, for: everyone, source: x, columns: b, mask: bucket}", "say how large a bucket is"),
        ("rules:\n  - {name: a, for: x, source: x, allow: true}", "there is no role 'x'"),
        ("rules:\n  - {name: a, users: x, source: x, allow: true}", "there is no user 'x'"),
        (
            "rules:\n  - {name: a, for: everyone, source: x, allow: true}\n"
            "  - {name: a, for: everyone, source: y, deny: true}",
            "line 3, column 6: rules.1.name: there are two rules named 'a'",
        ),
        ("rules:\n  - {name: a, for: everyone, graphs: x, rows: b = 1}", "a rule about graphs or tools says"),
        ("rules:\n  - {name: a, for: everyone, tools: probe, allow: true}", "a rule about tools says `deny: true`"),
        ("rules:\n  - {name: a, for: everyone, source: x, graphs: y, deny: true}", "one of `source`, `graphs` and"),
        ("rules:\n  - {name: a, for: everyone, deny: true}", "one of `source`, `graphs` and `tools`"),
        ("version: 2", "this version is not known"),
        ("a: &x 1\nb: *x", "anchors and aliases"),
    ],
)
def test_a_mistake_names_its_place(text: str, message: str) -> None:
    with pytest.raises(OperatorError, match=r"access\.yaml") as caught:
        parse_policy(text)
    assert message in str(caught.value)
    assert caught.value.stable_code == "access_invalid"


def test_deny_wins_and_no_rule_is_no_access() -> None:
    policy = parse_policy(POLICY)
    ana = view_of(policy, ANA).of("shop")
    seen, plans = ana.table(STAFF), ana.table(PLANS)
    assert isinstance(seen, VisibleTable)
    assert seen.columns == ("id", "name", "region", "email")
    assert [masked.mask.kind for masked in seen.masks.values()] == ["partial"]
    assert isinstance(plans, HiddenTable)
    assert plans.rule is not None
    assert plans.rule.name == "no-plans"
    assert view_of(policy, ANA).shows("shop")
    assert not view_of(policy, ANA).shows("other")
    assert isinstance(view_of(policy, person("idle")).of("shop").table(STAFF), HiddenTable)
    whole = view_of(policy, BOSS).of("shop").table(STAFF)
    assert isinstance(whole, VisibleTable)
    assert whole.is_whole


def test_people_share_a_view_only_if_they_see_the_same() -> None:
    policy = parse_policy(POLICY)
    views = {user: view_of(policy, person(user)).key for user in policy.users}
    assert len(set(views.values())) == len(views)
    twin = parse_policy(POLICY.replace("boss:", "twin: {roles: [seller], attributes: {region: West}}\n  boss:"))
    assert view_of(twin, person("twin")).key == view_of(twin, ANA).key != view_of(twin, BO).key


def test_an_unknown_user_gets_nothing() -> None:
    with pytest.raises(RefusedError, match="'eve' is not among the users") as caught:
        view_of(parse_policy(POLICY), person("eve"))
    assert caught.value.hint == "Ask data@example.com for access."


def test_actions_come_from_roles() -> None:
    policy = parse_policy(POLICY)
    view_of(policy, ANA).require("sql")
    with pytest.raises(RefusedError, match="`python`"):
        view_of(policy, ANA).require("python")


@pytest.mark.parametrize(
    ("condition", "told"),
    [
        ("region = user.region", "rows of region West only"),
        ("lower(region) = lower(user.region)", "rows where lower(region) = lower(West) only"),
        ("team = user.team", "rows of team (not known) only"),
    ],
)
def test_conditions_are_told_with_the_persons_own_attributes(condition: str, told: str) -> None:
    assert told_rows(condition, {"region": ("West",)}) == told
