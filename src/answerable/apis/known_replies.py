"""Replies that an API marked with an ETag. They are asked for again with it, and sent again only if they changed."""

from collections import OrderedDict
from dataclasses import replace

from answerable.apis.http import HttpReply, HttpRequest

_MOST_BYTES = 20_000_000


class KnownReplies:
    def __init__(self, most_bytes: int = _MOST_BYTES) -> None:
        self._most = most_bytes
        self._bytes = 0
        self._replies: OrderedDict[tuple[object, ...], HttpReply] = OrderedDict()

    def conditional(self, request: HttpRequest) -> HttpRequest:
        """The request with the ETag of the reply that is known, if there is one."""
        known = self._replies.get(_key(request))
        return request if known is None else replace(request, etag=known.etag)

    def settled(self, request: HttpRequest, reply: HttpReply) -> HttpReply:
        """The reply itself, or the known one that the API says is still right."""
        key = _key(request)
        if reply.status == 304 and key in self._replies:
            self._replies.move_to_end(key)
            return self._replies[key]
        if request.method == "GET" and reply.status == 200 and reply.etag:
            self._keep(key, reply)
        return reply

    def _keep(self, key: tuple[object, ...], reply: HttpReply) -> None:
        old = self._replies.pop(key, None)
        self._bytes += len(reply.content) - (len(old.content) if old is not None else 0)
        self._replies[key] = reply
        while self._bytes > self._most and self._replies:
            _, dropped = self._replies.popitem(last=False)
            self._bytes -= len(dropped.content)


def _key(request: HttpRequest) -> tuple[object, ...]:
    return request.method, request.path, request.params
