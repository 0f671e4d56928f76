"""`semantic.yaml`: what people call the things in the data, written by someone who knows it. See docs/semantic.md.

`parse` reads the text, `apply` lays it over a catalog. Whatever is wrong is a `SemanticError` that names file, line,
column and field, with the nearest valid name: a wish that is silently ignored is worse than none.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import yaml
from pydantic import (
    BeforeValidator,
    ConfigDict,
    Field,
    PrivateAttr,
    StringConstraints,
    ValidationError,
    model_validator,
)

from answerable.core.catalog import (
    Catalog,
    Column,
    KnownQuestion,
    Link,
    LivePart,
    Measure,
    Relationship,
    Table,
    ValueName,
    Warning,
)
from answerable.core.errors import AnswerableError, SemanticError, UserError
from answerable.core.file_errors import no_descriptors
from answerable.core.question_places import OWN_PLACES, column_of, is_table, places_of_question, places_of_statement
from answerable.core.values import Frozen
from answerable.core.words import normalise
from answerable.core.yaml_text import SEMANTIC, FieldPath, Marks, did_you_mean, read
from answerable.query.sql.dialects import FRAMES_DIALECT
from answerable.query.sql.measures import parsed_measure
from answerable.query.sql.result_columns import result_columns
from answerable.sources.definition_files import read_definitions
from answerable.sources.sql.relationships import relationship_name

Named = TypeVar("Named", Table, Column)


def _listed(value: object) -> object:
    """One synonym needs no list."""
    return [value] if isinstance(value, str) else value


Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=2_000)]
Texts = Annotated[tuple[Text, ...], BeforeValidator(_listed)]


class Described(Frozen):
    label: Text | None = None
    synonyms: Texts = ()
    description: Text | None = None


class SemanticColumn(Described):
    unit: Text | None = None
    hidden: bool = False
    sensitivity: Literal["secret", "personal", "none"] | None = None
    """What was found out about the column is replaced by this."""
    values: dict[Text, Texts] = Field(default_factory=dict)
    """What people call single values: `{A: [active, live]}`."""


class SemanticTable(Described):
    hidden: bool = False
    columns: dict[str, SemanticColumn] = Field(default_factory=dict)


class SemanticMeasure(Described):
    table: Text
    expression: Text
    unit: Text | None = None


class SemanticQuestion(Frozen):
    question: Text
    also: Texts = ()
    """The same question in other words."""
    sql: Text
    live: LivePart | None = None
    path: Mapping[str, str] = {}
    """Columns of the result that each row is a way through, in order, with what leads to each."""


class End(Frozen):
    """One side of a relationship; `orders.customer_id` is short for the table and its one column."""

    source: Text | None = None
    """Another source that the table is in."""
    table: Text
    columns: Texts = Field(min_length=1)

    @model_validator(mode="before")
    @classmethod
    def _from_short_form(cls, value: object) -> object:
        if not isinstance(value, str):
            return value
        table, dot, column = value.partition(".")
        if not dot or "." in column:
            raise ValueError("write table.column, or {table: …, columns: […]} for several columns or names with dots")
        return {"table": table, "columns": [column]}


class SemanticRelationship(Frozen):
    model_config = ConfigDict(frozen=True, extra="forbid", validate_by_name=True, validate_by_alias=True)

    name: Text | None = None
    from_: End = Field(alias="from")
    to: End
    synonyms: Texts = ()
    hidden: bool = False
    """Takes a relationship out that was declared or inferred."""

    @model_validator(mode="after")
    def _same_width(self) -> "SemanticRelationship":
        if len(self.from_.columns) != len(self.to.columns):
            raise ValueError("both sides need the same number of columns")
        if self.from_.source and self.to.source:
            raise ValueError("one side must be a table of this source; leave `source` out there")
        if self.hidden and self.leads_out:
            raise ValueError("only relationships within this source can be hidden")
        return self

    @property
    def leads_out(self) -> bool:
        return bool(self.from_.source or self.to.source)


class Semantic(Frozen):
    version: int = Field(default=1, ge=1, le=1)
    as_of: date | None = None
    """The day that "last month" is counted from, for data that stands still."""
    tables: dict[str, SemanticTable] = Field(default_factory=dict)
    measures: dict[Text, SemanticMeasure] = Field(default_factory=dict)
    relationships: tuple[SemanticRelationship, ...] = ()
    questions: tuple[SemanticQuestion, ...] = ()
    """Questions that were asked or learned, with the statements that answer them."""

    _marks: Marks = PrivateAttr(default_factory=lambda: Marks("semantic.yaml"))

    def written_at(self, path: FieldPath) -> str:
        return self._marks.start(path)

    def wrong(self, path: FieldPath, problem: str, hint: str | None = None) -> UserError:
        return self._marks.error(path, problem, hint)


def load(path: Path) -> Semantic:
    try:
        raw = read_definitions(path, 4 * SEMANTIC.largest)
        return parse(raw.decode("utf-8-sig"), path.name)
    except OSError as error:
        unreadable = SemanticError(f"{path.name} cannot be read: {error.strerror}", file=path.name)
        raise no_descriptors(error) or unreadable from error
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        marks = Marks(path.name, places={(): (line, 1)})
        raise marks.error((), "this is not UTF-8 text", "Save the file as UTF-8.") from None


def parse(text: str, origin: str = "semantic.yaml") -> Semantic:
    data, marks = read(text, origin)
    try:
        semantic = Semantic.model_validate(data)
    except ValidationError as invalid:
        raise _first_problem(marks, invalid) from None
    semantic._marks = marks
    return semantic


def dump(semantic: Semantic) -> str:
    """The text that `parse` reads back to the same thing; only what differs from the defaults is written."""
    data = semantic.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    return yaml.safe_dump({"version": semantic.version, **data}, allow_unicode=True, sort_keys=False, width=100)


# Errors of form

_PLAIN_WORDS: Mapping[str, str] = {
    "missing": "this field is required",
    "dict_type": "this must be a mapping of names (name: …)",
    "model_type": "this must be a mapping of fields (field: …)",
    "tuple_type": "this must be a list",
    "string_type": "this must be text",
    "string_too_short": "this must not be empty",
    "string_too_long": "this text is too long",
    "too_short": "this must not be empty",
    "bool_parsing": "this must be true or false",
    "int_parsing": "this must be a number",
    "date_from_datetime_parsing": "this must be a day such as 2025-12-31",
    "date_from_datetime_inexact": "this must be a day such as 2025-12-31, without a time",
    "less_than_equal": "this version is not known; the latest is 1",
}


def _first_problem(marks: Marks, invalid: ValidationError) -> UserError:
    """The one that stands first in the file; people read from the top. What is missing may just be misspelt."""
    order = [(error["type"] == "missing", marks.place(_field_path(error["loc"]))) for error in invalid.errors()]
    problems = [error for _, error in sorted(zip(order, invalid.errors(), strict=True), key=lambda pair: pair[0])]
    first, path = problems[0], _field_path(problems[0]["loc"])
    if first["type"] == "extra_forbidden":
        return marks.error(path, "unknown field", _known_fields(path))
    problem = _PLAIN_WORDS.get(first["type"], first["msg"].removeprefix("Value error, "))
    more = f" (and {len(problems) - 1} more problems)" if len(problems) > 1 else ""
    return marks.error(path, problem + more)


def _field_path(location: Sequence[str | int]) -> FieldPath:
    return tuple(part for part in location if part != "[key]")


def _known_fields(path: FieldPath) -> str:
    names = sorted(field.alias or name for name, field in _model_at(path[:-1]).model_fields.items())
    return did_you_mean(str(path[-1]), names) or f"Known fields are {', '.join(names)}."


def _model_at(path: FieldPath) -> type[Frozen]:
    match path:
        case ():
            return Semantic
        case ("tables", _):
            return SemanticTable
        case ("tables", *_):
            return SemanticColumn
        case ("measures", *_):
            return SemanticMeasure
        case ("relationships", _):
            return SemanticRelationship
        case ("questions", _):
            return SemanticQuestion
        case ("questions", _, "live"):
            return LivePart
    return End


# Laying it over a catalog


def apply(catalog: Catalog, semantic: Semantic) -> Catalog:
    """The catalog with the names, relationships and measures of the file, and without what it hides."""
    return _Applying(catalog, semantic).result()


class _Applying:
    def __init__(self, catalog: Catalog, semantic: Semantic) -> None:
        self._catalog = catalog
        self._semantic = semantic
        self._hidden: set[tuple[str, ...]] = set()

    def result(self) -> Catalog:
        tables = {table.name: table for table in self._catalog.tables}
        for name, said in self._semantic.tables.items():
            table = self._table(name, ("tables", name))
            tables[table.name] = self._described(table, name, said)
        relationships = self._relationships()
        shown = {name: self._shown(table) for name, table in tables.items() if (name,) not in self._hidden}
        measures = [self._measure(name, said, shown) for name, said in self._semantic.measures.items()]
        return self._catalog.model_copy(
            update={
                "as_of": self._semantic.as_of,
                "tables": tuple(shown.values()),
                "relationships": tuple(r for r in relationships if _is_between(r, shown)),
                "measures": (*self._catalog.measures, *measures),
                "questions": tuple(self._question(place, said) for place, said in enumerate(self._semantic.questions)),
                "links": tuple(link for link in self._links() if _starts_in(link, shown)),
                "warnings": (*self._catalog.warnings, *_ambiguities(self._semantic)),
            }
        )

    def _question(self, number: int, said: SemanticQuestion) -> KnownQuestion:
        """Raises if a wording and the statement name other places, or a place is no column."""
        used = places_of_statement(said.sql) | (places_of_statement(said.live.sql) if said.live else frozenset())
        wordings: list[tuple[FieldPath, str]] = [(("questions", number, "question"), said.question)]
        wordings += [(("questions", number, "also"), text) for text in said.also]
        for path, text in wordings:
            places = places_of_question(text)
            if places != used:
                differing = ", ".join(f"{{{place}}}" for place in sorted(places ^ used))
                raise self._semantic.wrong(path, f"{differing} must stand in the question and, in quotes, in its sql")
            for place in places - OWN_PLACES:
                table, column = column_of(place)
                found = self._table(table, path)
                if not is_table(place):
                    self._column(found, column, path)
                elif len(found.primary_key) != 1:
                    raise self._semantic.wrong(path, f"{{{place}}} needs a table with a key of one column")
        if said.path:
            self._check_way(("questions", number), said)
        return KnownQuestion(**said.model_dump())

    def _check_way(self, path: FieldPath, said: SemanticQuestion) -> None:
        """Raises if the rows have no column of a name that the way goes through."""
        text, dialect = (said.live.together, FRAMES_DIALECT) if said.live else (said.sql, self._catalog.dialect)
        try:
            columns = result_columns(text, dialect)
        except AnswerableError as error:
            field = ("live", "together") if said.live else ("sql",)
            raise self._semantic.wrong((*path, *field), error.message, error.hint) from error
        if columns is None:
            return
        for missing in (name for name in said.path if name not in columns):
            hint = did_you_mean(missing, columns) or f"Its columns are {', '.join(columns)}."
            raise self._semantic.wrong((*path, "path", missing), f"the result has no column {missing!r}", hint)

    def _table(self, name: str, path: FieldPath) -> Table:
        found = _by_name(name, self._catalog.tables)
        if found is None:
            hint = did_you_mean(name, (table.name for table in self._catalog.tables))
            raise self._semantic.wrong(path, f"there is no table {name!r}", hint)
        return found

    def _column(self, table: Table, name: str, path: FieldPath) -> Column:
        found = _by_name(name, table.columns)
        if found is None:
            hint = did_you_mean(name, (column.name for column in table.columns))
            raise self._semantic.wrong(path, f"table {table.name!r} has no column {name!r}", hint)
        return found

    def _described(self, table: Table, name: str, said: SemanticTable) -> Table:
        if said.hidden:
            self._hidden.add((table.name,))
        columns = {column.name: column for column in table.columns}
        for column_name, column_said in said.columns.items():
            column = self._column(table, column_name, ("tables", name, "columns", column_name))
            columns[column.name] = _described_column(column, column_said)
            if column_said.hidden:
                self._hidden.add((table.name, column.name))
        return table.model_copy(update=_description(said) | {"columns": tuple(columns.values())})

    def _shown(self, table: Table) -> Table:
        columns = tuple(column for column in table.columns if (table.name, column.name) not in self._hidden)
        key_shown = not any((table.name, name) in self._hidden for name in table.primary_key)
        return table.model_copy(update={"columns": columns, "primary_key": table.primary_key if key_shown else ()})

    def _relationships(self) -> list[Relationship]:
        known = {_ends(relationship): relationship for relationship in self._catalog.relationships}
        for number, said in enumerate(self._semantic.relationships):
            path: FieldPath = ("relationships", number)
            if said.leads_out:
                continue
            relationship = self._relationship(said, path)
            replaced = known.pop(_ends(relationship), None)
            if said.hidden and replaced is None:
                raise self._semantic.wrong(path, "there is no such relationship to hide")
            if not said.hidden:
                known[_ends(relationship)] = relationship
            if sum(other.name == relationship.name for other in known.values()) > 1:
                raise self._semantic.wrong((*path, "name"), f"the name {relationship.name!r} is taken already")
        return list(known.values())

    def _relationship(self, said: SemanticRelationship, path: FieldPath) -> Relationship:
        from_table, from_columns = self._end(said.from_, (*path, "from"))
        to_table, to_columns = self._end(said.to, (*path, "to"))
        return Relationship(
            name=said.name or relationship_name(from_table, from_columns, to_table, to_columns),
            from_table=from_table,
            from_columns=from_columns,
            to_table=to_table,
            to_columns=to_columns,
            origin="semantic",
            synonyms=said.synonyms,
        )

    def _links(self) -> Iterator[Link]:
        for number, said in enumerate(self._semantic.relationships):
            if said.leads_out:
                yield self._link(said, ("relationships", number))

    def _link(self, said: SemanticRelationship, path: FieldPath) -> Link:
        from_table, from_columns = self._end(said.from_, (*path, "from"))
        to_table, to_columns = self._end(said.to, (*path, "to"))
        other: FieldPath = (*path, "to" if said.to.source else "from")
        return Link(
            name=said.name or relationship_name(from_table, from_columns, to_table, to_columns),
            from_source=said.from_.source,
            from_table=from_table,
            from_columns=from_columns,
            to_source=said.to.source,
            to_table=to_table,
            to_columns=to_columns,
            synonyms=said.synonyms,
            written_at=self._semantic.written_at(other),
        )

    def _end(self, end: End, path: FieldPath) -> tuple[str, tuple[str, ...]]:
        """The end of a relationship in the names of the catalog. Names of another source stay as they are written."""
        if end.source:
            return end.table, end.columns
        table = self._table(end.table, path)
        return table.name, tuple(self._column(table, column, path).name for column in end.columns)

    def _measure(self, name: str, said: SemanticMeasure, shown: Mapping[str, Table]) -> Measure:
        path: FieldPath = ("measures", name)
        table = shown.get(self._table(said.table, (*path, "table")).name)
        if table is None:
            raise self._semantic.wrong((*path, "table"), f"table {said.table!r} is hidden")
        names = _description(said) | {"unit": said.unit}
        measure = Measure(name=name, table=table.name, expression=said.expression, **names)
        try:
            expression = parsed_measure(measure, self._catalog.model_copy(update={"tables": tuple(shown.values())}))
        except UserError as wrong:
            raise self._semantic.wrong((*path, "expression"), wrong.message, wrong.hint) from None
        return measure.model_copy(update={"expression": expression.sql(self._catalog.dialect)})


def _by_name(name: str, things: Sequence[Named]) -> Named | None:
    """The entry of exactly this name, else the only one whose name differs in case alone."""
    alike = [thing for thing in things if thing.name.casefold() == name.casefold()]
    exact = [thing for thing in alike if thing.name == name]
    return exact[0] if exact else alike[0] if len(alike) == 1 else None


def _description(said: Described) -> dict[str, Any]:
    """Only what is said; a label that the source itself knows stays."""
    return {name: value for name in ("label", "synonyms", "description") if (value := getattr(said, name))}


def _described_column(column: Column, said: SemanticColumn) -> Column:
    names = tuple(ValueName(value=value, synonyms=synonyms) for value, synonyms in said.values.items())
    extra: dict[str, Any] = {"unit": said.unit or column.unit, "value_names": names or column.value_names}
    if said.sensitivity is not None:
        sensitivity = said.sensitivity if said.sensitivity != "none" else None
        extra |= {"sensitivity": sensitivity, "sensitivity_reason": "semantic.yaml" if sensitivity else None}
    return column.model_copy(update=_description(said) | extra)


def _ends(relationship: Relationship) -> tuple[str, tuple[str, ...], str, tuple[str, ...]]:
    return relationship.from_table, relationship.from_columns, relationship.to_table, relationship.to_columns


def _is_between(relationship: Relationship, tables: Mapping[str, Table]) -> bool:
    """Both sides are still shown."""
    sides = (relationship.from_table, relationship.from_columns), (relationship.to_table, relationship.to_columns)
    return all(table in tables and all(map(tables[table].column, columns)) for table, columns in sides)


def _starts_in(link: Link, tables: Mapping[str, Table]) -> bool:
    """Its side in this source is still shown."""
    own = (link.to_table, link.to_columns) if link.from_source else (link.from_table, link.from_columns)
    return own[0] in tables and all(map(tables[own[0]].column, own[1]))


def _ambiguities(semantic: Semantic) -> Iterator[Warning]:
    """Warns of each synonym that two things share: every question that uses it would have to be clarified."""
    meant: dict[str, dict[str, str]] = defaultdict(dict)
    for thing, synonyms in _claims(semantic):
        for synonym in synonyms:
            meant[normalise(synonym)].setdefault(thing, synonym)
    for things in meant.values():
        if len(things) > 1:
            synonym = next(iter(things.values()))
            yield Warning(subject=synonym, message=f"this synonym means {len(things)} things: {', '.join(things)}")


def _claims(semantic: Semantic) -> Iterable[tuple[str, Sequence[str]]]:
    for name, table in semantic.tables.items():
        yield f"table {name}", table.synonyms
        for column_name, column in table.columns.items():
            yield f"column {name}.{column_name}", column.synonyms
    for name, measure in semantic.measures.items():
        yield f"measure {name}", measure.synonyms
