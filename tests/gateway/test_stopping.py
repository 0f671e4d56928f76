"""A server that is told to stop says so to everybody who waits, and its runs go on in the next one."""

import signal
import subprocess
import threading
import time
from pathlib import Path
from typing import Any

import httpx
from served import COMMAND, Server

SLOW = {"query_type": "python", "code": "x = 0\nfor i in range(3_000_000):\n    x += i\nresult = x"}


def running(client: httpx.Client) -> str:
    for _ in range(400):
        if runs := client.get("/runs", params={"status": "running"}).json()["runs"]:
            return str(runs[0]["run_id"])
        time.sleep(0.02)
    raise AssertionError("no run began")


def test_whoever_waits_hears_that_the_server_stops(own_server: Server) -> None:
    replies: list[httpx.Response] = []
    lines: list[str] = []
    with httpx.Client(base_url=f"{own_server.url}/api/v1", timeout=60) as client:
        asking = threading.Thread(target=lambda: replies.append(httpx.post(f"{client.base_url}runs", json=SLOW)))
        asking.start()
        run = running(client)
        with client.stream("GET", f"/runs/{run}/events") as stream:
            received = stream.iter_lines()
            lines.append(next(received))
            assert own_server.process is not None
            own_server.process.send_signal(signal.SIGTERM)
            lines += received
    asking.join(timeout=30)
    [reply] = replies
    problem = reply.json()
    assert (reply.status_code, problem["code"], problem["run_id"]) == (503, "server_stopping", run)
    assert int(reply.headers["Retry-After"]) > 0
    assert "event: stream.interrupted" in lines
    own_server.process.wait(timeout=20)
    own_server.start()
    assert ended(own_server.url, run) == "done"


def ended(url: str, run: str) -> Any:
    for _ in range(400):
        state = httpx.get(f"{url}/api/v1/runs/{run}/status", timeout=20).json()
        if state["finished"]:
            return state["status"]
        time.sleep(0.05)
    raise AssertionError(f"{run} was left")


def serve(tmp_path: Path, *arguments: str, **environment: str) -> str:
    """What a server that cannot start says."""
    env = {"HOME": str(tmp_path), "ANSWERABLE_HOME": str(tmp_path / "h"), "PATH": "/usr/bin:/bin", **environment}
    done = subprocess.run([COMMAND, "serve", *arguments], env=env, capture_output=True, text=True, timeout=60)
    assert done.returncode != 0
    assert "Traceback" not in done.stderr.split("Error:")[-1]
    return done.stderr


def test_every_failed_start_has_its_own_reason(server: Server, tmp_path: Path) -> None:
    taken = serve(tmp_path, "--port", str(server.port))
    assert "Another program listens on" in taken
    elsewhere = serve(tmp_path, "--host", "192.0.2.1", "--port", "0")
    assert "no address 192.0.2.1" in elsewhere
    damaged = tmp_path / "damaged.db"
    damaged.write_bytes(b"this is no database, and it is long enough to be read as one" * 100)
    store = serve(tmp_path, "--port", "0", ANSWERABLE_STORE=str(damaged))
    assert "damaged.db" in store
    assert "port" not in store.split("damaged.db", 1)[1].lower()
