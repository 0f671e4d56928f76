"""The question as tokens: words with their stems, numbers (also in words), quoted pieces, punctuation."""

import re
import unicodedata
from collections.abc import Iterator
from typing import Literal

from answerable.core.records import dataclass
from answerable.core.words import stem

Kind = Literal["word", "number", "quoted", "date", "mark"]

# Longer texts are pasted documents, not questions. Linking grows with the number of words times names.
MAX_CHARACTERS = 4000
MAX_TOKENS = 200

_QUOTES = {"“": '"', "”": '"', "„": '"', "«": '"', "»": '"', "‘": "'", "’": "'", "`": "'", "´": "'", "–": "-", "—": "-"}
_TRANSLATE = str.maketrans(_QUOTES)

# The order matters: quoted text hides what is in it, and a date would otherwise be three numbers.
_TOKEN = re.compile(
    r"""
      (?P<quoted>"[^"]{1,300}"|(?<![\w'])'(?:[^']|'(?=\w)){1,300}'(?!\w))
    | (?P<date>\d{4}-\d{1,2}-\d{1,2}(?:[ T]\d{1,2}:\d{2}(?::\d{2})?)?)
    | (?P<number>\$?\d{1,3}(?:,\d{3})+(?:\.\d+)?%?|\$?\d+(?:\.\d+)?(?:%|[kKmM]\b)?(?![\w]))
    | (?P<word>\w+(?:[-./&']\w+)*'?)
    | (?P<mark>[^\w\s])
    """,
    re.VERBOSE,
)

_SMALL_NUMBERS = """
zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
eighteen nineteen twenty
"""
NUMBER_WORDS = {word: number for number, word in enumerate(_SMALL_NUMBERS.split())} | {
    "thirty": 30,
    "forty": 40,
    "fifty": 50,
    "sixty": 60,
    "hundred": 100,
    "thousand": 1000,
    "million": 1_000_000,
    "twice": 2,
    "thrice": 3,
}
ORDINALS = {"second": 2, "third": 3, "fourth": 4, "fifth": 5, "2nd": 2, "3rd": 3, "4th": 4, "5th": 5}
_SCALES = {"k": 1000, "m": 1_000_000}


@dataclass(frozen=True, slots=True)
class QuestionToken:
    text: str
    lower: str
    stem: str
    kind: Kind
    start: int
    end: int
    value: float | int | None = None
    """The number, also if it is written as a word; None for other tokens."""
    capital: bool = False


@dataclass(frozen=True, slots=True)
class Quote:
    """Tokens `start` to `end` stood between quotation marks."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class TokenizedQuestion:
    text: str
    tokens: tuple[QuestionToken, ...]
    quotes: tuple[Quote, ...] = ()
    truncated: bool = False

    def span_text(self, start: int, end: int) -> str:
        return self.text[self.tokens[start].start : self.tokens[end - 1].end]


def tokenize(text: str) -> TokenizedQuestion:
    """Unifies quotes, dashes and blanks, and splits into tokens. Very long questions are cut, and say so."""
    cut = unicodedata.normalize("NFC", text[:MAX_CHARACTERS]).translate(_TRANSLATE)
    clean = " ".join(cut.split())
    tokens: list[QuestionToken] = []
    quotes: list[Quote] = []
    for match in _TOKEN.finditer(clean):
        found = _tokens_of(match)
        if found and found[0].kind == "quoted":
            quotes.append(Quote(len(tokens), len(tokens) + len(found), match.group()[1:-1].strip()))
        tokens.extend(found)
        if len(tokens) >= MAX_TOKENS:
            break
    truncated = len(text) > MAX_CHARACTERS or len(tokens) >= MAX_TOKENS
    return TokenizedQuestion(clean, tuple(tokens), tuple(quotes), truncated)


def _tokens_of(match: re.Match[str]) -> list[QuestionToken]:
    kind = match.lastgroup
    text, start, end = match.group(), match.start(), match.end()
    if kind == "quoted":
        return [
            QuestionToken(
                word.group(),
                word.group().lower(),
                stem(word.group().lower()),
                "quoted",
                start + word.start(),
                start + word.end(),
            )
            # A blank replaces an opening single quote, so that the places of the words stay right.
            for word in re.finditer(r"[^\s\"]+", text[:-1] if text[0] == '"' else " " + text[1:-1])
        ]
    if kind == "number":
        return [QuestionToken(text, text.lower(), text.lower(), "number", start, end, value=_number(text))]
    if kind == "date":
        return [QuestionToken(text, text, text, "date", start, end)]
    if kind == "mark":
        return [QuestionToken(text, text, text, "mark", start, end)]
    return _word_tokens(text, start)


def _word_tokens(text: str, start: int) -> list[QuestionToken]:
    """A word without its possessive ending; joined words (dep_delay, sign-up) are split so that they match names."""
    tokens = []
    for piece in re.finditer(r"[^\s\-/&_]+", text):
        word = re.sub(r"('s|')$", "", piece.group())
        if not word:
            continue
        lower = word.lower()
        begin = start + piece.start()
        tokens.append(
            QuestionToken(
                word, lower, stem(lower), "word", begin, begin + len(word), NUMBER_WORDS.get(lower), word[0].isupper()
            )
        )
    return tokens


def _number(text: str) -> int | float:
    scale = _SCALES.get(text[-1].lower(), 1)
    plain = text.strip("$%kKmM").replace(",", "")
    value = float(plain) * scale
    return int(value) if value.is_integer() and "." not in plain else value


# Korean vowels and final consonants join the letter before them, though they are not marks.
_JOINING_JAMO = range(0x1160, 0x1200)


class OriginalText:
    """The text of a question. Normalising joins accents to their letters and leaves blanks out, so places differ."""

    def __init__(self, text: str, question: TokenizedQuestion) -> None:
        self._text = text
        self._question = question
        self._places = None if text == question.text else _places(text[:MAX_CHARACTERS])

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Where the tokens `start` to `end` stand in the text."""
        first, last = self._question.tokens[start].start, self._question.tokens[end - 1].end
        if self._places is None:
            return first, last
        return self._places[first][0], self._places[last - 1][1]

    def of(self, start: int, end: int) -> str:
        first, last = self.span(start, end)
        return self._text[first:last]


def _places(text: str) -> list[tuple[int, int]]:
    """For each character of the normalised text, from where to where it stands in this one."""
    found: list[tuple[int, int]] = []
    after_blank = True
    for start, end in _letters(text):
        if text[start:end].isspace():
            if not after_blank:
                found.append((start, end))
            after_blank = True
            continue
        after_blank = False
        joined = len(unicodedata.normalize("NFC", text[start:end]))
        apart = joined == end - start
        found.extend((place, place + 1) if apart else (start, end) for place in range(start, start + joined))
    return found


def _letters(text: str) -> Iterator[tuple[int, int]]:
    """Each character with the marks that belong to it."""
    start = 0
    for place in range(1, len(text) + 1):
        if place == len(text) or text[start].isspace() or not _is_mark(text[place]):
            yield start, place
            start = place


def _is_mark(char: str) -> bool:
    return unicodedata.category(char)[0] == "M" or ord(char) in _JOINING_JAMO
