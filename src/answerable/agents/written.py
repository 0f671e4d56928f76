"""An agent as one text (`*.agent.yaml`), for the registry: what a folder says in two files, in one.

name, role, description, model, sampling, limits, tools and output: as in `agent.yaml`
inputs          the inputs of the agent, one `name: what it is` a line
instructions    fixed text for the model, without inputs
prompt          the message, with `{{ name }}` where an input goes
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from pydantic import Field, ValidationError

from answerable.agents.folder import AgentFolder, AgentSettings
from answerable.core.errors import AgentError
from answerable.core.json_schema import SchemaProblem, check_schema
from answerable.core.validation import first_problem
from answerable.core.values import Json
from answerable.core.yaml_text import Marks, YamlRules, did_you_mean, read
from answerable.engine.templates import with_references

LARGEST = 200_000
"""Characters of the text of an agent."""
_RULES = YamlRules(refusal=AgentError, typed=True, deepest=40, largest=LARGEST)
_INPUT_NAME = r"^[a-z][a-z_]{0,63}$"


class AgentDefinition(AgentSettings):
    """The fields of `*.agent.yaml`."""

    inputs: Mapping[str, str] = {}
    instructions: str = Field(default="", max_length=100_000)
    prompt: str = Field(min_length=1, max_length=100_000)


@dataclass(frozen=True, slots=True)
class NamedAgent:
    """An agent that a graph or a person named."""

    folder: AgentFolder
    version: int | None
    """Of a stored agent; None for a folder on the server."""

    @property
    def config(self) -> dict[str, Json]:
        """What a step gets of it. A stored agent becomes part of the run; a folder is read when the step runs."""
        if self.version is None:
            return {"agent": self.folder.name}
        written = self.folder.model_dump(mode="json", exclude_defaults=True)
        return {"agent": f"{self.folder.name}@{self.version}", "written": written}


@lru_cache(maxsize=64)
def read_agent(text: str, origin: str) -> AgentFolder:
    """The agent that a text describes. Raises an `AgentError` with line and column for a mistake."""
    document, marks = read(text, origin, _RULES)
    try:
        definition = AgentDefinition.model_validate(document)
    except ValidationError as error:
        raise _explained(error, marks) from error
    if definition.output is not None:
        _check_output(definition.output, marks)
    settings = definition.model_dump(include=set(AgentSettings.model_fields))
    message = _message(definition, marks)
    return AgentFolder(
        **settings, variables=dict(definition.inputs), instructions=definition.instructions.strip(), message=message
    )


def _explained(error: ValidationError, marks: Marks) -> Exception:
    problem = first_problem(error)
    place, message, hint = problem.place, problem.plain, None
    if problem.type == "extra_forbidden":
        message, hint = "there is no such field", did_you_mean(str(place[-1]), AgentDefinition.model_fields)
    elif problem.type == "missing":
        place, message = place[:-1], f"`{place[-1]}` is missing"
    return marks.error(place, message[:1].lower() + message[1:], hint)


def _check_output(schema: Mapping[str, object], marks: Marks) -> None:
    try:
        check_schema(schema)
    except SchemaProblem as problem:
        raise marks.error(("output", *problem.path), f"this is no JSON Schema: {problem.message}") from problem
    if schema.get("type") != "object":
        raise marks.error(("output",), "the reply must be an object (type: object)")


def _message(definition: AgentDefinition, marks: Marks) -> str:
    """The prompt with its inputs as a folder writes them. Each input is used, and each that is used is described."""
    for name in definition.inputs:
        if re.match(_INPUT_NAME, name) is None:
            raise marks.error(("inputs", name), "an input has a name of small letters and `_`")
    used: dict[str, None] = {}

    def placed(name: str) -> str:
        used[name.strip()] = None
        return f"{{{{{name.strip()}}}}}"

    message = with_references(definition.prompt, placed).strip()
    if unknown := [name for name in used if name not in definition.inputs]:
        hint = did_you_mean(unknown[0], definition.inputs)
        raise marks.error(("prompt",), f"the input `{unknown[0]}` is not described under `inputs`", hint)
    if unused := [name for name in definition.inputs if name not in used]:
        raise marks.error(("inputs", unused[0]), "it is not used in `prompt`")
    return message
