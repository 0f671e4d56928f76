"""What somebody asks, and the graph that it becomes."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from answerable.agents.graphs import direct_graph, direct_query, question_graph
from answerable.core.ids import ThreadId
from answerable.engine.graph import Graph
from answerable.engine.steps.understand import Mode, Question


@dataclass(frozen=True, slots=True)
class QuestionRequest:
    """A message in a thread: a question in plain words, or a query after `SQL:` or `PYTHON:`."""

    message: str
    sources: Sequence[str] = ()
    """What the question is about; empty for the default source."""
    thread: ThreadId | None = None
    """None for a new thread."""
    choice: int | None = None
    force: bool = False
    today: date | None = None
    mode: Mode = "auto"
    plan_only: bool = False


def graph_of(request: QuestionRequest, sources: tuple[str, ...]) -> tuple[Graph, str]:
    """With the name under which such runs are listed: the language of a query, or the mode of a question."""
    direct = direct_query(request.message) if request.choice is None else None
    if direct is not None:
        return direct_graph(*direct, sources), direct[0]
    question = Question(
        text=request.message,
        source=sources[0],
        sources=sources if len(sources) > 1 else (),
        choice=request.choice,
        force=request.force,
        today=request.today,
        mode=request.mode,
        plan_only=request.plan_only,
    )
    return question_graph(question), request.mode
