"""Monty beyond what every sandbox keeps to: its result, its type check, its pauses, its account of limits."""

import asyncio
import json
import os
import pickle
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import polars as pl
import psutil
import pytest
import pytest_asyncio

from answerable.core.errors import OperatorError, UserError
from answerable.core.values import Json
from answerable.sandbox.base import HostCalls, Pause, Paused, SandboxLimits, SandboxRequest, SandboxResult
from answerable.sandbox.monty import launch
from answerable.sandbox.monty.sandbox import MontySandbox
from answerable.sandbox.policy import SMALL

pytestmark = pytest.mark.asyncio(loop_scope="module")

STUBS = """
def fetch(path: str, count: int = 1) -> dict[str, Any]: ...
def grant(user: str, role: str) -> str: ...
"""


async def fetch(path: str, count: int = 1) -> Json:
    if path == "/none":
        raise UserError("There is nothing at /none.")
    return {"path": path, "count": count}


async def grant(user: str, role: str) -> Json:
    raise Pause(f"{user} would become {role}")


async def anything(value: Json) -> Json:
    return None


HOST = HostCalls({"fetch": fetch, "grant": grant, "anything": anything}, STUBS)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def monty() -> AsyncIterator[MontySandbox]:
    """One for all tests: starting it takes longer than most of them."""
    sandbox = MontySandbox(1)
    await sandbox.start()
    yield sandbox
    await sandbox.close()


async def ran(monty: MontySandbox, code: str, **asked: Any) -> SandboxResult:
    return await monty.run(SandboxRequest(code, host=HOST, **asked))


def workers() -> set[psutil.Process]:
    return {child for child in psutil.Process().children(recursive=True) if child.name() == "monty"}


def status_of(process: psutil.Process) -> str:
    return Path(f"/proc/{process.pid}/status").read_text()


# The result


async def test_the_last_line_is_the_result_if_none_was_set(monty: MontySandbox) -> None:
    assert (await ran(monty, "x = 20\nx + 1")).value == 21
    assert (await ran(monty, "result = 1\n2")).value == 1
    assert (await ran(monty, "result = None\n2")).value is None


async def test_rows_become_a_frame_where_one_is_wanted(monty: MontySandbox, tmp_path: Path) -> None:
    code = (
        "import datetime\n"
        "result = [{'n': 1, 'x': 1, 'd': datetime.date(2026, 1, 2), 't': 'a'},"
        " {'t': None, 'n': 2, 'x': 2.5, 'd': None}]"
    )
    result = await ran(monty, code, into=tmp_path / "rows.arrow")
    assert result.outcome == "ok", result.message
    assert result.frame is not None
    assert [(c.name, c.type) for c in result.frame.columns] == [
        ("n", "integer"),
        ("x", "number"),
        ("d", "date"),
        ("t", "text"),
    ]
    assert result.frame.row_count == 2
    assert pl.read_ipc(tmp_path / "rows.arrow")["x"].to_list() == [1.0, 2.5]


@pytest.mark.parametrize("code", ["result = []", "result = [{'a': 1}, {'b': 1}]", "result = [{}]", "result = [1]"])
async def test_other_lists_stay_values(monty: MontySandbox, tmp_path: Path, code: str) -> None:
    result = await ran(monty, code, into=tmp_path / "rows.arrow")
    assert (result.outcome, result.frame) == ("ok", None)
    assert isinstance(result.value, list)


@pytest.mark.parametrize(
    "rows",
    [
        "[{'a': 1}, {'a': 'x'}]",
        "[{'a': 1}, {'a': datetime.date(2026, 1, 2)}]",
        "[{'a': 2 ** 70}]",
        "[{'a': {1, 2}}]",
        "[{'a': print}]",
        "[{'a': [1]}, {'a': 'x'}]",
    ],
)
async def test_rows_without_a_common_type_are_refused(monty: MontySandbox, tmp_path: Path, rows: str) -> None:
    result = await ran(monty, f"import datetime\nresult = {rows}", into=tmp_path / "rows.arrow")
    assert (result.outcome, result.reason) == ("error", "result"), result
    assert "`a`" in (result.message or "") or "table" in (result.message or "")


@pytest.mark.parametrize("rows", [0, 1, 2_000, 5_001])
async def test_frames_come_in_as_rows(monty: MontySandbox, tmp_path: Path, rows: int) -> None:
    path = tmp_path / "t.arrow"
    pl.DataFrame({"n": list(range(rows))}, schema={"n": pl.Int64}).write_ipc(path)
    result = await ran(monty, "result = [len(t), sum(row['n'] for row in t)]", frames={"t": path})
    assert result.value == [rows, sum(range(rows))], result.message


