"""The figures of `answerable eval --model`: those of every eval, and the time and cost. Their JSON is a contract."""

from collections.abc import Sequence
from statistics import fmean, median, quantiles

from answerable.core.values import Frozen
from answerable.evals.score import Confidence, Report, Scored, Spent


class MeasuredCase(Spent, Scored):
    """A case, what it took, and how sure its answer claims to be."""

    confidence: Confidence | None = None


class Latency(Frozen):
    """Seconds of a case."""

    mean: float = 0.0
    median: float = 0.0
    p95: float = 0.0


class MeasuredReport(Report):
    model: str
    mode: str
    left: int
    """Cases that were not asked, because the eval was interrupted or the budget was spent."""
    calls: int
    input_tokens: int
    output_tokens: int
    cost_usd: float | None
    """None if the price of the model is unknown."""
    latency: Latency
    sure: int
    """Answers that are called high."""
    sure_and_right: int
    results: tuple[MeasuredCase, ...]


def measured(report: Report, model: str, mode: str, left: int) -> MeasuredReport:
    results = tuple(measured_case(each) for each in report.results)
    costs = [each.cost_usd for each in results]
    known = [cost for cost in costs if cost is not None]
    return MeasuredReport(
        **report.model_dump(exclude={"results"}),
        model=model,
        mode=mode,
        left=left,
        calls=sum(each.calls for each in results),
        input_tokens=sum(each.input_tokens for each in results),
        output_tokens=sum(each.output_tokens for each in results),
        cost_usd=round(sum(known), 6) if len(known) == len(costs) else None,  # a partial sum would look too cheap
        latency=_latency([each.seconds for each in results]),
        sure=sum(each.confidence == "high" for each in results),
        sure_and_right=sum(each.confidence == "high" and each.outcome == "correct" for each in results),
        results=results,
    )


def measured_case(scored: Scored) -> MeasuredCase:
    return MeasuredCase(**scored.model_dump(), **scored.spent.model_dump(), confidence=scored.confidence)


def _latency(seconds: Sequence[float]) -> Latency:
    if not seconds:
        return Latency()
    highest = quantiles(seconds, n=20, method="inclusive")[-1] if len(seconds) > 1 else seconds[0]
    return Latency(mean=round(fmean(seconds), 3), median=round(median(seconds), 3), p95=round(highest, 3))
