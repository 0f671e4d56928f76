"""Grids: tables with one row for each year and country, or each month and industry. Their rows are no things of their
own: what they are about is the number in each, and counting them tells nothing."""

from math import prod

from answerable.reader.everyday.calendar_columns import calendar_part
from answerable.reader.everyday.reach import is_number
from answerable.reader.linking.column_kinds import is_flag
from answerable.reader.linking.schema import ColumnView, Schema

# A few cells of a grid may be missing.
_MOST_CELLS = 2.0
_MOST_MEASURES = 8


def is_measured(view: ColumnView) -> bool:
    """Whether the column holds what was measured."""
    return is_number(view) and not is_flag(view) and calendar_part(view) is None


def is_grid(schema: Schema, table: int) -> bool:
    views = [schema.columns[column] for column in schema.tables[table].columns]
    rows = schema.tables[table].source.row_count or 0
    measured = [view for view in views if is_measured(view)]
    sides = [view.source.distinct_count or 0 for view in views if view not in measured]
    if schema.tables[table].key is not None or len(sides) < 2 or not 0 < len(measured) <= _MOST_MEASURES:
        return False
    return max(sides) < rows <= prod(sides) <= _MOST_CELLS * rows
