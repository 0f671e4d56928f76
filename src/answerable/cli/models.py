"""`answerable models`"""

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from answerable.cli.output import progress, say, tell_json
from answerable.cli.session import with_service

if TYPE_CHECKING:
    from answerable.core.context import Principal
    from answerable.service import Service
    from answerable.service.setup import ModelCheck, ModelsOverview


@click.group("models")
def command() -> None:
    """Try the language models that are set."""


@command.command("check")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def check(as_json: bool) -> None:
    """Tries each model with tiny requests: text, structured output, streaming, tools.

    Exits with 0 if every model can be used, else with 1. The requests cost a fraction of a cent.
    """

    async def checked(service: "Service", principal: "Principal") -> "tuple[ModelsOverview, Sequence[ModelCheck]]":
        return service.setup.models(principal), await service.setup.check_models(principal)

    with progress("Trying the models …"):
        overview, found = with_service(checked, empty_store=True)
    if as_json:
        roles = {role.role: [model.name for model in role.models] for role in overview.roles}
        tell_json({"roles": roles, "models": [_document(one) for one in found]})
    else:
        for one in found:
            _tell(one)
    sys.exit(0 if all(one.works for one in found) else 1)


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
