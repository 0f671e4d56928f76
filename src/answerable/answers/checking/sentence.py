"""A sentence, and what it speaks of: which rows it names, which words say what its numbers are meant to be."""

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from functools import cached_property
from itertools import pairwise

from answerable.answers.checking.facts import ResultFacts, covers, mentioned
from answerable.answers.checking.lexicon import BOUND, CONCEPTS, HEDGE, UNDERSTOOD
from answerable.answers.checking.naming import RowMention, Token, tokens, unknown_names
from answerable.answers.checking.numerals import MONTHS, Numeral, StatedDate, numerals
from answerable.answers.roles import Field, words
from answerable.core.records import dataclass
from answerable.core.words import fold, stem

_BEFORE = 26
"""Characters before a number in which its hedge stands."""


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
    return bool(re.search(r"\b(?:No|Nr|vs|e\.g|i\.e|approx|ca|St|Dr|Mr|Mrs|Inc|Ltd|Co|[A-Z])\.\s+$", piece))


@dataclass(frozen=True)
class Sentence:
    """A sentence and what it speaks of."""

    text: str
    facts: ResultFacts

    @cached_property
    def words(self) -> frozenset[str]:
        return frozenset(words(self.text))

    @cached_property
    def tokens(self) -> list[Token]:
        return tokens(self.text)

    @cached_property
    def masks(self) -> list[tuple[int, int]]:
        """Names with digits in them, quoted as they are: Boeing 747, Q3 2026, sales_2024.csv."""
        texts = [fact.value for fact in self.facts.extra if isinstance(fact.value, str)]
        # `name[1:]` because a name may have got a capital at the beginning of the sentence. The cheap test comes first:
        # there may be thousands of labels.
        names = (*self.facts.labels, *self.facts.names, *texts, *self.facts.quoted_names)
        known = [name for name in names if name[1:] in self.text]
        quoted = [name for name in known if any(c.isdigit() for c in name) and any(c.isalpha() for c in name)]
        spans = [span for name in sorted(quoted, key=len, reverse=True) for span in mentioned(name, self.text)]
        return [*spans, *((m.start, m.end) for m in self.labels_named), *self._numbers_in_names()]

    def _numbers_in_names(self) -> Iterator[tuple[int, int]]:
        """“Over 100 meters” and “the 100 m” say the column `meter_100`."""
        for column in self.facts.columns:
            named = words(column.name)
            numbers = [word for word in named if word.isdigit() and len(word) < 4]
            for number in numbers if len(named) > 1 else ():
                for match in re.finditer(rf"(?<![\d.,-]){number}[ -]?(?P<noun>[^\W\d_]+)", self.text):
                    noun = stem(fold(match["noun"]))
                    if any(stem(word).startswith(noun) for word in named if not word.isdigit()):
                        yield match.start(), match.start() + len(number)

    @cached_property
    def numerals(self) -> list[Numeral]:
        found = numerals(self.text, self.masks)
        return found[1:] if found and _is_list_mark(self.text, found[0]) else found

    @cached_property
    def labels_named(self) -> list[RowMention]:
        return self.facts.label_index.mentions(self.tokens)

    @cached_property
    def mentions(self) -> list[RowMention]:
        """Where rows are named, by a label or by a period."""
        return sorted([*self.labels_named, *self._periods(), *self.key_mentions()], key=lambda mention: mention.start)

    @cached_property
    def named_rows(self) -> list[int]:
        """The rows that the sentence speaks of: any of the names of one column, all of different columns."""
        by_column: dict[int, set[int]] = {}
        for mention in self.mentions:
            by_column.setdefault(mention.column, set()).update(mention.rows)
        if not by_column:
            return []
        sets = list(by_column.values())
        return sorted(set.intersection(*sets) or set.union(*sets))

    @cached_property
    def lists(self) -> list[tuple[list[RowMention], frozenset[int]]]:
        """Names of one column that are listed together, and all their rows."""
        found: list[list[RowMention]] = []
        for mention in sorted(self.mentions, key=lambda m: (m.column, m.start)):
            last = found[-1][-1] if found else None
            # “A (France), B (Germany) and C”
            between = re.sub(r"\s*\([^()]*\)", "", self.text[last.end : mention.start]) if last else ""
            if last and last.column == mention.column and _LISTED.fullmatch(between):
                found[-1].append(mention)
            else:
                found.append([mention])
        return [(names, frozenset(row for m in names for row in m.rows)) for names in found if len(names) > 1]

    @cached_property
    def spoken(self) -> frozenset[int]:
        """The columns that the sentence speaks of, by a word of their names or by what people call such quantities."""
        return frozenset(f.index for f in self.facts.fields if self.speaks_of(f))

    @cached_property
    def quotes_facts(self) -> bool:
        """Whether a text that was handed in is part of the sentence."""
        return any(isinstance(fact.value, str) and fact.value in self.text for fact in self.facts.extra)

    @cached_property
    def unknown(self) -> list[str]:
        taken = [*self.masks, *((m.start, m.end) for m in self.mentions), *((n.start, n.end) for n in self.numerals)]
        return unknown_names(self.text, self.tokens, taken, self.facts.known_words)

    @cached_property
    def is_understood(self) -> bool:
        """Whether every word is known: a name or a column of the result, a word of the question, or a common one."""
        spans = [(n.start, n.end) for n in self.numerals]
        return all(
            token.key in self.facts.known_words
            or fold(token.text) in UNDERSTOOD
            or any(start <= token.start < end for start, end in spans)
            for token in self.tokens
        )

    def speaks_of(self, field: Field) -> bool:
        names = {stem(fold(word)) for word in words(field.name)} - _WEAK
        if not names:
            return False
        spoken = {token.key for token in self.tokens}
        # Where there is a price, “costs 500” speaks of it; what it cost is another column.
        if self.facts.concerning(("price",)):
            spoken -= {"cost"}
        if names & spoken:
            return True
        return any(field in self.facts.concerning(CONCEPTS.get(fold(token.text), ())) for token in self.tokens)

    def rows_for(self, numeral: Numeral) -> list[int]:
        """The rows whose cells the numeral may be. Names and numbers that alternate belong together in pairs."""
        if _FOR_OTHERS.match(self.text[numeral.end :]) and self.facts.complete:
            return sorted(set(range(len(self.facts.rows))) - set(self.named_rows))
        if (end := self._end_of_series(numeral)) is not None:
            return [end]
        numbers = [n for n in self.numerals if n.kind in ("number", "percent") and not self.names_rows(n)]
        if numeral in numbers:
            for column in {m.column for m in self.mentions}:
                names = [m for m in self.mentions if m.column == column]
                if len(names) == len(numbers) > 1 and _alternate(names, numbers):
                    return sorted(self.rows_of(names[numbers.index(numeral)]))
        return self._rows_in_clause(numeral) or self.named_rows

    def _end_of_series(self, numeral: Numeral) -> int | None:
        """The row that “closed the year at 85.35” or “opened at 135.36” speaks of; None if a name stands nearer."""
        series = self.facts.series
        found = _AT_END.search(self.text[: numeral.start]) if series is not None else None
        if (
            series is None
            or found is None
            or any(m.start >= found.start() for m in self.mentions if m.end <= numeral.start)
        ):
            return None
        return series[1][-1 if found["last"] else 0]

    def _rows_in_clause(self, numeral: Numeral) -> list[int]:
        """The rows that are named between the same semicolons as the number; none if there are none."""
        start, end = self.clause(numeral)
        inside = [m for m in self.mentions if start <= m.start < end]
        if len(inside) == len(self.mentions):
            return []
        return sorted({row for mention in inside for row in self.rows_of(mention)})

    def clause(self, numeral: Numeral) -> tuple[int, int]:
        """Where the clause of a number begins and ends: semicolons part clauses, and so do “while” and “but”."""
        ends = [0, *(m.start() for m in _CLAUSES.finditer(self.text)), len(self.text)]
        return next((a, b) for a, b in pairwise(ends) if numeral.start < b)

    def mention_before(self, position: int) -> RowMention | None:
        return next((m for m in reversed(self.mentions) if m.end <= position), None)

    def mention_after(self, position: int) -> RowMention | None:
        return next((m for m in self.mentions if m.start >= position), None)

    def rows_of(self, mention: RowMention) -> frozenset[int]:
        """The rows of a mention, narrowed by mentions of other columns that share rows with it."""
        rows = mention.rows
        for column in {m.column for m in self.mentions} - {mention.column}:
            others = frozenset(row for m in self.mentions if m.column == column for row in m.rows)
            rows = rows & others or rows
        return rows

    def cue(self, *cues: frozenset[str]) -> bool:
        return any(not cue.isdisjoint(self.words) for cue in cues)

    def word_after(self, numeral: Numeral) -> str:
        """The word that the number stands before. What a comma, colon or bracket parts from it is none."""
        after = self.text[numeral.end : numeral.end + 40]
        following = words(after) if not _PARTED.match(after) else []
        return following[0] if following else ""

    def word_before(self, numeral: Numeral) -> str:
        preceding = self.text[: numeral.start].rstrip()
        if preceding.endswith("#"):
            return "#"
        before = words(preceding[-40:])
        return before[-1] if before else ""

    def hedge(self, numeral: Numeral) -> re.Match[str] | None:
        return _ending(HEDGE, self.text[: numeral.start])

    def bound(self, numeral: Numeral) -> str | None:
        """Which bound the number is: `above`, `below`, `at_least` or `at_most`; None if it is a value."""
        if _ending(HEDGE, self.text[: numeral.start]) is not None:
            return None
        if re.match(r" or (?:more|above|over)\b", self.text[numeral.end :]):
            return "at_least"
        if re.match(r" or (?:less|fewer|below)\b", self.text[numeral.end :]):
            return "at_most"
        if _DENIED.match(self.text) and re.search(r"\breach(?:es|ed)? $", self.text[: numeral.start]):
            return "at_least"
        found = _ending(BOUND, self.text[: numeral.start])
        if found is not None and found.group().lower() in ("after", "before") and not self._is_time(numeral):
            return None  # “looks after 21 customers”
        if found is not None and self.is_year(numeral) and self._follows_number(numeral, found.group()):
            return None
        return found.lastgroup if found else None

    def _is_time(self, numeral: Numeral) -> bool:
        return numeral.kind in ("date", "time") or self.is_year(numeral)

    def _follows_number(self, numeral: Numeral, word: str) -> bool:
        """“1.2 million below 2006”: the year is compared with, and bounds nothing."""
        before = self.text[: self.text.rfind(word, 0, numeral.start)].rstrip()
        return any(n.end == len(before) for n in self.numerals)

    def range_of(self, numeral: Numeral) -> tuple[Decimal, Decimal] | None:
        """The two ends of “between 10 and 12 million”, asked of either number."""
        for first, last in pairwise(self.numerals):
            between = self.word_before(first) == "between" and self.text[first.end : last.start].strip() == "and"
            if between and numeral in (first, last) and last.kind == "number":
                times = last.value / Decimal(_plain(last)) if last.scaled and not first.scaled and _plain(last) else 1
                return first.value * times, last.value
        return None

    def since(self) -> list[int]:
        """The rows from the time on that the sentence names after “since”; none if it names no such time."""
        series = self.facts.series
        for mention in self.mentions if series is not None else ():
            said_since = re.search(r"\bsince (?:the )?(?:beginning of )?$", self.text[: mention.start], re.IGNORECASE)
            if series is not None and said_since and mention.column == series[0].index:
                order = series[1]
                return order[min(order.index(row) for row in mention.rows) :]
        return []

    def is_year(self, numeral: Numeral) -> bool:
        return numeral.kind == "number" and bool(re.fullmatch(r"(?:1[5-9]|20|21)\d\d", numeral.text))

    def names_rows(self, numeral: Numeral) -> bool:
        """Whether the number is the name of rows: a date, a year, a key."""
        return any(m.start == numeral.start for m in (*self._periods(), *self.key_mentions()))

    def _periods(self) -> Iterator[RowMention]:
        """Dates, years and months that stand in the rows."""
        for numeral in self.numerals:
            if numeral.period or self.is_year(numeral):
                said = numeral.period or StatedDate(year=int(numeral.value))
                yield from self._dated(said, numeral.start, numeral.end)
            if numeral.kind == "ordinal" and _ON_THE.search(self.text[: numeral.start]):
                yield from self._dated(StatedDate(day=int(numeral.value)), numeral.start, numeral.end)
        for token in self.tokens:
            if token.text in _MONTH_NAMES and not any(n.start <= token.start < n.end for n in self.numerals):
                yield from self._dated(StatedDate(month=_MONTH_NAMES[token.text]), token.start, token.end)

    def key_mentions(self) -> Iterator[RowMention]:
        """Keys that are called by their column: region 2, order #1042."""
        for numeral in self.numerals:
            if numeral.kind != "number" or numeral.scaled or numeral.value != int(numeral.value):
                continue
            before = self.word_before(numeral)
            for field in self.facts.fields:
                if field.role == "key" and (
                    before == "#" or stem(before) in self.facts.name_keys(field) or self._is_listed_key(numeral, field)
                ):
                    cells = enumerate(self.facts.numbers(field.index))
                    rows = frozenset(row for row, value in cells if value == numeral.value)
                    if rows:
                        yield RowMention(numeral.start, numeral.end, field.index, rows)

    def _is_listed_key(self, numeral: Numeral, field: Field) -> bool:
        """“Two of the claims, 935 and 486”: keys between commas, after the word that their column is called by."""
        start = self.text.rfind(", ", 0, numeral.start)
        called = {token.key for token in self.tokens if token.end <= start} & self.facts.name_keys(field)
        return start >= 0 and bool(called - _WEAK) and bool(_KEYS.fullmatch(self.text[start + 2 : numeral.end]))

    def _dated(self, said: StatedDate, start: int, end: int) -> Iterator[RowMention]:
        columns: dict[int, set[int]] = {}
        said = self.facts.narrowed(said)
        for known, row, column in self.facts.dates():
            if covers(said, known):
                columns.setdefault(column, set()).add(row)
        if said.month and said.day is None and (said.year is None or str(said.year) in self.facts.question):
            for row, column in self.facts.in_month(said.month):
                columns.setdefault(column, set()).add(row)
        for column, rows in columns.items():
            yield RowMention(start, end, column, frozenset(rows))


