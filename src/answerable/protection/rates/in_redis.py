"""Requests counted in Redis, for several servers. A script decides, which Redis runs without interruption."""

from collections.abc import Sequence
from uuid import uuid4

from answerable.core.errors import OperatorError
from answerable.core.ids import TenantId
from answerable.protection.rates.base import RateVerdict, verdict
from answerable.protection.rates.rules import WindowLimit
from answerable.store.redis_client import redis_client

_TAKE = """
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])
local allowed = 1
for i, key in ipairs(KEYS) do
  redis.call('ZREMRANGEBYSCORE', key, '-inf', now - tonumber(ARGV[2 * i + 1]) * 1000000)
  if redis.call('ZCARD', key) >= tonumber(ARGV[2 * i]) then allowed = 0 end
end
local result = {allowed}
for i, key in ipairs(KEYS) do
  if allowed == 1 then
    redis.call('ZADD', key, now, ARGV[1])
    redis.call('EXPIRE', key, tonumber(ARGV[2 * i + 1]) + 1)
  end
  local oldest = redis.call('ZRANGE', key, 0, 0, 'WITHSCORES')
  result[#result + 1] = redis.call('ZCARD', key)
  result[#result + 1] = oldest[2] and (now - tonumber(oldest[2])) or 0
end
return result
"""


class RedisCounts:
    def __init__(self, url: str) -> None:
        self._redis, self._error = redis_client(url, "Rate limits")
        self._take = self._redis.register_script(_TAKE)

    async def take(self, tenant: TenantId, limits: Sequence[WindowLimit]) -> RateVerdict:
        # The part in braces decides where a cluster keeps a key: all keys of a script must be in one place.
        keys = [f"answerable:rate:{{{tenant}}}:{limit.name}" for limit in limits]
        arguments = [uuid4().hex, *(str(part) for limit in limits for part in (limit.count, limit.seconds))]
        try:
            allowed, *rest = await self._take(keys=keys, args=arguments)
        except (self._error, OSError) as error:
            raise OperatorError(f"Redis cannot be used: {error}", code="redis_unavailable") from error
        return verdict(limits, rest[::2], [float(age) / 1_000_000 for age in rest[1::2]], bool(allowed))

    async def close(self) -> None:
        await self._redis.aclose()
