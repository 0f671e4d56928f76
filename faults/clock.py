"""The clock of the machine is set back by an hour, again and again."""

from pathlib import Path

from faults.load import Load
from faults.server import Room
from faults.stock import Stock
from faults.stocktaking import take_stock
from faults.work import Conversation, Followed, Named, Question

ROUNDS = 5
STEP_SECONDS = 3600


async def harmed(room: Room, rounds: int) -> Stock:
    offset = room.folder / "clock-offset"
    _set(offset, 0)
    server = room.serve("faults.stepped_clock", FAULTS_CLOCK=str(offset))
    load = Load([server], kinds=(Conversation, Question, Followed, Named))
    async with load.under_way():
        for number in range(1, rounds + 1):
            await load.more(8)
            _set(offset, -STEP_SECONDS * number)
        await load.more(8)
    return await take_stock(load, room, room.store_file)


def _set(offset: Path, seconds: int) -> None:
    """At once: a reader finds the old number or the new one."""
    partial = offset.with_suffix(".new")
    partial.write_text(str(seconds))
    partial.replace(offset)
