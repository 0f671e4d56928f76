"""`answerable models`"""

import asyncio
import sys
from typing import TYPE_CHECKING

import click

from answerable.cli.output import progress, tell_json
from answerable.cli.session import principal

if TYPE_CHECKING:
    from answerable.models.check import Checked


@click.group("models")
def command() -> None:
    """Try the language models that are set."""


@command.command("check")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def check(as_json: bool) -> None:
    """Tries each model with tiny requests: text, structured output, streaming, tools.

    Exits with 0 if every model can be used, else with 1. The requests cost a fraction of a cent.
    """
    from answerable.models.check import check_models
    from answerable.settings import load_settings

    config = load_settings().models_config
    with progress("Trying the models …"):
        found = asyncio.run(check_models(config, principal()))
    if as_json:
        roles = {role: list(config.chain(role)) for role in ("reasoning", "coding")}
        tell_json({"roles": roles, "models": [one.as_json() for one in found]})
    else:
        for one in found:
            _tell(one)
    sys.exit(0 if all(one.works for one in found) else 1)


def _tell(found: "Checked") -> None:
    click.echo(f"{found.name}: {'works' if found.works else 'cannot be used'}")
    for name, trial in found.trials.items():
        click.echo(f"  {name:12} {'ok' if trial.ok else 'failed':7} {trial.ms:8,.0f} ms")
        if trial.error is not None:
            click.echo(f"    {trial.error.message} [{trial.error.stable_code}]")
            if trial.error.hint:
                click.echo(f"    Hint: {trial.error.hint}")
    price = "price unknown: only budgets of tokens hold" if found.cost is None else f"${found.cost:.6f}"
    if found.tokens:
        click.echo(f"  {found.tokens:,} tokens, {price}")
