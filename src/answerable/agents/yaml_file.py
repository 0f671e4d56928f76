"""The YAML files of an agent's folder: plain data that fits a model. What is wrong is said with file, line, column and
field."""

from collections.abc import Iterable
from pathlib import Path
from typing import TypeVar

from pydantic import TypeAdapter, ValidationError

from answerable.core.errors import SemanticError
from answerable.core.yaml_text import FieldPath, Marks, YamlRules, did_you_mean, read

T = TypeVar("T")
_RULES = YamlRules(typed=True, deepest=40)
"""A JSON Schema needs numbers and truth values, and has two levels for each level of what it describes."""


class YamlProblem(Exception):
    """What is wrong with a file, and where, as one sentence without a full stop."""


def read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise YamlProblem(f"{shown(path)}, line {line}, column 1: this is not UTF-8 text") from None
    except OSError as error:
        raise YamlProblem(f"{shown(path)} cannot be read: {error.strerror}") from None


def read_yaml(path: Path, shape: TypeAdapter[T], known_fields: Iterable[str] = ()) -> tuple[T, Marks]:
    """The file as the model, and where each of its fields stands. `known_fields` are those of the top level, to suggest
    the one that was meant."""
    text = read_text(path)
    try:
        data, marks = read(text, shown(path), _RULES)
    except SemanticError as error:
        raise YamlProblem(error.message) from None
    try:
        return shape.validate_python(data), marks
    except ValidationError as invalid:
        first = min(invalid.errors(), key=lambda error: marks.place(error["loc"]))
        field = first["loc"]
        raise problem_at(marks, field, _reason(first["type"], first["msg"], field, known_fields)) from None


def problem_at(marks: Marks, path: FieldPath, problem: str) -> YamlProblem:
    return YamlProblem(f"{marks.start(path)}: {problem}")


def shown(path: Path) -> str:
    """The file with its folder, which is the agent's name."""
    return f"{path.parent.name}/{path.name}"


def _reason(kind: str, message: str, path: FieldPath, known_fields: Iterable[str]) -> str:
    if kind != "extra_forbidden":
        return message[:1].lower() + message[1:]
    hint = did_you_mean(str(path[-1]), known_fields) if len(path) == 1 else None
    return f"unknown field. {hint}" if hint else "unknown field"
