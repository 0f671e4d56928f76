"""An agent as a folder: its settings (`agent.yaml`), its prompt (`prompt.md`) and its test cases (`cases.yaml`).

    agent.yaml    name, role (`reasoning` or `coding`), description; which model, how it samples, its limits, its tools,
                  and the JSON Schema of its reply
    prompt.md     between two lines `---` the variables that it needs, one `name: what it is` a line; then the
                  instructions; then, under `# Input`, the message, with `{{name}}` where a variable goes

Instructions are fixed text and hold no data. Text from users and from data goes into the message, as JSON strings
inside a block that the text itself cannot close. No Python is needed to add an agent. Whatever is wrong with a folder
is an error that names the file, the line and the column.
"""

import secrets
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from string import Template
from typing import Any, Literal

import yaml
from pydantic import Field, TypeAdapter

from answerable.agents.yaml_file import YamlProblem, problem_at, read_text, read_yaml
from answerable.core.errors import OperatorError, UserError
from answerable.core.values import Frozen, Json
from answerable.core.yaml_text import Marks

BUILTIN = Path(__file__).parent / "builtin"
SETTINGS, PROMPT = "agent.yaml", "prompt.md"
AgentTool = Literal[
    "search_schema",
    "column_values",
    "probe",
    "list_datasets",
    "get_dataset_schema",
    "execute_sql",
    "execute_query_plan",
    "execute_python",
]
_INPUT = "\n# Input\n"
_FENCE_BYTES = 16


class _Placeholders(Template):
    delimiter = "{{"
    pattern = r"\{\{(?:(?P<named>[a-z_]+)\}\}|(?P<escaped>\{\{)|(?P<braced>(?!))|(?P<invalid>))"  # type: ignore[assignment]


class AgentSettings(Frozen):
    """The fields of `agent.yaml`."""

    name: str = Field(pattern=r"^[a-z][a-z0-9_-]{0,63}$")
    """The same as the name of its folder."""
    role: Literal["reasoning", "coding"]
    description: str = Field(min_length=1, max_length=500)
    model: str | None = Field(default=None, min_length=1)
    """`provider:name`. None for the models that are set for the role."""
    temperature: float | None = Field(default=None, ge=0, le=2)
    top_p: float | None = Field(default=None, gt=0, le=1)
    frequency_penalty: float | None = Field(default=None, ge=-2, le=2)
    presence_penalty: float | None = Field(default=None, ge=-2, le=2)
    seed: int | None = None
    requests: int = Field(default=3, ge=1, le=50)
    """Calls of the model in one run of the agent, looks and corrections of its output included."""
    corrections: int = Field(default=2, ge=0, le=20)
    """How often a wrong reply, or a wrong call of a tool, is sent back to the model."""
    output_tokens: int = Field(default=4_000, ge=100)
    seconds: float | None = Field(default=None, gt=0)
    """The longest time for the whole run of the agent. None for the limit of every step."""
    tools: tuple[AgentTool, ...] = ()
    """The tools that it may call. They read the source that the agent is asked about, and change nothing."""
    output: Mapping[str, Any] | None = None
    """The JSON Schema of its reply, an object. None if it replies with text."""

    @property
    def sampling(self) -> dict[str, Any]:
        """What a model is told about sampling: only what the file says, because models differ in their defaults."""
        names = ("temperature", "top_p", "frequency_penalty", "presence_penalty", "seed")
        return {name: value for name in names if (value := getattr(self, name)) is not None}


class AgentFolder(AgentSettings):
    variables: Mapping[str, str] = {}
    """The variables of the message, each with its description."""
    instructions: str = ""
    message: str = ""

    def written(self, prompt_context: Mapping[str, str]) -> str:
        """The message with every variable in its place, quoted."""
        # A missing variable would leave a hole in the prompt, and a surplus one would silently not be sent.
        if set(prompt_context) != set(self.variables):
            wrong = sorted(set(prompt_context) ^ set(self.variables))
            raise UserError(
                f"The agent {self.name!r} and its caller disagree about: {', '.join(wrong)}.",
                code="agent_inputs",
                hint=f"Its inputs are: {', '.join(self.variables)}.",
            )
        fence = secrets.token_urlsafe(_FENCE_BYTES)
        return _Placeholders(self._said_of(prompt_context)).substitute(
            {name: quoted(name, text, fence) for name, text in prompt_context.items()}
        )

    def _said_of(self, prompt_context: Mapping[str, str]) -> str:
        """The message without the paragraphs whose variables are all empty: nobody pays for reading that there is
        nothing."""
        paragraphs = []
        for paragraph in self.message.split("\n\n"):
            names = _Placeholders(paragraph).get_identifiers()
            if not names or any(prompt_context[name].strip() for name in names):
                paragraphs.append(paragraph)
        text = "\n\n".join(paragraphs)
        return text if _Placeholders(text).get_identifiers() else self.message


