"""Changes of the settings of models, as data: what `settings.yaml` says afterwards. Nothing here reads or writes.

`Values` are the settings as the file has them. The short settings (`model`, `model_key`, …) say the usual case; a
change puts them into `models`, so that there is one place that says it.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias
from urllib.parse import urlsplit

from pydantic import Field, SecretStr

from answerable.core.errors import UserError
from answerable.core.values import Frozen
from answerable.models.config import COMPATIBLE, PROVIDERS, ROLES, BudgetLimits, Role, read_config, split_name
from answerable.models.names import KINDS

Values: TypeAlias = Mapping[str, Any]
SHORT = ("model", "model_coding", "model_base_url", "model_key")
UsedFor = Literal["everything", "reasoning", "coding"]


class NewModel(Frozen):
    provider: Literal["anthropic", "azure", "bedrock", "compatible", "google", "ollama", "openai"]
    model: str = Field(min_length=1, max_length=200, pattern=r"^\S+$")
    base_url: str = Field(default="", max_length=1_000, description="Where it is reached, if not where everybody does.")
    key: SecretStr | None = Field(default=None, max_length=10_000, description="Written to the settings; never shown.")
    used_for: UsedFor = Field(default="everything", description="`reasoning` plans; `coding` writes queries, programs.")


def with_model(values: Values, new: NewModel, environment: Mapping[str, str]) -> tuple[Values, str]:
    """The settings with one model more, after those that are there, and its name."""
    models = _gathered(values)
    provider = _provider(new, models["providers"])
    _check_key_stays(new, provider, models["providers"].get(provider, {}), environment)
    name = f"{provider}:{new.model}"
    reached = {"base_url": new.base_url, "key": _key(new)}
    changed = {field: text for field, text in reached.items() if text}
    if changed or provider not in PROVIDERS:
        models["providers"][provider] = {**models["providers"].get(provider, {}), **changed}
    for role in ROLES:
        if new.used_for in ("everything", role) and name not in models[role]:
            # A model for one kind of work is asked first there: else it would only stand in for the others.
            models[role] = [*models[role], name] if new.used_for == "everything" else [name, *models[role]]
    return _written(values, models), name


def with_order(
    values: Values, order: Mapping[Role, Sequence[str]], endpoints: Mapping[str, Values]
) -> tuple[Values, Mapping[str, Values]]:
    """The settings with these models in this order. What was said of a provider that no model has
    any more, its key too, is taken out and returned beside. `endpoints`: what was said of providers that come back."""
    models = _gathered(values)
    known = {**endpoints, **models["providers"]}
    before = _used(models, known)
    models |= {role: list(dict.fromkeys(order[role])) for role in ROLES}
    now = _used(models, known)
    stay = {*models["providers"], *now} - (before - now)
    models["providers"] = {name: entry for name, entry in known.items() if name in stay}
    return _written(values, models), {name: known[name] for name in before - now if name in known}


def with_key(values: Values, provider: str, key: SecretStr) -> Values:
    models = _gathered(values)
    models["providers"][provider] = {**models["providers"].get(provider, {}), "key": key.get_secret_value()}
    return _written(values, models)


def with_budget(values: Values, limits: BudgetLimits) -> Values:
    models = _gathered(values)
    models["budget"] = limits.model_dump(exclude_defaults=True)
    return _written(values, models)


def _check_key_stays(new: NewModel, provider: str, known: Values, environment: Mapping[str, str]) -> None:
    """A key is for the address that it was given for: no other one gets it."""
    other_address = bool(new.base_url) and new.base_url != known.get("base_url", "")
    if other_address and not _key(new) and _has_key(provider, known, environment):
        raise UserError(
            f"The key of {provider} that is set is for another address.",
            code="model_key_missing",
            hint="Give the key of this address too.",
        )


def _has_key(provider: str, known: Values, environment: Mapping[str, str]) -> bool:
    """Whether requests to this provider carry a key that is stored, or that the server's environment holds."""
    if provider == "bedrock":
        return True  # Amazon's client finds credentials in more places than anybody can list
    variables = KINDS[provider].key_variables if provider in KINDS else ()
    return bool(known.get("key")) or any(environment.get(name) for name in (known.get("key_variable", ""), *variables))


def _key(new: NewModel) -> str:
    return new.key.get_secret_value().strip() if new.key else ""


def _gathered(values: Values) -> dict[str, Any]:
    """`models` with what the short settings say; each role has all of its models, and `providers` is there."""
    given = dict(values.get("models") or {})
    short = {name: values.get(name) or "" for name in SHORT}
    key = SecretStr(str(short["model_key"])) if short["model_key"] else None
    config = read_config(given, short["model"], short["model_coding"], short["model_base_url"], key)
    providers = {name: dict(entry) for name, entry in (given.get("providers") or {}).items()}
    reached = {"base_url": short["model_base_url"], "key": short["model_key"]}
    if any(reached.values()) and config.named():
        first, _ = split_name(config.named()[0], config.providers)
        providers[first] = {**providers.get(first, {}), **{field: text for field, text in reached.items() if text}}
    return {**given, **{role: list(config.chain(role)) for role in ROLES}, "providers": providers}


def _written(values: Values, models: Mapping[str, Any]) -> Values:
    same = models["coding"] == models["reasoning"]
    set_values = {name: value for name, value in models.items() if value and not (same and name == "coding")}
    others = {name: value for name, value in values.items() if name not in (*SHORT, "models")}
    return {**others, "models": set_values} if set_values else others


def _used(models: Mapping[str, Any], known: Mapping[str, Values]) -> set[str]:
    return {split_name(name, known)[0] for role in ROLES for name in models[role]}


def _provider(new: NewModel, known: Mapping[str, Values]) -> str:
    """The name of the provider. A second server that speaks OpenAI's protocol gets one of its own, after its host."""
    if new.provider != COMPATIBLE or known.get(COMPATIBLE, {}).get("base_url", new.base_url) == new.base_url:
        return new.provider
    same = next((name for name, entry in known.items() if entry.get("base_url") == new.base_url), None)
    address = urlsplit(new.base_url)
    host = re.sub(r"[^a-z0-9]+", "_", f"{address.hostname or COMPATIBLE}_{address.port or ''}".lower()).strip("_")
    return same or host
