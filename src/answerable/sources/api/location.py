"""Where an API is and how it is asked, as one location: `api+https://host/base?document=/path/openapi.yaml&…`.

The operator names the address. What the document says about servers is not followed, and the credential is named by the
environment variable that holds it, so that a location has nothing secret in it.
"""

import os
import re
from pathlib import Path
from urllib.parse import parse_qsl, urlencode, urlsplit

from pydantic import ValidationError

from answerable.apis.openapi.endpoints import CredentialPlace, EndpointCatalog
from answerable.apis.target import ApiBudget, ApiTarget, Rate
from answerable.core.errors import OperatorError, UserError
from answerable.core.validation import first_problem
from answerable.core.values import Frozen, Json

_EXAMPLE = "api+https://api.example.com/v1?document=/path/to/openapi.yaml&secret_env=API_TOKEN"
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_HEADER = re.compile(r"([A-Za-z0-9-]+)(?::\s*(\S+))?")
_BEARER = CredentialPlace(kind="header", name="Authorization", prefix="Bearer")


class ApiLocation(Frozen):
    url: str
    """Where the paths of the document begin."""
    document: str
    """The path of the OpenAPI document."""
    secret_env: str | None = None
    """The environment variable that holds the credential."""
    secret_header: str | None = None
    """The header that carries it, if not as the document says: `X-Api-Key`, or `Authorization: SSWS` with a word."""
    entities: tuple[str, ...] = ()
    """The entities that are tables; empty for all."""

    @property
    def text(self) -> str:
        parts = {
            "document": self.document,
            "secret_env": self.secret_env,
            "secret_header": self.secret_header,
            "entities": ",".join(self.entities),
        }
        return f"api+{self.url}?{urlencode({name: value for name, value in parts.items() if value})}"

    def target(self, catalog: EndpointCatalog) -> ApiTarget:
        """The API with its credential. Only paths of the document may be asked for, and only with GET."""
        fields: dict[str, Json] = {
            "url": self.url,
            "paths": tuple(dict.fromkeys(endpoint.path for endpoint in catalog.endpoints)),
            "rate": Rate(per_second=50.0, burst=50),
            "budget": ApiBudget(calls=1_000, bytes=200_000_000),
            "credential": self._credential(catalog.credential or _BEARER),
        }
        try:
            return ApiTarget.model_validate(fields)
        except ValidationError as error:
            raise _invalid(f"The address of the API is wrong: {first_problem(error).at('it')}") from None

    def _credential(self, place: CredentialPlace) -> Json:
        if self.secret_env is None:
            return None
        secret = os.environ.get(self.secret_env, "")
        if not secret:
            raise OperatorError(
                f"The environment variable {self.secret_env} is not set; it holds the credential of the API.",
                code="api_secret_missing",
                hint="Set it for the process that runs Answerable.",
            )
        if self.secret_header is not None:
            found = _HEADER.fullmatch(self.secret_header)
            assert found is not None
            place = CredentialPlace(kind="header", name=found[1], prefix=found[2] or "")
        return {"kind": place.kind, "name": place.name, "value": f"{place.prefix} {secret}".strip()}


def api_location(
    document: str,
    base_url: str,
    *,
    secret_env: str | None = None,
    secret_header: str | None = None,
    entities: tuple[str, ...] = (),
) -> ApiLocation:
    """A location from its parts. Raises `UserError`."""
    parts = urlsplit(base_url)
    if parts.scheme not in ("https", "http") or not parts.hostname or parts.query or parts.fragment or parts.username:
        raise _invalid("The base URL must be an address such as https://api.example.com/v1")
    if secret_env is not None and not _VARIABLE.fullmatch(secret_env):
        raise _invalid(f"{secret_env[:60]!r} is not the name of an environment variable")
    if secret_header is not None and not _HEADER.fullmatch(secret_header):
        raise _invalid(f"{secret_header[:60]!r} is not a header such as `X-Api-Key` or `Authorization: Bearer`")
    return ApiLocation(
        url=base_url.rstrip("/"),
        document=str(Path(document).expanduser().absolute()),
        secret_env=secret_env,
        secret_header=secret_header,
        entities=entities,
    )


def parsed(location: str) -> ApiLocation:
    address, _mark, query = location.removeprefix("api+").partition("?")
    options = dict(parse_qsl(query, keep_blank_values=True))
    unknown = options.keys() - {"document", "secret_env", "secret_header", "entities"}
    if unknown:
        raise _invalid(f"{sorted(unknown)[0][:60]!r} is no option of an API")
    if not options.get("document"):
        raise _invalid("The location of an API must name its OpenAPI document")
    return api_location(
        options["document"],
        address,
        secret_env=options.get("secret_env"),
        secret_header=options.get("secret_header"),
        entities=tuple(name for name in options.get("entities", "").split(",") if name),
    )


def _invalid(problem: str) -> UserError:
    return UserError(f"{problem}.", code="api_location_invalid", hint=f"Write it as {_EXAMPLE}.")
