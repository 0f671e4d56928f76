"""Options for each clause, with how likely each is: what the composer combines into candidates."""

from collections import defaultdict
from collections.abc import Iterator

from answerable.reader.candidates.comparisons import comparing_tests
from answerable.reader.candidates.options import ClauseOptions, ConditionOption, HavingOption, SelectOption, SortOption
from answerable.reader.candidates.role_features import FUNCTION_TAGS
from answerable.reader.candidates.roles import Chance, Roles
from answerable.reader.linking.cues import Cue
from answerable.reader.linking.links import Mention, ValueMention
from answerable.reader.linking.scene import Scene, comparison_at, is_negated
from answerable.reader.plans.draft import ROWS, DraftCondition, DraftOrder, DraftRange, Operator, Term

LEAST = 0.015
_LEAST_CALCULATED = 0.004
_LIKELY = 0.3
_DOWN = frozenset({"MAX", "MOST", "COMMON", "OLD"})
_FLAGS = (("yes", "no"), ("y", "n"), ("true", "false"), ("t", "f"))
_TEXT_CUES = {"LIKE": "contains", "STARTS": "starts_with", "ENDS": "ends_with"}


def find_options(scene: Scene, roles: Roles) -> ClauseOptions:
    return ClauseOptions(
        parts=_parts(scene, roles),
        tests=[*_value_tests(scene, roles), *_number_tests(scene, roles), *_flag_tests(scene, roles)],
        nested=comparing_tests(scene, roles),
        sortings=_sortings(scene, roles),
        havings=_havings(scene, roles),
        tables=roles.tables,
        groups=_groups(roles),
    )


# Select


def _parts(scene: Scene, roles: Roles) -> list[SelectOption]:
    found = [
        SelectOption(
            Term(column),
            _place(scene, column, chance.mention),
            chance.probability,
            _last_place(scene, column, chance.mention),
        )
        for column, chance in roles.columns["select"].items()
        if chance.probability >= LEAST
    ]
    for (function, column), chance in roles.aggregates.items():
        if chance.probability >= _LEAST_CALCULATED:
            place = _function_place(scene, function, _place(scene, column, chance.mention))
            found.append(SelectOption(Term(column, function), place, chance.probability, place))  # type: ignore[arg-type]
    for column, chance in roles.columns["count"].items():
        if chance.probability >= (_LEAST_CALCULATED if "COUNT" in scene.cue_tags else LEAST):
            place = _function_place(scene, "count", _place(scene, column, chance.mention))
            found.append(SelectOption(Term(column, "count", distinct=True), place, chance.probability, place))
    found.extend(_totals(scene, roles))
    return sorted(found, key=lambda part: -part.chance)[:14]


def _totals(scene: Scene, roles: Roles) -> Iterator[SelectOption]:
    """How many seats, the number of visitors: where a column holds the numbers, they are added up."""
    for cue in scene.cues_of("COUNT", "MUCH"):
        for mention in scene.links.columns:
            view = scene.schema.columns[mention.id]
            chosen = roles.columns["select"].get(mention.id)
            if view.numeric and not (view.key or view.foreign) and 0 <= mention.end - cue.end <= 4 and chosen:
                chance = max(0.5 * mention.score * roles.tables[view.table], 0.5 * chosen.probability)
                yield SelectOption(Term(mention.id, "sum"), cue.start + 0.1, chance, cue.start + 0.1)


def _place(scene: Scene, column: int, mention: Mention | None) -> float:
    if mention is not None:
        return mention.start + 0.01 * mention.end  # of `dates of birth and death` each ends at its own word
    tables = scene.tables.get(scene.schema.columns[column].table, ())
    return min((float(m.start) for m in tables), default=0.0) + 0.3


def _last_place(scene: Scene, column: int, mention: Mention | None) -> float:
    if mention is None:
        return _place(scene, column, None)
    return max(float(m.start) for m in scene.columns[column] if m.score >= mention.score - 0.1)


def _function_place(scene: Scene, function: str, place: float) -> float:
    """Where the aggregate is said: at its cue when that is near, so that `max and min price` keeps its order."""
    cues = [cue.start for cue in scene.cues if cue.tag in FUNCTION_TAGS[function]]
    near = min(cues, key=lambda start: abs(start - place), default=None)
    return place if near is None or abs(near - place) > 8 else near + 0.1


