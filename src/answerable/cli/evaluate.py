"""`answerable eval`"""

import asyncio
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import click

from answerable.cli.output import json_option, progress, say, tell_json, tell_table
from answerable.cli.session import principal, with_service

if TYPE_CHECKING:
    from answerable.core.context import Principal
    from answerable.core.values import Json
    from answerable.engine.steps.understand import Mode
    from answerable.evals.cases import Case
    from answerable.evals.measured import MeasuredReport
    from answerable.evals.run import Answerer, Progress
    from answerable.evals.score import Report, Scored
    from answerable.service import Service
    from answerable.service.eval_views import EvalRun
    from answerable.settings import Settings

RECORDED = "recorded"
"""What a recording is called in place of a model."""


@dataclass(frozen=True, slots=True)
class ModelMeasurement:
    """A model, and how it is measured."""

    model: str
    mode: "Mode"
    concurrency: int
    max_cost: float | None
    max_tokens: int | None
    results: Path | None
    recorded: str | None = None
    """A recording whose replies stand in for the model."""
    record: Path | None = None
    """Where the replies of the model are written."""


class DefaultGroup(click.Group):
    """A group whose first word may also be an argument of its default command: `eval demo` is `eval cases demo`."""

    default = "cases"

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        # Whatever is not a command goes to the default one, options included: `eval --split test demo`.
        if args and args[0] not in self.commands and args[0] not in ctx.help_option_names:
            args = [self.default, *args]
        return super().parse_args(ctx, args)


@click.group("eval", cls=DefaultGroup)
def command() -> None:
    """Measure how many questions are answered right: `eval CASES`, or suites of golden cases made from answers.

    CASES is a .jsonl file (see docs/evals.md) or the name of a bundled set: demo. Without a command, `cases` is meant.
    """


@command.command("list")
@json_option
def list_suites(as_json: bool) -> None:
    """Suites of golden cases, and how many of their questions were right when they were last measured."""
    suites = with_service(lambda service, principal: service.evals.suites(principal))
    if as_json:
        tell_json({"suites": [suite.model_dump(mode="json") for suite in suites]})
        return
    for suite in suites:
        last = suite.trend[-1] if suite.trend else None
        result = "never measured" if last is None else f"{last.correct} of {last.cases} right"
        say(f"{suite.name:20} {suite.cases:4} cases  {result}")


@command.command("show")
@click.argument("suite")
@click.argument("case", required=False)
@json_option
def show(suite: str, case: str | None, as_json: bool) -> None:
    """The cases of SUITE and how they did; with CASE, what was expected of it and what it gave."""
    if case is not None:
        detail = with_service(lambda service, principal: service.evals.case(suite, case, principal))
        document = detail.model_dump(mode="json")
        if as_json:
            tell_json(document)
            return
        for line in _lines(document):
            say(line)
        return
    found = with_service(lambda service, principal: service.evals.suite(suite, principal))
    if as_json:
        tell_json(found.model_dump(mode="json"))
    else:
        tell_table([(each.id, each.outcome or "never measured", each.question) for each in found.cases])


@command.command("add")
@click.argument("suite")
@click.argument("run")
@click.option("--id", "case_id", help="Name of the case; else after its question.")
@click.option("--ordered", is_flag=True, help="The order of the rows counts.")
@json_option
def add(suite: str, run: str, case_id: str | None, ordered: bool, as_json: bool) -> None:
    """Make a golden case of SUITE from RUN, whose answer is right. A suite that is new is made."""
    from answerable.core.ids import RunId

    case = with_service(
        lambda service, principal: service.evals.add_case(
            suite, RunId(run), principal, case_id=case_id, ordered=ordered
        )
    )
    if as_json:
        tell_json(case.model_dump(mode="json"))
    else:
        say(f"{suite} has the case {case.id}: {case.question}")


@command.command("remove")
@click.argument("suite")
@click.argument("case")
@json_option
def remove(suite: str, case: str, as_json: bool) -> None:
    """Remove CASE from SUITE."""
    with_service(lambda service, principal: service.evals.remove_case(suite, case, principal))
    if as_json:
        tell_json({"removed": case})
    else:
        say(f"{case} removed from {suite}.")


@command.command("run")
@click.argument("suite")
@json_option
def run_suite(suite: str, as_json: bool) -> None:
    """Measure SUITE and record the result, as the page does. Exit code 0 when every case was answered right."""
    from answerable.core.ids import EvalId

    async def measure(service: "Service", principal: "Principal") -> "EvalRun":
        begun = await service.evals.measure(suite, principal)
        return await service.evals.wait(suite, EvalId(begun.eval_id), principal)

    with progress("Asking …"):
        found = with_service(measure)
    if as_json:
        tell_json(found.model_dump(mode="json"))
    elif found.error is not None:
        say(f"The measurement failed: {found.error}", err=True)
    else:
        say(f"{found.correct} of {found.cases} right; {found.seconds or 0:.1f} s")
    sys.exit(0 if found.correct == found.cases else 1)


