"""A proposal: the parts of a query, with what words may have asked for in it."""

from answerable.core.records import dataclass
from answerable.query.plan import Expr, Filter, QueryPlan
from answerable.reader.everyday.word_options import Element
from answerable.reader.linking.schema import Schema
from answerable.reader.plans.draft_to_plan import build_plan


@dataclass(frozen=True)
class Proposal:
    """The parts of a query, with what words may have asked for in it."""

    table: int
    select: tuple[Expr, ...] = ()
    where: tuple[Filter, ...] = ()
    group: tuple[Expr, ...] = ()
    having: Filter | None = None
    order: tuple[tuple[Expr, bool], ...] = ()
    limit: int | None = None
    distinct: bool = False
    extra: tuple[int, ...] = ()
    uses: frozenset[Element] = frozenset()
    weight: float = 0.0
    """The logarithm of how likely the parts are that no word asks for."""

    def plan(self, schema: Schema) -> QueryPlan:
        return build_plan(
            schema,
            self.table,
            self.select,
            where=self.where,
            group=self.group,
            having=self.having,
            order=self.order,
            limit=self.limit,
            extra=self.extra,
            distinct=self.distinct,
        )
