"""Grounds numbers: what each number of a sentence stands for in the result, the question or the plan.

A number is a cell, a count, a bound, a period, or can be computed from cells (a sum, mean, median, difference, ratio or
share), in the unit and with the rounding that it is said with. If the sentence names rows, the cells are theirs.
"""

import re
from collections.abc import Callable
from decimal import Decimal

from answerable.answers.checking.amounts import number_grounds
from answerable.answers.checking.bounds import bound_ground, range_ground, spanned_ground, speaks_of_rows
from answerable.answers.checking.derived import derived_grounds
from answerable.answers.checking.facts import Ground, ResultFacts, rounds_to, stated_numbers, stem
from answerable.answers.checking.lexicon import DOWN, LESS, NARROWING, PERIOD_WORDS, PUNCTUALITY, SIGNS, YES_OR_NO
from answerable.answers.checking.notation import noted_columns, noted_ground
from answerable.answers.checking.numerals import Numeral, StatedDate, numerals
from answerable.answers.checking.periods import dated_ground, timed_ground
from answerable.answers.checking.predicates import predicates
from answerable.answers.checking.quantified import row_counts
from answerable.answers.checking.quantities import factor
from answerable.answers.checking.sentence import Sentence
from answerable.answers.checking.shares import percent_grounds, ratio_grounds
from answerable.answers.roles import words

_DENIES = re.compile(r"\W*(?:no|none|nobody|nothing)\b", re.IGNORECASE)
_OF_ROWS = re.compile(r"\s+of (?:them\b|(?:the|these|those|all)\s)")
_DETERMINERS = frozenset(["the", "which", "our", "my", "these", "those"])
_HEDGED_SHARE = Decimal("0.1")
"""How far from the value a hedged fraction or multiple may be: “almost twice” is 1.83 times."""


def ground(numeral: Numeral, sentence: Sentence) -> Ground | None:
    """Returns what the numeral stands for, or None if nothing supports it."""
    facts = sentence.facts
    if numeral.kind == "unreadable":
        quoted = numeral.text.strip(".,;:!?()\"'“”") in facts.question
        return Ground(numeral.value, "fact", "a name in the question") if quoted else None
    if columns := noted_columns(numeral, sentence):
        return noted_ground(numeral, columns, sentence, _agreement(numeral, sentence))
    if _is_asked(numeral, sentence):
        return Ground(numeral.value, "fact", "a condition of the question")
    if sentence.bound(numeral) and sentence.is_year(numeral):
        return bound_ground(numeral, sentence)
    if numeral.kind == "date" or (sentence.is_year(numeral) and _is_period(numeral, sentence)):
        if facts.has_dates and _DENIES.match(sentence.text):
            return Ground(numeral.value, "fact", "a period without rows")
        return dated_ground(numeral, sentence) or (None if numeral.kind == "date" else _valued(numeral, sentence))
    if numeral.kind == "time":
        return timed_ground(numeral, facts)
    if numeral.kind == "ordinal":
        inside = 1 <= numeral.value <= facts.row_count or sentence.names_rows(numeral)
        return Ground(numeral.value, "row_count", "a place among the rows") if inside else None
    if key := next((m for m in sentence.key_mentions() if m.start == numeral.start), None):
        row = min(key.rows)
        return Ground(numeral.value, "cell", f"{facts.columns[key.column].name} of row {row + 1}", row, key.column)
    return _quantity(numeral, sentence)


def _quantity(numeral: Numeral, sentence: Sentence) -> Ground | None:
    """What a number that is no date and no rank stands for: a count of rows, a bound, or a value."""
    counts = row_counts(numeral, sentence)
    if numeral.kind == "percent" and (part := _part_of_rows(numeral, sentence)):
        return part
    if counts is not None:
        counted = int(numeral.value) in counts
        return Ground(numeral.value, "row_count", "the number of rows") if counted else _stated(numeral, sentence.facts)
    if sentence.range_of(numeral) is not None:
        if speaks_of_rows(numeral, sentence):
            return Ground(numeral.value, "fact", "a bound")
        if (spanned := range_ground(numeral, sentence)) is not None:
            return spanned
    if sentence.bound(numeral):
        return bound_ground(numeral, sentence) or spanned_ground(numeral, sentence)
    return _valued(numeral, sentence)


def _part_of_rows(numeral: Numeral, sentence: Sentence) -> Ground | None:
    """“Three out of five” of five rows counts rows, and so does “half of the states have …”."""
    if _OF_ROWS.match(sentence.text[numeral.end :]) and sentence.facts.row_count:
        shares = {Decimal(100) * len(rows) / sentence.facts.row_count for rows in predicates(sentence, numeral.end)}
        agrees = _agreement(numeral, sentence)
        if any(agrees(share) for share in shares):
            return Ground(numeral.value, "row_count", "a part of the rows")
    part = re.fullmatch(r"(\w+) (?:in|out of) (?:every )?(\w+)", numeral.text)
    found = [n for n in numerals(f"{part[1]} and {part[2]} x") if n.kind == "number"] if part else []
    if not found or found[-1].value != sentence.facts.row_count:
        return None
    sizes = {len(rows) for rows in predicates(sentence, numeral.end)}
    some = numeral.value * sentence.facts.row_count / 100
    return Ground(numeral.value, "row_count", "a part of the rows") if round(some) in sizes else None


