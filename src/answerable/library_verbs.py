"""Types of the library's verbs. Made by `make library-types` from the service; do not edit.

Nothing here runs: `answerable.library.Verbs` calls the service's verb of the same name.
"""

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any, Protocol

from answerable.agents.graphs import QueryType
from answerable.agents.question_request import QuestionRequest
from answerable.agents.written import NamedAgent
from answerable.answers import view
from answerable.answers.answer import Answer
from answerable.answers.comparison import Change
from answerable.answers.export import Format
from answerable.answers.replay import Replay
from answerable.apis.openapi.endpoints import ApiEndpoint
from answerable.core.catalog import Catalog
from answerable.core.events import Event, Verdict
from answerable.core.ids import EditId, RunId
from answerable.core.progress import Progress
from answerable.core.values import Json
from answerable.engine.graph import Graph
from answerable.engine.open_questions import OpenQuestion
from answerable.engine.steps.sql import SqlConfig
from answerable.engine.steps.understand import Mode
from answerable.engine.timeline import Timeline
from answerable.graphs.comparing import GraphDifference
from answerable.graphs.figures import NodeFigures
from answerable.graphs.ready_made import ReadyGraph
from answerable.graphs.schedules import GraphSchedule
from answerable.okta.event_types import EventCategory
from answerable.okta.reports import TenantReport
from answerable.okta.sync.run import SyncRecord
from answerable.sandbox.base import SandboxResult
from answerable.service.agents import AgentDetail, AgentDifference, AgentReply, AgentVersion, AgentView
from answerable.service.answers import Freshness
from answerable.service.comparison import RunComparison
from answerable.service.eval_runner import EvalRunner
from answerable.service.eval_views import EvalCaseDetail, EvalCaseSummary, EvalRun, EvalSuite, EvalSuiteDetail
from answerable.service.golden_cases import GoldenCase
from answerable.service.graphs import GraphDocument, GraphReport, GraphRun, GraphSummary, GraphVersionView
from answerable.service.keyed_requests import KeyedAttempt
from answerable.service.keys import KeyView, NewKey
from answerable.service.learning import Learned
from answerable.service.okta import TenantView
from answerable.service.rows import RowsPage, RowsPart, RowTotals
from answerable.service.schedules import ScheduleView
from answerable.service.semantic import SemanticChange, SemanticDocument
from answerable.service.setup import About, DoctorReport, StepKindList, UsageReport
from answerable.service.source_views import (
    RelationshipView,
    SourceList,
    SourceSummary,
    SourceTest,
    TablePreview,
    UploadedFile,
)
from answerable.service.suggestions import SuggestedQuestion
from answerable.service.threads import MessageView, SharedThread, ThreadSummary
from answerable.service.wrong_answers import Judgement, WrongAnswer, WrongPart
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

    def waits(self, run: str) -> Sequence[OpenQuestion]:
        """What a run waits for: questions to people, effects in doubt, and events. Each is decided by its node."""
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
        """Stops a run, whichever process carries it out, and waits until it has stopped. A run that no process carries
        out ends here. A run that has ended already stays as it is."""
        ...

    def pause(self, run: str) -> None:
        """Has a run wait, whichever process carries it out: the steps that are under way end, and no other starts until
        somebody resumes it. It stays paused through restarts. A decision that is made meanwhile counts later."""
        ...

    def resume(self, run: str) -> None:
        """Lets a run that was paused go on: here if this process carries runs out, else at another."""
        ...

    def decide(
        self, run: str, step: str, *, verdict: Verdict, note: str | None = None, data: Json = None, patient: bool = True
    ) -> None:
        """Answers what a run asked, and lets it go on: here if nobody carries it out, else where it is. `approve` and
        `reject` need nothing more. `edit` goes on with `data` instead of what was shown; `respond` gives `data` as the
        answer, or as the result of an effect that has happened. Of several decisions on one question the first counts;
        the same one once more changes nothing. `patient`: whether to wait for other steps of the run that this process
        carries out just now."""
        ...

    def resume_patiently(self) -> int:
        """Continues unfinished runs, for somebody who waits for the runs of a process that was killed a moment ago. Its
        lease may not have lapsed yet, so runs of other processes are looked at again after that time."""
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
        """Starts a run of a query that the user wrote: SQL, Cypher, Python or a plan."""
        ...

    def retry(self, run: str, request_id: str | None = None, *, new: str | None = None) -> RunId:
        """Asks the question or query of a run once more, in the same thread, as a run of its own with the id `new`."""
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
        """The answer with up to `most` rows in it."""
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

    def add_api(
        self,
        document: str,
        base_url: str,
        *,
        name: str | None = None,
        secret_env: str | None = None,
        secret_header: str | None = None,
        entities: Sequence[str] = ...,
    ) -> SourceSummary:
        """Adds an API by its OpenAPI document and its address. `secret_env`: the environment variable that holds its
        credential; `secret_header`: the header for it, if not as the document says; `entities`: those that become
        tables, else all."""
        ...

    def test(self, location: str, *, name: str | None = None) -> SourceTest:
        """Opens and reads a location as `add` would, says what is wrong, and adds nothing."""
        ...

    def add(self, location: str, *, name: str | None = None, attempt: KeyedAttempt | None = None) -> SourceSummary:
        """Adds a database by its URL; its password is stored, and never shown. The person at the machine may also add a
        file or a folder, which stays where it is. `attempt`: of a request that may have been carried out before; its
        source is then not added again."""
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

    def undo(self, name: str, change_id: str, *, change: EditId | None = None) -> SemanticDocument:
        """Puts back how it was before the newest change; that is a change too, and can be undone. `change`: as in
        `rewrite`."""
        ...


