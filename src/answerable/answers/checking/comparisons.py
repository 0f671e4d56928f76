"""Claims that compare two rows, two columns or two numbers: which is more, which is ahead, which beat the other."""

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal

from answerable.answers.checking.lexicon import CONCEPTS, COUNTABLE, HIGHER, UP
from answerable.answers.checking.predicates import RowSet, subject_after
from answerable.answers.checking.qualities import Quality, quality
from answerable.answers.checking.quantified import row_counts
from answerable.answers.checking.sentence import Sentence
from answerable.answers.roles import Field, words
from answerable.core.words import fold

_COMPARATIVE = re.compile(
    r"\b(?P<word>more|fewer|less|higher|lower|longer|shorter|larger|smaller|heavier|lighter|greater|bigger|later|earlier"
    r"|older|newer|younger|deadlier|safer|calmer|windier|milder|slower|faster|cheaper|taller"
    r"|dearer|wetter|drier|warmer|colder|denser|hotter|cooler|steeper|stronger|weaker|busier|richer|poorer"
    r")\b(?P<noun>[^.;:]*?)\bthan\b"
    r"|\b(?:(?:is|are|was|were|lies|lie|stays|comes|ranks) )(?P<place>ahead of|above|behind|below)\b(?! the\b)"
    r"|\b(?P<verb>beats?|outperform(?:s|ed)?|outsells?|outsold|outpace[sd]?|outweigh(?:s|ed)?"
    r"|outnumber(?:s|ed)?|exceed(?:s|ed)?|surpass(?:es|ed)?"
    r"|overt(?:akes?|ook)|edge[sd]? out|leads?|tops?|trail(?:s|ed)|lag(?:s|ged)(?: behind)?)"
    r"(?= (?:the )?[A-Z0-9“\"]| \w+ (?:in|every|each)\b)",
    re.IGNORECASE,
)
_BEHIND = re.compile(r"(?:trail|lag)", re.IGNORECASE)
_DATE_WORDS = frozenset(["later", "earlier", "older", "newer"])
_STATED = re.compile(r"(?: \w+)?\s*(?:is|are|was|were)\s+(?:much |far |slightly |still )?$")


def misplaced(sentence: Sentence) -> Iterator[str]:
    compared: set[int] = set()
    for match in _COMPARATIVE.finditer(sentence.text):
        of_columns = (match["word"] or match["verb"]) and _columns_the_other_way(sentence, match)
        if of_columns or (match["word"] and _numbers_the_other_way(sentence, match)):
            yield f"the rows have it the other way round than “{match['word'] or match['verb']}”"
            continue
        second = subject_after(sentence, match.end())
        earlier = [m for m in sentence.mentions if m.end <= match.start() and m.start not in compared]
        between = [m for m in sentence.mentions if match.start() <= m.start and m.end <= match.end()]
        first = between[-1] if between else earlier[-1] if earlier else None
        # “more than 500 in Berlin” has a number after “than”, and compares no rows.
        if first is None or second is None or _has_number(sentence, match.end(), second.start):
            continue
        if match["verb"] and second.start - match.end() > len(" the “"):
            continue
        compared.add(second.start)
        one = first.rows if len(first.rows) > 1 else sentence.rows_of(first)
        other = second.rows
        if first.column == second.column and one != other and not _holds(sentence, match, one, other):
            yield f"the rows have it the other way round than “{match['word'] or match['place'] or match['verb']}”"


def _has_number(sentence: Sentence, start: int, end: int) -> bool:
    return bool(re.search(r"\d", sentence.text[start:end])) or any(start <= n.start < end for n in sentence.numerals)


def _numbers_the_other_way(sentence: Sentence, match: re.Match[str]) -> bool:
    """“A gain of 197 is larger than one of 458”: the two numbers say it themselves."""
    before = [n for n in sentence.numerals if n.end <= match.start()]
    after = [n for n in sentence.numerals if n.start >= match.end()]
    if not before or not after or not _STATED.fullmatch(sentence.text[before[-1].end : match.start()]):
        return False
    one, other = before[-1], after[0]
    if one.kind != "number" or other.kind != "number" or sentence.is_year(other) or match["noun"].strip():
        return False
    if row_counts(one, sentence) is not None:
        return False  # “two rivers are longer than 3,000 km” counts the rivers
    return one.value < other.value if match["word"].lower() in HIGHER else one.value > other.value


