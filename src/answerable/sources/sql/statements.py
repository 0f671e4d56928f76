"""SQL that asks the same of many tables: written once as a tree, filled with names as often as needed.

A schema of ten thousand columns takes some hundred thousand expressions to profile; generating each from a tree of its
own would take longer than running them. All text around the names comes from sqlglot, and every name is quoted by it,
so a name can hold any character and still be nothing but a name.
"""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import islice
from typing import TypeVar

from sqlglot import exp

from answerable.core.values import ColumnType, Language
from answerable.query.sql.dialects import DIALECTS

T = TypeVar("T")

_HOLE = re.compile(r'"⟨(\w+)⟩"')


class Sql(str):
    """Text that was generated here. Any other text is a name, and is quoted before it meets SQL."""

    __slots__ = ()


def hole(name: str) -> exp.Identifier:
    """Stands for a name, a number or a piece of SQL in the tree of a `Template`."""
    return exp.to_identifier(f"⟨{name}⟩", quoted=True)


def column_hole(name: str = "column") -> exp.Column:
    return exp.column(hole(name))


def table_hole(name: str = "table") -> exp.Table:
    return exp.Table(this=hole(name))


class Template:
    def __init__(self, tree: exp.Expr, dialect: Language) -> None:
        self._dialect: Language = dialect
        parts = _HOLE.split(tree.sql(dialect))
        self._texts, self._holes = parts[::2], parts[1::2]

    def __call__(self, **filling: str | int) -> Sql:
        filled = [self._text(filling[hole]) for hole in self._holes]
        return Sql("".join(part for pair in zip(self._texts, [*filled, ""], strict=True) for part in pair))

    def _text(self, filling: str | int) -> str:
        if isinstance(filling, Sql | int):
            return str(filling)
        return quoted(filling, self._dialect)


@lru_cache(maxsize=20_000)
def quoted(name: str, dialect: Language) -> Sql:
    return Sql(exp.to_identifier(name, quoted=True).sql(dialect))


def literal(text: str, dialect: Language) -> Sql:
    return Sql(exp.Literal.string(text).sql(dialect))


def select(items: Iterable[Sql], source: Sql | None = None) -> Sql:
    return Sql(" ".join(("SELECT", ", ".join(items), *(("FROM", source) if source else ()))))


def union_all(selects: Iterable[Sql]) -> Sql:
    return Sql(" UNION ALL ".join(selects))


def comparable(type_: ColumnType, dialect: Language, column: exp.Column | None = None) -> exp.Expr:
    """A column in a form that can be compared."""
    column = column_hole() if column is None else column
    return column if type_ != "text" or DIALECTS[dialect].compares_all_text else exp.cast(column, exp.DType.TEXT)


@lru_cache(maxsize=64)
def first_rows(dialect: Language, count: int) -> Template:
    """A part of a table that can be had without reading all of it."""
    return Template(exp.select(exp.Star()).from_(table_hole()).limit(count).subquery("part"), dialect)


def chunked(items: Iterable[T], size: int) -> Iterator[list[T]]:
    remaining = iter(items)
    while chunk := list(islice(remaining, size)):
        yield chunk
