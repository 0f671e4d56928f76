"""`answerable agents`"""

import asyncio
import sys
from collections.abc import AsyncIterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click

from answerable.cli.graph_input import named_version, text_of
from answerable.cli.output import json_option, progress, say, tell_json, tell_table, write_whole
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
@click.option("--tag", help="Only stored agents with this tag.")
@json_option
def listed(tag: str | None, as_json: bool) -> None:
    """Lists the agents: what each does, its role, how many cases it has, and what is wrong with it."""
    agents: Sequence[AgentView] = with_service(lambda service, principal: service.agents.list(principal, tag=tag))
    if as_json:
        tell_json({"agents": [agent.model_dump(mode="json") for agent in agents]})
        return
    for agent in agents:
        if agent.problem is not None:
            say(f"{agent.name:13} cannot be used: {agent.problem.message}")
        elif agent.stored is not None:
            say(f"{agent.name:13} {agent.role:10} version {agent.stored.version}  {agent.description}")
        else:
            say(f"{agent.name:13} {agent.role:10} {agent.cases:2} cases  {agent.description}")


@command.command("show")
@click.argument("agent")
@json_option
def show(agent: str, as_json: bool) -> None:
    """Shows one agent: its model, limits, tools, inputs and the form of its reply. NAME, or NAME@VERSION if stored."""
    name, version = named_version(agent, "agent_version_not_found")
    found: AgentDetail = with_service(lambda service, principal: service.agents.show(name, principal, version=version))
    document = found.model_dump(mode="json")
    if as_json:
        tell_json(document)
        return
    import yaml

    if document.pop("text") is not None:
        say(found.text, nl=False)
        return
    instructions = document.pop("instructions")
    shown = {field: value for field, value in document.items() if value not in (None, [], {})}
    say(yaml.safe_dump(shown, sort_keys=False, allow_unicode=True, width=100) + "\n" + instructions)


@command.command("save")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--note", default="", help="What is new; it is recorded.")
@click.option("--tag", "tags", multiple=True, help="Replaces the tags of the agent.")
@json_option
def save(file: Path, note: str, tags: tuple[str, ...], as_json: bool) -> None:
    """Stores the agent in FILE (`*.agent.yaml`) under its name, as a new version."""
    text = text_of(file)
    _tell_saved(
        with_service(
            lambda service, principal: service.agents.save(
                text, principal, note=note, tags=tags or None, origin=file.name
            )
        ),
        as_json,
    )


@command.command("versions")
@click.argument("name")
@json_option
def versions(name: str, as_json: bool) -> None:
    """Who saved which version of the stored agent NAME, newest first."""
    found = with_service(lambda service, principal: service.agents.versions(name, principal))
    if as_json:
        tell_json({"versions": [each.model_dump(mode="json") for each in found]})
    else:
        tell_table([(each.version, f"{each.at:%Y-%m-%d %H:%M}", each.user, each.note) for each in found])


@command.command("diff")
@click.argument("name")
@click.argument("before", type=int, required=False)
@click.argument("after", type=int, required=False)
@json_option
def diff(name: str, before: int | None, after: int | None, as_json: bool) -> None:
    """What is different in version AFTER of the stored agent NAME. Exit code 0 when nothing is, else 1."""
    found = with_service(lambda service, principal: service.agents.diff(name, principal, before=before, after=after))
    if as_json:
        tell_json(found.model_dump(mode="json"))
    else:
        say(found.text or "No difference.", nl=not found.text)
    sys.exit(1 if found.text else 0)


@command.command("rollback")
@click.argument("name")
@click.argument("version", type=int)
@json_option
def rollback(name: str, version: int, as_json: bool) -> None:
    """Makes VERSION of the stored agent NAME count again, as a new version."""
    _tell_saved(with_service(lambda service, principal: service.agents.rollback(name, version, principal)), as_json)


@command.command("export")
@click.argument("agent")
@click.option("--output", "-o", type=click.Path(dir_okay=False, path_type=Path), help="Write it to this file.")
def export(agent: str, output: Path | None) -> None:
    """The text of a stored agent (NAME or NAME@VERSION), as it was saved to the byte."""
    from answerable.core.errors import UserError

    name, version = named_version(agent, "agent_version_not_found")
    found: AgentDetail = with_service(lambda service, principal: service.agents.show(name, principal, version=version))
    if found.text is None:
        hint = "Copy its folder."
        raise UserError(f"The agent {name!r} is a folder on the server.", code="agent_version_not_found", hint=hint)
    if output is not None:
        write_whole(output, [found.text.encode()])
    else:
        sys.stdout.buffer.write(found.text.encode())
        sys.stdout.buffer.flush()


@command.command("delete")
@click.argument("name")
@json_option
def delete(name: str, as_json: bool) -> None:
    """Removes the stored agent NAME with all its versions. Runs that have begun with it keep it."""
    with_service(lambda service, principal: service.agents.delete(name, principal))
    if as_json:
        tell_json({"deleted": name})
    else:
        say(f"{name} is deleted.")


def _tell_saved(saved: "AgentDetail", as_json: bool) -> None:
    if as_json:
        tell_json(saved.model_dump(mode="json"))
    elif saved.stored is not None:
        say(f"{saved.name}: version {saved.stored.version}")


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
