"""What every sandbox keeps to, judged through its three verbs alone."""

import asyncio
import hashlib
import itertools
import math
from collections.abc import AsyncIterator
from datetime import UTC, date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import pytest_asyncio
from tests.sandboxes import ENDLESS, PATIENCE, available_sandbox, endless, names_with, ran

from answerable.core.errors import OperatorError, UserError
from answerable.core.values import Json
from answerable.sandbox.base import HostCalls, Sandbox, SandboxLimits, SandboxRequest, SandboxResult

pytestmark = pytest.mark.asyncio(loop_scope="module")

PROJECT = Path(__file__).parents[2]
SIZE = 2
_numbers = itertools.count(1)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def sandbox(request: pytest.FixtureRequest) -> AsyncIterator[Sandbox]:
    opened = await available_sandbox(request.param, SIZE)
    await opened.start()
    yield opened
    await opened.close()


def on(ability: str | None = None) -> pytest.MarkDecorator:
    """On the sandboxes with the ability; on all of them without."""
    return pytest.mark.parametrize("sandbox", names_with(ability), indirect=True, scope="module")


async def value_of(sandbox: Sandbox, code: str, **asked: Any) -> Json:
    result = await ran(sandbox, code, **asked)
    assert result.outcome == "ok", (result.reason, result.message)
    return result.value


# Values out

VALUES: dict[str, Json] = {
    "1 + 1": 2,
    "'ünïcödé ☃ 漢字 \U0001f600'": "ünïcödé ☃ 漢字 \U0001f600",
    "None": None,
    "True": True,
    "1.5": 1.5,
    "-0.1": -0.1,
    "2 ** 62": 2**62,
    "-(2 ** 63)": -(2**63),
    "''": "",
    "[]": [],
    "{}": {},
    "(1, 2)": [1, 2],
    "[1, [2, {'a': [None]}]]": [1, [2, {"a": [None]}]],
    "[{'a': 1, 'b': None}, {'a': 2, 'b': 'x'}]": [{"a": 1, "b": None}, {"a": 2, "b": "x"}],
    "{1: 'a', 2: 'b'}": {"1": "a", "2": "b"},
    "'x' * 100000": "x" * 100000,
    "{'$date': 'never', '$datetime': 7}": {"$date": "never", "$datetime": 7},
    "{'$bytes': 'zz'}": {"$bytes": "zz"},
    "'a\\x00b'": "a\x00b",
}


@on()
@pytest.mark.parametrize("expression", VALUES)
async def test_a_value_comes_back(sandbox: Sandbox, expression: str) -> None:
    assert await value_of(sandbox, f"result = {expression}") == VALUES[expression]


@on()
@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("import datetime\nresult = datetime.date(2026, 2, 3)", "2026-02-03"),
        ("import datetime\nresult = datetime.datetime(2026, 2, 3, 4, 5, 6)", "2026-02-03T04:05:06"),
    ],
)
async def test_dates_are_text_in_values(sandbox: Sandbox, code: str, expected: str) -> None:
    assert await value_of(sandbox, code) == expected


@on()
async def test_code_that_sets_no_result_has_none(sandbox: Sandbox) -> None:
    assert await value_of(sandbox, "x = 1\n") is None


LAST_LINES: dict[str, Json] = {
    "x = 20\nx + 1": 21,
    "result = 1\n2": 1,
    "'a text'": "a text",
    "x = [1]\nx.append(2)": None,
    "x = 1\nif x:\n    x + 1": None,
}


@on()
@pytest.mark.parametrize("code", LAST_LINES)
async def test_the_last_line_is_the_result_where_none_is_set(sandbox: Sandbox, code: str) -> None:
    assert await value_of(sandbox, code) == LAST_LINES[code]


@on()
@pytest.mark.parametrize("code", ["", "\n\n", "# nothing but a remark", "pass"])
async def test_code_that_does_nothing_is_done(sandbox: Sandbox, code: str) -> None:
    assert await value_of(sandbox, code) is None


