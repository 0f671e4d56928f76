"""What is stored about a tenant that is synced: its address, and where its credential is found. Never the credential.

okta/NAME/tenant.json      the address, and the names of environment variables
okta/NAME/okta.sqlite      the synced data, a source named NAME
okta/NAME/semantic.yaml    what people call things in it
okta/NAME/schedule.json    when it is synced by itself, if it is
"""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from answerable.core.errors import NotFoundError, OperatorError, UserError
from answerable.okta.sync.client import Credential, tenant_url
from answerable.okta.sync.credentials import ApiToken, PrivateKey, from_environment
from answerable.okta.sync.database import PUBLISHED
from answerable.okta.tenant_names import TENANT_FILE
from answerable.store.whole_files import whole_file

TOKEN_VARIABLE = "OKTA_API_TOKEN"  # noqa: S105 - the name of a variable
KEY_VARIABLE = "OKTA_PRIVATE_KEY"
VOCABULARY = Path(__file__).parent / "data" / "semantic.yaml"


@dataclass(frozen=True, slots=True)
class StoredTenant:
    url: str
    token_from: str = TOKEN_VARIABLE
    """The environment variable with the API token, or, with a client id, with the private key."""
    client_id: str | None = None

    def credential(self) -> Credential:
        secret = from_environment(self.token_from)
        if self.client_id is None:
            return ApiToken(secret, self.token_from)
        return PrivateKey(self.client_id, secret, self.token_from)


def database_of(folder: Path) -> Path:
    return folder / PUBLISHED


def stored_tenant(folder: Path) -> StoredTenant | None:
    """None if no tenant of that name was synced before."""
    try:
        return StoredTenant(**json.loads((folder / TENANT_FILE).read_text("utf-8")))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError) as error:
        raise OperatorError(
            f"{folder / TENANT_FILE} cannot be read: {error}.",
            code="okta_tenant_unreadable",
            hint="Remove the file, and name the address of the tenant once more.",
        ) from error


def unknown_tenant(name: str) -> NotFoundError:
    return NotFoundError(
        f"No tenant is synced as {name!r}.",
        code="okta_tenant_unknown",
        hint=f"Name its address: answerable okta sync {name} https://acme.okta.com",
    )


def remembered(folder: Path, url: str | None, token_from: str | None, client_id: str | None) -> StoredTenant:
    """The tenant as it is stored, changed by what is named, and stored so. An address belongs to a name for good: the
    data of two tenants must not meet in one file."""
    known = stored_tenant(folder)
    if url is None and known is None:
        raise unknown_tenant(folder.name)
    address = tenant_url(url) if url is not None else (known.url if known else "")
    if known is not None and address != known.url and database_of(folder).exists():
        raise UserError(
            f"{folder.name} holds the data of {known.url}.",
            code="okta_name_taken",
            hint="Sync another tenant under another name.",
        )
    client = client_id or (known.client_id if known else None)
    variable = token_from or (known.token_from if known else KEY_VARIABLE if client else TOKEN_VARIABLE)
    tenant = StoredTenant(address, variable, client)
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    if tenant != known:
        with whole_file(folder / TENANT_FILE) as partial:  # others may look at it meanwhile
            partial.write_text(json.dumps(asdict(tenant), indent=2) + "\n", "utf-8")
    return tenant


def give_vocabulary(folder: Path) -> None:
    """Puts the names that people use beside the data, unless somebody has written their own."""
    target = folder / "semantic.yaml"
    if not target.exists():
        target.write_bytes(VOCABULARY.read_bytes())
