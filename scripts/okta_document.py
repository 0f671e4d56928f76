"""Makes the compact document of Okta's API that comes with the package, from the public specification:
`python scripts/okta_document.py management-minimal.yaml`. It keeps what reads: GET operations, their parameters and the
types of what they return."""

import json
import sys
from pathlib import Path
from typing import Any

import yaml

OUTPUT = Path(__file__).parents[1] / "src" / "answerable" / "okta" / "api_document" / "okta.openapi.json"
DROPPED = frozenset({
    "description", "summary", "example", "examples", "externalDocs", "x-okta-lifecycle", "x-okta-operations", "title",
    "x-codegen-request-body-name", "x-displayName", "x-enumDescriptions", "x-tags", "pattern", "x-okta-iam-permissions",
    "writeOnly", "tags", "deprecated", "minLength", "maxLength", "x-codeSamples", "xml",
})  # fmt: skip


def main() -> None:
    specification = yaml.load(Path(sys.argv[1]).read_bytes(), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    document = compact(specification)
    OUTPUT.write_text(json.dumps(document, separators=(",", ":"), sort_keys=True) + "\n", "utf-8")


def compact(specification: dict[str, Any]) -> dict[str, Any]:
    paths = {path: kept for path, item in specification["paths"].items() if (kept := _reading(item))}
    needed = _references(paths, specification)
    components: dict[str, dict[str, Any]] = {}
    for kind, name in sorted(needed):
        components.setdefault(kind, {})[name] = _bare(specification["components"][kind][name])
    schemes = _bare(specification["components"].get("securitySchemes", {}))
    return {
        "openapi": specification["openapi"],
        "info": {"title": "Okta", "version": specification["info"]["version"]},
        "paths": paths,
        "components": components | {"securitySchemes": schemes},
    }


def _reading(item: dict[str, Any]) -> dict[str, Any]:
    if "get" not in item:
        return {}
    operation = item["get"]
    kept = {name: operation[name] for name in ("operationId", "parameters", "security") if name in operation}
    kept["responses"] = {code: reply for code, reply in operation["responses"].items() if str(code).startswith("2")}
    shared = {"parameters": item["parameters"]} if "parameters" in item else {}
    bare: dict[str, Any] = _bare(shared | {"get": kept})
    return bare


def _bare(part: Any, names: bool = False) -> Any:
    """`names`: the keys are names that somebody chose, such as those of properties."""
    if isinstance(part, list):
        return [_bare(each) for each in part]
    if not isinstance(part, dict):
        return part
    kept = {key: value for key, value in part.items() if names or (key not in DROPPED)}
    return {key: _bare(value, names=not names and key == "properties") for key, value in kept.items()}


def _references(part: Any, specification: dict[str, Any]) -> set[tuple[str, str]]:
    found: set[tuple[str, str]] = set()
    waiting = [part]
    while waiting:
        each = waiting.pop()
        if isinstance(each, list):
            waiting.extend(each)
        elif isinstance(each, dict):
            for reference in (each.get("$ref"), *_subtypes(each)):
                if isinstance(reference, str) and reference.startswith("#/components/"):
                    kind, name = reference.split("/")[2:4]
                    if (kind, name) not in found:
                        found.add((kind, name))
                        waiting.append(_bare(specification["components"][kind][name]))
            waiting.extend(each.values())
    return found


def _subtypes(part: dict[str, Any]) -> list[Any]:
    discriminator = part.get("discriminator")
    mapping = discriminator.get("mapping") if isinstance(discriminator, dict) else None
    return list(mapping.values()) if isinstance(mapping, dict) else []


if __name__ == "__main__":
    main()
