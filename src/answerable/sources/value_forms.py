"""By which of its forms a value is found. Pure: no file, no database.

A misspelt phrase is compared letter by letter only with values that share a piece of their spelling with it. Each value
is cut in three: a slip harms one piece, or two when it swaps letters across a border, so at least one of three survives
a slip, and mostly two. In the phrase that piece stands where it stood in the value, give or take the letters that were
added or left out before it.
"""

from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import pairwise
from typing import TypeAlias

from answerable.core.spelling import allowed_slips
from answerable.core.words import fold, normalise, singular, stem

PIECES = 3

_SHORTEST_MISSPELT, _LONGEST_MISSPELT = 4, 48
_LITTLE_WORDS = frozenset({"a", "an", "and", "at", "by", "de", "for", "in", "la", "of", "on", "or", "the", "to"})

Forms: TypeAlias = tuple[str, str, str | None, int]
"""A value, its normal form, the first letters of three words or more, and its length: 0 for what nobody misspells."""


def normal_form(text: str) -> str:
    """What values are compared by. Text of signs only (`+`, `--`) is compared as it stands."""
    return normalise(text) or fold(text)


def all_forms(values: Iterable[str]) -> Iterator[Forms]:
    for value in values:
        normal = normal_form(value)
        yield value, normal, initials(normal) if normal.count(" ") > 1 else None, misspelt_length(normal)


def initials(normal: str) -> str:
    return "".join([word[0] for word in normal.split() if word not in _LITTLE_WORDS])


def misspelt_length(normal: str) -> int:
    """Codes and numbers are never meant when another one is typed: at least half must be letters."""
    length = len(normal)
    if not _SHORTEST_MISSPELT <= length <= _LONGEST_MISSPELT:
        return 0
    if normal.replace(" ", "").isalpha() or 2 * sum(map(str.isdigit, normal)) <= length:
        return length
    return 0


def other_numbers(word: str) -> Iterator[str]:
    """Singular and plurals of a word that a value may consist of."""
    for base in dict.fromkeys((word, singular(word))):
        forms = (base, f"{base}s", f"{base}es", f"{base[:-1]}ies")
        yield from (form for form in forms if form != word and stem(form) == stem(word))


def cuts(length: int) -> tuple[int, ...]:
    """Where a text of this length is cut into its pieces."""
    return tuple(length * number // PIECES for number in range(PIECES + 1))


def shared_pieces(phrase: str) -> tuple[set[tuple[int, str]], ...]:
    """What a value that the phrase may mean has in common with it: for each of the pieces, the length of the value and
    the piece itself."""
    return tuple({(other, phrase[start:end]) for other, start, end in places} for places in _shared_places(len(phrase)))


@lru_cache(_LONGEST_MISSPELT)
def _shared_places(length: int) -> tuple[tuple[tuple[int, int, int], ...], ...]:
    """The length of a value and the places of its piece in a phrase of this length, for each of the pieces."""
    reach = allowed_slips(length)
    found: tuple[list[tuple[int, int, int]], ...] = tuple([] for _ in range(PIECES))
    for other in range(max(_SHORTEST_MISSPELT, length - reach), length + reach + 1):
        slips, shift = min(reach, allowed_slips(other)), length - other
        earliest, latest = -((slips - shift) // 2), (slips + shift) // 2
        for places, (start, end) in zip(found, pairwise(cuts(other)), strict=True):
            size = end - start
            for place in range(max(0, start + earliest), min(length - size, start + latest) + 1):
                places.append((other, place, place + size))
    return tuple(map(tuple, found))