def _columns_the_other_way(sentence: Sentence, match: re.Match[str]) -> bool:
    """“In 1929 there were more pigs than horses”: two columns are compared in the row that is named."""
    facts = sentence.facts
    always = re.search(r"\b(?:every|each|always)\b", sentence.text, re.IGNORECASE)
    rows = sentence.named_rows or (list(range(len(facts.rows))) if always else [])
    following = [t.key for t in sentence.tokens if t.start >= match.end()][:2]
    inside = [t.key for t in sentence.tokens if match.start() < t.start < match.end()]
    one, other = ([f for f in facts.measures if set(keys) & facts.name_keys(f)] for keys in (inside, following))
    if match["verb"]:
        one = [
            f for f in facts.measures if {t.key for t in sentence.tokens if t.end <= match.start()} & facts.name_keys(f)
        ]
    if not rows or (len(rows) > 1 and not always) or len(one) != 1 or len(other) != 1 or one == other:
        return False
    up = match["word"].lower() in HIGHER if match["word"] else not _BEHIND.match(match["verb"])
    pairs = [(facts.number(row, one[0].index), facts.number(row, other[0].index)) for row in rows]
    known = [(first, second) for first, second in pairs if first is not None and second is not None]
    return not all(first > second if up else first < second for first, second in known)


def _holds(sentence: Sentence, match: re.Match[str], one: RowSet, other: RowSet) -> bool:
    facts, word = sentence.facts, (match["word"] or match["place"] or match["verb"]).lower()
    meant = _quality(match)
    if meant is not None and (of_quality := facts.concerning(meant.concepts)):
        up = (meant.end == UP) != (word == "less")
        return any(_is_above(facts.numbers(f.index), one, other, up) for f in of_quality)
    up = word in HIGHER or word in ("ahead of", "above") or (bool(match["verb"]) and not _BEHIND.match(word))
    times = _times(sentence) if word in _DATE_WORDS else []
    columns = times or _compared_columns(sentence, match)
    for field in columns:
        cells = facts.ordinals(field) if field.role == "time" else facts.numbers(field.index)
        if _is_above(cells, one, other, up):
            return True
    return not columns


def _quality(match: re.Match[str]) -> Quality | None:
    """What “deadlier than” or “more punctual than” compares."""
    word = (match["word"] or "").lower()
    if word in ("more", "less"):
        return next((found for each in words(match["noun"])[:1] if (found := quality(each))), None)
    return quality(word) if word else None


def _is_above(cells: Sequence[Decimal | None], one: RowSet, other: RowSet, up: bool) -> bool:
    first, second = (_summed(cells, rows) for rows in (one, other))
    return first is not None and second is not None and (first > second if up else first < second)


def _compared_columns(sentence: Sentence, match: re.Match[str]) -> Sequence[Field]:
    inside = [t for t in sentence.tokens if match.start() <= t.start < match.end()]
    facts, named = sentence.facts, {t.key for t in inside}
    found = [f for f in facts.measures if named & facts.name_keys(f)]
    if any(fold(t.text) in COUNTABLE for t in inside) and not found:
        found = [f for f in facts.measures if f.type == "integer"]
    found += [f for t in inside for f in facts.concerning(CONCEPTS.get(fold(t.text), ()))]
    spoken = [f for f in sentence.facts.measures if f.index in sentence.spoken]
    return found or spoken or sentence.facts.measures


def _summed(cells: Sequence[Decimal | None], rows: RowSet) -> Decimal | None:
    values = [value for row in rows if (value := cells[row]) is not None]
    return sum(values, Decimal(0)) if values else None


def _times(sentence: Sentence) -> list[Field]:
    return [f for f in sentence.facts.fields if f.role == "time"]
