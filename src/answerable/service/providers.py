"""Signing in at an identity provider, and the provider's tokens that programs send."""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from pydantic import Field

from answerable.access.policy import digest_of
from answerable.core.clock import Clock
from answerable.core.context import Principal, person
from answerable.core.errors import AnswerableError, NotFoundError, SignInError
from answerable.core.ids import TenantId
from answerable.core.values import Frozen
from answerable.identity.provider import Provider, read_providers, vouched
from answerable.service.identity import IdentityService
from answerable.service.identity_views import SignedIn
from answerable.store.protocols.identities import FlowRecord, Flows

if TYPE_CHECKING:
    from answerable.identity.oidc import ProviderClient

FLOW_VALID = timedelta(minutes=10)
"""How long somebody may take to sign in at the provider."""


class OfferedProvider(Frozen):
    name: str
    label: str = Field(description="What a button says after `Sign in with`.")


class ProviderCheck(Frozen):
    """Whether a provider can be used as it is configured."""

    name: str
    issuer: str
    usable: bool
    keys: int = Field(description="How many public keys for signatures it has.")
    problem: str | None
    hint: str | None


@dataclass(frozen=True, slots=True)
class BegunSignIn:
    address: str
    """Where the browser goes."""
    browser: str = field(repr=False)
    """A secret that stays in the browser: whoever comes back without it did not begin this sign-in."""


class ProviderService:
    def __init__(
        self,
        configured: Mapping[str, Mapping[str, Any]],
        identity: IdentityService,
        flows: Flows,
        clock: Clock,
    ) -> None:
        self._providers = read_providers(configured)
        self._identity = identity
        self._flows = flows
        self._clock = clock
        self._clients: dict[str, ProviderClient] = {}

    def offered(self) -> list[OfferedProvider]:
        """The providers at which people can sign in."""
        return [OfferedProvider(name=name, label=each.label or name) for name, each in self._providers.items()]

    async def begin(self, name: str, redirect_uri: str, tenant: TenantId) -> BegunSignIn:
        """Begins to sign somebody in. `redirect_uri`: where the provider sends the browser back to."""
        from answerable.identity.oidc import Flow

        client, flow, browser = self._client(name), Flow.new(), secrets.token_urlsafe(32)
        address = await client.authorization_url(flow, redirect_uri)
        record = FlowRecord(
            name, digest_of(browser), flow.nonce, flow.verifier, redirect_uri, self._clock.now() + FLOW_VALID
        )
        await self._flows.begin(tenant, digest_of(flow.state), record)
        return BegunSignIn(address, browser)

    async def finish(
        self,
        name: str,
        tenant: TenantId,
        *,
        state: str,
        code: str,
        browser: str,
        issuer: str | None = None,
        client: str = "",
    ) -> SignedIn:
        """Signs in whoever comes back from the provider. A sign-in can be finished once, by the browser that began it.
        `issuer`: what the address says who sent the browser."""
        flow = await self._flows.use(tenant, digest_of(state))
        if (
            flow is None
            or flow.provider != name
            or not secrets.compare_digest(flow.browser_digest, digest_of(browser))
            or (issuer is not None and issuer != self._providers[name].issuer)
        ):
            raise SignInError(
                "This sign-in was finished already, took too long, or was begun in another browser.",
                code="sign_in_refused",
                hint="Begin once more on the page.",
            )
        claims = await self._client(name).claims_for(code, flow.nonce, flow.verifier, flow.redirect_uri)
        user = await self._admitted(name, claims, tenant)
        return await self._identity.begin_session(user, tenant, client=client)

    async def person_with(self, token: str, tenant: TenantId) -> Principal | None:
        """The person for whom a provider made this access token; None if it is no signed token, or no provider's tokens
        are taken. One that is forged, expired or for others raises `SignInError`."""
        takers = {name: each for name, each in self._providers.items() if each.audience is not None}
        if token.count(".") != 2 or not takers:
            return None
        refusal: SignInError | None = None
        for name, provider in takers.items():
            try:
                claims = await self._client(name).verified(token, provider.audience or "")
            except SignInError as error:
                refusal = error
                continue
            return person(await self._admitted(name, claims, tenant), tenant)
        assert refusal is not None
        raise refusal

    async def check(self, principal: Principal) -> list[ProviderCheck]:
        """Asks each provider for its addresses and keys."""
        self._identity.require_administrator(principal)
        return [await self._checked(name, provider) for name, provider in self._providers.items()]

    async def close(self) -> None:
        for client in self._clients.values():
            await client.close()

    async def _checked(self, name: str, provider: Provider) -> ProviderCheck:
        keys, problem, hint = 0, None, None
        try:
            provider.secret()
            client = self._client(name)
            await client.addresses()
            keys = len(await client.keys())
        except AnswerableError as error:
            problem, hint = error.message, error.hint
        return ProviderCheck(
            name=name, issuer=provider.issuer, usable=problem is None, keys=keys, problem=problem, hint=hint
        )

    async def _admitted(self, name: str, claims: Mapping[str, Any], tenant: TenantId) -> str:
        """The name of the user whom the claims speak of, stored with the roles and attributes that they give."""
        provider = self._providers[name]
        return await self._identity.admit(vouched(claims, provider), name, tenant, new_users=provider.new_users)

    def _client(self, name: str) -> "ProviderClient":
        from answerable.identity.oidc import ProviderClient

        if name not in self._providers:
            raise NotFoundError(f"There is no identity provider {name!r}.", code="provider_unknown")
        if name not in self._clients:
            self._clients[name] = ProviderClient(self._providers[name], self._clock)
        return self._clients[name]
