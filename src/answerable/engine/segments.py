"""Streamed text is told piece by piece and stored as segments that join many pieces.

A piece is a `step.output` on the channel `token`, with the number 0: it is shown while the run is live and never
stored. Once a second, and before any other event of the run, the pieces since then become one numbered event, whose
`pieces` says how many it joins. The text of all segments together is the text of all pieces.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from answerable.core.events import Event, StepOutput
from answerable.core.ids import NodeId
from answerable.core.values import Json

TEXT_CHANNEL = "token"
LARGEST = 8_192
"""Characters after which a segment is stored without waiting."""

Label: TypeAlias = tuple[NodeId, tuple[tuple[str, Json], ...]]
"""Whose text it is: the step, and what stands beside the text (the agent). Texts of one label follow each other."""


def is_text(channel: str, data: Json) -> bool:
    return channel == TEXT_CHANNEL and isinstance(data, dict) and isinstance(data.get("text"), str)


def label_of(event: StepOutput) -> Label:
    return event.node, tuple((name, value) for name, value in event.data.items() if name not in ("text", "pieces"))


def pieces_in(event: StepOutput) -> int:
    """How many pieces a stored event joins. Events of older versions are a single piece each."""
    count: int = event.data.get("pieces", 1)
    return count


class OpenSegments:
    """Pieces that are not recorded yet."""

    def __init__(self) -> None:
        self._texts: dict[Label, list[str]] = {}
        self._size = 0

    def __bool__(self) -> bool:
        return bool(self._texts)

    def add(self, piece: StepOutput) -> bool:
        """Returns whether the segments are large enough to be stored at once."""
        text = piece.data["text"]
        self._texts.setdefault(label_of(piece), []).append(text)
        self._size += len(text)
        return self._size >= LARGEST

    def take(self) -> list[tuple[NodeId, dict[str, Any]]]:
        """The node and data of each segment, which is then no longer open."""
        taken, self._texts, self._size = self._texts, {}, 0
        return [
            (node, {**dict(beside), "text": "".join(texts), "pieces": len(texts)})
            for (node, beside), texts in taken.items()
        ]


@dataclass(slots=True)
class _Sent:
    pieces: int = 0
    characters: int = 0


@dataclass(slots=True)
class TextSeen:
    """What one follower has of the text that is not stored yet. Of a segment it then gets only the rest."""

    _sent: dict[Label, _Sent] = field(default_factory=dict)

    def rest_of(self, event: Event) -> Event:
        """A stored event without the text that this follower got as pieces."""
        if not isinstance(event, StepOutput) or not is_text(event.channel, event.data):
            return event
        sent = self._sent.get(label_of(event))
        if sent is None or not sent.pieces:
            return event
        text, pieces = event.data["text"], pieces_in(event)
        data = {**event.data, "text": text[sent.characters :], "pieces": max(0, pieces - sent.pieces)}
        sent.pieces = max(0, sent.pieces - pieces)
        sent.characters = max(0, sent.characters - len(text))
        return StepOutput(event.run, event.seq, event.at, event.node, event.channel, data)

    def unsent(self, open_pieces: Mapping[Label, list[StepOutput]]) -> list[StepOutput]:
        """Pieces that this follower has not got yet."""
        fresh = []
        for label, pieces in open_pieces.items():
            sent = self._sent.setdefault(label, _Sent())
            for piece in pieces[sent.pieces :]:
                sent.pieces += 1
                sent.characters += len(piece.data["text"])
                fresh.append(piece)
        return fresh
