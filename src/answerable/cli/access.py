"""`answerable access`"""

import sys

import click

from answerable.cli.output import json_option, say, tell_json, tell_table
from answerable.cli.session import with_service


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
