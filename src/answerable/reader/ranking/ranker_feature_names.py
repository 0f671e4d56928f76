"""The features of the ranker: their groups, and their names in order. The weights file stores the names that the ranker
was fitted with, and loading compares the two: a change here needs a new fit (`make train`)."""

from typing import NamedTuple

from answerable.reader.candidates.shape import PARTS
from answerable.reader.fitted.features import prefixed
from answerable.reader.ranking.listed_items import LISTED_FEATURE_NAMES

# The order is part of the fitted weights: new names go to the end, followed by a new fit.
_VARIANTS = (
    "",
    "or",
    "intersect",
    "unequal",
    "not_in",
    "except",
    "nest_first",
    "nest_common",
    "inner",
    "avoid",
    "member",
    "ties",
    "union",
)


CUES = (
    "COUNT",
    "AVG",
    "SUM",
    "MAX",
    "MIN",
    "MOST",
    "LEAST",
    "COMMON",
    "OLD",
    "YOUNG",
    "EACH",
    "SORT",
    "ASC",
    "DESC",
    "NEG",
    "BOTH",
    "EITHER",
    "DISTINCT",
    "GT",
    "LT",
    "GE",
    "LE",
    "BETWEEN",
    "LIKE",
    "REL",
    "THAN",
    "BY",
    "MUCH",
)


class CueUses(NamedTuple):
    """What a candidate does that cues ask for."""

    counting: bool
    average: bool
    sum: bool
    extreme: bool
    group: bool
    sort: bool
    negation: bool
    either: bool
    combination: bool
    greater: bool
    less: bool
    range: bool
    pattern: bool
    distinct: bool


CUES_ASKING: dict[str, frozenset[str]] = {
    "counting": frozenset({"COUNT"}),
    "average": frozenset({"AVG"}),
    "sum": frozenset({"SUM"}),
    "extreme": frozenset({"MAX", "MIN", "MOST", "LEAST", "COMMON", "RARE", "OLD", "YOUNG"}),
    "group": frozenset({"EACH"}),
    "sort": frozenset({"SORT", "ASC", "DESC"}),
    "negation": frozenset({"NEG"}),
    "either": frozenset({"EITHER"}),
    "combination": frozenset({"BOTH"}),
    "greater": frozenset({"GT", "GE"}),
    "less": frozenset({"LT", "LE"}),
    "range": frozenset({"BETWEEN"}),
    "pattern": frozenset({"LIKE", "STARTS", "ENDS"}),
    "distinct": frozenset({"DISTINCT"}),
}
"""The cues that ask for each of them."""


class GenerationFeatures(NamedTuple):
    """How the candidate came about."""

    score: float
    behind_best: float
    number: float


class EvidenceFeatures(NamedTuple):
    select: float
    where: float
    order: float
    having: float
    group: float
    dropped: float
    weakest_condition: float


class TableUse(NamedTuple):
    joined: float
    tables: float
    least_chance: float
    log_chance: float
    log_chance_of_missing: float
    best_missing: float
    without_column: float
    unmentioned: float
    bridges: float


class Structure(NamedTuple):
    selected: float
    conditions: float
    levels: float
    group_is_shown: float
    group_is_key: float
    group_is_row: float
    group_in_only_table: float
    order_is_shown: float
    order_is_numeric: float
    order_looks_like_id: float
    shows_what_is_fixed: float
    limit: float
    distinct: float
    shows_twice: float
    entity_is_mentioned: float
    entity_place: float
    shows_unique: float
    multiplies_rows: float
    counts_one_row: float


class SelectChances(NamedTuple):
    """Chances of what is shown, and of what might have been."""

    weakest: float
    strongest: float
    best_other: float
    best_other_aggregate: float
    order: float
    best_other_order: float
    best_group: float
    best_count: float


class MentionUse(NamedTuple):
    """How well the used columns are named, and what is named in full and not used."""

    weakest_selected: float
    average_selected: float
    weakest_tested: float
    weakest_ordered: float
    unused: float
    unused_long: float
    unused_tables: float
    guessed: float
    best_guess: float
    weakest_guess: float


class QuestionLength(NamedTuple):
    tokens: float
    values: float
    numbers: float


UNCOVERED = ("COL", "TAB", "VAL", "NUM", "QUOTE", "DATE", "O")


IS_VARIANT = {variant: [float(variant == name) for name in _VARIANTS] for variant in _VARIANTS}


RANKER_FEATURE_NAMES = (
    *prefixed("generation", GenerationFeatures._fields),
    *prefixed("shape", PARTS),
    *prefixed("evidence", EvidenceFeatures._fields),
    *prefixed("variant", [name or "none" for name in _VARIANTS]),
    *prefixed("tables", TableUse._fields),
    *prefixed("uncovered", UNCOVERED),
    "covered_share",
    *(f"cue.{name}.{end}" for name in CueUses._fields for end in ("unused", "unsaid")),
    *prefixed("structure", Structure._fields),
    *prefixed("chance", SelectChances._fields),
    *prefixed("mention", MentionUse._fields),
    *prefixed("listed", LISTED_FEATURE_NAMES),
    *prefixed("has", CUES),
    *prefixed("question", QuestionLength._fields),
)
"""The names of the features of a candidate, in order."""
