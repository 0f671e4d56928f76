"""How many rows to fetch at once, so that memory stays bounded whether rows are thin or fat."""

from answerable.sources.workers.arrow_file import ArrowFile

_FIRST = 1_000
_MOST = 32_768
_BYTES = 16 * 1024 * 1024


def rows_next(out: ArrowFile) -> int:
    """How many rows fit into a fixed number of bytes, judged by the rows written so far."""
    if not out.row_count:
        return _FIRST
    return max(1, min(_MOST, _BYTES * out.row_count // max(1, out.byte_count)))
