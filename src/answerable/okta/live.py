"""The live API of a tenant as a source: which of Okta's endpoints become tables."""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from answerable.apis.openapi.document import read_document
from answerable.apis.openapi.endpoints import EndpointCatalog, endpoint_catalog
from answerable.core.errors import UserError

DOCUMENT = Path(__file__).parent / "api_document" / "okta.openapi.json"
"""Made by `scripts/okta_document.py` from the public specification. A `semantic.yaml` beside it would be taken for
its names."""
USUAL = ("users", "groups", "group_rules", "apps", "devices", "logs", "factors", "zones", "authorization_servers")
"""What is asked as of now most often. Each table costs calls when the source is first read."""
SECRET_HEADER = "Authorization: SSWS"  # noqa: S105 - the name of a header


@lru_cache(maxsize=1)
def endpoints() -> EndpointCatalog:
    """Every GET endpoint of Okta's API."""
    return endpoint_catalog(read_document(DOCUMENT.read_bytes(), "Okta"), "Okta")


def checked_entities(wanted: Sequence[str]) -> tuple[str, ...]:
    """Raises `UserError` for an entity that Okta's API does not have."""
    known = {endpoint.entity for endpoint in endpoints().endpoints}
    unknown = [entity for entity in wanted if entity not in known]
    if unknown:
        raise UserError(
            f"Okta's API has no entity {unknown[0]!r}.",
            code="okta_entity_unknown",
            hint="`answerable okta endpoints` lists them.",
        )
    return tuple(wanted) or USUAL
