"""Programs over HTTP: as a message, as a query, as a step of a plan; and nothing of them outlives the server."""

import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx

PLAN = {
    "steps": [
        {"id": "everybody", "tool": "sql", "code": "SELECT id, name, city FROM people"},
        {"id": "cities", "tool": "sql", "code": "SELECT city, count(*) AS people FROM people GROUP BY city"},
        {
            "id": "named",
            "tool": "python",
            "after": ["everybody", "cities"],
            "code": "result = everybody.join(cities, on='city').sort('id').select('name', 'people')",
        },
    ]
}


def test_a_message_can_be_a_program(api: httpx.Client) -> None:
    message = "PYTHON: result = people.filter(pl.col('city') == 'Berlin').height"
    reply = api.post("/chat", json={"message": message, "source": "small"})
    assert reply.status_code == 200, reply.text
    assert reply.json()["rows"] == [[2]]
    assert reply.json()["kind"] == "value"


def test_a_plan_step_works_on_two_earlier_results(api: httpx.Client) -> None:
    reply = api.post("/runs", json={"query_type": "plan", "code": PLAN, "source": "small"})
    assert reply.status_code == 200, reply.text
    assert reply.json()["rows"] == [["Ana", 2], ["Bo", 1], ["Cy", 2]]
    assert [step["id"] for step in reply.json()["steps"]] == ["everybody", "cities", "named"]


def test_what_a_program_prints_is_an_event(api: httpx.Client, sse: Any) -> None:
    body = {"query_type": "python", "code": "print('so far'); result = 1", "source": "small"}
    run = api.post("/runs", json=body).json()["run_id"]
    with api.stream("GET", f"/runs/{run}/events") as stream:
        printed = [e.data["data"] for e in sse(stream.iter_lines()) if e.data.get("channel") == "printed"]
    assert printed == ["so far\n"]


def test_a_program_that_fails_says_where(api: httpx.Client) -> None:
    reply = api.post("/runs", json={"query_type": "python", "code": "x = 1\nresult = x / 0", "source": "small"}).json()
    assert reply["provenance"]["error"]["code"] == "python_failed"
    assert "line 2" in reply["text"]


def test_killing_the_server_leaves_no_program_behind(own_server: Any) -> None:
    def forever() -> None:
        with suppress(httpx.TransportError):
            body = {"query_type": "python", "code": "while True: pass", "source": "small"}
            httpx.post(f"{own_server.url}/api/v1/runs", json=body, timeout=60)

    threading.Thread(target=forever, daemon=True).start()
    descendants = _until(lambda: [pid for pid in _descendants(own_server.process.pid) if _is_busy(pid)])
    everyone = _descendants(own_server.process.pid)
    assert descendants
    own_server.kill()
    assert _until(lambda: not [pid for pid in everyone if _lives(pid)])


def _until(found: Any, seconds: float = 40.0) -> Any:
    end = time.monotonic() + seconds
    while not (value := found()) and time.monotonic() < end:
        time.sleep(0.1)
    return value


def _descendants(pid: int) -> list[int]:
    with suppress(OSError):
        children = [
            int(child)
            for task in Path(f"/proc/{pid}/task").iterdir()
            for child in (task / "children").read_text().split()
        ]
        return [each for child in children for each in (child, *_descendants(child))]
    return []


def _is_busy(pid: int) -> bool:
    """Has computed for half a second, and is computing now."""
    with suppress(OSError):
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return fields[0] == "R" and int(fields[11]) > 50
    return False


def _lives(pid: int) -> bool:
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False
