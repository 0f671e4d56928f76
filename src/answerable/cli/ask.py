"""`answerable ask`"""

import asyncio
import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import click

from answerable.cli.output import exit_code, progress, progress_text, say, tell_answer, tell_json, write_whole
from answerable.cli.session import principal
from answerable.core.records import dataclass

if TYPE_CHECKING:
    from answerable.answers.answer import Answer
    from answerable.core.context import Principal
    from answerable.core.events import Event
    from answerable.core.ids import RunId, ThreadId
    from answerable.engine.steps.understand import Mode
    from answerable.service import Service
    from answerable.settings import Settings


@dataclass(frozen=True, slots=True)
class AskOptions:
    question: str
    plan: Path | None
    sources: tuple[str, ...]
    thread: str | None
    choice: int | None
    force: bool
    mode: "Mode"
    plan_only: bool
    output: Path | None
    rows: int
    as_json: bool
    as_user: str | None

    @property
    def principal(self) -> "Principal":
        return principal(self.as_user)


@click.command(
    "ask",
    epilog='Examples: answerable ask "revenue per month in 2025" --source demo; '
    'answerable ask "SQL: SELECT count(*) FROM orders" --source ./sales/; '
    "answerable ask 'PYTHON: result = orders.group_by(\"status\").len()' --source demo; "
    "answerable ask --plan steps.yaml",
)
@click.argument("question", required=False)
@click.option(
    "--plan",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Run the plan in this YAML file instead of asking.",
)
@click.option(
    "--source",
    "-s",
    "sources",
    multiple=True,
    help="A file, a folder, a database URL, a configured name, or `demo`; several for a question about all of them.",
)
@click.option("--thread", help="Continue this thread: follow-up questions refer to its last answer.")
@click.option("--choice", type=click.IntRange(min=1), help="Take this reading of the last question back in the thread.")
@click.option("--force", is_flag=True, help="Answer with the best reading even when unsure.")
@click.option(
    "--mode",
    type=click.Choice(["auto", "plan", "react"]),
    default="auto",
    help="auto: the reader if it is sure, else a model; plan: a model plans; react: a model explores.",
)
@click.option(
    "--plan-only", is_flag=True, help="Print the plan as YAML and run nothing; edit it and give it to --plan."
)
@click.option("--output", "-o", type=click.Path(dir_okay=False, path_type=Path), help="Write all rows to this file.")
@click.option("--rows", type=click.IntRange(min=0), help="Most rows to print; 20 for people, 10,000 for programs.")
@click.option("--as", "as_user", metavar="USER", help="Ask as this user of access.yaml would, and see what they see.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(as_json: bool, rows: int | None, **options: object) -> None:
    """Ask QUESTION in plain words, as `SQL: SELECT …`, `CYPHER: MATCH …` or `PYTHON: …`."""
    from answerable.settings import load_settings

    if (options["question"] is None) == (options["plan"] is None):
        raise click.UsageError("Give either a QUESTION or --plan FILE.")
    if options["plan"] and len(options["sources"]) > 1:  # type: ignore[arg-type]
        raise click.UsageError("The steps of a plan name their sources; --source is for those that name none.")

    options["question"] = options["question"] or ""
    most = rows if rows is not None else 10_000 if as_json else 20
    asked = AskOptions(as_json=as_json, rows=most, **options)  # type: ignore[arg-type]
    sys.exit(asyncio.run(_ask(load_settings(), asked)))


async def _ask(settings: "Settings", options: AskOptions) -> int:
    named = next(iter(options.sources), settings.source)
    sources = settings.open_sources(any_location=True, expect=(named, options.principal))
    try:
        # In a thread, so that the worker of the source starts meanwhile.
        app = await asyncio.to_thread(import_module, "answerable.app")
        listeners = () if options.as_json else (_load_rendering,)
        async with app.open_service(settings, any_location=True, sources=sources, listeners=listeners) as service:
            return await _carried_out(service, options)
    finally:
        await sources.close()


def _load_rendering(event: "Event") -> None:
    """Loads what shows the answer while the data is asked: this process only waits then."""
    if event.type == "step.output" and getattr(event, "channel", None) == "code":
        for module in ("answerable.answers.render", "rich.console", "rich.table"):
            asyncio.get_running_loop().run_in_executor(None, import_module, module)


async def _carried_out(service: "Service", options: AskOptions) -> int:
    if options.as_user is not None:
        service.access.acting_as(options.as_user, principal())
    thread = _thread(options)
    answer = await _answered(service, options, thread, options.choice)
    # Asks back only where a person sits at both ends; a program gets the choices and exit code 3.
    if (
        answer.status == "clarify"
        and answer.choices
        and not options.as_json
        and sys.stdin.isatty()
        and sys.stdout.isatty()
    ):
        tell_answer(options.question, answer)
        chosen = click.prompt("Which one", type=click.IntRange(1, len(answer.choices)))
        answer = await _answered(service, options, thread, chosen)
    if options.output is not None and answer.provenance.artifact is not None:
        await _write(service, answer, options)
    answer = await service.answers.with_rows(answer, options.rows, options.principal)
    if options.as_json:
        tell_json({**answer.model_dump(mode="json"), "thread_id": thread})
    elif options.plan_only and answer.kind == "text":
        say(answer.text, nl=False)
    else:
        tell_answer(options.question, answer, thread)
    return exit_code(answer)


async def _answered(service: "Service", options: AskOptions, thread: "ThreadId", choice: int | None) -> "Answer":
    with progress("Reading, then asking the data …") as show:
        run = await _begun(service, options, thread, choice)
        if show is not None:
            async for event in service.runs.events(run, options.principal):
                if text := progress_text(event):
                    show(text)
        return await service.runs.wait(run, options.principal)


async def _begun(service: "Service", options: AskOptions, thread: "ThreadId", choice: int | None) -> "RunId":
    from answerable.agents.question_request import QuestionRequest

    if options.plan is not None:
        source = next(iter(options.sources), None)
        document = _document(options.plan)
        return await service.questions.begin_query("plan", document, options.principal, source=source, thread=thread)
    request = QuestionRequest(
        options.question,
        options.sources,
        thread,
        choice,
        force=options.force,
        mode=options.mode,
        plan_only=options.plan_only,
    )
    return await service.questions.begin(request, options.principal)


def _document(path: Path) -> object:
    import yaml

    from answerable.core.errors import UserError

    try:
        return yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise UserError(f"{path} cannot be read: {error}", code="plan_invalid") from error


async def _write(service: "Service", answer: "Answer", options: AskOptions) -> None:
    from answerable.answers.export import export, format_of

    path = await service.answers.rows_path(answer, options.principal)
    assert options.output is not None
    write_whole(options.output, export(path, format_of(options.output)))


def _thread(options: AskOptions) -> "ThreadId":
    from answerable.core.errors import UserError
    from answerable.core.ids import ThreadId, is_thread_id, new_thread_id

    if options.thread is None:
        return new_thread_id()
    if not is_thread_id(options.thread):
        raise UserError(
            f"{options.thread!r} is not the id of a thread.",
            code="thread_invalid",
            hint="Each answer shows the id of its thread: thr_ and 24 characters.",
        )
    return ThreadId(options.thread)
