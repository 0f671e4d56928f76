"""How Answerable is set up here: models, budgets and use, sandboxes, versions. Secrets are never told."""

import platform
from dataclasses import asdict
from datetime import date, timedelta
from importlib.metadata import version
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from pydantic import Field

from answerable.core.clock import SystemClock, today
from answerable.core.context import Principal, RunContext
from answerable.core.ids import new_run_id
from answerable.gateway.access import PrincipalOf, ServiceOf, SettingsOf
from answerable.gateway.problems import documented
from answerable.gateway.wire import API, Wire
from answerable.machine import machine_facts, runs_programs, sandboxes_found
from answerable.models.budget import Budget
from answerable.models.config import ROLES, ModelsConfig, split_name
from answerable.models.prices import BILLION
from answerable.service import Service
from answerable.sources.open import shown_location
from answerable.store.base import AccountLimit, Balance, DayOfUse

router = APIRouter(prefix=API, tags=["setup"])


class ModelName(Wire):
    name: str
    provider: str
    model: str
    base_url: str | None


class ModelRole(Wire):
    role: str = Field(description="`reasoning` plans and judges; `coding` writes queries and programs.")
    models: list[ModelName] = Field(description="The first is used, the others in turn when it fails.")


class ModelsOverview(Wire):
    configured: bool = Field(description="False: questions are read without a language model.")
    roles: list[ModelRole]


class ModelToCheck(Wire):
    name: str = Field(min_length=1, max_length=200)


class ModelTrialError(Wire):
    code: str
    message: str
    hint: str | None


class ModelTrial(Wire):
    ok: bool
    ms: float
    error: ModelTrialError | None = None


class ModelCheck(Wire):
    name: str
    works: bool
    checks: dict[str, ModelTrial] = Field(description="`text`, `structured`, `streaming`, `tools`.")
    tokens: int
    cost_usd: float | None


class UsageDay(Wire):
    day: date
    runs: int
    failed: int
    tokens: int
    cost_usd: float


class BudgetView(Wire):
    name: str = Field(description="`run`, `thread`, `user` or `tenant`.")
    period: str = Field(description="A day, a month, or empty.")
    tokens_limit: int | None
    tokens_spent: int
    cost_limit_usd: float | None
    cost_spent_usd: float


class UsageReport(Wire):
    days: list[UsageDay] = Field(description="Every day, the oldest first.")
    budgets: list[BudgetView] = Field(description="Those that have a limit.")


class SandboxView(Wire):
    backend: str
    default: bool
    available: bool
    detail: str
    remedy: str | None
    walls: dict[str, str]


class DoctorReport(Wire):
    ready: bool = Field(description="Generated code can run in the sandbox that the settings name.")
    machine: dict[str, Any]
    sandboxes: list[SandboxView]


class About(Wire):
    version: str
    python: str
    store: str
    home: str
    default_source: str
    upload_mb: int
    share_rows: bool = Field(description="Whether values of the data go to a language model.")
    runs_as_written: list[Literal["sql", "python"]] = Field(
        description="What a message may begin with, as in `SQL: SELECT 1`. Python needs a sandbox that works."
    )


@router.get("/models")
async def models(settings: SettingsOf) -> ModelsOverview:
    """Which language models are set."""
    config = settings.models_config
    roles = [ModelRole(role=role, models=[_model(name, config) for name in config.chain(role)]) for role in ROLES]
    return ModelsOverview(configured=bool(config.named()), roles=roles)


@router.post("/models/check", responses=documented(400, 404, 413, 422, 503))
async def check(body: ModelToCheck, settings: SettingsOf) -> ModelCheck:
    """Try a model with tiny requests; they cost a fraction of a cent."""
    from answerable.models.check import check_models  # brings the clients of providers, which only models need

    [found] = await check_models(settings.models_config, body.name)
    told = found.as_json()
    return ModelCheck(
        name=told["name"], works=told["works"], checks=told["checks"], tokens=told["tokens"], cost_usd=told["cost"]
    )


@router.get("/usage", responses=documented(422))
async def usage(
    service: ServiceOf, settings: SettingsOf, principal: PrincipalOf, days: Annotated[int, Query(ge=1, le=366)] = 30
) -> UsageReport:
    """What was asked and spent, by day (UTC), and what is left of the budgets."""
    clock = SystemClock()
    first = today(clock) - timedelta(days=days - 1)
    since = clock.now().replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(days=days - 1)
    used = {each.day: each for each in await service.store.runs.use(principal, since)}
    every = [_day(first + timedelta(days=number), used) for number in range(days)]
    return UsageReport(days=every, budgets=await _budgets(settings.models_config, service, principal))


@router.get("/doctor", responses=documented(503))
async def doctor(settings: SettingsOf) -> DoctorReport:
    """What this machine offers for generated code; trying it takes a moment."""
    found = await sandboxes_found(settings)
    views = [SandboxView(default=each.backend == settings.sandbox, **asdict(each)) for each in found]
    ready = any(view.available for view in views if view.default)
    return DoctorReport(ready=ready, machine=machine_facts(settings), sandboxes=views)


@router.get("/about")
async def about(settings: SettingsOf, request: Request) -> About:
    programs = request.app.state.runs_programs = request.app.state.runs_programs or await runs_programs(settings)
    return About(
        version=version("answerable"),
        python=platform.python_version(),
        store=shown_location(settings.store_url),
        home=str(settings.home),
        default_source=shown_location(settings.source),
        upload_mb=settings.upload_mb,
        share_rows=settings.share_rows,
        runs_as_written=["sql", "python"] if programs else ["sql"],
    )


def _model(name: str, config: ModelsConfig) -> ModelName:
    provider, model = split_name(name, config.providers)
    endpoint = config.providers.get(provider)
    base_url = shown_location(endpoint.base_url) if endpoint and endpoint.base_url else None
    return ModelName(name=name, provider=provider, model=model, base_url=base_url)


def _day(day: date, used: dict[str, DayOfUse]) -> UsageDay:
    found = used.get(day.isoformat())
    if found is None:
        return UsageDay(day=day, runs=0, failed=0, tokens=0, cost_usd=0.0)
    return UsageDay(day=day, runs=found.runs, failed=found.failed, tokens=found.tokens, cost_usd=found.cost)


async def _budgets(config: ModelsConfig, service: Service, principal: Principal) -> list[BudgetView]:
    budget = Budget(service.store.budgets, config.budget, SystemClock())
    context = RunContext(new_run_id(), principal)
    balances = await budget.balances(context)
    return [_budget(limit, balance) for limit, balance in zip(budget.accounts(context), balances, strict=True)]


def _budget(limit: AccountLimit, balance: Balance) -> BudgetView:
    return BudgetView(
        name=limit.account.name.partition(":")[0],
        period=limit.account.period,
        tokens_limit=limit.tokens,
        tokens_spent=balance.spent.tokens,
        cost_limit_usd=None if limit.cost is None else limit.cost / BILLION,
        cost_spent_usd=balance.spent.cost / BILLION,
    )
