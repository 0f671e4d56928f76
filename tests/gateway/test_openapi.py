"""The OpenAPI document is true: whatever schemathesis makes of it, the server keeps its word."""

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, settings
from schemathesis.core.result import Ok
from served import Server

TAGS = (
    "chat",
    "datasets",
    "evals",
    "identity",
    "operations",
    "rows",
    "runs",
    "semantic",
    "setup",
    "sources",
    "threads",
    "agents",
    "graphs",
    "okta",
)

MOST_OF_A_SCENARIO = 10
"""A wrong type in a field, for example. Of a body with many fields, hundreds are made."""
EFFORT = settings(
    max_examples=4,
    deadline=None,
    derandomize=True,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One of its own: what is tried here changes settings that other tests rely on."""
    folder = tmp_path_factory.mktemp("small")
    (folder / "people.csv").write_text("id,name\n1,Ana\n2,Bo\n")
    started = Server(home=tmp_path_factory.mktemp("openapi"), folder=folder).start()
    yield started
    started.kill()


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    """Not at the top: every process of a test run collects this file, and one or two run its tests."""
    from answerable.gateway.app import create_app
    from answerable.settings import Settings

    return create_app(Settings(home=Path("unused"))).openapi()


@pytest.fixture(params=TAGS)
def routes(request: pytest.FixtureRequest, document: dict[str, Any]) -> Any:
    paths = {path: _tagged(methods, request.param) for path, methods in document["paths"].items()}
    return schemathesis.openapi.from_dict({**document, "paths": {path: kept for path, kept in paths.items() if kept}})


def _tagged(methods: dict[str, Any], tag: str) -> dict[str, Any]:
    return {method: told for method, told in methods.items() if tag in told["tags"]}


def test_the_server_tells_this_document(document: dict[str, Any], server: Any) -> None:
    assert httpx.get(f"{server.url}/openapi.json", timeout=30).json() == document


def test_every_route_has_a_tag_that_is_tried_here(document: dict[str, Any]) -> None:
    told = [operation["tags"] for methods in document["paths"].values() for operation in methods.values()]
    assert {len(tags) for tags in told} == {1}
    assert {tag for tags in told for tag in tags} == set(TAGS)


def test_a_body_that_is_no_json_is_a_documented_error(document: dict[str, Any]) -> None:
    operations = [(path, each) for path, methods in document["paths"].items() for each in methods.values()]
    takes_json = [
        each for each in operations if "application/json" in each[1].get("requestBody", {}).get("content", ())
    ]
    assert takes_json
    assert [path for path, operation in takes_json if "400" not in operation["responses"]] == []


def test_every_route_keeps_its_word(routes: Any, server: Any) -> None:
    from schemathesis.pytest.lazy import get_all_tests
    from schemathesis.specs.openapi.checks import (
        content_type_conformance,
        response_headers_conformance,
        response_schema_conformance,
        status_code_conformance,
    )

    checks = [
        schemathesis.checks.not_a_server_error,
        status_code_conformance,
        content_type_conformance,
        response_schema_conformance,
        response_headers_conformance,
    ]

    def keeps_its_word(case: Any) -> None:
        case.call_and_validate(base_url=server.url, checks=checks, timeout=30)

    for made in get_all_tests(schema=routes, test_func=keeps_its_word, settings=EFFORT, given_kwargs=None):
        assert isinstance(made, Ok)
        _operation, test = made.ok()
        test.hypothesis_explicit_examples = _thinned(test.hypothesis_explicit_examples)  # type: ignore[attr-defined]
        test()


def _thinned(examples: Sequence[Any]) -> list[Any]:
    """At most so many of each scenario, spread evenly over those that were made."""
    from schemathesis.generation.meta import coverage_scenario

    scenarios = defaultdict(list)
    for example in examples:
        scenarios[coverage_scenario(example.kwargs["case"])].append(example)
    return [each for made in scenarios.values() for each in made[:: math.ceil(len(made) / MOST_OF_A_SCENARIO)]]
