"""An OpenAPI 3 document as plain data. Nothing is fetched: a reference leads within the document or nowhere."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias
from urllib.parse import unquote

import orjson

from answerable.core.errors import LimitError, UserError
from answerable.core.yaml_text import YamlRules, read

LARGEST = 30_000_000
_MOST_HOPS = 20
"""Of references that lead to references."""
_HINT = "Give an OpenAPI 3 document, as JSON or YAML."

JsonObject: TypeAlias = Mapping[str, Any]


class DocumentError(UserError):
    code = "openapi_invalid"


class UnusablePart(Exception):
    """A part of the document that cannot be used, with the reason as its text. The rest of the document can."""


@dataclass(frozen=True, slots=True)
class OpenApiDocument:
    root: JsonObject

    @property
    def title(self) -> str:
        info = self.root.get("info")
        title = info.get("title") if isinstance(info, dict) else None
        return title.strip()[:200] if isinstance(title, str) and title.strip() else "API"

    @property
    def servers(self) -> tuple[str, ...]:
        """Addresses that the document names. They are shown and never asked: the operator says where the API is."""
        servers = self.root.get("servers")
        listed = servers if isinstance(servers, list) else []
        named = [server.get("url") for server in listed if isinstance(server, dict)]
        return tuple(url[:300] for url in named if isinstance(url, str) and "://" in url)

    def part(self, node: Any) -> JsonObject:
        """The object itself, or what its reference leads to. Raises `UnusablePart`."""
        for _ in range(_MOST_HOPS):
            if not isinstance(node, dict):
                raise UnusablePart("an object was expected")
            reference = node.get("$ref")
            if reference is None:
                return node
            node = self._target(reference)
        raise UnusablePart("its references lead in a circle")

    def _target(self, reference: Any) -> Any:
        if not isinstance(reference, str):
            raise UnusablePart("a reference is not text")
        if not reference.startswith("#/"):
            raise UnusablePart(f"the reference {reference[:100]!r} leads out of the document, where nothing is read")
        node: Any = self.root
        for part in reference[2:].split("/"):
            name = unquote(part).replace("~1", "/").replace("~0", "~")
            if isinstance(node, list) and name.isdecimal() and int(name) < len(node):
                node = node[int(name)]
            elif isinstance(node, dict) and name in node:
                node = node[name]
            else:
                raise UnusablePart(f"the reference {reference[:100]!r} leads to nothing")
        return node


def read_document(content: bytes, origin: str) -> OpenApiDocument:
    """`origin` names the document in errors. Raises `DocumentError` for one that cannot be used at all."""
    if len(content) > LARGEST:
        raise LimitError(
            f"{origin} is larger than {LARGEST // 1_000_000} MB.",
            code="openapi_too_large",
            hint="Take out of the document what is not asked.",
        )
    root = _parsed(content, origin)
    if not isinstance(root, dict):
        raise DocumentError(f"{origin} is not an OpenAPI document: it holds no object.", hint=_HINT)
    _check_version(root, origin)
    if not isinstance(root.get("paths"), dict) or not root["paths"]:
        raise DocumentError(f"{origin} names no paths.", hint=_HINT)
    return OpenApiDocument(root)


def _parsed(content: bytes, origin: str) -> Any:
    if content.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{"):
        try:
            return orjson.loads(content.removeprefix(b"\xef\xbb\xbf"))
        except orjson.JSONDecodeError as error:
            raise DocumentError(
                f"{origin}, line {error.lineno}, column {error.colno}: not valid JSON: {error.msg}", hint=_HINT
            ) from None
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise DocumentError(f"{origin} is not text in UTF-8.", hint=_HINT) from None
    rules = YamlRules(refusal=DocumentError, typed=True, fast=True, deepest=60, largest=LARGEST)
    return read(text, origin, rules)[0]


def _check_version(root: JsonObject, origin: str) -> None:
    version = str(root.get("openapi", ""))
    if version.startswith("3."):
        return
    if "swagger" in root:
        raise DocumentError(
            f"{origin} is of version {str(root['swagger'])[:20]}, which is not read.",
            code="openapi_version",
            hint="Convert it to OpenAPI 3, for example with swagger2openapi.",
        )
    if version:
        raise DocumentError(
            f"{origin} is of version {version[:20]}, which is not read.", code="openapi_version", hint=_HINT
        )
    raise DocumentError(f"{origin} is not an OpenAPI document: it has no field `openapi`.", hint=_HINT)
