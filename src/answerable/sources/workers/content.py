"""What a file is by its first bytes, in words: for people whose file is not what its name says."""

HEAD = 4096
"""Bytes that are enough to tell."""

_SIGNATURES: tuple[tuple[int, bytes, str], ...] = (
    (0, b"SQLite format 3\0", "a SQLite database"),
    (8, b"DUCK", "a DuckDB database"),
    (0, b"PAR1", "a Parquet file"),
    (0, b"PK\x03\x04", "a ZIP archive"),
    (0, b"PK\x05\x06", "an empty ZIP archive"),
    (0, b"\x1f\x8b", "a gzip file"),
    (0, b"BZh", "a bzip2 file"),
    (0, b"\xfd7zXZ\0", "an xz file"),
    (0, b"\x28\xb5\x2f\xfd", "a zstd file"),
    (0, b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive"),
    (0, b"Rar!\x1a\x07", "a RAR archive"),
    (257, b"ustar", "a tar archive"),
    (0, b"\xd0\xcf\x11\xe0", "an old Office document"),
    (0, b"ARROW1", "an Arrow file"),
    (0, b"ORC", "an ORC file"),
    (0, b"Obj\x01", "an Avro file"),
    (0, b"\x89PNG", "a PNG picture"),
    (0, b"\xff\xd8\xff", "a JPEG picture"),
    (0, b"GIF8", "a GIF picture"),
    (0, b"\x7fELF", "a program"),
    (0, b"MZ", "a program"),
)
_TEXTS: tuple[tuple[bytes, str], ...] = (
    (b"%pdf-", "a PDF document"),
    (b"{\\rtf", "an RTF document"),
    (b"<!doctype html", "a web page"),
    (b"<html", "a web page"),
    (b"<?xml", "an XML document"),
)
_MARKS = ((b"\xff\xfe\0\0", "UTF-32"), (b"\0\0\xfe\xff", "UTF-32"), (b"\xff\xfe", "UTF-16"), (b"\xfe\xff", "UTF-16"))


def content_named(head: bytes) -> str:
    """What a file that begins so is, for example `a ZIP archive`, `text`, `binary data`."""
    if not head:
        return "empty"
    if known := other_than_text(head):
        return known
    marked = next((name for mark, name in _MARKS if head.startswith(mark)), None)
    if marked:
        return f"text in {marked}"
    return "binary data" if b"\0" in head else "text"


def other_than_text(head: bytes) -> str | None:
    """The kind of file that a table of text certainly is not, or None if it may be one."""
    for offset, signature, name in _SIGNATURES:
        # Letters alone may also begin a text.
        if head[offset:].startswith(signature) and (not signature.isalnum() or b"\0" in head):
            return name
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()[:20].lower()
    return next((name for signature, name in _TEXTS if start.startswith(signature)), None)
