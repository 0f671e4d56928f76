"""Agents are tried with their cases: what was recorded is said again over a real socket, and must still hold."""

import asyncio
import json
import shutil
from collections.abc import AsyncIterator, Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner
from scripted_model import Reply, ScriptedModel

from answerable.agents.cases import AgentCase, Expected, load_cases, load_transcript
from answerable.agents.directory import AgentDirectory
from answerable.agents.folder import BUILTIN
from answerable.case_replay import CaseResult, Chosen, record, replay
from answerable.cli.agents import command
from answerable.core.context import LOCAL
from answerable.core.errors import NotFoundError, UserError
from answerable.models.playback import Playback
from answerable.models.tape import Exchange
from answerable.settings import load_settings

AGENTS = tuple(found.name for found in AgentDirectory().all())
EVERY = [(BUILTIN / agent, case) for agent in AGENTS for case in load_cases(BUILTIN / agent)]
WORDING = {"text": "North leads with 12.50.", "format": {"headers": {"n": "Orders"}}}


def gathered(results: AsyncIterator[CaseResult]) -> list[CaseResult]:
    async def gather() -> list[CaseResult]:
        return [one async for one in results]

    return asyncio.run(gather())


@pytest.fixture
def again(demo_home: Path) -> Callable[[Sequence[Chosen]], list[CaseResult]]:
    told = partial(load_settings, {}, home=demo_home, store=":memory:", models={})
    return lambda chosen: gathered(replay(chosen, told, LOCAL))


def test_what_was_recorded_still_holds(again: Callable[[Sequence[Chosen]], list[CaseResult]]) -> None:
    replayed = again(EVERY)
    assert {f"{one.agent} {one.case}": one.problems for one in replayed if one.problems} == {}
    assert len(replayed) == len(EVERY)
    assert all(one.calls for one in replayed)


def test_every_agent_has_cases() -> None:
    assert all(len(load_cases(BUILTIN / agent)) > 1 for agent in AGENTS)


@pytest.fixture
def format_agent(tmp_path: Path) -> Path:
    """A copy whose cases and transcripts a test may change."""
    return Path(shutil.copytree(BUILTIN / "format", tmp_path / "format"))


def changed(folder: Path, case: AgentCase, change: Callable[[Any], None]) -> None:
    path = folder / "transcripts" / f"{case.id}.yaml"
    document = yaml.safe_load(path.read_text())
    change(document["exchanges"])
    path.write_text(yaml.safe_dump(document))


def test_a_prompt_that_has_changed_is_shown_as_a_difference(
    format_agent: Path, again: Callable[[Sequence[Chosen]], list[CaseResult]]
) -> None:
    other, missing, *_ = load_cases(format_agent)

    def reword(exchanges: Any) -> None:
        exchanges[0]["asked"] = exchanges[0]["asked"].replace("No greeting", "Do greet")

    changed(format_agent, other, reword)
    (format_agent / "transcripts" / f"{missing.id}.yaml").unlink()
    found = {one.case: one for one in again([(format_agent, other), (format_agent, missing)])}
    [problem] = found[other.id].problems
    assert "Do greet" in problem
    assert "Do greet" in problem
    assert "answerable agents record" in problem
    [problem] = found[missing.id].problems
    assert f"answerable agents record format --case {missing.id}" in problem


def test_what_agents_are_told_now_is_kept_with_the_replies_of_then(
    format_agent: Path, demo_home: Path, again: Callable[[Sequence[Chosen]], list[CaseResult]]
) -> None:
    case = load_cases(format_agent)[0]
    recorded = load_transcript(format_agent, case)
    changed(format_agent, case, lambda exchanges: exchanges[0].update(asked="something else"))
    told = partial(load_settings, {}, home=demo_home, store=":memory:", models={})
    [renewed] = gathered(replay([(format_agent, case)], told, LOCAL, renew=True))
    assert renewed.problems == ()
    assert load_transcript(format_agent, case) == recorded
    [one] = again([(format_agent, case)])
    assert one.problems == ()


def test_what_the_reader_makes_of_a_question_may_change() -> None:
    playback = Playback()
    playback.play([Exchange(asked="Plan. <reading-1>\nCount.\n</reading-1> Now.")] * 2)
    playback.asked("Plan. <reading-2>\nSum.\n</reading-2> Now.")
    with pytest.raises(UserError) as caught:
        playback.asked("Plan. <reading-2>\nSum.\n</reading-2> Then.")
    assert caught.value.stable_code == "transcript_stale"


def test_replies_that_nobody_asks_for_are_told(
    format_agent: Path, again: Callable[[Sequence[Chosen]], list[CaseResult]]
) -> None:
    case = load_cases(format_agent)[0]
    changed(format_agent, case, lambda exchanges: exchanges.append(exchanges[0]))
    [one] = again([(format_agent, case)])
    assert one.problems == ("1 of the recorded replies were not asked for.",)


