"""`answerable sandbox run`: files in, one JSON object out, and an exit code that a program can use."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

Answerable = Callable[..., Any]
ORDERS = {"region": ["North", "South", "North"], "amount": [10.5, 20.0, 7.0]}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    frame = pl.DataFrame(ORDERS)
    frame.write_csv(tmp_path / "orders.csv")
    frame.write_parquet(tmp_path / "orders.parquet")
    frame.write_ipc(tmp_path / "orders.arrow")
    frame.write_json(tmp_path / "orders.json")
    frame.write_ndjson(tmp_path / "orders.ndjson")
    return tmp_path


def test_frames_of_every_kind_of_file(folder: Path, answerable: Answerable) -> None:
    endings = ("csv", "parquet", "arrow", "json", "ndjson")
    (folder / "sums.py").write_text(f"result = [f['amount'].sum() for f in ({', '.join(endings)})]")
    inputs = [part for ending in endings for part in ("--input", f"{ending}=orders.{ending}")]
    done = answerable("sandbox", "run", "sums.py", *inputs, "--json")
    assert done.code == 0, done.err + done.out
    assert done.json["value"] == [37.5] * 5
    assert (done.json["outcome"], done.json["reason"], done.json["backend"]) == ("ok", None, "kernel")
    assert done.json["isolated"] is True
    assert done.json["resources"]["wall_ms"] > 0


def test_a_table_comes_back_with_its_columns(folder: Path, answerable: Answerable) -> None:
    code = "print('counting')\nresult = t.group_by('region').agg(pl.col('amount').sum()).sort('region')"
    arguments = ("sandbox", "run", "-", "--input", "t=orders.csv")
    done = answerable(*arguments, "--json", "--rows", "1", given=code)
    assert done.json["value"] == {
        "columns": [{"name": "region", "type": "text"}, {"name": "amount", "type": "number"}],
        "rows": [["North", 17.5]],
        "row_count": 2,
    }
    assert done.json["output"] == "counting\n"
    shown = answerable(*arguments, given=code)
    assert shown.code == 0
    assert [word for word in ("counting", "North", "17.5", "2 rows") if word not in shown.out] == []


@pytest.mark.parametrize(
    ("code", "arguments", "exit_code", "outcome", "reason"),
    [
        ("1 / 0", (), 1, "error", "exception"),
        ("while True: pass", ("--seconds", "0.5"), 1, "stopped", "time"),
        ("import socket", (), 4, "error", "policy"),
        ("x = (", (), 1, "error", "exception"),
    ],
)
def test_how_it_ended_is_in_the_exit_code(
    answerable: Answerable, code: str, arguments: tuple[str, ...], exit_code: int, outcome: str, reason: str
) -> None:
    done = answerable("sandbox", "run", "-", "--json", *arguments, given=code)
    assert (done.code, done.json["outcome"], done.json["reason"]) == (exit_code, outcome, reason)
    assert done.json["message"]


def test_people_are_told_what_went_wrong(answerable: Answerable) -> None:
    done = answerable("sandbox", "run", "-", given="print('before')\n1 / 0")
    assert (done.code, done.out) == (1, "before\n")
    assert done.err == "Error: ZeroDivisionError: division by zero (line 2) [exception]\n"


def test_another_backend_can_be_chosen(answerable: Answerable) -> None:
    done = answerable("sandbox", "run", "-", "--backend", "monty", "--json", given="result = 1 + 1")
    assert (done.json["value"], done.json["backend"]) == (2, "monty")


@pytest.mark.parametrize(
    ("arguments", "exit_code", "code"),
    [
        (("none.py",), 2, "code_unreadable"),
        (("-", "--backend", "chroot"), 2, "sandbox_unknown"),
        (("-", "--input", "t"), 2, "input_invalid"),
        (("-", "--input", "1t=orders.csv"), 2, "input_invalid"),
        (("-", "--input", "t=orders.doc"), 2, "input_invalid"),
        (("-", "--input", "t=none.csv"), 2, "input_missing"),
        (("-", "--input", "t=broken.parquet"), 2, "input_invalid"),
        (("-", "--backend", "docker"), 1, "sandbox_unavailable"),
    ],
)
def test_what_is_wrong_with_the_call_is_told(
    folder: Path, answerable: Answerable, arguments: tuple[str, ...], exit_code: int, code: str
) -> None:
    (folder / "broken.parquet").write_text("no parquet")
    env = {"DOCKER_HOST": f"unix://{folder}/none.sock"}
    done = answerable("sandbox", "run", *arguments, "--json", given="result = 1", env=env)
    assert (done.code, done.json["error"]["code"]) == (exit_code, code)
