"""The shape of a response: where its rows are, and which columns a row has.

A schema may be circular, very deep or very wide. Objects are flattened two levels down; below that, and for lists, a
column holds JSON.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from answerable.apis.openapi.document import JsonObject, OpenApiDocument, UnusablePart
from answerable.core.values import ColumnType, Frozen, Json

_DEEPEST = 2
_MOST_COLUMNS = 200
_MOST_PARTS = 3_000
"""Schemas that are looked at for one response: `allOf` within `allOf` can multiply."""
_WRAPPERS = ("data", "items", "results", "result", "values", "value", "records", "entries", "rows", "list", "objects")
"""What fields that hold the rows of a page are usually called."""


class ShapeColumn(Frozen):
    name: str
    path: tuple[str, ...]
    """The fields that lead to the value: `("profile", "email")`."""
    type: ColumnType
    description: str | None = None
    values: tuple[str, ...] = ()
    """All that it may hold, if the document lists them."""


class ResponseShape(Frozen):
    """What one successful response holds."""

    is_list: bool
    rows_at: str | None = None
    """The field that holds the rows or the one object, such as `data`; None if the response itself does."""
    columns: tuple[ShapeColumn, ...] = ()
    fields: tuple[str, ...] = ()
    """Dotted names of the plain fields around the rows, where the mark of the next page may be."""


@dataclass(slots=True)
class _Reading:
    document: OpenApiDocument
    parts: int = 0

    def properties(self, schema: Any, within: tuple[int, ...] = ()) -> dict[str, Any]:
        """The properties of an object, with those of `allOf`, `oneOf`, `anyOf`, and of the kinds that a discriminator
        names. `within`: the schemas that it is a part of."""
        self.parts += 1
        part = self.document.part(schema)
        if id(part) in within or self.parts > _MOST_PARTS:
            return {}
        found = dict(part["properties"]) if isinstance(part.get("properties"), dict) else {}
        for each in _alternatives(part):
            for name, inner in self.properties(each, (*within, id(part))).items():
                found.setdefault(name, inner)
        for each in _subtypes(part):
            try:
                own = self.properties(each, (*within, id(part)))
            except UnusablePart:  # rows of the other kinds can still be told
                continue
            for name, inner in own.items():
                found.setdefault(name, inner)
        return found

    def kind(self, schema: Any, within: tuple[int, ...] = ()) -> str:
        """`array`, `object`, or the type of a scalar; empty if the schema does not say."""
        self.parts += 1
        part = self.document.part(schema)
        if id(part) in within or self.parts > _MOST_PARTS:
            return ""
        named = part.get("type")
        if isinstance(named, list):  # OpenAPI 3.1: ["string", "null"]
            named = next((each for each in named if each != "null"), "")
        if isinstance(named, str) and named:
            return named
        if isinstance(part.get("properties"), dict):
            return "object"
        if "items" in part:
            return "array"
        return next((kind for each in _alternatives(part) if (kind := self.kind(each, (*within, id(part))))), "")

    def items(self, schema: Any, within: tuple[int, ...] = ()) -> Any:
        """The schema of the members of a list; empty if there is none."""
        part = self.document.part(schema)
        if "items" in part or id(part) in within:
            return part.get("items", {})
        inner = (self.items(each, (*within, id(part))) for each in _alternatives(part))
        return next((items for items in inner if items), {})

    def _not_null(self, part: JsonObject) -> JsonObject:
        """The one thing that a value can be beside null: OpenAPI 3.1 says `anyOf: [{type: string}, {type: "null"}]`."""
        alternatives = [self.document.part(each) for each in _alternatives(part)]
        others = [each for each in alternatives if each.get("type") != "null"]
        return others[0] if len(others) == 1 and len(alternatives) > 1 and "type" not in part else part

    def columns(self, schema: Any) -> tuple[ShapeColumn, ...]:
        kind = self.kind(schema)
        if kind != "object":
            return (ShapeColumn(name="value", path=(), type=_TYPES.get(kind, "json")),) if kind else ()
        found: dict[str, ShapeColumn] = {}
        for column in self._columns(schema, ()):
            if len(found) == _MOST_COLUMNS:
                break
            found.setdefault(column.name.casefold(), column)
        return tuple(found.values())

    def _columns(self, schema: Any, path: tuple[str, ...]) -> Iterator[ShapeColumn]:
        for name, inner in self.properties(schema).items():
            here = (*path, str(name)[:100])
            try:
                part = self._not_null(self.document.part(inner))
                kind = self.kind(part)
                nested = kind == "object" and len(here) < _DEEPEST and bool(self.properties(part))
            except UnusablePart:  # what it refers to is left out; the value itself may still come
                part, kind, nested = {}, "", False
            if part.get("writeOnly") is True:
                continue
            if nested:
                yield from self._columns(part, here)
            else:
                yield _column(here, kind, part)


_TYPES: Mapping[str, ColumnType] = {"string": "text", "integer": "integer", "number": "number", "boolean": "boolean"}
_FORMATS: Mapping[str, ColumnType] = {"date": "date", "date-time": "datetime"}


def _column(path: tuple[str, ...], kind: str, schema: JsonObject) -> ShapeColumn:
    type_ = _FORMATS.get(str(schema.get("format")), "text") if kind == "string" else _TYPES.get(kind, "json")
    enum, text = schema.get("enum"), schema.get("description")
    values = tuple(value for value in enum[:100] if isinstance(value, str)) if isinstance(enum, list) else ()
    description = " ".join(text.split())[:300] if isinstance(text, str) and text.strip() else None
    return ShapeColumn(name="_".join(path), path=path, type=type_, description=description, values=values)


def _alternatives(part: JsonObject) -> list[Any]:
    return [each for word in ("allOf", "oneOf", "anyOf") for each in part.get(word) or () if isinstance(each, dict)]


def _subtypes(part: JsonObject) -> list[JsonObject]:
    """References to the schemas that the discriminator of a schema names, each once."""
    discriminator = part.get("discriminator")
    mapping = discriminator.get("mapping") if isinstance(discriminator, dict) else None
    named = (
        dict.fromkeys(each for each in mapping.values() if isinstance(each, str)) if isinstance(mapping, dict) else {}
    )
    return [{"$ref": each if "/" in each else f"#/components/schemas/{each}"} for each in named]


def response_shape(document: OpenApiDocument, operation: JsonObject, *, of_one: bool) -> ResponseShape | None:
    """What a GET returns. `of_one`: whether its path ends with an id, so that it returns one object. None if the
    document does not say. Raises `UnusablePart`."""
    content = _json_content(document, operation)
    if content is None:
        return None
    schema, example = content.get("schema"), example_of(document, content)
    described = _shape(_Reading(document), schema, of_one) if isinstance(schema, dict) and schema else None
    shown = None if example is None else shape_of_example(example, of_one=of_one)
    if described is None or not described.columns:
        return shown or described
    # Some documents describe only the frame of a page, and show its rows in an example.
    return shown if shown is not None and shown.is_list and not described.is_list and not of_one else described


def _json_content(document: OpenApiDocument, operation: JsonObject) -> JsonObject | None:
    responses = operation.get("responses")
    if not isinstance(responses, dict):
        return None
    for status in ("200", "2XX", "2xx", "206", "default"):
        if status in responses:
            content = document.part(responses[status]).get("content")
            kinds = content if isinstance(content, dict) else {}
            named = next((kind for kind in kinds if "json" in kind or kind.startswith("*/*")), None)
            return document.part(kinds[named]) if named is not None else None
    return None


def example_of(document: OpenApiDocument, content: JsonObject) -> Json:
    """The first example of a response; None if there is none."""
    if "example" in content:
        return content["example"]
    examples = content.get("examples")
    for each in examples.values() if isinstance(examples, dict) else ():
        try:
            part = document.part(each)
        except UnusablePart:
            continue
        if "value" in part:
            return part["value"]
    return None


def documented_example(document: OpenApiDocument, operation: JsonObject) -> Json:
    """The example of the response of an operation; None if there is none."""
    content = _json_content(document, operation)
    return None if content is None else example_of(document, content)


def _shape(reading: _Reading, schema: Any, of_one: bool) -> ResponseShape | None:
    kind = reading.kind(schema)
    if kind == "array":
        return ResponseShape(is_list=True, columns=reading.columns(reading.items(schema)))
    if kind != "object":
        return None
    fields = _object_fields(reading, schema)
    chosen = _rows_field(fields, of_one)
    if chosen is None:
        return ResponseShape(is_list=False, columns=reading.columns(schema))
    inner = fields[chosen]
    is_list = inner.kind == "array"
    columns = reading.columns(reading.items(inner.schema) if is_list else inner.schema)
    around = tuple(_around(reading, fields, chosen)) if is_list else ()
    return ResponseShape(is_list=is_list, rows_at=chosen, columns=columns, fields=around)


@dataclass(frozen=True, slots=True)
class _Field:
    kind: str
    schema: Any = None
    has_objects: bool = False
    """Whether it is a list of objects."""
    names: frozenset[str] = field(default_factory=frozenset)


def _object_fields(reading: _Reading, schema: Any) -> dict[str, _Field]:
    found = {}
    for name, inner in reading.properties(schema).items():
        try:
            kind = reading.kind(inner)
            objects = kind == "array" and reading.kind(reading.items(inner)) == "object"
        except UnusablePart:
            kind, objects = "", False
        found[str(name)] = _Field(kind, inner, objects)
    return found


def _rows_field(fields: Mapping[str, _Field], of_one: bool) -> str | None:
    """The field that holds the rows of a page, or the one object, if they are wrapped."""
    names = {name.casefold(): name for name in fields}
    if "id" in names and not set(names) & set(_WRAPPERS):  # an object of its own, which may hold lists
        return None
    for wrapper in _WRAPPERS:
        name = names.get(wrapper)
        if name is not None and (fields[name].kind == "array" or (fields[name].kind == "object" and len(fields) <= 3)):
            return name
    lists = [name for name, each in fields.items() if each.has_objects]
    return lists[0] if len(lists) == 1 and not of_one else None


def _around(reading: _Reading, fields: Mapping[str, _Field], rows_at: str) -> Iterator[str]:
    for name, each in fields.items():
        if name == rows_at:
            continue
        if each.kind == "object":
            yield from (f"{name}.{inner}" for inner in reading.properties(each.schema))
        else:
            yield name


def shape_of_example(example: Json, *, of_one: bool) -> ResponseShape | None:
    """The shape of a response of which only an example is known."""
    if isinstance(example, list):
        return ResponseShape(is_list=True, columns=columns_of_rows(example))
    if not isinstance(example, dict):
        return None
    fields = {
        str(name): _Field(
            "array" if isinstance(value, list) else "object" if isinstance(value, dict) else "string",
            has_objects=isinstance(value, list) and bool(value) and isinstance(value[0], dict),
        )
        for name, value in example.items()
    }
    chosen = _rows_field(fields, of_one)
    if chosen is None:
        return ResponseShape(is_list=False, columns=columns_of_rows([example]))
    inner = example[chosen]
    if isinstance(inner, dict):
        return ResponseShape(is_list=False, rows_at=chosen, columns=columns_of_rows([inner]))
    around = [
        dotted
        for name, value in example.items()
        if name != chosen
        for dotted in ([f"{name}.{each}" for each in value] if isinstance(value, dict) else [name])
    ]
    return ResponseShape(is_list=True, rows_at=chosen, columns=columns_of_rows(inner), fields=tuple(around))


def columns_of_rows(rows: list[Json]) -> tuple[ShapeColumn, ...]:
    """The columns that rows have, for a response whose shape the document does not tell."""
    kinds: dict[tuple[str, ...], set[str]] = {}
    for row in rows[:1_000]:
        for path, value in _leaves(row, ()):
            kinds.setdefault(path, set()).add(_kind_of(value))
    columns: dict[str, ShapeColumn] = {}
    for path, seen in kinds.items():
        known = seen - {"null"}
        type_ = _TYPES.get(next(iter(known)), "json") if len(known) == 1 else "number" if known == _NUMBERS else "text"
        name = "_".join(path) or "value"
        if len(columns) < _MOST_COLUMNS:
            columns.setdefault(name.casefold(), ShapeColumn(name=name, path=path, type=type_))
    return tuple(columns.values())


_NUMBERS = {"integer", "number"}


def _leaves(value: Json, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Json]]:
    if isinstance(value, dict) and value and len(path) < _DEEPEST:
        for name, inner in value.items():
            yield from _leaves(inner, (*path, name[:100]))
    elif path or not isinstance(value, dict):
        yield path, value


def _kind_of(value: Json) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    return {str: "string", int: "integer", float: "number"}.get(type(value), "object")


def cell(row: Json, path: tuple[str, ...]) -> Json:
    """The value of a column in a row; None where the row lacks it."""
    for name in path:
        row = row.get(name) if isinstance(row, dict) else None
    return row
