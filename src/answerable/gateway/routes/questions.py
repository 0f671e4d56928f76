"""Questions to begin with."""

from fastapi import APIRouter
from pydantic import Field

from answerable.core.context import Principal
from answerable.evals.cases import BUNDLED
from answerable.gateway.access import MeasuringOf, PrincipalOf, ServiceOf, SettingsOf, SourcePath
from answerable.gateway.measuring import GoldenCase, Measuring
from answerable.gateway.problems import documented
from answerable.gateway.wire import API, Wire
from answerable.reader.suggestions import suggested

router = APIRouter(prefix=API, tags=["sources"])

MOST = 4


class QuestionList(Wire):
    questions: list[str] = Field(description="Golden ones of this source first, then some made from its names.")


@router.get("/sources/{name}/questions", responses=documented(404, 422, 502, 503))
async def questions(
    name: SourcePath, service: ServiceOf, settings: SettingsOf, measuring: MeasuringOf, principal: PrincipalOf
) -> QuestionList:
    """A few questions that this source can answer."""
    source = await service.registry.get(name)
    golden = _varied(await _golden(name, measuring, principal, bundled=name not in settings.sources))
    made = suggested(await source.describe())
    return QuestionList(questions=list(dict.fromkeys((*golden, *made)))[:MOST])


async def _golden(name: str, measuring: Measuring, principal: Principal, *, bundled: bool) -> list[GoldenCase]:
    """Cases that were kept from answers of this source, then those that came with it, none of them a follow-up."""
    suites = await measuring.suites(principal)
    kept = [case for suite in suites.values() for case in suite if case.case.source == name and not case.lead]
    return [*kept, *(suites.get(name, []) if bundled and name in BUNDLED else [])]


def _varied(cases: list[GoldenCase]) -> list[str]:
    """Some from all over the list, one of each group, of those that give a table: it shows most of what an answer can
    be."""
    tables = [case.case for case in cases if case.case.after is None and _is_table(case)]
    first = {case.group or case.id: case.question for case in reversed(tables)}
    return list(reversed(first.values()))[:: max(1, len(first) // MOST)]


def _is_table(case: GoldenCase) -> bool:
    rows = case.case.gold_rows or ()
    return len(rows) > 1 and len(rows[0]) > 1
