"""Agents are tried with their cases: with a model, which is recorded, or with what was recorded, which needs none."""

import json
import os
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path

from answerable.agents.cases import (
    AgentCase,
    Expected,
    Transcript,
    case_graph,
    load_cases,
    load_transcript,
    save_transcript,
)
from answerable.agents.directory import AgentDirectory
from answerable.answers import frame
from answerable.answers.answer import Answer
from answerable.app import open_service
from answerable.case_world import asked_source, served_api
from answerable.core.context import Principal
from answerable.core.errors import AnswerableError, NotFoundError
from answerable.core.values import Frozen, Json
from answerable.engine.steps.sql import SqlConfig
from answerable.evals.compare import Rows, same_rows
from answerable.models.names import target_of
from answerable.models.playback import Playback
from answerable.models.tape import Exchange, Recorder
from answerable.service import Service
from answerable.settings import Settings

ALL_ROWS = 100_000

Chosen = tuple[Path, AgentCase]
"""A case and the folder of its agent."""


class CaseResult(Frozen):
    agent: str
    case: str
    problems: tuple[str, ...] = ()
    """What does not hold; nothing when all is well."""
    calls: int = 0
    tokens: int = 0


def chosen_cases(names: Sequence[str], wanted: str | None, places: Sequence[Path] = ()) -> list[Chosen]:
    """The cases of the named agents, or of all if none is named; `wanted` leaves only the case with that id. What is
    wrong with the folder of one of these agents is raised. `places`: folders of agents beside the builtin ones."""
    directory = AgentDirectory(places)
    found = [directory.found(name) for name in names] if names else directory.all()
    for each in found:
        if each.problem is not None:
            raise each.problem
    folders = [each.folder for each in found]
    chosen = [(folder, case) for folder in folders for case in load_cases(folder) if wanted in (None, case.id)]
    if not chosen and wanted is not None:
        raise NotFoundError(f"There is no case {wanted!r} of these agents.", code="case_unknown")
    return chosen


async def record(chosen: Sequence[Chosen], settings: Settings, principal: Principal) -> AsyncIterator[CaseResult]:
    """Puts the cases to their agents with the model that is set, and keeps what was said where all holds."""
    config = settings.models_config
    targets = [target_of(name, config, os.environ) for name in config.named()]
    recorder = Recorder([target.key.get_secret_value() for target in targets if target.key is not None])
    for _, group in groupby(chosen, key=lambda each: _own_world(each[1])):
        some = list(group)
        with served_api(some[0][1].api) as apis:
            case_settings = settings.model_copy(update={"apis": {**settings.apis, **apis}})
            async with open_service(case_settings, any_location=True, tape=recorder) as service:
                for folder, case in some:
                    recorder.exchanges.clear()
                    problems = await _problems(folder.name, case, service, principal)
                    said = tuple(recorder.exchanges)
                    if not problems:
                        transcript = Transcript(model=config.named()[0], share_rows=settings.share_rows, exchanges=said)
                        save_transcript(folder, case, transcript)
                    yield _case_result(folder, case, problems, said)


async def replay(
    chosen: Sequence[Chosen], settings_with: Callable[..., Settings], principal: Principal, *, renew: bool = False
) -> AsyncIterator[CaseResult]:
    """Puts the cases to their agents with a server in the place of the model, which replies what was recorded.
    `settings_with` gives the settings with some of them overridden. With `renew`, the prompts of today are stored with
    the recorded replies of each case that holds."""
    recorded: list[tuple[Chosen, Transcript]] = []
    for folder, case in chosen:
        try:
            recorded.append(((folder, case), load_transcript(folder, case)))
        except AnswerableError as error:
            yield _case_result(folder, case, [_said(error)], ())
    for (share_rows, _), group in groupby(sorted(recorded, key=_needs), key=_needs):
        some = list(group)
        async with Playback(strict=not renew) as playback:
            with served_api(some[0][0][1].api) as apis:
                settings = settings_with(
                    model="compatible:recorded", model_base_url=playback.base_url, share_rows=share_rows, apis=apis
                )
                async with open_service(settings, any_location=True, tape=playback) as service:
                    for (folder, case), transcript in some:
                        playback.play(transcript.exchanges)
                        problems = await _problems(folder.name, case, service, principal)
                        if playback.left and not problems:
                            problems = [f"{playback.left} of the recorded replies were not asked for."]
                        if renew and not problems:
                            renewed = {"exchanges": tuple(playback.exchanges)}
                            save_transcript(folder, case, transcript.model_copy(update=renewed))
                        yield _case_result(folder, case, problems, transcript.exchanges)


