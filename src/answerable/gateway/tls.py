"""TLS of the server itself, and services that prove who they are by a certificate: `tls` in settings.yaml."""

import ssl
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError, model_validator

from answerable.core.errors import OperatorError
from answerable.core.validation import first_problem
from answerable.core.values import Frozen

NAMES_IN_STATE = "certificate_names"
"""Where a connection puts the names of its client's certificate. No header can set it."""


class TlsRules(Frozen):
    certificate: Path
    """The server's own, with those in between, as PEM."""
    key: Path
    client_authorities: Path | None = None
    """Who may sign certificates of services, as PEM."""
    services: Mapping[str, str] = Field(default_factory=dict)
    """Users by a name of the certificate: `URI:spiffe://…`, `DNS:…`, `email:…`, or `CN:…`."""

    @model_validator(mode="after")
    def _has_authorities(self) -> "TlsRules":
        if self.services and self.client_authorities is None:
            raise ValueError("`services` needs `client_authorities`, which sign their certificates")
        for name in self.services:
            if not name.startswith(("URI:", "DNS:", "email:", "CN:")):
                raise ValueError(f"the name {name!r} begins with URI:, DNS:, email: or CN:")
        return self

    def user_of(self, names: frozenset[str]) -> str | None:
        """The user whom the certificate is for. None if its names belong to nobody, or to several users."""
        users = {user for name, user in self.services.items() if name in names}
        return users.pop() if len(users) == 1 else None


def parsed_tls(configured: Mapping[str, Any]) -> TlsRules | None:
    if not configured:
        return None
    try:
        return TlsRules.model_validate(configured)
    except ValidationError as error:
        raise _wrong(str(first_problem(error).at("tls"))) from None


def server_context(rules: TlsRules) -> ssl.SSLContext:
    """Clients need no certificate, as people sign in. One that is sent must be signed by an authority and in date, or
    there is no connection."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        context.load_cert_chain(rules.certificate, rules.key)
        if rules.client_authorities is not None:
            context.verify_mode = ssl.CERT_OPTIONAL
            context.load_verify_locations(rules.client_authorities)
    except (OSError, ssl.SSLError) as error:
        raise _wrong(f"the certificates cannot be loaded: {error.strerror or error}") from error
    return context


def certificate_names(certificate: Mapping[str, Any] | None) -> frozenset[str]:
    """The names of a certificate that was checked. The common name counts only where there is no other: it is the older
    way, and anybody may have put anything there beside the names that count."""
    if not certificate:
        return frozenset()
    alternative = frozenset(f"{kind}:{name}" for kind, name in certificate.get("subjectAltName", ()))
    return alternative or frozenset(_common_names(certificate))


def _common_names(certificate: Mapping[str, Any]) -> Iterator[str]:
    for part in certificate.get("subject", ()):
        for name, value in part:
            if name == "commonName":
                yield f"CN:{value}"


def _wrong(problem: str) -> OperatorError:
    return OperatorError(f"`tls` in settings.yaml is wrong: {problem}.", code="tls_settings_invalid")
