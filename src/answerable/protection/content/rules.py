"""What the content filter looks for and where: `content` in settings.yaml. See docs/security.md."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, StringConstraints, ValidationError, field_validator

from answerable.core.errors import OperatorError
from answerable.core.validation import first_problem
from answerable.core.values import Frozen

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=500)]
Place = Literal["questions", "replies"]


def _listed(value: object) -> object:
    return [value] if isinstance(value, str) else value


class AzureContentSafety(Frozen):
    """The service that judges texts."""

    endpoint: Text
    key_from: Text
    """The environment variable with the key."""
    above: int = Field(default=2, ge=0, le=6)
    """A severity above this is refused."""
    when_unreachable: Literal["refuse", "allow"] = "refuse"

    @field_validator("endpoint")
    @classmethod
    def _is_safe(cls, url: str) -> str:
        if not url.startswith(("https://", "http://127.0.0.1:", "http://localhost:")):
            raise ValueError("this must be an https address")
        return url.rstrip("/")


class ContentRules(Frozen):
    words: Annotated[tuple[Text, ...], BeforeValidator(_listed)] = ()
    """Words and phrases that are refused, however they are written in upper and lower case, or with other spaces."""
    places: Annotated[tuple[Place, ...], BeforeValidator(_listed)] = ("questions", "replies")
    azure: AzureContentSafety | None = None

    @property
    def is_on(self) -> bool:
        return bool(self.words or self.azure)


def parsed_rules(configured: Mapping[str, Any]) -> ContentRules:
    try:
        return ContentRules.model_validate(configured)
    except ValidationError as error:
        problem = first_problem(error).at("content")
        raise OperatorError(
            f"`content` in settings.yaml is wrong: {problem}.", code="content_settings_invalid"
        ) from None
