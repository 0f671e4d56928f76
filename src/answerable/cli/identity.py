"""`answerable identity`"""

import sys

import click

from answerable.cli.output import json_option, say, tell_json
from answerable.cli.session import with_service


@click.group("identity")
def command() -> None:
    """Try the identity providers at which people sign in, or simulate one. See docs/identity.md."""


@command.command("check")
@json_option
def check(as_json: bool) -> None:
    """Ask each configured provider for its addresses and keys. Exit code 1 if one cannot be used."""
    checks = with_service(lambda service, principal: service.providers.check(principal))
    if as_json:
        tell_json({"providers": [each.model_dump(mode="json") for each in checks]})
    else:
        for each in checks:
            say(f"{each.name}: " + (f"{each.keys} keys at {each.issuer}" if each.usable else f"{each.problem}"))
            if each.hint:
                say(f"    {each.hint}")
        if not checks:
            say("settings.yaml names no identity provider.")
    sys.exit(0 if all(each.usable for each in checks) else 1)


@command.command("simulate")
@click.option("--port", type=click.IntRange(0, 65535), default=8398, show_default=True)
def simulate(port: int) -> None:
    """Serve a made-up identity provider on this machine, until interrupted.

    It has three people. Whoever can reach it can sign in as any of them, so it is for trying only.
    """
    import asyncio

    import uvicorn

    from answerable.core.errors import OperatorError
    from answerable.identity.simulator import AUDIENCE, CLIENT_ID, SimulatedProvider, listening

    try:
        opened = listening(port)
    except OSError as error:
        raise OperatorError(
            f"Port {port} cannot be used: {error.strerror}.", code="port_unavailable", hint="Give another --port."
        ) from error
    issuer = f"http://127.0.0.1:{opened.getsockname()[1]}"
    provider = SimulatedProvider(issuer)
    say(f"An identity provider is simulated on {issuer} (Ctrl-C stops it), with {', '.join(provider.people)}.")
    say("In settings.yaml:")
    say("providers:")
    say(f"  simulated: {{issuer: '{issuer}', client_id: {CLIENT_ID}, audience: '{AUDIENCE}',")
    say("    roles: {managers: manager, sellers: seller}, attributes: {region: region}}")
    sys.stdout.flush()
    server = uvicorn.Server(uvicorn.Config(provider.app, log_config=None, ws="none"))
    with opened:
        asyncio.run(server.serve([opened]))
