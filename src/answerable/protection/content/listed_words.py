"""Words and phrases of the operator's list, found in a text."""

import re
import unicodedata
from collections.abc import Sequence

_WORD = re.compile(r"\w+")


class ListedWords:
    """Compares words and not characters: a word inside of a longer one is another word. Letters that look alike in
    another width, case or with accents count as the same."""

    def __init__(self, listed: Sequence[str]) -> None:
        self._phrases = {_words(phrase): phrase for phrase in listed if _words(phrase)}
        self._longest = max(map(len, self._phrases), default=0)

    def found(self, text: str) -> str | None:
        """The first phrase that the text has, as the list writes it."""
        words = _words(text)
        for start in range(len(words)):
            for length in range(1, min(self._longest, len(words) - start) + 1):
                if (phrase := self._phrases.get(words[start : start + length])) is not None:
                    return phrase
        return None


def _words(text: str) -> tuple[str, ...]:
    plain = unicodedata.normalize("NFKD", text).casefold()
    # Signs without width, and accents, would part a word or change it without being seen.
    letters = "".join(sign for sign in plain if unicodedata.category(sign) not in ("Cf", "Mn"))
    return tuple(_WORD.findall(letters))
