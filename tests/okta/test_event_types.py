"""Event types of Okta's log by category, for people and for models that write programs."""

import json

import pytest

from answerable.agents.reachable_apis import ApiHelp, ReachableApis
from answerable.apis.openapi.endpoints import EndpointCatalog
from answerable.core.context import LOCAL
from answerable.core.errors import AnswerableError
from answerable.okta import event_types
from answerable.okta.live import endpoints
from answerable.okta.sync.login_risk import MFA, PUSH_DENIED, SIGN_IN


def test_every_event_type_is_in_one_category() -> None:
    categories = event_types.event_categories()
    events = [event for category in categories.values() for event in category.events]
    assert len(events) == len(set(events)) > 1_200
    assert {SIGN_IN, PUSH_DENIED, MFA} <= set(events)
    assert SIGN_IN in categories["user-session"].events
    assert all(event.startswith(id.replace("-", ".", 1)) for id, each in categories.items() for event in each.events)
    assert json.loads(event_types.DATA.read_text("utf-8")).keys() == categories.keys()


def test_one_to_three_categories_are_told_in_detail() -> None:
    told = event_types.get_detailed_events_from_keys(["user-session", "user-mfa"])
    assert "user.session.start: " in told
    assert "5 to 15" in told
    assert "no category 'weather'" in event_types.get_detailed_events_from_keys(["weather"])
    for wrong in ([], ["user", "group", "policy", "system"]):
        with pytest.raises(AnswerableError, match="one to 3"):
            event_types.events_of(wrong)


async def test_a_model_that_writes_for_the_log_gets_the_tool() -> None:
    class Live:
        name = "corp_live"
        may_be_called = True

        async def endpoints(self) -> EndpointCatalog:
            return endpoints()

        async def program_calls(self, record: object, seconds: float) -> None: ...

    class Sources:
        async def get(self, name: str, principal: object) -> Live:
            return Live()

    class NoneConfigured:
        names: tuple[str, ...] = ()

    log = ApiHelp(event_types.LOG, event_types.told_categories, (event_types.get_detailed_events_from_keys,))
    apis = ReachableApis(NoneConfigured(), Sources(), 1.0, (log,))  # type: ignore[arg-type]
    assert await apis.tools("corp_live", LOCAL) == (event_types.get_detailed_events_from_keys,)
    assert "user-session (" in await apis.endpoints_text("corp_live", "logs", "list", "failed logins", LOCAL)
    assert "user-session (" not in await apis.endpoints_text("corp_live", "groups", "list", "groups", LOCAL)
