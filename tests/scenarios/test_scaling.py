"""docs/scaling.md: the commands that it gives make a server and workers of two processes at one PostgreSQL."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from faults.forked_command import ForkedCommand
from faults.serving import free_port, started_server

PAGE = (Path(__file__).parents[2] / "docs" / "scaling.md").read_text(encoding="utf-8")
GRAPH = 'name: said\nnodes: {text: {kind: transform, template: "n is {{ input.n }}"}}\n'


def commands() -> dict[str, tuple[dict[str, str], list[str]]]:
    """The variables and arguments of each command of the page, by its name; what is exported holds for all of them."""
    shared: dict[str, str] = {}
    found: dict[str, tuple[dict[str, str], list[str]]] = {}
    for block in re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL):
        for line in block.splitlines():
            words = shlex.split(line, comments=True)
            if words[0] == "export":
                name, _, value = words[1].partition("=")
                shared[name] = value
                continue
            own = dict(word.split("=", 1) for word in words[: words.index("answerable")])
            arguments = words[words.index("answerable") + 1 :]
            found[arguments[0]] = ({**shared, **own}, arguments)
    return found


@pytest.fixture
def server(tmp_path: Path, postgres_url: str) -> Iterator[str]:
    """As the page says, with the store and the home of this test."""
    here = {"ANSWERABLE_HOME": str(tmp_path / "home"), "HOME": str(tmp_path), "ANSWERABLE_STORE": postgres_url}
    (variables, _), (of_worker, arguments) = commands()["serve"], commands()["worker"]
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    log = tmp_path / "log"
    started: list[ForkedCommand] = [
        started_server(url, "--port", str(port), environment={**variables, **here}, log=log)
    ]
    started += [ForkedCommand(arguments, cwd=tmp_path, env={**of_worker, **here}, out=log, err=log) for _ in range(2)]
    yield url
    for process in started:
        process.kill()
        process.wait()


@pytest.mark.timeout(120)
def test_a_run_that_a_server_stores_is_carried_out_by_a_worker(server: str) -> None:
    with httpx.Client(base_url=f"{server}/api/v1", timeout=60) as client:
        assert client.put("/graphs/said", json={"text": GRAPH}).status_code == 200
        run = client.post("/graphs/said/runs", json={"input": {"n": 7}}).json()["run_id"]
        with client.stream("GET", f"/runs/{run}/events") as events:
            assert any("run.finished" in line for line in events.iter_lines())
        assert client.get(f"/runs/{run}/nodes").json()["output"] == "n is 7"
