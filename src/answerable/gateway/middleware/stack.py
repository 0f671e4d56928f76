"""Every middleware in one tuple that reads from outside in: a request passes the first one first."""

from collections.abc import Iterable

from starlette.middleware import Middleware

from answerable.gateway.metrics import Metrics
from answerable.gateway.middleware.authentication import Authentication
from answerable.gateway.middleware.bodies import BodyLimits
from answerable.gateway.middleware.headers import SecurityHeaders
from answerable.gateway.middleware.idempotency import KeyedReplies
from answerable.gateway.middleware.observing import AccessLog, Defects, RequestId, ResponseTime
from answerable.gateway.middleware.origins import Cors, KnownHosts, SameOrigin
from answerable.gateway.middleware.rates import RateLimit
from answerable.gateway.middleware.waf import Waf
from answerable.gateway.token import TokenRequired
from answerable.settings import LOOPBACK, Settings


def middleware_stack(
    settings: Settings, metrics: Metrics, *, allow_hosts: Iterable[str] = (), token: str | None = None
) -> tuple[Middleware, ...]:
    """`allow_hosts`: host names that the server answers under beside its own. `token`: what every request must carry;
    None if the server is for everybody who can reach it."""
    proxies = frozenset(allow_hosts)
    own_hosts = proxies | {*LOOPBACK, settings.host}
    any_address = settings.has_identities or token is not None
    origins = settings.allowed_origins
    return (
        Middleware(RequestId),
        Middleware(ResponseTime, metrics=metrics),
        Middleware(AccessLog),
        Middleware(SecurityHeaders),
        Middleware(Defects),
        Middleware(KnownHosts, hosts=own_hosts, any_address=any_address, origins=origins),
        Middleware(SameOrigin, allowed=proxies, origins=origins),
        Middleware(Cors, origins=origins),
        Middleware(BodyLimits),
        Middleware(Waf, rules=settings.waf_rules),
        *([Middleware(TokenRequired, token=token)] if token is not None else []),
        Middleware(Authentication),
        Middleware(RateLimit, rules=settings.rate_rules),
        Middleware(KeyedReplies),
    )
