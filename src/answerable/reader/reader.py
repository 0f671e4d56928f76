"""The mind without a model. The order of the stages is the order of `Reader.read`."""

from collections.abc import Callable, Sequence
from datetime import date

from answerable.core.catalog import Catalog, ValueLookup
from answerable.core.clock import Clock
from answerable.core.clock import today as today_of
from answerable.query.plan import QueryPlan
from answerable.reader.joins import NoPath
from answerable.reader.lexicon import STOPWORDS
from answerable.reader.link import Links, link
from answerable.reader.normalise import Question, normalise
from answerable.reader.reading import Read, Reading, Reply, Unreadable
from answerable.reader.rules import Rules
from answerable.reader.schema import build_schema
from answerable.reader.to_plan import to_plan

Rows = Sequence[Sequence[object]]


class Reader:
    """Reads questions about one catalog. Pure computation: the optional dry run is a callable that is handed in."""

    def __init__(self, catalog: Catalog, values: ValueLookup, *, today: Callable[[], date] | Clock) -> None:
        self.catalog = catalog
        self.values = values
        self.schema = build_schema(catalog)
        self._today = today

    def today(self) -> date:
        return self._today() if callable(self._today) else today_of(self._today)

    def read(
        self,
        question: str,
        *,
        previous: QueryPlan | None = None,
        force: bool = False,
        run: Callable[[str], Rows] | None = None,
    ) -> Reply:
        del previous, run  # conversation and dry runs do not take part in the rules
        asked = normalise(question)
        links = link(asked, self.schema, self.values)
        unknown = _unknown(asked, links)
        if not force and unknown:
            return Unreadable(
                message=f"I do not know what these words mean in this data: {', '.join(unknown)}.", unknown=unknown
            )
        draft = Rules(asked, self.schema, links).read()
        if draft is None:
            return Unreadable(message="I could not find anything of this question in the data.", unknown=unknown)
        try:
            plan = to_plan(draft, self.schema)
        except NoPath:
            return Unreadable(message="The tables that this question is about are not connected.", unknown=())
        return Read(best=self.reading(plan))

    def reading(self, plan: QueryPlan) -> Reading:
        from answerable.query.to_sql import to_sql
        from answerable.reader.explain import sentence

        return Reading(plan=plan, sentence=sentence(plan, self.catalog), confidence=0.5, sql=to_sql(plan, self.catalog))


def _unknown(question: Question, links: Links) -> tuple[str, ...]:
    covered = links.covered()
    return tuple(
        token.text
        for place, token in enumerate(question.tokens)
        if token.kind in ("word", "quoted")
        and place not in covered
        and token.lower not in STOPWORDS
        and token.value is None
    )
