"""Looks at Python before any sandbox sees it, so that what cannot work there is refused early and in plain words.

A courtesy to whoever wrote the code, never the wall: harmful code can pass this check. What confines
such code is the sandbox, which assumes that nothing was checked.
"""

import ast
import warnings
from collections.abc import Iterator, Mapping
from difflib import get_close_matches

from answerable.core.errors import AnswerableError, RefusedError, UserError
from answerable.sandbox.libraries import EXTRA, STATISTICS, TABLES, installed

LONGEST = 100_000
"""Characters. Nobody reads more, and reading it must stay quick."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_PLAIN = _words(
    """__future__ base64 bisect calendar collections copy csv dataclasses datetime decimal enum fractions functools
    hashlib heapq io itertools json math numbers operator random re statistics string textwrap time typing
    unicodedata uuid zoneinfo"""
)
ANALYSIS = _PLAIN | {*TABLES, *STATISTICS}
"""What code in a full Python may import, if it is installed."""
SMALL = _words(
    """asyncio base64 binascii bisect collections copy csv dataclasses datetime decimal functools hashlib itertools json
    math random re time typing unicodedata"""
)
"""What code in Monty may import."""

_KINDS = _words(
    """Module Interactive Expression
    FunctionDef AsyncFunctionDef ClassDef Return Delete Assign AugAssign AnnAssign For AsyncFor While If With AsyncWith
    Match Raise Try TryStar Assert Import ImportFrom Global Nonlocal Expr Pass Break Continue TypeAlias
    BoolOp NamedExpr BinOp UnaryOp Lambda IfExp Dict Set ListComp SetComp DictComp GeneratorExp Await Yield YieldFrom
    Compare Call FormattedValue JoinedStr Constant Attribute Subscript Starred Name List Tuple Slice
    Load Store Del And Or Add Sub Mult MatMult Div Mod Pow LShift RShift BitOr BitXor BitAnd FloorDiv
    Invert Not UAdd USub Eq NotEq Lt LtE Gt GtE Is IsNot In NotIn
    comprehension ExceptHandler arguments arg keyword alias withitem match_case
    MatchValue MatchSingleton MatchSequence MatchMapping MatchClass MatchStar MatchAs MatchOr
    TypeVar ParamSpec TypeVarTuple"""
)
"""Kinds of syntax that are known. What a later Python adds is refused until somebody has thought about it."""

_NAMES: Mapping[str, str] = {
    "__builtins__": "Write the built-in functions by their names.",
    "__import__": "Write an `import` at the top.",
    "__loader__": "Write an `import` at the top.",
    "__spec__": "Write an `import` at the top.",
    "breakpoint": "Nobody can debug here; `print` what you want to see.",
    "compile": "Write the code itself.",
    "eval": "Write the expression itself; `json.loads` reads JSON, `float` and `int` read numbers.",
    "exec": "Write the code itself.",
    "exit": "Let the code come to its end.",
    "globals": "Keep values in a dictionary of your own.",
    "help": "Nobody reads it here.",
    "input": "Nobody can be asked here; inputs are variables.",
    "locals": "Keep values in a dictionary of your own.",
    "quit": "Let the code come to its end.",
}
"""What to write in the place of each name that is refused."""
_DOUBLE_UNDERSCORE = frozenset({"__doc__", "__init__", "__name__", "__post_init__", "__version__"})
_NO_SYSTEM = "There are no files, programs or variables of the system to be had; the inputs are variables."
_HINTS: Mapping[str, str] = {
    "Call the host's functions.": "requests httpx urllib socket",
    _NO_SYSTEM: "os sys",
    "No program can be started.": "subprocess",
    "Use polars.": "duckdb sqlite3",
    "Give a chart specification or the rows as `result`.": "matplotlib",
}
_INSTEAD = {module: hint for hint, modules in _HINTS.items() for module in modules.split()}
"""What to use in the place of a module that cannot be imported."""


def importable(backend: str) -> frozenset[str]:
    """What code may import at this backend. What the image of a container holds is not known here: all may be tried."""
    if backend == "monty":
        return SMALL
    return _PLAIN | installed().keys() if backend == "kernel" else ANALYSIS


def importable_libraries(backend: str) -> str:
    """The libraries among `importable`, with their versions, as a list in words."""
    here = installed() if backend == "kernel" else {}
    names = [name for name in (*TABLES, *STATISTICS) if name in importable(backend)]
    return ", ".join(f"{name} {here[name]}" if name in here else name for name in names)


def check_python(code: str, imports: frozenset[str] = ANALYSIS) -> str | None:
    """What is wrong with the code, with the line and what to write in its place; None if it may run."""
    error = _first_error(code, imports)
    if error is None:
        return None
    return error.message if error.hint is None else f"{error.message} {error.hint}"


def require_python(code: str, imports: frozenset[str] = ANALYSIS) -> None:
    """Raises what `check_python` finds: `python_unparsable`, `python_too_long` or `python_refused`."""
    error = _first_error(code, imports)
    if error is not None:
        raise error


def _first_error(code: str, imports: frozenset[str]) -> AnswerableError | None:
    if len(code) > LONGEST:
        return UserError(
            f"The Python has {len(code):,} characters; {LONGEST:,} are read.",
            code="python_too_long",
            hint="Give data as an input, not as part of the code.",
        )
    tree = _parsed(code)
    if isinstance(tree, AnswerableError):
        return tree
    nodes = sorted(ast.walk(tree), key=lambda node: getattr(node, "lineno", 0))
    return next((error for node in nodes for error in _errors(node, imports)), None)


def _parsed(code: str) -> ast.Module | AnswerableError:
    null = code.find("\0")
    if null >= 0:
        return _unparsable(f"it holds a null character{_at(_line_of(code, null))}")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # remarks on style, which would reach the operator's log
            return ast.parse(code)
    except SyntaxError as error:
        return _unparsable(f"{error.msg}{_at(error.lineno)}")
    except UnicodeEncodeError as error:
        return _unparsable(f"it holds half of a character{_at(_line_of(code, error.start))}")
    except (RecursionError, MemoryError):
        return _unparsable("it is nested too deeply")


def _unparsable(reason: str) -> UserError:
    return UserError(f"The Python cannot be read: {reason}.", code="python_unparsable")


def _line_of(code: str, position: int) -> int:
    return code.count("\n", 0, position) + 1


def _at(line: int | None) -> str:
    return "" if line is None else f" (line {line})"


def _errors(node: ast.AST, imports: frozenset[str]) -> Iterator[RefusedError]:
    if type(node).__name__ not in _KINDS:
        yield _refused(f"This kind of syntax ({type(node).__name__}) is not allowed", node, "Write it in another way.")
    elif isinstance(node, ast.Import):
        for alias in node.names:
            yield from _in_import(alias.name, node, imports)
    elif isinstance(node, ast.ImportFrom):
        yield from _in_import("." * node.level + (node.module or ""), node, imports)
    elif isinstance(node, ast.Name) and node.id in _NAMES:
        yield _refused(f"`{node.id}` is not allowed", node, _NAMES[node.id])
    elif isinstance(node, ast.Attribute) and _is_inner(node.attr):
        yield _refused(f"`.{node.attr}` reaches into Python itself", node, "Use what the object offers by plain names.")


def _refused(what: str, node: ast.AST, hint: str) -> RefusedError:
    line = getattr(node, "lineno", None)
    return RefusedError(f"{what}{_at(line)}.", code="python_refused", hint=hint, line=line)


def _in_import(name: str, node: ast.AST, imports: frozenset[str]) -> Iterator[RefusedError]:
    top = name.partition(".")[0]
    if not top:
        yield _refused("There is no package to import from", node, "Write the code in one piece.")
    elif top in ANALYSIS - _PLAIN and imports > _PLAIN:
        if top not in imports:
            hint = f"The operator can install it: `pip install '{EXTRA}'`."
            yield _refused(f"`{top}` is not installed here", node, hint)
    elif top not in imports:
        near = get_close_matches(top, imports, n=1, cutoff=0.8)
        there = f"Did you mean `{near[0]}`?" if near else f"There are: {', '.join(sorted(imports))}."
        yield _refused(f"`{name}` cannot be imported here", node, _INSTEAD.get(top, there))


def _is_inner(name: str) -> bool:
    return name.startswith("__") and name.endswith("__") and name not in _DOUBLE_UNDERSCORE
