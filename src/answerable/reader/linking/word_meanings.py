"""How near two English words are in meaning, and whether a word names a person or a place.

The table (`weights/words.bin`, made by `train/words.py`) has a short vector for each of 30,000 words. It is read when
the first reader is built, not when the package is imported.
"""

from collections.abc import Sequence
from functools import cache, lru_cache
from math import sqrt
from operator import mul
from pathlib import Path

from answerable.reader.fitted.packed import unpack

FOLDER = Path(__file__).parents[1] / "weights"
FILE = "words.bin"
PERSON = 1
PLACE = 2
# Two numbers share a byte, four bits each.
_BYTES = 50

WordVector = tuple[float, ...]


class WordMeanings:
    def __init__(self, raw: bytes) -> None:
        table = unpack(raw)
        self._numbers = {word: number for number, word in enumerate(table.facts["words"])}
        self._vectors = table.arrays["vectors"].tobytes()
        self._classes = table.arrays["classes"].tobytes()

    def vector(self, word: str) -> WordVector | None:
        """A vector of length 1, or None if the word is not in the table."""
        number = self._numbers.get(word)
        if number is None:
            return None
        packed = self._vectors[number * _BYTES : (number + 1) * _BYTES]
        steps = [step - 8 for both in packed for step in (both >> 4, both & 15)]
        length = sqrt(sum(map(mul, steps, steps))) or 1.0
        return tuple([step / length for step in steps])

    def is_a(self, word: str, kind: int) -> bool:
        number = self._numbers.get(word)
        return number is not None and bool(self._classes[number] & kind)


@cache
def _meanings() -> WordMeanings:
    return WordMeanings((FOLDER / FILE).read_bytes())


@lru_cache(maxsize=4096)
def word_vector(word: str) -> WordVector | None:
    return _meanings().vector(word)


def is_person(word: str) -> bool:
    return _meanings().is_a(word, PERSON)


def is_place(word: str) -> bool:
    return _meanings().is_a(word, PLACE)


def nearness(one: Sequence[float], other: Sequence[float]) -> float:
    """From 1 for the same meaning down to about 0 for words that have nothing to do with each other."""
    return float(sum(map(mul, one, other)))
