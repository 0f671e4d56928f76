"""Files that unpack to far more than they hold: ended early, in a worker, while other uploads go on."""

import asyncio
import gzip
import io
import struct
import zipfile
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import xlsxwriter  # type: ignore[import-untyped]

from answerable.app import open_service
from answerable.core.context import LOCAL
from answerable.service import Service
from answerable.settings import Settings

MB = 1 << 20


@pytest.fixture
async def service(tmp_path: Path) -> AsyncIterator[Service]:
    async with open_service(Settings(home=tmp_path / "home"), any_location=False) as opened:
        yield opened


def gzip_bomb(megabytes: int = 80) -> bytes:
    return gzip.compress(b"a,b\n" + b"1,2\n" * (megabytes * MB // 4), 1)


def twice_packed() -> bytes:
    """Many members one after the other, each of which is small."""
    return b"".join([gzip.compress(b"1,2\n" * (MB // 4), 9)] * 100)


def xlsx_bomb(megabytes: int = 80) -> bytes:
    """A workbook whose sheet is blank space."""
    plain = io.BytesIO()
    book = xlsxwriter.Workbook(plain)
    book.add_worksheet().write(0, 0, "a")
    book.close()
    packed = io.BytesIO()
    with zipfile.ZipFile(plain) as old, zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as new:
        for part in old.namelist():
            content = old.read(part)
            if part.endswith("sheet1.xml"):
                content = content.replace(b"<sheetData>", b" " * (megabytes * MB) + b"<sheetData>")
            new.writestr(part, content)
    return packed.getvalue()


async def pieces(content: bytes) -> AsyncIterator[bytes]:
    for begin in range(0, len(content), MB):
        yield content[begin : begin + MB]


@pytest.mark.parametrize(
    ("name", "bomb"),
    [("a.csv.gz", gzip_bomb), ("b.json.gz", gzip_bomb), ("c.csv.gz", twice_packed), ("d.xlsx", xlsx_bomb)],
)
async def test_a_bomb_is_ended_early(service: Service, name: str, bomb: object) -> None:
    assert callable(bomb)
    uploaded = await service.sources.upload(name, pieces(bomb()), LOCAL)
    other = await service.sources.upload("small.csv", pieces(b"a\n1\n"), LOCAL)
    summary = await service.sources.wait(other.source.name, LOCAL)
    assert (summary.state, summary.rows) == ("ready", 1)
    ended = await service.sources.wait(uploaded.source.name, LOCAL)
    assert ended.error is not None
    assert ended.error.code == "file_bomb"


async def test_uploads_of_one_name_at_once_become_sources_of_their_own(service: Service) -> None:
    async def slow(number: int) -> AsyncIterator[bytes]:
        yield b"a\n"
        await asyncio.sleep(0.05)
        yield f"{number}\n".encode()

    uploaded = await asyncio.gather(*(service.sources.upload("sales.csv", slow(n), LOCAL) for n in range(5)))
    names = {one.source.name for one in uploaded}
    assert names == {"sales", "sales_2", "sales_3", "sales_4", "sales_5"}
    assert names <= set(service.sources.names(LOCAL))


async def test_a_name_is_free_again_when_its_upload_fails(service: Service) -> None:
    for content in (b"", b"\x7fELF\0\0"):
        with pytest.raises(Exception, match=r"empty|program"):
            await service.sources.upload("sales.csv", pieces(content), LOCAL)
    assert (await service.sources.upload("sales.csv", pieces(b"a\n1\n"), LOCAL)).source.name == "sales"


async def test_an_archive_with_a_huge_list_is_not_read(service: Service) -> None:
    """The list would be read whole, and by the server."""
    end = struct.pack("<4sHHHHIIH", b"PK\x05\x06", 0, 0, 65535, 65535, 500 * MB, 0, 0)
    with pytest.raises(Exception, match="ZIP archive"):
        await service.sources.upload("x.xlsx", pieces(b"PK\x03\x04" + bytes(100) + end), LOCAL)
