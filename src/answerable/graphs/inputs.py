"""The input of a graph: checked against its JSON Schema, with the defaults filled in."""

from collections.abc import Mapping

import orjson

from answerable.core.errors import UserError
from answerable.core.json_schema import SchemaProblem, check_value
from answerable.core.values import Json
from answerable.graphs.types import Schema

LARGEST = 1_000_000
"""Bytes of an input as JSON. The input is part of the run's journal; bulk belongs into a source."""


def checked_input(schema: Schema, values: Mapping[str, Json]) -> Json:
    """The input of a run. Raises a `UserError` that names the field."""
    filled = with_defaults(schema, values)
    if len(orjson.dumps(filled)) > LARGEST:
        raise UserError(
            f"The input is larger than {LARGEST:,} bytes.", code="input_too_large", hint="Put the data into a source."
        )
    try:
        check_value(filled, schema)
    except SchemaProblem as problem:
        field = ".".join(map(str, problem.path))
        raise UserError(
            f"The input does not fit the graph: {f'`{field}`: ' if field else ''}{problem.message}.",
            code="graph_input_invalid",
            hint=_known(schema),
            field=field or None,
        ) from problem
    return filled


def from_text(schema: Schema, name: str, text: str) -> Json:
    """A field of the input that was given as text, as on a command line: text if the schema wants text, else JSON."""
    if _properties(schema).get(name, {}).get("type") == "string":
        return text
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return text


def _properties(schema: Schema) -> Mapping[str, Schema]:
    properties = schema.get("properties")
    if not isinstance(properties, dict):
        return {}
    return {name: each for name, each in properties.items() if isinstance(each, dict)}


def with_defaults(schema: Schema, values: Mapping[str, Json]) -> dict[str, Json]:
    defaults = {name: each["default"] for name, each in _properties(schema).items() if "default" in each}
    return {**defaults, **values}


def _known(schema: Schema) -> str | None:
    known = ", ".join(_properties(schema))
    return f"Its fields are: {known}." if known else None
