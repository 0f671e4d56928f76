"""The OpenAPI document is true: whatever schemathesis makes of it, the server keeps its word."""

from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, settings
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

schema = schemathesis.pytest.from_fixture("openapi")


@pytest.fixture(scope="package")
def openapi(server: Any) -> Any:
    return schemathesis.openapi.from_url(f"{server.url}/openapi.json")


@schema.parametrize()
@settings(
    max_examples=15,
    deadline=None,
    derandomize=True,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
def test_every_route_keeps_its_word(case: Any) -> None:
    case.call_and_validate(
        checks=[
            schemathesis.checks.not_a_server_error,
            status_code_conformance,
            content_type_conformance,
            response_schema_conformance,
            response_headers_conformance,
        ],
        timeout=30,
    )
