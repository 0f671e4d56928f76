"""`access.yaml` as data: the people, their roles, and the rules. See docs/access.md.

Whatever is wrong with the file is an `OperatorError` that names line, column and field, and nobody gets in by it: a
rule that is silently ignored would show what it was meant to hide.
"""

import hashlib
import secrets
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, ConfigDict, Field, StringConstraints, ValidationError, model_validator

from answerable.core.errors import OperatorError, UserError
from answerable.core.values import Frozen
from answerable.core.yaml_text import FieldPath, Marks, did_you_mean, read

Action = Literal["ask", "sql", "cypher", "python", "add_sources", "edit_names", "evaluate", "administer"]
WRITING: tuple[Action, ...] = ("sql", "cypher", "python")
"""What somebody needs who writes a plan or a graph: its steps may be any of them."""
KEY_PREFIX = "ans_"
"""How every key begins, so that one that leaks can be found."""
EVERY = "*"
"""Stands for all graphs in a rule."""
EVERYONE = "everyone"
"""Stands for all people in the `for` of a rule."""
RESERVED_USERS = frozenset({"local"})
"""The person at the machine, who can read the files themselves and to whom no rule applies."""


def _listed(value: object) -> object:
    """One name needs no list."""
    return [value] if isinstance(value, str) else value


Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=2_000)]
Texts = Annotated[tuple[Text, ...], BeforeValidator(_listed)]


class Mask(Frozen):
    """What a column shows in place of its values."""

    kind: Literal["null", "hash", "bucket", "partial"]
    size: int | None = Field(default=None, ge=1)
    """Of a bucket of numbers."""
    unit: Literal["week", "month", "quarter", "year"] | None = None
    """Of a bucket of dates."""

    @model_validator(mode="before")
    @classmethod
    def _from_short_form(cls, value: object) -> object:
        if isinstance(value, str):
            if value == "bucket":
                raise ValueError("say how large a bucket is: {bucket: 1000} or {bucket: month}")
            return {"kind": value}
        if isinstance(value, dict) and set(value) == {"bucket"}:
            size = value["bucket"]
            return {"kind": "bucket", "size" if str(size).isdigit() else "unit": size}
        return value

    @property
    def strength(self) -> int:
        """The strongest of several masks on one column counts."""
        return ("partial", "bucket", "hash", "null").index(self.kind)

    def __str__(self) -> str:
        return f"bucket of {self.size or self.unit}" if self.kind == "bucket" else self.kind