class SuggestionVerbs(Protocol):
    def questions(self, name: str) -> Sequence[SuggestedQuestion]:
        """A few questions that a source can answer, with their answers; tried once while the data stays as it is."""
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

    def add_case(
        self,
        suite: str,
        run: str,
        *,
        case_id: str | None = None,
        ordered: bool = False,
        attempt: KeyedAttempt | None = None,
    ) -> EvalCaseSummary:
        """Creates a golden case from a run whose answer is right, and the suite if there is none of this name.
        `ordered`: whether the order of the rows counts. `attempt`: of a request that may have been carried out before;
        its case is then not created again."""
        ...

    def remove_case(self, suite: str, case_id: str) -> None: ...

    def call_wrong(self, run: str, what: WrongPart, *, note: str = "") -> WrongAnswer:
        """Keeps the answer of a run as a case to mend. `what`: which part is wrong; `note`: what would be right. An
        answer that was called wrong before is kept with the newest reason only."""
        ...

    def wrong_answers(self) -> Sequence[WrongAnswer]:
        """The answers that were called wrong, newest first."""
        ...

    def judgement(self, run: str) -> Judgement:
        """Whether the answer of a run became a golden case, or was called wrong."""
        ...

    def take_back(self, run: str) -> None:
        """The answer of this run is no longer called wrong."""
        ...

    def measure(self, suite: str, *, eval_id: str | None = None) -> EvalRun:
        """Starts measuring a suite in the background. If it is already being measured, gives that measurement.
        `eval_id`: the id to give it; the measurement of a request that is repeated keeps its id."""
        ...

    def measurement(self, suite: str, eval_id: str) -> EvalRun: ...

    def measurements(self, suite: str) -> Sequence[EvalRun]:
        """The measurements of a suite, newest first."""
        ...

    def wait(self, suite: str, eval_id: str) -> EvalRun:
        """Waits for the end of a measurement that this process carries out."""
        ...


