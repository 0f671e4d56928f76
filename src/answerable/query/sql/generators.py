"""How each dialect writes a syntax tree: as text that people like to read."""

from collections.abc import Callable

from sqlglot import exp
from sqlglot.generator import Generator
from sqlglot.generators.duckdb import DuckDBGenerator
from sqlglot.generators.postgres import PostgresGenerator
from sqlglot.generators.sqlite import SQLiteGenerator

LINE = 100
_TYPED_LITERALS = {exp.DType.DATE: "DATE", exp.DType.TIMESTAMP: "TIMESTAMP", exp.DType.TIMESTAMPNTZ: "TIMESTAMP"}


class _Readable(Generator):
    """Short things stay on one line, and a negation stands where people say it: `x NOT IN (…)`, `x IS NOT NULL`."""

    def filter_sql(self, expression: exp.Filter) -> str:
        return f"{self.sql(expression, 'this')} FILTER (WHERE {self.sql(expression.expression, 'this')})"

    def paren_sql(self, expression: exp.Paren) -> str:
        inner = self.sql(expression, "this")
        if "\n" not in inner and len(inner) < LINE:
            return f"({inner})"
        return super().paren_sql(expression)

    def not_sql(self, expression: exp.Not) -> str:
        inner = expression.this
        if isinstance(inner, exp.Is) and isinstance(inner.expression, exp.Null) and not inner.args.get("negate"):
            return f"{self.sql(inner, 'this')} IS NOT NULL"
        matching = inner.this if isinstance(inner, exp.Escape) else inner
        escape = f" ESCAPE {self.sql(inner, 'expression')}" if isinstance(inner, exp.Escape) else ""
        if isinstance(matching, exp.In | exp.Between | exp.Like | exp.ILike) and not matching.args.get("negate"):
            left, whole = self.sql(matching, "this"), self.sql(matching)
            if whole.startswith(f"{left} "):
                return f"{left} NOT{whole.removeprefix(left)}{escape}"
        return super().not_sql(expression)


class _WithTypedLiterals(_Readable):
    def cast_sql(self, expression: exp.Cast, safe_prefix: str | None = None) -> str:
        keyword = _TYPED_LITERALS.get(expression.to.this) if not expression.to.expressions else None
        if keyword and type(expression) is exp.Cast and expression.this.is_string:
            return f"{keyword} {self.sql(expression, 'this')}"
        return super().cast_sql(expression, safe_prefix)


def _truncation(generator: Generator, expression: exp.TimestampTrunc) -> str:
    unit = exp.Literal.string(expression.text("unit").lower())
    return generator.func("DATE_TRUNC", unit, expression.this, expression.args.get("zone"))


_PERCENTILES = {exp.PercentileCont: "PERCENTILE_CONT", exp.PercentileDisc: "PERCENTILE_DISC"}


def _within_group(generator: Generator, expression: exp.WithinGroup) -> str:
    """Writes percentiles on one line, as the standard does. sqlglot's own form for DuckDB takes more lines."""
    function, order = expression.this, generator.order_sql(expression.expression, flat=True).strip()
    name = _PERCENTILES.get(type(function))
    called = generator.func(name, function.this) if name else generator.sql(function)
    return f"{called} WITHIN GROUP ({order})"


_TRANSFORMS: dict[type[exp.Expr], Callable[..., str]] = {
    exp.TimestampTrunc: _truncation,
    exp.WithinGroup: _within_group,
}


def _top_k(generator: Generator, expression: exp.ApproxTopK) -> str:
    """sqlglot writes it for no DuckDB, because the result is another one than that of other databases."""
    return generator.func("APPROX_TOP_K", expression.this, expression.expression)


class DuckDb(_WithTypedLiterals, DuckDBGenerator):
    TRANSFORMS = {**DuckDBGenerator.TRANSFORMS, **_TRANSFORMS, exp.ApproxTopK: _top_k}  # noqa: RUF012


def _to_hex(generator: Generator, expression: exp.LowerHex) -> str:
    """sqlglot reads `to_hex` and writes `hex`, which PostgreSQL does not have."""
    return generator.func("TO_HEX", expression.this)


class Postgres(_WithTypedLiterals, PostgresGenerator):
    TRANSFORMS = {**PostgresGenerator.TRANSFORMS, **_TRANSFORMS, exp.Hex: _to_hex, exp.LowerHex: _to_hex}  # noqa: RUF012


class Sqlite(_Readable, SQLiteGenerator):
    pass
