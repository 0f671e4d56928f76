"""Text from data is shown on a terminal; it never commands one."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from answerable.core.terminal import printable

Answerable = Callable[..., Any]
HOSTILE = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202eevil"


@pytest.mark.parametrize("code", [*range(32), 127, *range(128, 160), 0x202E, 0x2066, 0xD800])
def test_no_control_character_is_printed(code: int) -> None:
    shown = printable(f"a{chr(code)}b")
    assert shown == (f"a{chr(code)}b" if chr(code) in "\n\t" else "a·b")


def test_commands_print_data_as_text(answerable: Answerable, tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "people.db")) as database:
        database.execute(f'CREATE TABLE people (name TEXT, "{HOSTILE} x" TEXT)')
        database.executemany("INSERT INTO people VALUES (?, ?)", [("Ana", HOSTILE), (HOSTILE, "b")])
        database.commit()
    assert answerable("sources", "add", "people.db").code == 0
    code = f"print({HOSTILE!r})\nresult = {HOSTILE!r}"
    for arguments, given in (
        (("sources", "show", "people"), None),
        (("sources", "rows", "people", "people"), None),
        (("sources", "statistics", "people", "people"), None),
        (("ask", "SQL: SELECT * FROM people", "-s", "people"), None),
        (("sandbox", "run", "-"), code),
        (("sandbox", "run", "-"), f"raise ValueError({HOSTILE!r})"),
        (("sources", "show", HOSTILE), None),
    ):
        done = answerable(*arguments, given=given) if given else answerable(*arguments)
        assert [mark for mark in "\x1b\x07\x9b\u202e" if mark in done.out + done.err] == [], arguments
