"""`answerable models`"""

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

from answerable.cli.output import json_option, progress, say, tell_json, tell_table
from answerable.cli.session import with_service

if TYPE_CHECKING:
    from answerable.core.context import Principal
    from answerable.models.config import Role
    from answerable.service import Service
    from answerable.service.models import ModelCheck, ModelsOverview


ACCOUNTS = ("run", "thread", "user_day", "user_month", "tenant_day", "tenant_month")
_KEYS = {"settings": "key in the settings", "environment": "key in the environment", "none": "no key"}


@click.group("models")
def command() -> None:
    """Set language models, and try them."""


@command.command("check")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def check(as_json: bool) -> None:
    """Tries each model with tiny requests: text, structured output, streaming, tools.

    Exits with 0 if every model can be used, else with 1. The requests cost a fraction of a cent.
    """

    async def checked(service: "Service", principal: "Principal") -> "tuple[ModelsOverview, Sequence[ModelCheck]]":
        return service.models.overview(principal), await service.models.check(principal)

    with progress("Trying the models …"):
        overview, found = with_service(checked, empty_store=True)
    if as_json:
        roles = {role.role: [model.name for model in role.models] for role in overview.roles}
        tell_json({"roles": roles, "models": [_document(one) for one in found]})
    else:
        for one in found:
            _tell(one)
    sys.exit(0 if all(one.works for one in found) else 1)


@command.command("list")
@json_option
def listing(as_json: bool) -> None:
    """Which models are set, in the order in which they are asked, and what they may cost."""

    async def look(service: "Service", principal: "Principal") -> "ModelsOverview":
        return service.models.overview(principal)

    _show(with_service(look, empty_store=True), as_json)


@command.command("add")
@click.argument("name")
@click.option("--base-url", default="", help="Where it is reached, if not where everybody does.")
@click.option("--key", "ask_for_key", is_flag=True, help="Asks for its key; a pipe works too.")
@click.option("--for", "used_for", type=click.Choice(("everything", "reasoning", "coding")), default="everything")
@json_option
def add(name: str, base_url: str, ask_for_key: bool, used_for: Any, as_json: bool) -> None:
    """Adds the model provider:name after those that are there. Its key goes to settings.yaml."""
    from pydantic import SecretStr

    from answerable.cli.password import read_password
    from answerable.models.config import split_name
    from answerable.models.editing import NewModel

    key = SecretStr(read_password("Key")) if ask_for_key else None
    provider, model = split_name(name)
    new = NewModel(provider=provider, model=model, base_url=base_url, key=key, used_for=used_for)
    _show(with_service(lambda service, principal: service.models.add(new, principal), empty_store=True), as_json)


@command.command("remove")
@click.argument("name")
@json_option
def remove(name: str, as_json: bool) -> None:
    """Removes a model, and its provider's key with the last model of that provider."""

    def without(_role: "Role", names: list[str]) -> list[str]:
        return [each for each in names if each != name]

    _arrange(without, as_json)


@command.command("order")
@click.argument("names", nargs=-1, required=True)
@click.option("--for", "used_for", type=click.Choice(("everything", "reasoning", "coding")), default="everything")
@json_option
def order(names: tuple[str, ...], used_for: str, as_json: bool) -> None:
    """Puts models in the order in which they are asked; those that are not named come after them."""

    def arranged(role: "Role", now: list[str]) -> list[str]:
        return list(dict.fromkeys((*names, *now))) if used_for in ("everything", role) else now

    _arrange(arranged, as_json)


@command.command("share")
@click.argument("rows", type=click.Choice(("rows", "names")))
@json_option
def share(rows: str, as_json: bool) -> None:
    """What is sent to models: `rows` for values and sample records too, `names` for names, types and counts only."""
    verb = with_service(lambda service, principal: service.models.share(rows == "rows", principal), empty_store=True)
    _show(verb, as_json)


@command.command("budget")
@click.argument("account", type=click.Choice(ACCOUNTS))
@click.option("--cost", type=click.FloatRange(0), help="Dollars.")
@click.option("--tokens", type=click.IntRange(0))
@json_option
def budget(account: str, cost: float | None, tokens: int | None, as_json: bool) -> None:
    """How much models may cost in a run or thread, or for a person or everybody in a day or month. Without an option
    there is no limit."""
    from answerable.models.config import BudgetLimits, Limit

    async def change(service: "Service", principal: "Principal") -> "ModelsOverview":
        now: BudgetLimits = service.models.overview(principal).budget
        limits = now.model_copy(update={account: Limit(cost=cost, tokens=tokens)})
        return await service.models.set_budget(limits, principal)

    _show(with_service(change, empty_store=True), as_json)


def _arrange(change: "Callable[[Role, list[str]], list[str]]", as_json: bool) -> None:
    from answerable.service.models import ModelOrder

    async def arrange(service: "Service", principal: "Principal") -> "ModelsOverview":
        now = {role.role: [each.name for each in role.models] for role in service.models.overview(principal).roles}
        wanted: ModelOrder = ModelOrder.model_validate({role: change(role, names) for role, names in now.items()})
        return await service.models.arrange(wanted, principal)

    _show(with_service(arrange, empty_store=True), as_json)


def _show(overview: "ModelsOverview", as_json: bool) -> None:
    if as_json:
        tell_json(overview.model_dump(mode="json"))
        return
    if not overview.configured:
        say("No language model is set. Questions are read without one.")
    rows = [
        (role.role, number, each.name, each.base_url or "", _KEYS[each.key])
        for role in overview.roles
        for number, each in enumerate(role.models, 1)
    ]
    tell_table(rows)
    say(f"values of the data are {'sent' if overview.share_rows else 'not sent'} to models")
    for account in ACCOUNTS:
        limit = getattr(overview.budget, account)
        limits = [
            f"${limit.cost:g}" if limit.cost is not None else "",
            f"{limit.tokens:,} tokens" if limit.tokens else "",
        ]
        if any(limits):
            say(f"budget {account}: {' and '.join(filter(None, limits))}")


def _document(found: "ModelCheck") -> dict[str, Any]:
    """The check as programs read it: a trial that went well has no `error`."""
    checks = {name: trial.model_dump(exclude_none=trial.error is None) for name, trial in found.checks.items()}
    return {
        "name": found.name,
        "works": found.works,
        "checks": checks,
        "tokens": found.tokens,
        "cost": found.cost_usd,
    }


def _tell(found: "ModelCheck") -> None:
    say(f"{found.name}: {'works' if found.works else 'cannot be used'}")
    for name, trial in found.checks.items():
        say(f"  {name:12} {'ok' if trial.ok else 'failed':7} {trial.ms:8,.0f} ms")
        if trial.error is not None:
            say(f"    {trial.error.message} [{trial.error.code}]")
            if trial.error.hint:
                say(f"    Hint: {trial.error.hint}")
    price = "price unknown: only budgets of tokens hold" if found.cost_usd is None else f"${found.cost_usd:.6f}"
    if found.tokens:
        say(f"  {found.tokens:,} tokens, {price}")
