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
from answerable.core.words import fold, normalise, stem

PIECES = 3

_SHORTEST_MISSPELT, _LONGEST_MISSPELT = 4, 48
_LETTERS = 61
_LITTLE_WORDS = frozenset({"a", "an", "and", "at", "by", "de", "for", "in", "la", "of", "on", "or", "the", "to"})


Forms: TypeAlias = tuple[str, str, str | None, str | None, int]
"""A value, its normal form (without case, accents and punctuation), the stems of its words where they differ from the
words, the first letters of three words or more, and which letters occur, as a bit set: 0 for what nobody misspells."""


def all_forms(values: Iterable[str]) -> Iterator[Forms]:
    """The hot loop of a build: one function, few calls."""
    for value in values:
        normal = normal_form(value)
        words = normal.split()
        stems = []
        letters = digits = 0
        for word in words:
            base, its_letters, its_digits = _word(word)
            stems.append(base)
            letters |= its_letters
            digits += its_digits
        stemmed = " ".join(stems)
        initials = "".join([word[0] for word in words if word not in _LITTLE_WORDS]) if len(words) > 2 else None
        # Codes and numbers are never meant when another one is typed: at least half must be letters.
        misspellable = _SHORTEST_MISSPELT <= len(normal) <= _LONGEST_MISSPELT and 2 * digits <= len(normal)
        yield value, normal, stemmed if stemmed != normal else None, initials, letters if misspellable else 0


def letters_of(phrase: str) -> int:
    [(_, _, _, _, letters)] = all_forms([phrase])
    return letters


def normal_form(text: str) -> str:
    """What values are compared by. Text of signs only (`+`, `--`) is compared as it stands."""
    return normalise(text) or fold(text)


@lru_cache(maxsize=200_000)
def _word(word: str) -> tuple[str, int, int]:
    """Stem, letters, and how many digits."""
    letters = 0
    for letter in word:
        letters |= 1 << (ord(letter) % _LETTERS)
    return stem(word), letters, sum(map(str.isdigit, word))


def cuts(length: int) -> tuple[int, ...]:
    """Where a text of this length is cut into its pieces."""
    return tuple(length * number // PIECES for number in range(PIECES + 1))


def shared_pieces(phrase: str) -> Iterator[tuple[int, int, str]]:
    """Number, length of the value, and piece: what a value that the phrase may mean has in common with it."""
    length = len(phrase)
    reach = allowed_slips(length)
    for other in range(max(_SHORTEST_MISSPELT, length - reach), length + reach + 1):
        slips, shift = min(reach, allowed_slips(other)), length - other
        earliest, latest = -((slips - shift) // 2), (slips + shift) // 2
        for number, (start, end) in enumerate(pairwise(cuts(other))):
            for place in range(max(0, start + earliest), min(length - (end - start), start + latest) + 1):
                yield number, other, phrase[place : place + end - start]
