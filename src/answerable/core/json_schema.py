"""JSON Schema: whether a schema can be used, and whether a value fits it. Nothing is ever fetched for a schema."""

from collections.abc import Mapping
from typing import Any, NoReturn

from answerable.core.values import Json

Place = tuple[str | int, ...]


class SchemaProblem(Exception):
    """What is wrong, and where: in the schema that was checked, or in the value."""

    def __init__(self, message: str, path: Place = ()) -> None:
        super().__init__(message)
        self.message = message
        self.path = path


def check_schema(schema: Mapping[str, Any]) -> None:
    """Raises `SchemaProblem` for a schema that is wrong or refers to another document."""
    for path, name in _references(schema, ()):
        if not name.startswith("#"):
            raise SchemaProblem("a reference must lead to a part of this schema (#/$defs/…)", (*path, "$ref"))
    import jsonschema_rs

    try:
        jsonschema_rs.validator_for(dict(schema), retriever=_refuse)
    except jsonschema_rs.ValidationError as error:
        raise SchemaProblem(error.message, tuple(error.instance_path)) from None


def check_value(value: Json, schema: Mapping[str, Any]) -> None:
    """Raises `SchemaProblem` with the first reason why a value does not fit a schema that `check_schema` passed."""
    import jsonschema_rs

    validator = jsonschema_rs.validator_for(dict(schema), retriever=_refuse)
    for error in validator.iter_errors(value):
        raise SchemaProblem(error.message, tuple(error.instance_path))


def _references(part: Any, path: Place) -> "list[tuple[Place, str]]":
    if isinstance(part, Mapping):
        own = [(path, part["$ref"])] if isinstance(part.get("$ref"), str) else []
        return own + [found for name, value in part.items() for found in _references(value, (*path, str(name)))]
    if isinstance(part, list):
        return [found for number, value in enumerate(part) for found in _references(value, (*path, number))]
    return []


def _refuse(uri: str) -> NoReturn:
    raise ValueError(f"{uri} is another document; schemas are not fetched")
