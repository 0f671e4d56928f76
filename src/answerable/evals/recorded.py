"""Recorded runs: what a model replied to each case of an eval, to be measured again without the model.

A file holds replies and no prompts, one case a line. So a recording shows what the prompts of today cost: their tokens
are counted when they are sent, a quarter of the bytes. A reply that no longer fits is a wrong answer and shows as one.
"""

import json
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Protocol

from pydantic import ValidationError

from answerable.core.errors import UserError
from answerable.core.values import Frozen
from answerable.evals.cases import Case
from answerable.evals.compare import Rows
from answerable.evals.run import Answerer, Attempt
from answerable.models.tape import Exchange, ToolCall

BUNDLED = ("demo",)


class RecordedReply(Frozen):
    text: str = ""
    calls: tuple[ToolCall, ...] = ()

    def exchange(self) -> Exchange:
        return Exchange(asked="", text=self.text, calls=self.calls)


class RecordedCase(Frozen):
    id: str
    replies: tuple[RecordedReply, ...]


class Player(Protocol):
    """What says recorded replies, in their order."""

    def play(self, exchanges: Sequence[Exchange]) -> None: ...


class Listener(Protocol):
    """What hears replies."""

    @property
    def exchanges(self) -> list[Exchange]: ...


def load_recorded(name: str) -> dict[str, RecordedCase]:
    """The recorded cases of a file, or of a bundled set, by their ids."""
    path = files("answerable.demo").joinpath("recorded.jsonl") if name in BUNDLED else Path(name)
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
        cases = [RecordedCase.model_validate_json(line) for line in lines if line.strip()]
    except (OSError, UnicodeDecodeError, ValidationError) as error:
        reason = "it is no recording" if isinstance(error, ValidationError) else "it cannot be read"
        raise UserError(
            f"{name}: {reason}.",
            code="recording_invalid",
            hint="Record one: answerable eval CASES --model NAME --record FILE.",
        ) from None
    return {case.id: case for case in cases}


class Replayed:
    """An answerer whose model says what was recorded for each case."""

    def __init__(self, answerer: Answerer, player: Player, recorded: dict[str, RecordedCase]) -> None:
        self._answerer, self._player, self._recorded = answerer, player, recorded

    async def attempt(self, case: Case, *, force: bool, thread: str | None) -> Attempt:
        self._player.play([reply.exchange() for reply in self._recorded[case.id].replies])
        return await self._answerer.attempt(case, force=force, thread=thread)

    async def execute(self, case: Case, sql: str) -> Rows:
        return await self._answerer.execute(case, sql)


class Recording:
    """An answerer whose model's replies are written to a file, case by case."""

    def __init__(self, answerer: Answerer, listener: Listener, file: Path) -> None:
        self._answerer, self._listener, self._file = answerer, listener, file

    async def attempt(self, case: Case, *, force: bool, thread: str | None) -> Attempt:
        self._listener.exchanges.clear()
        attempt = await self._answerer.attempt(case, force=force, thread=thread)
        replies = tuple(RecordedReply(text=each.text, calls=each.calls) for each in self._listener.exchanges)
        line = RecordedCase(id=case.id, replies=replies).model_dump(mode="json", exclude_defaults=True)
        with self._file.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line, ensure_ascii=False) + "\n")
        return attempt

    async def execute(self, case: Case, sql: str) -> Rows:
        return await self._answerer.execute(case, sql)
