"""Measures the reader as users meet it, by execution: `python -m train.evaluate [--set NAME] [--errors N]`."""

import argparse
import time
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from answerable.reader.reader import Reader
from answerable.reader.reading import Read, Unsure
from train.cases import SETS, Case, database, load_cases, run_sql, same_rows

TODAY = date(2026, 1, 1)


@dataclass(frozen=True, slots=True)
class Outcome:
    case: Case
    forced: bool
    """The best reading is right."""
    answered: bool
    right: bool
    """It answered, and rightly."""
    offered: bool
    """It asked, and the right reading was among the choices."""
    seconds: float
    sql: str | None
    confidence: float


def measure(cases: Sequence[Case]) -> list[Outcome]:
    reader = None
    outcomes = []
    for case in cases:
        if reader is None:
            data = database(case.database)
            reader = Reader(data.catalog, data.values, today=lambda: TODAY)
        outcomes.append(_outcome(reader, case))
    return outcomes


def _outcome(reader: Reader, case: Case) -> Outcome:
    start = time.perf_counter()
    reply = reader.read(case.question)
    seconds = time.perf_counter() - start
    forced = reader.read(case.question, force=True)
    best = forced.best if isinstance(forced, Read) else None
    offered = isinstance(reply, Unsure) and any(_is_right(case, r.sql) for r in reply.readings)
    return Outcome(
        case,
        best is not None and _is_right(case, best.sql),
        isinstance(reply, Read),
        isinstance(reply, Read) and _is_right(case, reply.best.sql),
        offered,
        seconds,
        best.sql if best else None,
        best.confidence if best else 0.0,
    )


def _is_right(case: Case, sql: str | None) -> bool:
    return sql is not None and same_rows(case, run_sql(case.database, sql))


def measure_all(cases: Sequence[Case], processes: int = 2) -> list[Outcome]:
    by_database: dict[Path, list[Case]] = defaultdict(list)
    for case in cases:
        by_database[case.database].append(case)
    with ProcessPoolExecutor(processes) as pool:
        return [outcome for part in pool.map(measure, by_database.values()) for outcome in part]


def table(outcomes: Sequence[Outcome]) -> str:
    heads = ("set", "cases", "forced", "precision", "coverage", "given or offered", "median ms", "p95 ms")
    lines = ["| " + " | ".join(heads) + " |", "|" + " --- |" * len(heads)]
    for name in sorted({outcome.case.set for outcome in outcomes}):
        own = [outcome for outcome in outcomes if outcome.case.set == name]
        answered = [outcome for outcome in own if outcome.answered]
        times = sorted(outcome.seconds * 1000 for outcome in own)
        precision = sum(o.right for o in answered) / max(1, len(answered))
        lines.append(
            f"| {name} | {len(own)} | {sum(o.forced for o in own) / len(own):.1%} | {precision:.1%} "
            f"| {len(answered) / len(own):.1%} | {sum(o.right or o.offered for o in own) / len(own):.1%} "
            f"| {times[len(times) // 2]:.0f} | {times[int(len(times) * 0.95)]:.0f} |"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--split", default="check")
    parser.add_argument("--set", dest="sets", action="append")
    parser.add_argument("--limit", type=int)
    parser.add_argument("--errors", type=int, default=0)
    chosen = parser.parse_args()
    cases = load_cases(chosen.sets or SETS, chosen.split)
    outcomes = measure_all(cases[: chosen.limit])
    print(table(outcomes))
    for outcome in [o for o in outcomes if not o.forced][: chosen.errors]:
        print(
            f"\n{outcome.case.question}\n  gold {outcome.case.gold_sql}",
            f"\n  read {' '.join((outcome.sql or '-').split())}",
        )


if __name__ == "__main__":
    main()
