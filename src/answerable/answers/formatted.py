"""Whole results as text, in the format that was found for them. Polars computes it, so a million rows are quick."""

import polars as pl

from answerable.answers.format import DATE_PATTERNS, MINUS, DateFormat, FormatSpec, NumberFormat, ValueFormat
from answerable.core.errors import UserError


def applied(spec: FormatSpec, frame: pl.LazyFrame) -> pl.LazyFrame:
    """The whole frame as text under the spec's heads, computed by expressions."""
    schema = frame.collect_schema()
    position = {name: i for i, name in enumerate(schema)}
    named = [c.column for c in spec.columns] + [s.column for s in spec.sort]
    unknown = [name for name in named if name not in position]
    if unknown:
        raise UserError(
            f"The format names a column that the result does not have: {unknown[0]}.",
            code="format_unknown_column",
            hint="The result has: " + ", ".join(position) + ".",
        )
    if spec.sort:
        keys = [pl.nth(position[s.column]) for s in spec.sort]
        frame = frame.sort(keys, descending=[s.descending for s in spec.sort], nulls_last=True, maintain_order=True)
    dtypes = schema.dtypes()
    return frame.select(
        _text(pl.nth(position[c.column]), dtypes[position[c.column]], c.format).alias(head)
        for c, head in zip(spec.columns, _heads(spec), strict=True)
    )


def _heads(spec: FormatSpec) -> list[str]:
    """Heads with their unit, each once: a second “Name” becomes “Name (2)”."""
    seen: dict[str, int] = {}
    heads = []
    for column in spec.columns:
        head = f"{column.header} ({column.unit})" if column.unit else column.header
        seen[head] = seen.get(head, 0) + 1
        heads.append(head if seen[head] == 1 else f"{head} ({seen[head]})")
    return heads


def _text(value: pl.Expr, dtype: pl.DataType, how: ValueFormat) -> pl.Expr:
    if isinstance(how, NumberFormat) and dtype.is_numeric():
        return _number_text(value, how)
    if isinstance(how, DateFormat) and isinstance(dtype, pl.Date | pl.Datetime):
        return value.dt.to_string(DATE_PATTERNS[how.style]) if how.style != "quarter" else _quarter_text(value)
    if isinstance(dtype, pl.Boolean):
        return pl.when(value).then(pl.lit("yes")).when(value.not_()).then(pl.lit("no"))
    if isinstance(dtype, pl.List | pl.Array | pl.Struct):
        return json_text(value)
    return value.cast(pl.String)


def json_text(value: pl.Expr) -> pl.Expr:
    """Lists and structures as JSON text; null stays null."""
    # polars encodes only structs as JSON, so the value is wrapped in one and the wrapping is cut off again.
    wrapped = pl.struct(value.alias("v")).struct.json_encode()
    return pl.when(value.is_not_null()).then(wrapped.str.slice(len('{"v":')).str.head(-1))


def _quarter_text(value: pl.Expr) -> pl.Expr:
    return pl.format("{}-Q{}", value.dt.year(), value.dt.quarter())


def _number_text(value: pl.Expr, how: NumberFormat) -> pl.Expr:
    scaled = value.cast(pl.Float64) * 100 if how.percent else value
    # Through a decimal, because a large float as text would get an exponent. What does not fit is null here, and gets
    # its plain text at the end.
    fixed = scaled.abs().round(how.decimals).cast(pl.Decimal(38, how.decimals), strict=False).cast(pl.String)
    written = _grouped(fixed) if how.grouped else fixed
    sign = pl.when((scaled < 0) & fixed.str.contains("[1-9]")).then(pl.lit(MINUS)).otherwise(pl.lit(""))
    shown = sign + written + pl.lit(" %" if how.percent else "")
    return shown.fill_null(scaled.cast(pl.String))


def _grouped(fixed: pl.Expr) -> pl.Expr:
    whole = fixed.str.extract(r"^(\d+)", 1)
    rest = fixed.str.extract(r"^\d+(.*)$", 1)
    # 39 is the next multiple of three above the 38 digits of a decimal, so the groups begin at the right place.
    groups = whole.str.zfill(39).str.extract_all(r"\d{3}").list.join(",").str.strip_chars_start("0,")
    return pl.when(groups == "").then(pl.lit("0")).otherwise(groups) + rest
