"""The where clause: conditions by value, number, text pattern or flag, comparisons with other rows or columns, and
which of them go together."""

import heapq
from collections import defaultdict
from collections.abc import Iterator
from math import log
from typing import NamedTuple

from answerable.reader.candidates.composition import LEAST_CHANCE, ClauseOptions, ConditionOption, logit
from answerable.reader.candidates.roles import Roles, functions_said
from answerable.reader.linking.cues import FUNCTION_TAGS, OPERATORS, Cue
from answerable.reader.linking.links import Mention, ValueMention
from answerable.reader.linking.scene import Scene, comparison_at, is_negated
from answerable.reader.linking.schema import ColumnView
from answerable.reader.plans.draft import Draft, DraftCondition, DraftRange, Function, Operator, Term

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
# "The rain in spring is lower than the one in summer": eight words reach over the rest of the phrase.
_REACH = 8
_MOST_COMPARISONS = 5
# A column that is only half said does not stand on one side of a comparison.
_LEAST_SIDE_SAID = 0.6
# Half of the name of an id is often just the name of its table.
_LEAST_ID_SAID = 0.45


def condition_options(scene: Scene, roles: Roles) -> list[list[ConditionOption]]:
    """For each phrase that may be a condition, what it may be."""
    return [*_value_tests(scene, roles), *_number_tests(scene, roles), *_flag_tests(scene, roles)]


def _value_tests(scene: Scene, roles: Roles) -> list[list[ConditionOption]]:
    by_span: dict[tuple[int, int], list[ConditionOption]] = defaultdict(list)
    in_parts = _quotes_in_parts(scene)
    for use in sorted(roles.values, key=lambda u: -u.probability):
        value = use.value
        # The score 0 marks text that need not be a value of the data (`_free_values`).
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
            # Guessed, not fitted: a flag that is named is more often shown than tested, so it stays below one half.
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
    # A longer phrase says more: "New York City" is more likely one value than "New York" and another word.
    for span in sorted(by_span, key=lambda s: (-by_span[s][0].chance * (1.0 + 0.2 * (s[1] - s[0])), s)):
        if all(span[1] <= other[0] or span[0] >= other[1] for other in chosen):
            chosen.append(span)
    return [by_span[span] for span in sorted(chosen)]


def _text_operator(scene: Scene, start: int, end: int) -> Operator:
    for cue in scene.cues:
        # "Starts with the letter A" has words between; "A in their name" has the cue right after.
        if cue.tag in _TEXT_CUES and (0 <= start - cue.end <= 4 or 0 <= cue.start - end <= 1):
            return _TEXT_CUES[cue.tag]  # type: ignore[return-value]
    return "="


def _number_tests(scene: Scene, roles: Roles) -> list[list[ConditionOption]]:
    ranges = _ranges(scene)
    found: list[list[ConditionOption]] = []
    for place in scene.numbers:
        # The condition of the first end contains the second end of the range.
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
            if not _can_hold(scene.schema.columns[use.column], condition, use.mention):
                continue
            # Two models judge the number. The one for its role takes away half of the chance at most.
            chance = (use.probability + chance_where * use.probability) / 2
            tests.append(
                ConditionOption(condition, place, (span[1] if span else place) + 1, chance, is_negated(scene, place))
            )
        if tests:
            found.append(tests)
    return found


def _can_hold(view: ColumnView, condition: DraftCondition, mention: Mention | None) -> bool:
    """Whether a comparison of the column with the number makes sense. No quantity equals a year of which there is no
    such row, no name equals a number, and ids are compared only if the question names them."""
    number = condition.right
    if view.looks_like_id or view.key or view.foreign:
        return mention is not None and mention.score >= _LEAST_ID_SAID
    if view.source.type == "text" and mention is None:
        return any(example[:1].isdigit() for example in view.source.examples)
    low, high = view.source.minimum, view.source.maximum
    if condition.operator != "=" or not isinstance(number, int | float):
        return True
    if not isinstance(low, int | float) or not isinstance(high, int | float):
        return True
    return low <= number <= high


def _ranges(scene: Scene) -> list[tuple[int, int]]:
    """Pairs of numbers that are the ends of a range: between 3 and 5."""
    found = []
    for cue in scene.cues_of("BETWEEN"):
        # "Between 3 and 5", "between the years 2010 and 2015": both ends stand within six words.
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


def comparing_tests(scene: Scene, roles: Roles) -> list[ConditionOption]:
    """The likeliest ones; what the other rows must be like is found among the other conditions."""
    found: list[ConditionOption] = []
    for cue in scene.cues_of("GT", "LT", "GE", "LE"):
        found.extend(_with_aggregates(scene, roles, cue))
        if not _number_follows(scene, cue):
            found.extend(_with_other_rows(scene, roles, cue))
            found.extend(_with_columns(scene, roles, cue))
    return sorted(found, key=lambda test: -test.chance)[:_MOST_COMPARISONS]


def _operator(cue: Cue) -> Operator:
    return OPERATORS[cue.tag]


def _number_follows(scene: Scene, cue: Cue) -> bool:
    return any(place in scene.numbers for place in range(cue.end, cue.end + 3))


