"""Answerable in scripts and notebooks. The same service as the command line and the server, in the caller's process.

The service lives on an event loop of its own, in a thread of its own, so that it can be asked from plain functions,
from coroutines, and from notebooks whose own loop is running already.
"""

import asyncio
import threading
import weakref
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import AsyncExitStack
from inspect import isasyncgen, isawaitable, signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

from answerable.agents.question_request import QuestionRequest
from answerable.answers.answer import Answer, Choice
from answerable.app import open_service
from answerable.core.catalog import Catalog
from answerable.core.context import LOCAL, Principal
from answerable.core.errors import UserError, restored
from answerable.core.ids import ThreadId, new_thread_id
from answerable.core.values import OutputColumn
from answerable.service import Service
from answerable.settings import Settings, load_settings

if TYPE_CHECKING:
    import pandas
    import polars

    from answerable.library_verbs import (
        AgentVerbs,
        AnswerVerbs,
        ComparisonVerbs,
        EvalVerbs,
        GraphVerbs,
        KeyVerbs,
        LearningVerbs,
        NameVerbs,
        OktaVerbs,
        ProgramVerbs,
        QuestionVerbs,
        RowVerbs,
        RunVerbs,
        ScheduleVerbs,
        SetupVerbs,
        SourceVerbs,
        SuggestionVerbs,
        ThreadVerbs,
    )

T = TypeVar("T")


def _principal() -> Principal:
    """The person whose program this is: the one local user until identities are configured."""
    return LOCAL


