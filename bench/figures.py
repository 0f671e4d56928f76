"""What a measurement says, and how measurements are taken: ours and the floor in turn, medians of several repeats."""

import gc
import math
import statistics
import time
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias


@dataclass(frozen=True, slots=True)
class Figure:
    name: str
    ours: float
    floor: float
    unit: str
    ratio: float
    limit: float
    better: Literal["lower", "higher"] = "lower"

    @property
    def met(self) -> bool:
        return self.ratio <= self.limit if self.better == "lower" else self.ratio >= self.limit

    def as_json(self) -> dict[str, Any]:
        """JSON has no sign for what is no number: None stands for it."""
        values = {name: None if value != value else value for name, value in asdict(self).items()}
        return {**values, "met": self.met}


def compared(
    name: str, ours: float, floor: float, unit: str, limit: float, better: Literal["lower", "higher"] = "lower"
) -> Figure:
    """The plain case: the ratio is ours to the floor."""
    return Figure(name, ours, floor, unit, ours / floor, limit, better)


def failed(name: str, error: Exception) -> Figure:
    """Stands for the figures of a measurement that broke off; its limit counts as missed."""
    return Figure(f"{name}: {type(error).__name__}", math.nan, math.nan, "", math.nan, math.nan)


Call: TypeAlias = Callable[[], Awaitable[object]]

BLOCK = 0.05
"""Seconds that each measured block lasts at least. Blocks of about the same length are disturbed by other work on the
machine to the same degree, which single calls of different length are not."""


async def in_turn(ours: Call, floor: Call, repeats: int) -> tuple[float, float]:
    """Median seconds of a call of each. Blocks of calls take turns, so that both share the machine's ups and downs."""
    calls = (ours, floor)
    counts = [max(1, round(BLOCK / await _block(call, 1))) for call in calls for _ in range(2)][1::2]
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(repeats):
        for call, count, spent in zip(calls, counts, times, strict=True):
            spent.append(await _block(call, count))
    return statistics.median(times[0]), statistics.median(times[1])


async def _block(call: Call, count: int) -> float:
    gc.collect()
    began = time.perf_counter()
    for _ in range(count):
        await call()
    return (time.perf_counter() - began) / count


def table(figures: list[Figure]) -> str:
    """As Markdown, which is also good to read in a terminal."""
    head = ("what", "ours", "floor", "unit", "ratio", "limit", "")
    rows = [head, *(_row(figure) for figure in figures)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(head))]
    lines = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |" for row in rows
    ]
    rule = "| " + " | ".join("-" * max(width, 3) for width in widths) + " |"
    return "\n".join([lines[0], rule, *lines[1:]])


def _row(figure: Figure) -> tuple[str, ...]:
    sign = "≤" if figure.better == "lower" else "≥"
    numbers = (
        f"{figure.ours:.4g}",
        f"{figure.floor:.4g}",
        figure.unit,
        f"{figure.ratio:.2f}",
        f"{sign} {figure.limit:g}",
    )
    return (figure.name, *numbers, "ok" if figure.met else "MISSED")
