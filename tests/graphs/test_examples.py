"""The examples of docs/graphs.md, run as they stand there."""

import re
import shlex
from pathlib import Path
from typing import Any

import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "graphs.md").read_text()
EXAMPLES = {
    match["file"]: (match["graph"], match["commands"])
    for match in re.finditer(
        r"```yaml\n(?P<graph># (?P<file>\S+)\n.*?)```\n\n```sh\n(?P<commands>.*?)```", PAGE, re.DOTALL
    )
}
OUTPUTS: dict[str, Any] = {
    "regions.graph.yaml": "2 regions; the best is South with 20.0.",
    "check.graph.yaml": "1 small orders.",
    "letters.graph.yaml": "Dear North, your bonus is 1.75.",
    "growth.graph.yaml": "17 years",
    "brief.graph.yaml": "Rates: unknown.",
    "send.graph.yaml": "Sent by local: Hello Ada, your order is on its way.",
}


def test_there_are_six() -> None:
    assert list(EXAMPLES) == list(OUTPUTS)


@pytest.mark.parametrize("file", EXAMPLES)
def test_an_example_runs(file: str, answerable: Any, tmp_path: Path) -> None:
    graph, commands = EXAMPLES[file]
    (tmp_path / file).write_text(graph)
    (tmp_path / "sales").mkdir()
    (tmp_path / "sales" / "orders.csv").write_text("id,region,amount\n1,North,10.5\n2,South,20\n3,North,7\n")
    run, last = "", None
    for line in commands.splitlines():
        command, _, expected = line.partition("# exit ")
        words = [run if word == "RUN" else word for word in shlex.split(command)[1:]]
        last = answerable(*words)
        assert last.code == int(expected or 0), last.out + last.err
        run = next(iter(re.findall(r"run_\w+", last.err)), run)
    assert last is not None
    assert OUTPUTS[file] in last.out
