"""One sentence for what is wrong with a document."""

import re
from pathlib import Path

import pytest
from pydantic import BaseModel, ValidationError, model_validator

from answerable.core.validation import FieldProblem, first_problem

PACKAGE = Path(__file__).parents[2] / "src" / "answerable"


class _Inner(BaseModel):
    count: int


class _Document(BaseModel):
    parts: list[_Inner] = []

    @model_validator(mode="after")
    def _has_parts(self) -> "_Document":
        if not self.parts:
            raise ValueError("there are no parts")
        return self


def _problem(document: object) -> FieldProblem:
    with pytest.raises(ValidationError) as caught:
        _Document.model_validate(document)
    return first_problem(caught.value)


def test_the_first_problem_names_its_field_and_not_the_input() -> None:
    problem = _problem({"parts": [{"count": 1}, {"count": "secret"}, {}]})
    assert problem.field == "parts.1.count"
    assert problem.at("the document").startswith("parts.1.count: Input should be a valid integer")
    assert "secret" not in problem.message


def test_a_problem_of_the_whole_document_is_named_after_it() -> None:
    assert _problem({}).at("the document") == "the document: Value error, there are no parts"


def test_nobody_else_takes_a_validation_error_apart() -> None:
    """The readers of YAML files sort all problems by line, and the HTTP edge has another class of error."""
    apart = {str(p.relative_to(PACKAGE)) for p in PACKAGE.rglob("*.py") if re.search(r"\.errors\(", p.read_text())}
    assert apart == {
        "core/validation.py",
        "sources/semantic.py",
        "agents/yaml_file.py",
        "access/policy.py",
        "graphs/reading.py",
        "gateway/problems.py",
    }
