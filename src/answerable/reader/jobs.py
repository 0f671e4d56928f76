"""What readers are asked to do, as jobs that any process can compute."""

from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import asdict
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

from answerable.answers.answer import Binding
from answerable.core.records import dataclass
from answerable.query.plan import QueryPlan
from answerable.reader.experience import Example
from answerable.reader.learned_questions import LearnedAnswer
from answerable.reader.reading import Reading, Reply

if TYPE_CHECKING:
    from answerable.reader.graph_words import PathAnswer
    from answerable.reader.reader import Reader

_today: ContextVar[date] = ContextVar("today")
"""A context variable, because a reader is shared by questions that are read at the same time."""


def today_of_job() -> date:
    """The day from which the question of the job counts."""
    return _today.get()


@dataclass(frozen=True, slots=True)
class ReadJob:
    """Reads a question. `previous` is the plan that a follow-up refers to."""

    question: str
    today: date
    previous: QueryPlan | None = None
    force: bool = False
    dry_run: bool = False
    """Whether the parent runs the likeliest readings when it is asked to."""

    def compute(self, subject: "Reader", ask: Callable[[Any], Any]) -> Reply:
        _today.set(self.today)
        run = ask if self.dry_run else None
        return subject.read(self.question, previous=self.previous, force=self.force, run=run)


@dataclass(frozen=True, slots=True)
class SuggestJob:
    """Finds questions that this data answers: each was read, and has rows."""

    today: date
    wanted: int
    dry_run: bool = False

    def compute(self, subject: "Reader", ask: Callable[[Any], Any]) -> tuple[str, ...]:
        _today.set(self.today)
        return subject.answerable_questions(self.wanted, run=ask if self.dry_run else None)


@dataclass(frozen=True, slots=True)
class AnalogyJob:
    """Reads a question like a saved one."""

    question: str
    today: date
    example: Example

    def compute(self, subject: "Reader", ask: Callable[[Any], Any]) -> Reading | None:
        _today.set(self.today)
        return subject.by_analogy(self.question, self.example)


@dataclass(frozen=True, slots=True)
class LearnedJob:
    """Finds the statement of `semantic.yaml` that answers a question."""

    question: str
    today: date
    has_live: bool = False
    now: datetime | None = None

    def compute(self, subject: "Reader", ask: Callable[[Any], Any]) -> LearnedAnswer | None:
        _today.set(self.today)
        return subject.learned(self.question, has_live=self.has_live, now=self.now)


@dataclass(frozen=True, slots=True)
class PathsJob:
    """Finds the query for a question about ways through a graph."""

    question: str

    def compute(self, subject: "Reader", ask: Callable[[Any], Any]) -> "PathAnswer | None":
        return subject.paths(self.question)


@dataclass(frozen=True, slots=True)
class BindingsJob:
    """Finds what each phrase of a question became in a plan."""

    question: str
    today: date
    plan: QueryPlan

    def compute(self, subject: "Reader", ask: Callable[[Any], Any]) -> tuple[Binding, ...]:
        _today.set(self.today)
        return subject.bindings(self.question, self.plan)


@dataclass(frozen=True, slots=True)
class ExplainJob:
    """Reads a question and keeps every stage."""

    question: str
    today: date
    dry_run: bool = False

    def compute(self, subject: "Reader", ask: Callable[[Any], Any]) -> dict[str, Any]:
        _today.set(self.today)
        return asdict(subject.explain_stages(self.question, run=ask if self.dry_run else None))
