"""`answerable serve`"""

import click

from answerable.cli.output import say


@click.command("serve")
@click.option("--host", help="Address to listen on; 127.0.0.1 by default.")
@click.option("--port", type=click.IntRange(0, 65535), help="Port to listen on; 8321 by default.")
@click.option("--source", "-s", multiple=True, metavar="NAME=LOCATION", help="Serve this file, folder or database too.")
@click.option("--allow-host", multiple=True, help="Also answer under this host name.")
@click.option("--token", "with_token", is_flag=True, help="Ask for a token on this machine too: it has other users.")
@click.option("--open", "for_everybody", is_flag=True, help="Serve other machines without a token.")
def command(
    host: str | None,
    port: int | None,
    source: tuple[str, ...],
    allow_host: tuple[str, ...],
    with_token: bool,
    for_everybody: bool,
) -> None:
    """Serve the HTTP API and the page until interrupted.

    A server that other machines can reach (--host 0.0.0.0) needs a token. It prints a link that holds one; programs
    send it as `Authorization: Bearer TOKEN`. With an access.yaml people sign in instead.
    """
    from answerable.gateway.server import serve
    from answerable.settings import load_settings

    if with_token and for_everybody:
        raise click.UsageError("--open means that no token is needed; leave out one of --open and --token.")
    settings = load_settings(host=host, port=port)
    named = dict(_named(text) for text in source)
    if named:
        # The first source of the command line becomes the default: it is what the person wants to ask.
        settings = settings.model_copy(update={"sources": {**settings.sources, **named}, "source": next(iter(named))})
    if for_everybody and not (settings.is_local or settings.has_identities):
        say(f"Warning: everybody who reaches {settings.host} can read all data, change it and run programs.", err=True)
    needs_token = with_token or not (settings.is_local or for_everybody or settings.has_identities)
    serve(settings, allow_hosts=allow_host, needs_token=needs_token)


def _named(text: str) -> tuple[str, str]:
    name, equals, location = text.partition("=")
    if not equals or not name or not location:
        raise click.UsageError(f"--source takes NAME=LOCATION, for example sales=./sales/; {text!r} is not that.")
    return name, location
