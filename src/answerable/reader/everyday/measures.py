"""Measures of the catalog: revenue by region, the product with the highest margin."""

from collections.abc import Iterator
from dataclasses import replace

from answerable.query.plan import MeasureRef
from answerable.reader.everyday.proposal import Proposal
from answerable.reader.everyday.reach import EACH_JOIN
from answerable.reader.everyday.request import EverydayRequest
from answerable.reader.everyday.shown import row_keys, shown_columns
from answerable.reader.everyday.word_options import Element
from answerable.reader.plans.joins import distance


def by_measures(request: EverydayRequest, base: Proposal) -> Iterator[Proposal]:
    """The measures that are named, for each group or of all rows, or what is first by them."""
    schema, ranking = request.question.schema, request.ranking
    for number, (measure, _) in enumerate(schema.measures):
        element = Element("measure", number)
        owner = schema.table_ids[measure.table]
        far = distance(schema, base.table, owner)
        if far is None or request.options.best(element, request.content) == 0.0 or request.asked == "share":
            continue
        figure = MeasureRef(name=measure.name)
        uses = base.uses | {element, Element("table", owner)}
        # The rows of the measure's table are added up, so no join may repeat them.
        one = replace(base, table=owner, uses=uses, weight=base.weight - EACH_JOIN * far)
        if ranking is None or ranking.sorts_all:
            order = () if ranking is None or not one.group else ((figure, ranking.cue.tag in ("MAX", "MOST")),)
            yield replace(one, select=(*one.select, figure), order=order or one.order)
            continue
        first = ((figure, ranking.cue.tag in ("MAX", "MOST", "COMMON")),)
        if one.group:
            yield replace(one, select=(*one.select, figure), order=first, limit=ranking.limit)
            continue
        for shown in shown_columns(request, replace(one, table=base.table)):
            group = row_keys(schema, shown)
            select = (*shown.select, figure)
            yield replace(shown, table=owner, select=select, group=group, order=first, limit=ranking.limit)
