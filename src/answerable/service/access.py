"""Access: who may do what, what a person sees by which rule, and whether the rules fit the data."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from pydantic import Field

from answerable.agents.readers import Readers
from answerable.core.catalog import Catalog
from answerable.core.clock import Clock, today
from answerable.core.context import Principal, person
from answerable.core.errors import AnswerableError, OperatorError
from answerable.core.ids import TenantId
from answerable.core.values import Frozen
from answerable.engine.steps.understand import Question
from answerable.reader.reading import Read
from answerable.sources.registry import SourceRegistry

if TYPE_CHECKING:
    from answerable.access.policy import AccessPolicy, Action, Rule


class AccessProblem(Frozen):
    """Why a rule cannot be applied as it is written."""

    rule: str = Field("", description="Empty if the file as a whole cannot be read.")
    message: str
    hint: str | None = None


class AccessReport(Frozen):
    users: int
    rules: int
    problems: list[AccessProblem]


class TableAccess(Frozen):
    """What a person sees of one table."""

    table: str
    columns: list[str]
    shaped: list[str] = Field(description="Which rules shape it, and how: `rows of region West only, by rule region`.")


class AccessExplanation(Frozen):
    user: str
    roles: list[str]
    actions: list[str]
    source: str
    question: str | None
    understood: str | None = Field(description="How the reader reads the question with what this person may see.")
    tables: list[TableAccess] = Field(description="Those that the question reads; without a question, all.")
    hidden: list[str] = Field(description="What this person may not see, and by which rule. For administrators only.")


class NewAccessKey(Frozen):
    user: str
    key: str = Field(description="Shown this once.")
    line: str = Field(description="For the `keys` of the user in `access.yaml`.")


class AccessService:
    def __init__(self, registry: SourceRegistry, readers: Readers, clock: Clock) -> None:
        self._clock = clock
        self._registry = registry
        self._readers = readers

    def is_on_for(self, tenant: TenantId) -> bool:
        """Whether there are identities: whether the home folder holds an `access.yaml`."""
        return self._registry.access(tenant).is_on

    def require(self, action: "Action", principal: Principal) -> None:
        """Raises `RefusedError` if no role of the person allows the action."""
        view = self._registry.view(principal)
        if view is not None:
            view.require(action)

    def person_with(self, key: str, principal: Principal) -> Principal | None:
        """Returns the person whose key this is, or None. `principal`: anybody of the tenant."""
        from answerable.access.policy import owner_of

        user = owner_of(self._policy(principal), key, today(self._clock))
        return person(user, principal.tenant) if user is not None else None

    def require_known(self, principal: Principal) -> None:
        """Raises `RefusedError` if nobody of that name is known, or they are disabled."""
        self._registry.view(principal)

    async def new_key(self, user: str, principal: Principal, *, name: str = "key") -> NewAccessKey:
        """Makes a key for a user. It is shown once; the line for `access.yaml` holds only its digest."""
        from answerable.access.policy import new_key

        self.acting_as(user, principal)
        key, digest = new_key()
        return NewAccessKey(user=user, key=key, line=f"{{name: {name}, digest: {digest}}}")

    def acting_as(self, user: str, principal: Principal) -> Principal:
        """The person of that name, for an administrator who wants to see what they see."""
        self.require("administer", principal)
        someone = person(user, principal.tenant)
        self._policy(principal)
        self._registry.view(someone)  # raises if there is nobody of that name
        return someone

    async def check(self, principal: Principal, *, text: str | None = None) -> AccessReport:
        """Reads the rules and compares them with the data: tables, columns and conditions. `text`: rules that are not
        in force yet."""
        from answerable.access.policy import parse_policy

        self.require("administer", principal)
        try:
            policy = self._policy(principal) if text is None else parse_policy(text)
        except OperatorError as error:
            if text is None:
                raise
            return AccessReport(users=0, rules=0, problems=[AccessProblem(message=error.message, hint=error.hint)])
        problems: list[AccessProblem] = []
        for source in dict.fromkeys(rule.source for rule in policy.rules if rule.source is not None):
            rules = [rule for rule in policy.rules if rule.source == source]
            try:
                catalog = await (await self._registry.get(source, principal.seeing_all())).describe_plainly()
            except AnswerableError as error:
                problems += [AccessProblem(rule=rule.name, message=error.message, hint=error.hint) for rule in rules]
                continue
            for rule in rules:
                problems += _problems(rule, catalog, policy)
        return AccessReport(users=len(policy.users), rules=len(policy.rules), problems=problems)

    async def explain(
        self, user: str, principal: Principal, *, question: str | None = None, source: str = "demo"
    ) -> AccessExplanation:
        """Which rules would shape an answer for somebody."""
        someone = self.acting_as(user, principal)
        view = self._registry.view(someone)
        assert view is not None
        catalog = await (await self._registry.get(source, someone)).describe()
        understood, read = None, {table.name for table in catalog.tables}
        if question is not None:
            reply = await self._readers.read(Question(text=question, source=source), someone)
            if isinstance(reply, Read):
                understood, read = reply.best.sentence, _tables_of(reply.best.plan.model_dump(), catalog)
        tables = [
            TableAccess(
                table=table.name,
                columns=[column.name for column in table.columns],
                shaped=[f"{note.effect}, by rule {note.rule}" for note in catalog.notes if note.table == table.name],
            )
            for table in catalog.tables
            if table.name in read
        ]
        hidden = [
            f"{each.table}{'.' + each.column if each.column else ''}: "
            + (f"by rule {each.rule}" if each.rule else "no rule allows it")
            for each in catalog.hidden
        ]
        return AccessExplanation(
            user=user,
            roles=sorted(view.roles),
            actions=sorted(view.actions),
            source=source,
            question=question,
            understood=understood,
            tables=tables,
            hidden=hidden,
        )

    async def show(self, principal: Principal) -> "AccessPolicy":
        """The people, their roles, and the rules."""
        self.require("administer", principal)
        return self._policy(principal)

    def _policy(self, principal: Principal) -> "AccessPolicy":
        return self._registry.access(principal.tenant).required_policy()


def _problems(rule: "Rule", catalog: Catalog, policy: "AccessPolicy") -> Iterator[AccessProblem]:
    from answerable.access.predicates import condition_attributes

    tables = {table.name.casefold(): table for table in catalog.tables}
    for name in rule.tables:
        table = tables.get(name.casefold())
        if table is None:
            yield AccessProblem(rule=rule.name, message=f"{rule.source} has no table {name!r}.")
            continue
        known = {column.name.casefold() for column in table.columns}
        for column in rule.columns:
            if column.casefold() not in known:
                yield AccessProblem(rule=rule.name, message=f"The table {name!r} has no column {column!r}.")
        if rule.rows is None:
            continue
        try:
            needed = condition_attributes(rule, table, catalog)
        except AnswerableError as error:
            yield AccessProblem(rule=rule.name, message=error.message, hint=error.hint)
            continue
        for user, known_user in policy.users.items():
            missing = sorted(needed - known_user.attributes.keys())
            if missing and rule.is_for(user, frozenset(known_user.roles)):
                message = f"{user!r} has no attribute {missing[0]!r}, and sees no row of {name!r}."
                yield AccessProblem(rule=rule.name, message=message)


def _tables_of(plan: object, catalog: Catalog) -> set[str]:
    """The tables that a plan names anywhere, also in its sub-plans."""
    if isinstance(plan, Mapping):
        own = {plan[key] for key in ("entity", "table") if isinstance(plan.get(key), str)}
        found = own | {name for value in plan.values() for name in _tables_of(value, catalog)}
        return {name for name in found if catalog.table(name) is not None}
    if isinstance(plan, list | tuple):
        return {name for value in plan for name in _tables_of(value, catalog)}
    return set()
