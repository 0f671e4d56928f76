"""How a question was read, stage by stage, as plain data for showing."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import islice
from typing import Any

from answerable.core.catalog import Catalog
from answerable.core.errors import UserError
from answerable.core.records import dataclass
from answerable.query.compiling import compiled
from answerable.reader.linking.schema import Schema
from answerable.reader.linking.unknown_words import unknown_words
from answerable.reader.plans.draft_to_plan import to_plan
from answerable.reader.plans.joins import NoPath
from answerable.reader.ranking.dry_run import RUNS, DryRunResult, Run
from answerable.reader.ranking.offers import Offer, OfferedReadings, dry_run
from answerable.reader.ranking.rank import CandidateRanking, RankedCandidate


@dataclass(frozen=True, slots=True)
class Stages:
    question: str
    tokens: tuple[dict[str, Any], ...]
    tables: tuple[dict[str, Any], ...]
    columns: tuple[dict[str, Any], ...]
    values: tuple[dict[str, Any], ...]
    unknown: tuple[str, ...]
    shapes: dict[str, tuple[tuple[str, float], ...]]
    candidates: tuple[dict[str, Any], ...]
    dry_run: tuple[dict[str, Any], ...]
    """For each reading on offer: how many rows it returned, and which earlier one returned the same rows."""
    confidence: float
    """How sure the best candidate is."""


def stages_of(ranking: CandidateRanking, offered: OfferedReadings, run: Run | None) -> Stages:
    scene = ranking.scene
    schema, links = scene.schema, scene.links
    offers = list(islice(offered.offers(ranking), RUNS))
    results = dry_run(offers, run)
    return Stages(
        question=scene.question.text,
        tokens=tuple({"text": t.text, "tag": tag} for t, tag in zip(scene.tokens, scene.tags, strict=True)),
        tables=tuple({**asdict(m), "name": schema.tables[m.id].name} for m in links.tables),
        columns=tuple({**asdict(m), "name": _column_name(schema, m.id)} for m in links.columns),
        values=tuple({**asdict(v), "name": _column_name(schema, v.column)} for v in links.values),
        unknown=unknown_words(scene).unknown,
        shapes={part: _top(chances) for part, chances in ranking.shapes.items()},
        candidates=tuple(_candidate_record(one, schema, offered.catalog) for one in ranking.ranked[:20]),
        dry_run=tuple(_dry_run_records(offers, results)),
        confidence=round(offered.confidence(ranking, offers, results), 4) if offers else 0.0,
    )


def _column_name(schema: Schema, column: int) -> str:
    view = schema.columns[column]
    return f"{schema.tables[view.table].name}.{view.name}"


def _candidate_record(one: RankedCandidate, schema: Schema, catalog: Catalog) -> dict[str, Any]:
    try:
        sql = compiled(to_plan(one.candidate.draft, schema), catalog).text
    except (NoPath, UserError) as error:
        sql = f"cannot run: {error}"
    return {
        "score": round(one.score, 4),
        "shape": one.candidate.shape._asdict(),
        "variant": one.candidate.evidence.variant,
        "sql": sql,
    }


def _top(chances: dict[str, float]) -> tuple[tuple[str, float], ...]:
    return tuple(sorted(chances.items(), key=lambda item: -item[1])[:4])


def _dry_run_records(offers: Sequence[Offer], results: Sequence[DryRunResult | None]) -> Iterator[dict[str, Any]]:
    first: dict[object, int] = {}
    for number, (offer, result) in enumerate(zip(offers, results, strict=True), 1):
        record: dict[str, Any] = {"sql": offer.sql, "rows": result and result.rows}
        if result is not None and first.setdefault(result.key, number) != number:
            record["same_as"] = first[result.key]
        yield record