class Rule(Frozen):
    """Says one thing, for some people. About a part of a source: that they may see it, that they may not, which of its
    rows they see, or what its columns show instead. About stored graphs: that they may run them or not. About tools:
    that they may not use them."""

    model_config = ConfigDict(frozen=True, extra="forbid", validate_by_name=True, validate_by_alias=True)

    name: Text
    for_: Texts = Field(default=(), alias="for")
    """Roles, or `everyone`."""
    users: Texts = ()
    source: Text | None = None
    graphs: Texts = ()
    """Stored graphs, or `*` for all."""
    tools: Texts = ()
    """What graphs and models look into data with."""
    tables: Texts = ()
    """Empty for all tables."""
    columns: Texts = ()
    """Empty for all columns."""
    allow: bool = False
    deny: bool = False
    rows: Text | None = None
    """A condition over the columns of the table and the attributes of the person: `region = user.region`."""
    mask: Mask | None = None
    reason: Text | None = None
    """Told to whoever meets the rule."""

    @model_validator(mode="after")
    def _says_one_thing(self) -> "Rule":
        if sum((self.allow, self.deny, self.rows is not None, self.mask is not None)) != 1:
            raise ValueError("a rule has exactly one of `allow: true`, `deny: true`, `rows` and `mask`")
        if sum((self.source is not None, bool(self.graphs), bool(self.tools))) != 1:
            raise ValueError("a rule is about one of `source`, `graphs` and `tools`")
        if self.source is None and (self.tables or self.columns or not (self.allow or self.deny)):
            raise ValueError("a rule about graphs or tools says `allow: true` or `deny: true`, and no more")
        if self.tools and not self.deny:
            raise ValueError("tools need no rule to be used; a rule about tools says `deny: true`")
        if not self.for_ and not self.users:
            raise ValueError("a rule needs `for` (roles, or everyone) or `users`")
        if self.rows is not None and (not self.tables or self.columns):
            raise ValueError("a rule about rows names its `tables`, and no columns")
        if self.mask is not None and not self.columns:
            raise ValueError("a rule with a mask names its `columns`")
        return self

    def __str__(self) -> str:
        if self.source is None:
            what = f"graphs {', '.join(self.graphs)}" if self.graphs else f"tools {', '.join(self.tools)}"
            return f"{what}: {'allowed' if self.allow else 'denied'}"
        where = f"{self.source}: {', '.join(self.tables) or 'all tables'}"
        where += f" ({', '.join(self.columns)})" if self.columns else ""
        if self.rows is not None:
            return f"{where}: rows where {self.rows}"
        return f"{where}: " + ("allowed" if self.allow else "denied" if self.deny else f"mask {self.mask}")

    @property
    def restricts(self) -> bool:
        return not self.allow

    def is_for(self, user: str, roles: frozenset[str]) -> bool:
        return EVERYONE in self.for_ or user in self.users or not roles.isdisjoint(self.for_)

    def is_about_graph(self, name: str) -> bool:
        return name in self.graphs or EVERY in self.graphs

    def is_about(self, table: str) -> bool:
        return not self.tables or table.casefold() in {name.casefold() for name in self.tables}


class Role(Frozen):
    actions: Annotated[tuple[Action, ...], BeforeValidator(_listed)] = ()
    description: Text | None = None


class AccessKey(Frozen):
    """A key for programs. Only its digest is stored: who reads the file cannot use it."""

    name: Text
    digest: Annotated[str, StringConstraints(pattern=r"^sha256:[0-9a-f]{64}$")]
    expires: date | None = None
    """The last day on which it counts."""


class User(Frozen):
    keys: tuple[AccessKey, ...] = ()
    roles: Texts = ()
    attributes: dict[Text, Texts] = Field(default_factory=dict)
    """Facts for row rules: `{region: West}`, or several: `{region: [West, East]}`."""


class AccessPolicy(Frozen):
    version: int = Field(default=1, ge=1, le=1)
    contact: Text | None = None
    """Whom to ask for more; every refusal names it."""
    users: dict[Text, User] = Field(default_factory=dict)
    roles: dict[Text, Role] = Field(default_factory=dict)
    rules: tuple[Rule, ...] = ()
    cedar: Annotated[str, StringConstraints(max_length=1_000_000)] | None = None
    """Cedar policies: the other form of rules. What they say stands among `rules` once the file is read."""


def new_key() -> tuple[str, str]:
    """A key, and its digest. It is random, so a plain hash is enough: there is nothing to guess."""
    key = KEY_PREFIX + secrets.token_urlsafe(32)
    return key, digest_of(key)


def digest_of(key: str) -> str:
    return "sha256:" + hashlib.sha256(key.encode()).hexdigest()


def owner_of(policy: AccessPolicy, key: str, today: date) -> str | None:
    """The user to whom a key belongs, or None. Digests are compared: their order tells nothing of the key."""
    digest = digest_of(key)
    for name, user in policy.users.items():
        for known in user.keys:
            if known.digest == digest and (known.expires is None or today <= known.expires):
                return name
    return None


def parse_policy(text: str, origin: str = "access.yaml") -> AccessPolicy:
    try:
        return _parsed(text, origin)
    except UserError as wrong:
        raise OperatorError(wrong.message, code="access_invalid", hint=wrong.hint, **wrong.details) from None


