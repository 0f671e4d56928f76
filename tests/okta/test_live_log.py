"""Questions about the log: live where there is a live source and the period is not over, else from the last sync."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from answerable.library import Answerable
from answerable.okta.simulator.log_events import event, user_target
from answerable.okta.simulator.populate import simulated_tenant
from answerable.okta.simulator.server import TOKEN, Simulator, served
from answerable.okta.simulator.tenant import Tenant, stamp


def happen(tenant: Tenant, kind: str, result: str, ago: timedelta) -> str:
    """Something of the log that the last sync does not know. Returns the name of the user."""
    user = next(iter(tenant.users))
    entry = event(tenant, kind, stamp(tenant.now - ago), user, user_target(user))
    entry["outcome"] = {"result": result, "reason": None if result == "SUCCESS" else "INVALID_CREDENTIALS"}
    tenant.record(entry)
    return str(user["profile"]["displayName"])


def test_the_log_is_asked_live_for_a_period_that_is_not_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OKTA_API_TOKEN", TOKEN)
    tenant = simulated_tenant(10, 3, datetime.now(UTC), groups=0)
    tenant.log[:] = [entry for entry in tenant.log if entry["published"] < stamp(tenant.now - timedelta(hours=12))]
    asked: list[str] = []
    with served(Simulator(tenant, fault=lambda _, path: asked.append(path))) as url, Answerable(home=tmp_path) as corp:
        corp.okta.sync("corp", url=url)
        name = happen(tenant, "user.session.start", "FAILURE", timedelta(hours=5))
        happen(tenant, "user.session.start", "FAILURE", timedelta(minutes=30))
        happen(tenant, "user.session.start", "SUCCESS", timedelta(minutes=20))
        happen(tenant, "user.account.lock", "SUCCESS", timedelta(minutes=10))
        with Answerable("corp", home=tmp_path) as synced:
            before = synced.ask("Failed logins in the last hour").answer
        assert (before.row_count, before.provenance.data_source_type) == (0, "sql")
        corp.okta.live("corp", ["logs"])
        with Answerable("corp", home=tmp_path) as both:
            hour = both.ask("Show me the failed logins in the last hour").answer
            hours = both.ask("failed logins in the past 6 hours").answer
            signed_in = both.ask("Who signed in within the last 2 hours?").answer
            locked = both.ask("Who was locked out in the last hour?").answer
            asked.clear()
            over = both.ask("failed logins in March 2020").answer
            calls_for_the_past = list(asked)
        with Answerable("corp_live", home=tmp_path) as live:
            whole = live.sql("SELECT count(*) AS events FROM logs").answer
            since = stamp(tenant.now - timedelta(days=20))
            long = live.sql(f"SELECT count(*) AS events FROM logs WHERE published >= '{since}'").answer
    assert (hour.row_count, hours.row_count) == (1, 2)
    assert hour.provenance.data_source_type == "hybrid"
    parts = {step.id: step for step in hour.steps}
    assert (parts["synced"].data_source_type, parts["live"].data_source_type) == ("sql", "api")
    assert parts["synced"].last_sync is not None
    assert [row[0] for row in signed_in.rows] == [name]
    assert [row[1] for row in locked.rows] == [name]
    cut = "logs: no earliest time was asked for, so the API decides how far back its rows go."
    assert cut in whole.provenance.findings
    assert [*long.rows] == [(sum(entry["published"] >= since for entry in tenant.log),)]
    assert not any("earliest" in finding for finding in hour.provenance.findings)
    assert over.provenance.data_source_type == "sql"
    assert calls_for_the_past == []
