"""Requests that look like attacks are recognised, explained and refused; questions and programs are not."""

import json
import logging
from collections import Counter
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest
import yaml
from served_app import serving

from answerable.gateway.app import create_app
from answerable.protection.waf.judging import judged
from answerable.protection.waf.modes import mode_for, parsed_modes
from answerable.settings import Settings, load_settings

DATA = Path(__file__).parents[3] / "shared" / "data" / "waf"
BROWSER = {"host": "localhost", "user-agent": "Mozilla/5.0", "accept": "*/*"}
ATTACKS = {
    "sql": [
        "1' OR '1'='1",
        "1 UNION SELECT password FROM users",
        "1; DROP TABLE users",
        "1 AND sleep(5)",
        "a' like 'a",
        "truncate table x",
    ],
    "script": [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "javascript:alert(1)",
        '"><svg/onload=x()',
        "(![]+[])[+!+[]]",
    ],
    "traversal": ["../../etc/passwd", "..%2f..%2fetc/passwd", "..\\..\\win.ini"],
    "command": ["; cat /etc/passwd", "$(whoami)", "| sh", "`id`", "w'h'o'am'i", "i$@d", "<(id)", "a=id;$a"],
    "ssrf": ["http://169.254.169.254/latest", "file:///etc/hosts", "http://localhost:22/", "http://0x7f000001/"],
    "xml": ['<!DOCTYPE a [<!ENTITY b SYSTEM "file:///c">]>'],
    "template": ["{{7*7}}", "${7*7}", "#{7*7}", "<%= 7*7 %>"],
    "code": ["${jndi:ldap://x/a}", "<?php system('id'); ?>", "\"system\"('id')", "<?exec('id')"],
    "lines": ["a\r\nSet-Cookie: b=c"],
}
HARMLESS = [
    "union was a great select",
    "D'or 1st parfume",
    "How many orders over $100 came in May (2024)?",
    "the Müller & Söhne GmbH; it's 5% up",
    "a < b and c > d",
    "Select a date from the list.",
    "https://www.example.com/a?b=c",
    "Ana O'Brien, ana@example.com",
    "10 or 12",
    "between 10 and 20",
    "Order by phone",
    "the system (main) works",
    "I'd like that",
    '<?xml version="1.0"?>',
    "1 + 1 = 2",
]


@pytest.mark.parametrize(("check", "value"), [(check, value) for check, values in ATTACKS.items() for value in values])
def test_an_attack_is_recognised_wherever_it_stands(check: str, value: str) -> None:
    encoded = quote(value, safe="")
    form = {**BROWSER, "content-type": "application/x-www-form-urlencoded"}
    requests = (
        ("GET", f"/x?a={encoded}", BROWSER, b""),
        ("GET", f"/x?a={quote(encoded)}", BROWSER, b""),
        ("POST", "/x", form, f"a={encoded}".encode()),
        ("POST", "/x", {**BROWSER, "content-type": "application/json"}, json.dumps({"a": [value]}).encode()),
        ("GET", "/x", {**BROWSER, "cookie": f"a={encoded}"}, b""),
    )
    for method, target, headers, body in requests:
        judgement = judged(method, target, headers, body)
        assert judgement.is_attack, (target, headers, body)
        assert check in {finding.check for finding in judgement.findings}


@pytest.mark.parametrize("value", HARMLESS)
def test_what_people_write_is_no_attack(value: str) -> None:
    assert judged("GET", f"/x?a={quote(value, safe='')}", BROWSER, b"").findings == ()


def test_hostile_bodies_are_read_without_harm() -> None:
    headers = {**BROWSER, "content-type": "application/json"}
    hostile = (
        b"{" * 5_000,
        b"[" * 5_000 + b"]" * 5_000,
        b"\xff\xfe",
        b'{"a": "' + b"(" * 50_000 + b'"}',
        b"'" * 30_000,
        *(json.dumps([part * 3_000] * 50).encode() for part in ("a_ ", "a::b ", "\n", "$", "@{", "<a ", "/a;", "(0")),
    )
    for body in hostile:
        judged("POST", "/x", headers, body)


def test_the_longest_fitting_route_decides() -> None:
    rules = parsed_modes("monitor, block /users, off /users/{name}")
    assert [mode_for(rules, route) for route in ("/chat", "/users", "/users/{name}")] == ["monitor", "block", "off"]


