"""Questions to begin with: first the golden questions of a source, then some that are built from its names."""

from collections.abc import Sequence

from answerable.core.context import Principal
from answerable.evals.cases import BUNDLED
from answerable.reader.suggestions import suggested
from answerable.service.evals import EvalService
from answerable.service.golden_cases import GoldenCase
from answerable.settings import Settings
from answerable.sources.registry import SourceRegistry

MOST = 4


class SuggestionService:
    def __init__(self, registry: SourceRegistry, evals: EvalService, settings: Settings) -> None:
        self._registry = registry
        self._evals = evals
        self._settings = settings

    async def questions(self, name: str, principal: Principal) -> Sequence[str]:
        """A few questions that a source can answer."""
        source = await self._registry.get(name, principal)
        golden = _varied(await self._golden(name, principal))
        return list(dict.fromkeys((*golden, *suggested(await source.describe()))))[:MOST]

    async def _golden(self, name: str, principal: Principal) -> Sequence[GoldenCase]:
        """Returns the cases that users saved for this source, then the bundled ones. Follow-ups are left out."""
        suites = await self._evals.cases(principal)
        own = [case for suite in suites.values() for case in suite if case.case.source == name and not case.lead]
        bundled = name not in self._settings.sources and name in BUNDLED
        return [*own, *(suites.get(name, ()) if bundled else ())]


def _varied(cases: Sequence[GoldenCase]) -> Sequence[str]:
    """Some from all over the list, one of each group, of those that give a table: it shows most of what an answer can
    be."""
    tables = [case.case for case in cases if case.case.after is None and _is_table(case)]
    first = {case.group or case.id: case.question for case in reversed(tables)}
    return list(reversed(first.values()))[:: max(1, len(first) // MOST)]


def _is_table(case: GoldenCase) -> bool:
    rows = case.case.gold_rows or ()
    return len(rows) > 1 and len(rows[0]) > 1
