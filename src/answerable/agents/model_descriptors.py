"""The descriptors and configs of the step kinds in which a language model takes part.

A program that a model writes is recorded as a step of the kind that it `writes`, so the writing kinds have no
`data_source_type` of their own. The steps themselves are in `model_kinds.py`, because they are loaded only when needed.
"""

from datetime import date

from answerable.core.values import Frozen
from answerable.engine.steps.combine import CombineStep
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


class AdviceConfig(Frozen):
    """Config of the kinds in which a model looks at an answer before it is shown."""

    question: str
    source: str
    today: date | None = None


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
# The rows are right without advice, so a model that fails here must not fail the answer.
CRITIC = StepDescriptor(
    name="critic",
    config=AdviceConfig,
    produces="advice",
    rows_from="steps",
    looks_into_source=True,
    agent="critic",
    fallback={"findings": ["The checks of this answer could not be made."]},
)
FORMAT = StepDescriptor(
    name="format", config=AdviceConfig, produces="advice", rows_from="steps", agent="format", fallback={}
)