class GraphVerbs(Protocol):
    def schema(self) -> Json:
        """The JSON Schema of the format, for editors."""
        ...

    def validate(self, text: str, *, origin: str = ...) -> GraphReport:
        """Checks a graph without running it. Raises a `GraphError` with line and column for a mistake."""
        ...

    def save(
        self,
        text: str,
        *,
        note: str = "",
        tags: Sequence[str] | None = None,
        expected: int | None = None,
        origin: str = ...,
        name: str | None = None,
    ) -> GraphDocument:
        """Stores a graph under its name, as a new version if its text is new. A graph with a mistake is not stored.
        `expected`: the version that the caller knows (0: none); if another one counts by now, nothing is stored.
        `name`: the name that the caller expects the graph to have."""
        ...

    def ready_made(self) -> Sequence[ReadyGraph]:
        """Graphs that come with the package, to begin with."""
        ...

    def new(self, name: str, *, template: str, source: str | None = None, tags: Sequence[str] = ...) -> GraphDocument:
        """Stores a ready-made graph under a name of its own. `source`: what it reads instead of its example data. A
        graph of that name is not overwritten; the same one is returned."""
        ...

    def list(self, *, tag: str | None = None) -> Sequence[GraphSummary]:
        """Stored graphs by name, those that the person may run."""
        ...

    def show(self, name: str, *, version: int | None = None) -> GraphDocument:
        """A version of a graph; None for the one that counts."""
        ...

    def versions(self, name: str) -> Sequence[GraphVersionView]:
        """Who saved which version, newest first."""
        ...

    def diff(self, name: str, *, before: int | None = None, after: int | None = None) -> GraphDifference:
        """What is different in the later version. Without `after` the one that counts; without `before` the one before
        it."""
        ...

    def rollback(self, name: str, version: int) -> GraphDocument:
        """Makes the text of an earlier version count again, as a new version."""
        ...

    def delete(self, name: str) -> None:
        """Removes a graph with all its versions. Its runs stay. A graph that runs is not removed."""
        ...

    def runs(self, name: str, *, limit: int = 50) -> Sequence[RunRecord]:
        """The runs of a graph, newest first."""
        ...

    def figures(self, name: str, *, limit: int = 100) -> Mapping[str, NodeFigures]:
        """What each node did in the last runs of a graph."""
        ...

    def begin_stored(
        self,
        name: str,
        input: Mapping[str, Json],
        *,
        version: int | None = None,
        request_id: str | None = None,
        run: str | None = None,
    ) -> RunId:
        """Starts a run of a stored graph."""
        ...

    def begin(
        self,
        text: str,
        input: Mapping[str, Json],
        *,
        origin: str = ...,
        request_id: str | None = None,
        run: str | None = None,
    ) -> RunId:
        """Starts a run of a graph. `run`: the id to give it; a run of that id that exists already is not started
        again."""
        ...

    def fork(
        self,
        run: str,
        *,
        node: str | None = None,
        outputs: Mapping[str, Json] | None = None,
        input: Mapping[str, Json] | None = None,
        request_id: str | None = None,
        new: str | None = None,
    ) -> RunId:
        """Starts a new run from a node of an earlier one: what ended before that node is taken over and not done again.
        Without `node`, from what failed or never ran. `outputs`: outputs of nodes to go on with instead of theirs;
        `input`: fields of the input that differ. `new`: the id to give the new run."""
        ...

    def signal(self, event: str, data: Json) -> Sequence[RunId]:
        """Tells every run that waits for an event that it has happened. Returns those runs."""
        ...

    def input_of(self, text: str, fields: Mapping[str, str], *, origin: str = ...) -> Mapping[str, Json]:
        """The input of a graph from fields that were given as text."""
        ...

    def wait(self, run: str) -> GraphRun:
        """Waits until a run has ended or waits for a person."""
        ...

    def get_run(self, run: str) -> GraphRun:
        """What became of each node of a run by now."""
        ...


class ScheduleVerbs(Protocol):
    def add(self, name: str, schedule: GraphSchedule) -> ScheduleView:
        """Stores when a graph runs by itself, on behalf of this person. A schedule of the same name is replaced."""
        ...

    def list(self) -> Sequence[ScheduleView]:
        """Schedules by name."""
        ...

    def remove(self, name: str) -> None:
        """Removes a schedule. Runs that it has begun go on."""
        ...


class ProgramVerbs(Protocol):
    def run(self, code: str, *, frames: Mapping[str, Path], into: Path) -> SandboxResult:
        """Runs Python in the sandbox that the settings name. `frames` are Arrow files by the variable that holds each;
        a result that is a table is written to the Arrow file `into`. Nothing is recorded."""
        ...


class AgentVerbs(Protocol):
    def list(self, *, tag: str | None = None) -> Sequence[AgentView]:
        """Every agent, with what is wrong with it if anything is: those that come with Answerable, folders of the
        server, then stored ones. `tag`: only stored agents with this tag."""
        ...

    def show(self, name: str, *, version: int | None = None) -> AgentDetail:
        """One agent: its model, limits, tools, inputs, the form of its reply, and its instructions."""
        ...

    def find(self, name: str, *, version: int | None = None) -> NamedAgent:
        """The agent of a name, for a graph that is about to run. A stored one is given with its version, so that the
        run keeps it."""
        ...

    def save(
        self,
        text: str,
        *,
        note: str = "",
        tags: Sequence[str] | None = None,
        expected: int | None = None,
        origin: str = ...,
        name: str | None = None,
    ) -> AgentDetail:
        """Stores an agent under its name, as a new version if its text is new. An agent with a mistake is not stored.
        `expected`: the version that the caller knows (0: none); if another one counts by now, nothing is stored.
        `name`: the name that the caller expects the agent to have."""
        ...

    def versions(self, name: str) -> Sequence[AgentVersion]:
        """Who saved which version of a stored agent, newest first."""
        ...

    def diff(self, name: str, *, before: int | None = None, after: int | None = None) -> AgentDifference:
        """What is different in the later version. Without `after` the one that counts; without `before` the one before
        it."""
        ...

    def rollback(self, name: str, version: int) -> AgentDetail:
        """Makes the text of an earlier version count again, as a new version."""
        ...

    def delete(self, name: str) -> None:
        """Removes a stored agent with all its versions. Runs that have begun with it keep it."""
        ...

    def run(self, name: str, inputs: Mapping[str, Json], *, source: str | None = None) -> AgentReply:
        """Asks an agent and waits for its reply. The run is recorded and counts against budgets like every other."""
        ...