def _valued(numeral: Numeral, sentence: Sentence) -> Ground | None:
    grounds = {"number": number_grounds, "percent": percent_grounds, "ratio": ratio_grounds}[numeral.kind]
    agrees = _agreement(numeral, sentence)
    found = next((each for each in grounds(numeral, sentence) if agrees(each.value)), None)
    if found is None:
        return next((each for each in derived_grounds(numeral, sentence) if _is_near(each, numeral, agrees)), None)
    return None if _differs_for_others(found, numeral, sentence, agrees) else found


def _is_near(each: Ground, numeral: Numeral, agrees: Callable[[Decimal], bool]) -> bool:
    """What was computed may be said in round numbers: “regained 940,000 jobs” of 940,300."""
    digits = len(re.sub(r"\D", "", numeral.text).strip("0"))
    return agrees(each.value) or (digits > 1 and numeral.kind == "number" and rounds_to(abs(each.value), numeral, True))


def _differs_for_others(found: Ground, numeral: Numeral, sentence: Sentence, agrees: Callable[[Decimal], bool]) -> bool:
    """“Both earn 25,000” has to hold for each row that is named."""
    listed = [rows for names, rows in sentence.lists if names[-1].end <= numeral.start]
    named = sorted(listed[-1]) if listed else sentence.rows_for(numeral)
    if len(named) < 2 or found.column is None or not _is_distributed(numeral, sentence):
        return False
    if found.kind != "cell":
        return found.basis.startswith("sum of")  # together they have it, but not each
    field = next(f for f in sentence.facts.fields if f.index == found.column)
    values = [value for row in named if (value := sentence.facts.number(row, found.column)) is not None]
    times = list(factor(field, numeral, sentence))
    return not all(any(agrees(value * each) for each in times) for value in values)


def _is_distributed(numeral: Numeral, sentence: Sentence) -> bool:
    """Whether this is the number that stands next to “each” or “both”."""
    for match in re.finditer(r"\b(?:each|both|ties?|tied|apiece)\b", sentence.text, re.IGNORECASE):
        nearest = min(sentence.numerals, key=lambda n: max(match.start() - n.end, n.start - match.end()))
        if nearest == numeral:
            return True
    return False


def _stated(numeral: Numeral, facts: ResultFacts) -> Ground | None:
    return next((each for each in stated_numbers(facts) if each.value == numeral.value), None)


# The question


def _is_asked(numeral: Numeral, sentence: Sentence) -> bool:
    """Whether the number repeats one by which the question narrows what it asks for. The numbers of a yes-or-no
    question are what it asks, so they are no facts."""
    question = sentence.facts.question
    if not question or not YES_OR_NO.isdisjoint(words(question)[:1]):
        return False
    asked = Sentence(question, sentence.facts)
    for other in numerals(question):
        same = other.value == numeral.value and other.period == numeral.period and other.kind == numeral.kind
        if same and _narrows_alike(other, asked, numeral, sentence):
            return True
        if asked.is_year(other) and numeral.period == StatedDate(year=int(other.value)):
            return True
    return False


def _narrows_alike(asked: Numeral, question: Sentence, said: Numeral, sentence: Sentence) -> bool:
    before, after = question.word_before(asked), question.word_after(asked)
    if sentence.is_year(said):
        return before in NARROWING | PERIOD_WORDS and _is_period(said, sentence) and sentence.word_before(said) != "by"
    same_word = sentence.word_before(said) == before or (after and stem(sentence.word_after(said)) == stem(after))
    # “The ten best customers” repeats what was asked for.
    same_noun = bool(after) and stem(sentence.word_after(said)) == stem(after)
    return (before in NARROWING | {"with"} and bool(same_word)) or (before in _DETERMINERS and same_noun)


def _is_period(numeral: Numeral, sentence: Sentence) -> bool:
    before = sentence.word_before(numeral)
    return before in PERIOD_WORDS or not before


# Agreement


def _agreement(numeral: Numeral, sentence: Sentence) -> Callable[[Decimal], bool]:
    """Whether a value, rounded as the numeral is printed or as its hedge allows, is the numeral."""
    hedge = sentence.hedge(numeral)
    lower = sentence.cue(LESS) or bool(SIGNS[DOWN].search(sentence.text) or PUNCTUALITY[DOWN].search(sentence.text))
    loss = not numeral.signed and numeral.kind != "ratio" and lower
    fraction = numeral.kind in ("percent", "ratio") and not any(c.isdigit() for c in numeral.text)

    def rounds(value: Decimal, rough: bool) -> bool:
        """A loss may be written without its minus if the sentence says that it is one."""
        return rounds_to(value, numeral, rough) or (loss and value < 0 and rounds_to(-value, numeral, rough))

    def agrees(value: Decimal) -> bool:
        if rounds(value, False):
            return True
        if hedge is None:
            return False
        if (hedge["just_above"] and value < numeral.value) or (hedge["just_below"] and value > numeral.value):
            return False
        near = fraction or hedge["just_above"] or hedge["just_below"]
        if near and abs(value - numeral.value) <= abs(numeral.value) * _HEDGED_SHARE:
            return True
        return rounds(value, True)

    return agrees
