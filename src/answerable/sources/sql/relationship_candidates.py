"""Which columns may point to which keys, by their names alone. `relationships.py` puts these candidates to the data."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from answerable.core.catalog import Column, Table
from answerable.core.values import Language
from answerable.core.words import name_words, singular
from answerable.query.sql.dialects import DIALECTS

MOST_PROBES = 5_000
"""Pairs of columns that are put to the data at most, the likeliest first."""
_CANDIDATES_A_COLUMN = 4
_MOST_MEANT = 60
"""A word that leads to more keys than this says nothing about any of them."""
_FEW_UNIQUE = 10
"""Fewer values than this are unique by accident."""


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_KEY_SUFFIXES = _set("id ids key code no nr num number fk ref uuid ssn")
_TABLE_NOISE = _set("tbl table dim fact stg raw ref lookup lkp master vw view")
_GENERIC = _set(
    "name title description type status date year month day time value amount count total comment note text label "
    "level rank position result score number detail other first last start end from to"
)
_AMOUNTS = _set(
    "count amount total sum average avg mean score rating price cost fee salary quantity qty size length width height "
    "weight age percent percentage share rate ratio rank stars votes points views likes hours minutes days"
)
"""Names that end so say how much, not which: `review_count` of a business does not point to a review."""
_PEOPLE = _set("employee person staff user member worker individual")
_PERSON_ROLES = _set(
    "manager supervisor boss head leader chief owner author creator assignee agent rep representative salesperson "
    "seller buyer approver reviewer advisor adviser mentor coach captain driver director secretary treasurer "
    "president instructor teacher spouse friend sender receiver recipient winner loser reporter requester "
    "technician male female husband wife"
)
_KIN_ROLES = _set("parent predecessor successor previous next original reply")
_SUPERIOR_ROLES = _set("manager supervisor boss superior report head")
_NUMBERED = re.compile(r"(column|col|field|attr|attribute|var|unnamed|[a-z])[ _:]*\d+", re.IGNORECASE)
"""What columns without a name are called: such a name says nothing."""
RELATED_TYPES = frozenset({"integer", "text", "number", "date"})


@dataclass(frozen=True, slots=True)
class KeyColumn:
    """A column that can be pointed to."""

    table: Table
    column: Column
    subject: tuple[str, ...]
    """What the table is about, in singular words."""
    name: tuple[str, ...]
    base: tuple[str, ...]
    primary: bool

    @classmethod
    def of(cls, table: Table, column: Column) -> "KeyColumn":
        name, base = _name_and_base(column)
        return cls(table, column, _subject(table), name, base, table.primary_key == (column.name,))

    @property
    def names_its_table(self) -> bool:
        """`id`, `customer_id` and `customer_name` of customers do; `category` of customers does not."""
        bare = tuple(word for word in self.base if word not in _GENERIC)
        return not bare or bare == self.subject[-len(bare) :] or bare == self.subject[: len(bare)]


@dataclass(frozen=True, slots=True)
class PointingColumn:
    """A column that may point somewhere."""

    table: Table
    column: Column
    subject: tuple[str, ...]
    name: tuple[str, ...]
    base: tuple[str, ...]

    counts: bool
    """`home_games` of a stadium is how many, not which."""

    @classmethod
    def of(cls, table: Table, column: Column) -> "PointingColumn":
        name, base = _name_and_base(column)
        last = name_words(column.name)[-1:]
        plural = base == name and list(name[-1:]) != last
        amount = name[-1:] != () and (name[-1] in _AMOUNTS or last[0] in _AMOUNTS)
        return cls(table, column, _subject(table), name, base, (plural or amount) and column.type != "text")

    @property
    def says_key(self) -> bool:
        """`customer_id`, not `customer`."""
        return len(self.base) < len(self.name)

    @property
    def names_own_table(self) -> bool:
        """The key of its own table, such as `order_id` of customer_orders: it is what others point to."""
        is_key = self.says_key and self.table.primary_key == (self.column.name,)
        return self.base == self.subject or (is_key and self.base[-1:] == self.subject[-1:])


@dataclass(frozen=True, slots=True)
class RelationshipCandidate:
    pointer: PointingColumn
    key: KeyColumn
    strength: float
    """What the names alone say, 0 to 1."""

    @property
    def source(self) -> tuple[str, str]:
        return self.pointer.table.name, self.pointer.column.name

    @property
    def target(self) -> tuple[str, str]:
        return self.key.table.name, self.key.column.name


def key_columns(table: Table) -> Iterator[Column]:
    for column in table.columns:
        if column.type in RELATED_TYPES and (column.unique or table.primary_key == (column.name,)):
            yield column


def _name_and_base(column: Column) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The singular words of a column's name, with and without the suffix that says it is a key."""
    if _NUMBERED.fullmatch(column.name):
        return (column.name,), ()
    name = tuple(singular(word) for word in name_words(column.name))
    base = name
    while base and base[-1] in _KEY_SUFFIXES:
        base = base[:-1]
    return name, base


def _subject(table: Table) -> tuple[str, ...]:
    words = [singular(word) for word in name_words(table.name)]
    return tuple(word for word in words if word not in _TABLE_NOISE) or tuple(words) or (table.name,)


def candidates_by_name(
    pointers: Iterable[PointingColumn], keys: Sequence[KeyColumn], dialect: Language
) -> Iterator[RelationshipCandidate]:
    index = _word_index(keys)
    for pointer in pointers:
        for key in _mentioned(index, pointer) if pointer.base and not pointer.counts else ():
            if pointer.column is not key.column and _comparable(pointer.column, key.column, dialect):
                strength = _strength(pointer, key)
                if strength > 0:
                    yield RelationshipCandidate(pointer, key, strength)


