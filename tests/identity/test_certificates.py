"""Services prove who they are by a certificate: real certificates, over real sockets."""

import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

import httpx
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from served_app import serving

from answerable.core.errors import OperatorError
from answerable.gateway.app import create_app
from answerable.gateway.tls import TlsRules, parsed_tls, server_context
from answerable.settings import Settings

POLICY = """
users: {nightly: {roles: [seller]}, other: {roles: [seller]}}
roles: {seller: {actions: [ask]}, manager: {actions: [administer]}}
rules: [{name: all, for: seller, source: demo, allow: true}]
"""
SERVICES = {
    "URI:spiffe://example.com/nightly": "nightly",
    "DNS:other.example.com": "other",
    "CN:nightly": "nightly",
    "CN:gone": "gone",
}


@dataclass(frozen=True)
class Issued:
    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey

    def written(self, folder: Path, name: str) -> tuple[str, str]:
        pem, key = folder / f"{name}.pem", folder / f"{name}.key"
        pem.write_bytes(self.certificate.public_bytes(serialization.Encoding.PEM))
        form = serialization.PrivateFormat.PKCS8
        key.write_bytes(self.key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption()))
        return str(pem), str(key)


def issued(name: str, by: Issued | None = None, *, names: tuple[x509.GeneralName, ...] = (), days: int = 1) -> Issued:
    """A certificate that `by` has signed; without, one that signs others."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(by.certificate.subject if by else subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=3))
        .not_valid_after(now + timedelta(days=days))
        .add_extension(x509.BasicConstraints(ca=by is None, path_length=None), critical=True)
    )
    if names:
        made = made.add_extension(x509.SubjectAlternativeName(names), critical=False)
    return Issued(made.sign(by.key if by else key, hashes.SHA256()), key)


@pytest.fixture(scope="module")
def authority() -> Issued:
    return issued("Services")


@asynccontextmanager
async def served(folder: Path, authority: Issued, services: Mapping[str, str] = SERVICES) -> AsyncIterator[str]:
    """A server with these services; gives its address."""
    home = folder / "home"
    home.mkdir()
    (home / "access.yaml").write_text(POLICY)
    own = issued("server", authority, names=(x509.IPAddress(ip_address("127.0.0.1")),))
    certificate, key = own.written(folder, "server")
    ca, _ = authority.written(folder, "ca")
    tls = {"certificate": certificate, "key": key, "client_authorities": ca, "services": dict(services)}
    settings = Settings(home=home, store=":memory:", tls=tls)
    async with serving(create_app(settings), server_context(_parsed(settings.tls))) as port:
        yield f"https://127.0.0.1:{port}/api/v1"


def _parsed(configured: Mapping[str, object]) -> TlsRules:
    rules = parsed_tls(configured)
    assert rules is not None
    return rules


def client_for(folder: Path, sent: Issued | None) -> httpx.AsyncClient:
    context = ssl.create_default_context(cafile=str(folder / "ca.pem"))
    if sent is not None:
        context.load_cert_chain(*sent.written(folder, "client"))
    return httpx.AsyncClient(verify=context, timeout=20)


async def asked(folder: Path, address: str, sent: Issued | None, headers: Mapping[str, str] | None = None) -> str:
    """Who the server takes the caller for, or the code of its refusal."""
    async with client_for(folder, sent) as client:
        reply = await client.get(f"{address}/identity", headers=headers)
        runs = await client.get(f"{address}/runs", headers=headers)
        body = reply.json()
        if runs.status_code != 200:
            return str(runs.json()["code"])
        return str(body["profile"]["user"])


async def test_a_certificate_says_who_asks(tmp_path: Path, authority: Issued) -> None:
    def sent(name: str, *names: x509.GeneralName) -> Issued:
        return issued(name, authority, names=names)

    nightly = x509.UniformResourceIdentifier("spiffe://example.com/nightly")
    other = x509.DNSName("other.example.com")
    async with served(tmp_path, authority) as address:
        assert await asked(tmp_path, address, sent("x", nightly)) == "nightly"
        assert await asked(tmp_path, address, sent("x", other)) == "other"
        assert await asked(tmp_path, address, sent("nightly")) == "nightly"
        assert await asked(tmp_path, address, None) == "sign_in_required"
        assert await asked(tmp_path, address, sent("nobody")) == "sign_in_required"
        # A common name beside other names does not count, and names of two users are nobody's.
        assert await asked(tmp_path, address, sent("nightly", x509.DNSName("x.org"))) == "sign_in_required"
        assert await asked(tmp_path, address, sent("x", nightly, other)) == "sign_in_required"
        assert await asked(tmp_path, address, sent("gone")) == "access_user_unknown"
        for name in ("certificate_names", "x-client-cert", "x-forwarded-client-cert", "x-ssl-client-s-dn"):
            assert await asked(tmp_path, address, None, {name: "CN:nightly"}) == "sign_in_required"


async def test_what_no_authority_has_signed_gets_no_connection(tmp_path: Path, authority: Issued) -> None:
    async with served(tmp_path, authority) as address:
        for sent in (
            issued("nightly", issued("Services")),
            issued("nightly"),
            issued("nightly", authority, days=-1),
        ):
            with pytest.raises((httpx.TransportError, ssl.SSLError)):
                await asked(tmp_path, address, sent)


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"key": None}, "key"),
        ({"certificate": "/nowhere.pem"}, "cannot be loaded"),
        ({"services": {"CN:a": "a"}}, "needs `client_authorities`"),
        ({"services": {"a": "a"}, "client_authorities": "ca.pem"}, "begins with URI:"),
        ({"certificats": "x"}, "certificats"),
    ],
)
def test_wrong_settings_are_said(tmp_path: Path, authority: Issued, changed: dict[str, object], problem: str) -> None:
    certificate, key = authority.written(tmp_path, "server")
    configured = {"certificate": certificate, "key": key, **changed}
    with pytest.raises(OperatorError, match=r"`tls` in settings\.yaml is wrong") as caught:
        server_context(_parsed({name: value for name, value in configured.items() if value is not None}))
    assert problem in caught.value.message
