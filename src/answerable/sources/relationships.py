"""How tables point to each other: what is declared, and else what names and values together make likely.

A column is a candidate only when its name speaks of the other table (`customer_id`, `home_city`, `manager_id`), or when
it holds codes of its own (text, never numbers) that are all found in another table's key. Every candidate is then put
to the data: nearly all of its distinct values must exist in the target. Small whole numbers are contained in almost any
key by accident, so without a name that speaks for it a number column is never related to anything.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from answerable.core.catalog import Column, Relationship, Table
from answerable.core.errors import LimitError, SourceError, UserError
from answerable.core.values import Dialect
from answerable.core.words import name_words, singular
from answerable.sources.base import Probe
from answerable.sources.profile import chunked, column_ref, comparable, table_ref

MOST_PROBES = 2_000
"""Pairs of columns that are put to the data at most, the likeliest first."""
SAMPLED_VALUES = 20_000
"""Distinct values of a column that are looked up at most."""
REQUIRED_INCLUSION = 0.95
REQUIRED_CONFIDENCE = 0.5

_PROBES_A_STATEMENT = 25
_CANDIDATES_A_COLUMN = 4


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_KEY_SUFFIXES = _set("id ids key code no nr num number fk ref uuid ssn")
_TABLE_NOISE = _set("tbl table dim fact stg raw ref lookup lkp master vw view")
_GENERIC = _set(
    "name title description type status category date year month day time value amount count total comment note "
    "text label level rank order position result score number detail details other first last start end from to"
)
_PEOPLE = _set("employee person people staff user member worker student player customer contact individual")
_PERSON_ROLES = _set(
    "manager supervisor boss head leader chief owner author creator assignee agent rep representative salesperson "
    "seller buyer approver reviewer advisor adviser mentor coach captain driver director secretary treasurer "
    "president instructor teacher spouse friend sender receiver recipient winner loser reporter requester "
    "technician"
)
_SELF_ROLES = _set("parent manager supervisor boss superior predecessor previous next original reply reports")
_RELATED_TYPES = frozenset({"integer", "text", "number", "date"})


async def relate(
    probe: Probe, dialect: Dialect, tables: Sequence[Table], declared: Sequence[Relationship]
) -> tuple[Relationship, ...]:
    """The declared relationships, then the inferred ones in the order of the tables and their columns."""
    keys = [_Key.of(table, column) for table in tables for column in _key_columns(table)]
    taken = _Taken.by(declared)
    data = _Data(probe, dialect)
    named = _likeliest(candidate for candidate in _by_name(tables, keys, dialect) if taken.allows(candidate))
    found = await _confirmed(data, named)
    taken.add(found)
    coded = [candidate for candidate in await _by_codes(data, tables, keys) if taken.allows(candidate)]
    found += await _confirmed(data, coded)
    inferred = _one_way(_best_per_column(found))
    order = {(table.name, column.name): n for n, (table, column) in enumerate(_all_columns(tables))}
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
class _Candidate:
    table: Table
    column: Column
    key: _Key
    strength: float
    """What the names alone say, 0 to 1."""

    @property
    def pair(self) -> frozenset[str]:
        return frozenset({self.table.name, self.key.table.name})


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
        return candidate.pair not in self.pairs and (candidate.table.name, candidate.column.name) not in self.columns


def _all_columns(tables: Iterable[Table]) -> Iterator[tuple[Table, Column]]:
    return ((table, column) for table in tables for column in table.columns)


def _key_columns(table: Table) -> Iterator[Column]:
    for column in table.columns:
        if column.type in _RELATED_TYPES and (column.unique or table.primary_key == (column.name,)):
            yield column


def _name_and_base(column: Column) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The singular words of a column's name, with and without the suffix that says it is a key."""
    name = tuple(singular(word) for word in name_words(column.name))
    base = name
    while base and base[-1] in _KEY_SUFFIXES:
        base = base[:-1]
    return name, base


def _subject(table: Table) -> tuple[str, ...]:
    words = [singular(word) for word in name_words(table.name)]
    return tuple(word for word in words if word not in _TABLE_NOISE) or tuple(words)


def _by_name(tables: Sequence[Table], keys: Sequence[_Key], dialect: Dialect) -> Iterator[_Candidate]:
    index = _word_index(keys)
    for table, column in _all_columns(tables):
        if column.type not in _RELATED_TYPES:
            continue
        name, base = _name_and_base(column)
        for key in _mentioned(index, name, base):
            if (key.table.name, key.column.name) == (table.name, column.name) or not _comparable(column, key, dialect):
                continue
            strength = _strength(table, name, base, key)
            if strength > 0:
                yield _Candidate(table, column, key, strength)


