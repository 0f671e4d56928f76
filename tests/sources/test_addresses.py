"""A database that somebody other than the operator names: which addresses it may have, what is sent there, and what a
failure tells about them. Against real sockets on loopback."""

import asyncio
import socket
import time
from collections.abc import AsyncIterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from answerable.core.errors import RefusedError, SourceError
from answerable.sources.open import open_source
from answerable.sources.sql import postgres
from answerable.sources.sql.postgres_access import AllowedHosts
from answerable.sources.sql.postgres_url import parsed

HERE = AllowedHosts(loopback=True)
SECRETS = {
    "PGPASSWORD": "operators-password",
    "PGUSER": "operators-user",
    "PGDATABASE": "operators-database",
    "PGAPPNAME": "operators-application",
    "PGOPTIONS": "-c operators.option=1",
}


class Listener:
    """A server that is none: it says what it is told to say, and records what it hears."""

    def __init__(self, *replies: bytes, silent: bool = False) -> None:
        self.heard = bytearray()
        self._replies, self._silent = replies, silent

    async def start(self) -> int:
        self._server = await asyncio.start_server(self._answer, "127.0.0.1", 0)
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            for reply in (*self._replies, b""):
                self.heard += await reader.read(4096)
                if self._silent:
                    await asyncio.sleep(30)
                writer.write(reply)
                await writer.drain()
        except OSError:
            pass
        finally:
            writer.close()

    def stop(self) -> None:
        self._server.close()


ASK_FOR_PASSWORD = b"R\x00\x00\x00\x08\x00\x00\x00\x03"
NO_SSL = b"N"
WRONG_PASSWORD = b"E\x00\x00\x00\x32SFATAL\x00C28P01\x00Mpassword authentication failed\x00\x00"


@pytest.fixture
def operators_environment(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    (home / ".pgpass").write_text("*:*:*:*:operators-passfile\n")
    (home / ".pgpass").chmod(0o600)
    for name, value in SECRETS.items():
        monkeypatch.setenv(name, value)


async def failure(url: str, cache: Path, hosts: AllowedHosts | None) -> tuple[str, str, str | None, int]:
    """How a connection fails: its class, code, sentence and hint, and after how many seconds."""
    started = time.monotonic()
    source = await open_source(url, cache=cache, hosts=hosts)
    try:
        await source.describe()
    except SourceError as error:
        return error.stable_code, error.message, error.hint, round(time.monotonic() - started)
    finally:
        await source.close()
    raise AssertionError("it connected")


@pytest.fixture
async def listener() -> AsyncIterator[Listener]:
    made = Listener(NO_SSL, ASK_FOR_PASSWORD, WRONG_PASSWORD)
    yield made
    made.stop()


@pytest.mark.usefixtures("operators_environment")
async def test_nothing_of_the_operators_is_sent_to_an_address_that_a_caller_names(
    listener: Listener, tmp_path: Path
) -> None:
    url = f"postgresql://caller@127.0.0.1:{await listener.start()}/theirs"
    await failure(url, tmp_path / "cache", HERE)
    assert b"caller" in listener.heard
    assert b"operators" not in listener.heard


@pytest.mark.usefixtures("operators_environment")
async def test_the_operators_own_database_uses_every_variable_that_libpq_reads(
    listener: Listener, tmp_path: Path
) -> None:
    await failure(f"postgresql://127.0.0.1:{await listener.start()}", tmp_path / "cache", None)
    missing = [name for name, value in SECRETS.items() if value.encode() not in listener.heard]
    assert missing == []


async def test_every_failure_to_connect_reads_and_takes_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres, "UNIFORM_SECONDS", 3.0)
    with ExitStack() as stack:
        closed = socket.socket()
        closed.bind(("127.0.0.1", 0))
        ports = [closed.getsockname()[1]]
        closed.close()
        for listening in (
            Listener(silent=True),
            Listener(b"HTTP/1.1 400 Bad Request\r\n\r\n"),
            Listener(NO_SSL, ASK_FOR_PASSWORD, WRONG_PASSWORD),
            Listener(),
        ):
            ports.append(await listening.start())
            stack.callback(listening.stop)
        urls = [f"postgresql://u:pw@127.0.0.1:{port}/d" for port in ports]
        heard = await asyncio.gather(
            *(failure(url, tmp_path / str(number), HERE) for number, url in enumerate(urls)),
            failure(
                "postgresql://u:pw@nowhere.invalid/d", tmp_path / "x", AllowedHosts(frozenset({"nowhere.invalid"}))
            ),
        )
    assert {told[:3] for told in heard} == {heard[0][:3]}
    assert heard[0][0] == "source_unreachable"
    assert max(told[3] for told in heard) - min(told[3] for told in heard) <= 2, heard


