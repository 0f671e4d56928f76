"""`answerable keys`"""

from typing import TYPE_CHECKING

import click

from answerable.cli.output import json_option, say, tell_json, tell_table
from answerable.cli.session import with_service

if TYPE_CHECKING:
    from answerable.service.keys import KeyView, NewKey


@click.group("keys")
def command() -> None:
    """Make, rotate and revoke keys with which programs ask as somebody. See docs/identity.md."""


@command.command("list")
@click.argument("user", required=False)
@json_option
def show(user: str | None, as_json: bool) -> None:
    """List the keys of USER, or of everybody."""
    keys = with_service(lambda service, principal: service.keys.list(principal, user=user))
    if as_json:
        tell_json({"keys": [key.model_dump(mode="json") for key in keys]})
    else:
        tell_table((key.key_id, key.user, key.name, ", ".join(key.scopes), _state(key)) for key in keys)


@command.command("add", epilog="Example: answerable keys add erik --name laptop --scope ask --scope sql --days 30")
@click.argument("user")
@click.option("--name", default="key", show_default=True, help="What the key is for.")
@click.option("--scope", "scopes", multiple=True, default=("ask",), show_default=True, help="A permission it gives.")
@click.option("--days", type=int, default=90, show_default=True, help="For how long it counts.")
@json_option
def add(user: str, name: str, scopes: tuple[str, ...], days: int, as_json: bool) -> None:
    """Make a key with which a program can ask as USER over HTTP. It is shown once."""
    new_key = with_service(
        lambda service, principal: service.keys.add(principal, user=user, name=name, scopes=scopes, days=days)
    )
    _tell(new_key, as_json)


@command.command("rotate")
@click.argument("key_id")
@click.option("--grace-hours", type=int, default=0, show_default=True, help="For how long the old key still counts.")
@json_option
def rotate(key_id: str, grace_hours: int, as_json: bool) -> None:
    """Replace the key KEY_ID by a new one with the same scopes and the same lifetime."""
    _tell(
        with_service(lambda service, principal: service.keys.rotate(key_id, principal, grace_hours=grace_hours)),
        as_json,
    )


@command.command("revoke")
@click.argument("key_id", required=False)
@click.option("--all-of", "user", metavar="USER", help="Revoke all keys of USER instead.")
@json_option
def revoke(key_id: str | None, user: str | None, as_json: bool) -> None:
    """End the key KEY_ID at once, or all keys of a user."""
    if (key_id is None) == (user is None):
        raise click.UsageError("Name a key, or a user with --all-of.")
    if key_id is not None:
        with_service(lambda service, principal: service.keys.revoke(key_id, principal))
        revoked = 1
    else:
        revoked = with_service(lambda service, principal: service.keys.revoke_all(principal, user=user))
    if as_json:
        tell_json({"revoked": revoked})
    else:
        say(f"{revoked} keys revoked.")


def _tell(new_key: "NewKey", as_json: bool) -> None:
    if as_json:
        tell_json(new_key.model_dump(mode="json"))
        return
    key = new_key.view
    say(f"Key {key.key_id} of {key.user}, shown this once: {new_key.key}")
    say(f"It gives {', '.join(key.scopes)}, until {key.expires_at:%Y-%m-%d}.")


def _state(key: "KeyView") -> str:
    if not key.counts:
        return "ended"
    used = f"last used {key.used_at:%Y-%m-%d %H:%M}" if key.used_at else "never used"
    return f"until {key.expires_at:%Y-%m-%d}, {used}"
