"""Suggestions of other sources: those that know words of the question which its own source does not know."""

import asyncio
from collections.abc import Awaitable, Mapping, Sequence
from typing import TYPE_CHECKING

from answerable.core.errors import AnswerableError
from answerable.core.records import dataclass

if TYPE_CHECKING:
    from answerable.reader.reader import Reader

MOST_SUGGESTIONS = 3
_SECONDS = 5.0
"""Time limit for opening a source: users should not wait long for a mere suggestion."""


@dataclass(frozen=True, slots=True)
class KnownWords:
    source: str
    words: tuple[str, ...]
    """The unknown words that name a table, a column or a value of this source."""


async def sources_that_know(
    text: str, unknown: Sequence[str], readers: Mapping[str, Awaitable["Reader"]]
) -> list[KnownWords]:
    """The sources that know at least one of the unknown words. Those that know most of the words come first."""
    asked = await asyncio.gather(*(_known(text, unknown, source, reader) for source, reader in readers.items()))
    return sorted((each for each in asked if each.words), key=lambda each: -len(each.words))[:MOST_SUGGESTIONS]


async def _known(text: str, unknown: Sequence[str], source: str, opening: Awaitable["Reader"]) -> KnownWords:
    try:
        reader = await asyncio.wait_for(opening, _SECONDS)
    except (AnswerableError, TimeoutError):
        return KnownWords(source, ())  # a source that cannot be read now is not suggested
    # In a thread, because linking words computes for milliseconds and would block the event loop.
    found = await asyncio.to_thread(reader.unknown_words, text)
    words = () if found.hopeless else tuple(word for word in dict.fromkeys(unknown) if word not in found.unknown)
    return KnownWords(source, words)
