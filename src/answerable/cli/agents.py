"""`answerable agents`"""

import asyncio
import sys
from collections.abc import AsyncIterator
from functools import partial
from typing import TYPE_CHECKING, NoReturn

import click

from answerable.cli.output import tell_json
from answerable.cli.session import principal

if TYPE_CHECKING:
    from answerable.case_replay import CaseResult, Chosen


@click.group("agents")
def command() -> None:
    """List agents, and try them with their cases."""


@command.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def listed(as_json: bool) -> None:
    """Lists the agents: what each does, its role and how many cases it has."""
    from answerable.agents.cases import AGENTS, load_cases
    from answerable.agents.folder import BUILTIN, load_agent

    agents = [(load_agent(BUILTIN / name), len(load_cases(BUILTIN / name))) for name in AGENTS]
    if as_json:
        shown = [{**agent.model_dump(include={"name", "role", "description"}), "cases": n} for agent, n in agents]
        tell_json({"agents": shown})
        return
    for agent, cases in agents:
        click.echo(f"{agent.name:13} {agent.role:10} {cases:2} cases  {agent.description}")


@command.command("check")
@click.argument("names", metavar="[AGENT]…", nargs=-1)
@click.option("--case", help="Only this case.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def check(names: tuple[str, ...], case: str | None, as_json: bool) -> None:
    """Puts the cases of agents to them again with the replies that were recorded: no model is needed.

    Exits with 0 if everything holds that must hold, and agents are told what they were told then; else with 1.
    """
    from answerable.case_replay import replay
    from answerable.settings import load_settings

    settings_with = partial(load_settings, store=":memory:", models={})
    _tell(replay(_chosen(names, case), settings_with, principal()), as_json)


@command.command("record")
@click.argument("names", metavar="[AGENT]…", nargs=-1)
@click.option("--case", help="Only this case.")
@click.option("--model", help="The model to record, as provider:name; else the one that is set.")
@click.option("--same-replies", is_flag=True, help="Ask no model: keep the replies, with what agents are told now.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def record(names: tuple[str, ...], case: str | None, model: str | None, same_replies: bool, as_json: bool) -> None:
    """Puts the cases of agents to them with a model, and keeps what was said beside the cases.

    Only what holds is kept. Keys are never part of it, and neither is a value of the data where share_rows is false.
    """
    from answerable.case_replay import record, replay
    from answerable.core.errors import OperatorError
    from answerable.settings import load_settings

    if same_replies:
        settings_with = partial(load_settings, store=":memory:", models={})
        _tell(replay(_chosen(names, case), settings_with, principal(), renew=True), as_json)
    settings = load_settings(store=":memory:", model=model)
    if not settings.models_config.named():
        raise OperatorError("No language model is set.", code="model_missing", hint="Give --model provider:name.")
    _tell(record(_chosen(names, case), settings, principal()), as_json)


def _chosen(names: tuple[str, ...], wanted: str | None) -> "list[Chosen]":
    from answerable.agents.cases import AGENTS, load_cases
    from answerable.agents.folder import BUILTIN
    from answerable.core.errors import NotFoundError

    unknown = [name for name in names if name not in AGENTS]
    if unknown:
        raise NotFoundError(
            f"There is no agent {unknown[0]!r}.", code="agent_unknown", hint=f"Agents are: {', '.join(AGENTS)}."
        )
    folders = [BUILTIN / name for name in names or AGENTS]
    chosen = [(folder, case) for folder in folders for case in load_cases(folder) if wanted in (None, case.id)]
    if not chosen:
        raise NotFoundError(f"There is no case {wanted!r} of these agents.", code="case_unknown")
    return chosen


def _tell(results: "AsyncIterator[CaseResult]", as_json: bool) -> NoReturn:
    async def heard() -> "list[CaseResult]":
        found = []
        async for one in results:
            found.append(one)
            if not as_json:
                _tell_one(one)
        return found

    found = asyncio.run(heard())
    failed = sum(bool(one.problems) for one in found)
    if as_json:
        tell_json({"cases": len(found), "failed": failed, "results": [one.model_dump(mode="json") for one in found]})
    else:
        click.echo(f"{len(found) - failed} of {len(found)} cases hold")
    sys.exit(1 if failed else 0)


def _tell_one(one: "CaseResult") -> None:
    click.echo(f"{'failed' if one.problems else 'holds':7} {one.agent} {one.case} ({one.calls} calls)")
    for problem in one.problems:
        click.echo("        " + problem.replace("\n", "\n        "))
