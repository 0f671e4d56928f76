"""Builders of the graphs that answer: for a question in words, for a query that the user wrote, for a question back."""

import textwrap
from collections.abc import Sequence
from typing import Literal

from pydantic import ValidationError

from answerable.agents import model_descriptors
from answerable.agents.execution_plan import ExecutionPlan, plan_graph, read_plan
from answerable.agents.programs import ProgramConfig, ProgramStep
from answerable.agents.statements import StatementConfig, StatementStep
from answerable.answers.answer import Choice
from answerable.core.errors import UserError
from answerable.core.ids import NodeId
from answerable.core.validation import first_problem
from answerable.core.values import Json
from answerable.engine.graph import Graph, Node
from answerable.engine.steps.descriptor import StepDescriptor
from answerable.engine.steps.present import MODEL, READER, Presentation, PresentStep
from answerable.engine.steps.sql import SqlConfig, SqlStep
from answerable.engine.steps.subgraph import SubgraphStep
from answerable.engine.steps.understand import Question, UnderstandStep
from answerable.query.plan import QueryPlan

QueryType = Literal["sql", "python", "plan"]

UNDERSTAND, EXECUTE, QUERY, ANSWER = NodeId("understand"), NodeId("execute"), NodeId("query"), NodeId("answer")
PREPARE, EXPLORE, PREPLAN = NodeId("prepare"), NodeId("explore"), NodeId("preplan")
WHICH_READING = "This can be read in more than one way. Which do you mean?"


def question_graph(question: Question) -> Graph:
    """Understands the question, then runs the graph that routing has built for it."""
    return _graph_of_a_graph(UNDERSTAND, UnderstandStep.descriptor, question)


def query_graph(query: SqlConfig, presentation: Presentation) -> Graph:
    """One query and its presentation."""
    return Graph(
        nodes=(
            Node(id=QUERY, kind=SqlStep.descriptor.name, config=_config(query)),
            _answer(presentation, after=(QUERY,)),
        ),
        output=ANSWER,
    )


def clarify_graph(question: str, text: str, choices: Sequence[Choice], *, mind: str = READER) -> Graph:
    """Asks the user back, and runs no query."""
    presentation = Presentation(question=question, mind=mind, clarify=text, choices=tuple(choices))
    return Graph(nodes=(_answer(presentation),), output=ANSWER)


def readings_graph(question: str, readings: Sequence[str], text: str = WHICH_READING) -> Graph:
    """Asks the user back with choices that a model wrote. Each choice is a question that can be asked by itself."""
    choices = [Choice(id=number, label=label) for number, label in enumerate(readings, 1)]
    return clarify_graph(question, text, choices, mind=MODEL)


def cannot_tell_graph(question: str, reason: str) -> Graph:
    """Answers that the data does not hold what was asked, and runs no query."""
    return text_graph(question, f"I cannot tell from this data: {reason}", mind=MODEL)


def text_graph(question: str, text: str, *, mind: str) -> Graph:
    """Answers in words, and runs no query."""
    presentation = Presentation(question=question, mind=mind, text=text)
    return Graph(nodes=(_answer(presentation),), output=ANSWER)


def shown_graph(plan: ExecutionPlan, *, mind: str) -> Graph:
    """Shows the plan as text that can be edited and run, and runs no query."""
    import yaml  # only for this rare graph

    document = plan.model_dump(mode="json", exclude_none=True)
    text = yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=100)
    return text_graph(plan.question, text, mind=mind)


def preplan_graph(question: Question) -> Graph:
    """Lets a model look at the question first, then runs the graph that follows from its reply."""
    return _graph_of_a_graph(PREPLAN, model_descriptors.PREPLAN, question)


def react_graph(question: Question) -> Graph:
    """Lets a model explore with tools, then presents the rows it chose like any other answer."""
    return _graph_of_a_graph(EXPLORE, model_descriptors.REACT, question)


def direct_graph(query_type: QueryType, code: Json, sources: Sequence[str]) -> Graph:
    """Runs SQL, a program or a plan that the user wrote. Neither the reader nor a model takes part."""
    source, federated = sources[0], tuple(sources) if len(sources) > 1 else ()
    if query_type == "plan":
        return _planned(code, source)
    # Requests over HTTP can hold any JSON here.
    if not isinstance(code, str):
        raise UserError(
            "SQL and Python are given as text.", code="query_not_text", hint="A plan is given with query_type plan."
        )
    if query_type == "python":
        if not code.strip():
            raise UserError("There is no program.", code="python_empty", hint="Write, for example: PYTHON: result = 1")
        return _prepared_graph(ProgramStep.descriptor, ProgramConfig(code=code, source=source, sources=federated))
    if federated:
        return _prepared_graph(StatementStep.descriptor, StatementConfig(sql=code, sources=federated))
    return query_graph(SqlConfig(source=source, sql=code), Presentation(question="", mind="direct"))


def _planned(document: Json, source: str) -> Graph:
    """A plan of several steps has the field `steps`; without this field the document is a plan of one query."""
    if isinstance(document, dict) and "steps" in document:
        return plan_graph(read_plan(document), source)
    plan = _plan(document)
    return query_graph(SqlConfig(source=source, plan=plan), Presentation(question="", mind="direct", plan=plan))


def _prepared_graph(kind: StepDescriptor, config: ProgramConfig | StatementConfig) -> Graph:
    """Finds the tables that a program or a statement uses, then runs the graph that loads them and runs it."""
    return _graph_of_a_graph(PREPARE, kind, config)


def direct_query(message: str) -> tuple[QueryType, str] | None:
    """The query in a message that starts with `SQL:` or `PYTHON:`, or None if the message is a question."""
    prefix, colon, code = message.lstrip().partition(":")
    match prefix.upper() if colon else "":
        case "SQL":
            return "sql", code.strip()
        case "PYTHON":
            # Only the first line may be indented by itself: after `PYTHON: ` it starts behind a space.
            return "python", textwrap.dedent(code.strip("\n").rstrip()).lstrip(" ")
        case "CYPHER":  # refused by name: read as a question, it would only give a puzzling answer
            raise UserError(
                "CYPHER: is not available with this source.",
                code="query_type_unavailable",
                hint="Write SQL: and a SELECT statement, PYTHON: and a program, or ask in plain words.",
            )
    return None


def _plan(document: Json) -> QueryPlan:
    try:
        return QueryPlan.model_validate(document)
    except ValidationError as error:
        raise UserError(f"{first_problem(error).at('the plan')}.", code="plan_invalid") from None


def _graph_of_a_graph(id: NodeId, kind: StepDescriptor, config: Question | ProgramConfig | StatementConfig) -> Graph:
    """A node whose output is a graph, and a node that runs that graph."""
    first = Node(id=id, kind=kind.name, config=_config(config))
    execute = Node(id=EXECUTE, kind=SubgraphStep.descriptor.name, config={"from": id}, after=(id,))
    return Graph(nodes=(first, execute), output=EXECUTE)


def _answer(presentation: Presentation, after: tuple[NodeId, ...] = ()) -> Node:
    return Node(id=ANSWER, kind=PresentStep.descriptor.name, config=_config(presentation), after=after)


def _config(model: Question | SqlConfig | Presentation | ProgramConfig | StatementConfig) -> Json:
    return model.model_dump(mode="json", exclude_none=True)