async def test_objects_of_data_classes_are_dictionaries(monty: MontySandbox) -> None:
    code = (
        "from dataclasses import dataclass\n@dataclass\nclass P:\n    x: int\n    y: list[int]\n"
        "result = [P(n, [n]) for n in range(50)]"
    )
    assert (await ran(monty, code)).value == [{"x": n, "y": [n]} for n in range(50)]


@pytest.mark.parametrize(
    "result",
    ["f", "[f]", "{'a': range(3)}", "{'a': 1}.keys()", "A().f", "A", "g()", "{1: 2, '1': 3}", "re.match('a', 'a')"],
)
async def test_what_is_no_value_is_not_given_back_as_a_text_about_it(monty: MontySandbox, result: str) -> None:
    code = "import re\ndef f():\n    return 1\nclass A:\n    def f(self):\n        return 1\n"
    code += "async def g():\n    return 1\n"
    ended = await ran(monty, f"{code}result = {result}")
    assert (ended.outcome, ended.reason) == ("error", "result"), ended


@pytest.mark.parametrize("text", ["<b>bold</b>", "range(0, 3)", "[...]", "<function 'f' at 0xc>", "f(x)"])
async def test_true_texts_are_given_back(monty: MontySandbox, text: str) -> None:
    assert (await ran(monty, f"result = [{text!r}]")).value == [text]


@pytest.mark.parametrize("made", ["[x, x]", "{'a': x, 'b': x}", "(x, x)"])
async def test_a_small_result_that_would_be_endless_is_refused(monty: MontySandbox, made: str) -> None:
    ended = await ran(monty, f"x = 'y' * 100\nfor _ in range(30):\n    x = {made}\nresult = x")
    assert (ended.outcome, ended.reason) == ("stopped", "result_size")


async def test_an_endless_argument_is_refused(monty: MontySandbox) -> None:
    ended = await ran(monty, "x = []\nfor _ in range(60):\n    x = [x, x]\nanything(x)")
    assert (ended.outcome, ended.reason) == ("error", "exception")
    assert "small JSON values" in (ended.message or "")


# The type check


@pytest.mark.parametrize(
    ("code", "said", "line"),
    [
        ("x = 1\nfetch(3)", "Expected `str`", 2),
        ("fetch('/a', wrong=1)", "wrong", 1),
        ("y = 1\n\nresult = undefined", "undefined", 3),
        ("1 + 'a'", "not supported", 1),
        ("import polars", "polars", 1),
        ("def f():\n    yield 1", "yield", 2),
        ("x = 1\nx = = 2", "Expected an expression", 2),
    ],
)
async def test_wrong_code_is_found_before_it_runs(monty: MontySandbox, code: str, said: str, line: int) -> None:
    ended = await ran(monty, f"{code}\nprint('ran')")
    assert (ended.outcome, ended.reason, ended.output) == ("error", "type_check", ""), ended
    assert said in (ended.message or "")
    assert f"(line {line})" in (ended.message or "")


async def test_code_that_was_wrong_is_wrong_again(monty: MontySandbox) -> None:
    """Only what was found right is not checked a second time."""
    for _ in range(2):
        assert (await ran(monty, "import polars\nresult = 1")).reason == "type_check"
    for _ in range(2):
        assert (await ran(monty, "result = fetch('/a')['count']")).value == 1


async def test_it_has_every_module_that_the_policy_lets_in(monty: MontySandbox) -> None:
    ended = await ran(monty, "\n".join(f"import {module}" for module in sorted(SMALL)))
    assert ended.outcome == "ok", ended.message


# Limits


@pytest.mark.parametrize(
    ("code", "limits", "reason"),
    [
        ("import time\ntime.sleep(60)", SandboxLimits(seconds=0.2), "time"),
        ("import asyncio\nawait asyncio.sleep(60)", SandboxLimits(seconds=0.2), "time"),
        ("x = 'a' * 10 ** 9", SandboxLimits(), "memory"),
        ("x = 'a' * 50_000_000", SandboxLimits(memory_mb=20), "memory"),
        ("while True:\n    try:\n        nothing\n    except NameError:\n        pass", SandboxLimits(), "host_calls"),
    ],
)
async def test_each_limit_has_its_own_reason(
    monty: MontySandbox, code: str, limits: SandboxLimits, reason: str
) -> None:
    code = code.replace("nothing", "eval('nothing')")
    ended = await ran(monty, code, limits=limits)
    assert (ended.outcome, ended.reason) == ("stopped", reason), ended.message


