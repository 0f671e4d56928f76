"""The index of values against bare SQLite: building it against inserting the same values, finding against looking up.

A million distinct names are in a SQLite file; the product opens it as a source and asks for its values, in a process of
its own so that its memory can be told. Also as shares of what was promised: 20 seconds and 300 MB for a million values.
"""

import asyncio
import json
import random
import resource
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, TypeVar

from answerable.sources.open import open_source
from bench.figures import Figure, compared

T = TypeVar("T")

SECONDS_A_MILLION = 20.0
MEGABYTES = 300.0
SEARCHES = 300


def measure(quick: bool) -> list[Figure]:
    count = 100_000 if quick else 1_000_000
    with tempfile.TemporaryDirectory(prefix="answerable-bench-") as folder:
        names = list(_names(count))
        data = Path(folder) / "names.sqlite"
        least = _inserted(data, names)
        with closing(sqlite3.connect(data)) as connection:
            connection.execute("CREATE INDEX by_name ON people (name)")
        built = _in_another_process(data, Path(folder) / "cache")
        searches = _searches(data, names, built)
    promised = SECONDS_A_MILLION * count / 1_000_000
    return [
        compared(f"index {count:,} values", built["seconds"], least, "s", 15.0),
        compared(f"index {count:,} values, of the time promised", built["seconds"], promised, "s", 1.0),
        compared(f"index {count:,} values, of the memory promised", built["megabytes"], MEGABYTES, "MB", 1.0),
        *searches,
    ]


def _names(count: int) -> Iterator[str]:
    """Distinct names of one to four words, from sixty thousand words."""
    chance = random.Random(1)
    syllables = [a + b + c for a in (*"bdfgklmnprstv", "ch") for b in "aeiou" for c in ("", "n", "r", "s")]
    words = ["".join(chance.choices(syllables, k=chance.choice((2, 2, 3, 3, 4)))).title() for _ in range(60_000)]
    seen: set[str] = set()
    while len(seen) < count:
        name = " ".join(chance.choices(words, k=chance.choice((1, 2, 2, 2, 3, 3, 4))))
        if name not in seen:
            seen.add(name)
            yield name


def _inserted(path: Path, names: Sequence[str]) -> float:
    """The floor: seconds to write the values into a table and commit them."""
    with closing(sqlite3.connect(path)) as connection:
        began = time.perf_counter()
        connection.execute("CREATE TABLE people (name TEXT)")
        connection.executemany("INSERT INTO people VALUES (?)", ((name,) for name in names))
        connection.commit()
        return time.perf_counter() - began


def _in_another_process(data: Path, cache: Path) -> dict[str, Any]:
    command = [sys.executable, "-m", "bench.value_index", str(data), str(cache)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    result: dict[str, Any] = json.loads(done.stdout)
    return result


async def _build_and_search(data: Path, cache: Path) -> dict[str, Any]:
    source = await open_source(str(data), cache=cache)
    await source.describe()
    began = time.perf_counter()
    values = await source.values()
    seconds = time.perf_counter() - began
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    with closing(sqlite3.connect(data)) as connection:
        every = connection.execute("SELECT count(*) FROM people").fetchone()[0] // SEARCHES
        asked = [name for (name,) in connection.execute("SELECT name FROM people WHERE rowid % ? = 0", (every,))]
    exact = _median(lambda name: values.find(name.upper()), asked)
    misspelt = _median(values.find, [_misspelt(name) for name in asked])
    await source.close()
    return {"seconds": seconds, "megabytes": megabytes, "exact": exact, "misspelt": misspelt}


def _misspelt(name: str) -> str:
    """Two letters in the middle swapped."""
    at = len(name) // 2
    return name[: at - 1] + name[at] + name[at - 1] + name[at + 1 :]


def _median(find: Callable[[T], object], phrases: Sequence[T]) -> float:
    """Microseconds a search."""
    spent = []
    for phrase in phrases:
        began = time.perf_counter()
        find(phrase)
        spent.append(time.perf_counter() - began)
    return statistics.median(spent) * 1e6


def _searches(data: Path, names: Sequence[str], built: dict[str, Any]) -> list[Figure]:
    """Floors: an equality that an index answers, and the scan that finds a misspelling without one."""
    asked = names[:: len(names) // SEARCHES]
    with closing(sqlite3.connect(data)) as connection:
        equal = _median(lambda n: connection.execute("SELECT name FROM people WHERE name = ?", (n,)).fetchall(), asked)
        like = "SELECT name FROM people WHERE name LIKE ? OR name LIKE ?"
        ends = [(f"{name[: len(name) // 2]}%", f"%{name[len(name) // 2 :]}") for name in asked[:: len(asked) // 5]]
        scan = _median(lambda both: connection.execute(like, both).fetchall(), ends)
    return [
        compared("find a value as it is spelt", built["exact"], equal, "µs", 60.0),
        compared("find a value misspelt", built["misspelt"], scan, "µs", 0.2),
    ]


if __name__ == "__main__":
    print(json.dumps(asyncio.run(_build_and_search(Path(sys.argv[1]), Path(sys.argv[2])))))