UNRETURNABLE = {
    "not-a-number": "result = float('nan')",
    "infinite": "result = [1.0, float('inf')]",
    "great-integer": "result = 2 ** 100",
    "great-integer-inside": "result = {'a': [-(2 ** 70)]}",
    "function": "def f():\n    return 1\nresult = f",
    "bytes": "result = b'x'",
    "type": "result = int",
}


@on()
@pytest.mark.parametrize("code", UNRETURNABLE.values(), ids=UNRETURNABLE)
async def test_a_result_that_json_cannot_hold_is_an_error(sandbox: Sandbox, code: str) -> None:
    result = await ran(sandbox, code)
    assert (result.outcome, result.reason, result.value) == ("error", "result", None)


@on()
@pytest.mark.parametrize(
    "code",
    ["x = []\nx.append(x)\nresult = x", "x = []\nfor _ in range(100000):\n    x = [x]\nresult = x"],
    ids=["circular", "deep"],
)
async def test_a_result_without_bottom_is_refused(sandbox: Sandbox, code: str) -> None:
    result = await ran(sandbox, code)
    assert result.outcome != "ok"
    assert result.reason in ("result", "recursion", "memory")


@on("python")
@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("from decimal import Decimal\nresult = [Decimal('1.50'), Decimal('7')]", [1.5, 7]),
        (
            "import numpy as np\nresult = [np.int64(7), np.float32(0.5), np.arange(3), np.bool_(True)]",
            [7, 0.5, [0, 1, 2], True],
        ),
        ("import uuid\nresult = uuid.UUID(int=1)", "00000000-0000-0000-0000-000000000001"),
        ("import datetime\nresult = datetime.time(1, 2, 3)", "01:02:03"),
        ("result = {3, 1, 2}", [1, 2, 3]),
        ("class A(dict):\n    pass\nresult = A(a=1)", {"a": 1}),
    ],
)
async def test_values_of_libraries_come_back_plain(sandbox: Sandbox, code: str, expected: Json) -> None:
    assert await value_of(sandbox, code) == expected


# Frames

ALL_TYPES = pl.DataFrame(
    {
        "text": ["a", None, "ünï ☃"],
        "integer": [1, None, -(2**40)],
        "number": [1.5, None, -0.25],
        "boolean": [True, None, False],
        "date": [date(2026, 1, 2), None, date(1969, 12, 31)],
        "datetime": [datetime(2026, 1, 2, 3, 4, 5, 678900), None, datetime(1950, 1, 1)],
        "moment": [datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC), None, datetime(2000, 1, 1, tzinfo=UTC)],
        "time": [time(1, 2, 3), None, time(23, 59, 59, 999999)],
        "decimal": [Decimal("1.50"), None, Decimal("-12345678.90")],
        "list": [[1, 2], None, []],
        "struct": [{"a": 1, "b": "x"}, {"a": None, "b": None}, {"a": 3, "b": "z"}],
        "binary": [b"\x00\xff", None, b""],
        "category": pl.Series(["x", None, "y"], dtype=pl.Categorical),
        "größe in €": [1, 2, 3],
    }
)
AS_IT_COMES_OUT = ALL_TYPES.with_columns(pl.col("category").cast(pl.String))
TYPES = {
    "text": "text",
    "integer": "integer",
    "number": "number",
    "boolean": "boolean",
    "date": "date",
    "datetime": "datetime",
    "moment": "datetime",
    "time": "time",
    "decimal": "number",
    "list": "json",
    "struct": "json",
    "binary": "binary",
    "category": "text",
    "größe in €": "integer",
}


@pytest.fixture
def stored(tmp_path: Path) -> Any:
    def write(frame: pl.DataFrame) -> Path:
        path = tmp_path / f"{next(_numbers)}.arrow"
        frame.write_ipc(path)
        return path

    return write


def size_of(path: Path) -> int:
    return path.stat().st_size


async def frame_of(sandbox: Sandbox, code: str, into: Path, **asked: Any) -> pl.DataFrame:
    result = await ran(sandbox, code, into=into, **asked)
    assert result.outcome == "ok", (result.reason, result.message)
    assert result.frame is not None
    assert result.value is None
    frame = pl.read_ipc(into)
    assert result.frame.row_count == frame.height
    assert [column.name for column in result.frame.columns] == frame.columns
    assert result.frame.byte_count == size_of(into)
    return frame


