"""An agent as a folder: its settings (`agent.yaml`), its prompt (`prompt.md`) and its test cases (`cases.yaml`).

    agent.yaml    name, role (`reasoning` or `coding`), description, requests, output_tokens
    prompt.md     between two lines `---` the variables that it needs, one `name: what it is` a line; then the
                  instructions; then, under `# Input`, the message, with `{{name}}` where a variable goes

Instructions are fixed text and hold no data. Text from users and from data goes into the message, as JSON strings
inside a block that the text itself cannot close. No Python is needed to add an agent.
"""

import secrets
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from string import Template
from typing import Literal

import yaml
from pydantic import Field, ValidationError

from answerable.core.errors import OperatorError
from answerable.core.values import Frozen

BUILTIN = Path(__file__).parent / "builtin"
_INPUT = "\n# Input\n"
_FENCE_BYTES = 16


class _Placeholders(Template):
    delimiter = "{{"
    pattern = r"\{\{(?:(?P<named>[a-z_]+)\}\}|(?P<escaped>\{\{)|(?P<braced>(?!))|(?P<invalid>))"  # type: ignore[assignment]


class AgentFolder(Frozen):
    name: str
    role: Literal["reasoning", "coding"]
    description: str
    requests: int = Field(default=3, ge=1, le=50)
    """Calls of the model in one run of the agent, corrections of its output included."""
    output_tokens: int = Field(default=4_000, ge=100)
    variables: Mapping[str, str] = {}
    """The variables of the message, each with its description."""
    instructions: str = ""
    message: str = ""

    def written(self, prompt_context: Mapping[str, str]) -> str:
        """The message with every variable in its place, quoted."""
        # A missing variable would leave a hole in the prompt, and a surplus one would silently not be sent.
        if set(prompt_context) != set(self.variables):
            wrong = sorted(set(prompt_context) ^ set(self.variables))
            raise OperatorError(
                f"The agent {self.name!r} and its caller disagree about: {', '.join(wrong)}.", code="agent_invalid"
            )
        return _Placeholders(self.message).substitute(
            {name: quoted(name, text) for name, text in prompt_context.items()}
        )


def quoted(name: str, text: str) -> str:
    """Puts text between tags that mark it as content, not as instructions. The tag holds 128 random bits, so no text
    can contain its own closing tag."""
    tag = f"{name}-{secrets.token_hex(_FENCE_BYTES)}"
    return f"<{tag}>\n{text.strip() or '(none)'}\n</{tag}>"


@cache
def load_agent(folder: Path) -> AgentFolder:
    try:
        described = yaml.safe_load((folder / "agent.yaml").read_text(encoding="utf-8"))
        prompt = (folder / "prompt.md").read_text(encoding="utf-8")
        return AgentFolder.model_validate({**described, **_prompt(prompt)})
    except (OSError, UnicodeDecodeError, yaml.YAMLError, ValidationError, ValueError, TypeError) as error:
        # TypeError: an `agent.yaml` that holds no mapping.
        raise OperatorError(
            f"The agent in {folder.name!r} cannot be used: {error}.", code="agent_invalid", hint="See docs/agents.md."
        ) from error


def _prompt(text: str) -> dict[str, object]:
    start, head, body = text.partition("---\n")[0], *text.removeprefix("---\n").partition("\n---\n")[::2]
    if start or not body or _INPUT not in body:
        raise ValueError("prompt.md needs its variables between two lines `---`, and a part `# Input`")
    instructions, _, message = body.partition(_INPUT)
    variables = yaml.safe_load(head) or {}
    used = set(_Placeholders(message).get_identifiers())
    if used != set(variables):
        raise ValueError(f"prompt.md names and uses different variables: {sorted(used ^ set(variables))}")
    if _Placeholders(instructions).get_identifiers():
        raise ValueError("instructions hold no variables; put them under `# Input`")
    return {"variables": variables, "instructions": instructions.strip(), "message": message.strip()}
