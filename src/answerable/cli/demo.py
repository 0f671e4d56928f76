"""`answerable demo`"""

import asyncio
import sys
from typing import TYPE_CHECKING

import click

from answerable.cli.output import progress, say, tell_answer, tell_json
from answerable.cli.session import principal

if TYPE_CHECKING:
    from answerable.settings import Settings


@click.command("demo")
@click.option("--no-serve", is_flag=True, help="Only answer the sample questions.")
@click.option("--port", type=click.IntRange(0, 65535), help="Port of the page; 8321 by default.")
@click.option("--json", "as_json", is_flag=True, help="Print the answers as one JSON array, and do not serve.")
def command(no_serve: bool, port: int | None, as_json: bool) -> None:
    """Answer sample questions on bundled data, then serve the page."""
    from answerable.settings import load_settings

    settings = load_settings(port=port, source="demo")
    asyncio.run(_answer_samples(settings, as_json))
    if no_serve or as_json:
        return
    from answerable.gateway.server import serve

    say(f"\nThe page is on http://{settings.host}:{settings.port}/ (Ctrl-C stops it).")
    # In a pipe the address would stay in the buffer for as long as the server runs.
    sys.stdout.flush()
    serve(settings, needs_token=not settings.is_local)


async def _answer_samples(settings: "Settings", as_json: bool) -> None:
    from answerable import demo
    from answerable.agents.question_request import QuestionRequest
    from answerable.app import open_service

    answers = []
    async with open_service(settings, any_location=False) as service:
        for question in demo.SAMPLE_QUESTIONS:
            with progress(question):
                answer = await service.questions.ask(QuestionRequest(question, ("demo",)), principal())
                answer = await service.answers.with_rows(answer, 10, principal())
            answers.append(answer)
            if not as_json:
                tell_answer(question, answer)
    if as_json:
        tell_json([answer.model_dump(mode="json") for answer in answers])
