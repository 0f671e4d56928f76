"""What the choice of a reading teaches: another name for a column."""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from answerable.answers.answer import Synonym
from answerable.core.catalog import Catalog
from answerable.core.values import Json
from answerable.core.words import normalise
from answerable.reader.explaining.bindings import IMPLIED, UNUSED
from answerable.reader.linking.lexicon import PERIODS
from answerable.reader.reading import Reading

ColumnsByName: TypeAlias = Mapping[str, tuple[str, str]]
"""Table and column by how a binding names them."""


def synonyms(readings: Sequence[Reading], catalog: Catalog) -> tuple[Synonym | None, ...]:
    """For each reading the synonym that choosing it would teach. None if it teaches none or more than one."""
    names = _names(catalog)
    strange = set[str].intersection(*(set(_unused(reading)) for reading in readings)) if readings else set()
    return tuple(
        _new(
            _understood(reading, strange, names)
            or _disputed(reading, readings, names)
            or _only_difference(reading, readings, strange, names),
            catalog,
        )
        for reading in readings
    )


def _names(catalog: Catalog) -> ColumnsByName:
    """Columns that people speak of; keys are left out."""
    return {
        f"{table.name}.{column.name}": (table.name, column.name)
        for table in catalog.tables
        for column in table.columns
        if not column.unique and column.name not in table.primary_key
    }


def _unused(reading: Reading) -> list[str]:
    return [binding.phrase for binding in reading.bindings if binding.meaning == UNUSED]


def _understood(reading: Reading, strange: set[str], names: ColumnsByName) -> Synonym | None:
    """The one word that no reading could use, where this one has a column that no other word names."""
    implied = [
        binding.meaning for binding in reading.bindings if binding.phrase == IMPLIED and binding.meaning in names
    ]
    if len(strange) != 1 or strange != set(_unused(reading)) or len(implied) != 1:
        return None
    [word] = strange
    return _synonym(word, names[implied[0]])


def _disputed(reading: Reading, readings: Sequence[Reading], names: ColumnsByName) -> Synonym | None:
    """The one phrase that another reading takes for another column."""
    own = _columns(reading, names)
    others = [_columns(other, names) for other in readings]
    found = [phrase for phrase in own if any(other.get(phrase, own[phrase]) != own[phrase] for other in others)]
    return _synonym(found[0], names[own[found[0]]]) if len(found) == 1 else None


def _only_difference(
    reading: Reading, readings: Sequence[Reading], strange: set[str], names: ColumnsByName
) -> Synonym | None:
    """The one word that no reading could use, where one column is all that this reading has and another has not."""
    own = _columns_of(reading.plan.model_dump())
    others = [_columns_of(other.plan.model_dump()) for other in readings if other is not reading]
    shared = set[tuple[str, str]].intersection(*others) if others else set()
    rest = [column for column in own - shared if column in names.values()]
    if len(strange) != 1 or len(rest) != 1:
        return None
    [word] = strange
    return _synonym(word, rest[0])


def _columns_of(document: Json) -> set[tuple[str, str]]:
    """Tables and columns that a plan names, its sub-plans included."""
    if isinstance(document, list | tuple):
        return set().union(*map(_columns_of, document))
    if not isinstance(document, dict):
        return set()
    own = {(document["table"], document["column"])} if document.get("kind") == "column" else set()
    return own.union(*map(_columns_of, document.values()))


def _columns(reading: Reading, names: ColumnsByName) -> dict[str, str]:
    said = (binding for binding in reading.bindings if binding.phrase != IMPLIED)
    return {binding.phrase: binding.meaning for binding in said if binding.meaning in names}


def _synonym(phrase: str, column: tuple[str, str]) -> Synonym:
    return Synonym(phrase=phrase, table=column[0], column=column[1])


def _new(synonym: Synonym | None, catalog: Catalog) -> Synonym | None:
    """The synonym, or None if the column has this name already. A word for a period is none: in "the hottest day" it
    does not name a temperature."""
    table = catalog.table(synonym.table) if synonym else None
    column = table.column(synonym.column) if synonym and table else None
    if synonym is None or column is None or synonym.phrase.lower() in PERIODS:
        return None
    known = {normalise(name) for name in (column.name, column.label or "", *column.synonyms)}
    return None if normalise(synonym.phrase) in known else synonym
