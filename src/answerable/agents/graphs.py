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
from answerable.core.values import Frozen, Json
from answerable.engine.graph import Graph, Node
from answerable.engine.steps.cypher import CypherConfig, CypherStep
from answerable.engine.steps.descriptor import StepDescriptor
from answerable.engine.steps.present import MODEL, READER, Presentation, PresentStep
from answerable.engine.steps.sql import SqlConfig, SqlStep
from answerable.engine.steps.subgraph import SubgraphStep
from answerable.engine.steps.understand import Question, UnderstandStep
from answerable.query.plan import QueryPlan

QueryType = Literal["sql", "cypher", "python", "plan"]

EXECUTE, QUERY, ANSWER = NodeId("execute"), NodeId("query"), NodeId("answer")
PREPARE, EXPLORE, AGENT = NodeId("prepare"), NodeId("explore"), NodeId("agent")
WHICH_READING = "This can be read in more than one way. Which do you mean?"


def question_graph(question: Question) -> Graph:
    """Understands the question, then runs the graph that routing has built for it."""
    return graph_of_a_graph(UnderstandStep.descriptor, question)


def query_graph(query: SqlConfig, presentation: Presentation) -> Graph:
    """One query and its presentation."""
    return Graph(
        nodes=(
            Node(id=QUERY, kind=SqlStep.descriptor.name, config=_config(query)),
            _answer(presentation, after=(QUERY,)),
        ),
        output=ANSWER,
    )


def cypher_graph(query: CypherConfig, presentation: Presentation) -> Graph:
    """One Cypher query and its presentation."""
    return Graph(
        nodes=(
            Node(id=QUERY, kind=CypherStep.descriptor.name, config=_config(query)),
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
    return clarify_graph(question, text, _as_choices(readings), mind=MODEL)


def cannot_tell_graph(question: str, reason: str) -> Graph:
    """Answers that the data does not hold what was asked, and runs no query."""
    return text_graph(question, f"I cannot tell from this data: {reason}", mind=MODEL)


def text_graph(question: str, text: str, *, mind: str, questions: Sequence[str] = ()) -> Graph:
    """Answers in words, and runs no query. `questions` are offered as what to ask next."""
    presentation = Presentation(question=question, mind=mind, text=text, choices=_as_choices(questions))
    return Graph(nodes=(_answer(presentation),), output=ANSWER)


def shown_graph(plan: ExecutionPlan, *, mind: str) -> Graph:
    """Shows the plan as text that can be edited and run, and runs no query."""
    import yaml  # only for this rare graph

    document = plan.model_dump(mode="json", exclude_none=True)
    text = yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=100)
    return text_graph(plan.question, text, mind=mind)


def preplan_graph(question: Question) -> Graph:
    """Lets a model look at the question first, then runs the graph that follows from its reply."""
    return graph_of_a_graph(model_descriptors.PREPLAN, question)


def react_graph(question: Question) -> Graph:
    """Lets a model explore with tools, then presents the rows it chose like any other answer."""
    return graph_of_a_graph(model_descriptors.REACT, question, id=EXPLORE)


def agent_graph(config: model_descriptors.AgentConfig, question: str) -> Graph:
    """Asks a named agent, and shows its reply as the answer."""
    asked = Node(id=AGENT, kind=model_descriptors.AGENT.name, config=_config(config))
    presentation = Presentation(question=question, mind=MODEL, reply=AGENT)
    return Graph(nodes=(asked, _answer(presentation, after=(AGENT,))), output=ANSWER)


def direct_graph(query_type: QueryType, code: Json, sources: Sequence[str]) -> Graph:
    """Runs SQL, Cypher, a program or a plan that the user wrote. Neither the reader nor a model takes part."""
    source, federated = sources[0], tuple(sources) if len(sources) > 1 else ()
    if query_type == "plan":
        return _planned(code, source)
    # Requests over HTTP can hold any JSON here.
    if not isinstance(code, str):
        raise UserError(
            "SQL, Cypher and Python are given as text.",
            code="query_not_text",
            hint="A plan is given with query_type plan.",
        )
    if query_type == "python":
        if not code.strip():
            raise UserError("There is no program.", code="python_empty", hint="Write, for example: PYTHON: result = 1")
        return _prepared_graph(ProgramStep.descriptor, ProgramConfig(code=code, source=source, sources=federated))
    if query_type == "cypher":
        return _cypher_graph(code, sources)
    if federated:
        return _prepared_graph(StatementStep.descriptor, StatementConfig(sql=code, sources=federated))
    return query_graph(SqlConfig(source=source, sql=code), Presentation(question="", mind="direct"))


def _cypher_graph(code: str, sources: Sequence[str]) -> Graph:
    if len(sources) > 1:
        raise UserError(
            "Cypher is asked of one graph at a time.",
            code="cypher_sources_many",
            hint="Name one source, or ask in plain words.",
        )
    presentation = Presentation(question="", mind="direct")
    return cypher_graph(CypherConfig(source=sources[0], cypher=code), presentation)


def _planned(document: Json, source: str) -> Graph:
    """A plan of several steps has the field `steps`; without this field the document is a plan of one query."""
    if isinstance(document, dict) and "steps" in document:
        return plan_graph(read_plan(document), source)
    plan = _plan(document)
    return query_graph(SqlConfig(source=source, plan=plan), Presentation(question="", mind="direct", plan=plan))


def _prepared_graph(kind: StepDescriptor, config: ProgramConfig | StatementConfig) -> Graph:
    """Finds the tables that a program or a statement uses, then runs the graph that loads them and runs it."""
    return graph_of_a_graph(kind, config, id=PREPARE)


def direct_query(message: str) -> tuple[QueryType, str] | None:
    """The query in a message that starts with `SQL:`, `CYPHER:` or `PYTHON:`, or None if the message is a question."""
    prefix, colon, code = message.lstrip().partition(":")
    match prefix.upper() if colon else "":
        case "SQL":
            return "sql", code.strip()
        case "PYTHON":
            # Only the first line may be indented by itself: after `PYTHON: ` it starts behind a space.
            return "python", textwrap.dedent(code.strip("\n").rstrip()).lstrip(" ")
        case "CYPHER":
            return "cypher", code.strip()
    return None


def _plan(document: Json) -> QueryPlan:
    try:
        return QueryPlan.model_validate(document)
    except ValidationError as error:
        raise UserError(f"{first_problem(error).at('the plan')}.", code="plan_invalid") from None


def graph_of_a_graph(
    kind: StepDescriptor, config: Question | ProgramConfig | StatementConfig, *, id: NodeId | None = None
) -> Graph:
    """A node whose output is a graph, and a node that runs that graph. Without an id the node is called like its
    kind."""
    named = id or NodeId(kind.name)
    first = Node(id=named, kind=kind.name, config=_config(config))
    execute = Node(id=EXECUTE, kind=SubgraphStep.descriptor.name, config={"from": named}, after=(named,))
    return Graph(nodes=(first, execute), output=EXECUTE)


def _as_choices(questions: Sequence[str]) -> tuple[Choice, ...]:
    """Choices without a plan: taking one asks the question that it shows."""
    return tuple(Choice(id=number, label=label) for number, label in enumerate(questions, 1))


def _answer(presentation: Presentation, after: tuple[NodeId, ...] = ()) -> Node:
    return Node(id=ANSWER, kind=PresentStep.descriptor.name, config=_config(presentation), after=after)


def _config(model: Frozen) -> Json:
    return model.model_dump(mode="json", exclude_none=True)
