"""The first requests of a server, in a process that has loaded nothing yet: prints, for each, the most processor time
that one callback of the event loop took, as JSON."""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import httpx
from event_loop_lag import watched_turns

from answerable.gateway.app import create_app
from answerable.settings import load_settings

FIRST = {
    "question": "total revenue by city",
    "program": "PYTHON: result = [{'a': 1}]",
    "query": "SQL: SELECT count(*) AS n FROM orders",
}


async def main(home: str) -> None:
    app = create_app(load_settings(home=Path(home)))
    longest: dict[str, float] = {}
    async with app.router.lifespan_context(app):
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1", timeout=60) as client:
            await client.get("/healthz")  # FastAPI builds its routes
            for name, message in FIRST.items():
                with watched_turns() as turns:
                    reply = await client.post("/api/v1/chat", json={"message": message, "source": "demo"})
                answer: dict[str, Any] = reply.json()
                assert answer["status"] == "done", answer
                longest[name] = max(turns)
    print(json.dumps(longest))


asyncio.run(main(sys.argv[1]))
