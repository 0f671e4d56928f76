"""Normal forms of words, to compare text from questions, column names and values in the data.

There are three pure and cheap steps. `normalise` removes what people leave out when they type: case, accents and
punctuation. `words` splits. `stem` maps the forms of one English word to one key. A stem is for comparisons, not for
display.
"""

import re
import unicodedata
from functools import lru_cache

_UNDECOMPOSED = str.maketrans(
    {"æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ı": "i", "ħ": "h", "ŧ": "t"}
)
_APOSTROPHES = re.compile(r"['’ʼ`´]")
_INITIAL_DOT = re.compile(r"\b([^\W\d_])\.(?=[^\W\d_]\b)")
_HUMPS = re.compile(r"(?<=[a-z\d])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[^\W\d_]{2})(?=\d)")

_IRREGULAR = {
    "buses": "bus",
    "children": "child",
    "criteria": "criterion",
    "data": "data",
    "feet": "foot",
    "gases": "gas",
    "halves": "half",
    "indices": "index",
    "knives": "knife",
    "matrices": "matrix",
    "men": "man",
    "mice": "mouse",
    "movies": "movie",
    "news": "news",
    "people": "person",
    "phenomena": "phenomenon",
    "series": "series",
    "shelves": "shelf",
    "species": "species",
    "teeth": "tooth",
    "vertices": "vertex",
    "wives": "wife",
    "wolves": "wolf",
    "women": "woman",
    "yes": "yes",
}
_VOWELS = frozenset("aeiouy")


def fold(text: str) -> str:
    """The text without case, accents and superfluous blanks. Punctuation stays."""
    if text.isascii():
        return " ".join(text.lower().split())
    # Folding case can bring forth new accents (İ), and removing accents new capitals: both orders are needed.
    folded = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold()).casefold()
    bare = "".join(char for char in folded if not unicodedata.combining(char))
    return " ".join(bare.translate(_UNDECOMPOSED).split())


def normalise(text: str) -> str:
    """The words of a text as people would type them in haste: lower case, no accents, single blanks, no punctuation.

    Text without a letter or digit has no normal form: the result is empty.
    """
    folded = fold(text)
    if folded.replace(" ", "").isalnum():
        return folded
    whole = _APOSTROPHES.sub("", _INITIAL_DOT.sub(r"\1", folded))
    return " ".join(whole.translate(_WORDS_APART).split())


class _WordsApart(dict[int, str]):
    """A table for `str.translate` that turns characters outside of words into blanks. It caches each character at its
    first use, because the lookup of its category is slow."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        # Vowel signs of scripts such as Devanagari are marks, not letters, but no word ends at one.
        self[code] = char if char.isalnum() or unicodedata.category(char)[0] == "M" else " "
        return self[code]


_WORDS_APART = _WordsApart()


def words(text: str) -> list[str]:
    return normalise(text).split()


def name_words(name: str) -> list[str]:
    """The words in an identifier: `CustomerID`, `customer_id` and `customer id` have the same two words."""
    return words(_HUMPS.sub(" ", name))


@lru_cache(maxsize=65_536)
def singular(word: str) -> str:
    """The singular of a normalised English noun. Other words are returned unchanged."""
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) < 4 or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies"):
        return word[:-3] + "y" if len(word) > 4 else word[:-1]
    if word.endswith(("sses", "shes", "ches", "xes", "zzes")):
        return word[:-2]
    if word.endswith("uses") and len(word) > 6 and word[-5] not in _VOWELS:
        return word[:-2]
    return word[:-1]


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """A key that the forms of one English word share: manage, manages, managed and managing."""
    if not word.isascii() or not word.isalpha():
        return word
    base = singular(word)
    for ending in ("ingly", "edly", "ing", "ed"):
        if base.endswith(ending) and _has_vowel(base[: -len(ending)]) and len(base) - len(ending) > 2:
            base = _undoubled(base[: -len(ending)])
            break
    # "manag" for both manage and managing, and "citi" for both city and cities.
    if base.endswith("e") and len(base) > 3:
        base = base[:-1]
    if base.endswith("y") and len(base) > 2 and base[-2] not in _VOWELS:
        base = base[:-1] + "i"
    return base


def stemmed(normal: str) -> str:
    """The stems of an already normalised text."""
    return " ".join(map(stem, normal.split()))


def _has_vowel(text: str) -> bool:
    return not _VOWELS.isdisjoint(text)


def _undoubled(base: str) -> str:
    """Removes a doubled consonant, since `planned` is a form of `plan`. Keeps ll, ss and zz: `filled`, `fill`."""
    if len(base) > 3 and base[-1] == base[-2] and base[-1] not in "aeioulsz":
        return base[:-1]
    return base
