"""Ids from the rows of earlier steps, written into a statement for a source (`query/sql/earlier_ids.py`)."""

import asyncio
from collections.abc import Mapping
from pathlib import Path

from answerable.core.context import Principal
from answerable.core.errors import LimitError, UserError
from answerable.core.ids import NodeId
from answerable.core.values import Language, Scalar
from answerable.engine.steps.produced import Produced
from answerable.store.base import Artifacts

MOST_IDS = 1_000
"""Different values that one column of a step may give. More belong into a join of rows (`combine`)."""


async def statement_with_ids(
    sql: str, dialect: Language, earlier: Mapping[NodeId, Produced], artifacts: Artifacts, principal: Principal
) -> str:
    """The statement with the ids that it takes from earlier steps. One that takes none stays as it is."""
    if not earlier:
        return sql
    from answerable.query.sql.earlier_ids import named_ids, with_ids  # brings the SQL parser

    values: dict[tuple[str, str], list[Scalar]] = {}
    for step, column in named_ids(sql, dialect, list(earlier)):
        frame = earlier[NodeId(step)].frame
        if column not in {each.name for each in frame.columns}:
            there = ", ".join(each.name for each in frame.columns)
            raise UserError(
                f"The rows of step {step} have no column {column!r}; they have: {there}.", code="ids_unknown"
            )
        path = await artifacts.path(principal, frame.artifact)
        values[step, column] = await asyncio.to_thread(_different, path, column)
        if len(values[step, column]) > MOST_IDS:
            raise LimitError(
                f"Step {step} has more than {MOST_IDS:,} different values of {column}.",
                code="ids_too_many",
                hint="Query the source without them, and join the rows of both steps with a `combine` step.",
            )
    return with_ids(sql, dialect, values)


def _different(path: Path, column: str) -> list[Scalar]:
    """The different values of a column, one more than allowed at most, as JSON has them."""
    from answerable.answers import frame

    return frame.different_values(path, column, MOST_IDS + 1)
