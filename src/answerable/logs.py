"""Structured logs: one JSON object per line, each with its request, thread and run.

A listener writes the logs of a run from its events. The engine itself logs only defects. At level debug the logs hold
the whole plan, every program, and two complete sample records of each step.
"""

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any

import orjson

from answerable.core.events import (
    Event,
    PlanReady,
    RunCancelled,
    RunFailed,
    RunFinished,
    RunStarted,
    StepFailed,
    StepFinished,
    StepOutput,
    StepRetried,
)
from answerable.protection.personal.places import PersonalPolicy
from answerable.protection.personal.redaction import Redaction
from answerable.store.protocols.outbox import Notice

_about: ContextVar[dict[str, Any] | None] = ContextVar("answerable_log_about", default=None)
_log = logging.getLogger("answerable.runs")
SAMPLES = 2
_OUR_OWN = frozenset(("time", "level", "logger", "request", "run", "thread", "event"))
"""Fields of a line that no user fills."""


@contextmanager
def about(**fields: Any) -> Iterator[None]:
    """Adds fields (`request`, `thread`, `run`) to every line that is logged inside, also by tasks started inside."""
    token = _about.set({**(_about.get() or {}), **{name: value for name, value in fields.items() if value is not None}})
    try:
        yield
    finally:
        _about.reset(token)


class JsonLines(logging.Formatter):
    def __init__(self, redaction: Redaction | None = None) -> None:
        """`redaction`: of personal data in every line."""
        super().__init__()
        self._redaction = redaction

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **(_about.get() or {}),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        if self._redaction is not None:
            line = {name: each if name in _OUR_OWN else self._redaction.value(each) for name, each in line.items()}
        # `default=str`, because a value that is not JSON must not cost the log line.
        return orjson.dumps(line, default=str).decode()


def configure(level: str, personal: PersonalPolicy | None = None) -> None:
    """Sends the logs of Answerable to standard error. The owner of the process calls this once; the library does not,
    because logging is then the host application's choice."""
    handler = logging.StreamHandler(sys.stderr)
    hides = personal is not None and personal.hides("logs")
    handler.setFormatter(JsonLines(Redaction(personal.kinds) if personal is not None and hides else None))
    logger = logging.getLogger("answerable")
    logger.handlers[:] = [handler]
    logger.setLevel(level.upper())
    logger.propagate = False  # a handler of the root logger would print each line a second time


class EventLog:
    """A listener that logs the events of runs."""

    def __call__(self, event: Event) -> None:
        if not _log.isEnabledFor(logging.WARNING):
            return
        level, message, fields = _log_line(event)
        if _log.isEnabledFor(level):
            _log.log(level, message, extra={"fields": {"run": event.run, "event": event.type, **fields}})


async def log_run_end(notice: Notice) -> None:
    """Logs the end of a run, as a subscriber of the outbox. So each end is logged at least once, even if the process
    that carried the run out died before it could log it."""
    status = notice.body.get("status") or notice.topic.removeprefix("run.")
    fields = {"run": notice.stream, "status": status, "code": notice.body.get("code"), "user": notice.principal.user}
    _log.info("run ended", extra={"fields": {**fields, "tenant": notice.principal.tenant}})


def _log_line(event: Event) -> tuple[int, str, dict[str, Any]]:
    match event:
        case RunStarted():
            return logging.INFO, "run started", {"question": event.question}
        case PlanReady():
            return logging.DEBUG, "plan ready", {"plan": event.plan, "sentence": event.sentence}
        case StepOutput(channel="code"):
            return logging.DEBUG, "program", {"node": event.node, "code": event.data}
        case StepFinished():
            return (
                logging.DEBUG,
                "step finished",
                {"node": event.node, "duration_ms": event.duration_ms, **_sample(event)},
            )
        case StepRetried():
            return logging.WARNING, "step retried", {"node": event.node, "code": event.code, "delay": event.delay}
        case StepFailed():
            return logging.WARNING, "step failed", {"node": event.node, "code": event.code, "reason": event.message}
        case RunFinished():
            return logging.INFO, "run finished", {"status": event.status}
        case RunFailed():
            return logging.WARNING, "run failed", {"code": event.code, "reason": event.message}
        case RunCancelled():
            return logging.INFO, "run cancelled", {"reason": event.reason}
        case _:
            return logging.DEBUG, event.type, {}


def _sample(event: StepFinished) -> dict[str, Any]:
    output = event.output if isinstance(event.output, dict) else {}
    frame = output.get("frame")
    if not isinstance(frame, dict):
        return {}
    return {"row_count": frame.get("row_count"), "sample": list(frame.get("sample", ()))[:SAMPLES]}
