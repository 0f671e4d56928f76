"""The where clause: conditions by value, number, text pattern or flag, and which of them go together."""

import heapq
from collections import defaultdict
from collections.abc import Iterator
from math import log
from typing import NamedTuple

from answerable.reader.candidates.options import LEAST_CHANCE, ClauseOptions, ConditionOption, logit
from answerable.reader.candidates.roles import Roles
from answerable.reader.linking.links import ValueMention
from answerable.reader.linking.scene import Scene, comparison_at, is_negated
from answerable.reader.plans.draft import DraftCondition, DraftRange, Operator, Term

_FLAGS = (("yes", "no"), ("y", "n"), ("true", "false"), ("t", "f"))
_TEXT_CUES = {"LIKE": "contains", "STARTS": "starts_with", "ENDS": "ends_with"}
# "Washington" may be a state, a city or a surname; more columns than that only cost drafts.
_MOST_PER_PHRASE = 3
_MOST_SETS = 6
# A condition may always be left out, however likely it is, and none is ruled out by one bad chance.
_LEAST_LEFT_OUT = 0.01
_LEAST_USED = 0.005
# Comparisons with other rows are guessed from cues, not fitted: their chances are trusted half.
_NESTED_WEIGHT = 0.5


def condition_options(scene: Scene, roles: Roles) -> list[list[ConditionOption]]:
    """For each phrase that may be a condition, what it may be."""
    return [*_value_tests(scene, roles), *_number_tests(scene, roles), *_flag_tests(scene, roles)]


def _value_tests(scene: Scene, roles: Roles) -> list[list[ConditionOption]]:
    by_span: dict[tuple[int, int], list[ConditionOption]] = defaultdict(list)
    in_parts = _quotes_in_parts(scene)
    for use in sorted(roles.values, key=lambda u: -u.probability):
        value = use.value
        if value.score == 0.0 and (value.start, value.end) in in_parts:
            continue
        if use.probability < LEAST_CHANCE and not value.quoted:
            continue
        operator = _text_operator(scene, value.start, value.end)
        negated = is_negated(scene, value.start)
        condition = DraftCondition(Term(value.column), operator, _as_stored(scene, value))
        tests = by_span[(value.start, value.end)]
        if len(tests) < _MOST_PER_PHRASE:
            tests.append(ConditionOption(condition, value.start, value.end, use.probability, negated))
    return _without_overlaps(by_span)


def _quotes_in_parts(scene: Scene) -> set[tuple[int, int]]:
    """Quoted text that the data hold word by word, as first and last names, and nowhere as a whole."""
    words = {value.start for value in scene.links.values if value.end - value.start == 1 and value.score >= 1.0}
    spans = [(quote.start, quote.end) for quote in scene.question.quotes if quote.end - quote.start > 1]
    return {span for span in spans if words.issuperset(range(*span))}


def _flag_tests(scene: Scene, roles: Roles) -> list[list[ConditionOption]]:
    """A column of yes and no says by its name what holds: those that are approved."""
    found: dict[tuple[int, int], list[ConditionOption]] = defaultdict(list)
    taken = {place for value in scene.values for place in range(value.start, value.end)}
    for mention in scene.links.columns:
        view = scene.schema.columns[mention.id]
        answers = {example.lower(): example for example in view.source.examples}
        pair = next((pair for pair in _FLAGS if answers and set(answers) <= set(pair)), None)
        if pair is None or mention.score < 0.4 or not taken.isdisjoint(range(mention.start, mention.end)):
            continue
        said = next((word for word in scene.words[mention.end : mention.end + 3] if word in pair), None)
        wanted = said or (pair[1] if is_negated(scene, mention.start) else pair[0])
        if wanted in answers:
            condition = DraftCondition(Term(mention.id), "=", answers[wanted])
            chance = 0.4 * mention.score * (0.3 + 0.7 * roles.tables[view.table])
            found[(mention.start, mention.end)].append(ConditionOption(condition, mention.start, mention.end, chance))
    return _without_overlaps(found)


def _as_stored(scene: Scene, value: ValueMention) -> str | int | float:
    if not scene.schema.columns[value.column].numeric:
        return value.value
    try:
        return int(value.value)
    except ValueError:
        return value.value


