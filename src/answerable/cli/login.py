"""`answerable login`"""

import click

from answerable.cli.output import json_option, say, tell_json
from answerable.cli.password import read_password
from answerable.cli.session import with_service


@click.command("login", epilog='Example: curl -H "Authorization: Bearer $(answerable login ana)" …/api/v1/sources')
@click.argument("user")
@json_option
def command(user: str, as_json: bool) -> None:
    """Sign in as USER and print a token for `Authorization: Bearer`. It ends when it is not used for a while.

    The password is read from the terminal, or from a pipe.
    """
    password = read_password()
    signed_in = with_service(
        lambda service, principal: service.identity.sign_in(user, password, principal.tenant, client="answerable login")
    )
    if as_json:
        tell_json({"user": signed_in.user, "token": signed_in.token})
    else:
        say(signed_in.token)
