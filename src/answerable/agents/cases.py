"""The test cases of an agent: `cases.yaml` in its folder, and `transcripts/` with the recorded replies of a model.

    - id: revenue_by_region
      question: Revenue of each region in 2025?
      task: Revenue per region in 2025, highest first.           the task of a writer
      rows: {sales: SELECT …}                                    the rows of earlier steps, by the step's name
      expect: {kind: table, says: [North], same_rows: SELECT …}
    - id: badges_of_members
      api: {paths: ["/people/{id}/badges"], replies: {/people/1/badges: [{badge: gold}]}}     an API named `directory`
      graph: ["CREATE NODE TABLE …", …]                          a small graph that is asked in place of the source
    - id: angry_customer
      inputs: {message: Where is my parcel?}                     of an agent that is asked by its name
      expect: {reply: {mood: angry}}

A case runs as a graph that asks only this agent. Its steps are those of every other question.
"""

from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import TypeVar

import yaml
from pydantic import Field, TypeAdapter, ValidationError

from answerable.agents.execution_plan import ANSWER, ExecutionPlan, PlanStep, plan_graph, tool_written_by
from answerable.agents.graphs import agent_graph, graph_of_a_graph
from answerable.agents.model_descriptors import WRITE_SQL, AdviceConfig, AgentConfig
from answerable.agents.model_kinds import DESCRIPTORS
from answerable.agents.yaml_file import YamlProblem, problem_at, read_yaml
from answerable.answers.answer import Kind
from answerable.core.errors import UserError
from answerable.core.ids import NodeId
from answerable.core.validation import first_problem
from answerable.core.values import Frozen, Json
from answerable.engine.graph import Graph, Node
from answerable.engine.steps.descriptor import StepDescriptor
from answerable.engine.steps.present import MODEL, Confidence, Presentation
from answerable.engine.steps.understand import Question, UnderstandStep
from answerable.models.tape import Exchange

CASE_API = "directory"
"""The name under which a case calls its API."""
CASES, TRANSCRIPTS = "cases.yaml", "transcripts"
_FOUND = "found"
T = TypeVar("T")


class Expected(Frozen):
    """Conditions on the answer that do not depend on the model's choice of words."""

    kind: Kind | None = None
    says: tuple[str, ...] = ()
    """Words that must occur in its text, choices, column headers or remarks, in any case."""
    never_says: tuple[str, ...] = ()
    rows: tuple[tuple[Json, ...], ...] | None = None
    """The rows that it must have, in any order."""
    same_rows: str | None = None
    """A query whose rows the answer must have."""
    reply: Mapping[str, Json] = {}
    """Fields that the reply of an agent that is asked by its name must have, with their values."""
    confidence: Confidence | None = None


class CaseApi(Frozen):
    """An API that replies as written here."""

    paths: tuple[str, ...]
    """What may be asked for, with names in braces."""
    replies: Mapping[str, Json]
    """By the path that was asked for; any other is not found."""


class AgentCase(Frozen):
    id: str = Field(pattern=r"^[a-z0-9_]+$")
    question: str = ""
    inputs: Mapping[str, Json] = {}
    """The variables of the prompt of an agent that is asked by its name."""
    source: str = "demo"
    today: date = date(2025, 12, 31)
    task: str = ""
    rows: Mapping[str, str] = {}
    entity: str | None = None
    operation: str | None = None
    api: CaseApi | None = None
    graph: tuple[str, ...] = ()
    """Statements that write the graph that is asked; empty if the case asks `source`."""
    expect: Expected


_CASES = TypeAdapter(tuple[AgentCase, ...])


class Transcript(Frozen):
    """The requests to a model in one case, and the model's replies."""

    model: str
    share_rows: bool = True
    exchanges: tuple[Exchange, ...]


def load_cases(folder: Path) -> tuple[AgentCase, ...]:
    """The cases of an agent. An agent without a `cases.yaml` has none."""
    path = folder / CASES
    if not path.is_file():
        return ()
    try:
        found, marks = read_yaml(path, _CASES)
        ids = [case.id for case in found]
        for number, name in enumerate(ids):
            if name in ids[:number]:
                raise problem_at(marks, (number, "id"), f"two cases are called {name!r}")
    except YamlProblem as problem:
        raise _invalid(str(problem)) from None
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
        raise _invalid(f"{path.name}: {error}") from error
    except ValidationError as error:
        # `from None`: pydantic's error quotes the whole document, and the first problem is enough to act on.
        raise _invalid(f"{path.name}: {first_problem(error).at('')}") from None


def _invalid(reason: str) -> UserError:
    return UserError(f"{reason.rstrip('.')}.", code="agent_cases_invalid", hint="See docs/agents.md.")


def case_graph(agent: str, case: AgentCase) -> Graph:
    """The graph that asks the agent of a case. An agent that no step kind asks is asked by its name."""
    kinds = (UnderstandStep.descriptor, *DESCRIPTORS)
    kind = next((each for each in kinds if each.agent == agent), None)
    if kind is None:
        config = AgentConfig(agent=agent, inputs=case.inputs, source=case.source)
        return agent_graph(config, case.question)
    if kind.writes is not None:
        return _written(agent, case)
    return _advised(kind, case) if kind.produces == "advice" else graph_of_a_graph(kind, _question(case))


def _question(case: AgentCase) -> Question:
    # `plan_only`: the case is about one agent, so the steps that it plans are shown and not run.
    return Question(text=case.question, source=case.source, today=case.today, mode="plan", plan_only=True)


def _written(agent: str, case: AgentCase) -> Graph:
    """The steps that fetch the rows of the case, and one that the agent writes."""
    tool = tool_written_by(agent, over_rows=bool(case.rows))
    step = PlanStep(
        id=_FOUND,
        tool=tool,
        context=case.task,
        after=tuple(case.rows),
        entity=case.entity,
        operation=case.operation,
        api=CASE_API if case.api is not None else None,
    )
    return plan_graph(_plan(case, step), case.source)


def _advised(kind: StepDescriptor, case: AgentCase) -> Graph:
    """The last step of the case gives the answer. The agent looks at its rows before they are shown."""
    adviser = NodeId(kind.name)
    presentation = Presentation(question=case.question, mind=MODEL, advice=(adviser,))
    graph = plan_graph(_plan(case), case.source, presentation)
    writer = WRITE_SQL.name if case.task else None
    advised = AdviceConfig(question=case.question, source=case.source, today=case.today, task=case.task, writer=writer)
    config = advised.model_dump(mode="json")
    beside = Node(id=adviser, kind=kind.name, config=config, after=tuple(map(NodeId, case.rows)))
    shown = graph.by_id[ANSWER]
    # The adviser goes first: `present` takes the rows of its last input.
    present = shown.model_copy(update={"after": (adviser, *shown.after)})
    return Graph(nodes=(*(node for node in graph.nodes if node.id != ANSWER), beside, present), output=ANSWER)


def _plan(case: AgentCase, *more: PlanStep) -> ExecutionPlan:
    fetching = (PlanStep(id=name, tool="sql", code=sql) for name, sql in case.rows.items())
    return ExecutionPlan(question=case.question, source=case.source, today=case.today, steps=(*fetching, *more))