def _without_overlaps(by_span: dict[tuple[int, int], list[ConditionOption]]) -> list[list[ConditionOption]]:
    chosen: list[tuple[int, int]] = []
    # A longer phrase says more: "New York City" is rather one value than "New York" and a word that is left.
    for span in sorted(by_span, key=lambda s: (-by_span[s][0].chance * (1.0 + 0.2 * (s[1] - s[0])), s)):
        if all(span[1] <= other[0] or span[0] >= other[1] for other in chosen):
            chosen.append(span)
    return [by_span[span] for span in sorted(chosen)]


def _text_operator(scene: Scene, start: int, end: int) -> Operator:
    for cue in scene.cues:
        if cue.tag in _TEXT_CUES and (0 <= start - cue.end <= 4 or 0 <= cue.start - end <= 1):
            return _TEXT_CUES[cue.tag]  # type: ignore[return-value]
    return "="


def _number_tests(scene: Scene, roles: Roles) -> list[list[ConditionOption]]:
    ranges = _ranges(scene)
    found: list[list[ConditionOption]] = []
    for place in scene.numbers:
        if any(second == place for _, second in ranges):
            continue
        span = next((r for r in ranges if r[0] == place), None)
        chance_where = roles.number_roles[place]["where"]
        uses = sorted((u for u in roles.numbers if u.place == place), key=lambda u: -u.probability)
        tests: list[ConditionOption] = []
        for use in uses:
            known = any(t.condition.left.column == use.column for t in tests)
            if (use.probability < LEAST_CHANCE and tests) or len(tests) >= _MOST_PER_PHRASE or known:
                continue
            condition = _number_condition(scene, use.column, place, span)
            chance = (use.probability + chance_where * use.probability) / 2
            tests.append(
                ConditionOption(condition, place, (span[1] if span else place) + 1, chance, is_negated(scene, place))
            )
        if tests:
            found.append(tests)
    return found


def _ranges(scene: Scene) -> list[tuple[int, int]]:
    """Pairs of numbers that are the ends of a range: between 3 and 5."""
    found = []
    for cue in scene.cues_of("BETWEEN"):
        after = [place for place in scene.numbers if cue.end <= place <= cue.end + 6]
        if len(after) >= 2:
            found.append((after[0], after[1]))
    return found


def _number_condition(scene: Scene, column: int, place: int, span: tuple[int, int] | None) -> DraftCondition:
    value = _typed(scene, column, place)
    if span is not None:
        return DraftCondition(Term(column), "between", DraftRange(value, _typed(scene, column, span[1])))
    return DraftCondition(Term(column), comparison_at(scene, place), value)


def _typed(scene: Scene, column: int, place: int) -> int | float | str:
    """Numbers that a text column holds are compared as text."""
    token = scene.tokens[place]
    if token.kind == "date" or token.value is None:
        return token.text
    number = token.value
    if scene.schema.columns[column].source.type == "text":
        return str(number)
    return number


class WhereSet(NamedTuple):
    """Conditions that are used together."""

    tests: tuple[ConditionOption, ...]
    score: float
    dropped: int
    """How many phrases are left without a condition."""


def where_sets(options: ClauseOptions) -> list[WhereSet]:
    sets = [WhereSet((), 0.0, 0)]
    for phrase in options.tests:
        sets = heapq.nlargest(_MOST_SETS, _extended(sets, phrase), key=lambda s: s.score)
    nested = options.nested[:3]
    with_nested = [
        WhereSet((*one.tests, test), one.score + _NESTED_WEIGHT * logit(test.chance), one.dropped)
        for one in sets[:3]
        for test in nested
    ]
    return [*sets, *with_nested]


def _extended(sets: list[WhereSet], phrase: list[ConditionOption]) -> Iterator[WhereSet]:
    none = max(_LEAST_LEFT_OUT, 1.0 - sum(test.chance for test in phrase))
    for one in sets:
        yield WhereSet(one.tests, one.score + log(none), one.dropped + 1)
        for test in phrase:
            yield WhereSet((*one.tests, test), one.score + log(max(test.chance, _LEAST_USED)), one.dropped)
