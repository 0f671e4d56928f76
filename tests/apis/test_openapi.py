"""OpenAPI documents: what is read from them, and what hostile or wrong ones get."""

import json
from pathlib import Path
from typing import Any

import pytest

from answerable.apis.openapi.document import LARGEST, OpenApiDocument, UnusablePart, read_document
from answerable.apis.openapi.endpoints import EndpointCatalog, endpoint_catalog
from answerable.apis.openapi.shape import cell, columns_of_rows, documented_example
from answerable.apis.paging import field_of
from answerable.apis.paths import PathTemplate
from answerable.apis.target import BodyLinkPages, CursorPages, LinkPages, NumberedPages, OffsetPages
from answerable.core.errors import AnswerableError

HERE = Path(__file__).parent / "documents"
PUBLIC = Path(__file__).parents[3] / "shared" / "data" / "openapi"
DOCUMENTS = [*sorted(HERE.glob("*")), *sorted(PUBLIC.glob("*.json"))]


def read(content: bytes | dict[str, Any], origin: str = "api.json") -> EndpointCatalog:
    text = content if isinstance(content, bytes) else json.dumps(content).encode()
    return endpoint_catalog(read_document(text, origin), origin)


def of_paths(paths: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"openapi": "3.0.0", "paths": paths, **more}


def returning(schema: Any) -> dict[str, Any]:
    return {"get": {"responses": {"200": {"content": {"application/json": {"schema": schema}}}}}}


@pytest.fixture(scope="module")
def shop() -> EndpointCatalog:
    return read((HERE / "shop.yaml").read_bytes(), "shop.yaml")


# Every document that is at hand


@pytest.mark.skipif(not PUBLIC.is_dir(), reason="the public OpenAPI documents are not beside this folder")
def test_the_public_documents_are_at_hand() -> None:
    assert len(DOCUMENTS) > len(list(HERE.glob("*")))


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_every_document_gives_a_catalog_in_which_every_get_is_told_or_left_out_with_a_reason(path: Path) -> None:
    document = read_document(path.read_bytes(), path.name)
    catalog = endpoint_catalog(document, path.name)
    gets = sum("get" in item for item in document.root["paths"].values())
    assert len(catalog.endpoints) + len(catalog.warnings) == gets
    resources: dict[str, str] = {}
    for endpoint in catalog.endpoints:
        PathTemplate(endpoint.path)
        assert endpoint.entity.replace("_", "").isalnum()
        names = [column.name.casefold() for column in endpoint.columns]
        assert len(set(names)) == len(names)
        assert (endpoint.pages.size is None) == (endpoint.pages.size_parameter is None)
        assert endpoint.parent is None or catalog.find(endpoint.parent.entity, "list")
        # One entity is one collection: rows of two are never taken for the same.
        collection = endpoint.path.rstrip("/")
        collection = collection.rpartition("/")[0] if collection.endswith("}") else collection
        assert resources.setdefault(endpoint.entity, collection.rstrip("/")) == collection.rstrip("/")
        assert catalog.narrowed(endpoint.entity, endpoint.operation)[0].entity == endpoint.entity
        assert 1 <= len(catalog.narrowed(f"show me {endpoint.entity.replace('_', ' ')}")) <= 5


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_the_examples_of_every_document_have_rows_where_its_catalog_says(path: Path) -> None:
    document = read_document(path.read_bytes(), path.name)
    for endpoint in endpoint_catalog(document, path.name).endpoints:
        example = _example(document, endpoint.path)
        rows = field_of(example, endpoint.pages.pages.items)
        if not isinstance(rows, list) or not rows or endpoint.operation == "get":
            continue
        known = [column for column in endpoint.columns if any(cell(row, column.path) is not None for row in rows)]
        assert known, endpoint.path
        assert columns_of_rows(rows)


def _example(document: OpenApiDocument, path: str) -> Any:
    try:
        return documented_example(document, document.part(document.part(document.root["paths"][path])["get"]))
    except UnusablePart:
        return None


# What is read


def test_entities_and_operations_are_told_by_paths_and_shapes(shop: EndpointCatalog) -> None:
    assert [(e.entity, e.operation, e.path) for e in shop.endpoints] == [
        ("customers", "list", "/v1/customers"),
        ("customers", "get", "/v1/customers/{customerId}"),
        ("notes", "list", "/v1/customers/{customerId}/notes"),
        ("orders", "list", "/v1/orders"),
        ("stock", "list", "/v1/stock"),
    ]
    assert shop.changing == 2
    assert shop.servers == ("https://shop.example.com/api",)


