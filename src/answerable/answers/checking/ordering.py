"""Claims about order: which row is the highest, which comes second, which is more than another, what rose or fell."""

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from itertools import pairwise
from typing import NamedTuple

from answerable.answers.checking.lexicon import (
    CONCEPTS,
    COUNTABLE,
    DATED,
    DOWN,
    EITHER,
    FELL,
    HIGHER,
    LESS,
    MORE,
    MOVEMENTS,
    ORDINALS,
    RANK,
    ROSE,
    SUPERLATIVES,
    TOTAL,
    UP,
)
from answerable.answers.checking.naming import RowMention, Token
from answerable.answers.checking.predicates import RowSet, joined, subject_after, subject_before
from answerable.answers.checking.sentence import Sentence
from answerable.answers.roles import Field
from answerable.core.words import fold

_NOUNS = 4
"""How many words after a superlative may name its column."""
_COMPARATIVE = re.compile(
    r"\b(?P<word>more|fewer|less|higher|lower|longer|shorter|larger|smaller|heavier|lighter|greater|bigger|later|earlier"
    r"|older|newer|cheaper|taller|dearer|wetter|drier|warmer|colder|denser)\b(?P<noun>[^.;:]*?)\bthan\b"
    r"|\b(?:(?:is|are|was|were|lies|lie|stays|comes|ranks) )(?P<place>ahead of|above|behind|below)\b(?! the\b)",
    re.IGNORECASE,
)
_DATE_WORDS = frozenset(["later", "earlier", "older", "newer"])
_QUANTIFIED = re.compile(
    r"\b(?:only|except|other than|none|no|nobody|all|every|each)\b|\bof (?:the|them|these)\b", re.I
)
_CLAUSE_END = re.compile(r"[,;:(](?!\d)")
_LEADS_TO = re.compile(r"(?:\w+\s+){0,4}(?:\w+,|for|in|is|was|are|were|at|on|by)\s+(?:the\s+)?", re.IGNORECASE)
_AS_MEASURE = re.compile(r"\b(?:above|below|than|between|to|from|over) the $|\bhalf of the year\b", re.IGNORECASE)
"""What stands before a superlative that is only compared with, or that is one of a part of the rows."""
_OF_TWO = re.compile(r"\b(?:gap|difference|spread|distance|ratio) (?:between|of)\b", re.IGNORECASE)
_EVERY = re.compile(r"\b(?:every|each) (?:single )?(?:year|quarter|month|week|day)\b", re.IGNORECASE)


class Superlative(NamedTuple):
    """A word that puts its subject at one end of an order."""

    token: Token
    end: int
    columns: Sequence[Field]
    moved: int = 0
    """UP or DOWN if it is the change of the rows that is ordered: lost the most."""


def misordered(sentence: Sentence) -> Iterator[str]:
    """Yields what the rows contradict. Over a part of the rows nothing can be ordered."""
    if not sentence.facts.complete or len(sentence.facts.rows) < 2:
        return
    yield from _superlatives(sentence)
    yield from _ranks(sentence)
    yield from _comparisons(sentence)
    yield from _directions(sentence)
    yield from _from_to(sentence)


def apart(sentence: Sentence) -> Iterator[str]:
    """Yields names and dates that the sentence puts together although no row has both."""
    every = [m for m in sentence.mentions if not _is_asked_period(sentence, m) and not _is_compared(sentence, m)]
    for mention in every:
        # What a semicolon parts is said by itself.
        mentions = [m for m in every if ";" not in sentence.text[min(m.end, mention.end) : max(m.start, mention.start)]]
        others = {m.column for m in mentions if m.column != mention.column and m.start != mention.start}
        for column in others:
            if not any(m.rows & mention.rows for m in mentions if m.column == column):
                yield f"no row has “{sentence.text[mention.start : mention.end]}” together with what is said of it"
                return


def _is_compared(sentence: Sentence, mention: RowMention) -> bool:
    return bool(re.search(r"\b(?:than|as|to|against|after|before)\s+(?:the\s+)?$", sentence.text[: mention.start]))


def _is_asked_period(sentence: Sentence, mention: RowMention) -> bool:
    text = sentence.text[mention.start : mention.end]
    return text[-4:].isdigit() and text[-4:] in sentence.facts.question


# Superlatives


def _superlatives(sentence: Sentence) -> Iterator[str]:
    for superlative in _found(sentence):
        position = superlative.token.start
        subject = _subject(sentence, position)
        if subject is None or sentence.text[:3].lower() == "no " or _AS_MEASURE.search(sentence.text[:position]):
            continue
        if _OF_TWO.search(sentence.text[:position]):
            continue  # the gap between two columns is no column
        rows = sentence.rows_of(subject) | joined(sentence, subject)
        if not any(_is_extreme(sentence, superlative, rows, scope) for scope in _scopes(sentence, subject, position)):
            yield f"the rows do not have it as the “{superlative.token.text}”"


