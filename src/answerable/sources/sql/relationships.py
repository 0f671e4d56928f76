"""How tables point to each other: what is declared, and else what names and values together make likely.

A column is a candidate only when its name speaks of the other table (`customer_id`, `home_city`, `manager_id`), or when
it holds codes of its own (text, never numbers) that are all found in another table's key. Every candidate is then put
to the data: nearly all of its distinct values must exist in the target. Small whole numbers are contained in almost any
key by accident, so without a name that speaks for it a number column is never related to anything.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from sqlglot import exp

from answerable.core.catalog import Column, Relationship, Table, Warning
from answerable.core.errors import LimitError, RefusedError, SourceError, UserError
from answerable.core.values import ColumnType, Language
from answerable.core.words import name_words, singular
from answerable.query.sql.dialects import DIALECTS
from answerable.sources.sql.probe import Probe
from answerable.sources.sql.statements import (
    Sql,
    Template,
    chunked,
    column_hole,
    comparable,
    first_rows,
    hole,
    literal,
    quoted,
    table_hole,
    union_all,
)

MOST_PROBES = 5_000
"""Pairs of columns that are put to the data at most, the likeliest first."""
SAMPLED_VALUES = 20_000
"""Distinct values of a column that are looked up at most."""
SAMPLED_ROWS = 500_000
"""Of a larger table only so many rows are asked for their values."""
REQUIRED_INCLUSION = 0.95
REQUIRED_OF_NAMESAKES = 0.8
REQUIRED_CONFIDENCE = 0.5

_PROBES_A_STATEMENT = 25
_VALUES_A_STATEMENT = 500
_CANDIDATES_A_COLUMN = 4
_MOST_MEANT = 60
"""A word that leads to more keys than this says nothing about any of them."""
_FEW_UNIQUE = 10
"""Fewer values than this are unique by accident."""
_FEW_FOUND = 20
"""Fewer names than this are found in another table by accident."""


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_KEY_SUFFIXES = _set("id ids key code no nr num number fk ref uuid ssn")
_TABLE_NOISE = _set("tbl table dim fact stg raw ref lookup lkp master vw view")
_GENERIC = _set(
    "name title description type status date year month day time value amount count total comment note text label "
    "level rank position result score number detail other first last start end from to"
)
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
_RELATED_TYPES = frozenset({"integer", "text", "number", "date"})


async def relate(
    probe: Probe,
    dialect: Language,
    tables: Sequence[Table],
    declared: Sequence[Relationship],
    *,
    notices: list[Warning] | None = None,
) -> tuple[Relationship, ...]:
    """The declared relationships, then the inferred ones in the order of the tables and their columns."""
    pointers = [_Pointer.of(t, c) for t in tables for c in t.columns if c.type in _RELATED_TYPES]
    keys = [_Key.of(table, column) for table in tables for column in _key_columns(table)]
    taken = _Taken.by(declared)
    data = _Data(probe, dialect, [] if notices is None else notices)
    named = _likeliest(candidate for candidate in _by_name(pointers, keys, dialect) if taken.allows(candidate))
    found = await _confirmed(data, named)
    taken.add(found)
    coded = [candidate for candidate in await _by_codes(data, pointers, keys) if taken.allows(candidate)]
    found += await _confirmed(data, coded)
    inferred = _one_way(_best_per_column(found))
    order = {(pointer.table.name, pointer.column.name): number for number, pointer in enumerate(pointers)}
    inferred.sort(key=lambda relationship: order[relationship.from_table, relationship.from_columns[0]])
    return (*declared, *inferred)


def relationship_name(from_table: str, from_columns: Sequence[str], to_table: str, to_columns: Sequence[str]) -> str:
    """`orders.customer_id -> customers.id`; unique by construction."""
    return f"{_end(from_table, from_columns)} -> {_end(to_table, to_columns)}"


def _end(table: str, columns: Sequence[str]) -> str:
    return f"{table}.{columns[0]}" if len(columns) == 1 else f"{table}.({', '.join(columns)})"


# Candidates


@dataclass(frozen=True, slots=True)
class _Key:
    """A column that can be pointed to."""

    table: Table
    column: Column
    subject: tuple[str, ...]
    """What the table is about, in singular words."""
    name: tuple[str, ...]
    base: tuple[str, ...]
    primary: bool

    @classmethod
    def of(cls, table: Table, column: Column) -> "_Key":
        name, base = _name_and_base(column)
        return cls(table, column, _subject(table), name, base, table.primary_key == (column.name,))

    @property
    def names_its_table(self) -> bool:
        """`id`, `customer_id` and `customer_name` of customers do; `category` of customers does not."""
        bare = tuple(word for word in self.base if word not in _GENERIC)
        return not bare or bare == self.subject[-len(bare) :] or bare == self.subject[: len(bare)]


@dataclass(frozen=True, slots=True)
class _Pointer:
    """A column that may point somewhere."""

    table: Table
    column: Column
    subject: tuple[str, ...]
    name: tuple[str, ...]
    base: tuple[str, ...]

    counts: bool
    """`home_games` of a stadium is how many, not which."""

    @classmethod
    def of(cls, table: Table, column: Column) -> "_Pointer":
        name, base = _name_and_base(column)
        last = name_words(column.name)[-1:]
        plural = base == name and list(name[-1:]) != last
        return cls(table, column, _subject(table), name, base, plural and column.type != "text")

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
class _Candidate:
    pointer: _Pointer
    key: _Key
    strength: float
    """What the names alone say, 0 to 1."""

    @property
    def source(self) -> tuple[str, str]:
        return self.pointer.table.name, self.pointer.column.name

    @property
    def target(self) -> tuple[str, str]:
        return self.key.table.name, self.key.column.name


@dataclass(slots=True)
class _Taken:
    """What is settled: columns that point somewhere already, and pairs of tables that are declared to be related."""

    columns: set[tuple[str, str]]
    pairs: set[frozenset[str]]

    @classmethod
    def by(cls, declared: Iterable[Relationship]) -> "_Taken":
        taken = cls(set(), set())
        for relationship in declared:
            taken.columns.update((relationship.from_table, column) for column in relationship.from_columns)
            taken.pairs.add(frozenset({relationship.from_table, relationship.to_table}))
        return taken

    def add(self, found: Iterable[Relationship]) -> None:
        self.columns.update((r.from_table, r.from_columns[0]) for r in found)

    def allows(self, candidate: _Candidate) -> bool:
        pair = frozenset({candidate.source[0], candidate.target[0]})
        return pair not in self.pairs and candidate.source not in self.columns


def _key_columns(table: Table) -> Iterator[Column]:
    for column in table.columns:
        if column.type in _RELATED_TYPES and (column.unique or table.primary_key == (column.name,)):
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


def _by_name(pointers: Iterable[_Pointer], keys: Sequence[_Key], dialect: Language) -> Iterator[_Candidate]:
    index = _word_index(keys)
    for pointer in pointers:
        for key in _mentioned(index, pointer) if pointer.base and not pointer.counts else ():
            if pointer.column is not key.column and _comparable(pointer.column, key.column, dialect):
                strength = _strength(pointer, key)
                if strength > 0:
                    yield _Candidate(pointer, key, strength)


def _word_index(keys: Sequence[_Key]) -> Mapping[str, list[_Key]]:
    """Keys by every word that a column may use to speak of them, so that no column is compared with all keys.

    A word that leads to very many, such as a prefix that all tables share, leads nowhere; whole names always do.
    """
    index: dict[str, list[_Key]] = defaultdict(list)
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


def _mentioned(index: Mapping[str, list[_Key]], pointer: _Pointer) -> Iterable[_Key]:
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


def _strength(pointer: _Pointer, key: _Key) -> float:
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


def _key_weight(pointer: _Pointer, key: _Key) -> float:
    """A primary key is what is pointed to; another unique column only when it bears the table's name."""
    if key.primary or pointer.name == key.name:
        return 1.0
    return 0.9 if key.names_its_table else 0.0


