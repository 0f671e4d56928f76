"""The runner in a process of its own: what code sees, what comes of it, and which word is given for how it ended."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from answerable.core.errors import UserError
from answerable.sandbox.base import HostCalls, SandboxLimits, SandboxRequest, SandboxResult
from answerable.sandbox.containers import boot

Run = Callable[[SandboxRequest], Awaitable[SandboxResult]]
SMALL = SandboxLimits(seconds=20, output_bytes=1_000, result_mb=1, host_calls=3, recursion=200)


@pytest.mark.parametrize(
    ("code", "value"),
    [
        ("result = 6 * 7", 42),
        ("", None),
        ("import sys; sys.exit(0)", None),
        ("result = __name__", "__main__"),
        ("import datetime as d; result = [d.date(2026, 1, 2), d.timedelta(hours=1)]", ["2026-01-02", "PT3600S"]),
        ("from decimal import Decimal as D; result = (D('1.50'), D('3'))", [1.5, 3]),
        ("import numpy as np; result = {'a': np.float64(0.5), 'b': np.arange(3)}", {"a": 0.5, "b": [0, 1, 2]}),
        ("result = {1: {'b', 'a'}}", {"1": ["a", "b"]}),
        ("result = '\\ud800'", "?"),
        ("from dataclasses import dataclass\n@dataclass\nclass A:\n    x: int\nresult = A(3).x", 3),
    ],
)
async def test_a_value_comes_back_as_json_holds_it(run_locally: Run, code: str, value: Any) -> None:
    result = await run_locally(SandboxRequest(code))
    assert (result.outcome, result.value, result.message) == ("ok", value, None)


@pytest.mark.parametrize(
    "code",
    [
        "result = orders.group_by('region').agg(pl.col('amount').sum()).sort('region')",
        "result = orders.lazy().group_by('region').agg(pl.col('amount').sum()).sort('region')",
        "import pandas as pd\nresult = pd.DataFrame(orders.to_dict(as_series=False)).groupby('region').sum()",
        "import pyarrow as pa\nresult = pa.table({'region': ['North', 'South'], 'amount': [17.5, 20.0]})",
    ],
)
async def test_every_kind_of_table_comes_back_as_rows(
    run_locally: Run, orders: Path, tmp_path: Path, code: str
) -> None:
    into = tmp_path / "result.arrow"
    result = await run_locally(SandboxRequest(code, frames={"orders": orders}, into=into))
    assert (result.outcome, result.message) == ("ok", None)
    assert result.frame is not None
    assert [(column.name, column.type) for column in result.frame.columns] == [("region", "text"), ("amount", "number")]
    assert pl.read_ipc(into).rows() == [("North", 17.5), ("South", 20.0)]


@pytest.mark.parametrize(
    ("code", "outcome", "reason", "said"),
    [
        ("x = 1\ny = x / 0", "error", "exception", "ZeroDivisionError: division by zero (line 2)"),
        ("x = (", "error", "exception", "SyntaxError: '(' was never closed (line 1)"),
        ("x = '\ud800'", "error", "exception", "UnicodeEncodeError"),
        ("import sys; sys.exit('no')", "error", "exception", "SystemExit('no')"),
        ("raise KeyboardInterrupt", "error", "exception", "KeyboardInterrupt (line 1)"),
        ("result = lambda: 0", "error", "result", "a function"),
        ("result = {'a': float('nan')}", "error", "result", "nan"),
        ("result = 1 << 70", "error", "result", "64 bits"),
        ("result = []\nresult.append(result)", "error", "result", "nested"),
        ("result = pl.DataFrame({'a': [1]})", "error", "result", "single value"),
        ("raise MemoryError", "stopped", "memory", "memory"),
        ("def f(): return f()\nf()", "stopped", "recursion", "(line 1)"),
        ("while True:\n  try: print('x' * 90)\n  except BaseException: pass", "stopped", "output", "1,000 bytes"),
        ("result = 'x' * (2 << 20)", "stopped", "result_size", "1 MB"),
        ("import os; os._exit(0)", "stopped", "died", "ended its process"),
        ("import os; os.fork()", "error", "exception", "PermissionError"),
        ("import socket; socket.socket()", "error", "exception", "PermissionError"),
        ("for _ in range(9): twice(1)", "stopped", "host_calls", "3 times"),
        ("twice(object())", "error", "exception", "TypeError"),
        ("twice(1, 2, 3)", "error", "exception", "too many positional arguments"),
        ("refuse()", "error", "exception", "RuntimeError: Not today. (line 1)"),
    ],
)
async def test_how_it_ended_is_told(run_locally: Run, code: str, outcome: str, reason: str, said: str) -> None:
    result = await run_locally(SandboxRequest(code, limits=SMALL, host=HOST))
    assert (result.outcome, result.reason) == (outcome, reason)
    assert said in str(result.message)
    assert len(result.output) <= 1_000


async def _twice(number: int) -> int:
    return number * 2


async def _refuse() -> None:
    raise UserError("Not today.")


HOST = HostCalls({"twice": _twice, "refuse": _refuse})


async def test_rows_past_the_limit_stop_it(run_locally: Run, tmp_path: Path) -> None:
    code = "result = pl.DataFrame({'a': range(1_000_000)})"
    result = await run_locally(SandboxRequest(code, limits=SMALL, into=tmp_path / "result.arrow"))
    assert (result.outcome, result.reason) == ("stopped", "result_size")


async def test_time_stops_it_and_what_it_printed_is_kept(run_locally: Run) -> None:
    result = await run_locally(SandboxRequest("print('begun')\nwhile True: pass", limits=SandboxLimits(seconds=0.3)))
    assert (result.outcome, result.reason, result.output) == ("stopped", "time", "begun\n")


async def test_it_calls_the_host_and_sees_its_values(run_locally: Run) -> None:
    result = await run_locally(SandboxRequest("result = twice(number=x['n']) + 1", values={"x": {"n": 4}}, host=HOST))
    assert (result.value, result.resources.host_calls) == (9, 1)


async def test_the_process_ends_when_its_host_does(
    local_process: Callable[[list[str]], Awaitable[Any]],
) -> None:
    import orjson

    from answerable.sandbox.exchange import asked

    process = await local_process(list(boot.command()))
    body = orjson.dumps(asked(SandboxRequest("while True: pass"), {}))
    process.stdin.write(b"J" + len(body).to_bytes(4, "big") + body)
    await process.stdout.readexactly(5 + len(b'{"ready": true}'))
    process.stdin.close()
    assert await process.wait() == 1