@command.command("cases", hidden=True)
@click.argument("cases")
@click.option("--split", help="Only cases of this split.")
@click.option("--limit", type=click.IntRange(min=1), help="Only the first N cases.")
@click.option("--force", is_flag=True, help="Always answer with the best reading; never ask back.")
@click.option("--loose", is_flag=True, help="Right if the gold columns are there, among others and in any order.")
@click.option("--explain", metavar="ID", help="Show stage by stage how the question of this case was read.")
@click.option("--model", help="Measure this language model, as provider:name, and what it costs.")
@click.option(
    "--mode", type=click.Choice(["auto", "plan", "react"]), default="plan", help="With --model; plan if not given."
)
@click.option("--concurrency", type=click.IntRange(1, 64), default=4, help="With --model: cases at the same time.")
@click.option("--max-cost", type=click.FloatRange(min=0), help="With --model: most dollars that this may cost.")
@click.option("--max-tokens", type=click.IntRange(min=0), help="With --model: most tokens that this may use.")
@click.option(
    "--results",
    type=click.Path(dir_okay=False, path_type=Path),
    help="With --model: write each result to this file as it comes; what is in it already is not asked again.",
)
@click.option("--recorded", help="Measure with recorded replies of a model: a file, or the bundled set demo.")
@click.option(
    "--record",
    type=click.Path(dir_okay=False, path_type=Path),
    help="With --model: write what the model replies to this file, one case at a time.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def measure_cases(
    cases: str,
    split: str | None,
    limit: int | None,
    force: bool,
    loose: bool,
    explain: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Measure how many questions of CASES are answered right.

    CASES is a .jsonl file (see docs/evals.md) or the name of a bundled set: demo. Exit code 0 when every case was
    answered right, else 1.
    """
    from answerable.evals.cases import chosen, load_cases

    loaded = load_cases(cases)
    if explain is not None:
        asyncio.run(_explain(loaded, explain, as_json))
        return
    asked = chosen(loaded, split=split, limit=limit)
    if options["recorded"]:
        asked = _only_recorded(asked, options["recorded"])
        options["model"] = RECORDED
    measure = ModelMeasurement(**options) if options["model"] else None
    report = asyncio.run(_measure(asked, force, loose, measure))
    if as_json:
        tell_json(report.model_dump(mode="json"))
    else:
        _tell(report)
    # A case that was never asked was not answered right either.
    sys.exit(0 if report.correct + report.declined == report.cases and not getattr(report, "left", 0) else 1)


def _only_recorded(cases: "Sequence[Case]", recording: str) -> "list[Case]":
    from answerable.core.errors import UserError
    from answerable.evals.recorded import load_recorded

    known = load_recorded(recording)
    found = [case for case in cases if case.id in known]
    if not found:
        raise UserError(f"{recording} has no replies to any of these cases.", code="recording_invalid")
    return found


async def _measure(cases: "Sequence[Case]", force: bool, loose: bool, measure: ModelMeasurement | None) -> "Report":
    from answerable.app import open_service
    from answerable.evals.run import evaluate

    if measure is not None and (measure.recorded or measure.record):
        return await _measured_on_tape(cases, force, loose, measure)
    async with open_service(_settings(measure), any_location=True) as service:
        with _progress_bar(len(cases)) as ended:
            if measure is not None:
                return await _measured(cases, service, force, loose, ended, measure)
            runner = service.evals.runner(principal())
            return await evaluate(cases, runner, force=force, progress=ended, loose=loose)


def _settings(measure: ModelMeasurement | None, **more: Any) -> "Settings":
    from answerable.settings import load_settings

    settings = load_settings(store=":memory:")  # measuring leaves no runs behind
    if measure is None:
        return settings
    limit = {"cost": measure.max_cost, "tokens": measure.max_tokens}
    budget = {**settings.models.get("budget", {}), "tenant_month": limit}  # nobody else is in this store
    models = {**settings.models, "budget": budget} if any(value is not None for value in limit.values()) else None
    settings = load_settings(store=":memory:", model=measure.model, model_coding=measure.model, models=models, **more)
    if measure.max_cost is not None:
        _check_price(measure.model, settings)
    return settings


def _check_price(model: str, settings: "Settings") -> None:
    from answerable.core.errors import OperatorError
    from answerable.models.names import target_of
    from answerable.models.prices import Used, cost_of

    # A limit in dollars cannot stop a model whose calls have no known price.
    if cost_of(target_of(model, settings.models_config, os.environ), Used(1, 1)) is None:
        raise OperatorError(
            f"The price of {model} is not known, so --max-cost cannot hold.",
            code="model_price_unknown",
            hint="Give --max-tokens, or set `price` under its provider; see docs/agents.md.",
        )


async def _measured_on_tape(cases: "Sequence[Case]", force: bool, loose: bool, measure: ModelMeasurement) -> "Report":
    """Measures with recorded replies, or records them. One case at a time: a tape knows no cases."""
    from answerable.app import open_service
    from answerable.evals.recorded import Recording, Replayed, load_recorded
    from answerable.models.playback import Playback
    from answerable.models.tape import Recorder

    alone = replace(measure, concurrency=1)
    if measure.record is not None and not measure.recorded:
        recorder = Recorder()
        async with open_service(_settings(measure), any_location=True, tape=recorder) as service:
            runner = Recording(service.evals.runner(principal(), measure.mode, counting=True), recorder, measure.record)
            with _progress_bar(len(cases)) as ended:
                return await _measured(cases, service, force, loose, ended, alone, runner)
    assert measure.recorded is not None
    async with Playback(strict=False) as playback:
        settings = _settings(replace(measure, model=f"compatible:{RECORDED}"), model_base_url=playback.base_url)
        async with open_service(settings, any_location=True, tape=playback) as service:
            answerer = service.evals.runner(principal(), measure.mode, counting=True)
            replayed = Replayed(answerer, playback, load_recorded(measure.recorded))
            with _progress_bar(len(cases)) as ended:
                return await _measured(cases, service, force, loose, ended, alone, replayed)


async def _measured(
    cases: "Sequence[Case]",
    service: "Service",
    force: bool,
    loose: bool,
    progress: "Progress | None",
    measure: ModelMeasurement,
    answerer: "Answerer | None" = None,
) -> "Report":
    """Measures a model. If it is interrupted, or the budget is spent, reports the cases that were scored by then."""
    from answerable.evals.measured import measured
    from answerable.evals.run import evaluate
    from answerable.evals.score import report
    from answerable.evals.stored_results import StoredResults

    stored = StoredResults(measure.results, measure.model, measure.mode) if measure.results else None
    done = stored.load() if stored else {}
    started = perf_counter()

    def ended(number: int, of: int, scored: "Scored") -> None:
        if stored is not None:
            stored.add(scored)
        if progress is not None:
            progress(number, of, scored)

    runner = answerer or service.evals.runner(principal(), measure.mode, counting=True)
    with suppress(asyncio.CancelledError):
        await evaluate(
            cases,
            runner,
            force=force,
            progress=ended,
            concurrency=measure.concurrency,
            done=done,
            ending=("budget_exhausted",),
            loose=loose,
        )
    results = [done[case.id] for case in cases if case.id in done]
    whole = report(results, perf_counter() - started)
    return measured(whole, measure.model, measure.mode, left=len(cases) - len(results))


async def _explain(cases: "Sequence[Case]", wanted: str, as_json: bool) -> None:
    from answerable.app import open_service
    from answerable.core.errors import NotFoundError
    from answerable.settings import load_settings

    case = next((case for case in cases if case.id == wanted), None)
    if case is None:
        raise NotFoundError(f"There is no case {wanted!r} in this set.", code="case_unknown")
    async with open_service(load_settings(store=":memory:"), any_location=True) as service:
        stages = await service.questions.explain(case.question, principal(), source=case.source, today=case.today)
    if as_json:
        tell_json(stages)
        return
    for stage, found in stages.items():
        say(f"{stage}:")
        for line in _lines(found):
            say(f"  {line}")


def _lines(found: "Json") -> "Iterator[str]":
    if isinstance(found, dict):
        yield from (f"{name}: {value}" for name, value in found.items())
    elif isinstance(found, list | tuple):
        for item in found:
            yield ", ".join(_lines(item)) if isinstance(item, dict) else str(item)
    else:
        yield str(found)


@contextmanager
def _progress_bar(total: int) -> "Iterator[Progress | None]":
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress as Bar

    with Bar(console=Console(stderr=True)) as bar:
        task = bar.add_task("Asking …", total=total)
        yield lambda done, _, __: bar.update(task, completed=done)


def _tell(report: "Report") -> None:
    from answerable.evals.measured import MeasuredReport

    for result in report.results:
        if result.outcome not in ("correct", "declined"):
            offered = " (the right reading was offered)" if result.offered else ""
            reason = f": {result.reason}" if result.reason else ""
            say(f"{result.outcome:8} {result.id}{offered}{reason}")
    say(
        f"{report.correct} of {report.cases} right ({report.accuracy:.1%}); answered {report.coverage:.1%}, "
        f"of these right {report.precision:.1%}; asked back {report.asked}, right reading offered {report.offered}; "
        f"failed {report.failed}; {report.seconds:.1f} s"
    )
    say(
        f"answered and right {report.accuracy:.1%}; right given or offered {report.given_or_offered:.1%}; "
        f"of what is answered, right {report.precision:.1%}; unanswerable declined {report.declined} of "
        f"{report.unanswerable}"
    )
    if isinstance(report, MeasuredReport):
        _tell_spent(report)


def _tell_spent(report: "MeasuredReport") -> None:
    cost = "price unknown" if report.cost_usd is None else f"${report.cost_usd:.4f}"
    say(
        f"{report.model} ({report.mode}): {report.calls:,} calls, {report.input_tokens:,} tokens in and "
        f"{report.output_tokens:,} out, {cost}; a case took {report.latency.median:.1f} s, one in twenty more than "
        f"{report.latency.p95:.1f} s"
    )
    if report.sure:
        say(f"called high: {report.sure} answers, {report.sure_and_right} of them right")
    if report.left:
        say(f"{report.left} cases were not asked: it was interrupted, or the budget was spent")
