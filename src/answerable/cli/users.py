"""`answerable users`"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from answerable.cli.output import json_option, say, tell_json, tell_table
from answerable.cli.password import read_password
from answerable.cli.session import with_service

if TYPE_CHECKING:
    from answerable.service.identity_views import Invitation, UserView


@click.group("users")
def command() -> None:
    """Let people sign in, change their roles, keep them out. docs/identity.md says how to begin."""


@command.command("list")
@json_option
def show(as_json: bool) -> None:
    """List everybody who can sign in or is named by access.yaml."""
    users = with_service(lambda service, principal: service.identity.users(principal))
    if as_json:
        tell_json({"users": [user.model_dump(mode="json") for user in users]})
    else:
        tell_table((user.name, ", ".join(user.roles), _state(user)) for user in users)


@command.command("add", epilog="Example: answerable users add erik --role seller --attribute region=North")
@click.argument("name")
@click.option("--role", "roles", multiple=True, help="A role of access.yaml.")
@click.option("--attribute", "attributes", multiple=True, metavar="NAME=VALUE", help="For rules about rows.")
@click.option("--service", "is_service", is_flag=True, help="NAME is a program, which comes with keys only.")
@json_option
def add(name: str, roles: tuple[str, ...], attributes: tuple[str, ...], is_service: bool, as_json: bool) -> None:
    """Let NAME sign in. Prints a link with which they choose a password, once."""
    values = _attributes(attributes)
    if is_service:
        added = with_service(
            lambda service, principal: service.identity.add_service(name, principal, roles=roles, attributes=values)
        )
        _tell_user(added, as_json)
        return
    invitation = with_service(
        lambda service, principal: service.identity.add_user(name, principal, roles=roles, attributes=values)
    )
    _tell(invitation, as_json)


@command.command("password")
@click.argument("name")
@click.option("--link", is_flag=True, help="Print a one-time link with which they choose the password themselves.")
@json_option
def password(name: str, link: bool, as_json: bool) -> None:
    """Set the password of NAME, or let them choose one. All their sessions end.

    The password is read from the terminal, or from a pipe.
    """
    if link:
        _tell(with_service(lambda service, principal: service.identity.invite(name, principal)), as_json)
        return
    chosen = read_password(twice=True)
    with_service(lambda service, principal: service.identity.set_password(name, chosen, principal))
    if as_json:
        tell_json({"user": name})
    else:
        say(f"{name} has a new password, and is signed out everywhere.")


@command.command("roles")
@click.argument("name")
@click.argument("roles", nargs=-1)
@json_option
def roles(name: str, roles: tuple[str, ...], as_json: bool) -> None:
    """Replace the roles of NAME. Those that access.yaml gives stay."""
    _tell_user(with_service(lambda service, principal: service.identity.set_roles(name, roles, principal)), as_json)


@command.command("disable")
@click.argument("name")
@json_option
def disable(name: str, as_json: bool) -> None:
    """Keep NAME out, at once. What belongs to them stays."""
    _tell_user(with_service(lambda service, principal: service.identity.set_disabled(name, True, principal)), as_json)


@command.command("enable")
@click.argument("name")
@json_option
def enable(name: str, as_json: bool) -> None:
    """Let NAME in again."""
    _tell_user(with_service(lambda service, principal: service.identity.set_disabled(name, False, principal)), as_json)


@command.command("sessions")
@click.argument("name")
@json_option
def sessions(name: str, as_json: bool) -> None:
    """List the sessions of NAME, the newest first."""
    found = with_service(lambda service, principal: service.identity.sessions(principal, user=name))
    if as_json:
        tell_json({"sessions": [session.model_dump(mode="json", exclude={"current"}) for session in found]})
    else:
        tell_table(
            (each.session_id, f"since {each.created_at:%Y-%m-%d %H:%M}", f"used {each.used_at:%H:%M}", each.client)
            for each in found
        )


@command.command("sign-out")
@click.argument("name")
@click.option("--session", metavar="ID", help="End only this session.")
@json_option
def sign_out(name: str, session: str | None, as_json: bool) -> None:
    """End all sessions of NAME, or one of them."""
    if session is not None:
        with_service(lambda service, principal: service.identity.end_session(session, principal, user=name))
        ended = 1
    else:
        ended = with_service(lambda service, principal: service.identity.end_all_sessions(principal, user=name))
    if as_json:
        tell_json({"user": name, "ended": ended})
    else:
        say(f"{ended} sessions ended.")


def _attributes(given: Sequence[str]) -> dict[str, list[str]]:
    values: dict[str, list[str]] = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not (name and equals and value):
            raise click.UsageError(f"--attribute takes NAME=VALUE, for example region=West; {text!r} is not that.")
        values.setdefault(name, []).append(value)
    return values


def _tell(invitation: "Invitation", as_json: bool) -> None:
    from answerable.settings import load_settings

    settings = load_settings()
    scheme = "https" if settings.tls else "http"
    link = f"{scheme}://{settings.host}:{settings.port}/#invitation={invitation.token}"
    if as_json:
        tell_json({**invitation.model_dump(mode="json"), "link": link})
        return
    say(f"{invitation.user} chooses a password here, once and until {invitation.expires_at:%Y-%m-%d %H:%M} UTC:")
    say(link)
    say("Put the address by which they reach the server in the place of its first part.")


def _tell_user(user: "UserView", as_json: bool) -> None:
    if as_json:
        tell_json(user.model_dump(mode="json"))
    else:
        say(f"{user.name}: roles {', '.join(user.roles) or 'none'}; {_state(user)}.")


def _state(user: "UserView") -> str:
    if user.disabled:
        return "disabled"
    if user.origin == "service":
        return "a program, with keys"
    return "can sign in" if user.can_sign_in else "has no password yet"
