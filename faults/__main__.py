"""`python -m faults [NAME…] [--rounds N] [--pause SECONDS] [--json]`: does harm and prints what is left.

Exits with 1 if that is not whole.
"""

import argparse
import asyncio
import importlib
import json
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from faults.server import Room
from faults.stock import Stock

MODULES = ("kill", "outage", "servers", "disk", "descriptors", "clock", "graphs", "points", "workers", "soak")
"""Each has `async def harmed(room: Room, rounds: int) -> Stock`, and in `ROUNDS` how often it does its harm."""


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m faults", description="Harm done to servers, and what is left.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"which: {', '.join(MODULES)} (default: all)")
    parser.add_argument("--rounds", type=int, help="how often the harm is done; each script has its own default")
    parser.add_argument("--pause", type=float, default=0.0, help="seconds between two requests of a client")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args(arguments)
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # servers that are started would compile themselves each time
    unknown = set(options.names) - set(MODULES)
    if unknown:
        parser.error(f"there is no {', '.join(sorted(unknown))}; choose from {', '.join(MODULES)}")
    stocks: dict[str, Stock] = {}
    if not options.json:
        print(f"{'':12}" + "".join(f"{name:>10}" for name in ("requests", *Stock().counts())), flush=True)
    for name in options.names or MODULES:
        stocks[name] = _harmed(name, options.rounds, options.pause)
        if not options.json:
            _print(name, stocks[name])
    if options.json:
        print(json.dumps({name: stock.as_json() for name, stock in stocks.items()}, indent=2))
    return 0 if all(stock.whole for stock in stocks.values()) else 1


def _harmed(name: str, rounds: int | None, pause: float) -> Stock:
    module = importlib.import_module(f"faults.{name}")
    print(f"{name}: {(module.__doc__ or '').splitlines()[0]}", file=sys.stderr, flush=True)
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="answerable-faults-") as folder:
        room = Room(Path(folder), pause)
        try:
            stock: Stock = asyncio.run(module.harmed(room, rounds or module.ROUNDS))
        finally:
            room.close()
    print(f"{name}: {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)
    return stock


def _print(name: str, stock: Stock) -> None:
    print(f"{name:12}" + "".join(f"{count:>10}" for count in (stock.requests, *stock.counts().values())), flush=True)
    for what in stock.counts():
        for line in getattr(stock, what):
            print(f"  {what}: {line}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