class Answerable:
    """One source, or several, and one conversation about it.

    A source is a file, a folder, a database URL, a configured name, or `demo`. Follow-up questions refer to the last
    answer; `forget()` starts a new conversation.
    """

    def __init__(self, source: str | Path = "demo", *more: str | Path, home: str | Path | None = None) -> None:
        self._sources = (str(source), *map(str, more))
        self._thread = new_thread_id()
        self._host = _Host(load_settings(home=home))
        self._close = weakref.finalize(self, self._host.close)

    def ask(self, question: str, *, choice: int | None = None, force: bool = False) -> "Result":
        """Asks and waits. Raises the typed error of a run that failed."""
        return self._host.wait(self._asked(question, choice, force))

    async def ask_async(self, question: str, *, choice: int | None = None, force: bool = False) -> "Result":
        return await self._host.awaited(self._asked(question, choice, force))

    def sql(self, statement: str) -> "Result":
        """Runs a SELECT statement through the same checks, limits and records."""
        return self.ask(f"SQL: {statement}")

    def catalog(self) -> Catalog:
        """The tables, columns and relationships as they were understood."""
        return self._host.wait(self._described())

    @property
    def agents(self) -> "AgentVerbs":
        """Prompts for a language model, each a folder: `list`, `show`, `run`."""
        return cast("AgentVerbs", Verbs(self._host, "agents"))

    @property
    def learning(self) -> "LearningVerbs":
        """`learn` lets a model write names and questions of a source, checks them, and proposes a semantic.yaml."""
        return cast("LearningVerbs", Verbs(self._host, "learning"))

    @property
    def runs(self) -> "RunVerbs":
        """Recorded runs: `list`, `get`, `answer`, `events`, `timeline`, `cancel`, `decide`, `wait`."""
        return cast("RunVerbs", Verbs(self._host, "runs"))

    @property
    def questions(self) -> "QuestionVerbs":
        """`retry` asks a recorded question once more; `explain` shows how a question is read."""
        return cast("QuestionVerbs", Verbs(self._host, "questions"))

    @property
    def answers(self) -> "AnswerVerbs":
        """`replay` runs the steps of an answer again; `freshness` says whether its data has changed."""
        return cast("AnswerVerbs", Verbs(self._host, "answers"))

    @property
    def rows(self) -> "RowVerbs":
        """The rows of a recorded answer: `page`, `part`, `totals`, `export`, `file`."""
        return cast("RowVerbs", Verbs(self._host, "rows"))

    @property
    def comparisons(self) -> "ComparisonVerbs":
        """Two runs side by side: `compare`, `export_differences`."""
        return cast("ComparisonVerbs", Verbs(self._host, "comparisons"))

    @property
    def threads(self) -> "ThreadVerbs":
        """Conversations: `list`, `get`, `messages`, `change`, `share`, `unshare`, `fork`, `delete`, `restore`."""
        return cast("ThreadVerbs", Verbs(self._host, "threads"))

    @property
    def sources(self) -> "SourceVerbs":
        """Sources by name: `list`, `add`, `upload`, `remove`, `sync`, `wait`, `describe`, `preview`, `statistics`."""
        return cast("SourceVerbs", Verbs(self._host, "sources"))

    @property
    def names(self) -> "NameVerbs":
        """What is said about a source: `read`, `edit`, `rewrite`, `history`, `undo`."""
        return cast("NameVerbs", Verbs(self._host, "semantic"))

    @property
    def okta(self) -> "OktaVerbs":
        """Tenants of Okta: `sync`, `history`, `remove`; `report` answers a report about a synced tenant."""
        return cast("OktaVerbs", Verbs(self._host, "okta"))

    @property
    def suggestions(self) -> "SuggestionVerbs":
        """`questions` gives a few questions that a source can answer."""
        return cast("SuggestionVerbs", Verbs(self._host, "suggestions"))

    @property
    def evals(self) -> "EvalVerbs":
        """Golden cases: `suites`, `suite`, `case`, `add_case`, `remove_case`, `measure`, `wait`, `measurements`; wrong
        answers: `call_wrong`, `wrong_answers`, `take_back`, `judgement`."""
        return cast("EvalVerbs", Verbs(self._host, "evals"))

    @property
    def graphs(self) -> "GraphVerbs":
        """Drawn graphs: `validate`, `save`, `list`, `show`, `diff`, `rollback`, `begin`, `wait`, `runs`."""
        return cast("GraphVerbs", Verbs(self._host, "graphs"))

    @property
    def schedules(self) -> "ScheduleVerbs":
        """When graphs run by themselves: `add`, `list`, `remove`."""
        return cast("ScheduleVerbs", Verbs(self._host, "schedules"))

    @property
    def programs(self) -> "ProgramVerbs":
        """`run` runs Python in a sandbox."""
        return cast("ProgramVerbs", Verbs(self._host, "programs"))

    @property
    def keys(self) -> "KeyVerbs":
        """Keys with which programs ask as somebody: `add`, `list`, `rotate`, `revoke`, `revoke_all`."""
        return cast("KeyVerbs", Verbs(self._host, "keys"))

    @property
    def setup(self) -> "SetupVerbs":
        """How Answerable is set up: `models`, `check_models`, `agents`, `settings`, `usage`, `doctor`, `about`."""
        return cast("SetupVerbs", Verbs(self._host, "setup"))

    def forget(self) -> None:
        self._thread = new_thread_id()

    def close(self) -> None:
        self._close()

    def __enter__(self) -> "Answerable":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def _asked(self, question: str, choice: int | None, force: bool) -> "Result":
        service = await self._host.service()
        thread = ThreadId(self._thread)
        answer = await service.questions.ask(
            QuestionRequest(question, self._sources, thread, choice, force), _principal()
        )
        error = answer.provenance.error
        if error is not None and answer.kind != "refusal":
            raise restored(error.kind, error.code, error.message, error.hint)
        artifact = answer.provenance.artifact
        path = await service.answers.rows_path(answer, _principal()) if artifact else None
        return Result(answer, path)

    async def _described(self) -> Catalog:
        service = await self._host.service()
        return await service.sources.describe(self._sources[0], _principal(), *self._sources[1:])


