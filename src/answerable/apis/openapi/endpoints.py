"""The endpoints of an API that can be asked: for each its entity, operation, path, parameters, paging and response."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Literal, TypeAlias

from answerable.apis.openapi.document import DocumentError, JsonObject, OpenApiDocument, UnusablePart
from answerable.apis.openapi.entities import entity_name, qualified_name, resource_of
from answerable.apis.openapi.page_rules import PageRules, page_rules
from answerable.apis.openapi.shape import ResponseShape, ShapeColumn, response_shape
from answerable.apis.paths import PathTemplate
from answerable.core.catalog import Warning
from answerable.core.values import Frozen
from answerable.core.words import stem, words

Operation: TypeAlias = Literal["list", "get"]

MOST_ENDPOINTS = 5_000
_CHANGING = ("post", "put", "patch", "delete")
_NAMES_IN_PATH = re.compile(r"\{([^{}]*)\}")


class Parameter(Frozen):
    name: str
    place: Literal["path", "query"]
    required: bool
    type: str
    """`string`, `integer`, … as the document says; empty if it does not."""
    values: tuple[str, ...] = ()
    """All that it may be, if the document lists them."""
    description: str | None = None


class Parent(Frozen):
    """A path parameter that is an id of another entity: `/users/{userId}/groups` needs an id of `users`."""

    parameter: str
    entity: str
    column: str
    """Of the other entity, the column that holds the id."""


class ApiEndpoint(Frozen):
    entity: str
    """What its rows are, in the plural: `users`. The name of the table."""
    operation: Operation
    path: str
    method: Literal["GET"] = "GET"
    parameters: tuple[Parameter, ...] = ()
    parent: Parent | None = None
    pages: PageRules
    columns: tuple[ShapeColumn, ...] = ()
    """Empty if the document does not tell them; then the rows do."""
    summary: str | None = None

    @property
    def needs(self) -> tuple[str, ...]:
        """The parameters without which it cannot be asked."""
        return tuple(parameter.name for parameter in self.parameters if parameter.required)

    def query_parameter(self, name: str) -> Parameter | None:
        return next((p for p in self.parameters if p.place == "query" and p.name == name), None)


class CredentialPlace(Frozen):
    """Where an API expects the credential."""

    kind: Literal["header", "query"]
    name: str
    prefix: str = ""
    """The word before the secret, such as `Bearer`."""


class EndpointCatalog(Frozen):
    title: str
    servers: tuple[str, ...]
    """Addresses that the document names. Nothing is sent to them unless the operator names one too."""
    endpoints: tuple[ApiEndpoint, ...]
    warnings: tuple[Warning, ...] = ()
    credential: CredentialPlace | None = None
    """Where the document says that the credential goes; None if it does not say."""
    changing: int = 0
    """How many operations other than GET the document has. They are never called."""

    @cached_property
    def entities(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(endpoint.entity for endpoint in self.endpoints))

    def find(self, entity: str, operation: Operation | None = None) -> tuple[ApiEndpoint, ...]:
        """The endpoints of an entity, exactly."""
        return tuple(e for e in self.endpoints if e.entity == entity and operation in (None, e.operation))

    def narrowed(self, text: str, operation: Operation | None = None, most: int = 5) -> tuple[ApiEndpoint, ...]:
        """Returns at most `most` endpoints for an entity. If no entity is called `text`, those whose names, paths and
        summaries share the most words with it; empty if none shares any."""
        exact = self.find(text, operation) or self.find(text)
        if exact:
            return exact[:most]
        wanted = set(map(stem, words(text)))
        scored = [(_likeness(wanted, endpoint, operation), endpoint) for endpoint in self.endpoints]
        best = sorted((pair for pair in scored if pair[0] > 0), key=lambda pair: -pair[0])
        return tuple(endpoint for _score, endpoint in best[:most])


def _likeness(wanted: set[str], endpoint: ApiEndpoint, operation: Operation | None) -> float:
    named = set(map(stem, words(endpoint.entity.replace("_", " "))))
    said = set(map(stem, words(f"{endpoint.path} {endpoint.summary or ''}")))
    shared = 2 * len(wanted & named) + len(wanted & said)
    return shared and shared + (operation == endpoint.operation) - 0.1 * len(named - wanted)


def endpoint_catalog(document: OpenApiDocument, origin: str) -> EndpointCatalog:
    """Raises `DocumentError` if no endpoint can be asked. One that cannot be used is left out, with a warning."""
    found: list[tuple[ApiEndpoint, str]] = []
    warnings: list[Warning] = []
    changing = 0
    for path, item in document.root["paths"].items():
        try:
            part = document.part(item)
            changing += sum(word in part for word in _CHANGING)
            if "get" in part and len(found) < MOST_ENDPOINTS:
                found.append((_endpoint(document, path, part), resource_of(path)))
        except (UnusablePart, ValueError) as problem:
            warnings.append(Warning(subject=f"GET {str(path)[:200]}", message=f"is left out: {problem}."))
    if not found:
        reason = f" {warnings[0].subject} {warnings[0].message}" if warnings else ""
        raise DocumentError(f"{origin} has no GET endpoint that can be asked.{reason}", code="openapi_no_endpoints")
    endpoints = _with_parents(_unambiguous(found))
    return EndpointCatalog(
        title=document.title,
        servers=document.servers,
        endpoints=tuple(endpoints),
        warnings=tuple(warnings),
        credential=next(credential_places(document), None),
        changing=changing,
    )


def _endpoint(document: OpenApiDocument, path: Any, item: JsonObject) -> ApiEndpoint:
    if not isinstance(path, str) or "//" in path:
        raise UnusablePart("its path cannot be asked")
    PathTemplate(path)
    operation = document.part(item["get"])
    of_one = path.rstrip("/").endswith("}")
    shape = response_shape(document, operation, of_one=of_one) or ResponseShape(is_list=not of_one)
    sizes = {p["name"]: p for p in _declared(document, item, operation) if p.get("in") == "query"}
    summary = operation.get("summary") or operation.get("description")
    return ApiEndpoint(
        entity=entity_name(path),
        operation="list" if shape.is_list else "get",
        path=path,
        parameters=tuple(_parameters(document, path, item, operation)),
        pages=page_rules(sizes, _Schemas(document), shape),
        columns=shape.columns,
        summary=" ".join(summary.split())[:300] if isinstance(summary, str) and summary.strip() else None,
    )


class _Schemas:
    """The schema of a parameter, with what it refers to; empty if it has none that can be used."""

    def __init__(self, document: OpenApiDocument) -> None:
        self._document = document

    def __call__(self, parameter: JsonObject) -> JsonObject:
        try:
            return self._document.part(parameter.get("schema", {}))
        except UnusablePart:
            return {}


def _declared(document: OpenApiDocument, item: JsonObject, operation: JsonObject) -> list[JsonObject]:
    """The parameters of the operation; they win over those of the whole path."""
    found: dict[tuple[str, str], JsonObject] = {}
    for part in (item, operation):
        listed = part.get("parameters")
        for each in listed if isinstance(listed, list) else ():
            parameter = document.part(each)
            name, place = parameter.get("name"), parameter.get("in")
            if isinstance(name, str) and isinstance(place, str):
                found[name, place] = parameter
    return list(found.values())


def _parameters(document: OpenApiDocument, path: str, item: JsonObject, operation: JsonObject) -> Iterator[Parameter]:
    schema = _Schemas(document)
    secrets = credential_parameters(document)
    declared = {(p["name"], p["in"]): p for p in _declared(document, item, operation)}
    for name in _NAMES_IN_PATH.findall(path):
        yield _parameter(name, "path", declared.get((name, "path"), {}), schema, required=True)
    for (name, place), each in declared.items():
        if place == "query" and name not in secrets:
            yield _parameter(name, "query", each, schema, required=each.get("required") is True)
        elif place == "header" and each.get("required") is True and name.lower() not in _HOST_HEADERS:
            raise UnusablePart(f"it needs the header {name[:60]!r}, which is not sent")


def credential_places(document: OpenApiDocument) -> Iterator[CredentialPlace]:
    components = document.root.get("components")
    schemes = components.get("securitySchemes") if isinstance(components, dict) else None
    for each in schemes.values() if isinstance(schemes, dict) else ():
        scheme, name = (
            each if isinstance(each, dict) else {},
            str(each.get("name", "")) if isinstance(each, dict) else "",
        )
        if scheme.get("type") == "apiKey" and scheme.get("in") == "query" and name:
            yield CredentialPlace(kind="query", name=name)
        elif scheme.get("type") == "apiKey" and scheme.get("in") == "header" and _CREDENTIAL_HEADER.fullmatch(name):
            yield CredentialPlace(kind="header", name=name)
        elif scheme.get("type") in ("http", "oauth2") and str(scheme.get("scheme", "bearer")).lower() == "bearer":
            yield CredentialPlace(kind="header", name="Authorization", prefix="Bearer")


_CREDENTIAL_HEADER = re.compile(
    r"(?!(?:host|content-.*|accept.*|connection|transfer-.*)$)[a-z0-9-]{1,60}", re.IGNORECASE
)
"""A document may not have the credential sent in place of a header that leads the request."""


def credential_parameters(document: OpenApiDocument) -> frozenset[str]:
    """Query parameters that hold the credential, which only the host sets."""
    keys = {place.name for place in credential_places(document) if place.kind == "query"}
    return frozenset(keys | {"token", "access_token"})


_HOST_HEADERS = ("authorization", "accept", "content-type", "user-agent", "token", "x-api-key")
"""Headers that the host sends by itself, or that hold the credential."""


def _parameter(
    name: str, place: Literal["path", "query"], declared: JsonObject, schema_of: _Schemas, *, required: bool
) -> Parameter:
    schema = schema_of(declared)
    kind, enum, text = schema.get("type"), schema.get("enum"), declared.get("description")
    return Parameter(
        name=name,
        place=place,
        required=required,
        type=kind if isinstance(kind, str) else "",
        values=tuple(map(str, enum[:100])) if isinstance(enum, list) else (),
        description=" ".join(text.split())[:200] if isinstance(text, str) and text.strip() else None,
    )


def _unambiguous(found: Sequence[tuple[ApiEndpoint, str]]) -> list[ApiEndpoint]:
    """Two resources of one name get the names of what they belong to in front: `dcim_interfaces`."""
    resources: dict[str, set[str]] = {}
    for endpoint, resource in found:
        resources.setdefault(endpoint.entity, set()).add(resource)
    renamed = [
        endpoint
        if len(resources[endpoint.entity]) == 1
        else endpoint.model_copy(update={"entity": qualified_name(endpoint.path)})
        for endpoint, _resource in found
    ]
    taken = Counter((e.entity, resource) for e, (_old, resource) in zip(renamed, found, strict=True))
    numbers: dict[str, dict[str, int]] = {}
    for entity, resource in taken:
        numbers.setdefault(entity, {}).setdefault(resource, len(numbers[entity]) + 1)
    return [
        e
        if numbers[e.entity][resource] == 1
        else e.model_copy(update={"entity": f"{e.entity}_{numbers[e.entity][resource]}"})
        for e, (_old, resource) in zip(renamed, found, strict=True)
    ]


def _with_parents(endpoints: Sequence[ApiEndpoint]) -> Iterator[ApiEndpoint]:
    lists = {resource_of(e.path): e for e in endpoints if e.operation == "list" and not _NAMES_IN_PATH.search(e.path)}
    ones = {resource_of(e.path): e for e in endpoints if e.operation == "get"}
    for endpoint in endpoints:
        names = _NAMES_IN_PATH.findall(endpoint.path)
        parent = None
        if len(names) == 1:
            before = endpoint.path.partition("{")[0].rstrip("/")
            owner = lists.get(before)
            if owner is not None:
                known = owner.columns or (ones[before].columns if before in ones else ())
                column = id_column(names[0], owner.entity, known)
                parent = Parent(parameter=names[0], entity=owner.entity, column=column) if column else None
        yield endpoint.model_copy(update={"parent": parent}) if parent else endpoint


def id_column(parameter: str, entity: str, columns: Iterable[ShapeColumn]) -> str | None:
    """The column that holds what a path parameter asks for: `userId`, `user_id`, `idUser` and `id` all ask for `id` of
    users. None if the entity has no such column."""
    names: Mapping[str, str] = {_plain(column.name): column.name for column in columns}
    if not names:
        return "id"
    owner = _plain(entity)
    asked = _plain(parameter)
    singular = owner.removesuffix("s")
    forms = (asked, asked.removeprefix(singular), asked.removesuffix(singular), asked[-3:], asked[-2:], "id")
    return next((names[form] for form in forms if form in names), None)


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.casefold())
