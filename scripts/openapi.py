"""Generates the page's TypeScript types from the server: its OpenAPI schemas and its events. No server is started.

Descriptions and examples are left out, because they do not travel. The first line of the generated file holds a
fingerprint of the schemas; a test compares it with the server's, so page and server cannot drift apart.
"""

import hashlib
import json
import tempfile
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

import page
from answerable.core.events import EVENT_TYPES, Event
from answerable.gateway.app import create_app
from answerable.settings import Settings

TYPES = page.WEB / "src" / "api" / "schema.ts"
DOCUMENT = page.WEB / "openapi.json"
WORDS = frozenset({"description", "title", "examples", "example"})


def main() -> None:
    text = schemas()
    DOCUMENT.write_text(text)
    try:
        page.main(["types"])
    finally:
        DOCUMENT.unlink()
    TYPES.write_text(f"{stamp(text)}\n{TYPES.read_text()}")


def is_current() -> bool:
    return TYPES.read_text().startswith(stamp(schemas()))


def schemas() -> str:
    with tempfile.TemporaryDirectory() as home:
        document = create_app(Settings(home=Path(home))).openapi()
    replies = document["components"]["schemas"]
    events = {"RunEvent": {"oneOf": [_event_schema(event) for event in EVENT_TYPES.values()]}}
    components = {name: _without_words(schema) for name, schema in (replies | events).items()}
    info = {"title": "Answerable", "version": "1"}
    whole = {"openapi": "3.1.0", "info": info, "paths": {}, "components": {"schemas": components}}
    return json.dumps(whole, sort_keys=True)


def _event_schema(event: type[Event]) -> dict[str, Any]:
    """Schema of one event as `core.codec.encode` writes it: with its type, and with every field."""
    schema = TypeAdapter(event).json_schema(mode="serialization")
    properties = {"type": {"const": event.type}, **schema["properties"]}
    return {"type": "object", "properties": properties, "required": list(properties)}


def stamp(text: str) -> str:
    fingerprint = hashlib.sha256(text.encode()).hexdigest()[:16]
    return f"// Made by `make page-types` from schemas with the fingerprint {fingerprint}"


def _without_words(schema: Any) -> Any:
    """Drops titles, descriptions and examples. Below `properties` the same words are names of fields and stay."""
    if isinstance(schema, list):
        return [_without_words(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: {name: _without_words(part) for name, part in value.items()}
        if key == "properties"
        else _without_words(value)
        for key, value in schema.items()
        if key not in WORDS
    }


if __name__ == "__main__":
    main()