def _with_aggregates(scene: Scene, roles: Roles, cue: Cue) -> Iterator[ConditionOption]:
    """More than the average: a column compared with an aggregate of itself."""
    for function in functions_said(scene):
        said = _cue_after(scene, function, cue.end)
        # A single row is never above the sum of all rows.
        if function == "sum" or said is None:
            continue
        for column, chance in _compared_columns(scene, roles, cue):
            yield _compared(scene, column, cue, function, said.end, chance)  # type: ignore[arg-type]


def _with_other_rows(scene: Scene, roles: Roles, cue: Cue) -> Iterator[ConditionOption]:
    """Higher than all others, or than some other: that is higher than the highest, or than the lowest."""
    functions: tuple[Function, Function] = ("max", "min")
    for column, chance in _compared_columns(scene, roles, cue):
        for function in functions:
            # Half the chance: "than any other" says neither "max" nor "min", both are guesses.
            yield _compared(scene, column, cue, function, cue.end, chance * 0.5)


def _compared(scene: Scene, column: int, cue: Cue, function: Function, end: int, chance: float) -> ConditionOption:
    inner = Draft(scene.schema.columns[column].table, (Term(column, function),))
    return ConditionOption(DraftCondition(Term(column), _operator(cue), inner), cue.start, end, chance)


def _with_columns(scene: Scene, roles: Roles, cue: Cue) -> Iterator[ConditionOption]:
    """The column said before "than" against the one said after it."""
    words = scene.words[cue.start : cue.end + _REACH]
    middle = cue.start + words.index("than") + 1 if "than" in words else cue.end
    said = [m for m in scene.links.columns if m.score >= _LEAST_SIDE_SAID and _is_measured(scene, m.id)]
    before = [m for m in said if middle - _REACH <= m.start and m.end <= middle]
    after = [m for m in said if middle <= m.start < middle + _REACH]
    for left in before:
        for right in after:
            if left.id != right.id:
                chance = _nearness(left, right, middle) * _likely(scene, roles, left.id, right.id)
                yield ConditionOption(
                    DraftCondition(Term(left.id), _operator(cue), Term(right.id)), cue.start, right.end, chance
                )


def _nearness(left: Mention, right: Mention, middle: int) -> float:
    # Each word between the two columns makes it a tenth less likely that they are compared.
    return left.score * right.score * 0.9 ** (middle - left.end + right.start - middle)


def _likely(scene: Scene, roles: Roles, *columns: int) -> float:
    # An unlikely table takes away 70% of the chance at most, because the question names its column.
    return min(0.3 + 0.7 * roles.tables[scene.schema.columns[column].table] for column in columns)


def _is_measured(scene: Scene, column: int) -> bool:
    view = scene.schema.columns[column]
    return (view.numeric or view.temporal) and not view.key and not view.foreign


def _cue_after(scene: Scene, function: str, place: int) -> Cue | None:
    tags = FUNCTION_TAGS[function]
    return next((cue for cue in scene.cues if cue.tag in tags and 0 <= cue.start - place <= 6), None)


def _compared_columns(scene: Scene, roles: Roles, cue: Cue) -> list[tuple[int, float]]:
    scored = []
    for column, mentions in scene.columns.items():
        view = scene.schema.columns[column]
        if not view.numeric or view.key:
            continue
        gap = min(min(abs(m.start - cue.end), abs(cue.start - m.end)) for m in mentions)
        strength = max(m.score for m in mentions)
        # Each word between the cue and the column makes it a tenth less likely that they belong together.
        scored.append((strength * 0.9**gap * (0.3 + roles.tables[view.table]), column))
    scored.sort(reverse=True)
    return [(column, min(0.9, score)) for score, column in scored[:3]]


class WhereSet(NamedTuple):
    """Conditions that are used together."""

    tests: tuple[ConditionOption, ...]
    score: float
    dropped: int
    """How many phrases are left without a condition."""


def where_sets(options: ClauseOptions) -> list[WhereSet]:
    sets = [WhereSet((), 0.0, 0)]
    for phrase in options.tests:
        # A beam search: all combinations of conditions would grow exponentially with the phrases.
        sets = heapq.nlargest(_MOST_SETS, _extended(sets, phrase), key=lambda s: s.score)
    nested = options.nested[:3]
    with_nested = [
        WhereSet((*one.tests, test), one.score + _NESTED_WEIGHT * logit(test.chance), one.dropped)
        for one in sets[:3]
        for test in nested
    ]
    return [*sets, *with_nested]


def _extended(sets: list[WhereSet], phrase: list[ConditionOption]) -> Iterator[WhereSet]:
    # The options of a phrase exclude each other, so the rest of 1 is the chance that the phrase is no condition.
    none = max(_LEAST_LEFT_OUT, 1.0 - sum(test.chance for test in phrase))
    for one in sets:
        yield WhereSet(one.tests, one.score + log(none), one.dropped + 1)
        for test in phrase:
            yield WhereSet((*one.tests, test), one.score + log(max(test.chance, _LEAST_USED)), one.dropped)