class LearningVerbs(Protocol):
    def learn(self, name: str, *, accept: bool = False, max_tokens: int = 100000) -> Learned:
        """Asks a model once for names and questions of a source, checks them, and proposes a new semantic.yaml.
        `accept` puts it in force. No further call is made once `max_tokens` are used."""
        ...


class KeyVerbs(Protocol):
    def list(self, *, user: str | None = None) -> list[KeyView]:
        """One's own keys, the newest first. An administrator may ask for those of `user`; the person at the machine
        gets those of everybody without it."""
        ...

    def add(self, *, user: str | None = None, name: str = "key", scopes: Sequence[str] = ..., days: int = 90) -> NewKey:
        """Makes a key for oneself, or for an administrator one for `user`. It gives at most what that user may do."""
        ...

    def rotate(self, key_id: str, *, grace_hours: int = 0) -> NewKey:
        """Makes a new key with the scopes and the lifetime of another, which counts for `grace_hours` more."""
        ...

    def revoke(self, key_id: str) -> None:
        """Ends a key, at once. One that has ended already stays so."""
        ...

    def revoke_all(self, *, user: str | None = None) -> int:
        """Ends all of one's own keys, or for an administrator those of `user`. Returns how many."""
        ...


class SetupVerbs(Protocol):
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


class OktaVerbs(Protocol):
    def sync(
        self,
        name: str,
        *,
        url: str | None = None,
        token_from: str | None = None,
        client_id: str | None = None,
        full: bool = False,
        log_days: float = ...,
        progress: Progress = ...,
    ) -> SyncRecord:
        """Syncs a tenant and makes it a source of that name. The address is needed the first time only; the token is
        read from the environment variable `token_from`. A sync that was interrupted goes on where it stopped."""
        ...

    def report(self, name: str, report: str, inputs: Mapping[str, Any] | None = None) -> Answer:
        """Answers a report about a synced tenant, with its inputs. It runs like any other statement: checked, within
        access rules, and recorded."""
        ...

    def reports(self) -> Sequence[TenantReport]:
        """Every report, with its inputs. They are the same for everybody."""
        ...

    def live(self, name: str, entities: Sequence[str] = ...) -> str:
        """Adds the live API of a synced tenant as a source beside it, and returns its name. `entities`: those that
        become tables, else the usual ones. It is asked with the API token of the tenant."""
        ...

    def endpoints(self) -> Sequence[ApiEndpoint]:
        """Every GET endpoint of Okta's API. They are the same for everybody."""
        ...

    def events(self, categories: Sequence[str]) -> Sequence[EventCategory]:
        """The event types of one to three categories of Okta's log, or all categories if none is named."""
        ...

    def remove(self, name: str) -> None:
        """Removes a synced tenant: the source, its data and what is stored about it."""
        ...

    def is_synced(self, name: str) -> bool:
        """Whether a tenant is stored under this name."""
        ...

    def history(self, name: str) -> Sequence[SyncRecord]:
        """Every sync of a tenant, the oldest first."""
        ...

    def tenants(self) -> Sequence[TenantView]:
        """Every synced tenant, by name."""
        ...

    def tenant(self, name: str) -> TenantView:
        """A synced tenant: what it holds, when it was synced, its schedule, and the sync that is under way."""
        ...

    def start_sync(self, name: str, *, full: bool = False) -> TenantView:
        """Begins a sync of a tenant that was synced before, and does not wait for it. One that is under way goes on."""
        ...

    def schedule(self, name: str, cron: str, *, zone: str = "UTC") -> TenantView:
        """Syncs a tenant by itself at these times, as long as a server runs. A missed time is made up for once."""
        ...

    def unschedule(self, name: str) -> None:
        """Ends the schedule of a tenant. Its data stays."""
        ...
