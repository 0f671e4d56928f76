"""Reports about a synced tenant over HTTP."""

from collections.abc import Callable

import httpx

from answerable.okta.golden import DATA
from answerable.okta.reports import REPORTS

Upload = Callable[..., httpx.Response]


def test_reports_are_listed_with_their_inputs_and_answered(api: httpx.Client, upload: Upload) -> None:
    listed = {report["name"]: report["inputs"] for report in api.get("/okta/reports").json()["reports"]}
    assert set(listed) == set(REPORTS)
    assert listed["access"]["required"] == ["user", "application"]
    upload(DATA.read_bytes(), "tenant.sqlite")
    who = {"inputs": {"user": "Anna Becker", "application": "GitHub"}}
    answer = api.post("/okta/tenant/reports/access", json=who).json()
    assert (answer["status"], answer["row_count"]) == ("done", 1)
    assert "dept-engineering" in str(answer["rows"])
    refused = api.post("/okta/tenant/reports/access", json={"inputs": {"user": "Anna Becker"}})
    assert (refused.status_code, refused.json()["code"]) == (422, "okta_report_inputs")
    assert api.post("/okta/tenant/reports/everything", json={}).json()["code"] == "okta_report_unknown"
    assert api.post("/okta/nobody/reports/empty-groups", json={}).status_code == 404
    assert api.get("/okta/nobody/syncs").json()["code"] == "okta_tenant_unknown"
