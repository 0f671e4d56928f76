"""Looks for columns that a program reads from a data frame and that the frame does not have.

Only what is certain counts: a name in quotes, read straight from a frame that was handed in and that the program never
sets anew. Columns that a program makes itself are its own affair.
"""

import ast
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches

_READING = frozenset(("select", "filter", "with_columns", "group_by", "sort", "drop_nulls"))
"""Methods whose positional texts and expressions are columns of the frame itself."""
_EXPRESSIONS = frozenset(
    (
        *("coalesce", "col", "concat_list", "concat_str", "date", "datetime", "duration", "format", "lit", "struct"),
        *("max", "mean", "median", "min", "sum", "when"),
        *("all_horizontal", "any_horizontal", "max_horizontal", "mean_horizontal", "min_horizontal", "sum_horizontal"),
    )
)
"""Functions of polars whose arguments are evaluated over the same frame."""
_LOOKED_AT = frozenset(("columns", "schema", "collect_schema"))
"""A program that looks at what columns there are may do without one."""


def column_errors(tree: ast.Module, frames: Mapping[str, Sequence[str]]) -> Iterator[tuple[int, str]]:
    """The line and what is wrong."""
    unsure = {name for node in ast.walk(tree) for name in _unsure_names(node)}
    sure = {name: columns for name, columns in frames.items() if name not in unsure}
    for node in ast.walk(tree):
        for frame, column in _read(node):
            if frame in sure and column.value not in sure[frame]:
                yield column.lineno, _unknown(frame, str(column.value), sure[frame])


def _unsure_names(node: ast.AST) -> Iterator[str]:
    """Names that are set anew somewhere, and frames whose columns are looked at."""
    if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        yield node.id
    elif isinstance(node, ast.arg):
        yield node.arg
    elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.attr in _LOOKED_AT:
        yield node.value.id


def _read(node: ast.AST) -> Iterator[tuple[str, ast.Constant]]:
    """The frame and the columns of one expression, if it reads any."""
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and isinstance(node.ctx, ast.Load):
        yield from ((node.value.id, column) for column in _texts([node.slice]))
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name):
        frame, method = node.func.value.id, node.func.attr
        if method in _READING:
            arguments = [*node.args, *(each.value for each in node.keywords)]
            columns = [*_texts(node.args), *(each for item in arguments for each in _cols(item))]
            yield from ((frame, column) for column in columns)


def _texts(items: Sequence[ast.expr]) -> Iterator[ast.Constant]:
    """Texts in quotes, alone or in a list; patterns (`^…$`) and `*` stand for many."""
    for item in items:
        if isinstance(item, ast.List | ast.Tuple):
            yield from _texts(item.elts)
        elif isinstance(item, ast.Constant) and isinstance(item.value, str) and _is_plain(item.value):
            yield item


def _is_plain(name: str) -> bool:
    return name not in ("", "*") and not (name.startswith("^") and name.endswith("$"))


def _cols(node: ast.AST) -> Iterator[ast.Constant]:
    """Finds every `pl.col("…")` that is evaluated over the frame, and none inside calls of other things."""
    if isinstance(node, ast.Lambda) or (isinstance(node, ast.Call) and not _is_expression(node)):
        return
    if isinstance(node, ast.Call) and _path(node.func) == ["pl", "col"]:
        yield from _texts(node.args)
    for child in ast.iter_child_nodes(node):
        yield from _cols(child)


def _is_expression(call: ast.Call) -> bool:
    """`pl.col(…).sum()` and `(pl.col(…) + 1).abs()` are; `customers.filter(…)`, `len(…)`, `….list.eval(…)` are not."""
    path = _path(call.func)
    if path[-1:] in (["eval"], ["agg"]):
        return False
    return path[0] is None or (path[0] == "pl" and len(path) > 1 and path[1] in _EXPRESSIONS)


def _path(node: ast.AST) -> list[str | None]:
    """The names of a chain from its beginning: `pl.col("a").sum` is `pl`, `col`, `sum`; else None."""
    names: list[str | None] = []
    while isinstance(node, ast.Call | ast.Attribute | ast.Subscript):
        names += [node.attr] if isinstance(node, ast.Attribute) else []
        node = node.func if isinstance(node, ast.Call) else node.value
    return [node.id if isinstance(node, ast.Name) else None, *reversed(names)]


def _unknown(frame: str, column: str, columns: Sequence[str]) -> str:
    near = get_close_matches(column, columns, n=1)
    there = f"did you mean {near[0]!r}?" if near else f"it has {', '.join(map(repr, columns))}"
    return f"`{frame}` has no column {column!r}; {there}"
