"""Language models: listed, tried, added, arranged and removed; what is sent to them, and how much they may cost.

A change is written to `settings.yaml` and holds from the next call on. A key goes there and is never shown again.
"""

import asyncio
import os
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Literal

from pydantic import Field, SecretStr

from answerable.core.clock import Clock
from answerable.core.context import HOME_TENANT, Principal
from answerable.core.errors import AnswerableError, RefusedError, UserError
from answerable.core.values import Frozen
from answerable.models import editing
from answerable.models.config import PROVIDERS, ROLES, BudgetLimits, ModelsConfig, Role, split_name
from answerable.models.current import CurrentModels
from answerable.models.editing import NewModel, Values
from answerable.models.names import KINDS, target_of
from answerable.settings import PREFIX, Settings
from answerable.settings_file import SettingsFile
from answerable.sources.open import shown_location

if TYPE_CHECKING:
    from answerable.models.check import Checked, Trial


class ModelTrialError(Frozen):
    code: str
    message: str
    hint: str | None


class ModelTrial(Frozen):
    ok: bool
    ms: float
    error: ModelTrialError | None = None


class ModelCheck(Frozen):
    name: str
    works: bool
    checks: dict[str, ModelTrial] = Field(description="`text`, `structured`, `streaming`, `tools`.")
    tokens: int
    cost_usd: float | None


class LastCheck(Frozen):
    at: datetime
    result: ModelCheck


class ModelName(Frozen):
    name: str
    provider: str
    model: str
    base_url: str | None
    key: Literal["settings", "environment", "none"] = Field(description="Where its key is; the key is never shown.")
    local: bool = Field(description="Whether what is sent to it stays on this machine.")
    last_check: LastCheck | None = Field(description="Since the server was started.")


class ModelRole(Frozen):
    role: Role = Field(description="`reasoning` plans and judges; `coding` writes queries and programs.")
    models: list[ModelName] = Field(description="The first is used, the others in turn when it fails.")


class ModelProvider(Frozen):
    name: str
    needs: Literal["key", "url", "key and url", "nothing"]


class ModelsOverview(Frozen):
    configured: bool = Field(description="False: questions are read without a language model.")
    roles: list[ModelRole]
    share_rows: bool = Field(description="Whether values and sample records of the data are sent to a model.")
    share_personal: bool = Field(description="Whether personal data may be among them.")
    budget: BudgetLimits
    providers: list[ModelProvider] = Field(description="Those that a model can be added of.")
    fixed_by: list[str] = Field(
        description="Environment variables that set the models; while there are any, models cannot be changed here."
    )


class ModelOrder(Frozen):
    """The models of each role in the order in which they are asked. What is left out is removed, with its key."""

    reasoning: list[str] = Field(max_length=50)
    coding: list[str] = Field(max_length=50)


