"""Case files: one JSON object per line, each a question with the rows of its right answer or the SQL for these rows."""

import json
from collections.abc import Mapping, Sequence
from datetime import date
from importlib.resources import files
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from answerable.core.errors import NotFoundError, UserError
from answerable.core.validation import first_problem
from answerable.core.values import Json

BUNDLED = ("demo", "okta")
"""Case sets of the package: the file `golden.jsonl` in the folder of that name."""


class Case(BaseModel):
    """Other fields than these are allowed and ignored: case files serve other tools too."""

    model_config = ConfigDict(frozen=True, strict=True)

    id: str = Field(min_length=1)
    question: str = Field(min_length=1)
    source: str = Field(min_length=1)
    """A URL, or a path relative to the folder of the case file. In loaded cases the path is absolute."""
    gold_sql: str | None = None
    gold_rows: tuple[tuple[Json, ...], ...] | None = None
    """All rows of the right answer, or None if there are too many to write down and only `gold_sql` is set."""
    accept_rows: tuple[tuple[tuple[Json, ...], ...], ...] = ()
    """The rows of other answers that are as good."""
    ordered: bool = False
    split: str | None = None
    today: date | None = None
    """The day on which the question is asked, for expressions such as "last quarter"."""
    group: str | None = None
    """The group of paraphrases that the case belongs to."""
    after: str | None = None
    """The id of the case that this one follows up on, in the same conversation."""

    @model_validator(mode="after")
    def _has_gold(self) -> "Case":
        if self.gold_sql is None and self.gold_rows is None and "gold_sql" not in self.model_fields_set:
            raise ValueError("a case needs gold_sql or gold_rows")
        return self

    @property
    def unanswerable(self) -> bool:
        """The file says `"gold_sql": null`: the data cannot answer the question, so it is right to say so."""
        return self.gold_sql is None and self.gold_rows is None


def load_cases(path: Path | str) -> list[Case]:
    """The cases of a file, or of a bundled set by name. Raises a `UserError` that names the line and the field if the
    file is wrong."""
    file = _file_of(path)
    cases: dict[str, Case] = {}
    for number, line in enumerate(_lines(file), 1):
        if line.strip():
            place = f"{file.name}, line {number}"
            case = _located(_parsed(line, place), file.parent, place)
            _check_against(case, cases, place)
            cases[case.id] = case
    if not cases:
        raise _invalid(f"{file.name} holds no cases.", "Write one JSON object a line; see docs/evals.md.")
    return list(cases.values())


def chosen(cases: Sequence[Case], *, split: str | None = None, limit: int | None = None) -> list[Case]:
    """The first `limit` cases of one split."""
    found = [case for case in cases if split is None or case.split == split]
    if not found:
        known = ", ".join(sorted({case.split for case in cases if case.split})) or "none"
        raise UserError(f"There is no case of the split {split!r}.", code="split_unknown", hint=f"Splits: {known}.")
    return found[:limit]


def _file_of(path: Path | str) -> Path:
    file = Path(path)
    if file.is_file():
        return file
    bundled = {name: found for name in BUNDLED if (found := _bundled(name)).is_file()}
    if str(path) not in bundled:
        hint = f"Give a .jsonl file or the name of a bundled set: {', '.join(bundled)}."
        raise NotFoundError(f"There is no case file {str(path)!r}.", hint=hint)
    return bundled[str(path)]


def _bundled(name: str) -> Path:
    return Path(str(files("answerable"))) / name / "golden.jsonl"


def _lines(file: Path) -> list[str]:
    try:
        # "utf-8-sig", because editors on Windows put a byte order mark at the start of a file.
        return file.read_text("utf-8-sig").split("\n")
    except UnicodeDecodeError as error:
        raise _invalid(f"{file.name} is not UTF-8 text: byte {error.start} is wrong.") from error
    except OSError as error:
        raise _invalid(f"{file.name} cannot be read: {error.strerror}.") from error


def _parsed(line: str, place: str) -> Case:
    try:
        raw = json.loads(line)
    except json.JSONDecodeError as error:
        raise _invalid(f"{place}: not JSON: {error.msg} at column {error.colno}.") from error
    if not isinstance(raw, Mapping):
        raise _invalid(f"{place}: a case is a JSON object, not {type(raw).__name__}.")
    try:
        return Case.model_validate_json(line)
    except ValidationError as error:
        problem = first_problem(error)
        field = f", field {problem.field!r}" if problem.field else ""
        raise _invalid(f"{place}{field}: {problem.message.removeprefix('Value error, ')}.") from error


def _located(case: Case, folder: Path, place: str) -> Case:
    if "://" in case.source:
        return case
    path = (folder / case.source).resolve()
    if not path.exists():
        raise _invalid(f"{place}, field 'source': there is no {case.source!r} beside the case file.")
    return case.model_copy(update={"source": str(path)})


def _check_against(case: Case, earlier: Mapping[str, Case], place: str) -> None:
    if case.id in earlier:
        raise _invalid(f"{place}, field 'id': {case.id!r} is taken by an earlier case.")
    if case.after is None:
        return
    before = earlier.get(case.after)
    if before is None:
        raise _invalid(f"{place}, field 'after': there is no earlier case {case.after!r}.")
    if (before.source, before.split) != (case.source, case.split):
        raise _invalid(f"{place}, field 'after': {case.after!r} is of another source or split.")
    # A conversation is a chain: two follow-ups to one case would depend on which of them is asked first.
    follower = next((other.id for other in earlier.values() if other.after == case.after), None)
    if follower is not None:
        raise _invalid(f"{place}, field 'after': {case.after!r} is followed by {follower!r} already.")


def _invalid(message: str, hint: str | None = None) -> UserError:
    return UserError(message, code="cases_invalid", hint=hint)