_FOR_OTHERS = re.compile(r"(?:\s+\w+){0,2}\s+(?:for|in|at|of) (?:all )?the (?:others|rest)\b", re.IGNORECASE)
_AT_END = re.compile(
    r"\b(?:(?P<last>clos|end|finish)(?:ed|es|ing)|(?:open|start)(?:ed|s|ing)|began|begins)"
    r"(?: the (?:year|quarter|month|week|period|series))? (?:at|on|with) (?:about |around |just )?[$€£]?$",
    re.IGNORECASE,
)
_KEYS = re.compile(r"\d+(?:(?:, | and |, and )\d+)*")
_ON_THE = re.compile(r"\b(?:on|and|or) the $", re.IGNORECASE)
_CLAUSES = re.compile(r";|,? (?:while|whereas|but) ")
_DENIED = re.compile(r"\W*(?:no|none|nobody|neither|in no|at no)\b", re.IGNORECASE)
_PARTED = re.compile(r"\s*[,;:.()!?=<>]")
_LISTED = re.compile(r"\s*(?:,|and|or|&|, and|, or)\s+(?:the\s+)?")
_WEAK = frozenset(
    stem(word)
    for word in (
        *("avg", "average", "mean", "total", "sum", "number", "num", "count", "id"),
        *("of", "the", "and", "or", "in", "on", "by", "to", "from", "for", "with", "per", "a", "at"),
    )
)
"""Words of column names that say how a value was computed, not what it is."""
_MONTH_NAMES = {name.capitalize(): number for number, name in enumerate(MONTHS, 1)}