def _subject(sentence: Sentence, position: int) -> RowMention | None:
    """The mention that a superlative speaks of: “Paris has the highest”, “highest for Paris”."""
    before, after = subject_before(sentence, position), subject_after(sentence, position)
    if before is None or after is None or not _CLAUSE_END.search(sentence.text[before.end : position]):
        return before or after
    return after if _LEADS_TO.fullmatch(sentence.text[position : after.start]) else before


def _found(sentence: Sentence) -> Iterator[Superlative]:
    found = sentence.tokens
    for at, token in enumerate(found):
        word, before = fold(token.text), fold(found[at - 1].text) if at else ""
        if before in ORDINALS or any(m.start <= token.start < m.end for m in sentence.labels_named):
            continue
        if word in ("most", "least"):
            following = fold(found[at + 1].text) if at + 1 < len(found) else ""
            moved = _moved_before(found, at)
            if following == "recent":
                yield Superlative(token, UP if word == "most" else DOWN, _times(sentence))
            elif before == "the" or following in CONCEPTS or following in COUNTABLE:
                yield Superlative(token, UP if word == "most" else DOWN, _columns(sentence, at, ()), moved)
        elif word in SUPERLATIVES and (word not in ("maximum", "minimum") or before == "the"):
            end, concepts = SUPERLATIVES[word]
            # Who has been there the longest has the earliest date.
            longest_since = word == "longest" and not sentence.facts.concerning(concepts) and _times(sentence)
            if word in DATED or longest_since:
                yield Superlative(token, DOWN if longest_since else end, _times(sentence))
            else:
                moved = _moved_before(found, at) if word in ("fewest", "fastest") else _movement_after(found, at)
                yield Superlative(token, end, _columns(sentence, at, concepts), moved)


def _moved_before(found: Sequence[Token], at: int) -> int:
    earlier = [fold(token.text) for token in found[max(0, at - 2) : at]]
    return UP if ROSE & set(earlier) else DOWN if FELL & set(earlier) else 0


def _movement_after(found: Sequence[Token], at: int) -> int:
    return next((MOVEMENTS[word] for t in found[at + 1 : at + 4] if (word := fold(t.text)) in MOVEMENTS), 0)


def _columns(sentence: Sentence, at: int, concepts: Sequence[str]) -> Sequence[Field]:
    """The measures that a superlative orders: by its own meaning, by the words after it, by the sentence, or any."""
    facts = sentence.facts
    if called_so := [f for f in facts.measures if sentence.tokens[at].key in facts.name_keys(f)]:
        return called_so
    if by_meaning := facts.concerning(concepts):
        return by_meaning
    following = sentence.tokens[at + 1 : at + 1 + _NOUNS]
    named = {token.key for token in following}
    meant = [f for token in following for f in facts.concerning(CONCEPTS.get(fold(token.text), ()))]
    if following and fold(following[0].text) in COUNTABLE:
        return [f for f in facts.measures if f.type == "integer"] or facts.measures
    overlap = {f: len(named & facts.name_keys(f)) + meant.count(f) for f in facts.measures}
    best = max(overlap.values(), default=0)
    if best:
        return [f for f, shared in overlap.items() if shared == best]
    spoken = [f for f in sentence.facts.measures if f.index in sentence.spoken]
    return spoken or list(sentence.facts.measures)


def _times(sentence: Sentence) -> list[Field]:
    return [f for f in sentence.facts.fields if f.role == "time"]


def _scopes(sentence: Sentence, subject: RowMention, position: int) -> Iterator[RowSet]:
    """All rows, and those of a group that is named after the superlative: the best paid woman."""
    yield frozenset(range(len(sentence.facts.rows)))
    if subject.end <= position:
        # “From JFK, DL flies the most”: among the flights from JFK. “DL's largest base is LGA”: among those of DL.
        if sentence.rows_of(subject) < subject.rows:
            yield subject.rows
        for mention in sentence.labels_named:
            if mention.end <= position and mention.column != subject.column and mention.rows & subject.rows:
                yield mention.rows
        for mention in sentence.labels_named:
            if mention.start > position and mention.column != subject.column and subject.rows < mention.rows:
                yield mention.rows


