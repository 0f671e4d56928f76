"""Where agents are found: those that come with Answerable, those of the home folder, and those of the project.

Each is a folder with an `agent.yaml`, and goes by the folder's name. A name belongs to one agent: a folder whose name
an earlier place has already is listed with that problem, and is not used.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from answerable.agents.folder import BUILTIN, SETTINGS, AgentFolder, load_agent
from answerable.core.errors import AnswerableError, NotFoundError, OperatorError
from answerable.core.yaml_text import did_you_mean

_NAME = re.compile(r"[a-z][a-z0-9_-]{0,63}")


@dataclass(frozen=True, slots=True)
class FoundAgent:
    """A folder with an agent, or with a problem that keeps it from being used."""

    folder: Path
    agent: AgentFolder | None
    problem: AnswerableError | None = None

    @property
    def name(self) -> str:
        return self.folder.name

    @property
    def builtin(self) -> bool:
        return self.folder.parent == BUILTIN


class AgentDirectory:
    def __init__(self, places: Sequence[Path] = ()) -> None:
        """`places`: folders of agents beside those that come with Answerable, in the order in which names are looked
        up."""
        self._places = tuple(dict.fromkeys((BUILTIN, *places)))

    def named(self, name: str) -> AgentFolder:
        return load_agent(self.folder(name))

    def folder(self, name: str) -> Path:
        """The folder of an agent, whatever is in its files."""
        # The name becomes a part of a path, so nothing but a plain name is looked up.
        found = self._folders(name) if _NAME.fullmatch(name) else ()
        first = next(iter(found), None)
        if first is None:
            names = sorted({folder.name for folder in self._every()})
            hint = did_you_mean(name, names) or f"Agents are: {', '.join(names)}."
            raise NotFoundError(f"There is no agent {name!r}.", code="agent_unknown", hint=hint)
        return first

    def found(self, name: str) -> FoundAgent:
        """An agent of this name, with what is wrong with it if anything is."""
        return _found(self.folder(name))

    def all(self) -> Sequence[FoundAgent]:
        """Every agent, those that come with Answerable first. What is wrong with one is told beside it."""
        seen: dict[str, Path] = {}
        found = []
        for folder in self._every():
            if folder.name in seen:
                where = "with Answerable" if seen[folder.name].parent == BUILTIN else f"from {seen[folder.name].parent}"
                message = f"{folder}: an agent called {folder.name!r} comes {where} already."
                problem = OperatorError(message, code="agent_invalid", hint="Give the folder another name.")
                found.append(FoundAgent(folder, None, problem))
                continue
            seen[folder.name] = folder
            found.append(_found(folder))
        return found

    def _folders(self, name: str) -> Iterator[Path]:
        return (place / name for place in self._places if (place / name / SETTINGS).is_file())

    def _every(self) -> Iterator[Path]:
        for place in self._places:
            inside = sorted(place.iterdir()) if place.is_dir() else ()
            yield from (folder for folder in inside if (folder / SETTINGS).is_file())


def _found(folder: Path) -> FoundAgent:
    try:
        return FoundAgent(folder, load_agent(folder))
    except AnswerableError as error:
        return FoundAgent(folder, None, error)
