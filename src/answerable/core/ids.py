"""Identifiers: a short prefix and a random part that begins with the time. So sorting by id is sorting by age."""

import secrets
import time
from typing import NewType

RunId = NewType("RunId", str)
NodeId = NewType("NodeId", str)
ThreadId = NewType("ThreadId", str)
MessageId = NewType("MessageId", str)
EditId = NewType("EditId", str)
EvalId = NewType("EvalId", str)
TenantId = NewType("TenantId", str)
UserId = NewType("UserId", str)
ArtifactId = NewType("ArtifactId", str)
"""`sha256:` and the hash of the content, in hexadecimal."""

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
"""Crockford's base 32: in the order of ASCII, so that ids sort by time, and without letters that look like digits."""


def new_run_id() -> RunId:
    return RunId("run_" + _sortable())


def new_thread_id() -> ThreadId:
    return ThreadId("thr_" + _sortable())


def thread_of(run: RunId) -> ThreadId:
    """The id of the thread that a run begins: the same one if the run is started again."""
    return ThreadId("thr_" + run.removeprefix("run_"))


def new_message_id() -> MessageId:
    return MessageId("msg_" + _sortable())


def edit_of(run: RunId) -> EditId:
    """The id of the change that a request makes, from the id that was chosen for the request."""
    return EditId("edt_" + run.removeprefix("run_"))


def new_edit_id() -> EditId:
    return EditId("edt_" + _sortable())


def eval_of(run: RunId) -> EvalId:
    """The id of the measurement that a request starts, from the id that was chosen for the request."""
    return EvalId("evl_" + run.removeprefix("run_"))


def new_eval_id() -> EvalId:
    return EvalId("evl_" + _sortable())


def is_thread_id(text: str) -> bool:
    random_part = text.removeprefix("thr_")
    return random_part != text and len(random_part) == 24 and set(random_part) <= set(_ALPHABET)


def _sortable() -> str:
    """48 bits of milliseconds since the epoch and 72 random bits, as 24 characters of base 32."""
    number = (time.time_ns() // 1_000_000 << 72) | secrets.randbits(72)
    return "".join(_ALPHABET[(number >> shift) & 31] for shift in range(115, -1, -5))