def _word_index(keys: Sequence[_Key]) -> Mapping[str, list[_Key]]:
    """Keys by every word that a column may use to speak of them, so that no column is compared with all keys."""
    index: dict[str, list[_Key]] = defaultdict(list)
    for key in keys:
        spoken = {*key.subject, " ".join(key.name)}
        if key.subject and (key.subject[-1] in _PEOPLE):
            spoken.add("(people)")
        spoken.update(word[:3] + "…" for word in key.subject)
        spoken.add("(self) " + key.table.name)
        for word in spoken:
            index[word].append(key)
    return index


def _mentioned(index: Mapping[str, list[_Key]], name: tuple[str, ...], base: tuple[str, ...]) -> list[_Key]:
    spoken = [" ".join(name), *base, *(word[:3] + "…" for word in base if len(word) >= 3)]
    if not _PERSON_ROLES.isdisjoint(base):
        spoken.append("(people)")
    found = {id(key): key for word in spoken for key in index.get(word, ())}
    return list(found.values())


def _comparable(column: Column, key: _Key, dialect: Dialect) -> bool:
    numeric = {"integer", "number"}
    if column.type == key.column.type or {column.type, key.column.type} <= numeric:
        return True
    return dialect == "sqlite" and {column.type, key.column.type} <= numeric | {"text"}


def _strength(table: Table, name: tuple[str, ...], base: tuple[str, ...], key: _Key) -> float:
    """How much the names say that the column points to the key."""
    own = table.name == key.table.name
    if not base or (not own and base == _subject(table)):
        return 0.0
    if not (key.primary or key.names_its_table or name == key.name):
        return 0.0
    if own:
        return _self_strength(name, base, key)
    suffixed = len(base) < len(name)
    if base == key.subject:
        return (1.0 if suffixed else 0.92) * _key_weight(key, name)
    if name == key.name and not _GENERIC.issuperset(base):
        return (0.97 if key.names_its_table else 0.9) * (1.0 if key.primary else 0.9)
    return _partial_strength(table, name, base, key) * _key_weight(key, name)


def _key_weight(key: _Key, name: tuple[str, ...]) -> float:
    """A primary key is what is pointed to; another unique column only when it is the table's name or the same word."""
    if key.primary or name == key.name:
        return 1.0
    return 0.9 if key.names_its_table else 0.6


def _partial_strength(table: Table, name: tuple[str, ...], base: tuple[str, ...], key: _Key) -> float:
    if name == key.name:
        return 0.8 if _subject(table)[: len(key.subject)] == key.subject else 0.0
    if _ends_with(base, key.subject):
        return 0.9
    if key.base and _ends_with(base, key.base) and not _GENERIC.issuperset(key.base):
        return 0.85
    if _ends_with(key.subject, base):
        return 0.85
    if base == key.subject[: len(base)]:
        return 0.7
    if len(base) == 1 and any(_abbreviates(base[0], word) for word in key.subject):
        return 0.7
    if key.subject[-1] in _PEOPLE and base[-1] in _PERSON_ROLES:
        return 0.75
    return 0.0


def _self_strength(name: tuple[str, ...], base: tuple[str, ...], key: _Key) -> float:
    if not key.primary:
        return 0.0
    if not _SELF_ROLES.isdisjoint(base):
        return 0.9
    if len(base) > len(key.subject) and _ends_with(base, key.subject):
        return 0.85
    people = key.subject[-1] in _PEOPLE and base[-1] in _PERSON_ROLES
    return 0.8 if people and len(base) < len(name) else 0.0


def _ends_with(words: tuple[str, ...], ending: tuple[str, ...]) -> bool:
    return bool(ending) and words[-len(ending) :] == ending


def _abbreviates(short: str, word: str) -> bool:
    """`dept` for department, `emp` for employee: the same first letter, and the rest in order."""
    if len(short) < 3 or len(short) >= len(word) or short[0] != word[0]:
        return False
    letters = iter(word)
    return all(letter in letters for letter in short)


def _likeliest(candidates: Iterable[_Candidate]) -> list[_Candidate]:
    by_column: dict[tuple[str, str], list[_Candidate]] = defaultdict(list)
    for candidate in candidates:
        by_column[candidate.table.name, candidate.column.name].append(candidate)
    kept = [c for group in by_column.values() for c in sorted(group, key=_rank)[:_CANDIDATES_A_COLUMN]]
    return sorted(kept, key=_rank)[:MOST_PROBES]


def _rank(candidate: _Candidate) -> tuple[float, bool, str, str, str, str]:
    key = candidate.key
    return (
        -candidate.strength,
        not key.primary,
        candidate.table.name,
        candidate.column.name,
        key.table.name,
        key.column.name,
    )


# Codes: text that is found in a key though its name does not say so (`origin` and `dest` of flights are airports)


