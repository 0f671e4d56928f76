"""The exit code of every command, against the table of docs/commands.md."""

import gc
import inspect
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from answerable.cli.main import cli

COMMANDS_PAGE = Path(__file__).parents[2] / "docs" / "commands.md"
CALLED = re.compile(r"\b(_\w+)\(")


@pytest.fixture(autouse=True)
def garbage() -> Iterator[None]:
    """A command that is loaded changes how often garbage is looked for."""
    before = gc.get_threshold()
    yield
    gc.set_threshold(*before)


def commands(of: click.Command = cli, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Every command that runs, with the words that name it."""
    if isinstance(of, click.Group):
        context = click.Context(of)
        for name in of.list_commands(context):
            found = of.get_command(context, name)
            assert found is not None
            yield from commands(found, (*path, name))
    else:
        yield path, of


def chooses_its_code(command: click.Command) -> bool:
    """Whether its function, or one of the same module that it calls, ends the process with a code of its own."""
    assert command.callback is not None
    waiting: list[Callable[..., Any]] = [inspect.unwrap(command.callback)]
    seen: set[object] = set()
    while waiting:
        function = waiting.pop()
        seen.add(function)
        source = inspect.getsource(function)
        if "sys.exit(" in source:
            return True
        called = (function.__globals__.get(name) for name in CALLED.findall(source))
        waiting += [one for one in called if inspect.isfunction(one) and one not in seen]
    return False


def test_the_table_names_every_command_with_codes_of_its_own() -> None:
    section = COMMANDS_PAGE.read_text().partition("## Exit codes\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (`.+?) \| (.+) \|$", section, re.MULTILINE)
    documented = [name for names, _codes in rows for name in re.findall(r"`([^`]+)`", names)]
    chosen = [" ".join(path) for path, found in commands() if chooses_its_code(found)]
    assert sorted(documented) == sorted(chosen)


def test_help_exits_with_0_and_wrong_usage_with_2() -> None:
    runner = CliRunner()
    codes = {
        " ".join(path): tuple(runner.invoke(cli, [*path, word]).exit_code for word in ("--help", "--no-such-option"))
        for path, _found in commands()
    }
    assert len(codes) > 50
    assert {name: found for name, found in codes.items() if found != (0, 2)} == {}
