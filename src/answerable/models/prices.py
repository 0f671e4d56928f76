"""What tokens cost, in billionths of a dollar. Always rounded up; nothing is ever priced at zero for want of knowledge.

The settings' own price wins, then the list of prices (genai-prices, bundled, offline); a local server costs nothing;
what is left is unknown.
"""

from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal
from typing import TYPE_CHECKING

from answerable.models.names import Target

if TYPE_CHECKING:
    from pydantic_ai.usage import RequestUsage

BILLION = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Used:
    """Tokens of a call. `cached` of the `input` were read from the provider's cache."""

    input: int = 0
    output: int = 0
    cached: int = 0

    @property
    def total(self) -> int:
        return self.input + self.output


def used(usage: "RequestUsage") -> Used:
    return Used(usage.input_tokens, usage.output_tokens, usage.cache_read_tokens)


def cost_of(target: Target, usage: Used) -> int | None:
    """Cost in billionths of a dollar; None if the price is unknown."""
    if target.price is not None:
        return _up(
            Decimal(str(target.price.input)) * usage.input + Decimal(str(target.price.output)) * usage.output, 1000
        )
    listed = _listed(target, usage)
    if listed is not None:
        return _up(listed, BILLION)
    return 0 if target.is_local else None


def dollars(cost: int | None) -> float | None:
    return None if cost is None else cost / BILLION


def _up(amount: Decimal, factor: int) -> int:
    """A price for a million tokens, times tokens, times 1,000, is billionths."""
    return int((amount * factor).to_integral_value(ROUND_CEILING))


def _listed(target: Target, usage: Used) -> Decimal | None:
    if target.prices is None:
        return None
    from genai_prices import Usage, calc_price

    tokens = Usage(input_tokens=usage.input, output_tokens=usage.output, cache_read_tokens=usage.cached or None)
    try:
        return calc_price(tokens, target.model, provider_id=target.prices).total_price
    except (LookupError, ValueError):  # a model that the list does not know, or a count that it cannot price
        return None
