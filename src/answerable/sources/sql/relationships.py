"""How tables point to each other: what is declared, and else what names and values together make likely.

A column is a candidate only when its name speaks of the other table (`customer_id`, `home_city`, `manager_id`), or when
it holds codes of its own (text, never numbers) that are all found in another table's key. Every candidate is then put
to the data: nearly all of its distinct values must exist in the target. Small whole numbers are contained in almost any
key by accident, so without a name that speaks for it a number column is never related to anything.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from sqlglot import exp

from answerable.core.catalog import Column, Relationship, Table, Warning
from answerable.core.errors import LimitError, RefusedError, SourceError, UserError
from answerable.core.values import ColumnType, Language
from answerable.query.sql.dialects import DIALECTS
from answerable.sources.sql.probe import Probe
from answerable.sources.sql.relationship_candidates import (
    RELATED_TYPES,
    KeyColumn,
    PointingColumn,
    RelationshipCandidate,
    candidates_by_name,
    key_columns,
    likeliest,
)
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

SAMPLED_VALUES = 20_000
"""Distinct values of a column that are looked up at most."""
SAMPLED_ROWS = 500_000
"""Of a larger table only so many rows are asked for their values."""
REQUIRED_INCLUSION = 0.95
REQUIRED_OF_NAMESAKES = 0.8
REQUIRED_CONFIDENCE = 0.5

_PROBES_A_STATEMENT = 25
_VALUES_A_STATEMENT = 500
_FEW_FOUND = 20
"""Fewer names than this are found in another table by accident."""


async def relate(
    probe: Probe,
    dialect: Language,
    tables: Sequence[Table],
    declared: Sequence[Relationship],
    *,
    notices: list[Warning] | None = None,
) -> tuple[Relationship, ...]:
    """The declared relationships, then the inferred ones in the order of the tables and their columns."""
    pointers = [PointingColumn.of(t, c) for t in tables for c in t.columns if c.type in RELATED_TYPES]
    keys = [KeyColumn.of(table, column) for table in tables for column in key_columns(table)]
    taken = _Taken.by(declared)
    data = _Data(probe, dialect, [] if notices is None else notices)
    named = likeliest(candidate for candidate in candidates_by_name(pointers, keys, dialect) if taken.allows(candidate))
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

    def allows(self, candidate: RelationshipCandidate) -> bool:
        pair = frozenset({candidate.source[0], candidate.target[0]})
        return pair not in self.pairs and candidate.source not in self.columns


# Text that is found in a key though its name does not say so: `origin` and `dest` of flights are airports


async def _by_codes(
    data: "_Data", pointers: Sequence[PointingColumn], keys: Sequence[KeyColumn]
) -> list[RelationshipCandidate]:
    texts = [pointer for pointer in pointers if _holds_codes(pointer.column) or _holds_names(pointer.column)]
    targets = [key for key in keys if key.primary and key.column.type == "text"]
    examples = sorted({example for pointer in texts for example in pointer.column.examples})
    found: list[RelationshipCandidate] = []
    for key in targets if examples else ():
        known = await data.known(key, examples)
        for pointer in texts:
            if pointer.table is not key.table and known.issuperset(pointer.column.examples):
                found += _by_values(pointer, key)
    return likeliest(found)


def _by_values(pointer: PointingColumn, key: KeyColumn) -> Iterator[RelationshipCandidate]:
    """Codes are found in few places. Names are found in many, so only in the table that is about them."""
    if key.names_its_table:
        yield RelationshipCandidate(pointer, key, 0.65)
    elif _holds_codes(pointer.column):
        yield RelationshipCandidate(pointer, key, 0.6)


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

    async def known(self, key: KeyColumn, values: Sequence[str]) -> set[str]:
        """Which of the values the key holds."""
        known: set[str] = set()
        for chunk in chunked(values, _VALUES_A_STATEMENT):
            listed = Sql(", ".join(literal(value, self.dialect) for value in chunk))
            statement = _listed(self.dialect)(table=key.table.name, column=key.column.name, values=listed)
            known.update(str(value) for (value,) in await self._rows(key.table.name, statement) or ())
        return known

    async def inclusions(self, candidates: Sequence[RelationshipCandidate]) -> dict[int, tuple[int, int]]:
        """How many distinct values of each candidate were looked up and how many were found, by the candidate's
        place."""
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

    def _inclusion(self, number: int, candidate: RelationshipCandidate) -> Sql:
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


async def _confirmed(data: _Data, candidates: Sequence[RelationshipCandidate]) -> list[Relationship]:
    found: list[Relationship] = []
    for chunk in chunked(candidates, _PROBES_A_STATEMENT):
        for number, (asked, included) in (await data.inclusions(chunk)).items():
            confidence = _confidence(chunk[number], asked, included)
            if confidence >= REQUIRED_CONFIDENCE:
                found.append(_relationship(chunk[number], confidence))
    return found


def _confidence(candidate: RelationshipCandidate, asked: int, included: int) -> float:
    if asked == 0:
        # Nothing contradicts the names, and nothing supports them.
        return round(0.6 * candidate.strength, 3) if candidate.strength >= 0.95 else 0.0
    inclusion = included / asked
    if inclusion < (REQUIRED_OF_NAMESAKES if _is_namesake(candidate) else REQUIRED_INCLUSION):
        return 0.0
    return round(candidate.strength * inclusion * _selectivity(candidate, asked), 3)


def _is_namesake(candidate: RelationshipCandidate) -> bool:
    """Whether the column has the name of a key. Then rows without a partner are gaps in the data, not doubts about the
    meaning."""
    return candidate.key.primary and candidate.pointer.name == candidate.key.name


def _selectivity(candidate: RelationshipCandidate, asked: int) -> float:
    """A clear name needs no more support. Else a handful of values that happen to exist over there says little."""
    if candidate.strength >= 0.85:
        return 1.0
    return 1.0 if asked >= 10 else 0.85 + 0.015 * asked


def _relationship(candidate: RelationshipCandidate, confidence: float) -> Relationship:
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
