"""Sessions in Redis, for several servers. Redis forgets them by itself; scripts change them without interruption."""

from collections.abc import Awaitable, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any, TypeVar

import orjson

from answerable.core.clock import Clock
from answerable.core.errors import OperatorError
from answerable.core.ids import TenantId
from answerable.store.protocols.identities import SessionRecord
from answerable.store.redis_client import redis_client

_MARGIN = 60
"""Seconds that Redis keeps a session beyond its end, because clocks differ. Our own clock says whether it counts."""
_BEGIN = """
redis.call('SET', KEYS[1], ARGV[1], 'EX', ARGV[3])
redis.call('SADD', KEYS[2], ARGV[2])
if redis.call('TTL', KEYS[2]) < tonumber(ARGV[3]) then redis.call('EXPIRE', KEYS[2], ARGV[3]) end
"""
_RENEW = """
local found = redis.call('GET', KEYS[1])
if not found then return 0 end
local session = cjson.decode(found)
if session.expires_at <= ARGV[3] then return 0 end
session.used_at, session.expires_at = ARGV[1], ARGV[2]
redis.call('SET', KEYS[1], cjson.encode(session), 'EX', ARGV[4])
local users = ARGV[5] .. session.user
if redis.call('TTL', users) < tonumber(ARGV[4]) then redis.call('EXPIRE', users, ARGV[4]) end
return 1
"""
_END = """
local ended = 0
for _, digest in ipairs(redis.call('SMEMBERS', KEYS[1])) do
  local key = ARGV[1] .. digest
  local found = redis.call('GET', key)
  if not found then
    redis.call('SREM', KEYS[1], digest)
  elseif ARGV[2] == '' or cjson.decode(found).session_id == ARGV[2] then
    redis.call('DEL', key)
    redis.call('SREM', KEYS[1], digest)
    ended = ended + 1
  end
end
return ended
"""
_T = TypeVar("_T")


class RedisSessions:
    def __init__(self, url: str, clock: Clock) -> None:
        self._redis, self._error = redis_client(url, "Sessions")
        self._clock = clock
        self._begin = self._redis.register_script(_BEGIN)
        self._renew = self._redis.register_script(_RENEW)
        self._end = self._redis.register_script(_END)

    async def begin(self, tenant: TenantId, digest: str, session: SessionRecord) -> None:
        text = orjson.dumps({**asdict(session), **_times(session)})
        keys = [_key(tenant, digest), _of_user(tenant, session.user)]
        await self._asked(self._begin(keys=keys, args=[text, digest, self._seconds(session.expires_at)]))

    async def find(self, tenant: TenantId, digest: str) -> SessionRecord | None:
        return self._living(await self._asked(self._redis.get(_key(tenant, digest))))

    async def renew(self, tenant: TenantId, digest: str, *, used_at: datetime, expires_at: datetime) -> None:
        times = [_time(used_at), _time(expires_at), _time(self._clock.now())]
        arguments = [*times, self._seconds(expires_at), _of_user(tenant, "")]
        await self._asked(self._renew(keys=[_key(tenant, digest)], args=arguments))

    async def of_user(self, tenant: TenantId, user: str) -> Sequence[SessionRecord]:
        digests = [each.decode() for each in await self._asked(self._redis.smembers(_of_user(tenant, user)))]
        found = await self._asked(self._redis.mget([_key(tenant, digest) for digest in digests])) if digests else []
        living = [session for text in found if (session := self._living(text)) is not None]
        return sorted(living, key=lambda session: (-session.created_at.timestamp(), session.session_id))

    async def end(self, tenant: TenantId, user: str, session_id: str | None) -> int:
        arguments = [_key(tenant, ""), session_id or ""]
        return int(await self._asked(self._end(keys=[_of_user(tenant, user)], args=arguments)))

    async def close(self) -> None:
        await self._redis.aclose()

    async def _asked(self, reply: Awaitable[_T]) -> _T:
        """A Redis that is away lets nobody in: who is signed in is not known without it."""
        try:
            return await reply
        except (self._error, OSError) as error:
            raise OperatorError(f"Redis cannot be used: {error}", code="redis_unavailable") from error

    def _living(self, text: bytes | None) -> SessionRecord | None:
        if text is None:
            return None
        found: dict[str, Any] = orjson.loads(text)
        for name in ("created_at", "used_at", "expires_at"):
            found[name] = datetime.fromisoformat(found[name])
        session = SessionRecord(**found)
        return session if session.expires_at > self._clock.now() else None

    def _seconds(self, expires_at: datetime) -> int:
        return max(1, int((expires_at - self._clock.now()).total_seconds())) + _MARGIN


def _key(tenant: TenantId, digest: str) -> str:
    # The part in braces decides where a cluster keeps a key: all keys of a script must be in one place.
    return f"answerable:session:{{{tenant}}}:{digest}"


def _of_user(tenant: TenantId, user: str) -> str:
    return f"answerable:sessions:{{{tenant}}}:{user}"


def _times(session: SessionRecord) -> dict[str, str]:
    return {name: _time(getattr(session, name)) for name in ("created_at", "used_at", "expires_at")}


def _time(moment: datetime) -> str:
    """The moment as a text of fixed length, so that texts compare as the moments do."""
    return moment.isoformat(timespec="microseconds")