def _same_name_strength(pointer: _Pointer, key: _Key) -> float:
    if _GENERIC.issuperset(pointer.base):
        # `name` of person_friends may be the `name` of persons, but of no other table.
        return 0.8 if key.primary and pointer.subject[: len(key.subject)] == key.subject else 0.0
    if not key.primary and (
        (key.column.distinct_count or 0) < _FEW_UNIQUE or key.column.type not in ("integer", "text")
    ):
        return 0.0
    return (0.97 if key.names_its_table else 0.9) * (1.0 if key.primary else 0.9)


def _partial_strength(pointer: _Pointer, key: _Key) -> float:
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


def _self_strength(pointer: _Pointer, key: _Key) -> float:
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


def _likeliest(candidates: Iterable[_Candidate]) -> list[_Candidate]:
    by_column: dict[tuple[str, str], list[_Candidate]] = defaultdict(list)
    for candidate in candidates:
        by_column[candidate.source].append(candidate)
    likely = [c for group in by_column.values() for c in sorted(group, key=_rank)[:_CANDIDATES_A_COLUMN]]
    return sorted(likely, key=_rank)[:MOST_PROBES]


def _rank(candidate: _Candidate) -> tuple[object, ...]:
    return -candidate.strength, not candidate.key.primary, candidate.source, candidate.target


