"""The client of Redis, which is an extra."""

from importlib import import_module
from typing import Any

from answerable.core.errors import OperatorError

SECONDS = 1.0
"""For one answer of Redis. Requests wait for it, so a Redis that hangs must not hold them up."""


def redis_client(url: str, what: str) -> tuple[Any, type[Exception]]:
    """The client, and what it raises. `what` needs it."""
    try:
        redis = import_module("redis.asyncio")  # installations without it need not know its types
    except ImportError as error:
        raise OperatorError(
            f"{what} in Redis need the package redis.",
            code="redis_missing",
            hint="Install it with `pip install 'answerable[redis]'`, or leave the setting `redis` empty.",
        ) from error
    try:
        client = redis.Redis.from_url(url, socket_timeout=SECONDS, socket_connect_timeout=SECONDS)
    except ValueError as error:
        raise OperatorError(
            f"The setting 'redis' is no address of a Redis server: {error}.",
            code="settings_invalid",
            hint="It looks like redis://:password@host:6379/0.",
        ) from None
    return client, redis.RedisError
