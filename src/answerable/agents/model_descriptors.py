"""The descriptors and configs of the step kinds in which a language model takes part.

A program that a model writes is recorded as a step of the kind that it `writes`, so the writing kinds have no
`data_source_type` of their own. The steps themselves are in `model_kinds.py`, because they are loaded only when needed.
"""

from collections.abc import Mapping
from datetime import date

from answerable.agents.tool_arguments import ToolConfig
from answerable.core.values import Frozen, Json
from answerable.engine.steps.combine import CombineStep
from answerable.engine.steps.cypher import CypherStep
from answerable.engine.steps.descriptor import StepDescriptor
from answerable.engine.steps.python import PythonStep
from answerable.engine.steps.sql import SqlStep
from answerable.engine.steps.understand import Question


class WriteConfig(Frozen):
    """Config of the kinds whose program a model writes."""

    task: str
    question: str
    source: str
    today: date | None = None
    draft: str | None = None
    """A program that was written already. It runs first, and a model writes another only if it fails."""
    evidence: str | None = None
    """Why an earlier program for the same task was wrong."""
    entity: str | None = None
    """What the rows are about, as the plan says it: `users`."""
    operation: str | None = None
    """What is done with it: `list`, `get`, `search`."""
    api: str | None = None
    """The API that the program reads; None for a program that reads none."""
    partial: bool = False
    """Whether the program goes on without the rows of calls that fail."""


class AdviceConfig(Frozen):
    """Config of the kind in which a model words and checks an answer before it is shown."""

    question: str
    source: str
    sources: tuple[str, ...] = ()
    """All sources, if the answer comes from more than one."""
    today: date | None = None
    task: str = ""
    """What the program that gives the answer must give."""
    writer: str | None = None
    """The kind that writes this program again if the answer does not hold; None if nothing can be written again."""


class AgentConfig(Frozen):
    """Config of the kind that asks an agent: any by its name, or one that is written into the graph."""

    agent: str
    written: Mapping[str, Json] | None = None
    """The agent itself, with the fields of an `AgentFolder`; None for the agent of that name."""
    inputs: Mapping[str, Json] = {}
    """The variables of its prompt."""
    source: str | None = None
    """The source that its tools read."""


PREPLAN = StepDescriptor(name="preplan", config=Question, produces="graph", looks_into_source=True, agent="preplan")
REACT = StepDescriptor(
    name="react", config=Question, title="Explore", produces="graph", looks_into_source=True, agent="react"
)
WRITE_SQL = StepDescriptor(
    name="write_sql",
    config=WriteConfig,
    produces="rows",
    rows_from="source",
    language=SqlStep.descriptor.language,
    writes=SqlStep.descriptor.name,
    agent="write_sql",
)
WRITE_CYPHER = StepDescriptor(
    name="write_cypher",
    config=WriteConfig,
    produces="rows",
    rows_from="source",
    language=CypherStep.descriptor.language,
    writes=CypherStep.descriptor.name,
    agent="write_cypher",
)
WRITE_COMBINE = StepDescriptor(
    name="write_combine",
    config=WriteConfig,
    produces="rows",
    rows_from="steps",
    language=CombineStep.descriptor.language,
    writes=CombineStep.descriptor.name,
    agent="write_sql",
)
WRITE_PYTHON = StepDescriptor(
    name="write_python",
    config=WriteConfig,
    produces="rows",
    rows_from="steps",
    language=PythonStep.descriptor.language,
    writes=PythonStep.descriptor.name,
    agent="write_python",
)
WRITE_API = StepDescriptor(
    name="write_api",
    config=WriteConfig,
    produces="rows",
    rows_from="steps",
    language=PythonStep.descriptor.language,
    writes=PythonStep.descriptor.name,
    agent="write_api",
)
UNREVIEWED = "The model could not check this answer and put it into words."
# The rows are there without advice, so a model that fails here must not fail the answer.
FORMAT = StepDescriptor(
    name="format",
    config=AdviceConfig,
    produces="advice",
    rows_from="steps",
    looks_into_source=True,
    agent="format",
    fallback={"findings": [UNREVIEWED]},
)
AGENT = StepDescriptor(name="agent", config=AgentConfig, title="Ask an agent", produces="value", looks_into_source=True)
TOOL = StepDescriptor(name="tool", config=ToolConfig, title="Look", produces="value", looks_into_source=True)
"""Asks no model, but shares the looks of those that do, which load slowly."""
