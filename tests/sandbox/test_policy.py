"""What the policy says about Python before any sandbox sees it."""

import ast

import pytest

from answerable.core.errors import RefusedError, UserError
from answerable.sandbox.policy import ANALYSIS, LONGEST, SMALL, check_python, require_python

ANALYSIS_CODE = r'''
from __future__ import annotations
import datetime as dt, math
from collections import Counter
import numpy.linalg
import polars as pl

class Total:
    """Of a group."""
    def __init__(self, n: int) -> None:
        self.n = n

@staticmethod
def f(x, *rest, key=None, **more):
    global total
    total = [y ** 2 for y in rest if y is not None]
    try:
        with x as y, x:
            yield from (lambda z: -z)(y)
    except* ValueError as error:
        raise error from None
    finally:
        del x
    match key:
        case {"a": [1, *_], **others} | None: pass
        case Total(n=3) if key: return
    while True:
        if (n := len(more)) > 3 and not total: break
        else: continue
    assert x[1:2, ...] <= 3 != 4, f"{x!r:>{key}}"

async def g():
    async for x in y: await x
    async with z: pass

text = "\d"
if __name__ == "__main__":
    result = pl.__version__
'''


def test_analysis_code_may_run() -> None:
    assert check_python(ANALYSIS_CODE) is None
    require_python(ANALYSIS_CODE)


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("x = 1\nimport os", "`os` cannot be imported here (line 2). There are no files"),
        ("import os.path as p", "`os.path` cannot be imported here (line 1)."),
        ("from subprocess import run", "No program can be started."),
        ("import requests", "Call the host's functions."),
        ("import polarss", "Did you mean `polars`?"),
        ("import json, pickle", "`pickle` cannot be imported here (line 1). There are: __future__"),
        ("from . import x", "There is no package to import from (line 1)."),
        ("from .. import x", "There is no package to import from (line 1)."),
        ("if 1:\n    eval('1')", "`eval` is not allowed (line 2). Write the expression itself"),
        ("f = exec", "`exec` is not allowed (line 1)."),
        ("__import__('os')", "Write an `import` at the top."),
        ("x = input()", "Nobody can be asked here"),
        ("().__class__.__base__", "reaches into Python itself (line 1)."),
        ("def f():\n  def g():\n    return f.__globals__", "`.__globals__` reaches into Python itself (line 3)."),
        ("f'{x.__dict__}'", "`.__dict__` reaches into Python itself (line 1)."),
        ("import os\nimport socket", "`os`"),
    ],
)
def test_what_cannot_work_is_refused_with_line_and_remedy(code: str, said: str) -> None:
    assert said in (check_python(code) or "")
    with pytest.raises(RefusedError) as caught:
        require_python(code)
    assert caught.value.stable_code == "python_refused"
    assert f"(line {caught.value.details['line']})" in caught.value.message


def test_imports_are_those_of_the_backend() -> None:
    assert check_python("import polars", SMALL) is not None
    assert check_python("import polars", ANALYSIS) is None
    assert check_python("import asyncio", SMALL) is None


UNREADABLE = {
    "null": ("x = 1\ny = '\0'", "null character (line 2)"),
    "surrogate": ("x = 1\n'\ud800'", "half of a character (line 2)"),
    "syntax": ("x = 1\nf(", "never closed (line 2)"),
    "tabs": ("if 1:\n\tx = 1\n        y = 2", "tabs and spaces in indentation (line 3)"),
    "indent": ("x = 1\n  y = 2", "unexpected indent (line 2)"),
    "byte-order": ("\ufeffx = 1", "U+FEFF (line 1)"),
    "not-python": ("SELECT * FROM t", "(line 1)"),
    "control": ("x = 1 \x1a", "(line 1)"),
    "brackets": ("(" * 90_000, "nested"),
    "minus": ("-" * 90_000 + "1", "nested"),
    "attributes": ("x" + ".a" * 40_000, "nested"),
    "sums": ("1" + "+1" * 40_000, "nested"),
    "lambdas": ("lambda:" * 14_000 + "1", "nested"),
    "calls": ("f(" * 40_000, "nested"),
    "great-number": ("x = " + "9" * 90_000, "digits"),
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_what_is_not_python_is_a_clear_error(name: str) -> None:
    code, said = UNREADABLE[name]
    with pytest.raises(UserError) as caught:
        require_python(code)
    assert caught.value.stable_code == "python_unparsable"
    assert caught.value.message.startswith("The Python cannot be read: ")
    assert said in caught.value.message


@pytest.mark.parametrize("size", [LONGEST + 1, 1_000_000])
def test_too_much_is_not_read(size: int) -> None:
    with pytest.raises(UserError, match="characters") as caught:
        require_python("#" * size)
    assert caught.value.stable_code == "python_too_long"


@pytest.mark.parametrize("code", ["", "\n", "# nothing", "# coding: utf-16\nx = 1", "#" * LONGEST])
def test_harmless_oddities_may_run(code: str) -> None:
    assert check_python(code) is None


def test_every_kind_of_syntax_of_this_python_was_thought_about() -> None:
    """A kind that is not known is refused; those of this Python are all known."""
    from answerable.sandbox.policy import _KINDS

    old = {
        "AugLoad",
        "AugStore",
        "Param",
        "Suite",
        "Num",
        "Str",
        "Bytes",
        "NameConstant",
        "Ellipsis",
        "Index",
        "ExtSlice",
    }
    abstract = {"AST", "mod", "stmt", "expr", "expr_context", "boolop", "operator", "unaryop", "cmpop", "slice"}
    abstract |= {"excepthandler", "pattern", "type_ignore", "type_param", "TypeIgnore", "FunctionType"}
    known = {name for name, kind in vars(ast).items() if isinstance(kind, type) and issubclass(kind, ast.AST)}
    assert known - old - abstract - _KINDS <= {"TemplateStr", "Interpolation"}
