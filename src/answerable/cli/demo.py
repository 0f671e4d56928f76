"""`answerable demo`"""

import asyncio
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import click

from answerable.cli.output import progress, say, tell_answer, tell_json
from answerable.cli.session import principal

if TYPE_CHECKING:
    from answerable.core.progress import Progress
    from answerable.okta.demo import DemoTenant
    from answerable.okta.sync.run import SyncRecord
    from answerable.service import Service
    from answerable.settings import Settings

_ROWS = 10


@click.command("demo")
@click.argument("which", type=click.Choice(["company", "okta", "access"]), default="company")
@click.option("--no-serve", is_flag=True, help="Only answer the sample questions.")
@click.option("--port", type=click.IntRange(0, 65535), help="Port of the page; 8321 by default.")
@click.option("--users", type=click.IntRange(10, 100_000), default=300, show_default=True, help="With okta.")
@click.option("--json", "as_json", is_flag=True, help="Print the answers as one JSON array, and do not serve.")
def command(which: str, no_serve: bool, port: int | None, users: int, as_json: bool) -> None:
    """Answer sample questions on bundled data, then serve the page.

    `demo okta` simulates an Okta tenant on this machine, syncs it, and answers questions of identity teams.
    `demo access` lets three people ask the same questions, and each gets the answer of what they may see.
    """
    if which == "access":
        asyncio.run(_three_people(as_json))
        return
    if which == "okta":
        _okta(no_serve, port, users, as_json)
        return
    from answerable import demo
    from answerable.settings import load_settings

    settings = load_settings(port=port, source="demo")
    asyncio.run(_answer_samples(settings, "demo", demo.SAMPLE_QUESTIONS, as_json))
    if not (no_serve or as_json):
        _serve(settings)


def _okta(no_serve: bool, port: int | None, users: int, as_json: bool) -> None:
    from answerable.okta.demo import SOURCE, demo_tenant
    from answerable.settings import load_settings

    with demo_tenant(users) as tenant:
        if not as_json:
            say(f"Okta with {users:,} users is simulated on {tenant.url}.")
        records = asyncio.run(_sync_demo(load_settings(port=port, source="demo"), tenant))
        if not as_json:
            for record in records:
                figures = f"{record.added or 0} added, {record.changed or 0} changed, {record.removed or 0} removed"
                say(f"Synced ({record.kind}): {record.rows or 0:,} rows on {record.pages or 0:,} pages; {figures}.")
        settings = load_settings(port=port, source=SOURCE)
        asyncio.run(_answer_samples(settings, SOURCE, tenant.questions, as_json))
        if not (no_serve or as_json):
            _serve(settings)


async def _sync_demo(settings: "Settings", tenant: "DemoTenant") -> "list[SyncRecord]":
    """Syncs the simulated tenant, lets it change, and syncs what has changed. What an earlier demo has left is removed
    first: its tenant is gone."""
    from answerable.app import open_service
    from answerable.okta.demo import SOURCE, TOKEN_FROM

    async with open_service(settings, any_location=True) as service:
        if service.okta.is_synced(SOURCE, principal()):
            await service.okta.remove(SOURCE, principal())
        with progress(f"Syncing {SOURCE} …") as show:

            async def synced(service: "Service") -> "SyncRecord":
                return await service.okta.sync(
                    SOURCE, principal(), url=tenant.url, token_from=TOKEN_FROM, progress=_reporting(show)
                )

            first = await synced(service)
            tenant.let_change()
            return [first, await synced(service)]


def _reporting(show: Callable[[str], None] | None) -> "Progress":
    def report(message: str, done: float | None, total: float | None) -> None:
        if show is not None:
            show(f"{message} … {done or 0:,.0f} of {total or 0:,.0f} lists")

    return report


def _serve(settings: "Settings") -> None:
    from answerable.gateway.server import serve

    say(f"\nThe page is on http://{settings.host}:{settings.port}/ (Ctrl-C stops it).")
    # In a pipe the address would stay in the buffer for as long as the server runs.
    sys.stdout.flush()
    serve(settings, needs_token=not settings.is_local)


async def _three_people(as_json: bool) -> None:
    """The rules are those of docs/access.md, in a home folder of their own: in the user's they would begin to hold."""
    import shutil

    from answerable import demo
    from answerable.agents.question_request import QuestionRequest
    from answerable.app import open_service
    from answerable.core.context import person
    from answerable.isolation.own_folder import scratch_folder
    from answerable.settings import Settings

    answers = []
    with scratch_folder() as home:
        shutil.copy(demo.access_rules(), home / "access.yaml")
        async with open_service(Settings(home=home), any_location=False) as service:
            for question in demo.ACCESS_QUESTIONS:
                for name, user in (await service.access.show(principal())).users.items():
                    answer = await service.questions.ask(QuestionRequest(question, ("demo",)), person(name))
                    answers.append({"user": name, **answer.model_dump(mode="json")})
                    if not as_json:
                        sees = " or ".join(value for values in user.attributes.values() for value in values)
                        tell_answer(
                            f"{name} ({', '.join((*user.roles, sees) if sees else user.roles)}): {question}", answer
                        )
    if as_json:
        tell_json(answers)
    else:
        say(f"The rules are in {demo.access_rules()}; docs/access.md explains them.")


async def _answer_samples(settings: "Settings", source: str, questions: Sequence[str], as_json: bool) -> None:
    from answerable.agents.question_request import QuestionRequest
    from answerable.app import open_service

    answers = []
    async with open_service(settings, any_location=False) as service:
        for question in questions:
            with progress(question):
                answer = await service.questions.ask(QuestionRequest(question, (source,)), principal())
                answer = await service.answers.with_rows(answer, _ROWS, principal())
            answers.append(answer)
            if not as_json:
                tell_answer(question, answer)
    if as_json:
        tell_json([answer.model_dump(mode="json") for answer in answers])