def _is_extreme(sentence: Sentence, superlative: Superlative, rows: RowSet, scope: RowSet) -> bool:
    facts = sentence.facts
    if superlative.moved and facts.changes:
        # “Lost the most jobs” counts jobs; “grew fastest” may speak of either.
        counted = fold(superlative.token.text) in ("most", "least", "fewest")
        orders = [facts.changes, *([facts.relative_changes] if facts.relative_changes and not counted else [])]
        return any(_moved_most(changes, superlative, rows, scope) for changes in orders)
    if not superlative.columns:
        return True
    for field in superlative.columns:
        cells = facts.ordinals(field) if field.role == "time" else facts.numbers(field.index)
        values = {row: value for row in scope if (value := cells[row]) is not None}
        ends = [max, min] if superlative.end == EITHER else [max if superlative.end == UP else min]
        if values and any(values.get(row) == end(values.values()) for end in ends for row in rows):
            return True
    return False


def _moved_most(changes: Sequence[Decimal | None], superlative: Superlative, rows: RowSet, scope: RowSet) -> bool:
    """Whether one of the rows moved most (or least) of those that moved in the direction of the superlative."""
    moved = {r: c * superlative.moved for r, c in enumerate(changes) if c is not None and r in scope}
    inside = {r: change for r, change in moved.items() if change > 0}
    wanted = (min if superlative.end == DOWN else max)(inside.values(), default=None)
    return any(inside[row] == wanted for row in rows & inside.keys())


# Ranks


def _ranks(sentence: Sentence) -> Iterator[str]:
    for match in RANK.finditer(sentence.text):
        subject = subject_before(sentence, match.start() + 1) or subject_after(sentence, match.end())
        word = (match["word"] or match["before"] or "").lower()
        place = len(sentence.facts.rows) if word == "last" else ORDINALS.get(word) or int(match["digit"] or 0)
        if subject is None or not place:
            continue
        rows = sentence.rows_of(subject)
        if not any(place in _places(sentence, row) for row in rows):
            yield f"it is not number {place} in the rows"


def _places(sentence: Sentence, row: int) -> set[int]:
    """The places that a row has: in the order of the result, and from the top in each measure that is spoken of."""
    facts = sentence.facts
    places = {row + 1} if facts.series is None else set()
    spoken = [f for f in facts.measures if f.index in sentence.spoken] or facts.measures
    for field in spoken:
        value = facts.number(row, field.index)
        if value is not None:
            places.add(1 + sum(other > value for other in facts.values(field)))
    return places


# Comparisons


def _comparisons(sentence: Sentence) -> Iterator[str]:
    compared: set[int] = set()
    for match in _COMPARATIVE.finditer(sentence.text):
        if match["word"] and _columns_the_other_way(sentence, match):
            yield f"the rows have it the other way round than “{match['word']}”"
            continue
        second = subject_after(sentence, match.end())
        earlier = [m for m in sentence.mentions if m.end <= match.start() and m.start not in compared]
        between = [m for m in sentence.mentions if match.start() <= m.start and m.end <= match.end()]
        first = between[-1] if between else earlier[-1] if earlier else None
        # “more than 500 in Berlin” has a number after “than”, and compares no rows.
        if first is None or second is None or re.search(r"\d", sentence.text[match.end() : second.start]):
            continue
        compared.add(second.start)
        one = first.rows if len(first.rows) > 1 else sentence.rows_of(first)
        other = second.rows
        if first.column == second.column and one != other and not _holds(sentence, match, one, other):
            yield f"the rows have it the other way round than “{match['word'] or match['place']}”"


def _columns_the_other_way(sentence: Sentence, match: re.Match[str]) -> bool:
    """“In 1929 there were more pigs than horses”: two columns are compared in the row that is named."""
    facts, rows = sentence.facts, sentence.named_rows
    following = [t.key for t in sentence.tokens if t.start >= match.end()][:2]
    inside = [t.key for t in sentence.tokens if match.start() < t.start < match.end()]
    one, other = ([f for f in facts.measures if set(keys) & facts.name_keys(f)] for keys in (inside, following))
    if len(rows) != 1 or len(one) != 1 or len(other) != 1 or one == other:
        return False
    first, second = facts.number(rows[0], one[0].index), facts.number(rows[0], other[0].index)
    up = match["word"].lower() in HIGHER
    return first is not None and second is not None and not (first > second if up else first < second)


def _holds(sentence: Sentence, match: re.Match[str], one: RowSet, other: RowSet) -> bool:
    facts, word = sentence.facts, (match["word"] or match["place"]).lower()
    up = word in HIGHER or word in ("ahead of", "above")
    times = _times(sentence) if word in _DATE_WORDS else []
    columns = times or _compared_columns(sentence, match)
    for field in columns:
        cells = facts.ordinals(field) if field.role == "time" else facts.numbers(field.index)
        first, second = (_summed(cells, rows) for rows in (one, other))
        if first is not None and second is not None and (first > second if up else first < second):
            return True
    return not columns