@on("frames")
async def test_a_frame_of_every_type_goes_in_and_comes_out(sandbox: Sandbox, stored: Any, tmp_path: Path) -> None:
    into = tmp_path / "result.arrow"
    result = await ran(sandbox, "result = table", frames={"table": stored(ALL_TYPES)}, into=into)
    assert result.frame is not None, result.message
    assert {column.name: column.type for column in result.frame.columns} == TYPES
    assert pl.read_ipc(into).equals(AS_IT_COMES_OUT)


@on("frames")
async def test_several_frames_by_name(sandbox: Sandbox, stored: Any, tmp_path: Path) -> None:
    frames = {
        "orders": stored(pl.DataFrame({"customer": [1, 1, 2], "amount": [10, 20, 5]})),
        "customers": stored(pl.DataFrame({"id": [1, 2], "name": ["Ada", "Bob"]})),
    }
    code = (
        "import polars as pl\n"
        "result = (orders.join(customers, left_on='customer', right_on='id')"
        ".group_by('name').agg(pl.col('amount').sum()).sort('name'))\n"
    )
    frame = await frame_of(sandbox, code, tmp_path / "r.arrow", frames=frames)
    assert frame.rows() == [("Ada", 30), ("Bob", 5)]


@on("frames")
@pytest.mark.parametrize(
    "code",
    [
        "result = pl.DataFrame({'a': [1, 2]})",
        "result = pl.LazyFrame({'a': [1, 2]})",
        "result = pl.Series('a', [1, 2])",
        "import pyarrow as pa\nresult = pa.table({'a': [1, 2]})",
        "import pandas as pd\nresult = pd.DataFrame({'a': [1, 2]})",
    ],
    ids=["frame", "lazy", "series", "arrow", "pandas"],
)
async def test_tables_of_every_kind_are_frames(sandbox: Sandbox, code: str, tmp_path: Path) -> None:
    frame = await frame_of(sandbox, f"import polars as pl\n{code}", tmp_path / "r.arrow")
    assert frame.to_dict(as_series=False) == {"a": [1, 2]}


@on()
async def test_a_list_of_dictionaries_is_rows(sandbox: Sandbox, tmp_path: Path) -> None:
    code = "result = [{'n': n, 'half': n / 2, 'name': None if n == 1 else str(n)} for n in range(3)]"
    frame = await frame_of(sandbox, code, tmp_path / "r.arrow")
    assert frame.rows() == [(0, 0.0, "0"), (1, 0.5, None), (2, 1.0, "2")]


@on()
@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("[{'a': 1}, {'b': 2}]", [{"a": 1}, {"b": 2}]),
        ("[]", []),
        ("[{}]", [{}]),
        ("[1, {'a': 2}]", [1, {"a": 2}]),
        ("{'a': [1]}", {"a": [1]}),
    ],
)
async def test_what_is_no_table_stays_a_value(sandbox: Sandbox, value: str, expected: Json, tmp_path: Path) -> None:
    assert await value_of(sandbox, f"result = {value}", into=tmp_path / "r.arrow") == expected


@on()
@pytest.mark.parametrize(
    "rows",
    ["[{'a\\x00b': 1, 'a\\x00c': 2}]", "[{'a' * 100_000: 1}]", "[{str(i): i for i in range(11_000)}]"],
    ids=["zero bytes", "long", "many"],
)
async def test_names_that_would_not_arrive_whole_are_refused(sandbox: Sandbox, rows: str, tmp_path: Path) -> None:
    result = await ran(sandbox, f"result = {rows}", into=tmp_path / "r.arrow")
    assert (result.outcome, result.reason, result.frame) == ("error", "result", None), result


@on()
async def test_rows_of_mixed_kinds_are_an_error_that_names_the_column(sandbox: Sandbox, tmp_path: Path) -> None:
    result = await ran(sandbox, "result = [{'a': 1}, {'a': 'x'}]", into=tmp_path / "r.arrow")
    assert (result.outcome, result.reason) == ("error", "result")
    assert "`a`" in (result.message or "")


