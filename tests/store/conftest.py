"""Stores that are closed when a test ends."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from answerable.store.base import Store
from answerable.store.open import open_store


@pytest.fixture
async def opened() -> AsyncIterator[Callable[..., Awaitable[Store]]]:
    async with AsyncExitStack() as closing:

        async def open_one_more(url: str | Path, **options: Any) -> Store:
            store = await open_store(url, **options)
            closing.push_async_callback(store.close)
            return store

        yield open_one_more
