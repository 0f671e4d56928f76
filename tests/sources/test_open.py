"""From a location to a source, and no password anywhere."""

import asyncio
import sqlite3
import struct
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import duckdb
import polars as pl
import psycopg
import pytest

from answerable.core.errors import AnswerableError, SourceError, UserError
from answerable.sources.open import open_source, shown_location


@pytest.mark.parametrize(
    ("location", "shown"),
    [
        ("/data/sales.csv", "/data/sales.csv"),
        ("postgresql://host/db", "postgresql://host/db"),
        ("postgresql://ann:secret@host:5432/db", "postgresql://ann@host:5432/db"),
        ("postgresql://ann:sec%40ret@host/db?sslmode=require", "postgresql://ann@host/db?sslmode=require"),
        ("postgresql://ann:p@ss@host/db", "postgresql://…"),
        ("postgresql:///db?host=/tmp&password=secret&user=ann", "postgresql://ann@/db?host=/tmp"),
        ("postgresql://host/db?PASSWORD=secret", "postgresql://…"),
        ("postgresql://[::1]:5432/db?sslmode=require", "postgresql://[::1]:5432/db?sslmode=require"),
        ("postgresql://a:1,b:2/db", "postgresql:///db?host=a,b&port=1,2"),
        ("https://key:secret@models.test/v1?key=secret#secret", "https://models.test/v1"),
        ("sqlite:////home/me@work/answerable.db", "sqlite:////home/me@work/answerable.db"),
        ("host=db password=secret", "…"),
        ("postgresql://u:secret@[::1/db", "postgresql://…"),
    ],
)
def test_shown_locations_have_no_password(location: str, shown: str) -> None:
    assert shown_location(location) == shown


async def test_kinds_and_names(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "shop.data")) as connection:
        connection.execute("CREATE TABLE t (a)")
        connection.commit()
    duckdb.connect(str(tmp_path / "lake.data")).close()
    pl.DataFrame({"a": [1]}).write_csv(tmp_path / "one.csv")
    expected = {"shop.data": "sqlite", "lake.data": "duckdb", "one.csv": "files", ".": "files"}
    for name, kind in expected.items():
        source = await open_source(str(tmp_path / name), cache=tmp_path / "cache")
        assert source.kind == kind
        assert source.languages == ("sqlite" if kind == "sqlite" else "duckdb",)
        assert source.name in (Path(name).stem, tmp_path.name)
        await source.close()
    named = await open_source(str(tmp_path / "one.csv"), name="mine", cache=tmp_path / "cache")
    assert named.name == "mine"
    await named.close()


@pytest.mark.parametrize(
    ("url", "error", "code"),
    [
        ("postgresql://ann:hunter2@127.0.0.1:1/db", SourceError, "source_unreachable"),
        ("postgresql://ann:hunter2@nohost.invalid/db", SourceError, "source_unreachable"),
        ("postgresql://ann:hunter2@127.0.0.1:notaport/db", AnswerableError, None),
        ("postgresql://ann:hunter2@[::1/db", UserError, "source_url_invalid"),
        ("postgresql://ann:hun%ter2@host/db", UserError, "source_url_invalid"),
        ("postgresql://ann:hunter2@host/db?nonsense=1", UserError, "source_url_invalid"),
    ],
)
async def test_wrong_urls(tmp_path: Path, url: str, error: type[AnswerableError], code: str | None) -> None:
    with pytest.raises(error) as caught:
        await described(url, tmp_path)
    assert code is None or caught.value.stable_code == code
    assert "hunter2" not in f"{caught.value} {caught.value.hint} {caught.value.details} {caught.value.__cause__!r}"


@pytest.fixture
async def strict_server() -> AsyncIterator[int]:
    """Speaks just enough of PostgreSQL's protocol to refuse every password."""

    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while len(header := await reader.read(8)) == 8:
            length, code = struct.unpack("!II", header)
            await reader.readexactly(length - 8)
            if code in (80877103, 80877104):  # wants encryption
                writer.write(b"N")
                continue
            fields = b'SFATAL\0C28P01\0Mpassword authentication failed for user "ann"\0\0'
            writer.write(b"E" + struct.pack("!I", len(fields) + 4) + fields)
            break
        writer.close()

    server = await asyncio.start_server(refuse, "127.0.0.1", 0)
    yield server.sockets[0].getsockname()[1]
    server.close()
    await server.wait_closed()


async def test_wrong_password(strict_server: int, tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="does not accept this user or password") as caught:
        await described(f"postgresql://ann:hunter2@127.0.0.1:{strict_server}/db", tmp_path)
    assert caught.value.stable_code == "source_login"
    assert "hunter2" not in f"{caught.value} {caught.value.hint}"


async def described(url: str, cache: Path) -> None:
    source = await open_source(url, cache=cache)
    try:
        await source.describe()
    finally:
        await source.close()


@pytest.fixture
def with_password(postgres_url: str) -> str:
    """The server of the tests lets anyone in, so the password is only along for the ride."""
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute("CREATE TABLE t AS SELECT 1 AS a")
    return postgres_url.replace("postgres:@", "postgres:hunter2@")


async def test_no_password_is_kept_or_shown(with_password: str, tmp_path: Path) -> None:
    source = await open_source(with_password, cache=tmp_path / "cache")
    catalog = await source.describe()
    await source.values()
    shown = f"{catalog!r} {source.name} {source!r} {vars(source)} {vars(source._pool)}"  # type: ignore[attr-defined]
    await source.close()
    assert "hunter2" not in shown
    kept = [path.read_bytes() for path in (tmp_path / "cache").rglob("*") if path.is_file()]
    assert kept
    assert not any(b"hunter2" in content for content in kept)


async def test_wrong_database_and_user(postgres_url: str, tmp_path: Path) -> None:
    name = postgres_url.partition("?")[0].rpartition("/")[2]
    for url in (postgres_url.replace(f"/{name}?", "/nowhere?"), postgres_url.replace("postgres:@", "nobody:hunter2@")):
        source = await open_source(url, cache=tmp_path)
        with pytest.raises(SourceError, match="does not exist") as caught:
            await source.describe()
        await source.close()
        assert caught.value.stable_code == "source_missing"
        assert caught.value.hint
        assert "hunter2" not in str(caught.value)
