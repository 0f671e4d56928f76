"""The people of the store who can sign in, as the rules see them."""

from collections.abc import Mapping
from dataclasses import field

from answerable.core.records import dataclass


@dataclass(frozen=True, slots=True)
class ListedPerson:
    """Somebody who can sign in. Their roles and attributes count beside those that `access.yaml` gives to the name."""

    roles: frozenset[str] = frozenset()
    attributes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    disabled: bool = False


Directory = Mapping[str, ListedPerson]
