"""Where one HTTP request ends and the next one begins, with one possible reading.

h11 repairs what it can: two lengths that agree, a length beside chunks, folded lines, lines that end without CR. A
proxy in front of the server may read the same bytes differently and take for one request what the server takes for two;
the second request then passes by the proxy's checks. So everything that can be read in two ways is refused, and the
connection is closed.
"""

import re
from collections import Counter
from collections.abc import Sequence

import h11
from h11._receivebuffer import ReceiveBuffer

_BARE_LINE_END = re.compile(rb"(?<!\r)\n|\r(?!\n)")
_CONTROL = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_CHUNK_SIZE = re.compile(rb"[0-9A-Fa-f]{1,16}\r\n")
_LENGTH = re.compile(rb"[0-9]{1,16}")
_HOST = re.compile(rb"([A-Za-z0-9._-]*|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?")
_VERSIONS = (b"1.0", b"1.1")
_LENGTH_NAME, _ENCODING_NAME, _HOST_NAME = b"content-length", b"transfer-encoding", b"host"


class AmbiguousRequestError(h11.RemoteProtocolError):
    """Says in a sentence why a request is refused."""


class StrictConnection(h11.Connection):
    """The server's side of a connection. Raises an `AmbiguousRequestError` for what has more than one reading."""

    def __init__(self, largest_head: int) -> None:
        super().__init__(h11.SERVER, largest_head)
        self._receive_buffer = _StrictBuffer()
        self.refusal: str | None = None
        """Why the last request was refused."""

    def next_event(self) -> h11.Event | type[h11.NEED_DATA] | type[h11.PAUSED]:
        try:
            event = super().next_event()
            if isinstance(event, h11.Request):
                _check_request(event)
        except AmbiguousRequestError as error:
            self.refusal = str(error)
            raise
        return event


class _StrictBuffer(ReceiveBuffer):
    """Checks the lines of a head, of a chunk's size and of trailers before h11 has repaired them."""

    def _extract(self, count: int) -> bytearray:
        self._extracted = super()._extract(count)
        return self._extracted

    def maybe_extract_lines(self) -> list[bytearray] | None:
        lines = super().maybe_extract_lines()
        if lines:
            _check_lines(self._extracted, lines)
        return lines

    def maybe_extract_next_line(self) -> bytearray | None:
        line = super().maybe_extract_next_line()
        if line is not None and not _CHUNK_SIZE.fullmatch(line):
            # Extensions too: nobody sends them, and servers differ in where they end.
            raise AmbiguousRequestError("The size of a chunk must be a hexadecimal number and nothing else.")
        return line


def _check_lines(raw: bytes | bytearray, lines: Sequence[bytearray]) -> None:
    if _BARE_LINE_END.search(raw):
        raise AmbiguousRequestError("Each line must end with CR and LF, which may stand nowhere else.")
    if _CONTROL.search(raw):
        raise AmbiguousRequestError("A header holds a control character.")
    if any(line.startswith((b" ", b"\t")) for line in lines):
        raise AmbiguousRequestError("A header must stand in one line.")
    fields = [(bytes(name).lower(), value.strip()) for name, _, value in (line.partition(b":") for line in lines)]
    counted = Counter(name for name, _ in fields)
    for name in (_LENGTH_NAME, _ENCODING_NAME, _HOST_NAME):
        if counted[name] > 1:
            raise AmbiguousRequestError(f"The header {name.decode()} must stand once.")
    if counted[_LENGTH_NAME] and counted[_ENCODING_NAME]:
        raise AmbiguousRequestError("A request has either content-length or transfer-encoding, not both.")
    if not all(_LENGTH.fullmatch(value) for name, value in fields if name == _LENGTH_NAME):
        raise AmbiguousRequestError("The header content-length must be a decimal number and nothing else.")


def _check_request(request: h11.Request) -> None:
    headers = dict(request.headers)
    if request.http_version not in _VERSIONS:
        raise AmbiguousRequestError("This server speaks HTTP/1.0 and HTTP/1.1.")
    if request.http_version == b"1.0" and _ENCODING_NAME in headers:
        raise AmbiguousRequestError("HTTP/1.0 knows no transfer-encoding.")
    if not request.target.startswith(b"/") and (request.method, request.target) != (b"OPTIONS", b"*"):
        raise AmbiguousRequestError("The target of a request must be a path that begins with a slash.")
    if b"#" in request.target:
        raise AmbiguousRequestError("The target of a request must not hold a fragment.")
    if not _HOST.fullmatch(headers.get(_HOST_NAME, b"/")):
        raise AmbiguousRequestError("The header host must be a name or an address, with or without a port.")
