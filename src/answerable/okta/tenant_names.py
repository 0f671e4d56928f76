"""Names of tenants, and the folders that belong to them."""

import re
from collections.abc import Sequence
from pathlib import Path

from answerable.core.errors import UserError

TENANT_FILE = "tenant.json"


def tenant_folder(home: Path, name: str) -> Path:
    if not re.fullmatch(r"\w[\w.-]{0,60}", name):
        raise UserError(
            f"{name!r} cannot be the name of a tenant.",
            code="okta_name_invalid",
            hint="Use letters, digits, dots, hyphens and underscores.",
        )
    return home / "okta" / name


def tenant_names(home: Path) -> Sequence[str]:
    """The names of all tenants that are stored, in order."""
    return sorted(file.parent.name for file in home.glob(f"okta/*/{TENANT_FILE}"))
