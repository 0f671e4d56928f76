"""`answerable replay`"""

import asyncio
import sys
from typing import TYPE_CHECKING

import click

from answerable.cli.output import progress, say, tell_json
from answerable.cli.session import principal

if TYPE_CHECKING:
    from answerable.answers.replay import Replay


@click.command("replay")
@click.argument("run")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(run: str, as_json: bool) -> None:
    """Run the deterministic steps of the answer RUN again and compare the rows.

    Exit code 0 when they are the same, 1 when they differ or it cannot be told.
    """
    replayed = asyncio.run(_replay(run))
    if as_json:
        tell_json(replayed.model_dump(mode="json"))
    else:
        say(replayed.text)
    sys.exit(0 if replayed.verdict == "same" else 1)


async def _replay(run: str) -> "Replay":
    from answerable.app import open_service
    from answerable.core.ids import RunId
    from answerable.settings import load_settings

    async with open_service(load_settings(), any_location=True) as service:
        with progress("Running it again …"):
            return await service.answers.replay(RunId(run), principal())
