"""Who asks on the command line, and the service, opened for as long as one command needs it."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeVar

from answerable.core.context import LOCAL, Principal, person

if TYPE_CHECKING:
    from answerable.service import Service

T = TypeVar("T")


def principal(user: str | None = None) -> Principal:
    """The person at the machine, to whom no access rule applies: they can read the files themselves. With `user`, the
    user of that name, whom a command can act for to show what they see."""
    return LOCAL if user is None else person(user)


def with_service(
    work: "Callable[[Service, Principal], Awaitable[T]]", *, empty_store: bool = False, **overrides: Any
) -> T:
    """Opens the service, does the work for the person at the machine, and closes the service again. With `empty_store`
    it opens an empty store in memory: for what must also work while the configured store cannot be opened. `overrides`
    are settings from the command line."""
    from answerable.app import open_service
    from answerable.settings import load_settings

    async def inside() -> T:
        # Whoever runs a command may open every file that the command can read: it is their own machine.
        async with open_service(load_settings(**overrides), any_location=True, empty_store=empty_store) as service:
            return await work(service, principal())

    return asyncio.run(inside())