# Text that is found in a key though its name does not say so: `origin` and `dest` of flights are airports


async def _by_codes(data: "_Data", pointers: Sequence[_Pointer], keys: Sequence[_Key]) -> list[_Candidate]:
    texts = [pointer for pointer in pointers if _holds_codes(pointer.column) or _holds_names(pointer.column)]
    targets = [key for key in keys if key.primary and key.column.type == "text"]
    examples = sorted({example for pointer in texts for example in pointer.column.examples})
    found: list[_Candidate] = []
    for key in targets if examples else ():
        known = await data.known(key, examples)
        for pointer in texts:
            if pointer.table is not key.table and known.issuperset(pointer.column.examples):
                found += _by_values(pointer, key)
    return _likeliest(found)


def _by_values(pointer: _Pointer, key: _Key) -> Iterator[_Candidate]:
    """Codes are found in few places. Names are found in many, so only in the table that is about them."""
    if key.names_its_table:
        yield _Candidate(pointer, key, 0.65)
    elif _holds_codes(pointer.column):
        yield _Candidate(pointer, key, 0.6)


def _holds_codes(column: Column) -> bool:
    few = column.unique or (column.distinct_count or 0) < 3 or len(column.examples) < 3
    return not few and all(2 <= len(example) <= 12 and " " not in example for example in column.examples)


def _holds_names(column: Column) -> bool:
    few = column.unique or (column.distinct_count or 0) < _FEW_FOUND or len(column.examples) < 5
    return not few and all(2 <= len(example) <= 40 for example in column.examples)


# What the data says


@dataclass(slots=True)
class _Data:
    probe: Probe
    dialect: Language
    notices: list[Warning]
    patience: int = 3
    """How many more statements may run out of time."""

    async def known(self, key: _Key, values: Sequence[str]) -> set[str]:
        """Those of the values that the key holds."""
        known: set[str] = set()
        for chunk in chunked(values, _VALUES_A_STATEMENT):
            listed = Sql(", ".join(literal(value, self.dialect) for value in chunk))
            statement = _listed(self.dialect)(table=key.table.name, column=key.column.name, values=listed)
            known.update(str(value) for (value,) in await self._rows(key.table.name, statement) or ())
        return known

    async def inclusions(self, candidates: Sequence[_Candidate]) -> dict[int, tuple[int, int]]:
        """For each candidate, by its place: how many distinct values were looked up and how many were found."""
        statement = union_all(self._inclusion(number, candidate) for number, candidate in enumerate(candidates))
        rows = await self._rows(candidates[0].source[0], statement)
        if rows is not None or len(candidates) == 1:
            return {number: (int(asked), int(found)) for number, asked, found in rows or ()}
        single = [await self.inclusions([candidate]) for candidate in candidates]
        return {number: result[0] for number, result in enumerate(single) if 0 in result}

    async def _rows(self, subject: str, statement: Sql) -> list[tuple[Any, ...]] | None:
        """Returns None if the source cannot compare the pair; the pair is then left unrelated, and costs no other."""
        if self.patience == 0:
            return None
        try:
            return await self.probe.rows(statement)
        except (SourceError, UserError, LimitError, RefusedError) as error:
            self.patience -= isinstance(error, LimitError)
            if self.patience == 0:
                notice = f"relationships were not looked for any further: {error.message}"
                self.notices.append(Warning(subject=subject, message=notice))
            return None

    def _inclusion(self, number: int, candidate: _Candidate) -> Sql:
        (table, column), (key_table, key) = candidate.source, candidate.target
        many = (candidate.pointer.table.row_count or 0) > SAMPLED_ROWS
        rows = first_rows(self.dialect, SAMPLED_ROWS)(table=table) if many else quoted(table, self.dialect)
        template = _inclusion(self.dialect, candidate.pointer.column.type, candidate.key.column.type)
        return template(number=number, rows=rows, column=column, key_table=key_table, key=key)


