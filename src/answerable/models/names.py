"""A name becomes a target: provider, model, address, key and price."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Literal
from urllib.parse import urlsplit

from pydantic import SecretStr

from answerable.core.errors import OperatorError
from answerable.models.config import COMPATIBLE, PROVIDERS, Endpoint, ModelsConfig, Price, split_name

Api = Literal["chat", "responses", "anthropic", "google", "bedrock"]


@dataclass(frozen=True, slots=True)
class Kind:
    """What is particular to a provider. A provider that only the settings name is `compatible`."""

    api: Api
    key_variables: tuple[str, ...] = ()
    url_variables: tuple[str, ...] = ()
    default_url: str = ""
    prices: str | None = None
    """Its name in the list of prices."""
    needs: Literal["key", "url", "key and url", "nothing"] = "key"


KINDS: Mapping[str, Kind] = {
    "anthropic": Kind("anthropic", ("ANTHROPIC_API_KEY",), prices="anthropic"),
    "azure": Kind("chat", ("AZURE_OPENAI_API_KEY",), ("AZURE_OPENAI_ENDPOINT",), prices="azure", needs="key and url"),
    "bedrock": Kind("bedrock", ("AWS_BEARER_TOKEN_BEDROCK",), prices="aws", needs="nothing"),
    COMPATIBLE: Kind("chat", needs="url"),
    "google": Kind("google", ("GOOGLE_API_KEY", "GEMINI_API_KEY"), prices="google"),
    "ollama": Kind("chat", ("OLLAMA_API_KEY",), ("OLLAMA_BASE_URL",), "http://127.0.0.1:11434/v1", needs="nothing"),
    "openai": Kind("responses", ("OPENAI_API_KEY",), ("OPENAI_BASE_URL",), prices="openai"),
}


@dataclass(frozen=True, slots=True)
class Target:
    """One model at one provider. Its key does not appear in its `repr`."""

    provider: str
    model: str
    api: Api
    base_url: str = ""
    key: SecretStr | None = field(default=None, repr=False)
    api_version: str = ""
    region: str = ""
    price: Price | None = None
    prices: str | None = None

    @property
    def name(self) -> str:
        return f"{self.provider}:{self.model}"

    @property
    def is_local(self) -> bool:
        return not self.is_ollama_cloud and (self.provider == "ollama" or is_loopback(self.base_url))

    @property
    def is_ollama_cloud(self) -> bool:
        """Reached through a local Ollama or directly; it costs money, and does not hold a reply to a schema."""
        host = urlsplit(self.base_url).hostname or ""
        return self.provider == "ollama" and (self.model.endswith("-cloud") or f".{host}".endswith(".ollama.com"))


def target_of(name: str, config: ModelsConfig, environment: Mapping[str, str]) -> Target:
    """The target that the settings mean by a name, or the reason why there is none."""
    provider, model = split_name(name, config.providers)
    kind = KINDS.get(provider, KINDS[COMPATIBLE])
    endpoint = config.providers.get(provider, Endpoint())
    base_url = endpoint.base_url or _first(kind.url_variables, environment) or kind.default_url
    key = endpoint.key or _key(kind, endpoint, environment)
    _check_complete(name, provider, kind, base_url, key)
    return Target(
        provider=provider,
        model=model,
        api=_api(kind, endpoint, base_url),
        base_url=base_url.rstrip("/"),
        key=key,
        api_version=endpoint.api_version or environment.get("OPENAI_API_VERSION", ""),
        region=endpoint.region or _first(("AWS_REGION", "AWS_DEFAULT_REGION"), environment),
        price=endpoint.price,
        prices=kind.prices,
    )


def is_loopback(url: str) -> bool:
    # Names other than `localhost` are not resolved: what a name points to may change, and a lookup would block.
    host = urlsplit(url).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _key(kind: Kind, endpoint: Endpoint, environment: Mapping[str, str]) -> SecretStr | None:
    text = _first((endpoint.key_variable,) if endpoint.key_variable else kind.key_variables, environment)
    return SecretStr(text) if text else None


def _api(kind: Kind, endpoint: Endpoint, base_url: str) -> Api:
    """Servers that only resemble OpenAI speak `chat`; OpenAI's newest models need `responses` for tools."""
    if kind.api not in ("chat", "responses"):
        return kind.api
    if endpoint.api is not None:
        return endpoint.api
    return "chat" if base_url and urlsplit(base_url).hostname != "api.openai.com" else kind.api


def _check_complete(name: str, provider: str, kind: Kind, base_url: str, key: SecretStr | None) -> None:
    if "url" in kind.needs and not base_url:
        raise _no_address(name, provider, kind)
    if base_url and urlsplit(base_url).scheme not in ("http", "https"):
        raise OperatorError(
            f"The address of the provider {provider} is not an http URL.",
            code="model_name_invalid",
            hint="It looks like https://host/v1.",
        )
    if kind.needs in ("key", "key and url") and key is None and not (base_url and is_loopback(base_url)):
        raise OperatorError(
            f"The model {name} needs a key.",
            code="model_key_missing",
            hint=f"Set the environment variable {kind.key_variables[0]}, or `models.providers.{provider}.key`.",
        )


def _no_address(name: str, provider: str, kind: Kind) -> OperatorError:
    if kind.url_variables:
        hint = f"Set {kind.url_variables[0]}, or `models.providers.{provider}.base_url`."
        return OperatorError(f"The model {name} needs the address of its server.", code="model_name_invalid", hint=hint)
    return OperatorError(
        f"{name!r} names no provider that is known.",
        code="model_name_invalid",
        hint=f"Write provider:model with one of {', '.join(PROVIDERS)}, or set `model_base_url` to its server.",
    )


def _first(names: tuple[str, ...], environment: Mapping[str, str]) -> str:
    return next((environment[name] for name in names if environment.get(name)), "")