def test_pages_are_asked_for_as_the_document_says(shop: EndpointCatalog) -> None:
    rules = {endpoint.entity: endpoint.pages for endpoint in shop.endpoints if endpoint.operation == "list"}
    assert rules["customers"].pages == CursorPages(field="next_cursor", parameter="after", items="data")
    assert (rules["customers"].size_parameter, rules["customers"].size) == ("limit", 50)
    assert rules["orders"].pages == NumberedPages(parameter="page", start=1)
    assert rules["orders"].size == 200
    assert rules["stock"].pages == OffsetPages(parameter="offset")
    assert rules["stock"].size == 100
    assert rules["notes"].pages == LinkPages()
    assert rules["notes"].size is None


def test_an_address_of_the_next_page_in_the_body_is_told() -> None:
    page = {"type": "object", "properties": {"next": {"type": "string"}, "results": {"type": "array", "items": {}}}}
    (endpoint,) = read(of_paths({"/sites/": returning(page)})).endpoints
    assert endpoint.pages.pages == BodyLinkPages(field="next", items="results")


def test_columns_come_from_the_response_and_objects_are_flattened(shop: EndpointCatalog) -> None:
    customers, orders = shop.find("customers", "list")[0], shop.find("orders")[0]
    assert [(column.name, column.type) for column in customers.columns] == [
        ("id", "text"),
        ("name", "text"),
        ("city", "text"),
        ("status", "text"),
        ("since", "date"),
        ("contact_email", "text"),
    ]
    assert next(column for column in customers.columns if column.name == "status").values == ("active", "closed")
    assert {column.name: column.type for column in orders.columns} == {
        "id": "integer",
        "customer_id": "text",
        "total": "number",
        "placed_at": "datetime",
        "lines": "json",
    }


def test_an_id_in_a_path_belongs_to_the_list_that_has_it(shop: EndpointCatalog) -> None:
    notes = shop.find("notes")[0]
    assert notes.parent is not None
    assert (notes.parent.parameter, notes.parent.entity, notes.parent.column) == ("customerId", "customers", "id")
    assert notes.needs == ("customerId",)


def test_the_credential_is_no_parameter(shop: EndpointCatalog) -> None:
    assert shop.find("customers", "list")[0].query_parameter("api_key") is None
    assert shop.find("customers", "list")[0].needs == ()


def test_two_collections_of_one_name_get_different_names() -> None:
    rows = returning({"type": "array", "items": {"type": "object", "properties": {"id": {"type": "integer"}}}})
    catalog = read(of_paths({"/dcim/interfaces": rows, "/vm/interfaces": rows, "/vm/interfaces/{id}": rows}))
    assert [e.entity for e in catalog.endpoints] == ["dcim_interfaces", "vm_interfaces", "vm_interfaces"]
    catalog = read(of_paths({"/groups": rows, "/users/{id}/groups": rows, "/v1/users": rows}))
    assert [e.entity for e in catalog.endpoints] == ["groups", "user_groups", "users"]


# Documents that are wrong, huge, circular or hostile


@pytest.mark.parametrize(
    ("content", "code", "says"),
    [
        (b"", "openapi_invalid", "no field `openapi`"),
        (b"{", "openapi_invalid", "line 1"),
        (b"[]", "openapi_invalid", "not an OpenAPI document"),
        (b'{"a": 1}', "openapi_invalid", "no field `openapi`"),
        (b"\xff\xfe\x00", "openapi_invalid", "UTF-8"),
        (b"openapi: 3.0.0\npaths: &a {x: *a}", "openapi_invalid", "anchors"),
        (b"openapi: !!python/object:os.system 3.0.0", "openapi_invalid", "tags"),
        (b'{"swagger": "2.0", "paths": {}}', "openapi_version", "2.0"),
        (b'{"openapi": "4.0.0", "paths": {}}', "openapi_version", "4.0.0"),
        (b'{"openapi": "3.0.0"}', "openapi_invalid", "no paths"),
        (b'{"openapi": "3.0.0", "paths": {"/a": {"post": {}}}}', "openapi_no_endpoints", "no GET endpoint"),
        (b'{"openapi": "3.0.0", "paths": {"/a": 1}}', "openapi_no_endpoints", "an object was expected"),
        (b"[" * 5_000, "openapi_invalid", ""),
        (b"{" + b'"a":{' * 5_000, "openapi_invalid", "JSON"),
        (b" " * (LARGEST + 1), "openapi_too_large", "30 MB"),
    ],
    ids=lambda value: repr(value)[:30],
)
def test_a_document_that_cannot_be_used_is_refused_with_its_reason(content: bytes, code: str, says: str) -> None:
    with pytest.raises(AnswerableError) as caught:
        read(content, "odd.json")
    assert caught.value.stable_code == code
    assert says in caught.value.message
    assert "odd.json" in caught.value.message