async def test_an_error_that_looks_like_a_limit_is_the_codes_own(monty: MontySandbox) -> None:
    for raised in ("MemoryError('mine')", "RecursionError('mine')", "TimeoutError('mine')", "RuntimeError('mine')"):
        ended = await ran(monty, f"raise {raised}")
        assert (ended.outcome, ended.reason) == ("error", "exception")


@pytest.mark.parametrize("code", ["while True:\n    pass", "def f():\n    f()\nf()", "x = 'a' * 10 ** 9"])
async def test_a_process_in_which_code_was_stopped_is_not_used_again(monty: MontySandbox, code: str) -> None:
    await ran(monty, "result = 1")
    before = workers()
    await ran(monty, "result = 1")
    assert workers() == before
    assert (await ran(monty, code, limits=SandboxLimits(seconds=0.5))).outcome == "stopped"
    assert (await ran(monty, "result = 1")).value == 1
    assert not workers() & before


async def test_after_its_runs_an_interpreter_is_replaced_and_no_run_is_lost() -> None:
    """The process that holds the sessions may not start programs: it goes together with its interpreter."""
    others = workers()
    sandbox = MontySandbox(1, runs_per_process=3)
    await sandbox.start()
    seen = []
    for number in range(7):
        assert (await sandbox.run(SandboxRequest(f"result = {number}"))).value == number
        seen.append(workers() - others)
    await sandbox.close()
    assert seen[0] == seen[1]
    assert not seen[1] & seen[4]
    assert not seen[4] & seen[6]


async def test_closing_ends_a_run_that_is_under_way() -> None:
    sandbox = MontySandbox(1)
    await sandbox.start()
    running = asyncio.create_task(sandbox.run(SandboxRequest("while True:\n    pass")))
    await asyncio.sleep(0.1)
    async with asyncio.timeout(SandboxLimits().seconds / 2):
        await sandbox.close()
        ended = await running
        await sandbox.close()  # has nothing to wait for
    assert (ended.outcome, ended.reason) == ("stopped", "cancelled")


async def test_a_missing_interpreter_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("answerable.sandbox.monty.sandbox.binary", lambda: None)
    with pytest.raises(OperatorError, match="cannot run here") as caught:
        await MontySandbox(1).start()
    assert caught.value.stable_code == "sandbox_unavailable"


# Pauses

ASKING = """
print('before')
names = [row['name'] for row in people]
answer = grant(names[0], role='admin')
print('after')
result = [answer, names, fetch('/a')['path']]
"""
PEOPLE = [{"name": "Ada"}, {"name": "Bo"}]


async def paused_by(monty: MontySandbox, **asked: Any) -> Paused:
    ended = await monty.begin(SandboxRequest(ASKING, values={"people": PEOPLE}, host=HOST, **asked))
    assert isinstance(ended, Paused), ended
    return ended


async def test_a_call_that_needs_a_person_pauses_the_code(monty: MontySandbox) -> None:
    paused = await paused_by(monty)
    assert (paused.function, paused.args, dict(paused.kwargs)) == ("grant", ("Ada",), {"role": "admin"})
    assert paused.reason == "Ada would become admin"
    assert paused.output == "before\n"
    ended = await monty.resume(paused, SandboxRequest(ASKING, host=HOST), "done")
    assert isinstance(ended, SandboxResult)
    assert ended.value == ["done", ["Ada", "Bo"], "/a"]
    assert ended.output == "before\nafter\n"
    assert ended.resources.host_calls == 2


async def test_a_refusal_reaches_the_code(monty: MontySandbox) -> None:
    ended = await monty.resume(await paused_by(monty), SandboxRequest(ASKING, host=HOST), UserError("Not today."))
    assert isinstance(ended, SandboxResult)
    assert (ended.outcome, ended.reason) == ("error", "exception")
    assert "RuntimeError: Not today." in (ended.message or "")


