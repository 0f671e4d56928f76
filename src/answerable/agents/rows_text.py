"""Rows of a result as a model reads them: without secrets, and without personal data unless that is allowed."""

from collections.abc import Sequence

from answerable.agents.data_text import as_data, shortened
from answerable.core.values import FrameRef, Json
from answerable.sources.classing import personal_reason, secret_reason

WITHHELD = "[withheld]"
"""Stands for a cell that a model may not see."""


def frame_text(
    name: str,
    frame: FrameRef,
    *,
    share_rows: bool,
    share_personal: bool = False,
    records: Sequence[Json] | None = None,
    first: int = 1,
) -> str:
    """An earlier step's rows: their number, their columns and some of the rows: `records` if passed, which begin at row
    `first`, else the sample that is stored with the frame."""
    head = f"{name}: {frame.row_count:,} rows"
    columns = [f"  {as_data(column.name)} {column.type}" for column in frame.columns]
    shown = [f"  {record_text(record, share_personal)}" for record in records or frame.sample] if share_rows else []
    part = f"the first {len(shown)}" if first == 1 else f"rows {first} to {first + len(shown) - 1}"
    which = "all" if len(shown) == frame.row_count else part if records else "some"
    return "\n".join([head, *columns, *([f"  {which} of them:", *shown] if shown else [])])


def record_text(record: Json, share_personal: bool) -> str:
    """Writes the record as JSON, so that a model can distinguish numbers, texts and nulls."""
    return as_data({name: shared_cell(name, value, share_personal) for name, value in record.items()})


def shared_cell(name: str, value: Json, share_personal: bool) -> Json:
    """A cell as a model may see it: secrets never, personal data only if that is allowed. Queries rename columns, so
    both the name and the value decide."""
    if not isinstance(value, str):
        return value
    if secret_reason(name, (value,)) or (not share_personal and personal_reason(name, (value,))):
        return WITHHELD
    return shortened(value)
