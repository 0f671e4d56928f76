"""Claims that something rose or fell: over time, from one number to another, or as a column of changes says."""

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from itertools import pairwise

from answerable.answers.checking.lexicon import (
    DELAYS,
    DOWN,
    FELL,
    LESS,
    MORE,
    MOVEMENTS,
    PUNCTUALITY,
    ROSE,
    SIGNS,
    TOTAL,
    UP,
)
from answerable.answers.checking.naming import RowMention, Token
from answerable.answers.checking.predicates import joined, subject_after, subject_before
from answerable.answers.checking.sentence import Sentence
from answerable.core.words import fold

_QUANTIFIED = re.compile(
    r"\b(?:only|except|other than|none|no|nobody|all|every|each)\b|\bof (?:the|them|these)\b", re.I
)
_ARRIVES = re.compile(
    r"^(?:, which)?(?: flights| trains| deliveries)? (?:all |both )?(?:tends? to )?"
    r"(?:arriv\w+|depart\w+|land|leave|is|are|was|were|runs?|lands?|leaves?)\b[^,;%]*$",
    re.IGNORECASE,
)
_RUN = re.compile(
    r" (?:straight|consecutive|successive)\b|\b(?:years|months|quarters|weeks|days) in a row\b", re.IGNORECASE
)
_NEXT = re.compile(
    r"\b(?:an?|one) (?:year|quarter|month|week|day) later\b|\bthe (?:next|following) (?:year|quarter|month|week|day)\b",
    re.IGNORECASE,
)
"""What follows the first of two times that stand next to each other: “to only 2 a year later”."""
_OCCURRED = re.compile(r"\bof (?:the|all|these|its) .*\b(?:fell|falls?) (?:in|on|into|within)\b", re.IGNORECASE)
"""“Half of the frost days fell in 2013” tells when they were."""
_EVERY = re.compile(
    r"\b(?:every|each) (?:single )?(?:year|quarter|month|week|day)\b|\b(?:steadily|continuously|consistently)\b"
    r"|\b(?P<unit>year|quarter|month|week|day) (?:after|by) (?P=unit)\b",
    re.IGNORECASE,
)


def misdirected(sentence: Sentence) -> Iterator[str]:
    yield from _mistimed(sentence)
    yield from _missigned(sentence)
    for at, token in enumerate(sentence.tokens):
        sign = _sign(sentence, at)
        if _OCCURRED.search(sentence.text[: token.end + 7]):
            continue
        if not sign or any(m.start <= token.start < m.end for m in sentence.labels_named):
            continue
        claim = _over_time(sentence, token, sign) if sentence.facts.series else _of_subject(sentence, token, sign)
        if claim is False:
            yield f"the rows do not show that it “{token.text}”"
            return


def _missigned(sentence: Sentence) -> Iterator[str]:
    """“Bill depth has a positive correlation”, although it is below zero."""
    facts = sentence.facts
    both = [f for f in facts.measures if min(facts.values(f), default=0) < 0 < max(facts.values(f), default=0)]
    spoken = [f for f in both if f.index in sentence.spoken] or both
    if _QUANTIFIED.search(sentence.text) or len(spoken) != 1:
        return
    for sign, pattern in SIGNS.items():
        found = pattern.search(sentence.text)
        subject = subject_before(sentence, found.start()) if found else None
        rows = sentence.rows_of(subject) | joined(sentence, subject) if subject else frozenset()
        cells = [value for row in rows if (value := facts.number(row, spoken[0].index)) is not None]
        if found and cells and not any(value * sign > 0 for value in cells):
            yield f"the rows do not show that it is “{found.group()}”"


def _mistimed(sentence: Sentence) -> Iterator[str]:
    """“Delta arrives late on average”, although its delay is below zero."""
    if _QUANTIFIED.search(sentence.text):
        return
    for sign, pattern in PUNCTUALITY.items():
        for found in pattern.finditer(sentence.text):
            subject = subject_before(sentence, found.start())
            said = sentence.text[subject.end : found.start()] if subject else ""
            if subject is None or not _ARRIVES.search(said) or "%" in said:
                continue
            rows = sentence.rows_of(subject) | joined(sentence, subject)
            delays = [sentence.facts.numbers(field.index) for field in sentence.facts.concerning(DELAYS)]
            values = [value for cells in delays for row in rows if (value := cells[row]) is not None]
            if values and not all(value * sign > 0 for value in values):
                yield f"the rows do not show that it is “{found.group()}”"


