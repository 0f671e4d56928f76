"""The test cases of an agent: `cases.yaml` in its folder, and `transcripts/` with the recorded replies of a model.

    - id: revenue_by_region
      question: Revenue of each region in 2025?
      task: Revenue per region in 2025, highest first.           the task of a writer
      rows: {sales: SELECT …}                                    the rows of earlier steps, by the step's name
      expect: {kind: table, says: [North], same_rows: SELECT …}

A case runs as a graph that asks only this agent. Its steps are those of every other question.
"""

from collections.abc import Callable, Mapping
from datetime import date
from pathlib import Path
from typing import TypeVar

import yaml
from pydantic import Field, TypeAdapter, ValidationError

from answerable.agents.execution_plan import ANSWER, ExecutionPlan, PlanStep, plan_graph, tool_written_by
from answerable.agents.graphs import preplan_graph, question_graph, react_graph
from answerable.agents.model_descriptors import CRITIC, FORMAT, AdviceConfig
from answerable.answers.answer import Kind
from answerable.core.errors import UserError
from answerable.core.ids import NodeId
from answerable.core.validation import first_problem
from answerable.core.values import Frozen
from answerable.engine.graph import Graph, Node
from answerable.engine.steps.present import MODEL, Confidence, Presentation
from answerable.engine.steps.understand import Question
from answerable.models.tape import Exchange

CASES, TRANSCRIPTS = "cases.yaml", "transcripts"
_FOUND = "found"
T = TypeVar("T")


class Expected(Frozen):
    """Conditions on the answer that do not depend on the model's choice of words."""

    kind: Kind | None = None
    says: tuple[str, ...] = ()
    """Words that must occur in its text, choices, column headers or remarks, in any case."""
    never_says: tuple[str, ...] = ()
    same_rows: str | None = None
    """A query whose rows the answer must have."""
    confidence: Confidence | None = None


class AgentCase(Frozen):
    id: str = Field(pattern=r"^[a-z0-9_]+$")
    question: str
    source: str = "demo"
    today: date = date(2025, 12, 31)
    task: str = ""
    rows: Mapping[str, str] = {}
    expect: Expected


class Transcript(Frozen):
    """The requests to a model in one case, and the model's replies."""

    model: str
    share_rows: bool = True
    exchanges: tuple[Exchange, ...]


def load_cases(folder: Path) -> tuple[AgentCase, ...]:
    found = _read(folder / CASES, TypeAdapter(tuple[AgentCase, ...]))
    ids = [case.id for case in found]
    twice = next((name for name in ids if ids.count(name) > 1), None)
    if twice is not None:
        raise _invalid(folder / CASES, f"two cases are called {twice!r}")
    return found


def load_transcript(folder: Path, case: AgentCase) -> Transcript:
    path = _place(folder, case)
    if not path.is_file():
        raise UserError(
            f"Nothing was recorded for the case {case.id!r} of {folder.name}.",
            code="transcript_missing",
            hint=f"Record it: answerable agents record {folder.name} --case {case.id}.",
        )
    return _read(path, TypeAdapter(Transcript))


def save_transcript(folder: Path, case: AgentCase, transcript: Transcript) -> None:
    path = _place(folder, case)
    path.parent.mkdir(exist_ok=True)
    document = transcript.model_dump(mode="json", exclude_defaults=True)
    # Fields in the order of the conversation instead of the alphabet, so that a transcript reads from top to bottom.
    path.write_text(yaml.dump(document, Dumper=_BlockTextDumper, sort_keys=False, allow_unicode=True, width=100))


def _place(folder: Path, case: AgentCase) -> Path:
    return folder / TRANSCRIPTS / f"{case.id}.yaml"


class _BlockTextDumper(yaml.SafeDumper):
    """Writes text of several lines as a YAML block, so that people can read transcripts and their diffs."""


_BlockTextDumper.add_representer(
    str,
    lambda dumper, text: dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None),
)


def _read(path: Path, shape: TypeAdapter[T]) -> T:
    try:
        return shape.validate_python(yaml.safe_load(path.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise _invalid(path, str(error)) from error
    except ValidationError as error:
        # `from None`: pydantic's error quotes the whole document, and the first problem is enough to act on.
        raise _invalid(path, first_problem(error).at("")) from None


def _invalid(path: Path, reason: str) -> UserError:
    return UserError(
        f"{path.parent.name}/{path.name}: {reason}.", code="agent_cases_invalid", hint="See docs/agents.md."
    )


def case_graph(agent: str, case: AgentCase) -> Graph:
    """The graph that asks the agent of a case."""
    return _GRAPHS[agent](agent, case)


def _planned(_: str, case: AgentCase) -> Graph:
    return question_graph(_question(case))


def _preplanned(_: str, case: AgentCase) -> Graph:
    return preplan_graph(_question(case))


def _explored(_: str, case: AgentCase) -> Graph:
    return react_graph(_question(case))


def _question(case: AgentCase) -> Question:
    # `plan_only`: the case is about one agent, so the steps that it plans are shown and not run.
    return Question(text=case.question, source=case.source, today=case.today, mode="plan", plan_only=True)


def _written(agent: str, case: AgentCase) -> Graph:
    """The steps that fetch the rows of the case, and one that the agent writes."""
    tool = tool_written_by(agent, over_rows=bool(case.rows))
    step = PlanStep(id=_FOUND, tool=tool, context=case.task, after=tuple(case.rows))
    return plan_graph(_plan(case, step), case.source)


def _advised(agent: str, case: AgentCase) -> Graph:
    """The last step of the case gives the answer. The agent looks at its rows before they are shown."""
    adviser, answering = NodeId(agent), tuple(case.rows)[-1]
    presentation = Presentation(question=case.question, mind=MODEL, advice=(adviser,))
    graph = plan_graph(_plan(case), case.source, presentation)
    config = AdviceConfig(question=case.question, source=case.source, today=case.today).model_dump(mode="json")
    kind = next(each.name for each in (CRITIC, FORMAT) if each.agent == agent)
    beside = Node(id=adviser, kind=kind, config=config, after=(NodeId(answering),))
    shown = graph.by_id[ANSWER]
    # The adviser goes first: `present` takes the rows of its last input.
    present = shown.model_copy(update={"after": (adviser, *shown.after)})
    return Graph(nodes=(*(node for node in graph.nodes if node.id != ANSWER), beside, present), output=ANSWER)


def _plan(case: AgentCase, *more: PlanStep) -> ExecutionPlan:
    fetching = (PlanStep(id=name, tool="sql", code=sql) for name, sql in case.rows.items())
    return ExecutionPlan(question=case.question, source=case.source, today=case.today, steps=(*fetching, *more))


_GRAPHS: Mapping[str, Callable[[str, AgentCase], Graph]] = {
    "preplan": _preplanned,
    "plan": _planned,
    "write_sql": _written,
    "write_python": _written,
    "critic": _advised,
    "format": _advised,
    "react": _explored,
}
AGENTS = tuple(_GRAPHS)
