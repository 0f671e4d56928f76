"""A target becomes a pydantic-ai model. The client of each provider is imported when it is first used."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from httpx2 import AsyncClient, Limits, Timeout

from answerable.core.errors import OperatorError
from answerable.models.config import TimeLimits
from answerable.models.names import Target

if TYPE_CHECKING:
    from pydantic_ai.models import Model
    from pydantic_ai.profiles.openai import OpenAIModelProfile
    from pydantic_ai.providers.azure import AzureProvider

_NO_KEY = "not-needed"
"""OpenAI's client insists on some key; a server that wants none ignores it."""


def new_client(limits: TimeLimits) -> AsyncClient:
    """One for each provider: its connections stay open and are used again."""
    timeout = Timeout(limits.total, connect=limits.connect)
    return AsyncClient(timeout=timeout, limits=Limits(max_connections=1000, max_keepalive_connections=100))


def model_for(target: Target, client: AsyncClient) -> "Model":
    """The model, or which package it needs."""
    try:
        return _BUILDERS[target.api](target, client)
    except ImportError as error:
        raise OperatorError(
            f"Models of {target.provider} need a package that is not installed.",
            code="model_extra_missing",
            hint=f"pip install 'answerable[{target.api}]'",
        ) from error


def _chat(target: Target, client: AsyncClient) -> "Model":
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider
    from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

    if target.provider == "azure":
        return OpenAIChatModel(target.model, provider=_azure(target, client), profile=_profile(openai=True))
    if target.provider == "ollama":
        return _ollama(target, client)
    if target.provider == "openai":
        provider = OpenAIProvider(target.base_url or None, _key(target), http_client=client)
        return OpenAIChatModel(target.model, provider=provider, profile=_profile(openai=True))
    compatible = OpenAICompatibleProvider(
        target.provider, base_url=target.base_url, api_key=_key(target), http_client=client
    )
    return OpenAIChatModel(target.model, provider=compatible, profile=_profile(openai=False))


def _responses(target: Target, client: AsyncClient) -> "Model":
    from pydantic_ai.models.openai import OpenAIResponsesModel
    from pydantic_ai.providers.openai import OpenAIProvider

    if target.provider == "azure":
        return OpenAIResponsesModel(target.model, provider=_azure(target, client))
    provider = OpenAIProvider(target.base_url or None, _key(target), http_client=client)
    return OpenAIResponsesModel(target.model, provider=provider)


def _anthropic(target: Target, client: AsyncClient) -> "Model":
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider

    provider = AnthropicProvider(api_key=_key(target), base_url=target.base_url or None, http_client=client)
    return AnthropicModel(target.model, provider=provider)


def _google(target: Target, client: AsyncClient) -> "Model":
    from pydantic_ai.models.google import GoogleModel
    from pydantic_ai.providers.google import GoogleProvider

    provider = GoogleProvider(api_key=_key(target), base_url=target.base_url or None, http_client=client)
    return GoogleModel(target.model, provider=provider)


def _bedrock(target: Target, client: AsyncClient) -> "Model":
    """Amazon's own client: it finds credentials by itself and keeps its own connections."""
    from pydantic_ai.models.bedrock import BedrockConverseModel
    from pydantic_ai.providers.bedrock import BedrockProvider

    place = {"base_url": target.base_url or None, "region_name": target.region or None}
    times = {"aws_connect_timeout": client.timeout.connect, "aws_read_timeout": client.timeout.read}
    key = {} if target.key is None else {"api_key": _key(target)}
    provider = BedrockProvider(**key, **place, **times)
    # `max_retries` of a request does not reach this client, so its retries are switched off here.
    _never_repeats(provider.client)
    return BedrockConverseModel(target.model, provider=provider)


def _never_repeats(client: Any) -> None:
    """Attempts are counted, waited for and paid for by whoever calls; Amazon's client would make four of each."""
    service = client.meta.service_model.service_id.hyphenize()
    client.meta.events.unregister(f"needs-retry.{service}", unique_id=f"retry-config-{service}")


def _ollama(target: Target, client: AsyncClient) -> "Model":
    from pydantic_ai.models.ollama import OllamaModel
    from pydantic_ai.providers.ollama import OllamaProvider

    provider = OllamaProvider(target.base_url, _key(target), http_client=client)
    profile = _profile(openai=False)
    # A local Ollama holds a reply to its schema. Its cloud does not, so the schema is asked for in another way.
    if target.is_ollama_cloud:
        profile["supports_json_schema_output"] = False
    return OllamaModel(target.model, provider=provider, profile=profile)


def _azure(target: Target, client: AsyncClient) -> "AzureProvider":
    from pydantic_ai.providers.azure import AzureProvider

    return AzureProvider(
        azure_endpoint=target.base_url,
        api_version=target.api_version or None,
        api_key=_key(target),
        http_client=client,
    )


def _profile(*, openai: bool) -> "OpenAIModelProfile":
    """A stream that ends without a reason was cut off. Others than OpenAI know only the older name of `max_tokens`."""
    from pydantic_ai.profiles.openai import OpenAIModelProfile

    return OpenAIModelProfile(
        openai_chat_streaming_requires_finish_reason=True, openai_chat_supports_max_completion_tokens=openai
    )


def _key(target: Target) -> str:
    return target.key.get_secret_value() if target.key is not None else _NO_KEY


_BUILDERS: Mapping[str, Callable[[Target, AsyncClient], "Model"]] = {
    "anthropic": _anthropic,
    "bedrock": _bedrock,
    "chat": _chat,
    "google": _google,
    "responses": _responses,
}