def _sign(sentence: Sentence, at: int) -> int:
    word = fold(sentence.tokens[at].text)
    following = [fold(t.text) for t in sentence.tokens[at + 1 : at + 3]]
    if word in MOVEMENTS and at and fold(sentence.tokens[at - 1].text) in ("the", "that", "this", "of", "after"):
        return 0  # “the gain was lost”
    if "most" in following or "fewest" in following or "least" in following:
        return 0
    if word in ("up", "down") and at and fold(sentence.tokens[at - 1].text) in ("was", "is", "were", "are", "went"):
        return UP if word == "up" else DOWN
    return UP if word in ROSE else DOWN if word in FELL else 0


def _over_time(sentence: Sentence, token: Token, sign: int) -> bool | None:
    """Whether a quantity moved so between the times that are named; None if it cannot be told."""
    facts = sentence.facts
    assert facts.series is not None
    field, order = facts.series
    times = [m for m in sentence.mentions if m.column == field.index and not _is_apart(sentence, token, m)]
    places = sorted({order.index(row) for m in times for row in m.rows})
    if run := _RUN.search(sentence.text):
        return _ran(sentence, order, sign, run)
    since = any(_is_since(sentence, mention) for mention in times)
    if _EVERY.search(sentence.text):
        until = any(re.search(r"\b(?:until|till|up to|through)\s+$", sentence.text[: m.start], re.I) for m in times)
        first = 0 if until and len(places) == 1 else places[0] if places else 0
        span = order[first : None if since else places[-1] + 1] if places else order
        return _any_measure(sentence, list(pairwise(span)), sign)
    single = sorted({order.index(next(iter(m.rows))) for m in times if len(m.rows) == 1})
    if len(single) >= 2 and any({order[place] for place in single} <= rows for _, rows in sentence.lists):
        steps = [(order[place - 1], order[place]) for place in single if place > 0]
        listed = not re.search(r"\bbetween\b", sentence.text, re.IGNORECASE)
        if listed and not (held := _any_measure(sentence, steps, sign)):
            return held
        if listed:
            return True
    if len(single) >= 2:
        return _any_measure(sentence, [(order[single[0]], order[single[-1]])], sign)
    if len(single) != 1 or len(times) != 1:
        return None
    [place] = single
    if since:
        return _any_measure(sentence, [(order[place], order[-1])], sign)
    if _NEXT.search(sentence.text[times[0].end :]):
        return _any_measure(sentence, [(order[place], order[place + 1])], sign) if place + 1 < len(order) else None
    return _any_measure(sentence, [(order[place - 1], order[place])], sign) if place > 0 else None


def _is_apart(sentence: Sentence, token: Token, mention: RowMention) -> bool:
    """“Rose in July, then eased until November”: what follows is said of another verb."""
    between = sentence.text[min(token.end, mention.end) : max(token.start, mention.start)]
    return bool(re.search(r"\b(?:then|but|while|whereas)\b|;", between, re.IGNORECASE))


def _is_since(sentence: Sentence, mention: RowMention) -> bool:
    """“Since 2013”, “from September on”."""
    before, after = sentence.text[: mention.start].rstrip().lower(), sentence.text[mention.end :]
    if re.search(r"\b(?:every|each) (?:year|quarter|month|week|day) since\W*$", after):
        return True
    return before.endswith(("since", "after")) or (
        before.endswith("from") and bool(re.match(r" (?:on|onwards?)\b", after))
    )


def _ran(sentence: Sentence, order: Sequence[int], sign: int, run: re.Match[str]) -> bool:
    """“For three straight months”: whether there is such a run."""
    said = [n.value for n in sentence.numerals if n.end <= run.start() + 1 and n.kind == "number"]
    steps = list(pairwise(order))
    length = min(int(said[-1]) if said else 2, len(steps))
    return any(_any_measure(sentence, steps[start : start + length], sign) for start in range(len(steps) - length + 1))


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
        if len(changes) == 1 and known:
            return known[0] * sign > 0
        return sum(known, Decimal(0)) * sign > 0 if TOTAL & sentence.words else None
    moves = [
        change for row in sentence.rows_of(subject) | joined(sentence, subject) if (change := changes[row]) is not None
    ]
    return all(move * sign > 0 for move in moves) if moves else None


def reversed_span(sentence: Sentence) -> Iterator[str]:
    """“Rose from 10 to 8” contradicts itself."""
    values = [n for n in sentence.numerals if n.kind == "number" and not sentence.is_year(n)]
    start = next((n for n in values if sentence.word_before(n) == "from"), None)
    end = next((n for n in values if sentence.word_before(n) == "to"), None)
    if start is None or end is None or start.value == end.value or start.scaled != end.scaled:
        return
    up, down = bool(MORE & sentence.words), bool(LESS & sentence.words)
    if up != down and up != (end.value > start.value):
        yield "the second number does not lie in that direction from the first"
