"""The form that the user asked for: which columns, under which heads, in which order, with which totals.

A model reads it from the question and fills it in as data; it has seen samples of the rows only. Code applies it to all
rows (`arranged.py`).
"""

from collections.abc import Iterable, Mapping

from pydantic import Field

from answerable.answers.chart_request import Form
from answerable.answers.format import Sort
from answerable.core.values import Frozen, OutputColumn


class RequestedFormat(Frozen):
    columns: tuple[str, ...] = ()
    """The columns to show, in this order; empty for all."""
    headers: Mapping[str, str] = {}
    units: Mapping[str, str] = {}
    decimals: Mapping[str, int] = Field(default={}, max_length=200)
    order: tuple[Sort, ...] = ()
    totals: tuple[str, ...] = ()
    """The columns whose sums end the table."""
    chart: Form | None = None
    markdown: bool = False
    """Whether the answer's text holds the rows as a markdown table."""

    @property
    def arranges(self) -> bool:
        """Whether the rows are to be shown in another order, or not all of their columns."""
        return bool(self.columns or self.order)

    def unknown_columns(self, columns: Iterable[OutputColumn]) -> list[str]:
        known = {column.name for column in columns}
        named = [*self.columns, *(each.column for each in self.order), *self.totals]
        return [name for name in named if name not in known]