@on("frames")
async def test_a_frame_without_rows_keeps_its_columns(sandbox: Sandbox, stored: Any, tmp_path: Path) -> None:
    frame = await frame_of(sandbox, "result = t.filter(False)", tmp_path / "r.arrow", frames={"t": stored(ALL_TYPES)})
    assert frame.schema == AS_IT_COMES_OUT.schema
    assert frame.height == 0


@on("frames")
async def test_an_empty_frame_goes_in(sandbox: Sandbox, stored: Any) -> None:
    frames = {"t": stored(pl.DataFrame({"a": pl.Series([], dtype=pl.Int64)}))}
    assert await value_of(sandbox, "result = [t.height, t.columns]", frames=frames) == [0, ["a"]]


@on("frames")
async def test_ten_thousand_rows_go_in_and_out(sandbox: Sandbox, stored: Any, tmp_path: Path) -> None:
    table = pl.DataFrame({"n": range(10_000), "s": [f"row {n}" for n in range(10_000)]})
    frame = await frame_of(sandbox, "result = t.reverse()", tmp_path / "r.arrow", frames={"t": stored(table)})
    assert frame.equals(table.reverse())


@on("frames")
async def test_a_frame_that_nobody_wants_is_an_error(sandbox: Sandbox) -> None:
    result = await ran(sandbox, "result = pl.DataFrame({'a': [1]})")
    assert (result.outcome, result.reason) == ("error", "result")


@on("frames")
async def test_the_input_is_not_changed(sandbox: Sandbox, stored: Any) -> None:
    path = stored(ALL_TYPES)
    before = hashlib.sha256(path.read_bytes()).digest()
    await ran(sandbox, "t[0, 'integer'] = 99\nresult = t['integer'].to_list()", frames={"t": path})
    assert hashlib.sha256(path.read_bytes()).digest() == before


@on("frames")
async def test_a_value_leaves_no_file_of_rows_that_looks_like_one(sandbox: Sandbox, tmp_path: Path) -> None:
    into = tmp_path / "r.arrow"
    result = await ran(sandbox, "result = 7", into=into)
    assert (result.value, result.frame) == (7, None)


@on()
async def test_coroutines_run(sandbox: Sandbox) -> None:
    code = "import asyncio\nasync def f(n):\n    await asyncio.sleep(0)\n    return n\nresult = asyncio.run(f(3))"
    assert await value_of(sandbox, code) == 3


# Values in


@on()
async def test_values_go_in(sandbox: Sandbox) -> None:
    given = {"a": [1, None, {"b": "☃"}], "n": -3, "f": 0.5, "t": True, "nothing": None, "big": 2**62}
    assert await value_of(sandbox, "result = [a, n, f, t, nothing, big]", values=given) == list(given.values())


@on()
async def test_values_of_one_run_are_not_those_of_another(sandbox: Sandbox) -> None:
    assert await value_of(sandbox, "result = a", values={"a": "first"}) == "first"
    result = await ran(sandbox, "result = a")
    assert (result.outcome, result.reason) in (("error", "exception"), ("error", "type_check"))


# What is printed


@on()
async def test_printed_text_is_kept(sandbox: Sandbox) -> None:
    result = await ran(sandbox, "print('one', 2)\nprint('drei ☃', end='')\nresult = 4")
    assert result.output == "one 2\ndrei ☃"
    assert result.resources.output_bytes == len(result.output.encode())


@on()
async def test_printed_text_is_kept_when_the_code_fails(sandbox: Sandbox) -> None:
    result = await ran(sandbox, "print('before')\nraise ValueError('after')")
    assert result.output == "before\n"
    assert result.outcome == "error"


@on("python")
async def test_text_to_stderr_and_warnings_is_output_too(sandbox: Sandbox) -> None:
    result = await ran(sandbox, "import sys, warnings\nprint('e', file=sys.stderr)\nwarnings.warn('careful')")
    assert "e\n" in result.output
    assert "careful" in result.output


# Failures


@on()
async def test_an_exception_says_what_and_where(sandbox: Sandbox) -> None:
    result = await ran(sandbox, "x = 1\n\ny = x / 0\n")
    assert (result.outcome, result.reason) == ("error", "exception")
    assert result.message is not None
    assert "ZeroDivisionError" in result.message
    assert "line 3" in result.message


