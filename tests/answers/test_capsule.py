from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from answerable.answers.answer import Answer, Provenance, StepRecord
from answerable.answers.capsule import capsule_body, read_capsule
from answerable.answers.replay import Rerun, replay
from answerable.core.errors import OperatorError, SourceError
from answerable.core.ids import ArtifactId, RunId
from answerable.query.plan import QueryPlan

Stored = Callable[..., Path]
Ranked = Callable[..., QueryPlan]

BEFORE = {"city": ["Berlin", "Paris", "Rome"], "revenue": [9, 5, 1]}


def answer(*steps: StepRecord, plan: QueryPlan | None = None) -> Answer:
    told = Provenance(plan=plan.model_dump(mode="json") if plan else None)
    return Answer(run_id=RunId("run_1"), status="done", kind="table", text="3 rows.", steps=steps, provenance=told)


def step(name: str = "query", **changes: Any) -> StepRecord:
    recorded = {"id": name, "kind": "sql", "code": "SELECT 1", "fingerprint": "f1", "artifact": ArtifactId("sha256:1")}
    return StepRecord.model_validate(recorded | changes)


def test_a_capsule_comes_back_whole() -> None:
    body = capsule_body("What?", answer(step(code="SELECT a FROM t ORDER BY a")))
    assert body["version"] == 1
    capsule = read_capsule(body)
    assert (capsule.question, capsule.ordered) == ("What?", True)
    assert capsule.answer.steps[0].code == "SELECT a FROM t ORDER BY a"


@pytest.mark.parametrize(
    ("code", "ordered"),
    [
        ("SELECT a FROM t ORDER BY a", True),
        ("SELECT a FROM (SELECT a FROM t ORDER BY a) AS s", False),
        ("SELECT a FROM t", False),
        ("this is not SQL at all (", False),
    ],
)
def test_order_is_read_from_the_code(code: str, ordered: bool) -> None:
    assert read_capsule(capsule_body("q", answer(step(code=code)))).ordered is ordered


def test_order_is_read_from_the_plan(ranked: Ranked) -> None:
    plan = ranked("revenue", "city")
    assert read_capsule(capsule_body("q", answer(step(), plan=plan))).ordered
    unordered = plan.model_copy(update={"order_by": ()})
    assert not read_capsule(capsule_body("q", answer(step(code="SELECT 1 ORDER BY 1"), plan=unordered))).ordered


def test_a_newer_or_damaged_capsule_says_so() -> None:
    body = capsule_body("q", answer(step()))
    with pytest.raises(OperatorError, match="newer") as newer:
        read_capsule(body | {"version": 2})
    assert newer.value.stable_code == "capsule_newer"
    broken: tuple[Any, ...] = ({}, [], None, body | {"answer": {}}, body | {"version": 0})
    for damaged in broken:
        with pytest.raises(OperatorError, match="damaged"):
            read_capsule(damaged)


class Again:
    """Runs a step again: gives fresh rows, or raises."""

    def __init__(self, recorded: Path, fresh: Path | Exception, fingerprint: str | None = "f1") -> None:
        self.recorded, self.fresh, self.fingerprint = recorded, fresh, fingerprint
        self.artifact: ArtifactId | None = None

    async def __call__(self, step: StepRecord) -> Rerun | None:
        if step.kind == "api":
            return None
        if isinstance(self.fresh, Exception):
            raise self.fresh
        return Rerun(self.recorded, self.fresh, self.artifact, self.fingerprint)


async def test_the_same_rows(stored: Stored) -> None:
    capsule = read_capsule(capsule_body("q", answer(step())))
    shuffled = stored(pl.DataFrame(BEFORE).reverse())
    result = await replay(capsule, Again(stored(BEFORE), shuffled))
    assert (result.verdict, result.text) == ("same", "Replays the same.")
    assert result.steps[0].data_changed is False


async def test_the_same_rows_of_changed_data(stored: Stored) -> None:
    capsule = read_capsule(capsule_body("q", answer(step())))
    result = await replay(capsule, Again(stored(BEFORE), stored(BEFORE), fingerprint="f2"))
    assert (result.verdict, result.text) == ("same", "Replays the same. The data has changed since.")
    unknown = await replay(capsule, Again(stored(BEFORE), stored(BEFORE), fingerprint=None))
    assert unknown.steps[0].data_changed is None


async def test_the_same_hash_needs_no_reading(tmp_path: Path) -> None:
    capsule = read_capsule(capsule_body("q", answer(step())))
    again = Again(tmp_path / "absent", tmp_path / "absent")
    again.artifact = ArtifactId("sha256:1")
    assert (await replay(capsule, again)).verdict == "same"


async def test_rows_that_differ(stored: Stored) -> None:
    capsule = read_capsule(capsule_body("q", answer(step())))
    fresh = {"city": ["Berlin", "Paris", "Oslo"], "revenue": [9, 6, 2]}
    result = await replay(capsule, Again(stored(BEFORE), stored(fresh), fingerprint="f2"))
    assert result.verdict == "differs"
    assert result.text == (
        "The rows differ at step query: 3 rows before, 3 now; 1 added, 1 gone, 1 changed. The data has changed since."
    )
    found = result.steps[0].difference
    assert found is not None
    assert found.added == (("Oslo", 2),)
    assert found.removed == (("Rome", 1),)
    assert (found.changed[0].before, found.changed[0].after, found.changed[0].columns) == (
        ("Paris", 5),
        ("Paris", 6),
        ("revenue",),
    )


async def test_a_source_that_is_gone(stored: Stored) -> None:
    capsule = read_capsule(capsule_body("q", answer(step())))
    result = await replay(capsule, Again(stored(BEFORE), SourceError("The folder sales is gone.")))
    assert (result.verdict, result.text) == ("cannot", "Not replayable: step query: The folder sales is gone.")
    assert result.steps[0].code == "source_failed"


async def test_a_step_that_is_not_repeatable(stored: Stored) -> None:
    capsule = read_capsule(capsule_body("q", answer(step(), step("call", kind="api"))))
    result = await replay(capsule, Again(stored(BEFORE), stored(BEFORE)))
    assert result.verdict == "cannot"
    assert "step call: a step of kind api is not repeatable" in result.text
    assert [s.verdict for s in result.steps] == ["same", "cannot"]
    nothing = await replay(read_capsule(capsule_body("q", answer())), Again(stored(BEFORE), stored(BEFORE)))
    assert nothing.verdict == "cannot"


async def test_a_difference_outweighs_what_cannot_run(stored: Stored) -> None:
    capsule = read_capsule(capsule_body("q", answer(step("call", kind="api"), step())))
    result = await replay(capsule, Again(stored(BEFORE), stored({"city": ["Bonn"], "revenue": [1]})))
    assert result.verdict == "differs"


async def test_a_defect_is_not_a_verdict(stored: Stored) -> None:
    with pytest.raises(ZeroDivisionError):
        await replay(
            read_capsule(capsule_body("q", answer(step()))), Again(stored(BEFORE), ZeroDivisionError("our own mistake"))
        )
