"""The OpenAPI document is true: whatever schemathesis makes of it, the server keeps its word."""

from pathlib import Path
from typing import Any

import httpx
import schemathesis
from hypothesis import HealthCheck, Phase, settings
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from answerable.gateway.app import create_app
from answerable.settings import Settings

DOCUMENT = create_app(Settings(home=Path("unused"))).openapi()
schema = schemathesis.openapi.from_dict(DOCUMENT)


def test_the_server_tells_this_document(server: Any) -> None:
    assert httpx.get(f"{server.url}/openapi.json").json() == DOCUMENT


@schema.parametrize()
@settings(
    max_examples=6,
    deadline=None,
    derandomize=True,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
def test_every_route_keeps_its_word(case: Any, server: Any) -> None:
    case.call_and_validate(
        base_url=server.url,
        checks=[
            schemathesis.checks.not_a_server_error,
            status_code_conformance,
            content_type_conformance,
            response_schema_conformance,
            response_headers_conformance,
        ],
        timeout=30,
    )