@on()
async def test_the_line_is_that_of_the_code_where_it_failed(sandbox: Sandbox) -> None:
    code = "def f(x):\n    y = 1\n    return y / x\n\n\nresult = f(0)\n"
    result = await ran(sandbox, code)
    assert "line 3" in (result.message or "")


@on()
@pytest.mark.parametrize("code", ["x = 1\ny = = 2\n", "def f(:\n    pass", "  x = 1\n x = 2", "'unfinished"])
async def test_bad_syntax_is_an_error_with_a_line(sandbox: Sandbox, code: str) -> None:
    result = await ran(sandbox, code)
    assert result.outcome == "error"
    assert "line" in (result.message or "").lower()


@on("python")
@pytest.mark.parametrize(
    "code",
    [
        "import json\njson.loads('{')",
        "import polars as pl\npl.DataFrame({'a': [1]}).select('b')",
        "import no_such_module",
        "open('/nowhere')",
        "raise SystemExit(3)",
        "raise KeyboardInterrupt",
        "class E(Exception):\n    def __str__(self):\n        raise ValueError\nraise E()",
        "class E(BaseException):\n    pass\nraise E('x')",
        "raise ExceptionGroup('g', [ValueError(1)])",
        "import asyncio\nasync def f():\n    raise asyncio.CancelledError\nasyncio.run(f())",
    ],
)
async def test_no_path_of_the_host_is_told(sandbox: Sandbox, code: str) -> None:
    result = await ran(sandbox, code)
    assert (result.outcome, result.reason) == ("error", "exception")
    told = (result.message or "") + result.output
    for path in (str(PROJECT), str(Path.home()), "site-packages", "/lib/python", "runner/", "kernel.py"):
        assert path not in told


NONSENSE = {
    "null-byte": "result = 1\0",
    "one-megabyte-of-text": "x = 1\n" * 170_000,
    "one-long-line": "result = " + "+".join(["1"] * 100_000),
    "binary": bytes(range(256)).decode("latin-1"),
    "deep-brackets": "result = " + "(" * 5_000 + "1" + ")" * 5_000,
    "deep-lists": "result = " + "[" * 1_000 + "]" * 1_000,
    "deep-minus": "result = " + "-" * 50_000 + "1",
    "deep-indentation": "".join(" " * n + "if True:\n" for n in range(300)) + " " * 300 + "result = 1",
    "byte-order-mark": "\ufeffresult = 1",
    "windows-lines": "x = 1\r\nresult = x\r\n",
    "half-a-character": "result = '\udc80'",
    "encoding-cookie": "# -*- coding: rot13 -*-\nresult = 1",
    "return-outside": "return 1",
    "await-outside": "await x",
    "prose": "Sure! Here is the code you asked for:",
    "fences": "```python\nresult = 1\n```",
}


@on()
@pytest.mark.parametrize("code", NONSENSE.values(), ids=NONSENSE)
async def test_nonsense_gets_a_result_and_the_pool_goes_on(sandbox: Sandbox, code: str) -> None:
    result = await ran(sandbox, code, limits=SandboxLimits(seconds=5, memory_mb=512))
    assert result.outcome in ("ok", "error", "stopped")
    assert len(result.message or "") < 10_000
    assert await value_of(sandbox, "result = 1") == 1


# Host calls


STUBS = """from typing import Any
def lookup(*args: Any, **kwargs: Any) -> Any: ...
def refuse() -> Any: ...
def wait() -> Any: ...
"""


class Host:
    """Functions of the host, and what they were called with."""

    def __init__(self) -> None:
        self.calls: list[tuple[Json, ...]] = []

    async def lookup(self, *args: Json, **kwargs: Json) -> Json:
        self.calls.append((*args, kwargs))
        return {"found": args, "with": kwargs}

    async def refuse(self) -> Json:
        raise UserError("This path is not allowed.", code="not_allowed", hint="Ask for another.")

    async def wait(self) -> Json:
        await asyncio.sleep(60)

    def offered(self) -> HostCalls:
        return HostCalls({"lookup": self.lookup, "refuse": self.refuse, "wait": self.wait}, STUBS)


