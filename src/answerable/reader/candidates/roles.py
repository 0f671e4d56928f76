"""Roles: how likely each column, value and number takes which part in the query, by small boosted trees."""

from collections.abc import Iterator
from dataclasses import field
from typing import NamedTuple, TypeVar

from answerable.core.records import dataclass
from answerable.reader.candidates.role_feature_names import (
    COLUMN_FEATURE_NAMES,
    FUNCTION_FEATURE_NAMES,
    NUMBER_FEATURE_NAMES,
    NUMBER_ROLE_FEATURE_NAMES,
    TABLE_FEATURE_NAMES,
    VALUE_FEATURE_NAMES,
)
from answerable.reader.candidates.role_features import RoleFeaturizer
from answerable.reader.fitted.trees import Trees
from answerable.reader.linking.cues import FUNCTION_TAGS
from answerable.reader.linking.links import Mention, ValueMention
from answerable.reader.linking.scene import Scene
from answerable.reader.linking.schema import names_of_rows

_Key = TypeVar("_Key")

# The features of a column cost time, and a wide table has hundreds of columns.
MAX_COLUMNS = 60
# A column that is said more often than that is said in passing; the best places suffice.
MENTIONS_PER_COLUMN = 3
_TIME_WORDS = frozenset({"year", "date", "yr", "when", "founded", "time"})
COLUMN_ROLES = ("select", "group", "order", "count")
NUMBER_ROLES = ("where", "having", "limit")
ROLE_FEATURE_NAMES: dict[str, tuple[str, ...]] = {
    "table": TABLE_FEATURE_NAMES,
    **dict.fromkeys(COLUMN_ROLES, COLUMN_FEATURE_NAMES),
    "aggregate": (*COLUMN_FEATURE_NAMES, *FUNCTION_FEATURE_NAMES),
    "value": VALUE_FEATURE_NAMES,
    "number": NUMBER_FEATURE_NAMES,
    **{f"number_{role}": NUMBER_ROLE_FEATURE_NAMES for role in NUMBER_ROLES},
}
"""For each role model the names of its features, in order."""


class Chance(NamedTuple):
    probability: float
    mention: Mention | None


class NumberUse(NamedTuple):
    probability: float
    place: int
    column: int
    mention: Mention | None


class ValueUse(NamedTuple):
    probability: float
    value: ValueMention


@dataclass
class Roles:
    """Chances by role. Columns are absent where they were not considered."""

    tables: list[float]
    columns: dict[str, dict[int, Chance]] = field(default_factory=dict)
    aggregates: dict[tuple[str, int], Chance] = field(default_factory=dict)
    values: list[ValueUse] = field(default_factory=list)
    numbers: list[NumberUse] = field(default_factory=list)
    number_roles: dict[int, dict[str, float]] = field(default_factory=dict)


RoleModels = dict[str, Trees]


def relevant_columns(scene: Scene) -> list[tuple[int, Mention | None]]:
    """Columns with the places where they are mentioned, and those that stand for a mentioned table."""
    schema = scene.schema
    # Hints below never lower a score, because a mention of the column itself is better evidence.
    scored: dict[int, float] = {number: max(m.score for m in ms) for number, ms in scene.columns.items()}
    for number, mentions in scene.tables.items():
        table = schema.tables[number]
        strength = max(m.score for m in mentions)
        # "Show the customers" names no column: their name and key stand for them.
        if strength >= 0.45:
            for column in (table.display, table.key, *(c for c in table.columns[:2])):
                if column is not None:
                    scored.setdefault(column, strength * 0.8)
    for rivals in scene.rivals.values():
        for value in rivals:
            scored.setdefault(value.column, 0.5)
    for column in _names_of_hinted_rows(scene):
        scored.setdefault(column, 0.35)
    for value in scene.values:
        table = schema.tables[schema.columns[value.column].table]
        # "Who lives in Berlin?" names only a value; what is shown is another column of its table.
        for column in table.columns[:8]:
            scored.setdefault(column, 0.3)
    if any(is_time(scene, place) for place in scene.numbers):
        for column in time_columns(scene):
            scored.setdefault(column, 0.55)
    best = sorted(scored, key=lambda number: (-scored[number], number))[:MAX_COLUMNS]
    return [(number, mention) for number in sorted(best) for mention in _places(scene, number)]


def _names_of_hinted_rows(scene: Scene) -> list[int]:
    """ "Who earns the most?" names a number only; its rows are shown by their names."""
    if not (scene.guessed or scene.asks_who):
        return []
    hinted = {scene.schema.columns[column].table for column in scene.columns} | set(scene.tables)
    return [column for table in sorted(hinted) for column in names_of_rows(scene.schema, table)]


