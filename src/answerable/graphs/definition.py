"""The format of drawn graphs (`*.graph.yaml`): what each kind of node says, as types.

A node's fields are those of its kind beside the common ones. Text fields are templates: `{{ orders.row_count }}` stands
for a field of the output of the node `orders`, `{{ input.day }}` for a field of the graph's input. A node that refers
to another comes after it; `after` adds nodes that it refers to in no template.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import AwareDatetime, Field, model_validator

from answerable.agents.folder import AgentTool
from answerable.agents.tool_arguments import ToolName
from answerable.apis.call import Method
from answerable.core.values import Frozen, Json
from answerable.engine.budget import RunBudget
from answerable.engine.graph import Retry, Strategy
from answerable.engine.steps.join import JoinMode
from answerable.engine.steps.loop import MOST_ROUNDS
from answerable.engine.steps.map import MOST_ITEMS
from answerable.engine.steps.understand import Mode
from answerable.engine.steps.wait import LONGEST as LONGEST_WAIT
from answerable.models.config import Role

MOST_NODES = 2_000
"""In one graph, the nodes of all bodies together."""
NAME = r"[a-z0-9][a-z0-9_-]{0,63}"
STORED = rf"^{NAME}(@[1-9][0-9]{{0,8}})?$"
"""How a stored graph or agent is named: NAME or NAME@VERSION."""
Names = tuple[str, ...]
Conditions = Annotated[
    str | tuple[str, ...],
    Field(
        description="A test such as `orders.row_count > 0`, `check = high` or `notes not_empty`; several must all hold."
    ),
]
JsonSchema = dict[str, Any]
Effect = Literal["none", "read", "write"]
"""What a node does outside of Answerable. A `write` is never repeated unless its target recognises the repetition or a
person has it done again."""


class CommonNode(Frozen):
    """What nodes of every kind can say."""

    title: str | None = Field(default=None, max_length=200)
    after: Names = Field(default=(), description="Nodes that must end first.")
    when: Conditions = Field(default=(), description="If a condition does not hold, the node is skipped.")
    critical: bool = Field(default=True, description="Whether a failure fails the run; else later nodes get null.")
    retry: Retry | None = Field(default=None, description="How often and when the node is tried again.")
    timeout: float | None = Field(default=None, gt=0, description="Seconds for one attempt.")
    breaker: str | None = Field(default=None, description="The circuit breaker that the node shares with others.")
    fallback: Json = Field(default=None, description="The output that replaces a failure.")
    on: str | None = Field(
        default=None,
        min_length=1,
        max_length=200,
        description="With the strategy `events`: the end that it also waits for, such as `check.failed`.",
    )


class SqlNode(CommonNode):
    """Runs one SELECT statement at a source. References become literals, never SQL."""

    kind: Literal["sql"]
    source: str = Field(min_length=1)
    sql: str = Field(min_length=1)


class CypherNode(CommonNode):
    """Runs one reading Cypher query at a source that is a graph. References become literals, never Cypher."""

    kind: Literal["cypher"]
    source: str = Field(min_length=1)
    cypher: str = Field(min_length=1)


class ToolNode(CommonNode):
    """Calls a tool that agents have, without a model. Queries and programs have kinds of their own."""

    kind: Literal["tool"]
    tool: ToolName
    source: str = Field(min_length=1)
    arguments: Mapping[str, Json] = {}


class AskNode(CommonNode):
    """Asks a question in plain words."""

    kind: Literal["ask"]
    question: str = Field(min_length=1)
    source: str | None = None
    sources: Names = ()
    mode: Mode = "auto"
    force: bool = Field(default=False, description="Answer with the best reading even if it is not sure.")


class PythonNode(CommonNode):
    """Runs a program in a sandbox. The rows of the nodes before it are data frames with their ids as names."""

    kind: Literal["python"]
    code: str = Field(min_length=1)
    values: Mapping[str, Json] = Field(default={}, description="Values that the program can name.")
    backend: str | None = None
    api: str | None = Field(default=None, description="The API of the settings that the program may call.")
    effect: Effect | None = Field(
        default=None, description="`write` if the program may POST to its API, else `read`, if nothing is said."
    )


class ApiNode(CommonNode):
    """Calls a configured API once. The output holds the reply as `data`."""

    kind: Literal["api"]
    api: str = Field(min_length=1, description="The name of the API in the settings.")
    method: Method = "GET"
    path: str = Field(min_length=1)
    params: Mapping[str, Json] = {}
    body: Json = None
    all_pages: bool = Field(default=False, description="Follow the pages, and give their rows as one list.")
    effect: Effect | None = Field(default=None, description="`read` for GET and `write` for POST, if nothing is said.")


class TransformNode(CommonNode):
    """Makes a text, a value or the result of an expression, without a model."""

    kind: Literal["transform"]
    template: str | None = Field(default=None, description="A text with references.")
    value: Json = Field(default=None, description="Any value; texts in it may hold references.")
    expression: str | None = Field(
        default=None,
        max_length=10_000,
        description="A Python expression over outputs of other nodes, such as `sum(r['n'] for r in orders['rows'])`.",
    )

    @model_validator(mode="after")
    def _exactly_one(self) -> "TransformNode":
        if len(self.model_fields_set & {"template", "value", "expression"}) != 1:
            raise ValueError("give one of template, value and expression")
        return self


class RouterNode(CommonNode):
    """Chooses a route. Nodes of a route say `when: <this node> = <route>`."""

    kind: Literal["router"]
    routes: Mapping[str, Conditions] = Field(min_length=1, description="Names of routes, tried in this order.")
    default: str | None = Field(default=None, description="The route that is taken if no other is.")


class Body(Frozen):
    """A graph inside a node. Its only outside is `input`."""

    nodes: Mapping[str, "NodeDefinition"] = Field(min_length=1)
    output: str | None = None
    strategy: Strategy = "eager"
    concurrency: int | None = Field(default=None, ge=1)


class MapNode(CommonNode):
    """Runs a graph for each item of a list. In the body, `input.item` is the item and `input.index` its number."""

    kind: Literal["map"]
    over: Json = Field(description="A list, or a reference to one, such as `{{ orders.rows }}`.")
    body: Body
    input: Mapping[str, Json] = Field(default={}, description="Further fields of the body's input.")
    concurrency: int = Field(default=8, ge=1, le=1_000)
    most: int = Field(default=10_000, ge=1, le=MOST_ITEMS, description="A longer list is an error.")


class JoinNode(CommonNode):
    """Waits for the nodes before it and puts their outputs together."""

    kind: Literal["join"]
    mode: JoinMode = "object"


class LoopNode(CommonNode):
    """Runs a graph until a condition on its output holds. In the body, `input.previous` is the output of the round
    before and `input.round` the number of the round."""

    kind: Literal["loop"]
    body: Body
    start: Json = Field(default=None, description="`input.previous` of the first round.")
    input: Mapping[str, Json] = Field(default={}, description="Further fields of the body's input.")
    until: Conditions = Field(default=(), description="Tests of the output of a round, named `output`.")
    most: int = Field(default=10, ge=1, le=MOST_ROUNDS)
    exhausted: Literal["fail", "keep"] = "fail"


class ApprovalNode(CommonNode):
    """Asks a person and waits for the decision."""

    kind: Literal["approval"]
    prompt: str = Field(min_length=1)
    show: Json = None
    rejected: Literal["fail", "continue"] = "fail"
    deadline: float | None = Field(default=None, gt=0, le=LONGEST_WAIT, description="Seconds until `default` counts.")
    default: Literal["approve", "reject"] = Field(default="reject", description="The decision if nobody decides.")


class WaitNode(CommonNode):
    """Lets time pass, or waits for a named event (`answerable graph signal`)."""

    kind: Literal["wait"]
    seconds: float | None = Field(default=None, ge=0, le=LONGEST_WAIT)
    until: AwareDatetime | None = None
    event: str | None = Field(default=None, min_length=1, max_length=200, description="The name of the event.")
    within: float | None = Field(default=None, gt=0, le=LONGEST_WAIT, description="Seconds to wait for the event.")
    missed: Literal["fail", "continue"] = "fail"

    @model_validator(mode="after")
    def _one_of_them(self) -> "WaitNode":
        if sum(each is not None for each in (self.seconds, self.until, self.event)) != 1:
            raise ValueError("give one of seconds, until and event")
        return self


class EmitNode(CommonNode):
    """Tells other runs that wait for an event that it has happened."""

    kind: Literal["emit"]
    event: str = Field(min_length=1, max_length=200)
    data: Json = None


class RaiseNode(CommonNode):
    """Fails with a message."""

    kind: Literal["raise"]
    message: str = Field(min_length=1, max_length=1_000)


class SubgraphNode(CommonNode):
    """Runs another graph with an input of its own: one that is written here, or a stored one."""

    kind: Literal["subgraph"]
    body: Body | None = None
    graph: str | None = Field(
        default=None, pattern=STORED, description="A stored graph: its name, or name@version. The run keeps its text."
    )
    input: Mapping[str, Json] = {}

    @model_validator(mode="after")
    def _one_of_both(self) -> "SubgraphNode":
        if (self.body is None) == (self.graph is None):
            raise ValueError("give either body or graph")
        return self


class AgentNode(CommonNode):
    """Asks a language model: a named agent with its inputs, or one that is written here with a prompt."""

    kind: Literal["agent"]
    agent: str | None = Field(
        default=None,
        pattern=STORED,
        description="The name of an agent (`answerable agents list`), or name@version of a stored one.",
    )
    inputs: Mapping[str, Json] = Field(default={}, description="The inputs of a named agent.")
    source: str | None = Field(default=None, description="The source that the agent's tools read.")
    prompt: str | None = Field(default=None, min_length=1, description="The message. References in it are quoted.")
    instructions: str = ""
    role: Role = "reasoning"
    model: str | None = Field(default=None, min_length=1, description="provider:name")
    temperature: float | None = Field(default=None, ge=0, le=2)
    top_p: float | None = Field(default=None, gt=0, le=1)
    frequency_penalty: float | None = Field(default=None, ge=-2, le=2)
    presence_penalty: float | None = Field(default=None, ge=-2, le=2)
    max_tokens: int = Field(default=4_000, ge=100)
    tools: tuple[AgentTool, ...] = Field(default=(), description="What it may call to read the source.")
    output: JsonSchema | None = Field(default=None, description="JSON Schema of the reply; without it, text.")

    @model_validator(mode="after")
    def _named_or_written(self) -> "AgentNode":
        if (self.agent is None) == (self.prompt is None):
            raise ValueError("give either agent or prompt")
        return self


NodeDefinition = Annotated[
    SqlNode
    | CypherNode
    | AskNode
    | PythonNode
    | ApiNode
    | ToolNode
    | TransformNode
    | RouterNode
    | MapNode
    | JoinNode
    | LoopNode
    | ApprovalNode
    | WaitNode
    | EmitNode
    | RaiseNode
    | SubgraphNode
    | AgentNode,
    Field(discriminator="kind"),
]
KINDS: tuple[type[CommonNode], ...] = NodeDefinition.__origin__.__args__  # type: ignore[attr-defined]


class Defaults(Frozen):
    """What holds for every node that says nothing else."""

    retry: Retry = Retry(attempts=3, base_delay=1.0, factor=2.0)
    timeout: float | None = Field(default=None, gt=0)


class GraphDefinition(Frozen):
    name: str = Field(pattern=rf"^{NAME}$")
    description: str = Field(default="", max_length=2_000)
    input: JsonSchema = Field(default={"type": "object"}, description="JSON Schema of the graph's input, an object.")
    defaults: Defaults = Defaults()
    strategy: Strategy = "eager"
    concurrency: int | None = Field(default=None, ge=1)
    budget: RunBudget | None = Field(default=None, description="What one run may use in all.")
    at_once: int | None = Field(
        default=None,
        ge=1,
        le=10_000,
        description="Runs of this graph that are carried out at the same time; others wait.",
    )
    priority: int = Field(
        default=0, ge=-100, le=100, description="Runs that wait to be carried out go by this, the highest first."
    )
    nodes: Mapping[str, NodeDefinition] = Field(min_length=1)
    output: str | None = Field(default=None, description="The node whose output is the graph's.")

    @property
    def body(self) -> Body:
        return Body(nodes=self.nodes, output=self.output, strategy=self.strategy, concurrency=self.concurrency)


def json_schema() -> Json:
    """The JSON Schema of the format, for editors."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "answerable.graph.schema.json",
        **GraphDefinition.model_json_schema(),
    }
