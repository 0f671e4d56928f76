"""Personal data on its way out: answers, events and exported rows are redacted for who may not see it.

What is stored stays whole. So a person whose role may see personal data sees it in the same answers, also later.
"""

import asyncio
from collections.abc import AsyncIterator, Iterable
from dataclasses import fields, replace
from pathlib import Path

from answerable.answers.answer import Answer
from answerable.core.context import Principal
from answerable.core.events import Event, StepOutput
from answerable.engine.segments import Label, is_text, label_of
from answerable.protection.personal.places import NOTHING_HIDDEN, PersonalPolicy, Place
from answerable.protection.personal.redaction import Redaction, StreamRedaction

_OF_THE_ENVELOPE = ("run", "seq", "at", "node")


class PersonalData:
    def __init__(self, policy: PersonalPolicy = NOTHING_HIDDEN, folder: Path = Path()) -> None:
        """`folder`: where redacted copies of rows are cached."""
        self._policy = policy
        self._folder = folder
        self._redaction = Redaction(policy.kinds)

    def hides(self, place: Place, principal: Principal) -> bool:
        return self._policy.hides(place, principal.roles)

    def answer(self, answer: Answer, principal: Principal) -> Answer:
        if not self.hides("answers", principal):
            return answer
        shown = Answer.model_validate(self._redaction.value(answer.model_dump()))
        if shown.text == answer.text:
            return shown
        # The links say at which characters of the text a number stands.
        return shown.model_copy(update={"provenance": shown.provenance.model_copy(update={"links": ()})})

    def journal(self, events: Iterable[Event], principal: Principal) -> list[Event]:
        if not self.hides("events", principal):
            return list(events)
        shown = RedactedEvents(self._redaction)
        return [each for event in events for each in shown.of(event)]

    async def events(
        self, events: AsyncIterator[Event], principal: Principal, before: Iterable[Event]
    ) -> AsyncIterator[Event]:
        """`before`: the events that the follower has had, in which a text may have begun that goes on."""
        if not self.hides("events", principal):
            async for event in events:
                yield event
            return
        shown = RedactedEvents(self._redaction)
        for event in before:
            shown.of(event)
        async for event in events:
            for each in shown.of(event):
                yield each

    async def rows_path(self, rows: Path, principal: Principal) -> Path:
        """The Arrow file, or a copy in which the text of every column is redacted. Filters and searches then work on
        what is shown, so they tell nothing of what is not."""
        if not self.hides("exports", principal):
            return rows
        from answerable.answers.redacted_rows import redacted_copy

        kinds = "-".join(sorted(self._policy.kinds))
        copy = self._folder / f"{rows.parent.name}{rows.stem}-{kinds}.arrow"
        if not copy.exists():
            await asyncio.to_thread(redacted_copy, rows, copy, self._redaction)
        return copy


class RedactedEvents:
    """Events of one run in their order. Text that a model writes is cut only where no personal data can go on; the rest
    is held back until more of it comes, and sent before the next event of another kind that is about its step."""

    def __init__(self, redaction: Redaction) -> None:
        self._redaction = redaction
        self._texts: dict[Label, tuple[StreamRedaction, StepOutput]] = {}

    def of(self, event: Event) -> list[Event]:
        if isinstance(event, StepOutput) and is_text(event.channel, event.data):
            return [self._text(event)]
        node = getattr(event, "node", None)
        ended = [label for label in self._texts if node is None or label[0] == node]
        # Only what ends a step or a run ends its texts: other events may come between two words.
        rest = [self._rest(label) for label in ended] if _ends(event) else []
        return [*filter(None, rest), self._redacted(event)]

    def _text(self, event: StepOutput) -> StepOutput:
        stream, _ = self._texts.get(label_of(event), (StreamRedaction(self._redaction.kinds), event))
        self._texts[label_of(event)] = stream, event
        return replace(event, data={**event.data, "text": stream.feed(event.data["text"])})

    def _rest(self, label: Label) -> StepOutput | None:
        stream, last = self._texts.pop(label)
        text = stream.end()
        # Without a number: it is the end of pieces that have one, or will get one.
        return replace(last, seq=0, data={**last.data, "text": text, "pieces": 0}) if text else None

    def _redacted(self, event: Event) -> Event:
        names = [field.name for field in fields(event) if field.name not in _OF_THE_ENVELOPE]
        return replace(event, **{name: self._redaction.value(getattr(event, name)) for name in names})


def _ends(event: Event) -> bool:
    return event.type in ("step.finished", "step.failed", "run.finished", "run.failed", "run.cancelled", "answer.final")
