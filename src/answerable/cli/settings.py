"""`answerable settings`"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from answerable.cli.output import json_option, say, tell_json, tell_table
from answerable.cli.session import with_service

if TYPE_CHECKING:
    from answerable.core.context import Principal
    from answerable.service import Service


@click.group("settings")
def command() -> None:
    """Show how Answerable is set up."""


@command.command("show")
@json_option
def show(as_json: bool) -> None:
    """Every setting with its value. Keys and passwords are never printed."""

    async def look(service: "Service", principal: "Principal") -> "Mapping[str, Any]":
        return service.setup.settings(principal)

    shown = with_service(look, empty_store=True)  # shows them also where one of them is why the store cannot be opened
    if as_json:
        tell_json({"settings": shown})
    else:
        tell_table([(name, value) for name, value in shown.items()])


@command.command("usage")
@click.option("--days", type=click.IntRange(1, 366), default=30, show_default=True)
@json_option
def usage(days: int, as_json: bool) -> None:
    """What was asked and spent, by day (UTC), and what is left of the budgets."""
    report = with_service(lambda service, principal: service.setup.usage(principal, days=days))
    if as_json:
        tell_json(report.model_dump(mode="json"))
        return
    lines = [
        (day.day, f"{day.runs:,}", f"{day.failed:,}", f"{day.tokens:,}", f"${day.cost_usd:.4f}")
        for day in report.days
        if day.runs
    ]
    tell_table([("day", "runs", "failed", "tokens", "cost"), *lines])
    for budget in report.budgets:
        limit = f"{budget.tokens_limit:,} tokens" if budget.tokens_limit is not None else ""
        money = f"${budget.cost_limit_usd:.2f}" if budget.cost_limit_usd is not None else ""
        spent = f"spent {budget.tokens_spent:,} tokens, ${budget.cost_spent_usd:.4f}"
        say(f"budget {budget.name} {budget.period}: {' and '.join(filter(None, (limit, money)))}; {spent}")
