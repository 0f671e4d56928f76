"""Claims about order: which row is the highest, which comes second. What is compared, and what rose or fell, is decided
in files of their own."""

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from functools import partial
from typing import NamedTuple

from answerable.answers.checking.comparisons import misplaced
from answerable.answers.checking.directions import misdirected, reversed_span
from answerable.answers.checking.facts import ResultFacts
from answerable.answers.checking.lexicon import (
    CONCEPTS,
    COUNTABLE,
    DATED,
    DOWN,
    EITHER,
    FELL,
    MAGNITUDES,
    MOVEMENTS,
    NO_SUPERLATIVES,
    ORDINALS,
    RANK,
    ROSE,
    SUPERLATIVES,
    UP,
)
from answerable.answers.checking.naming import RowMention, Token
from answerable.answers.checking.predicates import RowSet, joined, subject_after, subject_before
from answerable.answers.checking.qualities import quality
from answerable.answers.checking.sentence import Sentence
from answerable.answers.roles import Field, words
from answerable.core.words import fold, stem

_AKIN = 6
"""Letters in which words of one root agree."""
_NOUNS = 4
"""How many words after a superlative may name its column."""
_CLAUSE_END = re.compile(r"[,;:(](?!\d)")
_LEADS_TO = re.compile(r"(?:\w+\s+){0,4}(?:\w+,|for|in|is|was|are|were|at|on|by)\s+(?:the\s+)?", re.IGNORECASE)
_AS_MEASURE = re.compile(r"\b(?:above|below|than|between|to|from|over) the $|\bhalf of the year\b", re.IGNORECASE)
"""What stands before a superlative that is only compared with, or that is one of a part of the rows."""
_OF_TWO = re.compile(r"\b(?:gap|difference|spread|distance|ratio) (?:between|of)\b", re.IGNORECASE)
_SIZES = ("population", "area", "size", "capacity")
_RELATIVE = re.compile(r"\b(?:relative(?:ly)?|percent|percentage|proportional(?:ly)?)\b|%", re.IGNORECASE)
_IN_RELATION = re.compile(r"\W*(?:in (?:relative|percentage) terms|relatively|proportionally)\b", re.IGNORECASE)
_ABSOLUTE = re.compile(r"\babsolute(?:ly)?\b", re.IGNORECASE)
_PER = re.compile(r" (?:\w+ )?(?P<over>\w+) (?:per|for each|for every) (?P<under>\w+)", re.IGNORECASE)
_GAP = re.compile(r"\b(?:gap|difference|spread)\b", re.IGNORECASE)
_TOP_OF = re.compile(r" (?!(?:two|three|four|five|six|seven|eight|nine|ten|half|of)\b)[a-z]+", re.IGNORECASE)
_CLAUSE_ENDS = re.compile(r"[,.;!]?$|[,.;!] ")
_END_NOUNS = {"low": DOWN, "high": UP, "peak": UP, "trough": DOWN}
_PLACING = ("trails", "leads", "tops")
_SUPERLATIVE = re.compile(r"[a-z]{3,}est")


class Superlative(NamedTuple):
    """A word that puts its subject at one end of an order."""

    token: Token
    end: int
    columns: Sequence[Field]
    per: Field | None = None
    """The column that the others are divided by: “the most revenue per customer”."""
    moved: int = 0
    """UP or DOWN if it is the change of the rows that is ordered: lost the most."""


def misordered(sentence: Sentence) -> Iterator[str]:
    """Yields what the rows contradict. Over a part of the rows nothing can be ordered."""
    yield from reversed_span(sentence)
    if not sentence.facts.complete or not sentence.facts.rows:
        return
    yield from misdirected(sentence)
    if len(sentence.facts.rows) > 1:
        yield from _superlatives(sentence)
        yield from _ranks(sentence)
        yield from misplaced(sentence)


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
    for superlative in map(partial(_as_rate, sentence), _found(sentence)):
        position = superlative.token.start
        subject = _subject(sentence, position)
        if subject is None or sentence.text[:3].lower() == "no " or _AS_MEASURE.search(sentence.text[:position]):
            continue
        if _OF_TWO.search(sentence.text[:position]):
            continue  # the gap between two columns is no column
        if _GAP.search(sentence.text) and (gaps := _gaps(sentence, subject)):
            small = fold(superlative.token.text) in ("smallest", "narrowest", "least", "lowest")
            if not any(each[subject.rows] == (min if small else max)(each.values()) for each in gaps):
                yield f"the rows do not have it as the “{superlative.token.text}”"
            continue
        rows = sentence.rows_of(subject) | joined(sentence, subject)
        if not any(_is_extreme(sentence, superlative, rows, scope) for scope in _scopes(sentence, subject, position)):
            yield f"the rows do not have it as the “{superlative.token.text}”"


