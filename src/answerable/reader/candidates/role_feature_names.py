"""The features of the role models: their groups, and their names in order.

A group is a named tuple, so that each value stands beside its name. The weights file stores the names that its models
were fitted with, and loading compares the two: a change here needs a new fit (`make train`).
"""

from typing import NamedTuple

from answerable.reader.fitted.features import prefixed
from answerable.reader.linking.cues import EXTREMES, FUNCTION_TAGS, TAGS
from answerable.reader.linking.scene import CLAUSES

OFFSETS = (-1, -2, -3, 1, 2)


WIDTH = len(TAGS)


QUESTION_TAGS = tuple(tag for tag in TAGS if tag not in ("OF", "IN", "THE", "BE", "O", "NONE", "MARK"))


TYPES = ("text", "integer", "number", "boolean", "date", "datetime", "time")


FAR = 30.0


CUES_BEFORE: dict[str, tuple[str, ...]] = {
    "sort": ("SORT",),
    "each": ("EACH",),
    "extreme": EXTREMES,
    "count": ("COUNT",),
    "negation": ("NEG",),
    "comparison": ("THAN", "GT", "LT", "GE", "LE"),
}


TAGS_AFTER: dict[str, tuple[str, ...]] = {
    "comparison": ("GT", "LT", "GE", "LE", "EQ"),
    "number": ("NUM",),
    "value": ("VAL", "QUOTE"),
    "extreme": EXTREMES,
}


CONTEXT_FEATURES = (
    *(f"tag[{offset:+d}]={tag}" for offset in OFFSETS for tag in TAGS),
    *(f"clause={kind}" for kind in CLAUSES),
    "place_in_clause",
    "relative_place",
    "place",
    "tokens_after",
    *(f"since_{name}" for name in CUES_BEFORE),
    *(f"until_{name}" for name in TAGS_AFTER),
)


NO_CONTEXT = [0.0] * len(CONTEXT_FEATURES)


class MentionFeatures(NamedTuple):
    score: float
    length: float
    exists: float
    guessed: float


class QuestionSize(NamedTuple):
    tokens: float
    values: float
    numbers: float
    tables_named: float
    columns_named: float
    asks_who: float
    asks_where: float
    asks_when: float


class TableFeatures(NamedTuple):
    mentions: float
    better_rival: float
    """The best score times length of another table that is named by the same words."""
    columns_named: float
    columns_named_alone: float
    best_column_score: float
    has_chosen_value: float
    has_possible_value: float
    chosen_values: float
    neighbours: float
    neighbours_named: float
    neighbours_with_values: float
    is_bridge: float
    columns: float
    tables: float
    tables_named: float


class ColumnFeatures(NamedTuple):
    """What a column is, besides its type."""

    is_key: float
    is_foreign_key: float
    names_rows: float
    looks_like_id: float
    is_unique: float
    distinct_share: float
    name_words: float
    position: float
    table_is_bridge: float
    has_chosen_value: float
    table_chance: float
    table_score: float
    table_is_named_first: float
    called_like_table: float
    names_a_row: float
    is_place: float
    table_of_people: float


class TableDistances(NamedTuple):
    """How many tokens lie between a column and the mentions of tables around it."""

    own_before: float
    own_after: float
    other_before: float
    other_after: float


class Competition(NamedTuple):
    """Other columns that the same words may name."""

    equal: float
    better: float
    equal_in_likelier_tables: float
    best_better: float
    better_in_own_table: float
    mentions: float
    """How often this column is mentioned; for an unmentioned one, how many columns of its table are."""


class FunctionFeatures(NamedTuple):
    """Where the cues of an aggregate function stand."""

    cue_before: float
    cue_after: float
    cues: float
    has_main_cue: float
    first_cue: float


class ValueFeatures(NamedTuple):
    score: float
    quoted: float
    length: float
    characters: float
    rivals: float
    better_rivals: float
    best_rival_table_chance: float
    chosen: float
    column_distance: float
    capital: float
    column_score: float
    column_lead: float
    """How much better this column is named than the best named of its rivals."""


class ValueTableDistances(NamedTuple):
    before: float
    after: float


class NumberFeatures(NamedTuple):
    """A number beside a column that it may be compared with."""

    within_range: float
    has_range: float
    size: float
    may_be_year: float
    is_number: float
    is_date: float
    gap: float
    distance: float
    mention_score: float


class NumberRoleFeatures(NamedTuple):
    size: float
    may_be_year: float
    is_number: float
    is_date: float


NO_COMPETITION = Competition(0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


_QUESTION = prefixed("question", (*(f"has_{tag}" for tag in QUESTION_TAGS), *QuestionSize._fields))


_AT_MENTION = (*CONTEXT_FEATURES, *prefixed("mention", MentionFeatures._fields))


_COLUMN = prefixed("column", (*(f"type={kind}" for kind in TYPES), *ColumnFeatures._fields))


_COMPETITION = prefixed("competition", Competition._fields)


TABLE_FEATURE_NAMES = (*_AT_MENTION, *prefixed("table", TableFeatures._fields), *_QUESTION)


COLUMN_FEATURE_NAMES = (
    *_AT_MENTION,
    "is_mentioned",
    *_COLUMN,
    *prefixed("table_distance", TableDistances._fields),
    *_COMPETITION,
    *_QUESTION,
)


FUNCTION_FEATURE_NAMES = prefixed("function", (*(f"is_{name}" for name in FUNCTION_TAGS), *FunctionFeatures._fields))


VALUE_FEATURE_NAMES = (
    *CONTEXT_FEATURES,
    *prefixed("value", ValueFeatures._fields),
    *_COLUMN,
    *prefixed("table_distance", ValueTableDistances._fields),
    *_QUESTION,
)


NUMBER_FEATURE_NAMES = (
    *CONTEXT_FEATURES,
    *prefixed("number", NumberFeatures._fields),
    *prefixed("column_mention", CONTEXT_FEATURES),
    *_COLUMN,
    *_COMPETITION,
    *_QUESTION,
)


NUMBER_ROLE_FEATURE_NAMES = (*CONTEXT_FEATURES, *prefixed("number", NumberRoleFeatures._fields), *_QUESTION)
