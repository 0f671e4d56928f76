"""A sentence, and what it speaks of: which rows it names, which words say what its numbers are meant to be."""

import re
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from answerable.answers.checking.facts import ResultFacts, covers, mentioned
from answerable.answers.checking.numerals import Numeral, numerals
from answerable.answers.roles import words

# Cues: words that say what a number is meant to be. Without them, sums and differences are not considered.


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


TOTAL = _set("total totals totalling sum together altogether combined overall all whole")
MEAN = _set("average averages averaged averaging mean avg")
MEDIAN = _set("median")
LESS = _set(
    "fell fall falls falling drop drops dropped decrease decreased decreases decline declined declines down lower less "
    "lost loss losses fewer shrank shrunk reduced reduction minus below behind negative worse lags trails early"
)
MORE = _set(
    "rose rise rises rising grew grow grows growth increase increased increases up higher more gain gained gains above "
    "ahead exceeds exceeded positive better leads beats"
)
BETWEEN = _set("difference gap apart change changed between spread range differs differ")
COUNTED = _set("row rows result results record records entry entries item items group groups match matches")
NARROWING = _set(
    "in since from to until till during before after by than top first last past bottom least most over under above "
    "below between within of for"
)
YES_OR_NO = _set("is are was were did do does has have had can could will would should")
_HEDGES = re.compile(
    r"(?P<any>about|around|roughly|approximately|some|circa|close to|~|≈)"
    r"|(?P<above>over|more than|at least|above|exceeding)|(?P<below>under|less than|up to|nearly|almost|just below)",
    re.IGNORECASE,
)


def sentences(text: str) -> list[str]:
    """The text in pieces that can stand or fall alone, with the blanks that follow them; joined they are the text."""
    pieces = re.split(r"(?<=[.!?])(\s+)(?=[\"“(*A-Z0-9À-ÖØ-Þ])|(\n+)", text)
    whole = [piece for piece in pieces if piece]
    joined: list[str] = []
    for piece in whole:
        if joined and (piece.isspace() or _abbreviated(joined[-1])):
            joined[-1] += piece
        else:
            joined.append(piece)
    return joined


def _abbreviated(piece: str) -> bool:
    return bool(re.search(r"\b(?:No|Nr|vs|e\.g|i\.e|approx|ca|St|Dr|Mr|Mrs|Inc|Ltd|Co)\.\s+$", piece))


@dataclass(frozen=True)
class Sentence:
    """A sentence and what it speaks of."""

    text: str
    facts: ResultFacts

    @cached_property
    def words(self) -> frozenset[str]:
        return frozenset(words(self.text))

    @cached_property
    def masks(self) -> list[tuple[int, int]]:
        """Names with digits in them, quoted as they are: Boeing 747, Q3 2026."""
        texts = [fact.value for fact in self.facts.extra if isinstance(fact.value, str)]
        # `name[1:]` because a name may have got a capital at the beginning of the sentence. The cheap test comes first:
        # there may be thousands of labels.
        known = [name for name in (*self.facts.labels, *self.facts.names, *texts) if name[1:] in self.text]
        quoted = [name for name in known if any(c.isdigit() for c in name) and any(c.isalpha() for c in name)]
        return [span for name in sorted(quoted, key=len, reverse=True) for span in mentioned(name, self.text)]

    @cached_property
    def numerals(self) -> list[Numeral]:
        found = numerals(self.text, self.masks)
        return found[1:] if found and _is_list_mark(self.text, found[0]) else found

    @cached_property
    def mentions(self) -> list[tuple[int, int, frozenset[int]]]:
        """Where rows are named (position, column) and which rows these are."""
        found = [
            (start, next(iter(cells))[1], frozenset(row for row, _ in cells))
            for label, cells in self.facts.labels.items()
            if label[1:] in self.text
            for start, end in mentioned(label, self.text)
            if not self._inside_longer(label, start, end)
        ]
        for numeral in self.numerals:
            if numeral.kind == "date" and numeral.period:
                cells = {(r, c) for known, r, c in self.facts.dates() if covers(numeral.period, known)}
                if cells:
                    found.append((numeral.start, min(c for _, c in cells), frozenset(r for r, _ in cells)))
        return sorted(found, key=lambda mention: mention[0])

    @cached_property
    def named_rows(self) -> list[int]:
        """The rows that the sentence speaks of: any of the names of one column, all of different columns."""
        by_column: dict[int, set[int]] = {}
        for _, column, rows in self.mentions:
            by_column.setdefault(column, set()).update(rows)
        if not by_column:
            return []
        sets = list(by_column.values())
        return sorted(set.intersection(*sets) or set.union(*sets))

    def rows_for(self, numeral: Numeral) -> list[int]:
        """The rows whose cells the numeral may be. Names and numbers that alternate belong together in pairs."""
        numbers = [n for n in self.numerals if n.kind in ("number", "percent")]
        marks = sorted([(m[0], "name") for m in self.mentions] + [(n.start, "number") for n in numbers])
        kinds = [kind for _, kind in marks]
        alternate = len(kinds) > 2 and len(kinds) % 2 == 0 and all(a != b for a, b in pairwise(kinds))
        if alternate and numeral in numbers and len({m[1] for m in self.mentions}) == 1:
            return sorted(self.mentions[numbers.index(numeral)][2])
        return self.named_rows

    def cue(self, *cues: frozenset[str]) -> bool:
        return any(not cue.isdisjoint(self.words) for cue in cues)

    def word_after(self, numeral: Numeral) -> str:
        following = words(self.text[numeral.end : numeral.end + 40])
        return following[0] if following else ""

    def word_before(self, numeral: Numeral) -> str:
        preceding = self.text[: numeral.start].rstrip()
        if preceding.endswith("#"):
            return "#"
        before = words(preceding[-40:])
        return before[-1] if before else ""

    def hedge(self, numeral: Numeral) -> re.Match[str] | None:
        before = self.text[: numeral.start].rstrip()
        found = [m for m in _HEDGES.finditer(before[-20:]) if m.end() == len(before[-20:])]
        return found[0] if found else None

    def _inside_longer(self, label: str, start: int, end: int) -> bool:
        longer = (other for other in self.facts.labels if label in other and other != label and other[1:] in self.text)
        return any(s <= start and end <= e for other in longer for s, e in mentioned(other, self.text))


def _is_list_mark(text: str, numeral: Numeral) -> bool:
    """“2.” or “2)” at the beginning of a line of its own is a list, not a statement."""
    alone = not text[: numeral.start].strip() and numeral.text.isdigit()
    return alone and bool(re.match(r"[.)]\s", text[numeral.end :])) and int(numeral.text) <= 99
