"""Where else a question might be asked: of sources that know words which the asked one does not."""

import asyncio
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from answerable.core.errors import AnswerableError

if TYPE_CHECKING:
    from answerable.reader.reader import Reader

MOST = 3
_SECONDS = 5.0
"""For which a source may take to be read: nobody waits long for a mere suggestion."""


@dataclass(frozen=True, slots=True)
class KnownWords:
    source: str
    words: tuple[str, ...]
    """Those of the unknown words that name a table, a column or a value of it."""


async def sources_that_know(
    text: str, unknown: Sequence[str], readers: Mapping[str, Awaitable["Reader"]]
) -> list[KnownWords]:
    """The sources, by their readers, in which the question makes sense; those that know most of the words first."""
    asked = await asyncio.gather(*(_known(text, unknown, source, reader) for source, reader in readers.items()))
    return sorted((each for each in asked if each.words), key=lambda each: -len(each.words))[:MOST]


async def _known(text: str, unknown: Sequence[str], source: str, opening: Awaitable["Reader"]) -> KnownWords:
    try:
        reader = await asyncio.wait_for(opening, _SECONDS)
    except (AnswerableError, TimeoutError):
        return KnownWords(source, ())  # what cannot be read now is not suggested
    found = await asyncio.to_thread(reader.unknown_words, text)
    words = () if found.hopeless else tuple(word for word in dict.fromkeys(unknown) if word not in found.unknown)
    return KnownWords(source, words)