def _gaps(sentence: Sentence, subject: RowMention) -> list[dict[RowSet, Decimal]]:
    """Returns how far the two rows of each name are apart, for each quantity: males and females of a species. Returns
    an empty list if a name of the subject's column does not stand for two rows."""
    facts, names = sentence.facts, dict[str, set[int]]()
    for row, cells in enumerate(facts.rows):
        names.setdefault(repr(cells[subject.column]), set()).add(row)
    if any(len(rows) != 2 for rows in names.values()) or len(subject.rows) != 2:
        return []
    spoken = [f for f in facts.measures if f.index in sentence.spoken]
    gaps = []
    for field in spoken or facts.measures:
        pairs = {frozenset(rows): [facts.number(row, field.index) for row in rows] for rows in names.values()}
        known = {
            rows: abs(one - other) for rows, (one, other) in pairs.items() if one is not None and other is not None
        }
        gaps += [known] if len(known) == len(pairs) else []
    return [each for each in gaps if subject.rows in each]


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
            yield from _most_or_least(sentence, at)
        elif word == "top" and before == "the" and _TOP_OF.match(sentence.text[token.end :]):
            yield Superlative(token, UP, _columns(sentence, at, ()))
        elif _is_end_noun(sentence, found, at):
            yield Superlative(token, _END_NOUNS[word], _columns(sentence, at, ()))
        elif word in _PLACING and _is_of_other(sentence, token):
            continue  # “A trails B” compares the two
        elif of_quality := _of_quality(sentence, token):
            yield of_quality
        elif word in SUPERLATIVES and (word not in ("maximum", "minimum") or before == "the"):
            end, concepts = SUPERLATIVES[word]
            # Who has been there the longest has the earliest date.
            longest_since = word == "longest" and not sentence.facts.concerning(concepts) and _times(sentence)
            if word in DATED or longest_since:
                yield Superlative(token, DOWN if longest_since else end, _times(sentence))
            else:
                moved = _moved_before(found, at) if word in ("fewest", "fastest") else _movement_after(found, at)
                yield Superlative(token, end, _columns(sentence, at, concepts), moved=moved)
        elif _SUPERLATIVE.fullmatch(token.text) and word not in NO_SUPERLATIVES and before != "at":
            # What “densest” or “steepest” orders is not known, but it is an end of some order.
            moved = _moved_before(found, at) or _movement_after(found, at)
            yield Superlative(token, UP if moved else EITHER, _columns(sentence, at, ()), moved=moved)


def _most_or_least(sentence: Sentence, at: int) -> Iterator[Superlative]:
    found = sentence.tokens
    token, word, before = found[at], fold(found[at].text), fold(found[at - 1].text) if at else ""
    following = fold(found[at + 1].text) if at + 1 < len(found) else ""
    moved = _moved_before(found, at)
    if following in ("strongly", "closely", "weakly"):
        strongly = UP if (word == "most") == (following != "weakly") else DOWN
        yield Superlative(token, strongly, _columns(sentence, at, SUPERLATIVES["strongest"][1]))
    elif at and _CLAUSE_ENDS.match(sentence.text[token.end :]) and (akin := _akin_to(sentence, found[at - 1])):
        yield Superlative(token, UP if word == "most" else DOWN, akin)
    elif of_quality := _of_quality(sentence, token, following):
        yield of_quality
    elif following == "recent":
        yield Superlative(token, UP if word == "most" else DOWN, _times(sentence))
    elif before == "the" or following in CONCEPTS or following in COUNTABLE or _akin(sentence, at + 1):
        columns = _columns(sentence, at, ())
        end = UP if word == "most" else DOWN
        yield Superlative(token, EITHER if _is_unknown_quality(sentence, at, columns) else end, columns, moved=moved)


def _of_quality(sentence: Sentence, token: Token, adjective: str = "") -> Superlative | None:
    """“Calmest” and “the least punctual”, if there is a column that the quality speaks of."""
    if not adjective and not _SUPERLATIVE.fullmatch(token.text):
        return None
    meant = quality(adjective or fold(token.text))
    columns = sentence.facts.concerning(meant.concepts) if meant else []
    if meant is None or not columns:
        return None
    return Superlative(token, -meant.end if fold(token.text) == "least" else meant.end, columns)