class ModelService:
    def __init__(self, settings: Settings, current: CurrentModels, clock: Clock) -> None:
        self._settings = settings
        self._file = SettingsFile(settings.home / "settings.yaml")
        self._current = current
        self._clock = clock
        self._checks: dict[str, LastCheck] = {}
        self._removed: dict[str, Values] = {}
        """What was said of providers that are gone, so that a removal can be undone. Only here, never on the disk."""
        self._changing = asyncio.Lock()

    def overview(self, principal: Principal) -> ModelsOverview:
        """Which language models are set, what is sent to them, and what they may cost."""
        config = self._current.config
        return ModelsOverview(
            configured=bool(config.named()),
            roles=[ModelRole(role=role, models=[self._model(name) for name in config.chain(role)]) for role in ROLES],
            share_rows=self._current.share_rows,
            share_personal=self._current.share_personal,
            budget=config.budget,
            providers=[ModelProvider(name=name, needs=KINDS[name].needs) for name in PROVIDERS],
            fixed_by=self._fixed_by(editing.SHORT),
        )

    async def check(self, principal: Principal, *, name: str | None = None) -> Sequence[ModelCheck]:
        """Tries one model, or all that are set, with tiny requests; they cost a fraction of a cent."""
        return await self._checked(self._current.config, principal, name)

    async def check_new(self, new: NewModel, principal: Principal) -> ModelCheck:
        """Tries a model before it is added; nothing is written."""
        self._require_home(principal)
        values, name = editing.with_model(self._file.values(), new, os.environ)
        [found] = await self._checked(self._file.config(values), principal, name)
        return found

    async def add(self, new: NewModel, principal: Principal) -> ModelsOverview:
        """Adds a model after those that are there; one for a single role is asked first in it."""
        self._check_changeable(principal)
        async with self._changing:
            values, name = editing.with_model(self._file.values(), new, os.environ)
            try:
                target_of(name, self._file.config(values), os.environ)
            except AnswerableError as error:  # whoever adds it can mend what it lacks
                raise UserError(error.message, code=error.stable_code, hint=error.hint) from error
            await self._write(values)
        return self.overview(principal)

    async def arrange(self, order: ModelOrder, principal: Principal) -> ModelsOverview:
        """Puts models in order. One that is left out is removed, and its provider's key with the last model of it;
        naming it again before the server ends brings both back."""
        self._check_changeable(principal)
        wanted: Mapping[Role, Sequence[str]] = {"reasoning": order.reasoning, "coding": order.coding}
        async with self._changing:
            values, gone = editing.with_order(self._file.values(), wanted, self._removed)
            for name in {*order.reasoning, *order.coding} - {*self._current.config.named()}:
                if split_name(name, self._removed)[0] not in {*PROVIDERS, *self._removed}:
                    raise _unknown(name)
            await self._write(values)
            self._removed |= gone
        return self.overview(principal)

    async def replace_key(self, name: str, key: SecretStr, principal: Principal) -> ModelsOverview:
        """Writes another key for the provider of a model."""
        self._check_changeable(principal)
        if name not in self._current.config.named():
            raise _unknown(name)
        provider, _ = split_name(name, self._current.config.providers)
        async with self._changing:
            await self._write(editing.with_key(self._file.values(), provider, key))
        return self.overview(principal)

    async def share(self, rows: bool, principal: Principal) -> ModelsOverview:
        """Whether values and sample records of the data are sent to a model."""
        self._check_changeable(principal, ("share_rows",))
        async with self._changing:
            await self._write({**self._file.values(), "share_rows": rows})
            self._current.share_rows = rows
        return self.overview(principal)

    async def set_budget(self, limits: BudgetLimits, principal: Principal) -> ModelsOverview:
        """How much models may cost: in a run, and for a person and for everybody in a day or month."""
        self._check_changeable(principal, ())
        async with self._changing:
            values = editing.with_budget(self._file.values(), limits)
            await self._write(values)
        return self.overview(principal)

    async def _write(self, values: Values) -> None:
        await asyncio.to_thread(self._file.write, values)
        fixed = {name: getattr(self._settings, name) for name in editing.SHORT if name in self._settings.fixed}
        self._current.config = self._file.config({**values, **fixed})

    async def _checked(self, config: ModelsConfig, principal: Principal, name: str | None) -> Sequence[ModelCheck]:
        from answerable.models.check import check_models  # brings the clients of providers, which only models need

        found = [_model_check(each) for each in await check_models(config, principal, name)]
        self._checks |= {each.name: LastCheck(at=self._clock.now(), result=each) for each in found}
        return found

    def _model(self, name: str) -> ModelName:
        config = self._current.config
        provider, model = split_name(name, config.providers)
        endpoint = config.providers.get(provider)
        base_url = shown_location(endpoint.base_url) if endpoint and endpoint.base_url else None
        try:
            target = target_of(name, config, os.environ)
        except AnswerableError:  # it lacks something; a test of it says what
            target = None
        stored = endpoint is not None and endpoint.key is not None
        return ModelName(
            name=name,
            provider=provider,
            model=model,
            base_url=base_url,
            key="settings" if stored else "environment" if target is not None and target.key else "none",
            local=target is not None and target.is_local,
            last_check=self._checks.get(name),
        )

    def _fixed_by(self, names: Sequence[str]) -> list[str]:
        return [PREFIX + name.upper() for name in names if name in self._settings.fixed]

    def _require_home(self, principal: Principal) -> None:
        if principal.tenant != HOME_TENANT:
            raise RefusedError(
                "The models belong to whoever runs the server.",
                code="models_not_yours",
                hint="Ask them to change the models.",
            )

    def _check_changeable(self, principal: Principal, names: Sequence[str] = editing.SHORT) -> None:
        self._require_home(principal)
        fixed = self._fixed_by(names)
        if fixed:
            raise RefusedError(
                f"This is set outside of the settings file, as {fixed[0]}.",
                code="settings_fixed",
                hint="Whoever runs the server can start it without that; then it can be changed here.",
            )


def _unknown(name: str) -> UserError:
    return UserError(f"There is no model {name!r}.", code="model_unknown", hint="Add it first.")


def _model_check(checked: "Checked") -> ModelCheck:
    trials = {name: _trial(trial) for name, trial in checked.trials.items()}
    return ModelCheck(
        name=checked.name, works=checked.works, checks=trials, tokens=checked.tokens, cost_usd=checked.cost
    )


def _trial(trial: "Trial") -> ModelTrial:
    error = trial.error
    shown = error and ModelTrialError(code=error.stable_code, message=error.message, hint=error.hint)
    return ModelTrial(ok=trial.ok, ms=round(trial.ms, 1), error=shown)
