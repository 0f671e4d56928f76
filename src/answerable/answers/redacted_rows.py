"""A copy of rows in which personal data is replaced."""

from pathlib import Path

import polars as pl

from answerable.answers import frame
from answerable.answers.formatted import json_text
from answerable.protection.personal.redaction import Redaction
from answerable.store.whole_files import cache_file

_LARGE = 10**7


def redacted_copy(rows: Path, copy: Path, redaction: Redaction) -> None:
    """Writes the same rows with every text in them redacted. A column of whole numbers is redacted
    too if it may hold card or telephone numbers, and is then a column of text."""
    schema = frame.scan(rows).collect_schema()
    textual = [place for place, dtype in enumerate(schema.dtypes()) if dtype == pl.String or dtype.is_nested()]
    numeric = [place for place, dtype in enumerate(schema.dtypes()) if dtype.is_integer() and _suspicious(rows, place)]
    changed = [
        (pl.nth(place) if schema.dtypes()[place] == pl.String else json_text(pl.nth(place)))
        if place in textual
        else pl.nth(place).cast(pl.String)
        for place in (*textual, *numeric)
    ]
    names = schema.names()
    shown = frame.scan(rows).with_columns(
        expression.map_elements(redaction.text, return_dtype=pl.String).alias(names[place])
        for expression, place in zip(changed, (*textual, *numeric), strict=True)
    )
    with cache_file(copy) as partial:
        shown.sink_ipc(partial, compression="uncompressed")


def _suspicious(rows: Path, place: int) -> bool:
    largest = frame.scan(rows).select(pl.nth(place).cast(pl.Int64, strict=False).abs().max()).collect().item()
    return largest is not None and largest > _LARGE
