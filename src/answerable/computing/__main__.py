"""The process that computes: `python -P -m answerable.computing DESCRIPTOR PARENT`. One job after the other."""

import gc
import pickle
import signal
import socket
import sys
from contextlib import suppress
from typing import Any

from answerable.computing.job import JobMessage, JobOrder, packed, received
from answerable.isolation.kernel import die_with_parent


def main(descriptor: int, parent: int) -> None:
    die_with_parent(parent)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the terminal sends it to all; the parent ends its processes itself
    connection = socket.socket(fileno=descriptor)
    subjects: dict[int, Any] = {}

    def ask(question: Any) -> Any:
        connection.sendall(packed(JobMessage(question=question)))
        return received(connection)

    connection.sendall(packed(JobMessage()))  # ready
    with suppress(EOFError):
        while True:
            order: JobOrder = received(connection)
            connection.sendall(packed(_done(order, subjects, ask)))


def _done(order: JobOrder, subjects: dict[int, Any], ask: Any) -> JobMessage:
    try:
        if order.dropped is not None:
            subjects.pop(order.dropped, None)
        if order.pickled is not None:
            subjects[order.subject] = pickle.loads(order.pickled)  # noqa: S301 from our parent; see `job`
            gc.freeze()  # subjects stay for long: looking through them for garbage again and again is wasted
        return JobMessage(result=order.job.compute(subjects[order.subject], ask))
    except Exception as error:  # whatever it is, the parent raises it
        return JobMessage(error=error)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
