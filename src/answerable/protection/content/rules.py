"""What the content filter looks for and where: `content` in settings.yaml. See docs/security.md."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, StringConstraints, ValidationError, field_validator

from answerable.core.errors import OperatorError
from answerable.core.validation import first_problem
from answerable.core.values import Frozen

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=500)]
Place = Literal["questions", "replies"]
ClassifiedPlace = Literal["questions", "replies", "data"]


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


class ClassifierRules(Frozen):
    """The network that scores how much a text reads like an instruction to a model."""

    above: float = Field(default=0.9, ge=0, le=1)
    """A score above this counts: questions and replies are refused, data is marked."""
    places: Annotated[tuple[ClassifiedPlace, ...], BeforeValidator(_listed)] = ("data",)


class ContentRules(Frozen):
    words: Annotated[tuple[Text, ...], BeforeValidator(_listed)] = ()
    """Words and phrases that are refused, however they are written in upper and lower case, or with other spaces."""
    places: Annotated[tuple[Place, ...], BeforeValidator(_listed)] = ("questions", "replies")
    azure: AzureContentSafety | None = None
    classifier: ClassifierRules | None = None

    def looks_at(self, place: Place) -> bool:
        listed = bool(self.words or self.azure) and place in self.places
        return listed or self.classifies(place)

    def classifies(self, place: ClassifiedPlace) -> bool:
        return self.classifier is not None and place in self.classifier.places


def parsed_rules(configured: Mapping[str, Any]) -> ContentRules:
    try:
        return ContentRules.model_validate(configured)
    except ValidationError as error:
        problem = first_problem(error).at("content")
        raise OperatorError(
            f"`content` in settings.yaml is wrong: {problem}.", code="content_settings_invalid"
        ) from None
