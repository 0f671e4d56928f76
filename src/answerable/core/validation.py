"""What is wrong with a document that somebody wrote, in one sentence."""

from dataclasses import dataclass

from pydantic import ValidationError


@dataclass(frozen=True, slots=True)
class FieldProblem:
    """The first thing that a `ValidationError` complains about. It never quotes the input, which may hold a secret."""

    place: tuple[int | str, ...]
    message: str

    @property
    def field(self) -> str:
        """The place as people write it, `steps.0.id`; empty for the whole document."""
        return ".".join(map(str, self.place))

    def at(self, whole: str) -> str:
        """Field and message; `whole` is what the document is called if no field is to blame."""
        return f"{self.field or whole}: {self.message}"


def first_problem(error: ValidationError) -> FieldProblem:
    first = error.errors(include_url=False, include_input=False)[0]
    return FieldProblem(first["loc"], first["msg"])
