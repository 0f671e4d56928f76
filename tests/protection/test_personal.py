"""Personal data is found, and does not leave where the operator says so: however a stream is cut."""

import json
import logging
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from answerable.app import open_service
from answerable.core.context import LOCAL, Principal
from answerable.core.events import Event, StepFinished, StepOutput
from answerable.core.ids import NodeId, RunId
from answerable.logs import JsonLines
from answerable.protection.personal.detect import found
from answerable.protection.personal.patterns import passes_iban, passes_luhn
from answerable.protection.personal.redaction import Redaction, StreamRedaction
from answerable.protection.personal.spans import KINDS
from answerable.service.personal import RedactedEvents
from answerable.settings import Settings, load_settings

DATA = Path(__file__).parents[3] / "shared" / "data" / "pii_presidio" / "synth_dataset_v2.json"
CLAIMED = {
    "EMAIL_ADDRESS": "email",
    "IBAN_CODE": "iban",
    "CREDIT_CARD": "card",
    "US_SSN": "ssn",
    "IP_ADDRESS": "ip",
    "PHONE_NUMBER": "phone",
    "PERSON": "name",
}
SECRETS = {
    "email": ["ana.silva+shop@mail.example.org", "x@y.de"],
    "card": ["4111 1111 1111 1111", "5500-0000-0000-0004", "378282246310005"],
    "iban": ["DE89 3704 0044 0532 0130 00", "GB82WEST12345698765432"],
    "ssn": ["078-05-1120"],
    "ip": ["203.0.113.9", "2001:db8:0:0:0:ff00:42:8329"],
    "phone": ["+49 30 901820 11", "(212) 555-0147", "+442079460958"],
}
FORMS = frozenset(kind for kind in KINDS if kind != "name")


@pytest.mark.parametrize(("kind", "text"), [(kind, text) for kind, texts in SECRETS.items() for text in texts])
def test_each_kind_is_found_whole(kind: str, text: str) -> None:
    sentence = f"Please note {text}, and nothing else."
    spans = found(sentence, KINDS)
    assert [(sentence[span.start : span.end], span.kind) for span in spans] == [(text, kind)]


@pytest.mark.parametrize(
    "text",
    [
        "4111 1111 1111 1112 fails its check",
        "DE89 3704 0044 0532 0130 02 fails its check",
        "On 2024-05-01 12:30:00 revenue was 1,234,567.89 for 12,345 orders",
        "SELECT sum(amount) FROM orders WHERE year = 2024 AND id = 12345678",
        "version 1.2.3.4.5, 10:30:45, 3.14159265",
        "Total 2024 12 12, then 12 12 12 12 12",
        "run_0123456789abcdef01234567 of 2020-2024",
    ],
)
def test_numbers_of_other_kinds_stay(text: str) -> None:
    assert found(text, FORMS) == []


def test_checksums() -> None:
    assert passes_luhn("79927398713")
    assert not passes_luhn("79927398710")
    assert passes_iban("GB82 WEST 1234 5698 7654 32")
    assert not passes_iban("GB82 WEST 1234 5698 7654 33")


_WORDS = (
    "the",
    "order",
    "was",
    "sent to",
    "card",
    "Phone:",
    "Total 2024",
    "12",
    "x.",
    ",",
    "-",
    "is my",
    "\n",
    "our\n-",
)
WORDS = st.sampled_from(_WORDS)
PLANTED = st.sampled_from([text for texts in SECRETS.values() for text in texts])
TEXTS = st.lists(st.one_of(WORDS, st.tuples(PLANTED)), max_size=25)


@settings(max_examples=100)
@given(TEXTS, st.data())
def test_however_a_stream_is_split_no_byte_of_personal_data_leaves(
    parts: list[str | tuple[str]], data: st.DataObject
) -> None:
    planted = [part[0] for part in parts if isinstance(part, tuple)]
    text = " ".join(f"({part[0]});" if isinstance(part, tuple) else part for part in parts)
    places = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=12)))
    stream = StreamRedaction(FORMS)
    shown = [stream.feed(text[start:end]) for start, end in zip([0, *places], [*places, len(text)], strict=True)]
    whole = "".join([*shown, stream.end()])
    assert whole == Redaction(FORMS).text(text)
    for secret in planted:
        assert secret not in whole
    # What is left is the text itself, with each secret replaced and nothing else lost.
    assert whole.count("[") == len(planted)


@settings(max_examples=40)
@given(st.text(max_size=200), st.integers(1, 7))
def test_any_text_streams_as_it_is_redacted_at_once(text: str, size: int) -> None:
    stream = StreamRedaction(KINDS)
    shown = "".join(stream.feed(text[at : at + size]) for at in range(0, len(text), size)) + stream.end()
    assert shown == Redaction(frozenset(KINDS)).text(text)


@pytest.mark.timeout(10)
def test_a_line_that_begins_with_plain_words_does_not_stop_the_stream() -> None:
    text = "Orders by region:\nnorth has the most of them, then comes south\nand west has the fewest of all\n"
    stream = StreamRedaction(KINDS)
    assert stream.feed(text) + stream.end() == text


