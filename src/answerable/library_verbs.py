"""Types of the library's verbs. Made by `make library-types` from the service; do not edit.

Nothing here runs: `answerable.library.Verbs` calls the service's verb of the same name.
"""

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any, Protocol

from answerable.agents.graphs import QueryType
from answerable.agents.question_request import QuestionRequest
from answerable.answers import view
from answerable.answers.answer import Answer
from answerable.answers.comparison import Change
from answerable.answers.export import Format
from answerable.answers.replay import Replay
from answerable.core.catalog import Catalog
from answerable.core.events import Event
from answerable.core.ids import EditId, RunId
from answerable.core.values import Json
from answerable.engine.graph import Graph
from answerable.engine.steps.sql import SqlConfig
from answerable.engine.steps.understand import Mode
from answerable.engine.timeline import Timeline
from answerable.sandbox.base import SandboxResult
from answerable.service.answers import Freshness
from answerable.service.comparison import RunComparison
from answerable.service.eval_runner import EvalRunner
from answerable.service.eval_views import EvalCaseDetail, EvalCaseSummary, EvalRun, EvalSuite, EvalSuiteDetail
from answerable.service.golden_cases import GoldenCase
from answerable.service.keyed_requests import KeyedAttempt
from answerable.service.rows import RowsPage, RowsPart, RowTotals
from answerable.service.semantic import SemanticChange, SemanticDocument
from answerable.service.setup import (
    About,
    AgentView,
    DoctorReport,
    ModelCheck,
    ModelsOverview,
    StepKindList,
    UsageReport,
)
from answerable.service.sources import RelationshipView, SourceList, SourceSummary, TablePreview, UploadedFile
from answerable.service.threads import MessageView, SharedThread, ThreadSummary
from answerable.sources.editing import SemanticEdit
from answerable.sources.statistics import TableStatistics
from answerable.store.base import RunFilter, RunRecord


class RunVerbs(Protocol):
    def id_for(self, key: str, fingerprint: str) -> RunId:
        """The id of the run that a client's key stands for. `fingerprint`: of the request that it came with."""
        ...

    def first_graph(self, run: str) -> Graph:
        """The graph that a run began with."""
        ...

    def list(
        self, *, limit: int = 50, before: str | None = None, thread: str | None = None, only: RunFilter | None = None
    ) -> Sequence[RunRecord]:
        """Recorded runs, newest first; `before` continues a listing."""
        ...

    def count(self, *, thread: str | None = None, only: RunFilter | None = None) -> int:
        """How many runs `list` would give without a limit."""
        ...

    def get(self, run: str) -> RunRecord: ...

    def wait(self, run: str) -> Answer:
        """Waits for the end of a run, whichever process carries it out, and returns its answer. A run that waits for a
        decision has none."""
        ...

    def answer(self, run: str) -> Answer:
        """The answer of a finished run; for one that failed or was cancelled, an account of that."""
        ...

    def journal(self, run: str) -> Sequence[Event]:
        """Every event of a run that is stored by now."""
        ...

    def events(self, run: str, after: int = 0) -> Iterator[Event]:
        """Every event of a run with a higher number than `after`, until it ends or waits for a decision: the stored
        ones, then the others as they happen, whichever process carries the run out."""
        ...

    def timeline(self, run: str) -> Timeline:
        """When each step of a run began and ended."""
        ...

    def cancel(self, run: str, reason: str = "cancelled by the user") -> None:
        """Stops a run, whichever process carries it out, and waits until it has stopped. A run that has ended already
        stays as it is."""
        ...

    def decide(self, run: str, step: str, *, approved: bool, note: str | None = None) -> None:
        """Answers what a run asked, and lets it go on: here if nobody carries it out, else where it is."""
        ...

    def resume_patiently(self) -> int:
        """The same, for somebody who waits for the runs of a process that was killed a moment ago: its lease may not
        have lapsed yet, so runs that are under way elsewhere are looked at again after that time."""
        ...


class QuestionVerbs(Protocol):
    def ask(self, request: QuestionRequest) -> Answer:
        """Asks and waits. A run that fails is an answer too, with its error in the provenance."""
        ...

    def begin(self, request: QuestionRequest, request_id: str | None = None, *, run: str | None = None) -> RunId:
        """Starts a run that goes on whether or not anybody waits for it. `run`: the id to give it; a run of that id
        that exists already is not started again."""
        ...

    def begin_query(
        self,
        query_type: QueryType,
        code: Json,
        *,
        source: str | None = None,
        thread: str | None = None,
        request_id: str | None = None,
        run: str | None = None,
    ) -> RunId:
        """Starts a run of a query that the user wrote: SQL, Python or a plan."""
        ...

    def retry(self, run: str, request_id: str | None = None, *, new: str | None = None) -> RunId:
        """The same question or query once more, in the same thread, as a run of its own with the id `new`."""
        ...

    def run_graph(self, graph: Graph, question: str) -> Answer:
        """Runs any graph that ends in an answer, in no thread, and waits for it."""
        ...

    def explain(self, question: str, *, source: str | None = None, today: date | None = None) -> Json:
        """How the reader reads a question, stage by stage."""
        ...


