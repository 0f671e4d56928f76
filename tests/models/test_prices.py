"""Known prices are used, local models cost nothing, and what is not known is never called free."""

import pytest

from answerable.models.config import Price
from answerable.models.names import Target
from answerable.models.prices import Used, cost_of, dollars

MANY = Used(1_000_000, 1_000_000)


def listed(provider: str, model: str, prices: str | None = None) -> Target:
    return Target(provider, model, "chat", prices=prices or provider)


@pytest.mark.parametrize(
    "target",
    [
        listed("openai", "gpt-4o"),
        listed("anthropic", "claude-sonnet-4-5"),
        listed("google", "gemini-2.5-pro"),
        listed("azure", "gpt-4o"),
        listed("bedrock", "anthropic.claude-sonnet-4-5-20250929-v1:0", "aws"),
    ],
    ids=lambda target: target.name,
)
def test_listed_models_have_a_price(target: Target) -> None:
    cost = cost_of(target, Used(1000, 1000))
    assert cost is not None
    assert 0.001 < (dollars(cost) or 0) < 0.1


def test_reading_from_the_cache_is_cheaper() -> None:
    gpt = listed("openai", "gpt-4o")
    assert (cost_of(gpt, Used(1000, 10, 900)) or 0) < (cost_of(gpt, Used(1000, 10)) or 0)


def test_a_price_of_the_settings_wins() -> None:
    target = Target("openai", "gpt-4o", "chat", price=Price(input=0.25, output=1.5), prices="openai")
    assert dollars(cost_of(target, MANY)) == 1.75
    assert cost_of(target, Used(1, 0)) == 250


def test_fractions_are_rounded_up() -> None:
    assert cost_of(Target("lab", "x", "chat", price=Price(input=0.0001, output=0)), Used(1, 0)) == 1


@pytest.mark.parametrize(
    ("target", "cost"),
    [
        (Target("ollama", "qwen3:8b", "chat", "http://gpu.example:11434/v1"), 0),
        (Target("ollama", "gpt-oss:120b-cloud", "chat", "http://gpu.example:11434/v1"), None),
        (Target("ollama", "gpt-oss:120b", "chat", "https://ollama.com/v1"), None),
        (Target("compatible", "x", "chat", "http://127.0.0.1:8080/v1"), 0),
        (Target("compatible", "x", "chat", "http://localhost:8080/v1"), 0),
        (Target("compatible", "x", "chat", "http://[::1]:8080/v1"), 0),
        (Target("compatible", "x", "chat", "https://api.example.com/v1"), None),
        (listed("openai", "a-model-of-next-year"), None),
    ],
)
def test_local_models_cost_nothing_and_unknown_ones_are_unknown(target: Target, cost: int | None) -> None:
    assert cost_of(target, MANY) == cost