def test_a_stream_without_an_end_is_not_kept_in_memory() -> None:
    stream = StreamRedaction(KINDS)
    assert sum(len(stream.feed("X" * 1_000)) for _ in range(100)) > 70_000


def test_values_keep_their_form() -> None:
    redaction = Redaction(FORMS)
    value = {"a@b.example": ["a@b.example", 1, None, True, 4111111111111111, 12345678], "n": 1.5}
    assert redaction.value(value) == {"a@b.example": ["[email]", 1, None, True, "[card]", 12345678], "n": 1.5}


def pieces(*texts: str) -> list[Event]:
    run, node = RunId("run_1"), NodeId("write")
    events: list[Event] = [
        StepOutput(run=run, seq=0, at=0.0, node=node, channel="token", data={"agent": "a", "text": text})
        for text in texts
    ]
    return [*events, StepFinished(run=run, seq=9, at=0.0, node=node, output={"to": "x@y.de"}, duration_ms=1.0)]


def test_pieces_of_a_model_are_held_back_until_they_are_known() -> None:
    shown = RedactedEvents(Redaction(FORMS))
    told = [each for event in pieces("Write to ana", "@mail.exam", "ple.org", " soon") for each in shown.of(event)]
    texts = [each.data["text"] for each in told if isinstance(each, StepOutput)]
    assert "".join(texts) == "Write to [email] soon"
    assert isinstance(told[-1], StepFinished)
    assert told[-1].output == {"to": "[email]"}


def test_logs_are_redacted() -> None:
    record = logging.LogRecord("answerable.runs", logging.INFO, "", 0, "run started", None, None)
    record.fields = {"question": "orders of x@y.de", "run": "run_1"}
    assert json.loads(JsonLines(Redaction(FORMS)).format(record))["question"] == "orders of [email]"
    assert json.loads(JsonLines().format(record))["question"] == "orders of x@y.de"


@pytest.fixture
def people(tmp_path: Path) -> Path:
    folder = tmp_path / "people"
    folder.mkdir()
    (folder / "people.csv").write_text("id,mail,card\n1,ana@mail.example,4111111111111111\n2,none,7\n")
    return folder


async def test_answers_events_and_exports_are_redacted_by_setting_and_role(tmp_path: Path, people: Path) -> None:
    chosen = Settings(
        home=tmp_path / "home",
        sources={"people": str(people)},
        redact="answers, events, exports",
        redact_except_roles="support",
    )
    support = Principal(LOCAL.tenant, LOCAL.user, frozenset({"support"}))
    async with open_service(chosen, any_location=False) as service:
        code = "SELECT * FROM people ORDER BY id"
        run = await service.questions.begin_query("sql", code, LOCAL, source="people")
        answer = await service.runs.wait(run, LOCAL)
        assert [row[1:] for row in answer.rows] == [("[email]", "[card]"), ("none", 7)]
        assert (await service.runs.answer(run, support)).rows[0][1:] == ("ana@mail.example", 4111111111111111)
        followed = [event async for event in service.runs.events(run, LOCAL)]
        for events in (followed, await service.runs.journal(run, LOCAL)):
            assert "ana@mail" not in str(events)
        assert "ana@mail" in str(await service.runs.journal(run, support))
        csv = b"".join(await service.rows.export(run, LOCAL, format="csv"))
        assert b"ana@mail" not in csv
        assert b"4111" not in csv
        assert b"[email]" in csv
        assert b"ana@mail" in b"".join(await service.rows.export(run, support, format="csv"))


def test_a_wrong_word_stops_the_start(tmp_path: Path) -> None:
    for name, value in (("REDACT", "answer"), ("REDACT_KINDS", "emails")):
        with pytest.raises(Exception, match=f"'{value}' is no"):
            load_settings({"ANSWERABLE_HOME": str(tmp_path), f"ANSWERABLE_{name}": value})


def test_what_is_claimed_is_found_in_labelled_sentences() -> None:
    if not DATA.exists():
        pytest.skip("no labelled sentences here")
    hits, wrong, missed = Counter[str](), Counter[str](), Counter[str]()
    for case in json.loads(DATA.read_text()):
        wanted = [_span(each) for each in case["spans"] if each["entity_type"] in CLAIMED]
        got = [(span.start, span.end, span.kind) for span in found(case["full_text"], KINDS)]
        for each in wanted:
            (hits if any(_same(each, other) for other in got) else missed)[each[2]] += 1
        wrong.update(each[2] for each in got if not any(_same(other, each) for other in wanted))
    for kind in KINDS:
        f1 = 2 * hits[kind] / (2 * hits[kind] + wrong[kind] + missed[kind])
        print(f"{kind}: F1 {f1:.3f}, found {hits[kind]}, wrong {wrong[kind]}, missed {missed[kind]}")
        assert f1 >= 0.85, kind


def _span(labelled: dict[str, Any]) -> tuple[int, int, str]:
    return labelled["start_position"], labelled["end_position"], CLAIMED[labelled["entity_type"]]


def _same(one: tuple[int, int, str], other: tuple[int, int, str]) -> bool:
    """Of one kind, and more than half of the longer one in common."""
    common = min(one[1], other[1]) - max(one[0], other[0])
    return one[2] == other[2] and 2 * common >= max(one[1] - one[0], other[1] - other[0])