class AnswerVerbs(Protocol):
    def rows_path(self, answer: Answer) -> Path:
        """The Arrow file with all rows of an answer."""
        ...

    def with_rows(self, answer: Answer, most: int) -> Answer:
        """The same answer with up to `most` rows in it."""
        ...

    def query(self, config: SqlConfig) -> Path:
        """Runs one query outside of any run and returns the Arrow file with its rows. Records nothing else."""
        ...

    def replay(self, run: str) -> Replay:
        """Runs the deterministic steps of an answer again and says whether the rows are the same."""
        ...

    def freshness(self, run: str) -> Freshness:
        """Whether what an answer was read from has changed since."""
        ...


class RowVerbs(Protocol):
    def file(self, run: str, selection: view.Selection = ...) -> Path:
        """An Arrow file with the chosen rows of an answer."""
        ...

    def page(self, run: str, selection: view.Selection = ..., *, offset: int = 0, limit: int = 1000) -> RowsPage: ...

    def part(
        self,
        run: str,
        selection: view.Selection = ...,
        *,
        offset: int = 0,
        limit: int = 1000,
        columns: Sequence[str] | None = None,
    ) -> RowsPart:
        """A part of the chosen rows, with all columns or with those that are named."""
        ...

    def totals(self, run: str, selection: view.Selection = ...) -> RowTotals:
        """What the numbers of an answer add up to, and between which they lie."""
        ...

    def export(self, run: str, selection: view.Selection = ..., *, format: Format) -> Iterator[bytes]:
        """Every chosen row, as the bytes of a file."""
        ...


class ComparisonVerbs(Protocol):
    def compare(
        self,
        run: str,
        other: str,
        *,
        key: Sequence[str] | None = None,
        changes: Sequence[Change] | None = None,
        offset: int = 0,
        limit: int = 200,
    ) -> RunComparison:
        """What is different in a later run. Without a `key`, columns that identify a row are looked for."""
        ...

    def export_differences(
        self, run: str, other: str, format: Format, *, key: Sequence[str] | None = None
    ) -> Iterator[bytes]:
        """Every row that was added, removed or changed in a later run, as the bytes of a file."""
        ...


class ThreadVerbs(Protocol):
    def list(self, *, limit: int = 50, before: str | None = None, search: str | None = None) -> Sequence[ThreadSummary]:
        """Threads, pinned ones first, then by their last message; `search` is part of a title or of a message."""
        ...

    def get(self, thread: str) -> ThreadSummary: ...

    def change(self, thread: str, *, title: str | None = None, pinned: bool | None = None) -> ThreadSummary:
        """Renames or pins a thread; what is None stays as it is."""
        ...

    def delete(self, thread: str) -> None:
        """Deletes a thread, which can be restored for thirty days. Its runs stay in the record of runs."""
        ...

    def restore(self, thread: str) -> ThreadSummary:
        """Undoes a deletion."""
        ...

    def share(self, thread: str) -> ThreadSummary:
        """Lets others of the same tenant read a thread by a link that cannot be guessed."""
        ...

    def unshare(self, thread: str) -> ThreadSummary:
        """Ends the sharing: the link leads nowhere from now on, and sharing again makes another one."""
        ...

    def shared(self, token: str) -> SharedThread:
        """A shared thread, to be read only."""
        ...

    def fork(self, thread: str, message: str, *, include: bool = True, new: str | None = None) -> ThreadSummary:
        """A new thread that begins like another one: up to a message, or up to just before it. `new`: the id to give
        it; a thread of that id that exists already is not made again."""
        ...

    def messages(self, thread: str, *, last: int | None = None, answers: bool = False) -> Sequence[MessageView]:
        """The messages of a thread in order of time; `last` keeps only that many of the newest. With `answers`, the
        answers come along, with their first rows."""
        ...


class SourceVerbs(Protocol):
    def names(self) -> Sequence[str]: ...

    def list(self, *, look: bool = True) -> SourceList:
        """What can be asked. With `look`, sources that were not looked at for a while are read in the background."""
        ...

    def status(self, name: str) -> SourceSummary: ...

    def sync(self, name: str) -> SourceSummary:
        """Begins to read a source again, in the background."""
        ...

    def wait(self, name: str) -> SourceSummary:
        """Waits until a source has been read."""
        ...

    def add(self, location: str, *, name: str | None = None) -> SourceSummary:
        """Adds a database by its URL; its password is stored, and never shown. The person at the machine may also add a
        file or a folder, which stays where it is."""
        ...

    def upload(
        self,
        file_name: str,
        content: AsyncIterator[bytes],
        *,
        source: str | None = None,
        replace: bool = False,
        announced: int = 0,
        attempt: KeyedAttempt | None = None,
    ) -> UploadedFile:
        """Stores one file. Without `source` it becomes a source that is named after it; `announced` is its size, where
        that is known beforehand. `attempt`: of a request that may have been carried out in part before; the file then
        goes where it went then."""
        ...

    def remove(self, name: str) -> None:
        """Removes a source that was added or uploaded; uploaded files are deleted."""
        ...

    def describe(self, name: str, *more: str) -> Catalog:
        """Returns tables, columns, keys, relationships and measures. With `more` sources, combines their catalogs."""
        ...

    def preview(self, name: str, table: str, *, offset: int = 0, limit: int = 50) -> TablePreview:
        """Some rows of a table, as they are stored."""
        ...

    def statistics(self, name: str, table: str) -> TableStatistics:
        """How the values of each column are distributed; counted once for as long as the data stays as it is."""
        ...

    def relationships(self, name: str) -> Sequence[RelationshipView]:
        """How tables belong together, and how many rows refer to none; counted once while both stay as they are."""
        ...


