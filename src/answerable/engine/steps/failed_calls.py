"""Calls of an API that fail in a step that may be partial: the program gets None in their place, and goes on."""

from dataclasses import field, replace

from answerable.core.errors import AnswerableError
from answerable.core.records import dataclass
from answerable.core.values import Json
from answerable.sandbox.base import HostCalls, HostFunction


@dataclass(slots=True)
class FailedCalls:
    calls: int = 0
    reasons: list[str] = field(default_factory=list)

    def left_out(self, calls: HostCalls) -> HostCalls:
        """The same functions, but a call that fails returns None and is counted here."""
        return replace(calls, functions={name: self._lenient(each) for name, each in calls.functions.items()})

    @property
    def findings(self) -> tuple[str, ...]:
        if not self.reasons:
            return ()
        return (
            f"{len(self.reasons)} of {self.calls} calls of the API failed, so their rows are missing. "
            f"The first: {self.reasons[0]}",
        )

    def _lenient(self, function: HostFunction) -> HostFunction:
        async def call(*args: Json, **named: Json) -> Json:
            self.calls += 1
            try:
                return await function(*args, **named)
            except AnswerableError as error:
                self.reasons.append(error.message)
                return None

        return call
