"""Makes the types of the page from the server's OpenAPI document, so that the two cannot drift; no server is started.

Only what travels is taken: the schemas without their words. Their fingerprint is noted atop the types, by which a test
knows that they are current.
"""

import hashlib
import json
import tempfile
from pathlib import Path
from typing import Any

import page
from answerable.gateway.app import create_app
from answerable.settings import Settings

TYPES = page.WEB / "src" / "api" / "schema.ts"
DOCUMENT = page.WEB / "openapi.json"
WORDS = frozenset({"description", "title", "examples", "example"})


def main() -> None:
    text = schemas()
    DOCUMENT.write_text(text)
    page.main(["types"])
    TYPES.write_text(f"{stamp(text)}\n{TYPES.read_text()}")
    DOCUMENT.unlink()


def is_current() -> bool:
    return TYPES.read_text().startswith(stamp(schemas()))


def schemas() -> str:
    with tempfile.TemporaryDirectory() as home:
        document = create_app(Settings(home=Path(home))).openapi()
    kept = {name: _without_words(schema) for name, schema in document["components"]["schemas"].items()}
    info = {"title": "Answerable", "version": "1"}
    whole = {"openapi": "3.1.0", "info": info, "paths": {}, "components": {"schemas": kept}}
    return json.dumps(whole, sort_keys=True)


def stamp(text: str) -> str:
    fingerprint = hashlib.sha256(text.encode()).hexdigest()[:16]
    return f"// Made by `make page-types` from schemas with the fingerprint {fingerprint}"


def _without_words(schema: Any) -> Any:
    """Names of fields may be such words too; those stand under `properties`."""
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
