"""Syntax trees as text. Everything that runs or is shown is written here."""

from typing import Any

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect as SqlglotDialect
from sqlglot.errors import ErrorLevel

from answerable.core.values import Language
from answerable.query.sql.dialects import DIALECTS
from answerable.query.sql.generators import LINE

_OPTIONS: dict[str, Any] = {
    "pretty": True,
    "comments": False,
    "unsupported_level": ErrorLevel.RAISE,
    "max_text_width": LINE,
}


def written(tree: exp.Expr, dialect: Language) -> str:
    """The text of a tree, without comments; the tree is used up. What the dialect cannot express raises sqlglot's
    UnsupportedError."""
    generator = DIALECTS[dialect].generator(dialect=SqlglotDialect.get_or_raise(dialect), **_OPTIONS)
    return generator.generate(tree, copy=False)
