"""Damages good streams at random and reads them: `damaged_streams.py FOLDER KEPT COUNT`.

It prints how many it took and how many it refused. What it takes, it also uses: a wrong length shows when somebody
believes it.
"""

import random
import struct
import sys
from contextlib import suppress
from pathlib import Path

for missing in ("pyarrow", "numpy"):
    sys.modules[missing] = None  # type: ignore[assignment]  # nothing here may depend on them

import polars as pl  # noqa: E402
from polars.exceptions import PanicException, PolarsError  # noqa: E402

from answerable.sandbox.runner.plain import Unreturnable  # noqa: E402
from answerable.sandbox.tables.received import received, write_table  # noqa: E402

SEED = 20261116
NUMBERS = (0, 1, -1, 2, 7, 8, 11, 127, 255, 256, 1 << 31, -(1 << 31), 1 << 32, 1 << 40, 1 << 62, -(1 << 63))


def damaged(good: bytes, chance: random.Random) -> bytes:
    data = bytearray(good)
    for _ in range(chance.choice((1, 1, 1, 2, 4))):
        place = chance.randrange(len(data))
        match chance.choice(("bit", "bit", "byte", "number", "number", "cut", "repeat")):
            case "bit":
                data[place] ^= 1 << chance.randrange(8)
            case "byte":
                data[place] = chance.randrange(256)
            case "number":
                width = chance.choice((2, 4, 8))
                value = chance.choice(NUMBERS) + chance.choice((-1, 0, 0, 1))
                place -= place % width
                data[place : place + width] = struct.pack("<Q", value & (1 << 64) - 1)[:width]
            case "cut":
                del data[place : place + chance.randrange(1, 40)]
            case "repeat":
                data[place:place] = data[place : place + chance.randrange(1, 64)]
    return bytes(data)


def use(path: Path) -> None:
    frame = pl.read_ipc(path)
    for column in frame.iter_columns():
        # dates out of the calendar, and kinds that cannot be sorted, are no matter of memory
        with suppress(PolarsError, PanicException, ValueError, OverflowError, ArithmeticError):
            column.drop_nulls()
            frame.filter(column.is_not_null())
            column.rank()
            column.sort()
            column.to_list()


def main(folder: Path, kept: Path, count: int) -> None:
    chance = random.Random(SEED)
    good = [path.read_bytes() for path in sorted(folder.iterdir())]
    taken = 0
    for _ in range(count):
        with suppress(ValueError, Unreturnable):
            with kept.open("wb") as file:
                write_table(received(memoryview(damaged(chance.choice(good), chance))), file.fileno())
            taken += 1
            use(kept)
    print(taken, count - taken)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]))