def count_places(scene: Scene) -> tuple[float, float]:
    """Where counting is first and last asked for."""
    places = [float(cue.start) for cue in scene.cues if cue.tag == "COUNT"] or [99.0]
    return places[0], places[-1]


# Where


def _value_tests(scene: Scene, roles: Roles) -> list[list[ConditionOption]]:
    by_span: dict[tuple[int, int], list[ConditionOption]] = defaultdict(list)
    in_parts = _quotes_in_parts(scene)
    for use in sorted(roles.values, key=lambda u: -u.probability):
        value = use.value
        if value.score == 0.0 and (value.start, value.end) in in_parts:
            continue
        if use.probability < LEAST and not value.quoted:
            continue
        operator = _text_operator(scene, value.start, value.end)
        negated = is_negated(scene, value.start)
        condition = DraftCondition(Term(value.column), operator, _as_stored(scene, value))
        tests = by_span[(value.start, value.end)]
        if len(tests) < 3:
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
    kept: list[tuple[int, int]] = []
    for span in sorted(by_span, key=lambda s: (-by_span[s][0].chance * (1.0 + 0.2 * (s[1] - s[0])), s)):
        if all(span[1] <= other[0] or span[0] >= other[1] for other in kept):
            kept.append(span)
    return [by_span[span] for span in sorted(kept)]


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
            if (use.probability < LEAST and tests) or len(tests) >= 3 or known:
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


# Order


def _sortings(scene: Scene, roles: Roles) -> list[SortOption]:
    columns = sorted(roles.columns["order"].items(), key=lambda item: -item[1].probability)[:4]
    found: list[SortOption] = []
    extremes = scene.cues_of("MAX", "MIN", "OLD", "YOUNG", "MOST", "LEAST", "COMMON", "RARE")
    sorts = scene.cues_of("SORT", "ASC", "DESC")
    for column, chance in columns:
        if chance.probability < LEAST:
            continue
        place = chance.mention.start if chance.mention else 0
        if extremes:
            found.append(_extreme(scene, roles, Term(column), place, extremes, chance.probability))
        if sorts or not extremes:
            found.append(SortOption((DraftOrder(Term(column), _descends(scene, place)),), None, chance.probability))
    if extremes:
        found.extend(_unsaid_sortings(scene, roles, extremes, {s.order[0].term.column for s in found}))
        found.extend(_aggregate_sortings(scene, roles, extremes))
    if sorts:
        found.extend(_by_what_is_shown(scene, roles))
        found.append(SortOption((DraftOrder(ROWS, _descends(scene, 0)),), None, 0.2))
        if len(columns) > 1 and columns[1][1].probability > _LIKELY:
            found.append(_double_sort(scene, columns[0], columns[1]))
    return sorted(found, key=lambda sorting: -sorting.chance)[:7]


def _by_what_is_shown(scene: Scene, roles: Roles) -> Iterator[SortOption]:
    """Names in descending order: nothing else is named to sort by."""
    if all(chance.probability < _LIKELY for chance in roles.columns["order"].values()):
        shown = sorted(roles.columns["select"].items(), key=lambda item: -item[1].probability)
        for column, chance in shown[:2]:
            yield SortOption((DraftOrder(Term(column), _descends(scene, 0)),), None, 0.5 * chance.probability)


def _double_sort(scene: Scene, first: tuple[int, Chance], second: tuple[int, Chance]) -> SortOption:
    """By age and then by name: in the order in which the two are named."""
    pair = sorted((first, second), key=lambda item: item[1].mention.start if item[1].mention else 99)
    orders = tuple(
        DraftOrder(Term(column), _descends(scene, chance.mention.start if chance.mention else 0))
        for column, chance in pair
    )
    return SortOption(orders, None, min(first[1].probability, second[1].probability))


def _extreme(scene: Scene, roles: Roles, term: Term, place: int, cues: list[Cue], chance: float) -> SortOption:
    cue = min(cues, key=lambda c: (abs(c.start - place), c.start))
    down = cue.tag in _DOWN
    if cue.tag in ("OLD", "YOUNG") and term.column is not None and _is_birth(scene, term.column):
        down = not down
    return SortOption((DraftOrder(term, down),), _limit_near(scene, roles, cue), chance)