HOSTILE: dict[str, Any] = {
    "elsewhere": {"$ref": "https://evil.example/steal.json"},
    "file": {"$ref": "file:///etc/passwd"},
    "beside": {"$ref": "other.yaml#/paths/~1users"},
    "nowhere": {"$ref": "#/components/nothing"},
    "itself": {"$ref": "#/paths/~1itself"},
    "text": "not an object",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_reference_that_leads_elsewhere_is_not_followed_and_said(name: str) -> None:
    catalog = read(of_paths({f"/{name}": HOSTILE[name], "/good": {"get": {}}}))
    assert [endpoint.path for endpoint in catalog.endpoints] == ["/good"]
    if name != "text":
        (warning,) = catalog.warnings
        assert warning.subject == f"GET /{name}"
        leads_out = name in ("elsewhere", "file", "beside")
        assert ("leads out of the document" in warning.message) is leads_out


@pytest.mark.parametrize(
    "path", ["/../admin", "/a/./b", "//evil.example/x", "https://evil.example/x", "/a?b=c", "/a%2f"]
)
def test_a_path_that_could_mean_another_place_is_left_out(path: str) -> None:
    catalog = read(of_paths({path: {"get": {}}, "/good": {"get": {}}}))
    assert [endpoint.path for endpoint in catalog.endpoints] == ["/good"]
    assert len(catalog.warnings) == 1


def test_circular_shapes_end() -> None:
    node = {
        "type": "object",
        "properties": {"id": {"type": "string"}, "parent": {"$ref": "#/components/schemas/Node"}},
        "allOf": [{"$ref": "#/components/schemas/Node"}, {"$ref": "#/components/schemas/Node"}],
    }
    listed = returning({"type": "array", "items": {"$ref": "#/components/schemas/Node"}})
    catalog = read(of_paths({"/nodes": listed}, components={"schemas": {"Node": node}}))
    assert [column.name for column in catalog.endpoints[0].columns][:2] == ["id", "parent_id"]


def test_fields_of_the_kinds_that_a_discriminator_names_are_columns() -> None:
    mapping = {"cat": "#/components/schemas/Cat", "dog": "Dog", "bird": "other.json#/Bird"}
    pet = {
        "type": "object",
        "properties": {"id": {"type": "string"}, "kind": {"type": "string"}},
        "discriminator": {"propertyName": "kind", "mapping": mapping},
    }
    base = {"$ref": "#/components/schemas/Pet"}
    cat = {"allOf": [base, {"type": "object", "properties": {"lives": {"type": "integer"}}}]}
    dog = {"allOf": [base, {"type": "object", "properties": {"tricks": {"type": "string"}}}]}
    listed = returning({"type": "array", "items": base})
    (endpoint,) = read(
        of_paths({"/pets": listed}, components={"schemas": {"Pet": pet, "Cat": cat, "Dog": dog}})
    ).endpoints
    assert [column.name for column in endpoint.columns] == ["id", "kind", "lives", "tricks"]


def test_a_value_that_may_be_null_keeps_its_type() -> None:
    since = {"anyOf": [{"type": "string", "format": "date-time"}, {"type": "null"}]}
    kind = {"oneOf": [{"$ref": "#/components/schemas/Kind"}, {"type": "null"}]}
    listed = returning({"type": "array", "items": {"type": "object", "properties": {"since": since, "kind": kind}}})
    schemas = {"Kind": {"type": "string", "enum": ["a", "b"]}}
    document = of_paths({"/things": listed}, components={"schemas": schemas}) | {"openapi": "3.1.0"}
    (endpoint,) = read(document).endpoints
    assert [(column.type, column.values) for column in endpoint.columns] == [("datetime", ()), ("text", ("a", "b"))]


def test_a_shape_that_multiplies_is_cut() -> None:
    schemas = {
        f"S{n}": {
            "allOf": [{"$ref": f"#/components/schemas/S{n + 1}"}] * 10,
            "properties": {f"p{n}": {"type": "string"}},
        }
        for n in range(15)
    }
    schemas["S15"] = {"type": "object", "properties": {"last": {"type": "string"}}}
    listed = returning({"type": "array", "items": {"$ref": "#/components/schemas/S0"}})
    (endpoint,) = read(of_paths({"/many": listed}, components={"schemas": schemas})).endpoints
    assert "p0" in [column.name for column in endpoint.columns]


def test_an_endpoint_with_thousands_of_fields_keeps_the_first() -> None:
    properties = {f"c{n}": {"type": "string"} for n in range(5_000)}
    listed = returning({"type": "array", "items": {"type": "object", "properties": properties}})
    assert len(read(of_paths({"/wide": listed})).endpoints[0].columns) == 200


def test_words_lead_to_endpoints_where_no_entity_is_called_so(shop: EndpointCatalog) -> None:
    assert {endpoint.entity for endpoint in shop.narrowed("what was noted about a customer")} == {"notes", "customers"}
    assert shop.narrowed("single customer", "get")[0].path == "/v1/customers/{customerId}"
    assert shop.narrowed("quasars") == ()
