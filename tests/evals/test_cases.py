"""Case files are read as the contract says, and a wrong one is refused with line and field."""

import json
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from answerable.core.errors import NotFoundError, UserError
from answerable.evals.cases import Case, chosen, load_cases

GOOD = {"id": "a", "question": "How many?", "source": "data.csv", "gold_rows": [[1]], "ordered": False}
Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    (tmp_path / "data.csv").write_text("x\n1\n")

    def write(*cases: Any, raw: str | None = None) -> Path:
        file = tmp_path / "cases.jsonl"
        text = "\n".join(json.dumps(case) for case in cases)
        file.write_text(raw if raw is not None else text, "utf-8")
        return file

    return write


def test_a_full_case(write: Write, tmp_path: Path) -> None:
    more = {"gold_sql": "SELECT 1", "split": "fit", "today": "2025-12-31", "group": "g", "hardness": "easy"}
    (case,) = load_cases(write(GOOD | more))
    assert case == Case(
        id="a",
        question="How many?",
        source=str(tmp_path / "data.csv"),
        gold_rows=((1,),),
        gold_sql="SELECT 1",
        split="fit",
        today=date(2025, 12, 31),
        group="g",
    )


def test_blank_lines_and_a_byte_order_mark_are_nothing(write: Write) -> None:
    file = write(raw="\ufeff\n" + json.dumps(GOOD) + "\n\n")
    assert [case.id for case in load_cases(str(file))] == ["a"]


def test_a_url_stays_as_it_is(write: Write) -> None:
    (case,) = load_cases(write(GOOD | {"source": "postgresql://host/db"}))
    assert case.source == "postgresql://host/db"


def without(name: str) -> dict[str, Any]:
    return {key: value for key, value in GOOD.items() if key != name}


@pytest.mark.parametrize(
    ("cases", "message"),
    [
        ([GOOD, without("question") | {"id": "b"}], "line 2, field 'question': Field required"),
        ([GOOD | {"question": ""}], "line 1, field 'question': String should have at least 1 character"),
        ([GOOD | {"ordered": "yes"}], "line 1, field 'ordered': Input should be a valid boolean"),
        ([GOOD | {"gold_rows": [1]}], "line 1, field 'gold_rows.0': Input should be a valid array"),
        ([GOOD | {"today": "soon"}], "line 1, field 'today': "),
        ([without("gold_rows")], "line 1: a case needs gold_sql or gold_rows"),
        ([GOOD | {"source": "missing.csv"}], "line 1, field 'source': there is no 'missing.csv'"),
        ([GOOD, GOOD], "line 2, field 'id': 'a' is taken"),
        ([GOOD | {"after": "z"}], "line 1, field 'after': there is no earlier case 'z'"),
        ([GOOD, GOOD | {"id": "b", "after": "a", "split": "fit"}], "line 2, field 'after': 'a' is of another"),
        (
            [GOOD, GOOD | {"id": "b", "after": "a"}, GOOD | {"id": "c", "after": "a"}],
            "line 3, field 'after': 'a' is followed by 'b' already",
        ),
        (["no object"], "line 1: a case is a JSON object, not str"),
        ([], "holds no cases"),
    ],
)
def test_wrong_cases_are_refused(write: Write, cases: list[Any], message: str) -> None:
    with pytest.raises(UserError) as error:
        load_cases(write(*cases))
    assert message in error.value.message
    assert error.value.stable_code == "cases_invalid"


def test_text_that_is_not_json_is_refused_with_its_place(write: Write) -> None:
    with pytest.raises(UserError, match=r"line 2: not JSON: .* at column 7"):
        load_cases(write(raw=json.dumps(GOOD) + '\n{"id":}'))


def test_bytes_that_are_not_text_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "cases.jsonl"
    file.write_bytes(b"\xff\xfe{}")
    with pytest.raises(UserError, match="not UTF-8"):
        load_cases(file)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError) as error:
        load_cases(str(tmp_path / "none.jsonl"))
    assert "demo" in (error.value.hint or "")


def test_a_bundled_set_by_name() -> None:
    cases = load_cases("demo")
    assert len(cases) >= 40
    assert all(Path(case.source).is_dir() for case in cases)


def test_splits_and_limits(write: Write) -> None:
    cases = load_cases(write(*(GOOD | {"id": str(n), "split": "fit" if n % 2 else "check"} for n in range(6))))
    assert [case.id for case in chosen(cases, split="fit", limit=2)] == ["1", "3"]
    assert chosen(cases) == cases
    with pytest.raises(UserError) as error:
        chosen(cases, split="test")
    assert error.value.hint == "Splits: check, fit."


def test_the_measuring_sets_load(shared_data: Path) -> None:
    assert len(load_cases(shared_data / "geoquery" / "cases.jsonl")) == 844
    assert len(chosen(load_cases(shared_data / "spider_train" / "cases.jsonl"), split="check")) == 1098
