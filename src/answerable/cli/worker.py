"""`answerable worker`"""

from typing import TYPE_CHECKING

import click

from answerable.cli.output import say

if TYPE_CHECKING:
    from answerable.settings import Settings


@click.command("worker")
@click.option("--at-once", type=click.IntRange(1, 1_000), default=8, show_default=True, help="Runs at the same time.")
def command(at_once: int) -> None:
    """Carry out runs that servers with the setting `workers` leave in the store, until interrupted.

    Any number of workers on any number of machines may share one PostgreSQL store. The runs of a worker that dies are
    taken over by the others.
    """
    import asyncio

    from answerable.logs import configure
    from answerable.settings import load_settings

    settings = load_settings()
    configure(settings.log_level, settings.personal_policy)
    asyncio.run(_work(settings, at_once))


async def _work(settings: "Settings", at_once: int) -> None:
    import asyncio
    import signal

    from answerable.app import open_service
    from answerable.logs import EventLog
    from answerable.service.process_role import ProcessRole

    stopped = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    role = ProcessRole(patient=True, hides_paths=True, carried_at_once=at_once)
    async with open_service(settings, any_location=False, role=role, listeners=(EventLog(),)) as service:
        service.start_background_work()
        say("Waiting for runs.", err=True)
        await stopped.wait()
        service.runs.carrier.leave()