def is_time(scene: Scene, place: int) -> bool:
    """A number that may be a year, or a whole date."""
    token = scene.tokens[place]
    return token.kind == "date" or (isinstance(token.value, int) and 1800 <= token.value <= 2100)


def time_columns(scene: Scene) -> list[int]:
    """Columns of dates and years in mentioned tables; they are seldom mentioned themselves."""
    hinted = set(scene.tables) | {scene.schema.columns[c].table for c in scene.columns}
    return [
        column
        for table in sorted(hinted)
        for column in scene.schema.tables[table].columns
        if scene.schema.columns[column].temporal or not _TIME_WORDS.isdisjoint(scene.schema.columns[column].words)
    ][:12]


def _places(scene: Scene, column: int) -> list[Mention | None]:
    mentions = sorted(scene.columns.get(column, ()), key=lambda m: (-m.score, m.start))[:MENTIONS_PER_COLUMN]
    return [*mentions] if mentions else [None]


def functions_said(scene: Scene) -> list[str]:
    # Counting has a role model of its own, which also finds counts without a cue.
    return [name for name, tags in FUNCTION_TAGS.items() if name != "count" and not scene.cue_tags.isdisjoint(tags)]


def number_columns(scene: Scene, columns: list[tuple[int, Mention | None]]) -> Iterator[tuple[int, Mention | None]]:
    for number, mention in columns:
        view = scene.schema.columns[number]
        if mention is not None or view.numeric or view.temporal or not _TIME_WORDS.isdisjoint(view.words):
            yield number, mention


def assign_roles(scene: Scene, models: RoleModels) -> Roles:
    maker = RoleFeaturizer(scene)
    roles = Roles(_table_chances(maker, models["table"]))
    # Tables come first, because the vectors of columns, values and numbers contain the chances of tables.
    maker.table_chance = roles.tables
    columns = relevant_columns(scene)
    _column_roles(maker, models, columns, roles)
    values = [value for rivals in scene.rivals.values() for value in rivals]
    chances = models["value"].probabilities([maker.value(value) for value in values])
    roles.values = [ValueUse(chance, value) for chance, value in zip(chances, values, strict=True)]
    _number_roles(maker, models, columns, roles)
    return roles


def _table_chances(maker: RoleFeaturizer, model: Trees) -> list[float]:
    """Tables that nothing points to are not asked about."""
    scene = maker.scene
    hinted = set(scene.tables) | {scene.schema.columns[c].table for c in scene.columns} | maker.value_tables
    count = len(scene.schema.tables)
    # Up to a dozen tables all are asked about; of more only those that something points to, to save time.
    asked = [table for table in range(count) if table in hinted or count <= 12]
    chances = dict(zip(asked, model.probabilities([maker.table(table) for table in asked]), strict=True))
    # Tables without a vector get a chance below every threshold for tables.
    return [chances.get(table, 0.01) for table in range(count)]


def _column_roles(
    maker: RoleFeaturizer, models: RoleModels, columns: list[tuple[int, Mention | None]], roles: Roles
) -> None:
    vectors = [maker.column(number, mention) for number, mention in columns]
    for role in COLUMN_ROLES:
        chances = models[role].probabilities(vectors)
        found = roles.columns[role] = {}
        for (number, mention), chance in zip(columns, chances, strict=True):
            _keep_best(found, number, Chance(chance, mention))
    functions = functions_said(maker.scene)
    described = zip(columns, vectors, strict=True)
    uses = [(function, *column, vector) for column, vector in described for function in functions]
    # The aggregate model sees the vector of the column, followed by how the question says the function.
    longer = [
        [*vector, *maker.function(function, mention, maker.schema.columns[number].table)]
        for function, number, mention, vector in uses
    ]
    for (function, number, mention, _), chance in zip(uses, models["aggregate"].probabilities(longer), strict=True):
        _keep_best(roles.aggregates, (function, number), Chance(chance, mention))


def _number_roles(
    maker: RoleFeaturizer, models: RoleModels, columns: list[tuple[int, Mention | None]], roles: Roles
) -> None:
    places = maker.scene.numbers
    vectors = [maker.number_role(place) for place in places]
    by_role = {role: models[f"number_{role}"].probabilities(vectors) for role in NUMBER_ROLES}
    for at, place in enumerate(places):
        roles.number_roles[place] = {role: chances[at] for role, chances in by_role.items()}
    possible = list(number_columns(maker.scene, columns))
    uses = [(place, number, mention) for place in places for number, mention in possible]
    chances = models["number"].probabilities([maker.number(*use) for use in uses])
    roles.numbers = [NumberUse(chance, *use) for chance, use in zip(chances, uses, strict=True)]


def _keep_best(found: dict[_Key, Chance], key: _Key, chance: Chance) -> None:
    if key not in found or found[key].probability < chance.probability:
        found[key] = chance