class NameVerbs(Protocol):
    def read(self, name: str) -> SemanticDocument:
        """Everything that is said about a source."""
        ...

    def rewrite(
        self, name: str, text: str, *, version: str | None = None, note: str = "", change: EditId | None = None
    ) -> SemanticDocument:
        """Replaces the whole text. A mistake is an error with its line and field, and changes nothing. `change`: the id
        to give the change; one of that id that was made already is not made again."""
        ...

    def edit(
        self,
        name: str,
        edits: Sequence[SemanticEdit],
        *,
        version: str | None = None,
        note: str = "",
        change: EditId | None = None,
    ) -> SemanticDocument:
        """Makes all of the edits or none; the next question is understood by them. `change`: as in `rewrite`."""
        ...

    def history(self, name: str, *, limit: int = 100) -> Sequence[SemanticChange]:
        """Who changed what, the newest first."""
        ...

    def undo(self, name: str, change_id: str) -> SemanticDocument:
        """Puts back how it was before the newest change; that is a change too, and can be undone."""
        ...


class SuggestionVerbs(Protocol):
    def questions(self, name: str) -> Sequence[str]:
        """A few questions that a source can answer."""
        ...


class EvalVerbs(Protocol):
    def runner(self, mode: Mode = "auto", *, counting: bool = False) -> EvalRunner:
        """Puts cases to this service. `counting`: whether what models were asked is looked up for each case."""
        ...

    def cases(self) -> Mapping[str, Sequence[GoldenCase]]:
        """All cases by suite: those that come with the package first."""
        ...

    def suites(self) -> Sequence[EvalSuite]: ...

    def suite(self, name: str) -> EvalSuiteDetail:
        """A suite, and how each of its cases did when it was last measured."""
        ...

    def case(self, suite: str, case_id: str) -> EvalCaseDetail:
        """One case: what was expected, and what it gave."""
        ...

    def add_case(self, suite: str, run: str, *, case_id: str | None = None, ordered: bool = False) -> EvalCaseSummary:
        """Creates a golden case from a run whose answer is right, and the suite if there is none of this name.
        `ordered`: whether the order of the rows counts."""
        ...

    def remove_case(self, suite: str, case_id: str) -> None: ...

    def measure(self, suite: str) -> EvalRun:
        """Starts measuring a suite in the background. If it is already being measured, gives that measurement."""
        ...

    def measurement(self, suite: str, eval_id: str) -> EvalRun: ...

    def measurements(self, suite: str) -> Sequence[EvalRun]:
        """The measurements of a suite, newest first."""
        ...

    def wait(self, suite: str, eval_id: str) -> EvalRun:
        """Waits for the end of a measurement that this process carries out."""
        ...


class ProgramVerbs(Protocol):
    def run(self, code: str, *, frames: Mapping[str, Path], into: Path) -> SandboxResult:
        """Runs Python in the sandbox that the settings name. `frames` are Arrow files by the variable that holds each;
        a result that is a table is written to the Arrow file `into`. Nothing is recorded."""
        ...


class SetupVerbs(Protocol):
    def models(self) -> ModelsOverview:
        """Which language models are set."""
        ...

    def check_models(self, *, name: str | None = None) -> Sequence[ModelCheck]:
        """Tries one model, or all that are set, with tiny requests; they cost a fraction of a cent."""
        ...

    def agents(self) -> Sequence[AgentView]:
        """The agents that ask a language model, and how many recorded cases each has."""
        ...

    def settings(self) -> Mapping[str, Any]:
        """Every setting by name, without keys and passwords."""
        ...

    def usage(self, *, days: int = 30) -> UsageReport:
        """What was asked and spent, by day (UTC), and what is left of the budgets."""
        ...

    def doctor(self) -> DoctorReport:
        """What this machine offers for generated code; trying it takes a moment."""
        ...

    def about(self) -> About:
        """Versions, folders, and what can be asked as written."""
        ...

    def step_kinds(self) -> StepKindList:
        """The kinds of steps that a run can have."""
        ...
