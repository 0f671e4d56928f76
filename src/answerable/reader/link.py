"""Mentions: which phrases of the question may mean which tables, columns, measures and values."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from answerable.core.catalog import ValueLookup
from answerable.core.words import stem
from answerable.reader.lexicon import STOPWORDS, SYNONYMS
from answerable.reader.normalise import Question, Token
from answerable.reader.schema import Schema, Target, Variant

MAX_VALUE_WORDS = 7
_LEAST_SCORE = 0.3
_PREFIX = 5


@dataclass(frozen=True, slots=True)
class Mention:
    """Tokens `start` to `end` may name the target."""

    kind: str
    id: int
    start: int
    end: int
    score: float
    """The share of the name that was said, less for synonyms and shortened names."""


@dataclass(frozen=True, slots=True)
class ValueMention:
    start: int
    end: int
    column: int
    value: str
    score: float
    quoted: bool


@dataclass(frozen=True, slots=True)
class Links:
    tables: tuple[Mention, ...]
    columns: tuple[Mention, ...]
    measures: tuple[Mention, ...]
    values: tuple[ValueMention, ...]

    def covered(self) -> set[int]:
        """Tokens that some link explains."""
        found: set[int] = set()
        for mention in (*self.tables, *self.columns, *self.measures):
            found.update(range(mention.start, mention.end))
        for value in self.values:
            found.update(range(value.start, value.end))
        return found


def link(question: Question, schema: Schema, values: ValueLookup) -> Links:
    positions = _positions(question.tokens, schema)
    targets = {target for found in positions for target in schema.by_stem.get(found, ())}
    mentions = [
        mention
        for target in sorted(targets, key=lambda t: (t.kind, t.id))
        for mention in _mentions(target, schema.variants_of(target), positions)
    ]
    by_kind: dict[str, list[Mention]] = defaultdict(list)
    for mention in mentions:
        by_kind[mention.kind].append(mention)
    return Links(
        tuple(by_kind["table"]),
        tuple(by_kind["column"]),
        tuple(by_kind["measure"]),
        tuple(_values(question, schema, values)),
    )


_Positions = dict[str, dict[int, float]]


def _positions(tokens: Sequence[Token], schema: Schema) -> _Positions:
    """For every stem that the schema knows: where the question says it, and how surely."""
    found: _Positions = defaultdict(dict)
    for place, token in enumerate(tokens):
        if token.kind != "word":
            continue
        for form, quality in _forms(token, schema):
            known = found[form]
            known[place] = max(quality, known.get(place, 0.0))
    return found


def _forms(token: Token, schema: Schema) -> Iterator[tuple[str, float]]:
    if token.stem in schema.by_stem:
        yield token.stem, 1.0
    synonyms = SYNONYMS.get(token.lower) or SYNONYMS.get(token.stem) or ()
    for synonym in synonyms:
        form = stem(synonym)
        if form in schema.by_stem:
            yield form, 0.6
    if token.stem not in schema.by_stem and token.lower not in STOPWORDS and len(token.stem) >= 4:
        yield from _near_forms(token.stem, schema)


def _near_forms(word: str, schema: Schema) -> Iterator[tuple[str, float]]:
    """Other derivations of the word (nation, nationality) and misspellings of a name."""
    for known in schema.by_prefix.get(word[:3], ()):
        shared = _shared_prefix(word, known)
        if shared >= _PREFIX and shared >= 0.6 * max(len(word), len(known)):
            yield known, 0.7
        elif len(word) > 4 and abs(len(word) - len(known)) <= 2 and SequenceMatcher(None, word, known).ratio() > 0.84:
            yield known, 0.75


def _shared_prefix(left: str, right: str) -> int:
    count = 0
    for a, b in zip(left, right, strict=False):
        if a != b:
            break
        count += 1
    return count


def _mentions(
    target: Target, variants: Iterable[Variant], positions: Mapping[str, Mapping[int, float]]
) -> list[Mention]:
    """The places where the target is named; of overlapping ones the best."""
    windows: list[tuple[float, int, int]] = []
    for variant in variants:
        windows.extend(_windows(variant, positions))
    windows.sort(key=lambda window: (-window[0], window[1], window[2]))
    kept: list[tuple[float, int, int]] = []
    for score, start, end in windows:
        if all(end <= other[1] or start >= other[2] for other in kept):
            kept.append((score, start, end))
    return [Mention(target.kind, target.id, start, end, score) for score, start, end in kept]


def _windows(variant: Variant, positions: Mapping[str, Mapping[int, float]]) -> Iterator[tuple[float, int, int]]:
    places = sorted(
        (place, index, quality)
        for index, stem_ in enumerate(variant.stems)
        for place, quality in positions.get(stem_, {}).items()
    )
    total = sum(variant.weights)
    reach = len(variant.stems) + 2
    for first, (start, _, _) in enumerate(places):
        gained: dict[int, float] = {}
        used: dict[int, int] = {}
        for place, index, quality in places[first:]:
            if place >= start + reach:
                break
            if index not in gained and place not in used:
                gained[index] = quality * variant.weights[index]
                used[place] = index
        score = variant.strength * sum(gained.values()) / total
        if score >= _LEAST_SCORE:
            yield score, start, max(used) + 1


def _values(question: Question, schema: Schema, values: ValueLookup) -> Iterator[ValueMention]:
    tokens = question.tokens
    for start, token in enumerate(tokens):
        if token.kind == "quoted":
            yield from _hits(question, schema, values, start, start + 1, quoted=True)
        elif token.kind in ("word", "number", "date"):
            for end in range(start + 1, min(start + MAX_VALUE_WORDS, len(tokens)) + 1):
                last = tokens[end - 1]
                if last.kind == "quoted":
                    break
                if last.kind == "mark" or _only_stopwords(tokens[start:end]):
                    continue
                yield from _hits(question, schema, values, start, end, quoted=False)


def _only_stopwords(tokens: Sequence[Token]) -> bool:
    return all(token.lower in STOPWORDS or token.kind == "mark" for token in tokens)


def _hits(
    question: Question, schema: Schema, values: ValueLookup, start: int, end: int, *, quoted: bool
) -> Iterator[ValueMention]:
    phrase = question.tokens[start].text if quoted else question.span_text(start, end)
    least = 0.6 if quoted else 0.85
    for hit in values.find(phrase):
        column = schema.column_of(hit.table, hit.column)
        if column is not None and hit.score >= least:
            yield ValueMention(start, end, column, hit.value, hit.score, quoted)
