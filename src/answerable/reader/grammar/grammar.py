"""Questions of analysis, read by grammar: measures, periods, buckets, shares, growth, comparisons, never and both.

A form answers only when it accounts for every content word of the question; otherwise the question is left to the
fitted candidates. That makes its readings few and nearly always right.
"""

from collections.abc import Callable

from answerable.query.plan import Bucket, DatePart, QueryPlan
from answerable.reader.grammar.entity_forms import EntityForms
from answerable.reader.grammar.measure_forms import MeasureForms
from answerable.reader.plans.joins import NoPath


class Analysis(MeasureForms, EntityForms):
    def read(self) -> QueryPlan | None:
        """The first form that explains the whole question."""
        forms: tuple[Callable[[], QueryPlan | None], ...] = (
            self.boss,
            self.bought_both,
            self.once_not_now,
            self.never,
            self.unfinished,
            self.missing,
            self.growth,
            self.two_periods,
            self.share,
            self.duration,
            self.more_than_average,
            self.many,
            self.most_common,
            self.first_rows,
            self.top,
            self.overview,
            self.listing,
            self.facts,
            self.all_rows,
        )
        for form in forms:
            self.form = form.__name__
            self.used = set()
            try:
                plan = form()
            except NoPath:
                continue
            if plan is not None and not self.unexplained() and (self.timely or not self.ambiguous()):
                return plan if self.keeps_steps(plan) else None
        return None

    def keeps_steps(self, plan: QueryPlan) -> bool:
        """Per month must become groups: a table without dates has none."""
        grouped = any(isinstance(key, Bucket | DatePart) for key in plan.group_by)
        return grouped or not self.spans("bucket")

    @property
    def timely(self) -> bool:
        """Speaks of a measure or of time, which few other readings could account for. The largest of a column that
        holds totals is but the largest of a column."""
        return bool(self.dates) or (self.measured is not None and self.form != "first_rows")

    def ambiguous(self) -> bool:
        """Words that the simple forms do not weigh: or, and values that stand in several columns; a second sentence."""
        if self.cue("EITHER", "DISTINCT", "RESPECT") is not None and self.form != "overview":
            return True
        several = any(
            len({v.column for v in self.rivals(value) if v.score >= value.score}) > 1 for value in self.values
        )
        free = any(value.score < 0.85 for value in self.scene.values)
        sentences = sum(kind == "after_mark" for kind in self.scene.clause)
        loose = any(cue.tag in ("EACH", "EITHER") and cue.start not in self.used for cue in self.scene.cues)
        return several or free or sentences > 0 or loose