def _unsaid_sortings(scene: Scene, roles: Roles, extremes: list[Cue], known: set[int | None]) -> list[SortOption]:
    """The largest school: by one of its numbers, though none is named."""
    if any(chance.probability > _LIKELY for chance in roles.columns["order"].values()) or not roles.tables:
        return []
    best = max(range(len(roles.tables)), key=lambda table: roles.tables[table])
    views = [scene.schema.columns[column] for column in scene.schema.tables[best].columns]
    unsaid = [v.id for v in views if (v.numeric or v.temporal) and not (v.key or v.foreign) and v.id not in known]
    place = extremes[0].start
    return [_extreme(scene, roles, Term(column), place, extremes, 0.03) for column in unsaid[:3]]


def _is_birth(scene: Scene, column: int) -> bool:
    view = scene.schema.columns[column]
    return view.temporal or any(
        word in ("birth", "birthday", "year", "date", "founded", "opening") for word in view.words
    )


def _limit_near(scene: Scene, roles: Roles, cue: Cue) -> int:
    """The top 3, the 3 largest; else 1."""
    for place in sorted(scene.numbers, key=lambda p: abs(p - cue.start)):
        value = scene.tokens[place].value
        if isinstance(value, int) and value > 0 and roles.number_roles[place]["limit"] > 0.15:
            return value
    return 1


def _aggregate_sortings(scene: Scene, roles: Roles, extremes: list[Cue]) -> list[SortOption]:
    found = []
    for cue in extremes:
        if cue.tag in ("MOST", "LEAST", "COMMON", "RARE", "MAX", "MIN"):
            strong = 0.5 if cue.tag in ("MOST", "LEAST", "COMMON", "RARE") or "COUNT" in scene.cue_tags else 0.05
            found.append(SortOption((DraftOrder(ROWS, cue.tag in _DOWN),), _limit_near(scene, roles, cue), strong))
    for (function, column), chance in roles.aggregates.items():
        order = roles.columns["order"].get(column)
        if function in ("avg", "sum") and order is not None:
            likely = max(chance.probability, order.probability)
            if likely > 0.1:
                place = order.mention.start if order.mention else 0
                found.append(_extreme(scene, roles, Term(column, function), place, extremes, likely * 0.7))  # type: ignore[arg-type]
    return found


def _descends(scene: Scene, place: int) -> bool:
    cues = scene.cues_of("ASC", "DESC")
    if not cues:
        return False
    return min(cues, key=lambda c: abs(c.start - place)).tag == "DESC"


# HavingOption and groups


def _havings(scene: Scene, roles: Roles) -> list[HavingOption]:
    found = []
    for place in scene.numbers:
        chance = roles.number_roles[place]["having"]
        number = scene.tokens[place].value
        if number is None:
            continue
        if _said_as_times(scene, place):
            chance = max(chance, 0.4)
        if chance < 0.03:
            continue
        operator = comparison_at(scene, place)
        found.append(HavingOption(DraftCondition(ROWS, operator, number), place, chance))
        for (function, column), use in roles.aggregates.items():
            if use.probability > 0.05 or (use.mention and abs(use.mention.start - place) < 5):
                term = Term(column, function)  # type: ignore[arg-type]
                found.append(HavingOption(DraftCondition(term, operator, number), place, chance * 0.3))
    if "ONCE" in scene.cue_tags:
        found.append(HavingOption(DraftCondition(ROWS, ">", 1), scene.cues_of("ONCE")[0].start, 0.5))
    return sorted(found, key=lambda having: -having.chance)[:4]


def _said_as_times(scene: Scene, place: int) -> bool:
    """Twice, five times: how often something happens is counted."""
    return scene.words[place] in ("twice", "thrice") or scene.words[place + 1 : place + 2] == ["times"]


def _groups(roles: Roles) -> list[tuple[int, float]]:
    ranked = sorted(roles.columns["group"].items(), key=lambda item: -item[1].probability)
    return [(column, chance.probability) for column, chance in ranked[:4] if chance.probability >= 0.05]