class Result:
    """An answer with its rows at hand."""

    def __init__(self, answer: Answer, path: Path | None) -> None:
        self.answer = answer
        self._path = path

    @property
    def text(self) -> str:
        return self.answer.text

    @property
    def kind(self) -> str:
        return self.answer.kind

    @property
    def columns(self) -> tuple[OutputColumn, ...]:
        return self.answer.columns

    @property
    def row_count(self) -> int:
        return self.answer.row_count

    @property
    def choices(self) -> tuple[Choice, ...]:
        """The readings to choose from when `kind` is `clarify`."""
        return self.answer.choices

    @property
    def sql(self) -> str | None:
        """The last program that ran."""
        return next((step.code for step in reversed(self.answer.steps) if step.code), None)

    @property
    def value(self) -> Any:
        """The single value of an answer of kind `value`."""
        if self.answer.kind != "value":
            raise UserError(f"This answer is a {self.answer.kind}, not a single value.", code="not_a_value")
        return self.answer.rows[0][0]

    def to_polars(self) -> "polars.DataFrame":
        """All rows, however many there are."""
        import polars

        if self._path is None:
            raise UserError(f"This answer is a {self.answer.kind} and has no rows.", code="no_rows")
        return polars.read_ipc(self._path)

    def to_pandas(self) -> "pandas.DataFrame":
        try:
            return self.to_polars().to_pandas()
        except ModuleNotFoundError as error:
            raise UserError(
                f"to_pandas() needs {error.name}, which is not installed.",
                code="extra_missing",
                hint="Install it with: pip install 'answerable[pandas]'",
            ) from error

    def __repr__(self) -> str:
        from answerable.answers.render import to_text

        return to_text(self.answer)

    def _repr_html_(self) -> str:
        from answerable.answers.render import to_html

        return to_html(self.answer)


class Verbs:
    """The verbs of one noun of the service (`answerable/service/`), called for the person whose program this is.

    A verb takes the arguments of the service's verb without `principal`, waits, and returns its result. A stream of
    events becomes a plain iterator. `scripts/library_types.py` writes the types down for editors and type checkers.
    """

    def __init__(self, host: "_Host", noun: str) -> None:
        self._host = host
        self._noun = noun

    def __getattr__(self, verb: str) -> Callable[..., Any]:
        if verb.startswith("_"):
            raise AttributeError(verb)

        async def act(*arguments: Any, **named: Any) -> Any:
            noun = getattr(await self._host.service(), self._noun)
            result = _called(getattr(noun, verb), arguments, named)
            return await result if isawaitable(result) else result

        def call(*arguments: Any, **named: Any) -> Any:
            result = self._host.wait(act(*arguments, **named))
            return self._iterated(result) if isasyncgen(result) else result

        return call

    def _iterated(self, stream: AsyncIterator[Any]) -> Iterator[Any]:
        async def following() -> Any:
            return await anext(stream, _END)

        while (each := self._host.wait(following())) is not _END:
            yield each

    def __dir__(self) -> list[str]:
        async def names() -> list[str]:
            return [name for name in dir(getattr(await self._host.service(), self._noun)) if not name.startswith("_")]

        return self._host.wait(names())


def _called(verb: Callable[..., Any], arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
    """Calls a verb of the service with the principal where the verb takes it: arguments may stand before and after."""
    place = list(signature(verb).parameters).index("principal")
    if len(arguments) < place:  # what stands before it was named, so it is named too
        return verb(*arguments, principal=_principal(), **named)
    return verb(*arguments[:place], _principal(), *arguments[place:], **named)


_END = object()


class _Host:
    """The event loop and the service on it, started when first needed."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._stack = AsyncExitStack()
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._opening: asyncio.Task[Service] | None = None

    async def service(self) -> Service:
        if self._opening is None:
            opened = self._stack.enter_async_context(open_service(self._settings, any_location=True))
            self._opening = asyncio.ensure_future(opened)
        return await asyncio.shield(self._opening)

    def wait(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._running()).result()

    async def awaited(self, work: Coroutine[Any, Any, T]) -> T:
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self._running()))

    def _running(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(target=self._loop.run_forever, name="answerable", daemon=True)
                self._thread.start()
            return self._loop

    def close(self) -> None:
        with self._lock:
            loop, self._loop = self._loop, None
        if loop is not None and self._thread is not None:
            asyncio.run_coroutine_threadsafe(self._closed(), loop).result(timeout=10)
            loop.call_soon_threadsafe(loop.stop)
            self._thread.join(timeout=10)
            loop.close()

    async def _closed(self) -> None:
        await self._stack.aclose()
        await asyncio.get_running_loop().shutdown_default_executor()
