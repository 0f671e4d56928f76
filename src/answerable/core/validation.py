"""The first problem of a document that somebody wrote, in one sentence."""

from pydantic import ValidationError

from answerable.core.records import dataclass


@dataclass(frozen=True, slots=True)
class FieldProblem:
    """The first problem in a `ValidationError`. It never quotes the input, which may hold a secret."""

    place: tuple[int | str, ...]
    type: str
    """What pydantic calls a problem of this kind: `missing`, `extra_forbidden`, …"""
    message: str

    @property
    def plain(self) -> str:
        """The message without the words that pydantic puts before those of a validator."""
        return self.message.removeprefix("Value error, ")

    @property
    def field(self) -> str:
        """The place in dotted form, such as `steps.0.id`; empty for the whole document."""
        return ".".join(map(str, self.place))

    def at(self, whole: str) -> str:
        """Field and message. `whole` names the document, for a problem that belongs to no field."""
        return f"{self.field or whole}: {self.message}"


def first_problem(error: ValidationError) -> FieldProblem:
    first = error.errors(include_url=False, include_input=False)[0]
    return FieldProblem(first["loc"], first["type"], first["msg"])