def _word_index(keys: Sequence[KeyColumn]) -> Mapping[str, list[KeyColumn]]:
    """Keys by every word that a column may use to speak of them, so that no column is compared with all keys.

    A word that leads to very many, such as a prefix that all tables share, leads nowhere; whole names always do.
    """
    index: dict[str, list[KeyColumn]] = defaultdict(list)
    for key in keys:
        spoken = {f"name {' '.join(key.name)}"}
        if key.primary or key.names_its_table:
            spoken |= {f"table {' '.join(key.subject)}", f"own {key.table.name}"}
            spoken |= {*key.subject, *(_start(word) for word in key.subject)}
            spoken.update("(people)" for word in key.subject[-1:] if word in _PEOPLE)
        for word in spoken:
            index[word].append(key)
    return {word: found for word, found in index.items() if len(found) <= _MOST_MEANT or word.startswith("table ")}


def _start(word: str) -> str:
    """Abbreviations share the first letters with their word."""
    return word[:2] + "…"


def _mentioned(index: Mapping[str, list[KeyColumn]], pointer: PointingColumn) -> Iterable[KeyColumn]:
    whole = " ".join(pointer.base)
    spoken = [f"name {' '.join(pointer.name)}", f"table {whole}", f"own {pointer.table.name}", *pointer.base]
    if len(pointer.base) == 1:
        spoken.append(_start(pointer.base[0]))
    if not _PERSON_ROLES.isdisjoint(pointer.base):
        spoken.append("(people)")
    found = {id(key): key for word in spoken for key in index.get(word, ())}
    return found.values()


def _comparable(one: Column, other: Column, dialect: Language) -> bool:
    """Columns without types may hold a number as its text."""
    numeric = {"integer", "number"}
    alike = numeric if DIALECTS[dialect].columns_are_typed else numeric | {"text"}
    return one.type == other.type or {one.type, other.type} <= alike


def _strength(pointer: PointingColumn, key: KeyColumn) -> float:
    """How much the names say that the column points to the key."""
    if pointer.table is key.table:
        return _self_strength(pointer, key)
    if pointer.base == key.subject:
        exact = 0.0 if pointer.base == pointer.subject else 1.0 if pointer.says_key else 0.92
        return exact * _key_weight(pointer, key)
    # After the exact match: `order_id`, the key of customer_orders, may point to orders but to nothing else.
    if pointer.names_own_table:
        return 0.0
    if pointer.name == key.name:
        return _same_name_strength(pointer, key)
    return _partial_strength(pointer, key) * _key_weight(pointer, key)


def _key_weight(pointer: PointingColumn, key: KeyColumn) -> float:
    """A primary key is what is pointed to; another unique column only when it bears the table's name."""
    if key.primary or pointer.name == key.name:
        return 1.0
    return 0.9 if key.names_its_table else 0.0


def _same_name_strength(pointer: PointingColumn, key: KeyColumn) -> float:
    if _GENERIC.issuperset(pointer.base):
        # `name` of person_friends may be the `name` of persons, but of no other table.
        return 0.8 if key.primary and pointer.subject[: len(key.subject)] == key.subject else 0.0
    if not key.primary and (
        (key.column.distinct_count or 0) < _FEW_UNIQUE or key.column.type not in ("integer", "text")
    ):
        return 0.0
    return (0.97 if key.names_its_table else 0.9) * (1.0 if key.primary else 0.9)


def _partial_strength(pointer: PointingColumn, key: KeyColumn) -> float:
    base, subject = pointer.base, key.subject
    if _ends_with(base, subject):
        return 0.9
    if (_ends_with(base, key.base) and not _GENERIC.issuperset(key.base)) or _ends_with(subject, base):
        return 0.85
    if base[: len(subject)] == subject or (base[-1] in _PERSON_ROLES and subject[-1] in _PEOPLE):
        return 0.75
    if base == subject[: len(base)] or (len(base) == 1 and any(_abbreviates(base[0], word) for word in subject)):
        return 0.7
    return 0.0


def _self_strength(pointer: PointingColumn, key: KeyColumn) -> float:
    if not key.primary:
        return 0.0
    roles = _KIN_ROLES | _SUPERIOR_ROLES if key.subject[-1] in _PEOPLE else _KIN_ROLES
    if not roles.isdisjoint(pointer.base):
        return 0.9
    return 0.85 if len(pointer.base) > len(key.subject) and _ends_with(pointer.base, key.subject) else 0.0


def _ends_with(words: tuple[str, ...], ending: tuple[str, ...]) -> bool:
    return bool(ending) and words[-len(ending) :] == ending


def _abbreviates(short: str, word: str) -> bool:
    """`dept` for department, `emp` for employee: the same first letters, and the rest in order."""
    if len(short) < 3 or len(short) >= len(word) or _start(short) != _start(word):
        return False
    letters = iter(word)
    return all(letter in letters for letter in short)


def likeliest(candidates: Iterable[RelationshipCandidate]) -> list[RelationshipCandidate]:
    by_column: dict[tuple[str, str], list[RelationshipCandidate]] = defaultdict(list)
    for candidate in candidates:
        by_column[candidate.source].append(candidate)
    likely = [c for group in by_column.values() for c in sorted(group, key=_rank)[:_CANDIDATES_A_COLUMN]]
    return sorted(likely, key=_rank)[:MOST_PROBES]


def _rank(candidate: RelationshipCandidate) -> tuple[object, ...]:
    return -candidate.strength, not candidate.key.primary, candidate.source, candidate.target
