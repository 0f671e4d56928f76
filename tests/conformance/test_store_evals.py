"""Golden cases and results, on every database."""

from typing import Any

import pytest

from answerable.core.errors import NotFoundError, UserError
from answerable.core.ids import EvalId, RunId
from answerable.store.base import Store


async def test_cases_are_kept_once(store: Store, people: Any) -> None:
    one = await store.evals.put_case(
        people.ada, "mine", "a", {"question": "?", "rows": [[1, None]]}, run=RunId("run_1")
    )
    two = await store.evals.put_case(people.bob, "other", "a", {"question": "!"}, run=None)
    assert await store.evals.cases(people.bob) == [one, two]
    with pytest.raises(UserError) as caught:
        await store.evals.put_case(people.ada, "mine", "a", {}, run=None)
    assert caught.value.stable_code == "case_exists"
    await store.evals.put_case(people.eve, "mine", "a", {}, run=None)
    await store.evals.delete_case(people.ada, "mine", "a")
    assert await store.evals.cases(people.ada) == [two]
    assert len(await store.evals.cases(people.eve)) == 1
    with pytest.raises(NotFoundError):
        await store.evals.delete_case(people.ada, "mine", "a")


async def test_results_are_kept_by_suite_and_time(store: Store, people: Any) -> None:
    first = await store.evals.begin(people.ada, "mine", {"cases": 3})
    assert (first.status, first.finished_at) == ("running", None)
    await store.evals.finish(people.ada, first.eval, "done", {"cases": 3, "correct": 2})
    second = await store.evals.begin(people.ada, "mine", {})
    third = await store.evals.begin(people.ada, "demo", {})
    done = await store.evals.get(people.bob, first.eval)
    assert (done.status, done.body) == ("done", {"cases": 3, "correct": 2})
    assert done.finished_at is not None
    assert done.finished_at > done.started_at
    assert await store.evals.recent(people.ada, "mine") == [second, done]
    assert await store.evals.recent(people.ada, limit=1) == [third]


async def test_results_of_another_tenant_do_not_exist(store: Store, people: Any) -> None:
    one = await store.evals.begin(people.ada, "mine", {})
    assert await store.evals.recent(people.eve) == []
    for attempt in (
        store.evals.get(people.eve, one.eval),
        store.evals.finish(people.eve, one.eval, "done", {}),
        store.evals.get(people.ada, EvalId("evl_none")),
    ):
        with pytest.raises(NotFoundError) as caught:
            await attempt
        assert caught.value.stable_code == "eval_not_found"