async def test_what_was_used_before_the_pause_counts(monty: MontySandbox) -> None:
    paused = await paused_by(monty)
    limits = SandboxLimits(host_calls=1)
    ended = await monty.resume(paused, SandboxRequest(ASKING, host=HOST, limits=limits), "done")
    assert isinstance(ended, SandboxResult)
    assert (ended.outcome, ended.reason) == ("stopped", "host_calls")
    no_time = SandboxLimits(seconds=paused.seconds)
    ended = await monty.resume(paused, SandboxRequest(ASKING, host=HOST, limits=no_time), "done")
    assert isinstance(ended, SandboxResult)
    assert (ended.outcome, ended.reason) == ("stopped", "time")


async def test_code_can_pause_again(monty: MontySandbox) -> None:
    code = "result = [grant('a', 'r'), grant('b', 'r')]"
    ended = await monty.begin(SandboxRequest(code, host=HOST))
    for reply in ("one", "two"):
        assert isinstance(ended, Paused)
        ended = await monty.resume(ended, SandboxRequest(code, host=HOST), reply)
    assert isinstance(ended, SandboxResult)
    assert ended.value == ["one", "two"]


async def test_without_begin_nobody_is_waited_for(monty: MontySandbox) -> None:
    ended = await ran(monty, "grant('Ada', 'admin')")
    assert (ended.outcome, ended.reason) == ("error", "exception")
    assert "Ada would become admin" in (ended.message or "")


CONTINUES = """
import asyncio, json, pickle, sys
from answerable.sandbox.base import HostCalls, SandboxRequest
from answerable.sandbox.monty.sandbox import MontySandbox

async def fetch(path, count=1):
    return {"path": path + "!"}

async def main():
    sandbox = MontySandbox(1)
    await sandbox.start()
    paused = pickle.loads(sys.stdin.buffer.read())
    ended = await sandbox.resume(paused, SandboxRequest("", host=HostCalls({"fetch": fetch})), "elsewhere")
    await sandbox.close()
    print(json.dumps([ended.outcome, ended.value, ended.output]))

asyncio.run(main())
"""


async def test_another_process_goes_on_from_the_snapshot(monty: MontySandbox) -> None:
    paused = await paused_by(monty)
    done = await asyncio.to_thread(
        subprocess.run, [sys.executable, "-c", CONTINUES], input=pickle.dumps(paused), capture_output=True, timeout=60
    )
    assert done.returncode == 0, done.stderr.decode()
    assert json.loads(done.stdout) == ["ok", ["elsewhere", ["Ada", "Bo"], "/a!"], "before\nafter\n"]


# The loop


async def test_the_loop_goes_on_while_code_runs(monty: MontySandbox) -> None:
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            ticks += 1
            await asyncio.sleep(0.01)

    ticking = asyncio.create_task(tick())
    await ran(monty, "while True:\n    pass", limits=SandboxLimits(seconds=0.5))
    ticking.cancel()
    assert ticks > 5


async def test_nothing_of_the_environment_reaches_the_worker(monty: MontySandbox) -> None:
    await ran(monty, "result = 1")
    assert [worker.environ() for worker in workers()] == [{}]


@pytest.mark.skipif(sys.platform != "linux", reason="walls of the Linux kernel")
async def test_the_worker_is_behind_walls_and_the_result_names_them(monty: MontySandbox) -> None:
    result = await ran(monty, "result = 1")
    [worker] = workers()
    status = status_of(worker)
    assert "seccomp" in result.isolation["system"]
    assert "Seccomp:\t2" in status
    assert "NoNewPrivs:\t1" in status


def behind_walls(program: list[str], told: Path) -> subprocess.CompletedProcess[bytes]:
    found = shutil.which(program[0])
    assert found is not None
    command = [sys.executable, "-I", "-S", launch.__file__, str(told), os.path.realpath(found)]
    return subprocess.run([*command, *program[1:]], capture_output=True, check=False)


@pytest.mark.skipif(sys.platform != "linux", reason="walls of the Linux kernel")
@pytest.mark.parametrize(
    ("program", "seen"),
    [
        (["cat", "/usr/lib/os-release"], True),
        (["cat", "/etc/passwd"], False),
        (["ls", "/"], False),
        (["env", "/bin/true"], False),
    ],
    ids=["a-system-library", "a-file", "a-folder", "another-program"],
)
async def test_what_the_walls_of_a_worker_let_through(program: list[str], seen: bool, tmp_path: Path) -> None:
    """Other programs in the place of the interpreter try what it has no words for."""
    done = await asyncio.to_thread(behind_walls, program, tmp_path / "walls")
    if "Landlock" not in (tmp_path / "walls").read_text():
        pytest.skip("this kernel has no Landlock")
    assert (done.returncode == 0) is seen, done.stderr
