"""Streamed text is shown piece by piece, and stored as segments that join many pieces.

A piece is a `step.output` on the channel `token`, with the number 0. It is shown while the run is live and never
stored. Once a second, and before any other event of the run, the new pieces become one numbered event, the segment. Its
field `pieces` is the number of pieces that it joins. The text of all segments equals the text of all pieces.

One event for each piece would make a journal of mostly single words: large on disk and slow to read.
"""

from collections.abc import Mapping
from dataclasses import field
from typing import Any, TypeAlias

from answerable.core.events import Event, StepOutput
from answerable.core.ids import NodeId
from answerable.core.records import dataclass
from answerable.core.values import Json

TEXT_CHANNEL = "token"
LARGEST = 8_192
"""Characters after which a segment is stored without waiting. Bounds the size of one event."""

Label: TypeAlias = tuple[NodeId, tuple[tuple[str, Json], ...]]
"""The owner of a text: the step, and the other fields of its output (the agent). Texts of one label are joined."""


def is_text(channel: str, data: Json) -> bool:
    return channel == TEXT_CHANNEL and isinstance(data, dict) and isinstance(data.get("text"), str)


def label_of(event: StepOutput) -> Label:
    return event.node, tuple((name, value) for name, value in event.data.items() if name not in ("text", "pieces"))


def pieces_in(event: StepOutput) -> int:
    """The number of pieces that a stored event joins. Events of older versions hold one piece each."""
    count: int = event.data.get("pieces", 1)
    return count


class OpenSegments:
    """Pieces that are not recorded yet."""

    def __init__(self) -> None:
        self.texts: dict[Label, list[str]] = {}
        """Read for every event of a run, so without a call."""
        self._size = 0

    def add(self, piece: StepOutput) -> bool:
        """Adds a piece. Returns whether the segments are large enough to be stored at once."""
        text = piece.data["text"]
        self.texts.setdefault(label_of(piece), []).append(text)
        self._size += len(text)
        return self._size >= LARGEST

    def take(self) -> list[tuple[NodeId, dict[str, Any]]]:
        """Removes all segments, and returns the node and data of each."""

        taken, self.texts, self._size = self.texts, {}, 0
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
    """The streamed text that one follower has got before it was stored. Of the stored segment the follower then gets
    only the rest, so that it never gets text twice."""

    _sent: dict[Label, _Sent] = field(default_factory=dict)

    def rest_of(self, event: Event) -> Event:
        """The stored event without the text that this follower has already got as pieces."""
        if not isinstance(event, StepOutput) or not is_text(event.channel, event.data):
            return event
        sent = self._sent.get(label_of(event))
        if sent is None or not sent.pieces:
            return event  # a follower that came later: it reads all text from the store
        text, pieces = event.data["text"], pieces_in(event)
        data = {**event.data, "text": text[sent.characters :], "pieces": max(0, pieces - sent.pieces)}
        # Pieces sent beyond this segment belong to the next one, so they stay counted.
        sent.pieces = max(0, sent.pieces - pieces)
        sent.characters = max(0, sent.characters - len(text))
        return StepOutput(event.run, event.seq, event.at, event.node, event.channel, data)

    def unsent(self, open_pieces: Mapping[Label, list[StepOutput]]) -> list[StepOutput]:
        """Pieces that this follower has not got yet. They count as sent from now on."""
        fresh = []
        for label, pieces in open_pieces.items():
            sent = self._sent.setdefault(label, _Sent())
            for piece in pieces[sent.pieces :]:
                sent.pieces += 1
                sent.characters += len(piece.data["text"])
                fresh.append(piece)
        return fresh