def _as_rate(sentence: Sentence, superlative: Superlative) -> Superlative:
    """The superlative with the column that it is counted per, if the words right behind it name one."""
    found = _PER.match(sentence.text[superlative.token.end :])
    if found is None:
        return superlative
    over, under = (
        [f for f in sentence.facts.measures if stem(fold(found[word])) in sentence.facts.name_keys(f)]
        for word in ("over", "under")
    )
    plain = [f for f in over if "per" not in words(f.name)]
    return superlative._replace(columns=plain, per=under[0]) if plain == over and over and under else superlative


def _is_end_noun(sentence: Sentence, found: Sequence[Token], at: int) -> bool:
    """“The low of the year was …”, if no column is called so."""
    word = fold(found[at].text)
    if word not in _END_NOUNS or at == 0 or fold(found[at - 1].text) != "the" or at + 1 == len(found):
        return False
    called = any(found[at].key in sentence.facts.name_keys(field) for field in sentence.facts.measures)
    return not called and fold(found[at + 1].text) in ("of", "was", "is", "came")


def _is_of_other(sentence: Sentence, token: Token) -> bool:
    following = sentence.mention_after(token.end)
    return following is not None and following.start - token.end <= len(" the “")


def _is_unknown_quality(sentence: Sentence, at: int, columns: Sequence[Field]) -> bool:
    """“Is the most punctual”: a quality that no column is called by, which may be the less of something."""
    found = sentence.tokens
    copula = at > 1 and fold(found[at - 2].text) in ("is", "are", "was", "were", "and", "but")
    adjective = at + 1 < len(found) and fold(found[at + 1].text) not in (*CONCEPTS, *COUNTABLE)
    return copula and adjective and len(columns) > 1 and not _akin(sentence, at + 1)


def _akin_to(sentence: Sentence, verb: Token) -> list[Field]:
    """The columns that a participle speaks of: “is stocked most”, `stock`."""
    return [f for f in sentence.facts.measures if verb.key in sentence.facts.name_keys(f)]


def _akin(sentence: Sentence, at: int) -> list[Field]:
    """The columns whose names are akin to a word: satisfied, `avg_satisfaction`."""
    if at >= len(sentence.tokens) or len(sentence.tokens[at].key) < _AKIN:
        return []
    key = sentence.tokens[at].key[:_AKIN]
    return [f for f in sentence.facts.measures if any(name.startswith(key) for name in sentence.facts.name_keys(f))]


def _moved_before(found: Sequence[Token], at: int) -> int:
    earlier = [fold(token.text) for token in found[max(0, at - 2) : at]]
    if fold(found[at].text) == "hardest":
        return DOWN if "hit" in earlier else 0
    return UP if ROSE & set(earlier) else DOWN if FELL & set(earlier) else 0


def _movement_after(found: Sequence[Token], at: int) -> int:
    return next((MOVEMENTS[word] for t in found[at + 1 : at + 4] if (word := fold(t.text)) in MOVEMENTS), 0)


def _columns(sentence: Sentence, at: int, concepts: Sequence[str]) -> Sequence[Field]:
    """The measures that a superlative orders: by its own meaning, by the words after it, by the sentence, or any."""
    facts = sentence.facts
    called = {sentence.tokens[at].key, fold(sentence.tokens[at].text).removesuffix("est")}
    if called_so := [f for f in facts.measures if called & facts.name_keys(f)]:
        return called_so
    if by_meaning := facts.concerning(concepts):
        return by_meaning
    following = sentence.tokens[at + 1 : at + 1 + _NOUNS]
    if fold(sentence.tokens[at].text) == "rarest":
        return [f for f in facts.measures if f.type == "integer"] or facts.measures
    named = {token.key for token in following}
    meant = [f for token in following for f in facts.concerning(CONCEPTS.get(fold(token.text), ()))]
    if following and fold(following[0].text) in COUNTABLE:
        return [f for f in facts.measures if f.type == "integer"] or facts.measures
    overlap = {f: len(named & facts.name_keys(f)) + meant.count(f) for f in facts.measures}
    best = max(overlap.values(), default=0)
    if best:
        return [f for f, shared in overlap.items() if shared == best]
    if akin := _akin(sentence, at + 1):
        return akin
    spoken = [f for f in sentence.facts.measures if f.index in sentence.spoken]
    # The smallest place is the one with the fewest people.
    sized = facts.concerning(_SIZES) if fold(sentence.tokens[at].text) in ("largest", "biggest", "smallest") else []
    return spoken or sized or list(sentence.facts.measures)


