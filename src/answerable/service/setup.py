"""How Answerable is set up here: budgets and use, sandboxes, versions. Secrets are never shown."""

import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import date, timedelta
from importlib.metadata import version
from typing import Any, Literal, Self

from pydantic import Field

from answerable.core.clock import Clock, today
from answerable.core.context import Principal, RunContext
from answerable.core.ids import new_run_id
from answerable.core.values import Frozen
from answerable.engine.steps.descriptor import Product, RowsFrom, StepDescriptor
from answerable.machine import machine_facts, runs_programs, sandboxes_found
from answerable.models.budget import Budget
from answerable.models.current import CurrentModels
from answerable.models.prices import BILLION
from answerable.settings import Settings, shown_settings
from answerable.sources.open import shown_location
from answerable.store.base import DayOfUse, Store
from answerable.store.protocols.budgets import AccountLimit, Balance


class UsageDay(Frozen):
    day: date
    runs: int
    failed: int
    tokens: int
    cost_usd: float


class BudgetView(Frozen):
    name: str = Field(description="`run`, `thread`, `user` or `tenant`.")
    period: str = Field(description="A day, a month, or empty.")
    tokens_limit: int | None
    tokens_spent: int
    cost_limit_usd: float | None
    cost_spent_usd: float


class UsageReport(Frozen):
    days: list[UsageDay] = Field(description="Every day, the oldest first.")
    budgets: list[BudgetView] = Field(description="Those that have a limit.")


class SandboxView(Frozen):
    backend: str
    default: bool
    available: bool
    detail: str
    remedy: str | None
    walls: dict[str, str]


class DoctorReport(Frozen):
    ready: bool = Field(description="Whether generated code can run in the sandbox that the settings name.")
    machine: dict[str, Any]
    sandboxes: list[SandboxView]


class About(Frozen):
    version: str
    python: str
    store: str
    home: str
    default_source: str
    upload_mb: int
    share_rows: bool = Field(description="Whether values of the data go to a language model.")
    runs_as_written: list[Literal["sql", "cypher", "python"]] = Field(
        description="What a message may begin with, as in `SQL: SELECT 1`. Python needs a sandbox that works."
    )


class StepKindView(Frozen):
    name: str = Field(description="As graphs, timelines and answers name it.")
    title: str | None = Field(
        description="What people read for such a step, followed by the source that it asks; the step's id if null."
    )
    label: str | None = Field(description="One or two words for what it is; its name if null.")
    produces: Product
    rows_from: RowsFrom | None = Field(description="Where it reads rows: a source, or earlier steps.")
    language: str | None = Field(description="In which its code is shown; null if it runs no code.")
    is_wrapper: bool = Field(description="Whether it only runs the steps inside it, which are shown in its place.")
    data_source_type: str | None = Field(description="Where an answer that consists of its rows comes from.")
    repeatable: bool = Field(description="Whether a replay can run it again.")

    @classmethod
    def of(cls, kind: StepDescriptor) -> Self:
        return cls.model_validate(kind.model_dump(include=set(cls.model_fields)))


class StepKindList(Frozen):
    step_kinds: list[StepKindView]


class SetupService:
    def __init__(
        self,
        store: Store,
        settings: Settings,
        models: CurrentModels,
        clock: Clock,
        step_kinds: Sequence[StepDescriptor],
    ) -> None:
        self._store = store
        self._models = models
        self._settings = settings
        self._clock = clock
        self._step_kinds = step_kinds
        self._runs_programs = False
        """Until it was tried."""

    def settings(self, principal: Principal) -> Mapping[str, Any]:
        """Every setting by name, without keys and passwords."""
        return shown_settings(self._settings)

    async def usage(self, principal: Principal, *, days: int = 30) -> UsageReport:
        """What was asked and spent, by day (UTC), and what is left of the budgets."""
        first = today(self._clock) - timedelta(days=days - 1)
        since = self._clock.now().replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(days=days - 1)
        used = {each.day: each for each in await self._store.runs.use(principal, since)}
        every = [_day(first + timedelta(days=number), used) for number in range(days)]
        return UsageReport(days=every, budgets=await self._budgets(principal))

    async def doctor(self, principal: Principal) -> DoctorReport:
        """What this machine offers for generated code; trying it takes a moment."""
        found = await sandboxes_found(self._settings)
        views = [SandboxView(default=each.backend == self._settings.sandbox, **asdict(each)) for each in found]
        ready = any(view.available for view in views if view.default)
        return DoctorReport(ready=ready, machine=machine_facts(self._settings), sandboxes=views)

    async def about(self, principal: Principal) -> About:
        """Versions, folders, and what can be asked as written."""
        settings = self._settings
        self._runs_programs = self._runs_programs or await runs_programs(settings)
        return About(
            version=version("answerable"),
            python=platform.python_version(),
            store=shown_location(settings.store_url),
            home=str(settings.home),
            default_source=shown_location(settings.source),
            upload_mb=settings.upload_mb,
            share_rows=self._models.share_rows,
            runs_as_written=["sql", "cypher", "python"] if self._runs_programs else ["sql", "cypher"],
        )

    def step_kinds(self, principal: Principal) -> StepKindList:
        """The kinds of steps that a run can have."""
        return StepKindList(step_kinds=[StepKindView.of(kind) for kind in self._step_kinds])

    async def _budgets(self, principal: Principal) -> list[BudgetView]:
        budget = Budget(self._store.budgets, self._models.config.budget, self._clock)
        context = RunContext(new_run_id(), principal)
        balances = await budget.balances(context)
        return [_budget(limit, balance) for limit, balance in zip(budget.accounts(context), balances, strict=True)]


def _day(day: date, used: Mapping[str, DayOfUse]) -> UsageDay:
    found = used.get(day.isoformat())
    if found is None:
        return UsageDay(day=day, runs=0, failed=0, tokens=0, cost_usd=0.0)
    return UsageDay(day=day, runs=found.runs, failed=found.failed, tokens=found.tokens, cost_usd=found.cost)


def _budget(limit: AccountLimit, balance: Balance) -> BudgetView:
    return BudgetView(
        name=limit.account.name.partition(":")[0],
        period=limit.account.period,
        tokens_limit=limit.tokens,
        tokens_spent=balance.spent.tokens,
        cost_limit_usd=None if limit.cost is None else limit.cost / BILLION,
        cost_spent_usd=balance.spent.cost / BILLION,
    )
