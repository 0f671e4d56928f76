"""An identity provider (OpenID Connect), as `settings.yaml` describes it. See docs/identity.md."""

import os
from collections.abc import Mapping
from typing import Annotated, Any
from urllib.parse import urlsplit

from pydantic import Field, StringConstraints, ValidationError, field_validator, model_validator

from answerable.core.errors import OperatorError, SignInError
from answerable.core.validation import first_problem
from answerable.core.values import Frozen

LOOPBACK = ("127.0.0.1", "localhost", "::1")
RESERVED = ("local", "service", "scim")
Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=500)]


class Provider(Frozen):
    """Who vouches for people, and what its claims mean here."""

    issuer: Text
    client_id: Text
    secret_from: Text | None = None
    """The environment variable with the client's secret; None for a client without one, which PKCE alone guards."""
    label: Text | None = None
    """What the button on the page says after "Sign in with"."""
    scopes: tuple[Text, ...] = ("openid", "profile", "email")
    hosts: tuple[Text, ...] = ()
    """Hosts besides the issuer's own that its discovery document may name, such as www.googleapis.com."""
    user_claim: Text = "preferred_username"
    """The claim that becomes the name of the user."""
    groups_claim: Text = "groups"
    roles: Mapping[Text, tuple[Text, ...]] = Field(default_factory=dict)
    """Which roles of `access.yaml` a value of the groups claim gives."""
    attributes: Mapping[Text, Text] = Field(default_factory=dict)
    """Attributes for row rules, each by the claim that holds its values."""
    new_users: bool = True
    """Whether somebody whom neither the store nor `access.yaml` knows may come in."""
    audience: Text | None = None
    """The audience of access tokens that programs may send; None takes none."""

    @field_validator("roles", mode="before")
    @classmethod
    def _one_role_needs_no_list(cls, value: object) -> object:
        if not isinstance(value, Mapping):
            return value
        return {group: [roles] if isinstance(roles, str) else roles for group, roles in value.items()}

    @model_validator(mode="after")
    def _can_be_trusted(self) -> "Provider":
        parts = urlsplit(self.issuer)
        if parts.query or parts.fragment or parts.username or not parts.hostname:
            raise ValueError("issuer: this is not the address of an issuer")
        if not is_safe_address(self.issuer):
            raise ValueError("issuer: this must be an https address")
        if self.audience == self.client_id:
            raise ValueError("audience: an ID token has the client's id as its audience, and it must not open the API")
        if "openid" not in self.scopes:
            raise ValueError("scopes: `openid` is needed")
        return self

    @property
    def allowed_hosts(self) -> frozenset[str]:
        """Where requests of Answerable may go, and where it may send browsers."""
        own = urlsplit(self.issuer).netloc
        return frozenset({own.lower(), *(host.lower() for host in self.hosts)})

    def secret(self) -> str | None:
        if self.secret_from is None:
            return None
        value = os.environ.get(self.secret_from, "")
        if not value:
            raise OperatorError(
                f"The environment variable {self.secret_from} does not hold the secret of the identity provider.",
                code="provider_secret_missing",
                hint="Set it for the server, and start it again.",
            )
        return value


class Vouched(Frozen):
    """Somebody for whom a provider vouches."""

    name: str
    subject: str
    """What the provider calls the account. It never changes, and is never given to somebody else."""
    roles: tuple[str, ...]
    attributes: Mapping[str, tuple[str, ...]]


def read_providers(configured: Mapping[str, Mapping[str, Any]]) -> Mapping[str, Provider]:
    found = {}
    for name, fields in configured.items():
        if name in RESERVED or not name.isidentifier():
            raise OperatorError(
                f"An identity provider cannot be called {name!r}.",
                code="provider_invalid",
                hint="Take a plain word, such as entra or okta.",
            )
        try:
            found[name] = Provider.model_validate(fields)
        except ValidationError as error:
            raise OperatorError(
                f"The identity provider {name!r} in settings.yaml is wrong: {first_problem(error).at(name)}.",
                code="provider_invalid",
            ) from None
    return found


def is_safe_address(url: str) -> bool:
    """Whether nobody on the way can read or change what is sent there."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in LOOPBACK)


def vouched(claims: Mapping[str, Any], provider: Provider) -> Vouched:
    """Whom verified claims speak of, with the roles and attributes that they give here."""
    name = claims.get(provider.user_claim)
    if not isinstance(name, str) or not name.strip():
        raise SignInError(
            f"The provider does not say who this is: there is no claim `{provider.user_claim}`.",
            code="claims_incomplete",
            hint="Whoever runs this installation can choose another `user_claim`.",
        )
    if provider.user_claim == "email" and claims.get("email_verified") is False:
        raise SignInError("The provider has not verified this address.", code="claims_incomplete")
    if provider.groups_claim in (claims.get("_claim_names") or {}):
        # A provider leaves the groups out of the token if there are too many. That is not the same as none.
        raise SignInError(
            "The provider has left out the groups, because there are too many of them.",
            code="claims_incomplete",
            hint="Limit the groups to those assigned to the application, or use application roles.",
        )
    roles = [role for group in _texts(claims.get(provider.groups_claim)) for role in provider.roles.get(group, ())]
    attributes = {ours: _texts(claims.get(theirs)) for ours, theirs in provider.attributes.items()}
    return Vouched(
        name=name.strip(),
        subject=str(claims["sub"]),
        roles=tuple(dict.fromkeys(roles)),
        attributes={ours: values for ours, values in attributes.items() if values},
    )


def _texts(value: object) -> tuple[str, ...]:
    values = value if isinstance(value, list) else [value]
    return tuple(each for each in values if isinstance(each, str) and each)
