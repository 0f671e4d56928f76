"""Rules written as Cedar policies: `cedar` in `access.yaml`. Each policy becomes a rule, with the same effect.

`permit` is `allow`, `forbid` is `deny`; a `forbid` with a condition hides rows, and one with `@mask` shows a column in
another form. What a rule cannot say exactly is an error: a policy that is read in part would show what it was meant to
hide. Where a value is missing, Cedar skips the policy; here the row is hidden.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import unquote

from pydantic import ValidationError

from answerable.access.policy import EVERY, EVERYONE, Mask, Rule
from answerable.core.errors import OperatorError
from answerable.core.validation import first_problem

SCHEMA = """
entity Role;
entity User in [Role];
entity Source;
entity Table in [Source];
entity Row, Column in [Table];
entity Graph;
entity Tool;
action see appliesTo {principal: User, resource: [Source, Table, Row, Column]};
action run appliesTo {principal: User, resource: Graph};
action use appliesTo {principal: User, resource: Tool};
"""
ANNOTATIONS = ("id", "reason", "mask")
_ACTIONS: Mapping[str, str] = {"Source": "see", "Table": "see", "Column": "see", "Graph": "run", "Tool": "use"}
_COMPARISONS: Mapping[str, str] = {"==": "=", "!=": "<>", "<": "<", "<=": "<=", ">": ">", ">=": ">="}
_MIRRORED: Mapping[str, str] = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

Node = Mapping[str, Any]


class CedarError(ValueError):
    """What is wrong with a policy, as a part of a sentence."""


def rules_of(text: str) -> tuple[Rule, ...]:
    """The rules that the policies say. Raises `CedarError` for what is no policy, and for what no rule can say."""
    policies = _parsed(text)
    return tuple(rule for number, policy in enumerate(policies) for rule in _rules(policy, number + 1))


def _parsed(text: str) -> list[Node]:
    try:
        import cedarpy
    except ModuleNotFoundError:
        raise OperatorError(
            "`cedar` in access.yaml needs the package cedarpy.",
            code="access_cedar_missing",
            hint="Install it: pip install 'answerable[cedar]'",
        ) from None
    try:
        document = json.loads(cedarpy.policies_to_json_str(text))
    except ValueError as error:
        raise CedarError(f"not valid Cedar: {error}") from None
    if document["templates"]:
        raise CedarError("templates (?principal, ?resource) are not used here; write the policy out")
    # The parser numbers policies in the order of the text.
    numbered = sorted(document["staticPolicies"].items(), key=lambda item: int(item[0].removeprefix("policy")))
    policies = [policy for _, policy in numbered]
    scopes = {**document, "staticPolicies": {name: {**policy, "conditions": []} for name, policy in numbered}}
    for wrong in cedarpy.validate_policies(cedarpy.policies_from_json_str(json.dumps(scopes)), SCHEMA).errors:
        number = int(wrong.policy_id.removeprefix("policy"))
        raise CedarError(_named(policies[number], number + 1, wrong.error.partition(", ")[2] or wrong.error))
    return policies


def _named(policy: Node, number: int, problem: str) -> str:
    name = policy.get("annotations", {}).get("id")
    return f"policy {name!r}: {problem}" if name else f"policy number {number}: {problem}"


def _rules(policy: Node, number: int) -> Iterator[Rule]:
    try:
        yield _rule(policy)
    except CedarError as error:
        raise CedarError(_named(policy, number, str(error))) from None
    except ValidationError as invalid:
        raise CedarError(_named(policy, number, first_problem(invalid).plain)) from None


def _rule(policy: Node) -> Rule:
    notes = policy.get("annotations", {})
    if unknown := sorted(notes.keys() - set(ANNOTATIONS)):
        raise CedarError(f"@{unknown[0]} is not known; there are @id, @reason and @mask")
    if not notes.get("id"):
        raise CedarError('it needs a name: @id("…")')
    fields: dict[str, Any] = {"name": notes["id"], "reason": notes.get("reason"), **_people(policy["principal"])}
    fields |= _subject(policy)
    forbids = policy["effect"] == "forbid"
    if "mask" in notes:
        if not forbids or policy["conditions"] or not fields.get("columns"):
            raise CedarError("@mask belongs to a forbid without a condition, about a Column")
        fields["mask"] = _mask(notes["mask"])
    elif policy["conditions"]:
        if not forbids:
            raise CedarError("a permit has no condition here; permit the table, and `forbid … unless` the rows")
        fields["rows"] = " AND ".join(f"({text})" for text in map(_shown_if, policy["conditions"]))
        if len(policy["conditions"]) == 1:
            fields["rows"] = fields["rows"][1:-1]
    else:
        fields["deny" if forbids else "allow"] = True
    return Rule.model_validate(fields)


def _people(scope: Node) -> dict[str, Any]:
    entity = scope.get("entity") or scope.get("in", {}).get("entity")
    if entity is None:
        return {"for": EVERYONE}
    if entity["type"] == "Role":
        if entity["id"] == EVERYONE:
            raise CedarError("everybody is meant by `principal` alone")
        return {"for": entity["id"]}
    if scope["op"] != "==":
        raise CedarError('say principal == User::"…" or principal in Role::"…"')
    return {"users": entity["id"]}


def _subject(policy: Node) -> dict[str, Any]:
    scope = policy["resource"]
    if scope == {"op": "is", "entity_type": "Graph"}:
        kind, names = "Graph", [EVERY]
    else:
        entity = _subject_entity(scope, about_rows=bool(policy["conditions"]))
        kind, names = entity["type"], [unquote(part) for part in entity["id"].split("/")]
    _require_action(policy["action"], _ACTIONS[kind])
    if kind in ("Graph", "Tool"):
        return {"graphs" if kind == "Graph" else "tools": "/".join(names)}
    parts = ("Source", "Table", "Column")[: len(names)]
    if not parts or len(names) > len(parts) or parts[-1] != kind:
        shape = {"Source": "source", "Table": "source/table", "Column": "source/table/column"}[kind]
        raise CedarError(f'a {kind} is named {kind}::"{shape}"; a slash in a name is written %2F')
    return dict(zip(("source", "tables", "columns"), names, strict=False))


def _subject_entity(scope: Node, *, about_rows: bool) -> Mapping[str, str]:
    """What a policy is about. `==` names one thing and not what is in it; rules about tables are about both."""
    entity: Mapping[str, str] | None = scope.get("entity")
    if scope["op"] == "is" and scope["entity_type"] == "Row" and about_rows:
        entity = scope.get("in", {}).get("entity")
    if entity is None or entity["type"] not in _ACTIONS:
        raise CedarError('say what it is about, for example: resource in Source::"sales"')
    if scope["op"] == "==" and entity["type"] in ("Source", "Table"):
        raise CedarError(f'say resource in {entity["type"]}::"{entity["id"]}", which means all that is in it')
    return entity


def _require_action(scope: Node, action: str) -> None:
    """A policy about several actions is a rule about the one that its resource can have."""
    if scope["op"] == "All":
        return
    named = scope.get("entities") or [scope["entity"]]
    if action not in {entity["id"] for entity in named}:
        raise CedarError(f'say action == Action::"{action}"')


def _mask(text: str) -> Mask:
    kind, _, size = text.partition(" ")
    return Mask.model_validate({"bucket": size} if kind == "bucket" and size else text)


def _shown_if(condition: Node) -> str:
    text = _condition(condition["body"])
    return text if condition["kind"] == "unless" else f"NOT ({text})"


def _condition(node: Node) -> str:
    """A condition over the columns of the row and the attributes of the person, as rules write it."""
    operator, parts = next(iter(node.items()))
    if operator in _COMPARISONS:
        return _comparison(operator, parts["left"], parts["right"])
    writing: Mapping[str, Callable[[], str]] = {
        "&&": lambda: f"({_condition(parts['left'])} AND {_condition(parts['right'])})",
        "||": lambda: f"({_condition(parts['left'])} OR {_condition(parts['right'])})",
        "!": lambda: f"NOT ({_condition(parts['arg'])})",
        ".": lambda: _column(node),
        "has": lambda: _present(parts),
        "contains": lambda: _contained(parts["left"], parts["right"]),
    }
    if operator not in writing:
        raise CedarError(f"a condition about rows cannot use {operator!r}")
    return writing[operator]()


def _comparison(operator: str, left: Node, right: Node) -> str:
    if "Value" in left:
        left, right, operator = right, left, _MIRRORED.get(operator, operator)
    return f"{_column(left)} {_COMPARISONS[operator]} {_operand(right)}"


def _operand(node: Node) -> str:
    return _literal(node["Value"]) if "Value" in node else _column(node)


def _contained(among: Node, value: Node) -> str:
    """`principal.region.contains(resource.region)`, or a set that is written out."""
    if "Set" in among:
        if not among["Set"]:
            raise CedarError("a set in a condition names at least one value")
        return f"{_column(value)} IN ({', '.join(_literal(_value(each)) for each in among['Set'])})"
    return f"{_column(value)} = {_attribute(among)}"


def _value(node: Node) -> object:
    if "Value" not in node:
        raise CedarError("a set in a condition holds values only")
    return node["Value"]


def _present(parts: Node) -> str:
    if parts["left"] != {"Var": "resource"} or not isinstance(parts["attr"], str):
        raise CedarError("`has` asks whether the row has a value: resource has region")
    return f"{_name(parts['attr'])} IS NOT NULL"


def _column(node: Node) -> str:
    of = node.get(".")
    if of is None or of["left"] != {"Var": "resource"}:
        raise CedarError("a condition compares columns of the row (resource.region) with values and attributes")
    return _name(of["attr"])


def _attribute(node: Node) -> str:
    of = node.get(".")
    if of is None or of["left"] != {"Var": "principal"}:
        raise CedarError("an attribute has one or more values: principal.region.contains(resource.region)")
    return f"user.{_name(of['attr'])}"


def _name(name: str) -> str:
    from sqlglot.tokens import Tokenizer

    words = {keyword.partition(" ")[0] for keyword in Tokenizer.KEYWORDS} | {"USER"}
    if _PLAIN_NAME.fullmatch(name) and name.upper() not in words:
        return name
    return '"' + name.replace('"', '""') + '"'


def _literal(value: object) -> str:
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, int):
        return str(value)
    if isinstance(value, str) and "\\" not in value:
        return "'" + value.replace("'", "''") + "'"
    raise CedarError("a condition compares with texts without backslashes, whole numbers, true and false")