def _parsed(text: str, origin: str) -> AccessPolicy:
    data, marks = read(text, origin)
    _restore_null_masks(data, marks)
    try:
        policy = AccessPolicy.model_validate(data)
    except ValidationError as invalid:
        raise _first_problem(marks, invalid) from None
    written = len(policy.rules)
    if policy.cedar is not None:
        policy = policy.model_copy(update={"rules": (*policy.rules, *_cedar_rules(policy.cedar, marks))})
    for path, problem, hint in _contradictions(policy):
        if path[0] == "rules" and int(path[1]) >= written:
            raise marks.error(("cedar",), f"policy {policy.rules[int(path[1])].name!r}: {problem}", hint)
        raise marks.error(path, problem, hint)
    return policy


def _cedar_rules(text: str, marks: Marks) -> tuple[Rule, ...]:
    from answerable.access.cedar import CedarError, rules_of

    try:
        return rules_of(text)
    except CedarError as error:
        raise marks.error(("cedar",), str(error)) from None


def _restore_null_masks(data: Any, marks: Marks) -> None:
    """`mask: null` reads like a field without a value, which YAML files may leave out elsewhere. Here it is a mask."""
    rules = data.get("rules") if isinstance(data, dict) else None
    for number, rule in enumerate(rules if isinstance(rules, list) else ()):
        if isinstance(rule, dict) and "mask" not in rule and ("rules", number, "mask") in marks.places:
            rule["mask"] = "null"


def _contradictions(policy: AccessPolicy) -> Iterator[tuple[FieldPath, str, str | None]]:
    """What the form of the file leaves open."""
    for name, user in policy.users.items():
        if name in RESERVED_USERS:
            yield ("users", name), f"{name!r} is the person at the machine, to whom no rule applies", None
        for role in user.roles:
            if role not in policy.roles:
                yield ("users", name, "roles"), f"there is no role {role!r}", did_you_mean(role, policy.roles)
    if EVERYONE in policy.roles:
        yield ("roles", EVERYONE), "this stands for all people; give the role another name", None
    seen: set[str] = set()
    for number, rule in enumerate(policy.rules):
        if rule.name in seen:
            yield ("rules", number, "name"), f"there are two rules named {rule.name!r}", None
        seen.add(rule.name)
        for role in rule.for_:
            if role not in policy.roles and role != EVERYONE:
                yield ("rules", number, "for"), f"there is no role {role!r}", did_you_mean(role, policy.roles)
        for user_name in rule.users:
            if user_name not in policy.users:
                yield (
                    ("rules", number, "users"),
                    f"there is no user {user_name!r}",
                    did_you_mean(user_name, policy.users),
                )


_PLAIN_WORDS: Mapping[str, str] = {
    "missing": "this field is required",
    "dict_type": "this must be a mapping of names (name: …)",
    "model_type": "this must be a mapping of fields (field: …)",
    "tuple_type": "this must be a list",
    "string_type": "this must be text",
    "string_too_short": "this must not be empty",
    "bool_parsing": "this must be true or false",
    "less_than_equal": "this version is not known; the latest is 1",
}


def _first_problem(marks: Marks, invalid: ValidationError) -> UserError:
    """The one that stands first in the file; people read from the top."""
    errors = sorted(invalid.errors(), key=lambda error: marks.place(_field_path(error["loc"])))
    first, path = errors[0], _field_path(errors[0]["loc"])
    if first["type"] == "extra_forbidden":
        return marks.error(path, "unknown field", did_you_mean(str(path[-1]), _fields_beside(path)))
    return marks.error(path, _PLAIN_WORDS.get(first["type"], first["msg"].removeprefix("Value error, ")))


def _field_path(location: Sequence[str | int]) -> FieldPath:
    return tuple(part for part in location if part != "[key]")


def _fields_beside(path: FieldPath) -> list[str]:
    models: Mapping[object, type[Frozen]] = {"users": User, "roles": Role, "rules": Rule}
    model = AccessPolicy if len(path) == 1 else models.get(path[0], AccessPolicy)
    return [field.alias or name for name, field in model.model_fields.items()]