def _times(sentence: Sentence) -> list[Field]:
    return [f for f in sentence.facts.fields if f.role == "time"]


def _scopes(sentence: Sentence, subject: RowMention, position: int) -> Iterator[RowSet]:
    """All rows, and those of a group that is named after the superlative: the best paid woman."""
    yield frozenset(range(len(sentence.facts.rows)))
    if subject.end <= position:
        # “From JFK, DL flies the most”: among the flights from JFK. “DL's largest base is LGA”: among those of DL.
        if sentence.rows_of(subject) < subject.rows and not _is_compound(sentence, subject):
            yield subject.rows
        for mention in sentence.labels_named:
            if mention.end <= position and mention.column != subject.column and mention.rows & subject.rows:
                yield mention.rows
        for mention in sentence.labels_named:
            other = mention.column != subject.column and subject.rows < mention.rows
            # “Chinstrap males are the lightest males”: among the males.
            again = any(m.rows == mention.rows and m.end <= position for m in sentence.labels_named)
            if mention.start > position and (other or again):
                yield mention.rows


def _is_compound(sentence: Sentence, subject: RowMention) -> bool:
    """“Female Chinstraps” is one subject, named by two columns."""
    return any(
        mention.column != subject.column and not sentence.text[mention.end : subject.start].strip()
        for mention in sentence.labels_named
        if mention.end <= subject.start
    )


def _is_extreme(sentence: Sentence, superlative: Superlative, rows: RowSet, scope: RowSet) -> bool:
    facts = sentence.facts
    if superlative.moved and facts.changes:
        # “Lost the most jobs” counts jobs; “grew fastest” may speak of either.
        counted = fold(superlative.token.text) in ("most", "least", "fewest")
        orders = [facts.changes, *([facts.relative_changes] if facts.relative_changes and not counted else [])]
        if facts.relative_changes and (
            _RELATIVE.search(_near(sentence, superlative.token)) or _IN_RELATION.match(sentence.text)
        ):
            orders = [facts.relative_changes]
        elif _ABSOLUTE.search(_near(sentence, superlative.token)):
            orders = [facts.changes]
        return any(_moved_most(changes, superlative, rows, scope) for changes in orders)
    if superlative.moved and facts.series is not None and not facts.changes:
        return any(_moved_most(facts.steps(field), superlative, rows, scope) for field in superlative.columns)
    if not superlative.columns:
        return True
    for field in superlative.columns:
        cells = facts.ordinals(field) if field.role == "time" else facts.numbers(field.index)
        values = {row: value for row in scope if (value := cells[row]) is not None}
        if superlative.per is not None:
            under = facts.numbers(superlative.per.index)
            values = {row: value / divisor for row, value in values.items() if (divisor := under[row])}
        if fold(superlative.token.text) in ("strongest", "weakest", "most", "least") and MAGNITUDES & set(
            words(field.name)
        ):
            values = {row: abs(value) for row, value in values.items()}
        ends = [max, min] if superlative.end == EITHER else [max if superlative.end == UP else min]
        if values and any(values.get(row) == end(values.values()) for end in ends for row in rows):
            return True
    return False


def _near(sentence: Sentence, token: Token) -> str:
    """The words right behind a superlative, which say what it orders: “the steepest relative decline”."""
    return sentence.text[token.start : token.end + 30]


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
    places = {row + 1} if facts.series is None and _is_ranking(facts) else set()
    spoken = [f for f in facts.measures if f.index in sentence.spoken] or _measured_in(sentence) or facts.measures
    for field in spoken:
        value = facts.number(row, field.index)
        if value is not None:
            places.add(1 + sum(other > value for other in facts.values(field)))
    return places


def _is_ranking(facts: ResultFacts) -> bool:
    """Whether the order of the rows is that of a quantity, or nothing in them can be ordered."""
    columns = [facts.values(field) for field in facts.measures]
    return not columns or any(values in (sorted(values), sorted(values, reverse=True)) for values in columns)


def _measured_in(sentence: Sentence) -> list[Field]:
    """“Ranks sixth with 17.1%”: the percentages, where some columns are and others are not."""
    facts = sentence.facts
    in_percent = any(n.kind == "percent" for n in sentence.numerals)
    return [f for f in facts.measures if facts.is_fraction(f) or facts.is_percentage(f)] if in_percent else []
