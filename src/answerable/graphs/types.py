"""The types of outputs, as JSON Schema, so that a reference to a field that cannot exist is found before a run. Pure.

Only what is certain is refused: a schema that says nothing about a field allows it.
"""

from collections.abc import Mapping
from typing import Any

from answerable.core.json_schema import SchemaProblem, check_schema
from answerable.core.values import Json
from answerable.core.yaml_text import FieldPath, Marks
from answerable.engine.graph import Path

Schema = dict[str, Any]

ANYTHING: Schema = {}
TEXT: Schema = {"type": "string"}
TABLE: Schema = {
    "type": "object",
    "properties": {
        "rows": {"type": "array", "items": {"type": "object"}},
        "row_count": {"type": "integer"},
        "columns": {"type": "array", "items": TEXT},
        "value": {},
    },
    "additionalProperties": False,
}
ANSWER: Schema = {
    **TABLE,
    "properties": {**TABLE["properties"], "text": TEXT, "status": TEXT, "kind": TEXT},
}


class NoSuchField(Exception):
    """The reason why a path cannot exist."""


def object_of(**properties: Schema) -> Schema:
    return {"type": "object", "properties": properties, "additionalProperties": False}


def list_of(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def schema_at(schema: Schema, path: Path) -> Schema:
    """The schema of the value at the end of the path. Raises `NoSuchField` if there can be none."""
    for key in path:
        schema = _inside(schema, key)
    return schema


def type_of(schema: Schema) -> str | None:
    """The only type that a value can have, or None if that is not certain."""
    found = schema.get("type")
    return found if isinstance(found, str) else None


def schema_of(value: Json) -> Schema:
    """The schema of a value that is written into the graph, without references."""
    if isinstance(value, dict):
        return object_of(**{str(key): schema_of(each) for key, each in value.items()})
    if isinstance(value, list):
        return {"type": "array"}
    if isinstance(value, bool):
        return {"type": "boolean"}
    if isinstance(value, int | float):
        return {"type": "number"}
    return TEXT if isinstance(value, str) else ANYTHING


def _inside(schema: Schema, key: str | int) -> Schema:
    kind = type_of(schema)
    if kind is None:
        return ANYTHING
    if kind == "array":
        if isinstance(key, int):
            items = schema.get("items")
            return items if isinstance(items, dict) else ANYTHING
        raise NoSuchField(f"it is a list, so `{key}` must be a number")
    if kind != "object":
        raise NoSuchField(f"it is a {kind}, which has no field `{key}`")
    properties = schema.get("properties")
    if not isinstance(properties, dict) or not properties:
        return ANYTHING
    if str(key) in properties:
        found = properties[str(key)]
        return found if isinstance(found, dict) else ANYTHING
    if schema.get("additionalProperties"):
        return ANYTHING
    raise NoSuchField(f"it has no field `{key}`; there are {', '.join(properties)}")


def check_written(schema: Mapping[str, Any], place: FieldPath, marks: Marks) -> None:
    """Refuses a schema that somebody wrote and that is none."""
    try:
        check_schema(schema)
    except SchemaProblem as problem:
        raise marks.error((*place, *problem.path), f"this is no JSON Schema: {problem.message}") from problem
