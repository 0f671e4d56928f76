"""A marker goes through every secret field of a URL, with every character around it, and is looked for everywhere."""

import logging
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from prometheus_client import generate_latest

from answerable.agents.question_request import QuestionRequest
from answerable.app import open_service
from answerable.core.context import LOCAL
from answerable.core.errors import AnswerableError
from answerable.gateway.metrics import Metrics
from answerable.logs import configure
from answerable.settings import Settings
from answerable.sources.open import shown_location
from answerable.sources.sql.postgres_url import parsed

MARKER = "mArKeR"
AROUND = st.text(alphabet="?#@%/:&=[],;+ ~'\"\\$ü0aA", max_size=6)
FORMS = (
    "postgresql://u:{raw}@h/d",
    "postgres://u:{raw}@h:5432/d?sslmode=require",
    "postgresql://u:{raw}@/d",
    "postgresql://u:{quoted}@h/d",
    "postgresql://h/d?password={quoted}&user=u",
    "postgresql://h/d?user=u&password={raw}",
    "postgresql://u@h/d?pass%77ord={quoted}",
    "postgresql://u@h/d?sslkey=/k&sslpassword={quoted}",
    "postgresql://u@h/d?sslpassword={raw}",
    "postgresql://u@h/d?oauth_client_secret={quoted}",
    "postgresql://u@h/d?scram_client_key={quoted}",
    "POSTGRESQL://u:{raw}@h/d",
    "mysql://u:{raw}@h/d",
    "https://u:{quoted}@h/d?key={quoted}#{quoted}",
    "host=h password={raw} dbname=d",
    "host=h sslpassword = '{quoted}'",
)


@given(before=AROUND, after=AROUND, form=st.sampled_from(FORMS))
@example(before="p@", after="", form=FORMS[0])
@example(before="p/", after="?", form=FORMS[0])
@example(before="@", after="/x?user=", form=FORMS[0])
@example(before="", after="://", form=FORMS[14])
@settings(max_examples=600, deadline=None)
def test_no_secret_is_part_of_what_is_shown(before: str, after: str, form: str) -> None:
    secret = before + MARKER + after
    url = form.format(raw=secret, quoted=quote(secret, safe=""))
    assert MARKER not in shown_location(url), url
    assert shown_location(shown_location(url)) == shown_location(url)
    assert MARKER not in _complaint(url)


def _complaint(url: str) -> str:
    try:
        return repr(parsed(url))
    except AnswerableError as error:
        return f"{error} {error.hint} {error.__cause__}"


@given(secret=AROUND.filter(bool))
@settings(max_examples=100, deadline=None)
def test_an_encoded_password_arrives_whole(secret: str) -> None:
    parameters = parsed(f"postgresql://u:{quote(secret, safe='')}@h/d?sslpassword={quote(secret, safe='')}")
    assert (parameters["password"], parameters["sslpassword"], parameters["host"]) == (secret, secret, "h")


URLS = {
    "plain": f"postgresql://u:{MARKER}@127.0.0.1:1/d",
    "marks": f"postgresql://u:p?{MARKER}#x%25@127.0.0.1:1/d",
    "query": f"postgresql://127.0.0.1:1/d?user=u&password={MARKER}&sslpassword={MARKER}&sslkey=/nowhere",
    "slash": f"postgresql://u:p/{MARKER}@127.0.0.1:1/d",
    "at": f"postgresql://u:p@{MARKER}@127.0.0.1:1/d",
    "conninfo": f"host=127.0.0.1 port=1 password={MARKER}",
}


@pytest.mark.parametrize("url", URLS.values(), ids=list(URLS))
async def test_no_secret_reaches_answers_events_store_caches_logs_metrics_or_errors(
    url: str, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    seen: list[object] = []
    metrics = Metrics()
    configured = Settings(home=home / "answerable", sources={"named": url}, step_attempts=1)
    logger = logging.getLogger("answerable")
    before = logger.handlers[:], logger.level, logger.propagate
    configure("debug")
    try:
        async with open_service(configured, any_location=True, listeners=(metrics,)) as service:
            for source in (url, "named", shown_location(url)):
                try:
                    answer = await service.questions.ask(QuestionRequest("how many?", (source,)), LOCAL)
                    seen += [answer.model_dump_json(), *await service.runs.journal(answer.run_id, LOCAL)]
                except AnswerableError as error:
                    seen += [error, error.hint, error.details]
            seen += [service.sources.list(LOCAL), await service.sources.wait("named", LOCAL)]
            seen += [service.setup.settings(LOCAL), await service.setup.doctor(LOCAL), await service.runs.list(LOCAL)]
            seen.append(generate_latest(metrics.collectors))
    finally:
        logger.handlers[:], logger.level, logger.propagate = before
    printed = capsys.readouterr()
    assert MARKER not in "\n".join(map(repr, seen)) + printed.out + printed.err
    assert _files_with_marker(home) == []


def _files_with_marker(folder: Path) -> list[Path]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert files
    return [path for path in files if MARKER.encode() in path.read_bytes()]