def _compared_columns(sentence: Sentence, match: re.Match[str]) -> Sequence[Field]:
    inside = [t for t in sentence.tokens if match.start() <= t.start < match.end()]
    facts, named = sentence.facts, {t.key for t in inside}
    found = [f for f in facts.measures if named & facts.name_keys(f)]
    found += [f for t in inside for f in facts.concerning(CONCEPTS.get(fold(t.text), ()))]
    spoken = [f for f in sentence.facts.measures if f.index in sentence.spoken]
    return found or spoken or sentence.facts.measures


def _summed(cells: Sequence[Decimal | None], rows: RowSet) -> Decimal | None:
    values = [value for row in rows if (value := cells[row]) is not None]
    return sum(values, Decimal(0)) if values else None


# Directions


def _directions(sentence: Sentence) -> Iterator[str]:
    for at, token in enumerate(sentence.tokens):
        sign = _sign(sentence, at)
        if not sign or any(m.start <= token.start < m.end for m in sentence.labels_named):
            continue
        claim = _over_time(sentence, sign) if sentence.facts.series else _of_subject(sentence, token, sign)
        if claim is False:
            yield f"the rows do not show that it “{token.text}”"
            return


def _sign(sentence: Sentence, at: int) -> int:
    word = fold(sentence.tokens[at].text)
    following = [fold(t.text) for t in sentence.tokens[at + 1 : at + 3]]
    if "most" in following or "fewest" in following or "least" in following:
        return 0
    if word in ("up", "down") and at and fold(sentence.tokens[at - 1].text) in ("was", "is", "were", "are", "went"):
        return UP if word == "up" else DOWN
    return UP if word in ROSE else DOWN if word in FELL else 0


def _over_time(sentence: Sentence, sign: int) -> bool | None:
    """Whether a quantity moved so between the times that are named; None if it cannot be told."""
    facts = sentence.facts
    assert facts.series is not None
    field, order = facts.series
    times = [m for m in sentence.mentions if m.column == field.index]
    places = sorted({order.index(row) for m in times for row in m.rows})
    if _EVERY.search(sentence.text):
        since = any(sentence.text[: m.start].rstrip().lower().endswith("since") for m in times)
        span = order[places[0] : None if since else places[-1] + 1] if places else order
        return _any_measure(sentence, list(pairwise(span)), sign)
    single = sorted({order.index(next(iter(m.rows))) for m in times if len(m.rows) == 1})
    if len(single) >= 2:
        return _any_measure(sentence, [(order[single[0]], order[single[-1]])], sign)
    if len(single) == 1 and len(times) == 1 and single[0] > 0:
        return _any_measure(sentence, [(order[single[0] - 1], order[single[0]])], sign)
    return None


def _any_measure(sentence: Sentence, steps: Sequence[tuple[int, int]], sign: int) -> bool:
    facts = sentence.facts
    spoken = [f for f in facts.measures if f.index in sentence.spoken] or facts.measures
    for field in spoken:
        numbers = facts.numbers(field.index)
        moves = [b - a for one, other in steps if (a := numbers[one]) is not None and (b := numbers[other]) is not None]
        if all(move * sign > 0 for move in moves):
            return True
    return not spoken


def _of_subject(sentence: Sentence, token: Token, sign: int) -> bool | None:
    changes = sentence.facts.changes
    if not changes or _QUANTIFIED.search(sentence.text):
        return None
    subject = subject_before(sentence, token.start) or subject_after(sentence, token.end)
    if subject is None:
        known = [change for change in changes if change is not None]
        return sum(known, Decimal(0)) * sign > 0 if TOTAL & sentence.words else None
    moves = [
        change for row in sentence.rows_of(subject) | joined(sentence, subject) if (change := changes[row]) is not None
    ]
    return all(move * sign > 0 for move in moves) if moves else None


def _from_to(sentence: Sentence) -> Iterator[str]:
    """“Rose from 10 to 8” contradicts itself."""
    values = [n for n in sentence.numerals if n.kind == "number" and not sentence.is_year(n)]
    start = next((n for n in values if sentence.word_before(n) == "from"), None)
    end = next((n for n in values if sentence.word_before(n) == "to"), None)
    if start is None or end is None or start.value == end.value or start.scaled != end.scaled:
        return
    up, down = bool(MORE & sentence.words), bool(LESS & sentence.words)
    if up != down and up != (end.value > start.value):
        yield "the second number does not lie in that direction from the first"
