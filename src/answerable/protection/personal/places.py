"""Where personal data may leave, and whose roles may see it."""

from collections.abc import Collection
from typing import Literal, TypeAlias, cast, get_args

from answerable.core.records import dataclass
from answerable.protection.personal.spans import KINDS, Kind

Place: TypeAlias = Literal["answers", "events", "prompts", "logs", "exports"]


@dataclass(frozen=True, slots=True)
class PersonalPolicy:
    places: frozenset[Place] = frozenset()
    """Where personal data is replaced."""
    kinds: frozenset[Kind] = frozenset()
    roles: frozenset[str] = frozenset()
    """Who has one of these sees personal data in answers, events and exports."""

    def hides(self, place: Place, roles: Collection[str] = ()) -> bool:
        return place in self.places and not self.roles.intersection(roles)


NOTHING_HIDDEN = PersonalPolicy()


def parsed_policy(places: str, kinds: str, roles: str) -> PersonalPolicy:
    """Reads the policy from settings. Raises `ValueError` with a sentence if a word is unknown."""
    chosen_places = _words(places, get_args(Place), "place where personal data leaves")
    chosen_kinds = _words(kinds, KINDS, "kind of personal data")
    return PersonalPolicy(
        cast("frozenset[Place]", chosen_places),
        cast("frozenset[Kind]", chosen_kinds),
        frozenset(role.strip() for role in roles.split(",") if role.strip()),
    )


def _words(text: str, known: Collection[str], what: str) -> frozenset[str]:
    words = frozenset(word.strip().lower() for word in text.split(",") if word.strip())
    if unknown := sorted(words - set(known)):
        raise ValueError(f"{unknown[0]!r} is no {what}; known are {', '.join(known)}")
    return words
