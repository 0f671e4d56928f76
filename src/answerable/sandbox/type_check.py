"""Looks at the types of a program for a full Python before it runs: names, and what polars and the library offer.

The checker is the one inside Monty; it reads the program and never runs it. `polars_stub` describes polars
to it, and it knows only a part of the standard library. So what it finds is a suspicion, which counts if the real
objects confirm it: the name is in no scope, the real object has no such attribute, the function of polars or of
the program itself takes no such argument. What it cannot know passes.
"""

import ast
import builtins
import functools
import importlib
import inspect
import re
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

import orjson
from pydantic_monty import MontyError, MontyTypingError

from answerable.sandbox.column_check import column_errors
from answerable.sandbox.libraries import STATISTICS
from answerable.sandbox.monty.pool import MontyPool
from answerable.sandbox.polars_stub import polars_classes, polars_stub
from answerable.sandbox.policy import ANALYSIS

_STOP = "answerable_checks_only"
"""A name that is nowhere: with it, on a line before the first, no program passes the checker and so none is run."""
_SECONDS = 10.0
_SHOWN = 5
_ARGUMENTS = frozenset(("unknown-argument", "missing-argument", "too-many-positional-arguments"))


def type_errors(code: str, frames: Mapping[str, Sequence[str]], functions: Sequence[str] = ()) -> tuple[str, ...]:
    """Returns what cannot work, each with its line and a replacement. Returns an empty tuple if the code is not Python.

    `frames`: the columns of each data frame by name; `functions`: names that the host offers.
    """
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()
    suspected = _suspected(_without_polars(code, tree), frames, functions)
    found = {*_confirmed(suspected, [*frames, *functions, "pl"], tree), *column_errors(tree, frames)}
    tried = {line for node in ast.walk(tree) for line in _tried(node)}
    certain = sorted((line, text) for line, text in found if line not in tried)
    return tuple(f"{text} (line {line})." for line, text in certain[:_SHOWN])


def _tried(node: ast.AST) -> range:
    """The lines of which a program itself expects that they may fail."""
    if not isinstance(node, ast.Try | ast.TryStar):
        return range(0)
    return range(node.body[0].lineno, (node.body[-1].end_lineno or 0) + 1)


def _suspected(code: str, frames: Mapping[str, Sequence[str]], functions: Sequence[str]) -> Sequence[Mapping[str, Any]]:
    declared = [f"{name}: DataFrame" for name in frames] + [f"{name}: Any" for name in functions]
    stubs = "\n".join([polars_stub(), "pl = polars", *declared])
    pool = MontyPool(1, request_seconds=_SECONDS)
    try:
        with pool.monty.checkout(type_check=True, type_check_stubs=stubs, type_check_format="json") as session:
            session.feed_run(f"{_STOP}\n{code}")
    except MontyTypingError as error:
        found: Sequence[Mapping[str, Any]] = orjson.loads(error.display())
        return found
    except MontyError:
        return ()  # it took too long or cannot be read by this checker: nothing is known
    finally:
        pool.close()
    return ()


def _without_polars(code: str, tree: ast.Module) -> str:
    """The same lines, with polars as it is declared in the place of its imports."""
    lines = code.split("\n")
    for node in ast.walk(tree):
        names = _imported(node)
        if names and isinstance(node, ast.stmt) and node.end_lineno is not None and node.end_col_offset is not None:
            first, last = node.lineno - 1, node.end_lineno - 1
            before, after = _cut(lines[first], 0, node.col_offset), _cut(lines[last], node.end_col_offset)
            lines[first : last + 1] = [before + "; ".join(names) + after, *([""] * (last - first))]
    return "\n".join(lines)


def _cut(line: str, start: int, end: int | None = None) -> str:
    """Cuts by bytes, as Python counts columns."""
    return line.encode()[start:end].decode()


def _imported(node: ast.AST) -> list[str]:
    """Assignments for an import of polars alone, or of names from it."""
    if isinstance(node, ast.Import) and all(alias.name == "polars" for alias in node.names):
        return [f"{alias.asname} = polars" if alias.asname else "pass" for alias in node.names]
    if isinstance(node, ast.ImportFrom) and node.module == "polars" and not node.level:
        return [f"{alias.asname or alias.name} = polars.{alias.name}" for alias in node.names if alias.name != "*"]
    return []


def _confirmed(
    suspected: Sequence[Mapping[str, Any]], known: Sequence[str], tree: ast.Module
) -> Iterator[tuple[int, str]]:
    own = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    any_name = any(isinstance(node, ast.ImportFrom) and node.names[0].name == "*" for node in ast.walk(tree))
    for each in suspected:
        words = re.findall(r"`([^`]+)`", each["message"])
        text: str | None = None
        if each["code"] == "unresolved-reference" and words[0] != _STOP and not any_name:
            text = _unknown_name(words[0], known)
        elif each["code"] == "unresolved-attribute" and len(words) == 2:
            text = _missing(*words)
        elif each["code"] in _ARGUMENTS and words:
            text = _wrong_call(each["message"], words[-1], own)
        if text is not None:
            yield each["location"]["row"] - 1, text


def _unknown_name(name: str, known: Sequence[str]) -> str | None:
    if hasattr(builtins, name) or name.startswith("__"):
        return None
    near = get_close_matches(name, known, n=1)
    there = f"did you mean `{near[0]}`?" if near else f"there are {', '.join(f'`{each}`' for each in known)}"
    return f"There is no `{name}`; {there}"


def _missing(owner: str, name: str) -> str | None:
    """A sentence if the owner, by its name at the checker, really lacks it."""
    real = _real(owner)
    if real is None:
        return None
    try:
        getattr(real, name)
    except AttributeError as error:
        return _lacking(owner.partition("[")[0], name, real, str(error))
    return None


def _lacking(owner: str, name: str, real: Any, said: str) -> str:
    """polars itself says what has become of a name that is gone."""
    if "removed" in said:
        return f"`{owner}`: {said.rstrip('.')}"
    near = get_close_matches(name, [each for each in dir(real) if not each.startswith("_")], n=3)
    there = f"; near it there is {', '.join(f'`{each}`' for each in near)}" if near else ""
    return f"`{owner}` has no `{name}`{there}"


def _real(owner: str) -> Any:
    """Returns the class, module or example that the checker names, or None if that is not certain."""
    name = owner.partition("[")[0]
    if name in _examples():
        return _examples()[name]
    if name in polars_classes():
        return polars_classes()[name]
    if name in ANALYSIS.difference(STATISTICS):  # those take seconds to load, and the checker knows nothing of them
        return importlib.import_module(name)
    built_in = getattr(builtins, name, None)
    return built_in if inspect.isclass(built_in) else None


@functools.cache
def _examples() -> Mapping[str, Any]:
    """Objects know more than their classes: what was removed, and what to write in its place."""
    import polars

    return {
        "polars": polars,
        "DataFrame": polars.DataFrame(),
        "LazyFrame": polars.LazyFrame(),
        "Series": polars.Series(),
        "Expr": polars.lit(0),
    }


def _wrong_call(message: str, called: str, own: set[str]) -> str | None:
    """Only of functions whose parameters are known for certain."""
    import polars

    owner, _, method = called.rpartition(".")
    of_polars = polars_classes().get(owner) if owner else polars
    function = None if of_polars is None else inspect.getattr_static(of_polars, method, None)
    if function is None:
        return message if called in own else None
    taken = [name for name in inspect.signature(function).parameters if name != "self"]
    return f"{message}; it takes {', '.join(f'`{name}`' for name in taken) or 'nothing'}"
