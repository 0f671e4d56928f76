"""Answerable from scripts and notebooks."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import assert_type

import library_types
import pytest

from answerable import Answerable, NotFoundError, SourceError, UserError
from answerable.core.events import Event
from answerable.service.source_views import SourceList


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("people") / "people.csv"
    path.write_text("id,name,city\n1,Ana,Berlin\n2,Bo,Paris\n3,<b>Cy</b>,Berlin\n")
    return path


@pytest.fixture(scope="module")
def people(file: Path) -> Iterator[Answerable]:
    with Answerable(file, home=file.parent / "home") as data:
        yield data


def test_a_question_gives_text_value_and_code(people: Answerable) -> None:
    result = people.ask("how many people are in Berlin?")
    assert (result.kind, result.value, result.row_count) == ("value", 2, 1)
    assert result.sql is not None
    assert "SELECT" in result.sql
    assert "2" in repr(result)


def test_rows_come_as_frames(people: Answerable) -> None:
    result = people.sql("SELECT name FROM people ORDER BY id")
    assert result.to_polars()["name"].to_list() == ["Ana", "Bo", "<b>Cy</b>"]
    assert result.to_pandas()["name"].tolist() == ["Ana", "Bo", "<b>Cy</b>"]


def test_a_notebook_shows_data_as_text(people: Answerable) -> None:
    shown = people.sql("SELECT name FROM people ORDER BY id")._repr_html_()
    assert "&lt;b&gt;Cy&lt;/b&gt;" in shown
    assert "<b>Cy" not in shown


async def test_it_can_be_asked_while_a_loop_runs(people: Answerable) -> None:
    """As in a notebook: both ways, and several at once."""
    assert people.ask("how many people?").value == 3
    results = await asyncio.gather(*(people.ask_async("how many people?") for _ in range(3)))
    assert [result.value for result in results] == [3, 3, 3]


def test_failures_are_raised_as_typed_errors(people: Answerable, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="nope"):
        people.sql("SELECT nope FROM people")
    (tmp_path / "empty.csv").write_text("")
    with Answerable(tmp_path / "empty.csv") as empty, pytest.raises(SourceError, match=r"empty\.csv"):
        empty.ask("how many?")


def test_a_question_back_is_a_result_and_a_refusal_too(people: Answerable) -> None:
    unknown = people.ask("how many zeppelins?")
    assert (unknown.kind, unknown.row_count) == ("clarify", 0)
    with pytest.raises(UserError, match="no rows"):
        unknown.to_polars()
    assert people.sql("DROP TABLE people").kind == "refusal"


def test_the_catalog_is_at_hand(people: Answerable) -> None:
    assert [column.name for column in people.catalog().tables[0].columns] == ["id", "name", "city"]


def test_the_verbs_of_the_service_are_there(file: Path, tmp_path: Path) -> None:
    """What the page and the command line can do, a script can do."""
    with Answerable(file, home=tmp_path / "home") as people:
        _use_the_verbs(people, tmp_path)


def _use_the_verbs(people: Answerable, tmp_path: Path) -> None:
    run = people.ask("how many people per city?").answer.run_id
    assert [record.run for record in people.runs.list()] == [run]
    assert [event.type for event in people.runs.events(run)][-1] == "run.finished"
    assert people.rows.page(run, limit=1).row_count == 2
    [thread] = people.threads.list()
    assert people.threads.change(thread.thread_id, title="Cities").title == "Cities"
    (tmp_path / "pets.csv").write_text("name\nRex\n")
    tried = people.sources.test(str(tmp_path / "pets.csv"))
    assert (tried.name, tried.kind, tried.tables, tried.problem) == ("pets", "files", 1, None)
    added = people.sources.add(str(tmp_path / "pets.csv"))
    assert people.sources.wait(added.name).rows == 1
    assert people.sources.describe("pets").tables[0].row_count == 1
    people.sources.remove("pets")
    again = people.questions.retry(run)
    people.runs.wait(again)
    assert people.comparisons.compare(run, again).counts.same == 2
    assert people.evals.add_case("mine", run).question == "how many people per city?"
    assert people.setup.usage(days=1).days[0].runs == 2
    assert "cancel" in dir(people.runs)
    with pytest.raises(NotFoundError):
        people.runs.cancel("run_" + "0" * 24)


def test_arguments_may_stand_after_the_place_of_the_principal(people: Answerable, file: Path, tmp_path: Path) -> None:
    (tmp_path / "pets.csv").write_text("name,city\nRex,Berlin\n")
    both = people.sources.describe(str(file), str(tmp_path / "pets.csv"))
    assert {table.name for table in both.tables} == {"people", "pets"}
    assert people.runs.list() == people.runs.list(limit=50)


def test_editors_and_mypy_know_the_verbs(people: Answerable) -> None:
    """`assert_type` is judged by mypy, in `make check`."""
    listed = people.sources.list(look=False)
    assert_type(listed, SourceList)
    run = people.ask("how many people?").answer.run_id
    for event in people.runs.events(run, after=1):
        assert_type(event, Event)
    with pytest.raises(TypeError):
        people.runs.get(run, limit=3)  # type: ignore[call-arg]


def test_the_types_of_the_verbs_are_those_of_the_service() -> None:
    assert library_types.is_current(), "`make library-types` makes them"


def test_a_verb_that_changed_makes_the_types_stale(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(library_types.NOUNS, "RunVerbs", ("answers", "AnswerService"))
    assert not library_types.is_current()