async def _by_codes(data: "_Data", tables: Sequence[Table], keys: Sequence[_Key]) -> list[_Candidate]:
    coded = [(table, column) for table, column in _all_columns(tables) if _is_code(column)]
    targets = [
        key for key in keys if key.primary and key.column.type == "text" and (key.column.distinct_count or 0) > 2
    ]
    examples = sorted({example for _, column in coded for example in column.examples})
    found: list[_Candidate] = []
    for key in targets if examples else ():
        known = await data.known(key, examples)
        for table, column in coded:
            if table.name != key.table.name and known.issuperset(column.examples):
                found.append(_Candidate(table, column, key, 0.6))
    return _likeliest(found)


def _holds_codes(column: Column) -> bool:
    return column.type == "text" and (column.distinct_count or 0) >= 3


def _is_code(column: Column) -> bool:
    return (
        _holds_codes(column)
        and not column.unique
        and len(column.examples) >= 3
        and all(2 <= len(example) <= 12 and " " not in example for example in column.examples)
    )


# What the data says


@dataclass(frozen=True, slots=True)
class _Data:
    probe: Probe
    dialect: Dialect

    async def known(self, key: _Key, values: Sequence[str]) -> set[str]:
        known: set[str] = set()
        for chunk in chunked(values, 500):
            listed = [exp.Literal.string(value) for value in chunk]
            column = comparable(key.column, self.dialect)
            query = (
                exp.select(column)
                .from_(table_ref(key.table.name))
                .where(exp.In(this=column.copy(), expressions=listed))
            )
            known.update(str(value) for (value,) in await self._rows(query))
        return known

    async def inclusions(self, candidates: Sequence[_Candidate]) -> dict[int, tuple[int, int]]:
        """For each candidate, by its place: how many distinct values were looked up and how many were found."""
        selects = [self._inclusion(number, candidate) for number, candidate in enumerate(candidates)]
        query = selects[0] if len(selects) == 1 else exp.union(*selects, distinct=False)
        try:
            return {number: (int(asked), int(found)) for number, asked, found in await self._rows(query)}
        except (SourceError, UserError, LimitError):
            # One pair that cannot be compared, or takes too long, must not cost the others: it is left unrelated.
            if len(candidates) == 1:
                return {}
        single = [await self.inclusions([candidate]) for candidate in candidates]
        return {number: result[0] for number, result in enumerate(single) if 0 in result}

    def _inclusion(self, number: int, candidate: _Candidate) -> exp.Select:
        source, key = candidate.column, candidate.key
        value = comparable(source, self.dialect)
        filled: exp.Condition = exp.Not(this=exp.Is(this=column_ref(source.name), expression=exp.Null()))
        if source.type == "text":
            filled = exp.and_(filled, exp.NEQ(this=value.copy(), expression=exp.Literal.string("")))
        asked = (
            exp.select(exp.alias_(value, "v"))
            .distinct()
            .from_(table_ref(candidate.table.name))
            .where(filled)
            .limit(SAMPLED_VALUES)
            .subquery("asked")
        )
        target = exp.select(exp.alias_(comparable(key.column, self.dialect), "k")).distinct()
        target = target.from_(table_ref(key.table.name))
        same = exp.EQ(this=exp.column("k"), expression=exp.column("v"))
        return (
            exp.select(exp.Literal.number(number), exp.Count(this=exp.column("v")), exp.Count(this=exp.column("k")))
            .from_(asked)
            .join(target.subquery("target"), on=same, join_type="left")
        )

    async def _rows(self, query: exp.Query) -> list[tuple[Any, ...]]:
        return await self.probe.rows(query.sql(self.dialect))


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
    if inclusion < REQUIRED_INCLUSION:
        return 0.0
    return round(candidate.strength * inclusion * _selectivity(candidate, asked), 3)


def _selectivity(candidate: _Candidate, asked: int) -> float:
    """A clear name needs no more support. Else a handful of values that happen to exist over there says little."""
    if candidate.strength >= 0.85:
        return 1.0
    return 1.0 if asked >= 10 else 0.85 + 0.015 * asked


def _relationship(candidate: _Candidate, confidence: float) -> Relationship:
    table, column = candidate.table.name, candidate.column.name
    target, key = candidate.key.table.name, candidate.key.column.name
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
    """Of two that mirror each other, the likelier; of equals, the one from the table that was found first."""
    kept: dict[frozenset[tuple[str, str]], Relationship] = {}
    for relationship in found:
        ends = frozenset(
            {
                (relationship.from_table, relationship.from_columns[0]),
                (relationship.to_table, relationship.to_columns[0]),
            }
        )
        if ends not in kept or relationship.confidence > kept[ends].confidence:
            kept[ends] = relationship
    return list(kept.values())