def _needs(recorded: tuple[Chosen, Transcript]) -> tuple[bool, str]:
    """Cases that need the same are run by one service."""
    (_, case), transcript = recorded
    return transcript.share_rows, _own_world(case)


def _own_world(case: AgentCase) -> str:
    """The case itself if it has an API of its own; empty if any service can run it."""
    return case.id if case.api is not None else ""


async def _problems(agent: str, case: AgentCase, service: Service, principal: Principal) -> list[str]:
    with asked_source(case) as asked:
        return await _problems_of(agent, asked, service, principal)


async def _problems_of(agent: str, case: AgentCase, service: Service, principal: Principal) -> list[str]:
    try:
        answer = await service.questions.run_graph(case_graph(agent, case), case.question, principal)
        wanted = (
            await _rows_of(case.expect.same_rows, case.source, service, principal) if case.expect.same_rows else None
        )
    except AnswerableError as error:
        return [_said(error)]
    failure = answer.provenance.error
    if failure is not None:
        return [f"{failure.message}\n{failure.hint}" if failure.hint else failure.message]
    return list(_unmet(case.expect, await service.answers.with_rows(answer, ALL_ROWS, principal), wanted))


async def _rows_of(sql: str, source: str, service: Service, principal: Principal) -> Rows:
    return frame.rows(await service.answers.query(SqlConfig(source=source, sql=sql), principal), 0, ALL_ROWS)


def _unmet(expected: Expected, answer: Answer, wanted: Rows | None) -> Iterator[str]:
    provenance = answer.provenance
    heads = [column["header"] for column in provenance.format["columns"]] if provenance.format else []
    labels = [choice.label for choice in answer.choices]
    said = "\n".join([answer.text, *labels, *heads, *provenance.findings]).casefold()
    if expected.kind not in (None, answer.kind):
        yield f"The answer is {answer.kind}, not {expected.kind}: {answer.text}"
    yield from (f"It does not say {word!r}: {answer.text}" for word in expected.says if word.casefold() not in said)
    yield from (f"It says {word!r}: {answer.text}" for word in expected.never_says if word.casefold() in said)
    if expected.confidence not in (None, provenance.confidence):
        yield f"Its confidence is {provenance.confidence}, not {expected.confidence}: {provenance.confidence_reason}"
    if expected.reply:
        yield from _unlike(expected.reply, json.loads(answer.text))
    if expected.rows is not None and not same_rows(answer.rows, list(expected.rows), ordered=False):
        yield f"Its rows are not those expected: {list(answer.rows[:3])} …"
    if wanted is not None and not same_rows(answer.rows, wanted, ordered=False):
        yield f"Its rows are not those expected: {list(answer.rows[:3])} … and not {list(wanted[:3])} …"


def _unlike(expected: Mapping[str, Json], reply: Json) -> Iterator[str]:
    for name, value in expected.items():
        if reply.get(name) != value:
            yield f"Its {name} is {reply.get(name)!r}, not {value!r}"


def _said(error: AnswerableError) -> str:
    return f"{error.message}\n{error.hint}" if error.hint else error.message


def _case_result(folder: Path, case: AgentCase, problems: Sequence[str], said: Sequence[Exchange]) -> CaseResult:
    return CaseResult(
        agent=folder.name,
        case=case.id,
        problems=tuple(problems),
        calls=len(said),
        tokens=sum(each.input_tokens + each.output_tokens for each in said),
    )
