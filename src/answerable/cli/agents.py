"""`answerable agents`"""

import asyncio
import sys
from collections.abc import AsyncIterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, NoReturn

import click

from answerable.cli.output import say, tell_json
from answerable.cli.session import principal, with_service

if TYPE_CHECKING:
    from answerable.case_replay import CaseResult
    from answerable.core.context import Principal
    from answerable.service import Service
    from answerable.service.setup import AgentView


@click.group("agents")
def command() -> None:
    """List agents, and try them with their cases."""


@command.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def listed(as_json: bool) -> None:
    """Lists the agents: what each does, its role and how many cases it has."""

    async def look(service: "Service", principal: "Principal") -> "Sequence[AgentView]":
        return service.setup.agents(principal)

    agents = with_service(look, empty_store=True)
    if as_json:
        tell_json({"agents": [agent.model_dump() for agent in agents]})
        return
    for agent in agents:
        say(f"{agent.name:13} {agent.role:10} {agent.cases:2} cases  {agent.description}")


@command.command("check")
@click.argument("names", metavar="[AGENT]…", nargs=-1)
@click.option("--case", help="Only this case.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def check(names: tuple[str, ...], case: str | None, as_json: bool) -> None:
    """Puts the cases of agents to them again with the replies that were recorded: no model is needed.

    Exits with 0 if everything holds that must hold, and agents are told what they were told then; else with 1.
    """
    from answerable.case_replay import chosen_cases, replay
    from answerable.settings import load_settings

    settings_with = partial(load_settings, store=":memory:", models={})
    _tell(replay(chosen_cases(names, case), settings_with, principal()), as_json)


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
    from answerable.case_replay import chosen_cases, record, replay
    from answerable.core.errors import OperatorError
    from answerable.settings import load_settings

    if same_replies:
        settings_with = partial(load_settings, store=":memory:", models={})
        _tell(replay(chosen_cases(names, case), settings_with, principal(), renew=True), as_json)
    settings = load_settings(store=":memory:", model=model)
    if not settings.models_config.named():
        raise OperatorError("No language model is set.", code="model_missing", hint="Give --model provider:name.")
    _tell(record(chosen_cases(names, case), settings, principal()), as_json)


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
        say(f"{len(found) - failed} of {len(found)} cases hold")
    sys.exit(1 if failed else 0)


def _tell_one(one: "CaseResult") -> None:
    say(f"{'failed' if one.problems else 'holds':7} {one.agent} {one.case} ({one.calls} calls)")
    for problem in one.problems:
        say("        " + problem.replace("\n", "\n        "))
