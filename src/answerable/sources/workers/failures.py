"""Failures as a worker reports them: the kind, code, message and hint of the error that the parent will raise."""

from dataclasses import asdict

from answerable.core.records import dataclass

_LONGEST_LOCK_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class FailureReport:
    kind: str
    """The name of a class in `answerable.core.errors`."""
    code: str
    message: str
    hint: str | None = None


class Failure(Exception):
    def __init__(self, kind: str, code: str, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.report = FailureReport(kind, code, message, hint)

    def as_json(self) -> dict[str, str | None]:
        return asdict(self.report)


def too_many_rows(limit: int) -> Failure:
    return Failure(
        "LimitError",
        "result_rows",
        f"The result has more than {limit:,} rows.",
        "Narrow the question, or raise the limit on rows.",
    )


def too_many_bytes(limit: int) -> Failure:
    return Failure(
        "LimitError",
        "result_bytes",
        f"The result is larger than {limit // 1_000_000:,} MB.",
        "Ask for fewer rows or columns, or raise the limit on the size of results.",
    )


def too_much_memory(limit_mb: int) -> Failure:
    return Failure(
        "LimitError",
        "query_memory",
        f"The query needed more than {limit_mb:,} MB of memory.",
        "Narrow the question, or raise the limit on memory.",
    )


def too_slow(seconds: float) -> Failure:
    return Failure(
        "LimitError",
        "query_time",
        f"The query took longer than {seconds:g} seconds and was stopped.",
        "Narrow the question, or raise the limit on time.",
    )


def locked(what: str) -> Failure:
    return Failure(
        "TransientError",
        "source_locked",
        f"{what} is locked by another program, which writes to it or changes it.",
        "Try again when the other program is done, or end it.",
    )


def lock_milliseconds(seconds: float) -> int:
    """How long a statement that may take so many seconds waits for a lock: less, so that waiting is not taken for slow
    work."""
    return max(1, int(min(seconds / 2, _LONGEST_LOCK_SECONDS) * 1000))


def bad_sql(message: str) -> Failure:
    return Failure(
        "UserError", "sql_invalid", message, "Check the names of tables and columns, and the types compared."
    )


def sql_failed(message: str) -> Failure:
    return Failure(
        "UserError", "sql_failed", message, "The statement is valid, but a value in the data cannot be handled."
    )


def stopped() -> Failure:
    """Whoever had it stopped knows why, and says so instead."""
    return Failure("LimitError", "query_stopped", "The query was stopped.")
