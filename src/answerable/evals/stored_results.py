"""Results of a measurement in a file. Each line is written when its case ends, so that no case is paid for twice."""

from pathlib import Path

from pydantic import ValidationError

from answerable.core.errors import UserError
from answerable.evals.measured import MeasuredCase, measured_case
from answerable.evals.score import Scored, Spent


class _Line(MeasuredCase):
    model: str
    mode: str


class StoredResults:
    def __init__(self, path: Path, model: str, mode: str) -> None:
        self._path = path
        self._model = model
        self._mode = mode

    def load(self) -> dict[str, Scored]:
        """The results of an earlier measurement of the same model by case id. Empty if there is no file."""
        lines = self._path.read_text(encoding="utf-8").removesuffix("\n").split("\n") if self._path.exists() else []
        return {stored.id: _scored(stored) for stored in (self._read(line, n) for n, line in enumerate(lines, 1))}

    def add(self, scored: Scored) -> None:
        case = measured_case(scored).model_dump()
        line = _Line(**case, model=self._model, mode=self._mode)
        # Opened and closed for each result: a killed process loses none of the earlier ones.
        with self._path.open("a", encoding="utf-8") as file:
            file.write(line.model_dump_json() + "\n")

    def _read(self, line: str, number: int) -> _Line:
        place = f"{self._path.name}, line {number}"
        try:
            stored = _Line.model_validate_json(line)
        except ValidationError as error:
            raise UserError(f"{place}: this is no result of a case.", code="results_invalid") from error
        # Results of two models in one report would be worth nothing.
        if (stored.model, stored.mode) != (self._model, self._mode):
            message = f"{place} is a result of {stored.model} in the mode {stored.mode}."
            raise UserError(message, code="results_invalid", hint="Give another file, or the same model and mode.")
        return stored


def _scored(stored: _Line) -> Scored:
    spent = Spent(**stored.model_dump(include=set(Spent.model_fields)))
    fields = {"id", "outcome", "offered", "unanswerable", "code", "reason", "confidence"}
    return Scored(**stored.model_dump(include=fields), spent=spent)
