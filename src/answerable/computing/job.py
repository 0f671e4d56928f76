"""What a computing process is given to do, and how it talks with its parent.

Messages are pickled. That is safe here and only here: both sides run our code alone, over a socket that nobody else
has. Workers that open data or run programs of others use JSON (`isolation/wire.py`).
"""

import pickle
import socket
import struct
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

from answerable.isolation.wire import exactly

HEADER = struct.Struct("!Q")


class Job(Protocol):
    """A computation as data. Its module is imported in the process that computes."""

    def compute(self, subject: Any, ask: Callable[[Any], Any]) -> Any:
        """The result. `subject` is the data that many jobs share, such as a reader. `ask` sends a question to the
        parent, which has the effects, and returns its answer."""
        ...


class JobOrder(NamedTuple):
    """A message from the parent: a job, and what it is about."""

    job: Job
    subject: int
    """The number under which the process keeps the subject."""
    pickled: bytes | None
    """The subject, if the process does not have it yet."""
    dropped: int | None
    """The number of a subject that is not needed any more."""


class JobMessage(NamedTuple):
    """A message from the process: a result, an error, or a question to the parent."""

    result: Any = None
    error: BaseException | None = None
    question: Any = None


def packed(message: Any) -> bytes:
    body = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
    return HEADER.pack(len(body)) + body


def received(connection: socket.socket) -> Any:
    """The next message; an `EOFError` when the other side is gone."""
    header = exactly(connection, HEADER.size)
    body = None if header is None else exactly(connection, HEADER.unpack(header)[0])
    if body is None:
        raise EOFError
    return pickle.loads(body)  # noqa: S301 see above
