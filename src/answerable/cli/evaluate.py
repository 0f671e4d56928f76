"""`answerable eval`"""

import asyncio
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from answerable.cli.output import tell_json

if TYPE_CHECKING:
    from answerable.core.values import Json
    from answerable.evals.cases import Case
    from answerable.evals.run import Progress
    from answerable.evals.score import Report


@click.command("eval")
@click.argument("cases")
@click.option("--split", help="Only cases of this split.")
@click.option("--limit", type=click.IntRange(min=1), help="Only the first N cases.")
@click.option("--force", is_flag=True, help="Always answer with the best reading; never ask back.")
@click.option("--explain", metavar="ID", help="Show stage by stage how the question of this case was read.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(cases: str, split: str | None, limit: int | None, force: bool, explain: str | None, as_json: bool) -> None:
    """Measure how many questions of CASES are answered right.

    CASES is a .jsonl file (see docs/evals.md) or the name of a bundled set: demo. Exit code 0 when every case was
    answered right, else 1.
    """
    from answerable.evals.cases import chosen, load_cases

    loaded = load_cases(cases)
    if explain is not None:
        asyncio.run(_explain(loaded, explain, as_json))
        return
    report = asyncio.run(_measure(chosen(loaded, split=split, limit=limit), force))
    if as_json:
        tell_json(report.model_dump(mode="json"))
    else:
        _tell(report)
    sys.exit(0 if report.correct == report.cases else 1)


async def _measure(cases: "Sequence[Case]", force: bool) -> "Report":
    from answerable.app import open_service
    from answerable.evals.run import evaluate
    from answerable.examiner import Examiner
    from answerable.settings import load_settings

    settings = load_settings(store=":memory:")  # measuring leaves no runs behind
    async with open_service(settings, any_location=True) as service:
        with _progress(len(cases)) as progress:
            return await evaluate(cases, Examiner(service), force=force, progress=progress)


async def _explain(cases: "Sequence[Case]", wanted: str, as_json: bool) -> None:
    from answerable.app import open_service
    from answerable.core.errors import NotFoundError
    from answerable.settings import load_settings

    case = next((case for case in cases if case.id == wanted), None)
    if case is None:
        raise NotFoundError(f"There is no case {wanted!r} in this set.", code="case_unknown")
    async with open_service(load_settings(store=":memory:"), any_location=True) as service:
        stages = await service.explain(case.question, source=case.source, today=case.today)
    if as_json:
        tell_json(stages)
        return
    for stage, found in stages.items():
        click.echo(f"{stage}:")
        for line in _lines(found):
            click.echo(f"  {line}")


def _lines(found: "Json") -> "Iterator[str]":
    if isinstance(found, dict):
        yield from (f"{name}: {value}" for name, value in found.items())
    elif isinstance(found, list | tuple):
        for item in found:
            yield ", ".join(_lines(item)) if isinstance(item, dict) else str(item)
    else:
        yield str(found)


@contextmanager
def _progress(total: int) -> "Iterator[Progress | None]":
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress as Bar

    with Bar(console=Console(stderr=True)) as bar:
        task = bar.add_task("Asking …", total=total)
        yield lambda done, _, __: bar.update(task, completed=done)


def _tell(report: "Report") -> None:
    for result in report.results:
        if result.outcome != "correct":
            offered = " (the right reading was offered)" if result.offered else ""
            click.echo(f"{result.outcome:8} {result.id}{offered}")
    click.echo(
        f"{report.correct} of {report.cases} right ({report.accuracy:.1%}); answered {report.coverage:.1%}, "
        f"of these right {report.precision:.1%}; asked back {report.asked}, right reading offered {report.offered}; "
        f"failed {report.failed}; {report.seconds:.1f} s"
    )
