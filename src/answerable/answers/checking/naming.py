"""Finds the rows that a sentence names, and the names in it that the result does not know."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

from answerable.answers.checking.lexicon import CAPITALS, COMMON_STARTS, NAME_STARTS, ORDINALS, VERBS
from answerable.core.records import dataclass
from answerable.core.words import fold, stem

_WORD = re.compile(r"[^\W_]+")
_LONGEST_PART = 3
_MOST_WORDS = 6
"""Longer labels are sentences: parts of them name nothing."""
_SYMBOLS = frozenset(["R²", "R2", "ANOVA", "OLS", "AUC"])
"""Names of statistics, which nothing has to explain."""
_DEMONYM = 6
"""Letters of the shortest name of a people that is recognised."""
_SEXES = {"men": "m", "man": "m", "male": "m", "males": "m", "women": "f", "woman": "f", "female": "f", "females": "f"}


@dataclass(frozen=True, slots=True)
class Token:
    """One word of a sentence."""

    start: int
    end: int
    text: str
    key: str
    """The stem of the word without case and accents."""

    @property
    def capital(self) -> bool:
        return self.text[:1].isupper()


@dataclass(frozen=True, slots=True)
class RowMention:
    """A place in a sentence that names rows."""

    start: int
    end: int
    column: int
    rows: frozenset[int]


Cells = Mapping[str, Iterable[tuple[int, int]]]
"""Each label of a result, and the (row, column) cells where it stands."""


def tokens(text: str) -> list[Token]:
    return [Token(m.start(), m.end(), m.group(), stem(fold(m.group()))) for m in _WORD.finditer(text)]


class LabelIndex:
    """The labels of a result, to be found in sentences in any case, in singular and plural, and by a part that only one
    label has: “Hawaiian” is Hawaiian Airlines Inc."""

    def __init__(self, labels: Cells) -> None:
        self._whole: dict[str, list[tuple[tuple[Token, ...], dict[int, frozenset[int]]]]] = {}
        self._parts: dict[str, set[str]] = {}
        self._rows: dict[str, dict[int, frozenset[int]]] = {}
        self.words: set[str] = set()
        for label, cells in labels.items():
            parts = tuple(tokens(label))
            if not parts:
                continue
            by_column: dict[int, set[int]] = {}
            for row, column in cells:
                by_column.setdefault(column, set()).add(row)
            self._rows[label] = {column: frozenset(rows) for column, rows in by_column.items()}
            self._whole.setdefault(parts[0].key, []).append((parts, self._rows[label]))
            for part in parts:
                self._parts.setdefault(part.key, set()).add(label)
                self.words.add(part.key)
        self._add_acronyms()
        self._add_parts()
        for known in self._whole.values():
            known.sort(key=lambda entry: -len(entry[0]))

    def _add_acronyms(self) -> None:
        """ICBC is the Industrial and Commercial Bank of China, if no other label has these letters."""
        labels: dict[str, list[str]] = {}
        for label in self._rows:
            letters = "".join(word[0] for word in _WORD.findall(label) if word[0].isupper())
            labels.setdefault(letters, []).append(label)
        for letters, called in labels.items():
            if len(letters) < _LONGEST_PART or len(called) > 1 or stem(fold(letters)) in self._whole:
                continue
            [token] = tokens(letters)
            self._whole[token.key] = [((token,), self._rows[called[0]])]
            self.words.add(token.key)

    def _add_parts(self) -> None:
        """“US Airways” is US Airways Inc., and “San Diego State” its university: words in a row that one label has."""
        labels: dict[tuple[str, ...], tuple[tuple[Token, ...], set[str]]] = {}
        for label in self._rows:
            found = tuple(tokens(label))
            for start in range(len(found)) if _LONGEST_PART <= len(found) <= _MOST_WORDS else ():
                for end in range(start + 2, len(found) + (start > 0)):
                    part = found[start:end]
                    if all(token.capital for token in (part[0], part[-1])) and not any(t.text.isdigit() for t in part):
                        labels.setdefault(tuple(t.key for t in part), (part, set()))[1].add(label)
        for part, called in labels.values():
            if len(called) == 1:
                self._whole.setdefault(part[0].key, []).append((part, self._rows[next(iter(called))]))

    def mentions(self, found: Sequence[Token]) -> list[RowMention]:
        mentions: list[RowMention] = []
        position = 0
        while position < len(found):
            length, here = self._whole_at(found, position)
            mentions += here
            position += max(1, length)
        taken = {m.start for m in mentions} | {t.start for t in found for m in mentions if m.start <= t.start < m.end}
        mentions += self._partly([t for t in found if t.start not in taken], mentions)
        return sorted(mentions, key=lambda m: m.start)

    def _whole_at(self, found: Sequence[Token], at: int) -> tuple[int, list[RowMention]]:
        key = found[at].key
        known = self._whole.get(key, ())
        for parts, columns in [*known, *self._adjective(found[at]), *self._sex(found[at]), *self._people(found[at])]:
            here = found[at : at + len(parts)]
            if len(here) == len(parts) and _same(parts, here):
                return len(parts), [RowMention(here[0].start, here[-1].end, c, rows) for c, rows in columns.items()]
        return 0, []

    def _adjective(self, token: Token) -> Iterator[tuple[tuple[Token, ...], dict[int, frozenset[int]]]]:
        """“Sunny” and “foggy” are the labels sun and fog."""
        folded = fold(token.text)
        if folded.endswith("y") and len(folded) > 4:
            for base in (folded[:-1], folded[:-2]):
                for parts, columns in self._whole.get(stem(base), ()):
                    if len(parts) == 1:
                        yield (token,), columns

    def _people(self, token: Token) -> Iterator[tuple[tuple[Token, ...], dict[int, frozenset[int]]]]:
        """“Australian” and “Canadians” are of the label Australia, and of Canada."""
        folded = fold(token.text).removesuffix("s")
        if not token.capital or not folded.endswith("an") or len(folded) < _DEMONYM:
            return
        root = folded.removesuffix("ian").removesuffix("an")
        for label, columns in self._rows.items():
            name = fold(label)
            if " " not in name and name.startswith(root) and len(name) - len(root) <= len("ia"):
                yield (token,), columns

    def _sex(self, token: Token) -> Iterator[tuple[tuple[Token, ...], dict[int, frozenset[int]]]]:
        letter = _SEXES.get(fold(token.text))
        if letter and {"m", "f"} <= self._whole.keys():
            for _, columns in self._whole[letter]:
                yield (token,), columns

    def _partly(self, found: Sequence[Token], whole: Sequence[RowMention]) -> Iterator[RowMention]:
        """Words that stand in one label alone. Not beside a whole mention of the same rows."""
        named = {row for mention in whole for row in mention.rows}
        others = {one.start for one, following in pairwise(found) if _begins_other_name(one, following)}
        for token in found:
            labels = self._parts.get(token.key, set()) if token.start not in others else set()
            if len(labels) == 1 and token.capital and len(token.text) >= _LONGEST_PART:
                for column, rows in self._rows[next(iter(labels))].items():
                    if not rows <= named:
                        yield RowMention(token.start, token.end, column, rows)


def _begins_other_name(token: Token, following: Token) -> bool:
    """“New York” is not New Jersey: words that begin many names stand for none of them alone."""
    return fold(token.text) in NAME_STARTS and following.capital and following.start == token.end + 1


def _same(parts: Sequence[Token], here: Sequence[Token]) -> bool:
    if len(parts) == 1:
        # A label such as “Two” or “It” is only meant where it is written with its capital.
        risky = fold(parts[0].text) in COMMON_STARTS or fold(parts[0].text) in ORDINALS or len(parts[0].text) == 1
        if risky and not here[0].text.endswith("ed"):
            return parts[0].text == here[0].text
        if parts[0].text.isupper() and len(parts[0].text) <= _LONGEST_PART:
            return here[0].text.isupper() and here[0].key == parts[0].key
    return all(a.key == b.key for a, b in zip(parts, here, strict=True))


def unknown_names(text: str, found: Sequence[Token], taken: Sequence[tuple[int, int]], known: set[str]) -> list[str]:
    """Capitalised words that nothing explains: neither a label, a column, the question nor a common word.
    `taken`: the spans of mentions and numbers; `known`: stems of the words of labels, columns and the question."""
    unknown = []
    for position, token in enumerate(found):
        covered = any(start <= token.start < end for start, end in taken) or token.text in _SYMBOLS
        if not token.capital or len(token.text) == 1 or covered or token.key in known or fold(token.text) in CAPITALS:
            continue
        following = found[position + 1] if position + 1 < len(found) else None
        if (
            following
            and text[token.end : following.start].strip() == "("
            and any(s == following.start for s, _ in taken)
        ):
            continue  # “Delta (DL)” explains a label
        if _begins(text, token) and not _is_name_at_start(token, following, known):
            continue
        unknown.append(token.text)
    return unknown


def _begins(text: str, token: Token) -> bool:
    before = text[: token.start].rstrip()
    return not before or before[-1] in ".:!?•*-–—“\"'(#|>"


def _is_name_at_start(token: Token, following: Token | None, known: set[str]) -> bool:
    """The first word has a capital in any case. It is a name if a verb or a known noun follows, and if it is no word
    that sentences commonly begin with."""
    word = fold(token.text)
    if word in COMMON_STARTS or word in ORDINALS or following is None:
        return False
    if word.endswith("ing") and fold(following.text) not in VERBS:
        return False
    if (following.capital and following.key not in known) or (token.text.isupper() and len(token.text) > 1):
        return True
    return fold(following.text) in VERBS or following.key in known