@on()
async def test_host_functions_get_arguments_and_give_values(sandbox: Sandbox) -> None:
    host = Host()
    code = "first = lookup('a', 1, x=None)\nresult = [first['found'], lookup()['with'], lookup({'k': [1.5]})['found']]"
    result = await ran(sandbox, code, host=host.offered())
    assert result.value == [["a", 1], {}, [{"k": [1.5]}]], result.message
    assert host.calls == [("a", 1, {"x": None}), ({},), ({"k": [1.5]}, {})]
    assert result.resources.host_calls == 3


@on()
async def test_an_error_of_the_host_is_a_runtime_error_with_its_sentence(sandbox: Sandbox) -> None:
    code = "try:\n    refuse()\nexcept RuntimeError as error:\n    result = str(error)\n"
    assert "This path is not allowed." in await value_of(sandbox, code, host=Host().offered())


@on()
async def test_an_error_of_the_host_that_is_not_caught_ends_the_code(sandbox: Sandbox) -> None:
    result = await ran(sandbox, "x = 1\nrefuse()", host=Host().offered())
    assert (result.outcome, result.reason) == ("error", "exception")
    assert "This path is not allowed." in (result.message or "")


@on()
async def test_only_what_is_offered_can_be_called(sandbox: Sandbox) -> None:
    result = await ran(sandbox, "lookup('a')")
    assert result.outcome == "error"
    assert result.reason in ("exception", "type_check")


@on()
async def test_host_calls_in_a_loop_keep_their_order(sandbox: Sandbox) -> None:
    host = Host()
    code = "result = [lookup(n)['found'][0] for n in range(100)]"
    assert await value_of(sandbox, code, host=host.offered()) == list(range(100))
    assert [call[0] for call in host.calls] == list(range(100))


@on("type_check")
async def test_code_is_checked_against_the_stubs_before_it_runs(sandbox: Sandbox) -> None:
    host = Host()
    offered = HostCalls({"lookup": host.lookup}, "def lookup(name: str) -> str: ...\n")
    result = await ran(sandbox, "lookup('a')\nlookup(7)", host=offered)
    assert (result.outcome, result.reason) == ("error", "type_check")
    assert host.calls == []


# Limits

BUSY = ("time", "cpu")
LIMITS = {
    "time": (ENDLESS, SandboxLimits(seconds=1), BUSY),
    "memory": ("x = [0] * 1000\nwhile True:\n    x = x + x", SandboxLimits(memory_mb=200, seconds=20), ("memory",)),
    "output": ("while True:\n    print('x' * 100)", SandboxLimits(output_bytes=5_000, seconds=20), ("output",)),
    "result": ("result = 'x' * 3000000", SandboxLimits(result_mb=1, seconds=20), ("result_size",)),
    "recursion": ("def f(n):\n    return f(n + 1)\nf(0)", SandboxLimits(recursion=100, seconds=20), ("recursion",)),
    "host_calls": ("while True:\n    lookup(1)", SandboxLimits(host_calls=10, seconds=20), ("host_calls",)),
    "waiting": ("wait()", SandboxLimits(seconds=1), ("time",)),
}


@on()
@pytest.mark.parametrize("limit", LIMITS)
async def test_each_limit_stops_the_code_and_is_named(sandbox: Sandbox, limit: str) -> None:
    code, limits, reasons = LIMITS[limit]
    result = await ran(sandbox, code, limits=limits, host=Host().offered())
    assert result.outcome == "stopped", result.message
    assert result.reason in reasons
    assert result.value is None
    assert result.frame is None
    assert await value_of(sandbox, "result = 1") == 1


@on()
async def test_what_was_printed_up_to_the_limit_is_kept(sandbox: Sandbox) -> None:
    result = await ran(sandbox, "for n in range(10000):\n    print(n)", limits=SandboxLimits(output_bytes=1_000))
    assert result.output.startswith("0\n1\n2\n")
    assert 900 < len(result.output) <= 1_000


