"""A streamed reply whose events come from another iterator; in everything else it is the stream that it wraps."""

from collections.abc import AsyncIterator
from datetime import datetime
from typing import Any

from pydantic_ai.messages import ModelResponseStreamEvent
from pydantic_ai.models import StreamedResponse

_OWN = frozenset({"__aiter__", "__class__", "inner", "events"})


class WatchedStream(StreamedResponse):
    """The library has no wrapper for streams as it has for models. Every attribute but the iterator is looked up in and
    written to the wrapped stream, so that usage, parts and the reason of the end are counted in one place."""

    inner: StreamedResponse
    events: AsyncIterator[ModelResponseStreamEvent]

    def __init__(self, inner: StreamedResponse, events: AsyncIterator[ModelResponseStreamEvent]) -> None:
        object.__setattr__(self, "inner", inner)
        object.__setattr__(self, "events", events)

    def __aiter__(self) -> AsyncIterator[ModelResponseStreamEvent]:
        return self.events

    def __getattribute__(self, name: str) -> Any:
        found = object.__getattribute__(self, name if name in _OWN else "inner")
        return found if name in _OWN else getattr(found, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self.inner, name, value)

    # Abstract in the base class. Looked up in the wrapped stream like all else, so these bodies never run.

    async def _get_event_iterator(self) -> AsyncIterator[ModelResponseStreamEvent]:
        async for event in self.events:
            yield event

    async def close_stream(self) -> None:
        await self.inner.close_stream()

    @property
    def model_name(self) -> str:
        return self.inner.model_name

    @property
    def provider_name(self) -> str | None:
        return self.inner.provider_name

    @property
    def provider_url(self) -> str | None:
        return self.inner.provider_url

    @property
    def timestamp(self) -> datetime:
        return self.inner.timestamp
