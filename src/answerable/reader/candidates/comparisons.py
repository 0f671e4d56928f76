"""Conditions that compare a column with other rows or with another column: above average, more than any other, lower
in spring than in summer."""

from collections.abc import Iterator

from answerable.reader.candidates.composition import ConditionOption
from answerable.reader.candidates.role_features import FUNCTION_TAGS
from answerable.reader.candidates.roles import Roles, functions_said
from answerable.reader.linking.cues import OPERATORS, Cue
from answerable.reader.linking.links import Mention
from answerable.reader.linking.scene import Scene
from answerable.reader.plans.draft import Draft, DraftCondition, Function, Operator, Term

# "The rain in spring is lower than the one in summer": eight words reach over the rest of the phrase.
_REACH = 8
_MOST_TESTS = 5
# A column that is only half said does not stand on one side of a comparison.
_LEAST_SAID = 0.6


def comparing_tests(scene: Scene, roles: Roles) -> list[ConditionOption]:
    """The likeliest ones; what the other rows must be like is found among the other conditions."""
    found: list[ConditionOption] = []
    for cue in scene.cues_of("GT", "LT", "GE", "LE"):
        found.extend(_with_aggregates(scene, roles, cue))
        if not _number_follows(scene, cue):
            found.extend(_with_other_rows(scene, roles, cue))
            found.extend(_with_columns(scene, roles, cue))
    return sorted(found, key=lambda test: -test.chance)[:_MOST_TESTS]


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
    said = [m for m in scene.links.columns if m.score >= _LEAST_SAID and _is_measured(scene, m.id)]
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
    return left.score * right.score * 0.9 ** (middle - left.end + right.start - middle)


def _likely(scene: Scene, roles: Roles, *columns: int) -> float:
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
