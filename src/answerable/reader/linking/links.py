"""Mentions: which phrases of the question may name which tables, columns, measures and values."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from answerable.core.catalog import ValueLookup
from answerable.core.records import dataclass
from answerable.core.words import singular, stem
from answerable.reader.linking.everyday_words import PERSON_WORDS, everyday_names, nations_of, needs_no_link
from answerable.reader.linking.lexicon import STOPWORDS, SYNONYMS
from answerable.reader.linking.schema import Schema, SchemaElement, Variant
from answerable.reader.linking.tokens import QuestionToken, Quote, TokenizedQuestion
from answerable.reader.linking.units import is_unit
from answerable.reader.linking.word_meanings import nearness, word_vector

# Each window of words is looked up in the values, so long windows cost time; few values are longer.
MAX_VALUE_WORDS = 7
# One word of a name of four says too little: "name" is not yet "first name of the contact".
_LEAST_SCORE = 0.3
# A guess at one word of two ("beak" for `bill_length`) scores less than the word itself.
_LEAST_GUESS = 0.2
_PREFIX = 5
# A name that means nearly the same is weaker evidence than a synonym of the list (0.6), and the more so the less it is
# like the word. On Spider-Syn the nearest name is the right one for nine of ten words from a similarity of 0.7 on.
_LEAST_LIKE = 0.42
_MOST_LIKE = 3
_LIKE_LEAD = 0.2
_LIKE_BASE = 0.15
_LIKE_SLOPE = 0.6
_MOST_LIKE_QUALITY = 0.65
# An everyday word names a class of columns: "spend" any amount of money. Which one is left to the fitted models.
_CLASS_QUALITY = 0.5
_NATION_QUALITY = 0.9
# How well a word fits a value that has it among others.
_PART_OF_VALUE = 0.74
_MOST_PART_WORDS = 3
_MOST_PARTS = 12
_LEAST_PART = 3
_BEFORE_STATES = frozenset({"no", "not", "in", "on", "off", "at", "out", "to"})
# "Who" asks for people, whatever they are called here.
_PERSON_QUALITY = 0.5
# Data has M and F where people say women: no synonym list of a catalog covers that.
_SEXES = {
    **dict.fromkeys(("male", "males", "man", "men", "boy", "boys", "guy", "guys", "lads", "gents", "gentlemen"), "M"),
    **dict.fromkeys(("female", "females", "woman", "women", "girl", "girls", "lady", "ladies"), "F"),
}


@dataclass(frozen=True, slots=True)
class Mention:
    """Tokens `start` to `end` may name the target."""

    kind: str
    id: int
    start: int
    end: int
    score: float
    """The share of the name that was said, less for synonyms and shortened names."""
    guessed: bool = False
    """A word of it only comes near to the name in meaning."""


@dataclass(frozen=True, slots=True)
class ValueMention:
    start: int
    end: int
    column: int
    value: str
    score: float
    quoted: bool


@dataclass(frozen=True, slots=True)
class PartOfValues:
    """Tokens `start` to `end` are a part of longer values of the column: the Marlboro machines, horror films."""

    start: int
    end: int
    column: int
    text: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Links:
    tables: tuple[Mention, ...]
    columns: tuple[Mention, ...]
    measures: tuple[Mention, ...]
    values: tuple[ValueMention, ...]
    parts: tuple[PartOfValues, ...] = ()
    """Only where words are also linked by meaning."""

    def covered(self) -> set[int]:
        """Tokens that some link explains."""
        found: set[int] = set()
        for mention in (*self.tables, *self.columns, *self.measures):
            found.update(range(mention.start, mention.end))
        for value in self.values:
            found.update(range(value.start, value.end))
        return found


def link(question: TokenizedQuestion, schema: Schema, values: ValueLookup, *, guessing: bool = False) -> Links:
    """With `guessing`, a word may also name what it only comes near to in meaning: earn the salary, who the staff."""
    positions = _positions(question.tokens, schema, guessing)
    least = _LEAST_GUESS if guessing else _LEAST_SCORE
    targets = {target for found in positions for target in schema.by_stem.get(found, ())}
    mentions = [
        mention
        for target in sorted(targets, key=lambda t: (t.kind, t.id))
        for mention in _mentions(target, schema.variants_of(target), positions, least)
    ]
    by_kind: dict[str, list[Mention]] = defaultdict(list)
    for mention in mentions:
        by_kind[mention.kind].append(mention)
    return Links(
        tuple(by_kind["table"]),
        tuple(by_kind["column"]),
        tuple(by_kind["measure"]),
        tuple(_values(question, schema, values)),
        tuple(_parts_of_values(question, schema, values)) if guessing else (),
    )


class _Quality(NamedTuple):
    """How surely a word says a stem, and whether that is a guess at what it means."""

    share: float
    guessed: bool


_Positions = dict[str, dict[int, _Quality]]


def _positions(tokens: Sequence[QuestionToken], schema: Schema, guessing: bool) -> _Positions:
    """For every stem that the schema knows: where the question says it, and how surely."""
    found: _Positions = defaultdict(dict)
    for place, token in enumerate(tokens):
        if token.kind != "word":
            continue
        forms = [(form, _Quality(share, False)) for form, share in _forms(token, schema)]
        if guessing:
            forms += [(form, _Quality(share, True)) for form, share in _guessed_forms(token, schema)]
        for form, quality in forms:
            known = found[form].get(place)
            if known is None or known.share < quality.share:
                found[form][place] = quality
    return found


def _forms(token: QuestionToken, schema: Schema) -> Iterator[tuple[str, float]]:
    if token.stem in schema.by_stem:
        yield token.stem, 1.0
    synonyms = SYNONYMS.get(token.lower) or SYNONYMS.get(token.stem) or ()
    for synonym in synonyms:
        form = stem(synonym)
        if form in schema.by_stem:
            # A synonym is weaker than the word itself, so that a column with the very name wins.
            yield form, 0.6
    if token.lower.endswith("s") and token.lower[:-1] != token.stem and token.lower[:-1] in schema.by_stem:
        yield token.lower[:-1], 0.95
    if token.stem not in schema.by_stem and token.lower not in STOPWORDS and len(token.stem) >= 4:
        yield from near_forms(token.stem, schema)


def _guessed_forms(token: QuestionToken, schema: Schema) -> Iterator[tuple[str, float]]:
    for name in everyday_names(token.lower, token.stem):
        if name in schema.by_stem:
            yield name, _CLASS_QUALITY
    for nation in nations_of(token.lower) or nations_of(token.stem):
        # A column may be about a nation: the sales in Japan, which the Japanese bought.
        if stem(nation.lower()) in schema.by_stem:
            yield stem(nation.lower()), _NATION_QUALITY
    if token.lower in PERSON_WORDS:
        yield from ((name, _PERSON_QUALITY) for name in schema.person_stems)
    if token.stem not in schema.by_stem and not needs_no_link(token.lower):
        yield from _like_forms(token, schema)


def _like_forms(token: QuestionToken, schema: Schema) -> Iterator[tuple[str, float]]:
    """Names that mean nearly the same as the word: vocalist, singer."""
    own = word_vector(token.lower) or word_vector(token.stem)
    if own is None:
        return
    near = sorted(((nearness(own, other), name) for name, other in schema.word_vectors.items()), reverse=True)
    for similarity, name in near[:_MOST_LIKE]:
        if similarity >= max(_LEAST_LIKE, near[0][0] - _LIKE_LEAD):
            yield name, min(_MOST_LIKE_QUALITY, _LIKE_BASE + _LIKE_SLOPE * similarity)


def near_forms(word: str, schema: Schema) -> Iterator[tuple[str, float]]:
    """Other derivations of the word (nation, nationality) and misspellings of a name."""
    # Comparing a word with every name would be slow, so the first three letters must agree.
    for known in schema.by_prefix.get(word[:3], ()):
        shared = _shared_prefix(word, known)
        if shared >= _PREFIX and shared >= 0.6 * max(len(word), len(known)):
            yield known, 0.7
        # The cheap tests come before the slow comparison.
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
    target: SchemaElement,
    variants: Iterable[Variant],
    positions: _Positions,
    least: float,
) -> list[Mention]:
    """The places where the target is named; of overlapping ones the fullest, then the most compact."""
    windows = [window for variant in variants for window in _windows(variant, positions, least)]
    windows.sort(key=lambda w: (-w.score, -w.matched, w.end - w.start, w.start))
    chosen: list[_Window] = []
    for window in windows:
        if all(window.end <= other.start or window.start >= other.end for other in chosen):
            chosen.append(window)
    return [Mention(target.kind, target.id, w.start, w.end, w.score, w.guessed) for w in chosen]


class _Window(NamedTuple):
    score: float
    matched: int
    start: int
    end: int
    guessed: bool


def _windows(variant: Variant, positions: _Positions, least: float) -> Iterator[_Window]:
    places = sorted(
        (place, index, quality)
        for index, stem_ in enumerate(variant.stems)
        for place, quality in positions.get(stem_, {}).items()
    )
    total = sum(variant.weights)
    # Two other words may stand in between: "name of the singer" is `singer_name`.
    reach = len(variant.stems) + 2
    for first, (start, _, _) in enumerate(places):
        gained: dict[int, float] = {}
        used: dict[int, int] = {}
        guessed = False
        for place, index, quality in places[first:]:
            if place >= start + reach:
                break
            # Each word of the name and each word of the question counts once.
            if index not in gained and place not in used:
                gained[index] = quality.share * variant.weights[index]
                used[place] = index
                guessed = guessed or quality.guessed
        score = variant.strength * sum(gained.values()) / total
        if score >= least:
            yield _Window(round(score, 4), len(used), start, max(used) + 1, guessed)


def _values(question: TokenizedQuestion, schema: Schema, values: ValueLookup) -> Iterator[ValueMention]:
    tokens = question.tokens
    for quote in question.quotes:
        found = [*_hits(schema, values, quote.text, quote.start, quote.end, quoted=True)]
        yield from found
        if not any(hit.score >= 1.0 for hit in found):
            yield from _parts_of_quote(question, schema, values, quote)
    for start, token in enumerate(tokens):
        if token.lower in _BEFORE_STATES:
            yield from _states(question, schema, values, start)
        if token.kind not in ("word", "number", "date") or _is_filler(token):
            continue
        yield from _sexes(schema, token, start)
        for nation in nations_of(token.lower):
            yield from _hits(schema, values, nation, start, start + 1, quoted=False)
        for end in range(start + 1, min(start + MAX_VALUE_WORDS, len(tokens)) + 1):
            last = tokens[end - 1]
            if last.kind == "quoted":
                break
            # A number alone is compared as a number, so it is not looked up as a value.
            if last.kind == "mark" or _is_filler(last) or (end == start + 1 and token.kind == "number"):
                continue
            if end == start + 1 and _asks_for_people(token):
                continue
            yield from _hits(schema, values, question.span_text(start, end), start, end, quoted=False)


def _states(question: TokenizedQuestion, schema: Schema, values: ValueLookup, start: int) -> Iterator[ValueMention]:
    """States such as "no show", "in transit", "on hold": values of two words that begin with one that says little."""
    following = question.tokens[start + 1 : start + 2]
    if not following or following[0].kind != "word" or following[0].lower in STOPWORDS:
        return
    for hit in _hits(schema, values, question.span_text(start, start + 2), start, start + 2, quoted=False):
        if singular(hit.value.lower()) == singular(question.span_text(start, start + 2).lower()):
            yield hit


def _parts_of_values(question: TokenizedQuestion, schema: Schema, values: ValueLookup) -> Iterator[PartOfValues]:
    tokens = question.tokens
    taken: set[int] = set()
    for length in range(_MOST_PART_WORDS, 0, -1):
        for start in range(len(tokens) - length + 1):
            places = range(start, start + length)
            if not taken.isdisjoint(places) or not _may_be_parts([tokens[place] for place in places], schema):
                continue
            # "Longer than 10 minutes" asks for no name with "minute" in it.
            if start and tokens[start - 1].kind == "number" and is_unit(tokens[start].lower):
                continue
            text = question.span_text(start, start + length)
            by_column: dict[int, list[str]] = defaultdict(list)
            for hit in values.find(text, limit=_MOST_PARTS, least=_PART_OF_VALUE):
                column = schema.column_of(hit.table, hit.column)
                if column is not None and _has_words(hit.value, text) and not _is_inside(hit.value, text):
                    by_column[column].append(hit.value)
                    taken.update(places)
            for column, found in by_column.items():
                yield PartOfValues(start, start + length, column, _as_in(found, text), tuple(found))


def _as_in(values: Sequence[str], text: str) -> str:
    """The text as most values have it: "ladders" are those with "Ladder" in their name."""
    alone = singular(text)
    return max((text, alone), key=lambda one: sum(one.lower() in value.lower() for value in values))


def _has_words(value: str, text: str) -> bool:
    """Whether all words of the text are words of the value, apart from their endings."""
    return {stem(word) for word in text.lower().split()} <= {
        stem(word.strip(".,;:()")) for word in value.lower().split()
    }


def _is_inside(value: str, text: str) -> bool:
    """Games are no "Microsoft Game Studios": what is many of a kind is called by the last word of its name."""
    words = value.lower().split()
    many = singular(text) != text.lower() and text.islower()
    return many and len(words) > 1 and stem(text.lower().split()[-1]) != stem(words[-1].strip(".,;:()"))


def _may_be_parts(tokens: Sequence[QuestionToken], schema: Schema) -> bool:
    """ "New York" is a part of "New York City", although "new" alone is none."""
    words = all(token.kind == "word" and token.value is None and not _is_filler(token) for token in tokens)
    return words and any(_may_be_part(token, schema) for token in tokens)


def _may_be_part(token: QuestionToken, schema: Schema) -> bool:
    if token.kind != "word" or token.value is not None or len(token.lower) < _LEAST_PART or _asks_for_people(token):
        return False
    return token.capital or not (needs_no_link(token.lower) or token.stem in schema.by_stem)


def _parts_of_quote(
    question: TokenizedQuestion, schema: Schema, values: ValueLookup, quote: Quote
) -> Iterator[ValueMention]:
    """A quoted full name may be chosen as two values, first and last name."""
    for place in range(quote.start, quote.end):
        if 1 < quote.end - quote.start <= 3:
            yield from _hits(schema, values, question.tokens[place].text, place, place + 1, quoted=False)


def _sexes(schema: Schema, token: QuestionToken, place: int) -> Iterator[ValueMention]:
    """Columns of sexes often hold just a letter."""
    letter = _SEXES.get(token.lower)
    if letter is None:
        return
    for name in ("sex", "gender"):
        for target in schema.by_stem.get(stem(name), ()):
            if target.kind == "column":
                for example in schema.columns[target.id].source.examples:
                    if example.upper() == letter or _SEXES.get(example.lower()) == letter:
                        yield ValueMention(place, place + 1, target.id, example, 1.0, False)


def _is_filler(token: QuestionToken) -> bool:
    """No value begins or ends with such a word, unless it is written with a capital."""
    return token.lower in STOPWORDS and not token.capital


def _asks_for_people(token: QuestionToken) -> bool:
    """ "People we hired" are not those of the department "People", unless it is written so."""
    return token.lower in PERSON_WORDS and not token.capital


def _hits(
    schema: Schema, values: ValueLookup, phrase: str, start: int, end: int, *, quoted: bool
) -> Iterator[ValueMention]:
    # Quotation marks show that the text is a value, so a less similar one is accepted.
    least = 0.6 if quoted else 0.85
    for hit in values.find(phrase, least=least):
        column = schema.column_of(hit.table, hit.column)
        if column is not None:
            yield ValueMention(start, end, column, hit.value, hit.score, quoted)