def test_what_does_not_hold_is_told(format_agent: Path, again: Callable[[Sequence[Chosen]], list[CaseResult]]) -> None:
    case = load_cases(format_agent)[0]
    expected = Expected(
        kind="value", says=("Atlantis",), never_says=("north",), same_rows="SELECT 1 AS n", confidence="low"
    )
    [one] = again([(format_agent, case.model_copy(update={"expect": expected}))])
    assert [problem.split(":")[0] for problem in one.problems] == [
        "The answer is table, not value",
        "It does not say 'Atlantis'",
        "It says 'north'",
        "Its confidence is high, not low",
        "Its rows are not those expected",
    ]


def test_a_model_is_recorded_without_its_key_and_said_again(
    scripted_model: ScriptedModel,
    format_agent: Path,
    demo_home: Path,
    again: Callable[[Sequence[Chosen]], list[CaseResult]],
) -> None:
    case = AgentCase(
        id="new",
        question="Orders per region?",
        rows={"orders": "SELECT 'North' AS region, 12.5 AS n"},
        expect=Expected(says=("North leads",)),
    )
    settings = load_settings(
        {},
        home=demo_home,
        store=":memory:",
        model="compatible:scripted",
        model_base_url=scripted_model.base_url,
        model_key="key-of-the-test",
    )
    scripted_model.script([Reply.object({**WORDING, "text": str(WORDING["text"]) + " key-of-the-test"})])
    [recorded] = gathered(record([(format_agent, case)], settings, LOCAL))
    assert recorded.problems == ()
    transcript = load_transcript(format_agent, case)
    assert transcript.model == "compatible:scripted"
    assert "12.5" in transcript.exchanges[0].asked
    assert json.loads(transcript.exchanges[0].text)["text"] == f"{WORDING['text']} [redacted]"
    [one] = again([(format_agent, case)])
    assert one.problems == ()


def test_where_rows_are_not_shared_no_transcript_has_a_value(
    scripted_model: ScriptedModel,
    format_agent: Path,
    demo_home: Path,
    again: Callable[[Sequence[Chosen]], list[CaseResult]],
) -> None:
    case = AgentCase(
        id="new",
        question="How many stores are there in the region?",
        rows={"stores": "SELECT region, COUNT(*) AS n FROM stores WHERE region = 'North' GROUP BY region"},
        expect=Expected(confidence="high"),
    )
    settings = load_settings(
        {},
        home=demo_home,
        store=":memory:",
        model="compatible:scripted",
        model_base_url=scripted_model.base_url,
        share_rows=False,
    )
    check = {
        "question": "How many stores?",
        "sql": "SELECT COUNT(DISTINCT store_id) FROM stores WHERE region = 'North'",
        "of": "cell",
        "column": "n",
    }
    scripted_model.script([Reply.object({"checks": [check]})])
    [recorded] = gathered(record([(format_agent, case)], settings, LOCAL))
    assert recorded.problems == ()
    transcript = load_transcript(format_agent, case)
    assert not transcript.share_rows
    told = transcript.exchanges[0].asked
    assert 'table "stores", 12 rows' in told
    assert not [value for value in ("Amsterdam", "2008-08-01", "row 1:") if value in told]
    [one] = again([(format_agent, case)])
    assert one.problems == ()


def test_what_does_not_hold_is_not_kept(scripted_model: ScriptedModel, format_agent: Path, demo_home: Path) -> None:
    case = AgentCase(id="new", question="?", rows={"orders": "SELECT 1 AS n"}, expect=Expected(says=("Atlantis",)))
    settings = load_settings(
        {}, home=demo_home, store=":memory:", model="compatible:scripted", model_base_url=scripted_model.base_url
    )
    scripted_model.script([Reply.object(WORDING)])
    [one] = gathered(record([(format_agent, case)], settings, LOCAL))
    assert len(one.problems) == 1
    with pytest.raises(UserError, match="Nothing was recorded"):
        load_transcript(format_agent, case)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [(("check", "nobody"), "agent_unknown"), (("check", "plan", "--case", "nothing"), "case_unknown")],
)
def test_what_is_not_there_is_said(arguments: tuple[str, ...], code: str) -> None:
    done = CliRunner().invoke(command, arguments)
    assert isinstance(done.exception, NotFoundError)
    assert done.exception.stable_code == code


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("- {id: a, question: q, expect: {}}\n- {id: a, question: q, expect: {}}", "two cases are called 'a'"),
        ("- {id: A b, question: q, expect: {}}", "0.id"),
        ("- {id: a, question: q, expect: {mood: good}}", "0.expect.mood"),
        ("- [", "cases.yaml"),
    ],
)
def test_what_is_wrong_with_cases_is_said(tmp_path: Path, text: str, reason: str) -> None:
    (tmp_path / "cases.yaml").write_text(text)
    with pytest.raises(UserError, match=reason) as caught:
        load_cases(tmp_path)
    assert caught.value.stable_code == "agent_cases_invalid"