@pytest.mark.parametrize(
    "rest",
    [
        "127.0.0.1/d?hostaddr=10.0.0.1",
        "127.0.0.1/d?host%61ddr=10.0.0.1",
        "127.0.0.1,10.0.0.1/d",
        "127.0.0.1/d?host=127.0.0.1,10.0.0.1",
        "127.0.0.1/d?host=10.0.0.1",
        "127.0.0.1/d?h%6Fst=10.0.0.1",
        "/d",
        "/d?host=/var/run/postgresql",
        "%2Fvar%2Frun%2Fpostgresql/d",
        "/d?host=%40abstract",
        "127.0.0.1/d?service=operators",
        "127.0.0.1/d?passfile=/root/.pgpass",
        "127.0.0.1/d?sslkey=/root/key&sslcert=/root/cert",
        "127.0.0.1/d?sslrootcert=/etc/shadow",
        "127.0.0.1/d?sslcrldir=/etc",
        "127.0.0.1/d?sslkeylogfile=/tmp/x",
        "127.0.0.1/d?krbsrvname=x",
        "127.0.0.1/d?gsslib=gssapi",
        "127.0.0.1/d?requirepeer=root",
        "127.0.0.1/d?oauth_issuer=http://x",
        "0.0.0.0/d",
        "[::]/d",
        "2130706433/d",
        "0x7f.1/d",
        "127.1/d",
        "127.0.0.2/d",
        "localhost.evil.test/d",
        "10.0.0.1/d",
        "169.254.169.254/d",
        "db.example.test:5433/d",
    ],
)
async def test_what_only_the_operator_may_name_is_refused(rest: str, tmp_path: Path) -> None:
    hosts = AllowedHosts(frozenset({"db.example.test:5432"}), loopback=True)
    with pytest.raises(RefusedError) as refused:
        await open_source(f"postgresql://u:pw@{rest}", cache=tmp_path, hosts=hosts)
    assert refused.value.stable_code in ("source_host_refused", "source_parameter_refused")
    assert "pw" not in refused.value.message


def test_a_name_is_looked_up_once_and_only_checked_addresses_are_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever owns a name answers with an allowed address first, and with this machine's then."""
    answers = iter(["192.0.2.7", "127.0.0.1"])

    def lookup(host: str, *_: object, **__: object) -> list[tuple[object, ...]]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (next(answers), 0))]

    monkeypatch.setattr(socket, "getaddrinfo", lookup)
    hosts = AllowedHosts(frozenset({"db.example.test"}))
    parameters = parsed("postgresql://u:pw@db.example.test/d")
    assert hosts.with_address(parameters)["hostaddr"] == "192.0.2.7"
    with pytest.raises(SourceError, match="cannot be reached"):
        hosts.with_address(parameters)


@pytest.mark.parametrize("address", ["127.0.0.1", "::1", "::ffff:127.0.0.1", "0.0.0.0", "169.254.169.254", "fe80::1"])
def test_an_allowed_name_does_not_lead_to_this_machine(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: [(2, 1, 6, "", (address, 0))])
    with pytest.raises(SourceError, match="cannot be reached"):
        AllowedHosts(frozenset({"db.test"})).with_address(parsed("postgresql://u@db.test/d"))