@on()
async def test_output_printed_before_time_ran_out_is_kept(sandbox: Sandbox) -> None:
    for seconds in (1, 5, 25):  # a busy machine may need longer than a second to get to the first line
        result = await ran(sandbox, "print('begun')\n" + ENDLESS, limits=SandboxLimits(seconds=seconds))
        assert result.reason in BUSY
        if result.output:
            break
    assert result.output == "begun\n"


@on()
async def test_exactly_as_many_host_calls_as_are_allowed(sandbox: Sandbox) -> None:
    code = "for _ in range(10):\n    lookup(1)\nresult = 'done'"
    assert await value_of(sandbox, code, host=Host().offered(), limits=SandboxLimits(host_calls=10)) == "done"


@on("scratch")
async def test_scratch_is_bounded(sandbox: Sandbox) -> None:
    code = "with open('x', 'wb') as file:\n    for _ in range(64):\n        file.write(bytes(1 << 20))\n"
    result = await ran(sandbox, code, limits=SandboxLimits(scratch_mb=4))
    assert result.outcome != "ok"


@on("scratch")
async def test_scratch_can_be_used(sandbox: Sandbox) -> None:
    code = "with open('x', 'w') as file:\n    file.write('kept')\nresult = open('x').read()"
    assert await value_of(sandbox, code) == "kept"


@on("frames")
async def test_a_frame_larger_than_the_limit_is_stopped(sandbox: Sandbox, tmp_path: Path) -> None:
    code = "result = pl.DataFrame({'a': range(1000000)})"
    result = await ran(sandbox, code, into=tmp_path / "r.arrow", limits=SandboxLimits(result_mb=1))
    assert (result.outcome, result.reason, result.frame) == ("stopped", "result_size", None)


@on("python")
@pytest.mark.parametrize(
    "code", ["import os\nos._exit(0)", "import os\nos.abort()", "import ctypes\nctypes.string_at(0)"]
)
async def test_code_that_ends_its_process_is_a_result(sandbox: Sandbox, code: str) -> None:
    result = await ran(sandbox, code)
    assert (result.outcome, result.reason) == ("stopped", "died")


# Cancelling


async def cancelled(running: "asyncio.Task[SandboxResult]") -> None:
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(running, PATIENCE)


@on()
async def test_cancelling_ends_the_code(sandbox: Sandbox) -> None:
    for _ in range(SIZE + 1):
        await cancelled(await endless(sandbox))
    async with asyncio.timeout(PATIENCE):
        assert await asyncio.gather(*(value_of(sandbox, f"result = {n}") for n in range(SIZE * 2))) == [0, 1, 2, 3]


@on()
async def test_cancelling_reaches_a_call_of_the_host(sandbox: Sandbox) -> None:
    begun, ended = asyncio.Event(), asyncio.Event()

    async def wait() -> Json:
        begun.set()
        try:
            await asyncio.sleep(PATIENCE)
        finally:
            ended.set()

    running = asyncio.create_task(sandbox.run(SandboxRequest("wait()", host=HostCalls({"wait": wait}, STUBS))))
    await asyncio.wait_for(begun.wait(), PATIENCE)
    await cancelled(running)
    await asyncio.wait_for(ended.wait(), 5)


# Nothing is left

LEFT = {
    "global": ("left = 1", "result = 'left' in dir() or 'left' in globals()", False),
    "module": ("import json\njson.left = 1", "import json\nresult = hasattr(json, 'left')", False),
    "builtin": ("import builtins\nbuiltins.sorted = list", "result = sorted([2, 1])", [1, 2]),
    "file": ("open('left', 'w').close()", "import os\nresult = os.path.exists('left')", False),
    "environment": ("import os\nos.environ['LEFT'] = '1'", "import os\nresult = 'LEFT' in os.environ", False),
    "polars": ("pl.Config.set_tbl_rows(3)\npl.DataFrame.left = 1", "result = hasattr(pl.DataFrame, 'left')", False),
}


@on("python")
@pytest.mark.parametrize("kind", LEFT)
async def test_nothing_of_a_run_is_left_for_the_next(sandbox: Sandbox, kind: str) -> None:
    leave, look, clean = LEFT[kind]
    await ran(sandbox, leave)
    looked = await asyncio.gather(*(value_of(sandbox, look) for _ in range(SIZE + 1)))
    assert looked == [clean] * (SIZE + 1)


