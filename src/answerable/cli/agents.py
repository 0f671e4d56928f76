"""`answerable agents`"""

import asyncio
import sys
from collections.abc import AsyncIterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click

from answerable.cli.output import progress, say, tell_json
from answerable.cli.session import principal, with_service

if TYPE_CHECKING:
    from answerable.case_replay import CaseResult
    from answerable.core.context import Principal
    from answerable.service import Service
    from answerable.service.agents import AgentDetail, AgentReply, AgentView


@click.group("agents")
def command() -> None:
    """List agents, run them by name, and try them with their cases."""


@command.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def listed(as_json: bool) -> None:
    """Lists the agents: what each does, its role, how many cases it has, and what is wrong with it."""

    async def look(service: "Service", principal: "Principal") -> "Sequence[AgentView]":
        return service.agents.list(principal)

    agents = with_service(look, empty_store=True)
    if as_json:
        tell_json({"agents": [agent.model_dump() for agent in agents]})
        return
    for agent in agents:
        if agent.problem is not None:
            say(f"{agent.name:13} cannot be used: {agent.problem.message}")
        else:
            say(f"{agent.name:13} {agent.role:10} {agent.cases:2} cases  {agent.description}")


@command.command("show")
@click.argument("name")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def show(name: str, as_json: bool) -> None:
    """Shows one agent: its model, limits, tools, inputs and the form of its reply."""

    async def look(service: "Service", principal: "Principal") -> "AgentDetail":
        return service.agents.show(name, principal)

    agent = with_service(look, empty_store=True)
    document = agent.model_dump(mode="json")
    if as_json:
        tell_json(document)
        return
    import yaml

    instructions = document.pop("instructions")
    shown = {field: value for field, value in document.items() if value not in (None, [], {})}
    say(yaml.safe_dump(shown, sort_keys=False, allow_unicode=True, width=100) + "\n" + instructions)


@command.command("run", epilog="Example: answerable agents run triage --input message='Where is my parcel?'")
@click.argument("name")
@click.option("--input", "inputs", multiple=True, metavar="NAME=TEXT", help="An input; @FILE takes the text of a file.")
@click.option("--source", help="What the agent's tools read.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def run(name: str, inputs: tuple[str, ...], source: str | None, as_json: bool) -> None:
    """Asks the agent NAME and prints its reply: text, or JSON that fits its schema."""
    values = dict(map(_input, inputs))

    async def ask(service: "Service", principal: "Principal") -> "AgentReply":
        return await service.agents.run(name, values, principal, source=source)

    with progress("Asking …"):
        reply = with_service(ask)
    if as_json:
        tell_json(reply.model_dump(mode="json"))
    elif isinstance(reply.reply, str):
        say(reply.reply)
    else:
        tell_json(reply.reply)


def _input(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise click.UsageError(f"Write --input NAME=TEXT, not {text!r}.")
    if not value.startswith("@"):
        return name, value
    from answerable.core.errors import UserError

    try:
        return name, Path(value[1:]).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{value[1:]} cannot be read: {error}", code="input_unreadable") from error


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
    _tell(replay(chosen_cases(names, case, settings_with().agent_places), settings_with, principal()), as_json)


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
        chosen = chosen_cases(names, case, settings_with().agent_places)
        _tell(replay(chosen, settings_with, principal(), renew=True), as_json)
    settings = load_settings(store=":memory:", model=model)
    if not settings.models_config.named():
        raise OperatorError("No language model is set.", code="model_missing", hint="Give --model provider:name.")
    _tell(record(chosen_cases(names, case, settings.agent_places), settings, principal()), as_json)


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