def quoted(name: str, text: str, fence: str) -> str:
    """Puts text between tags that mark it as content, not as instructions. The fence, one for each message, holds 128
    random bits, so no text can contain a closing tag."""
    tag = f"{name}-{fence}"
    return f"<{tag}>\n{text.strip() or '(none)'}\n</{tag}>"


def load_agent(folder: Path) -> AgentFolder:
    """The agent in a folder, read again only when one of its files has changed."""
    try:
        stamp = tuple((folder / name).stat().st_mtime_ns for name in (SETTINGS, PROMPT))
        return _loaded(folder, stamp)
    except OSError as error:
        name = Path(str(error.filename)).name
        raise _invalid(f"{folder.name}/{name} cannot be read: {error.strerror}") from error
    except YamlProblem as problem:
        raise _invalid(str(problem)) from None


@cache
def _loaded(folder: Path, _stamp: tuple[int, ...]) -> AgentFolder:
    settings, marks = read_yaml(folder / SETTINGS, TypeAdapter(AgentSettings), AgentSettings.model_fields)
    if settings.name != folder.name:
        raise problem_at(marks, ("name",), f"the folder is called {folder.name!r}; both names must be the same")
    if settings.output is not None:
        _check_output(settings.output, marks)
    prompt = _prompt(read_text(folder / PROMPT), f"{folder.name}/{PROMPT}")
    return AgentFolder.model_validate({**settings.model_dump(), **prompt})


def _check_output(schema: Mapping[str, Any], marks: Marks) -> None:
    from answerable.core.json_schema import SchemaProblem, check_schema

    try:
        check_schema(schema)
    except SchemaProblem as problem:
        raise problem_at(marks, ("output", *problem.path), problem.message) from None
    if schema.get("type") != "object":
        raise problem_at(marks, ("output", "type"), "the reply must be an object (type: object)")


def _prompt(text: str, origin: str) -> dict[str, Json]:
    head, divider, body = text.removeprefix("---\n").partition("\n---\n")
    if not text.startswith("---\n") or not divider:
        raise _at(text, 0, origin, "the variables stand first, between two lines `---`")
    if _INPUT not in body:
        raise _at(text, len(text.rstrip()), origin, "a part `# Input` is missing at the end")
    instructions, _, message = body.partition(_INPUT)
    try:
        variables = yaml.safe_load(head) or {}
    except yaml.YAMLError:
        variables = None
    if not isinstance(variables, dict) or not all(isinstance(value, str) for value in variables.values()):
        raise _at(text, len("---\n"), origin, "each variable is a line `name: what it is`")
    if held := _Placeholders(instructions).get_identifiers():
        place = text.index("{{" + held[0])
        raise _at(text, place, origin, "instructions hold no variables; put them under `# Input`")
    used = _Placeholders(message).get_identifiers()
    if unknown := [name for name in used if name not in variables]:
        place = text.index("{{" + unknown[0], len(text) - len(message))
        raise _at(text, place, origin, f"the variable {unknown[0]!r} is not described above")
    if unused := [name for name in variables if name not in used]:
        place = text.index(f"{unused[0]}:")
        raise _at(text, place, origin, f"the variable {unused[0]!r} is not used under `# Input`")
    return {"variables": variables, "instructions": instructions.strip(), "message": message.strip()}


def _at(text: str, place: int, origin: str, problem: str) -> YamlProblem:
    before = text[:place]
    line, column = before.count("\n") + 1, place - (before.rfind("\n") + 1) + 1
    return YamlProblem(f"{origin}, line {line}, column {column}: {problem}")


def _invalid(reason: str) -> OperatorError:
    return OperatorError(f"{reason.rstrip('.')}.", code="agent_invalid", hint="See docs/agents.md.")
