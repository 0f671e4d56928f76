"""`answerable access`"""

import sys
from typing import TYPE_CHECKING

import click

from answerable.cli.output import json_option, say, tell_json, tell_table
from answerable.cli.session import with_service

if TYPE_CHECKING:
    from answerable.service.rules import RequestView


@click.group("access")
def command() -> None:
    """Check and explain the rules of access.yaml: who may see and do what."""


@command.command("check")
@json_option
def check(as_json: bool) -> None:
    """Read the rules and compare them with the data. Exit code 1 if a rule cannot be applied."""
    report = with_service(lambda service, principal: service.access.check(principal))
    if as_json:
        tell_json(report.model_dump(mode="json"))
    else:
        for problem in report.problems:
            say(f"{problem.rule}: {problem.message}" + (f" {problem.hint}" if problem.hint else ""))
        say(f"{report.users} users, {report.rules} rules, {len(report.problems)} problems.")
    sys.exit(1 if report.problems else 0)


@command.command("show")
@json_option
def show(as_json: bool) -> None:
    """List the users with their roles and attributes, and the rules."""

    policy = with_service(lambda service, principal: service.access.show(principal))
    if as_json:
        tell_json(policy.model_dump(mode="json", by_alias=True, exclude_defaults=True))
        return
    tell_table(
        (name, ", ".join(user.roles), ", ".join(f"{key}={' or '.join(each)}" for key, each in user.attributes.items()))
        for name, user in policy.users.items()
    )
    say()
    tell_table((rule.name, ", ".join((*rule.for_, *rule.users)), str(rule)) for rule in policy.rules)


@command.command("explain", epilog='Example: answerable access explain ana "revenue by region" --source demo')
@click.argument("user")
@click.argument("question", required=False)
@click.option("--source", "-s", default="demo", show_default=True)
@json_option
def explain(user: str, question: str | None, source: str, as_json: bool) -> None:
    """Which rules would shape the answer to QUESTION for USER; without a question, all that USER sees of a source."""
    access = with_service(
        lambda service, principal: service.access.explain(user, principal, question=question, source=source)
    )
    if as_json:
        tell_json(access.model_dump(mode="json"))
        return
    say(f"{access.user}: roles {', '.join(access.roles) or 'none'}; may {', '.join(access.actions) or 'do nothing'}.")
    if access.understood is not None:
        say(access.understood)
    for table in access.tables:
        say(f"{table.table}: {'; '.join(table.shaped) or 'all rows'}; columns {', '.join(table.columns)}.")
    for hidden in access.hidden if question is None else ():
        say(f"Not shown: {hidden}.")


@command.command("key", epilog="Example: answerable access key ana --name laptop")
@click.argument("user")
@click.option("--name", default="key", show_default=True, help="What the key is for.")
@json_option
def key(user: str, name: str, as_json: bool) -> None:
    """Make a key with which a program can ask as USER over HTTP. It is shown once."""
    issued = with_service(lambda service, principal: service.access.new_key(user, principal, name=name))
    if as_json:
        tell_json(issued.model_dump(mode="json"))
        return
    say(f"Key of {issued.user}, shown this once: {issued.key}")
    say(f"It counts once access.yaml lists it under the user's `keys`: - {issued.line}")


@command.command("history")
@json_option
def history(as_json: bool) -> None:
    """List the versions of access.yaml, the newest first."""
    versions = with_service(lambda service, principal: service.rules.history(principal))
    if as_json:
        tell_json({"versions": [version.model_dump(mode="json") for version in versions]})
    else:
        tell_table(
            (each.version, f"{each.at:%Y-%m-%d %H:%M}", each.user or "the file was edited", each.note)
            for each in versions
        )


@command.command("diff")
@click.argument("version", type=int, required=False)
@json_option
def diff(version: int | None, as_json: bool) -> None:
    """Show what has changed in access.yaml since VERSION, by default since the version before."""
    text = with_service(lambda service, principal: service.rules.diff(principal, version=version))
    if as_json:
        tell_json({"diff": text})
    else:
        say(text or "Nothing has changed.")


@command.command("undo")
@click.argument("version", type=int, required=False)
@json_option
def undo(version: int | None, as_json: bool) -> None:
    """Bring back VERSION of access.yaml, by default the version before."""
    restored = with_service(lambda service, principal: service.rules.undo(principal, version=version))
    if as_json:
        tell_json(restored.model_dump(mode="json"))
    else:
        say(f"{restored.note} It is version {restored.version} now.")


@command.command("request", epilog='Example: answerable access request erik "employees" --reason "Staffing plan"')
@click.argument("user")
@click.argument("wanted")
@click.option("--reason", default="", help="What it is needed for.")
@json_option
def ask_for_access(user: str, wanted: str, reason: str, as_json: bool) -> None:
    """Ask in the name of USER for access to WANTED."""
    request = with_service(
        lambda service, principal: service.rules.ask(wanted, service.access.acting_as(user, principal), reason=reason)
    )
    _tell_requests([request], as_json)


@command.command("requests")
@json_option
def requests(as_json: bool) -> None:
    """List who asked for what, and what came of it, the newest first."""
    _tell_requests(with_service(lambda service, principal: service.rules.requests(principal)), as_json)


@command.command("approve", epilog="Example: answerable access approve req_… manager --days 7")
@click.argument("request_id")
@click.argument("role")
@click.option("--days", type=int, default=30, show_default=True, help="For how long.")
@click.option("--note", default="", help="For whoever asked.")
@json_option
def approve(request_id: str, role: str, days: int, note: str, as_json: bool) -> None:
    """Give whoever made the request REQUEST_ID a role, for some days."""
    decided = with_service(
        lambda service, principal: service.rules.approve(request_id, role, principal, days=days, note=note)
    )
    _tell_requests([decided], as_json)


@command.command("deny")
@click.argument("request_id")
@click.option("--note", default="", help="For whoever asked.")
@json_option
def deny(request_id: str, note: str, as_json: bool) -> None:
    """Deny the request REQUEST_ID."""
    decided = with_service(lambda service, principal: service.rules.deny(request_id, principal, note=note))
    _tell_requests([decided], as_json)


def _tell_requests(found: "list[RequestView]", as_json: bool) -> None:
    if as_json:
        tell_json({"requests": [each.model_dump(mode="json") for each in found]})
        return
    tell_table((each.request_id, each.user, _state(each), each.wanted, each.reason) for each in found)


def _state(request: "RequestView") -> str:
    if request.state == "approved":
        return f"{request.role} until {request.expires_at:%Y-%m-%d}"
    return request.state
