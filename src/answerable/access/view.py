"""What one person may see: the rules that apply to them, decided table by table. Pure; nothing here reads or runs."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field

from answerable.access.directory import ListedPerson
from answerable.access.policy import WRITING, AccessPolicy, Action, Mask, Rule, User
from answerable.core.catalog import Table
from answerable.core.context import Principal
from answerable.core.errors import OperatorError, RefusedError, not_visible
from answerable.core.values import Frozen

Attributes = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class MaskedColumn:
    mask: Mask
    rule: Rule


@dataclass(frozen=True, slots=True)
class VisibleTable:
    """What a person sees of a table that they may see."""

    table: str
    columns: tuple[str, ...]
    """Those that are shown, masked or not, in the order of the table."""
    masks: Mapping[str, MaskedColumn]
    rows: tuple[Rule, ...]
    """All of them must hold for a row to be shown."""
    denied: Mapping[str, Rule | None]
    """Columns that are not shown, by which rule; None where no rule allows them."""

    @property
    def is_whole(self) -> bool:
        return not (self.masks or self.rows or self.denied)


@dataclass(frozen=True, slots=True)
class HiddenTable:
    table: str
    rule: Rule | None
    """None if no rule allows it."""


@dataclass(frozen=True, slots=True)
class SourceView:
    """What a person sees of one source."""

    source: str
    rules: tuple[Rule, ...]
    attributes: Attributes
    contact: str | None
    key: str
    """The same for all who see the same."""

    def table(self, table: Table) -> VisibleTable | HiddenTable:
        """Deny wins; what no rule allows is not shown; of several masks the strongest counts; all row rules hold."""
        rules = [rule for rule in self.rules if rule.is_about(table.name)]
        whole = next((rule for rule in rules if rule.deny and not rule.columns), None)
        allowing = [rule for rule in rules if rule.allow]
        if whole is not None or not allowing:
            return HiddenTable(table.name, whole)
        denied: dict[str, Rule | None] = {}
        masks: dict[str, MaskedColumn] = {}
        for column in table.columns:
            about = [rule for rule in rules if _names(rule, column.name)]
            refusing = next((rule for rule in about if rule.deny), None)
            if refusing is not None or not any(rule.allow and _covers(rule, column.name) for rule in rules):
                denied[column.name] = refusing
            elif masking := [MaskedColumn(rule.mask, rule) for rule in about if rule.mask is not None]:
                masks[column.name] = max(masking, key=lambda masked: masked.mask.strength)
        shown = tuple(column.name for column in table.columns if column.name not in denied)
        if not shown:
            return HiddenTable(table.name, next(iter(denied.values()), None))
        return VisibleTable(table.name, shown, masks, tuple(rule for rule in rules if rule.rows is not None), denied)

    @property
    def is_whole(self) -> bool:
        """Whether all of the source is shown as it is, whatever tables it has."""
        everything = any(rule.allow and not rule.tables and not rule.columns for rule in self.rules)
        return everything and not any(rule.restricts or rule.rows is not None for rule in self.rules)

    def check_names(self, tables: Mapping[str, Table]) -> None:
        """Refuses to go on if a rule hides something that is not there: it was renamed, perhaps, and would be shown
        under its new name."""
        folded = {name.casefold(): table for name, table in tables.items()}
        for rule in self.rules:
            if not rule.restricts:
                continue
            for name in rule.tables:
                table = folded.get(name.casefold())
                if table is None:
                    raise self._stale(rule, f"there is no table {name!r}")
                known = {column.name.casefold() for column in table.columns}
                for column in rule.columns:
                    if column.casefold() not in known:
                        raise self._stale(rule, f"table {name!r} has no column {column!r}")

    def refusal(self, what: str, rule: Rule | None) -> RefusedError:
        return refusal(what, rule, self.contact)

    def _stale(self, rule: Rule, problem: str) -> OperatorError:
        return OperatorError(
            f"The rule {rule.name!r} cannot be applied to {self.source}: {problem}. Until this is mended, nobody to "
            "whom the rule applies can ask this source.",
            code="access_rule_stale",
            hint="Correct the rule in access.yaml; `answerable access check` finds all that are wrong.",
        )


@dataclass(frozen=True, slots=True)
class SourceAccess:
    """What the person may see for whom a source is opened, and the secret that goes into hashed values."""

    view: SourceView
    secret: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class AccessView:
    """What a person may see and do."""

    user: str
    roles: frozenset[str]
    actions: frozenset[Action]
    rules: tuple[Rule, ...]
    attributes: Attributes
    contact: str | None

    def of(self, source: str) -> SourceView:
        rules = tuple(rule for rule in self.rules if rule.source == source)
        attributes = self.attributes if any(rule.rows is not None for rule in rules) else {}
        return SourceView(source, rules, attributes, self.contact, _key(rules, attributes))

    def shows(self, source: str) -> bool:
        """Whether any of it may be seen."""
        rules = [rule for rule in self.rules if rule.source == source]
        refused = any(rule.deny and not rule.tables and not rule.columns for rule in rules)
        return not refused and any(rule.allow for rule in rules)

    @property
    def key(self) -> str:
        """A key that is equal for all people who see the same part of every source."""
        return _key(self.rules, self.attributes if any(rule.rows is not None for rule in self.rules) else {})

    def require(self, action: Action) -> None:
        if action not in self.actions:
            raise RefusedError(
                f"You may not do this: it needs the permission `{action}`, which none of your roles gives.",
                code="access_action_denied",
                hint=_whom_to_ask(self.contact),
            )

    def require_graph(self, name: str) -> None:
        """Raises `RefusedError` unless the person may see and run the stored graph: a rule allows it, or they may write
        all that a graph can hold. Deny wins."""
        self.require_graph_inside(name)
        if not any(rule.is_about_graph(name) for rule in self.rules) and not self.actions.issuperset(WRITING):
            raise refusal(f"the graph {name!r}", None, self.contact)

    def require_graph_inside(self, name: str) -> None:
        """Raises `RefusedError` if a rule denies the graph."""
        denying = next((rule for rule in self.rules if rule.deny and rule.is_about_graph(name)), None)
        if denying is not None:
            raise refusal(f"the graph {name!r}", denying, self.contact)

    def require_writing(self) -> None:
        """Raises `RefusedError` if the person may not write all that a graph can hold."""
        for action in WRITING:
            self.require(action)

    def require_tool(self, name: str) -> None:
        denying = next((rule for rule in self.rules if name in rule.tools), None)
        if denying is not None:
            raise RefusedError(
                f"You may not use the tool {name!r}, by rule {denying.name!r}.",
                code="access_denied",
                hint=_whom_to_ask(self.contact),
                rule=denying.name,
            )

    def require_source(self, source: str) -> None:
        if not self.shows(source):
            rules = [rule for rule in self.rules if rule.source == source and rule.deny and not rule.tables]
            raise refusal(f"the source {source!r}", next(iter(rules), None), self.contact)


def view_of(policy: AccessPolicy, principal: Principal, listed: ListedPerson | None = None) -> AccessView:
    """The rules of a person, with what is known of them by `access.yaml` and by the directory (`listed`). Somebody whom
    neither knows gets no role by it."""
    user = policy.users.get(principal.user)
    if user is None and listed is None:
        raise RefusedError(
            f"{principal.user!r} is not among the users of this installation.",
            code="access_user_unknown",
            hint=_whom_to_ask(policy.contact),
        )
    user, listed = user or User(), listed or ListedPerson()
    if listed.disabled:
        raise RefusedError(
            f"The user {principal.user!r} is disabled.",
            code="access_user_disabled",
            hint=_whom_to_ask(policy.contact),
        )
    roles = frozenset(user.roles) | ((principal.roles | listed.roles) & policy.roles.keys())
    attributes = {**listed.attributes, **{name: tuple(values) for name, values in user.attributes.items()}}
    actions = frozenset(
        action
        for role in roles
        for action in policy.roles[role].actions
        if principal.scopes is None or action in principal.scopes
    )
    rules = tuple(rule for rule in policy.rules if rule.is_for(principal.user, roles))
    return AccessView(str(principal.user), roles, actions, rules, attributes, policy.contact)


def refusal(what: str, rule: Rule | None, contact: str | None) -> RefusedError:
    return not_visible(what, rule.name if rule else None, contact, rule.reason if rule else None)


def _whom_to_ask(contact: str | None) -> str:
    return f"Ask {contact or 'whoever runs this installation'} for access."


def _names(rule: Rule, column: str) -> bool:
    return column.casefold() in {name.casefold() for name in rule.columns}


def _covers(rule: Rule, column: str) -> bool:
    return not rule.columns or _names(rule, column)


class _Known(Frozen):
    rules: tuple[Rule, ...]
    attributes: dict[str, tuple[str, ...]]


def _key(rules: tuple[Rule, ...], attributes: Attributes) -> str:
    known = _Known(rules=rules, attributes=dict(sorted(attributes.items())))
    return hashlib.sha256(known.model_dump_json().encode()).hexdigest()[:32]