def test_a_wrong_mode_stops_the_start(tmp_path: Path) -> None:
    with pytest.raises(Exception, match="'blok' is no mode"):
        load_settings({"ANSWERABLE_HOME": str(tmp_path), "ANSWERABLE_WAF": "blok"})


async def test_attacks_are_refused_and_queries_are_answered(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING, "answerable.waf")
    folder = tmp_path / "small"
    folder.mkdir()
    (folder / "people.csv").write_text("id,name\n1,Ana\n2,Bo\n")
    settings = Settings(home=tmp_path / "home", sources={"small": str(folder)}, waf="block, monitor /datasets")
    async with (
        serving(create_app(settings)) as port,
        httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}/api/v1", timeout=60) as client,
    ):
        sql = {"query_type": "sql", "code": "SELECT name FROM people WHERE id = 1 OR 1=1 --", "source": "small"}
        assert (await client.post("/runs", json=sql)).status_code == 200
        refused = await client.get("/runs", params={"source": "1' OR '1'='1"})
        assert (refused.status_code, refused.json()["code"]) == (403, "request_refused")
        assert (await client.get("/datasets", params={"x": "<script>alert(1)</script>"})).status_code == 200
    lines = [record.__dict__["fields"] for record in caplog.records if record.name == "answerable.waf"]
    assert [(line["mode"], line["findings"][0]["check"]) for line in lines] == [("block", "sql"), ("monitor", "script")]


def _is_kept_aside(rule: str) -> bool:
    """Rules of the core rule set whose requests nobody looked at while the checks were written."""
    digest = sha256(rule.encode()).digest()
    return rule != "944300" and digest[0] % 3 == 0 and digest[1] % 2 == 0


def test_labelled_requests_are_recognised() -> None:
    """Floors of what was measured. A harmless request of the core rule set is one that a certain rule must not take for
    an attack: many of them are attacks of another kind."""
    if not DATA.exists():
        pytest.skip("no labelled requests here")
    seen: Counter[tuple[str, bool, bool]] = Counter()
    for line in (DATA / "crs_half_a.jsonl").read_text().splitlines():
        case = json.loads(line)
        headers = {name.lower(): str(value) for name, value in case["headers"].items()}
        body = (case["data"] or "").encode("utf-8", "replace")
        part = "crs, kept aside" if _is_kept_aside(case["rule"]) else "crs"
        seen[part, case["is_attack"], judged(case["method"], case["uri"], headers, body).is_attack] += 1
    for harmless, payload in _payloads():
        target = f"/x?a={quote(payload, safe='')}"
        seen["gotestwaf", not harmless, judged("GET", target, BROWSER, b"").is_attack] += 1
    for name, least_caught, most_blocked in FLOORS:
        caught = seen[name, True, True] / (seen[name, True, True] + seen[name, True, False])
        blocked = seen[name, False, True] / (seen[name, False, True] + seen[name, False, False])
        print(f"{name}: {caught:.3f} of attacks caught, {blocked:.3f} of the others blocked")
        assert caught >= least_caught
        assert blocked <= most_blocked


FLOORS = (("crs", 0.94, 0.08), ("crs, kept aside", 0.70, 0.19), ("gotestwaf", 0.97, 0.0))


def test_questions_of_people_are_no_attacks() -> None:
    """Also where they stand in a field that is looked at."""
    cases = DATA.parent / "plain" / "cases.jsonl"
    if not cases.exists():
        pytest.skip("no questions here")
    questions = [json.loads(line)["question"] for line in cases.read_text().splitlines()]
    taken = [each for each in questions if judged("GET", f"/x?a={quote(each, safe='')}", BROWSER, b"").is_attack]
    assert len(taken) <= len(questions) * 0.01, taken


def _payloads() -> Iterator[tuple[bool, str]]:
    for path in sorted((DATA / "gotestwaf" / "testcases").glob("*/*.yml")):
        try:
            payloads = yaml.safe_load(path.read_text())["payload"]
        except yaml.YAMLError:  # one of the files has an escape that YAML does not know
            continue
        if "user-agent" not in path.name:
            yield from ((path.parent.name == "false-pos", str(payload)) for payload in payloads)
