"""Two servers at one PostgreSQL: each steers what the other does, PostgreSQL restarts, and one server is killed."""

import asyncio
import secrets
import time

import httpx

from faults.load import Load
from faults.postgres import own_postgres
from faults.server import Room, Server
from faults.stock import Stock
from faults.stocktaking import take_stock
from faults.work import SOURCE, Door

ROUNDS = 5
ADOPTED_SECONDS = 10.0
AWAY_SECONDS = 1.0
LONG_PROGRAM = "PYTHON: import time; time.sleep(25); result = {number}"
"""Takes longer than the script looks at it, and leaves the processor to the servers."""
ASKS_FIRST = """
name: asks_first
nodes:
  ok: {kind: approval, prompt: Go on?}
  said: {kind: transform, template: "{{ ok.decision }}", after: [ok]}
"""


async def harmed(room: Room, rounds: int) -> Stock:
    with own_postgres() as postgres:
        one, other = (room.serve(ANSWERABLE_STORE=postgres.url) for _ in range(2))
        load = Load([one, other])
        async with load.under_way():
            for number in range(rounds):
                await load.more(4)
                await _share(one, other, number, load.stock)
                await postgres.stop()
                await asyncio.sleep(AWAY_SECONDS)
                await postgres.start()
                await load.more(4)
                await _kill_and_adopt(one, other, number, load.stock)
                await asyncio.to_thread(one.start)
                one, other = other, one
            await load.more(4)
        return await take_stock(load, room, postgres.url)


async def _share(one: Server, other: Server, number: int, stock: Stock) -> None:
    """What is done at one server is seen, followed and steered at the other."""
    async with _api(one) as here, _api(other) as there:
        at_one, at_other = Door([here]), Door([there])
        await at_one.acknowledged("POST", "/uploads", params={"name": f"shared{number}.csv"}, content=b"id\n1\n2\n")
        question = {"message": f"SQL: SELECT count(*) AS n FROM shared{number}", "source": f"shared{number}"}
        reply = (await at_other.acknowledged("POST", "/chat", json=question)).json()
        if reply["rows"] != [[2]]:
            stock.lost.append(f"the source shared{number} is not known to the other server: {reply['text'][:200]}")
        run = await _long_run(here, 2 * number)
        began = time.monotonic()
        await at_other.acknowledged("POST", f"/runs/{run}/cancel")
        status = (await at_one.json(f"/runs/{run}/status"))["status"]
        if status != "cancelled":
            stock.stuck.append(f"{run} was cancelled at the other server and is {status}")
        if time.monotonic() - began > ADOPTED_SECONDS:
            stock.stuck.append(f"{run} took {time.monotonic() - began:.0f} s to be cancelled")
        await _decide(at_one, at_other, stock)


async def _decide(at_one: Door, at_other: Door, stock: Stock) -> None:
    """An approval that a run asks for at one server is given at the other, and the run goes on."""
    started = await at_one.acknowledged("POST", "/graphs/run", secrets.token_hex(8), json={"text": ASKS_FIRST})
    run = started.json()["run_id"]
    if await _reached(at_other, run, "waiting", stock):
        decision = {"step": "ok", "approved": True}
        await at_other.acknowledged("POST", f"/runs/{run}/approvals", secrets.token_hex(8), json=decision)
        if await _reached(at_one, run, "done", stock):
            said = (await at_one.json(f"/runs/{run}/nodes"))["nodes"]["said"]["output"]
            if said != "approve":
                stock.lost.append(f"{run}: the decision at the other server became {said!r}")


async def _reached(door: Door, run: str, wanted: str, stock: Stock) -> bool:
    until = time.monotonic() + ADOPTED_SECONDS
    while time.monotonic() < until:
        status = (await door.json(f"/runs/{run}/status"))["status"]
        if status == wanted:
            return True
        await asyncio.sleep(0.1)
    stock.stuck.append(f"{run} is {status}, and not {wanted}, after {ADOPTED_SECONDS:.0f} s")
    return False


async def _kill_and_adopt(one: Server, other: Server, number: int, stock: Stock) -> None:
    """The run of a server that is killed goes on at the other one, and those who follow it there see that."""
    async with _api(one) as here:
        run = await _long_run(here, 2 * number + 1)
    one.kill()
    async with _api(other) as there:
        try:
            async with asyncio.timeout(ADOPTED_SECONDS):
                await _resumed(there, run)
        except TimeoutError:
            stock.stuck.append(f"{run} was not adopted within {ADOPTED_SECONDS:.0f} s")
        await Door([there]).acknowledged("POST", f"/runs/{run}/cancel")


async def _resumed(client: httpx.AsyncClient, run: str) -> None:
    async with client.stream("GET", f"/runs/{run}/events") as reply:
        async for line in reply.aiter_lines():
            if line == "event: run.resumed":
                return


async def _long_run(client: httpx.AsyncClient, number: int) -> str:
    """Begins a run that does not end while the script looks at it. No two of a script have the same number."""
    body = {"message": LONG_PROGRAM.format(number=100_000 + number), "source": SOURCE}
    while True:
        async with client.stream("POST", "/chat/stream", json=body) as reply:
            if reply.is_success:
                async for line in reply.aiter_lines():
                    if line == "event: step.started":
                        return str(reply.headers["x-run-id"])
        await asyncio.sleep(0.1)


def _api(server: Server) -> httpx.AsyncClient:
    return httpx.AsyncClient(base_url=f"{server.url}/api/v1", timeout=60)