def _plain(numeral: Numeral) -> str:
    """The digits of a number without its scale."""
    found = re.search(r"\d[\d,]*(?:\.\d+)?", numeral.text)
    return found.group().replace(",", "") if found else ""


def _alternate(names: Sequence[RowMention], numbers: Sequence[Numeral]) -> bool:
    """Whether names and numbers take turns, so that they belong together in pairs."""
    marks = sorted([(m.start, "name") for m in names] + [(n.start, "number") for n in numbers])
    return all(a != b for (_, a), (_, b) in pairwise(marks))


def _ending(pattern: re.Pattern[str], before: str) -> re.Match[str] | None:
    """The match that ends where the text ends, an article aside."""
    text = re.sub(r"\s+(?:an?\s*)?[$€£]?$", "", before[-_BEFORE:] + " ")
    whole = (m for m in pattern.finditer(text) if m.start() == 0 or not text[m.start() - 1].isalnum())
    found = [m for m in whole if m.end() == len(text)]
    return found[0] if found else None


def _is_list_mark(text: str, numeral: Numeral) -> bool:
    """“2.” or “2)” at the beginning of a line of its own is a list, not a statement."""
    alone = not text[: numeral.start].strip() and numeral.text.isdigit()
    return alone and bool(re.match(r"[.)]\s", text[numeral.end :])) and int(numeral.text) <= 99
