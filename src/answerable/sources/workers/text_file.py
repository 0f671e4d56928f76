"""Any text file as plain UTF-8: unpacked, decoded, without NUL bytes, its lines ended one way.

A file that is so already is used where it is. Notes say what was assumed or changed.
"""

import codecs
import gzip
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from answerable.sources.workers.bombs import check_ratio
from answerable.sources.workers.content import content_named, other_than_text
from answerable.sources.workers.failures import Failure

_PIECE = 1 << 20
_HEAD = 1 << 16
# UTF-32 comes first, because its little-endian mark begins with that of UTF-16.
_MARKS: tuple[tuple[bytes, str], ...] = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# Latin-1 comes last, because it decodes any bytes.
_GUESSES = (("cp1252", "Windows-1252"), ("latin-1", "Latin-1"))
_CONTROL = bytes(set(range(32)) - set(b"\t\n\r\f\x1b"))
_MOST_CONTROL = 0.01
"""More control characters than this, and a file is not text."""


@dataclass(frozen=True, slots=True)
class PlainText:
    path: Path
    notes: tuple[str, ...] = ()


def plain_text(path: Path, compressed: bool, staging: Path, max_bytes: int) -> PlainText:
    """Writes to `staging` only when the file cannot be used as it is."""
    if compressed:
        path = _unpacked(path, staging / "unpacked", max_bytes)
    head = _head(path)
    if not head.strip():
        raise Failure("FileError", "file_empty", "The file is empty.", "Put data into it, or take it away.")
    encoding = _decoding(path, head)
    if encoding is None and (_looks_binary(head) or other_than_text(head)):
        raise not_text(head)
    notes = []
    if encoding is None:
        encoding, note = _decodable(path)
        notes += [note] if note else []
    else:
        notes.append(f"read as {encoding.upper()}")
    oddities = _oddities(path, encoding)
    if encoding == "utf-8" and not oddities:
        return PlainText(path, tuple(notes))
    clean = staging / "clean"
    _rewrite(path, encoding, clean)
    return PlainText(clean, (*notes, *oddities))


def not_text(head: bytes) -> Failure:
    return Failure(
        "FileError",
        "file_binary",
        f"The file is {content_named(head)}, not text, as its name says.",
        "Check that it was saved in the format that its name says.",
    )


def _unpacked(path: Path, target: Path, max_bytes: int) -> Path:
    written, packed_size = 0, path.stat().st_size
    try:
        with gzip.open(path, "rb") as packed, target.open("wb") as out:
            while piece := packed.read(_PIECE):
                written += len(piece)
                if written > max_bytes:
                    raise Failure(
                        "LimitError",
                        "file_too_large",
                        f"Unpacked, the file is larger than {max_bytes // 1_000_000:,} MB.",
                        "Split it, or raise the limit on the size of files.",
                    )
                check_ratio(written, packed_size)
                out.write(piece)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise Failure("FileError", "file_damaged", f"The file cannot be unpacked: {error}.") from error
    return target


def _head(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(_HEAD)


def _decoding(path: Path, head: bytes) -> str | None:
    """The encoding that the first bytes show, if all others agree. UTF-16 that begins with a NUL looks like UTF-32."""
    shown = [encoding for mark, encoding in _MARKS if head.startswith(mark)]
    if not shown and (unmarked := _unmarked_utf16(head)):
        shown = [unmarked]
    if not shown:
        return None
    found = next((encoding for encoding in shown if _is_encoded(path, encoding)), None)
    if found is None:
        message = (
            f"The file begins as {shown[-1].upper()} text, but is damaged or cut off: not all of it can be decoded."
        )
        raise Failure("FileError", "file_damaged", message, "Save it again, as UTF-8.")
    return found


def _unmarked_utf16(head: bytes) -> str | None:
    """Western text in UTF-16 has a NUL in every other place."""
    even, odd = head[::2].count(0), head[1::2].count(0)
    if max(even, odd) < 0.4 * len(head) / 2 or min(even, odd) > 0.05 * len(head) / 2:
        return None
    return "utf-16-le" if odd > even else "utf-16-be"


def _looks_binary(head: bytes) -> bool:
    control = len(head) - len(head.translate(None, _CONTROL))
    # A single stray control character does not make a short file binary.
    return control > _MOST_CONTROL * len(head) + 1


def _decodable(path: Path) -> tuple[str, str | None]:
    if _is_encoded(path, "utf-8"):
        return "utf-8", None
    for encoding, shown in _GUESSES:
        if _is_encoded(path, encoding):
            return encoding, f"not valid UTF-8, read as {shown}"
    raise not_text(_head(path))


def _is_encoded(path: Path, encoding: str) -> bool:
    decoder = codecs.getincrementaldecoder(encoding)()
    try:
        with path.open("rb") as file:
            while piece := file.read(_PIECE):
                decoder.decode(piece)
            decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def _oddities(path: Path, encoding: str) -> list[str]:
    """Notes on what must be cleaned away."""
    zeros = returns = 0
    with path.open("rb") as file:
        if encoding != "utf-8":
            return []
        for piece in _pieces(file):
            zeros += piece.count(b"\0")
            returns += piece.count(b"\r") - piece.count(b"\r\n")
    notes = [f"{zeros:,} NUL characters were left out"] if zeros else []
    return notes + (["its lines end in different ways"] if returns else [])


def _pieces(file: BinaryIO) -> Iterator[bytes]:
    """Never ends between a return and its line feed."""
    while piece := file.read(_PIECE):
        while piece.endswith(b"\r"):
            more = file.read(1)
            piece += more
            if not more:
                break
        yield piece


def _rewrite(path: Path, encoding: str, target: Path) -> None:
    decoder = codecs.getincrementaldecoder(encoding)()
    with path.open("rb") as file, target.open("w", encoding="utf-8", newline="\n") as out:
        for piece in _pieces(file):
            out.write(_clean(decoder.decode(piece)))
        out.write(_clean(decoder.decode(b"", final=True)))


def _clean(text: str) -> str:
    return text.replace("\0", "").replace("\r\n", "\n").replace("\r", "\n").removeprefix("\ufeff")
