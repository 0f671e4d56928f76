"""The settings of language models: which, where, how long, how much."""

from collections.abc import Collection, Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, SecretStr

from answerable.core.values import Frozen

Role = Literal["reasoning", "coding"]
"""`reasoning` plans, judges and formats; `coding` writes queries and programs."""
ROLES: tuple[Role, ...] = ("reasoning", "coding")


def _listed(value: Any) -> Any:
    return [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else value


Chain = Annotated[tuple[str, ...], BeforeValidator(_listed)]
"""Names of models: the first is used, the others in turn when it fails. Text is split at commas."""


COMPATIBLE = "compatible"
"""The provider of a name without one: whatever speaks OpenAI's protocol at `base_url`."""


PROVIDERS = ("anthropic", "azure", "bedrock", COMPATIBLE, "google", "ollama", "openai")


def split_name(name: str, providers: Collection[str] = ()) -> tuple[str, str]:
    """Provider and model of `openai:gpt-5.2`. A colon may also belong to the model: `qwen3:8b`, `ollama:qwen3:8b`."""
    provider, colon, model = name.partition(":")
    known = colon and (provider in PROVIDERS or provider in providers)
    return (provider, model) if known else (COMPATIBLE, name)


class TimeLimits(Frozen):
    """Seconds, for each attempt."""

    connect: float = Field(default=5.0, gt=0)
    first_token: float = Field(default=300.0, gt=0)
    """Until a streamed reply begins. Models that think first, or read a long prompt without a GPU, take minutes."""
    total: float = Field(default=600.0, gt=0)


class Price(Frozen):
    """Dollars for a million tokens."""

    input: float = Field(ge=0)
    output: float = Field(ge=0)


class Endpoint(Frozen):
    """How a provider is reached, where that differs from what everybody uses."""

    base_url: str = ""
    key: SecretStr | None = None
    key_variable: str = ""
    """The environment variable that holds the key, for a provider that has none of its own."""
    api: Literal["chat", "responses"] | None = None
    """Which of OpenAI's two interfaces is spoken; `responses` with OpenAI itself, else `chat`."""
    api_version: str = ""
    region: str = ""
    price: Price | None = None
    """Of every model of this provider; wins over the list of prices."""


class Limit(Frozen):
    tokens: int | None = Field(default=None, ge=0)
    cost: float | None = Field(default=None, ge=0)
    """Dollars."""


class BudgetLimits(Frozen):
    run: Limit = Limit()
    thread: Limit = Limit()
    user_day: Limit = Limit()
    user_month: Limit = Limit()
    tenant_day: Limit = Limit()
    tenant_month: Limit = Limit()


class ModelsConfig(Frozen):
    reasoning: Chain = ()
    coding: Chain = ()
    """The same as `reasoning` unless named."""
    providers: Mapping[str, Endpoint] = {}
    timeouts: TimeLimits = TimeLimits()
    attempts: int = Field(default=3, ge=1, le=10)
    """How often one model is tried before the next one of the role."""
    longest_wait: float = Field(default=30.0, ge=0)
    """Most seconds between two attempts, also when the provider asks for more."""
    max_output_tokens: int | None = Field(default=None, gt=0)
    """Of one reply, whatever limit an agent has: models that think count their thoughts as output. If None, each agent
    has its own limit. What is reserved for a reply beforehand."""
    budget: BudgetLimits = BudgetLimits()

    def chain(self, role: Role) -> tuple[str, ...]:
        """The models of a role in the order they are tried; empty when none is set."""
        return (self.coding or self.reasoning) if role == "coding" else (self.reasoning or self.coding)

    def named(self) -> tuple[str, ...]:
        """Every model that some role uses, once."""
        return tuple(dict.fromkeys(name for role in ROLES for name in self.chain(role)))


def read_config(
    settings: Mapping[str, Any],
    model: str | Sequence[str] = "",
    coding: str | Sequence[str] = "",
    base_url: str = "",
    key: SecretStr | None = None,
) -> ModelsConfig:
    """`settings` is the mapping `models`; the other arguments win. Address and key go to the model's provider."""
    named = {name: value for name, value in (("reasoning", model), ("coding", coding)) if value}
    config = ModelsConfig.model_validate({**settings, **named})
    reached = {name: value for name, value in (("base_url", base_url), ("key", key)) if value}
    if not (reached and config.named()):
        return config
    provider, _ = split_name(config.named()[0], config.providers)
    endpoint = config.providers.get(provider, Endpoint()).model_copy(update=reached)
    return config.model_copy(update={"providers": {**config.providers, provider: endpoint}})