@lru_cache(maxsize=8)
def _listed(dialect: Language) -> Template:
    value = comparable("text", dialect)
    known = exp.In(this=value.copy(), expressions=[column_hole("values")])
    return Template(exp.select(value).from_(table_hole()).where(known), dialect)


@lru_cache(maxsize=64)
def _inclusion(dialect: Language, type_: ColumnType, key_type: ColumnType) -> Template:
    value = comparable(type_, dialect)
    filled: exp.Condition = exp.Not(this=exp.Is(this=column_hole(), expression=exp.Null()))
    # An empty text refers to nothing, as a null does.
    if type_ == "text":
        filled = exp.and_(filled, exp.NEQ(this=value.copy(), expression=exp.Literal.string("")))
    asked = exp.select(exp.alias_(value, "v")).distinct().from_(table_hole("rows")).where(filled).limit(SAMPLED_VALUES)
    number, count = column_hole("number"), exp.Count(this=exp.column("v", "asked"))
    query = exp.select(number, count).from_(asked.subquery("asked"))
    key = comparable(key_type, dialect, exp.column(hole("key"), "target"))
    target = exp.alias_(table_hole("key_table"), "target", table=True)
    if not DIALECTS[dialect].hashes_joins:
        # SQLite joins without an index by comparing all with all, but makes an index of what stands behind IN.
        known = exp.In(this=exp.column("v", "asked"), query=exp.select(key).from_(target).subquery())
        found = exp.Count(this=exp.Case(ifs=[exp.If(this=known, true=exp.Literal.number(1))]))
        return Template(query.select(found), dialect)
    same = exp.EQ(this=key, expression=exp.column("v", "asked"))
    query = query.select(exp.Count(this=key.copy())).join(target, on=same, join_type="left")
    return Template(query, dialect)


async def _confirmed(data: _Data, candidates: Sequence[_Candidate]) -> list[Relationship]:
    found: list[Relationship] = []
    for chunk in chunked(candidates, _PROBES_A_STATEMENT):
        for number, (asked, included) in (await data.inclusions(chunk)).items():
            confidence = _confidence(chunk[number], asked, included)
            if confidence >= REQUIRED_CONFIDENCE:
                found.append(_relationship(chunk[number], confidence))
    return found


def _confidence(candidate: _Candidate, asked: int, included: int) -> float:
    if asked == 0:
        # Nothing contradicts the names, and nothing supports them.
        return round(0.6 * candidate.strength, 3) if candidate.strength >= 0.95 else 0.0
    inclusion = included / asked
    if inclusion < (REQUIRED_OF_NAMESAKES if _is_namesake(candidate) else REQUIRED_INCLUSION):
        return 0.0
    return round(candidate.strength * inclusion * _selectivity(candidate, asked), 3)


def _is_namesake(candidate: _Candidate) -> bool:
    """The same name as a key: then rows without a partner are gaps in the data, not doubts about the meaning."""
    return candidate.key.primary and candidate.pointer.name == candidate.key.name


def _selectivity(candidate: _Candidate, asked: int) -> float:
    """A clear name needs no more support. Else a handful of values that happen to exist over there says little."""
    if candidate.strength >= 0.85:
        return 1.0
    return 1.0 if asked >= 10 else 0.85 + 0.015 * asked


def _relationship(candidate: _Candidate, confidence: float) -> Relationship:
    (table, column), (target, key) = candidate.source, candidate.target
    return Relationship(
        name=relationship_name(table, (column,), target, (key,)),
        from_table=table,
        from_columns=(column,),
        to_table=target,
        to_columns=(key,),
        origin="inferred",
        confidence=confidence,
    )


def _best_per_column(found: Sequence[Relationship]) -> list[Relationship]:
    best: dict[tuple[str, str], Relationship] = {}
    for relationship in found:
        source = (relationship.from_table, relationship.from_columns[0])
        if source not in best or relationship.confidence > best[source].confidence:
            best[source] = relationship
    return list(best.values())


def _one_way(found: Sequence[Relationship]) -> list[Relationship]:
    """Keeps the likelier of two that mirror each other; of equals, the one from the table that was found first."""
    likelier: dict[frozenset[tuple[str, str]], Relationship] = {}
    for relationship in found:
        ends = frozenset(
            {
                (relationship.from_table, relationship.from_columns[0]),
                (relationship.to_table, relationship.to_columns[0]),
            }
        )
        if ends not in likelier or relationship.confidence > likelier[ends].confidence:
            likelier[ends] = relationship
    return list(likelier.values())
