"""The demo: a simulated tenant that is synced twice, so that something has changed in between."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from answerable.okta.simulator.changes import change
from answerable.okta.simulator.populate import simulated_tenant
from answerable.okta.simulator.server import TOKEN, Simulator, served
from answerable.okta.simulator.tenant import Tenant

SOURCE = "okta_demo"
TOKEN_FROM = "OKTA_DEMO_TOKEN"  # noqa: S105 - the name of a variable
_SEED, _CHANGES, _CHANGES_A_MINUTE = 1, 25, 2.0
_BEFORE_NOW = timedelta(minutes=10)
_APPLICATION, _GROUP = "GitHub", "sso-super-admins"


@dataclass(frozen=True, slots=True)
class DemoTenant:
    url: str
    tenant: Tenant

    def let_change(self) -> None:
        """People join, leave and change departments."""
        change(self.tenant, _CHANGES, _BEFORE_NOW.total_seconds() / _CHANGES)

    @property
    def questions(self) -> tuple[str, ...]:
        return (
            f"Members of {_GROUP} with all their groups and applications",
            "Who logged in within the last 7 days with their applications and groups?",
            "Factors per user",
            f"Who has access to {_APPLICATION} and why?",
            f"Why does {self._somebody()} have access to {_APPLICATION}?",
            "Which administrators have no strong factor?",
            "What changed today?",
        )

    def _somebody(self) -> str:
        """A person whose name nobody else has, and who has the application."""
        application = next(app["id"] for app in self.tenant.apps if app["label"] == _APPLICATION)
        names = [user["profile"]["displayName"] for user in self.tenant.users]
        having = (self.tenant.users[each["id"]]["profile"]["displayName"] for each in self.tenant.assigned(application))
        return str(next(name for name in having if names.count(name) == 1))


@contextmanager
def demo_tenant(users: int) -> Iterator[DemoTenant]:
    """Serves a simulated tenant on a free port of this machine for as long as the context lasts. Its token is put into
    the environment of this process: it opens nothing but simulators."""
    os.environ[TOKEN_FROM] = TOKEN
    tenant = simulated_tenant(users, _SEED, datetime.now(UTC) - _BEFORE_NOW)
    with served(Simulator(tenant), changes_a_minute=_CHANGES_A_MINUTE) as url:
        yield DemoTenant(url, tenant)