@on()
async def test_a_name_of_a_run_is_unknown_to_the_next(sandbox: Sandbox) -> None:
    await value_of(sandbox, "left = 1\nresult = left")
    for _ in range(SIZE + 1):
        assert (await ran(sandbox, "result = left")).outcome == "error"


@on("python")
@pytest.mark.parametrize(
    "draw",
    [
        "import random\nresult = random.random()",
        "import numpy as np\nresult = np.random.random()",
        "import uuid\nresult = str(uuid.uuid4())",
        "result = pl.Series(range(1000)).shuffle().to_list()",
    ],
    ids=["random", "numpy", "uuid", "polars"],
)
async def test_runs_do_not_share_their_chance(sandbox: Sandbox, draw: str) -> None:
    drawn = await asyncio.gather(*(value_of(sandbox, draw) for _ in range(4)))
    assert len({str(value) for value in drawn}) == 4


# Many at once


@on()
async def test_a_hundred_at_once_each_get_their_own(sandbox: Sandbox) -> None:
    host = Host()

    async def one(number: int) -> SandboxResult:
        code = "print(n)\nresult = [n, lookup(n)['found'][0]]"
        return await ran(sandbox, code, values={"n": number}, host=host.offered())

    results = await asyncio.gather(*(one(number) for number in range(100)))
    assert [result.value for result in results] == [[number, number] for number in range(100)]
    assert [result.output for result in results] == [f"{number}\n" for number in range(100)]


@on()
async def test_requests_are_served_in_the_order_in_which_they_came(sandbox: Sandbox) -> None:
    """All places but one are taken, so that the rest come one after the other."""
    held = [await endless(sandbox) for _ in range(SIZE - 1)]
    done: list[int] = []

    async def one(number: int) -> None:
        await ran(sandbox, "result = 1")
        done.append(number)

    await asyncio.gather(*(one(number) for number in range(20)))
    assert done == list(range(20))
    for running in held:
        await cancelled(running)


@on()
async def test_slow_code_does_not_hold_up_the_rest(sandbox: Sandbox) -> None:
    slow = await endless(sandbox)
    quick = [await value_of(sandbox, f"result = {n}") for n in range(2)]
    assert quick == [0, 1]
    assert not slow.done()
    await cancelled(slow)


# The account


@on()
async def test_the_account_says_what_was_used_and_what_kept_it_in(sandbox: Sandbox) -> None:
    result = await ran(sandbox, "total = 0\nfor n in range(200000):\n    total += n\nresult = total")
    assert 0 < result.resources.wall_ms < 60_000
    assert result.resources.cpu_ms is None or result.resources.cpu_ms > 0
    assert result.resources.peak_mb is None or math.isfinite(result.resources.peak_mb)
    assert result.isolated
    assert result.isolation
    assert all(wall for wall in result.isolation.values())


@on()
async def test_a_stopped_run_has_an_account_too(sandbox: Sandbox) -> None:
    result = await ran(sandbox, ENDLESS, limits=SandboxLimits(seconds=1))
    assert result.resources.wall_ms >= 900
    assert result.isolated
    assert result.isolation


@on()
async def test_what_is_available_is_told_without_starting(sandbox: Sandbox) -> None:
    found = await sandbox.available()
    assert found.backend == sandbox.name
    assert found.available
    assert found.detail
    assert found.walls


# A disk without space


@on()
async def test_rows_for_a_full_disk(sandbox: Sandbox, small_disk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is told as one, whoever writes the rows; with space again the same code works."""
    monkeypatch.setattr("tempfile.tempdir", str(small_disk))
    code = "result = [{{'a': 'x' * 1000}} for _ in range({})]"
    with pytest.raises(OperatorError) as caught:
        await ran(sandbox, code.format(400), into=small_disk / "rows.arrow")
    assert caught.value.stable_code == "disk_full"
    result = await ran(sandbox, code.format(4), into=small_disk / "rows.arrow")
    assert result.frame is not None
    assert result.frame.row_count == 4
