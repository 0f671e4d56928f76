"""Changes of what is said about sources, on every database."""

from datetime import timedelta
from typing import Any

import pytest

from answerable.core.context import Principal
from answerable.core.errors import NotFoundError
from answerable.core.ids import EditId
from answerable.store.base import Store
from answerable.store.protocols.edits import EditRecord


async def settled(store: Store, principal: Principal, source: str, **said: Any) -> EditRecord:
    edit = await store.edits.begin(principal, source, **said)
    await store.edits.settle(edit)
    return edit


async def test_changes_are_kept_newest_first(store: Store, people: Any) -> None:
    first = await settled(store, people.ada, "shop", before="", after="a: 1", note="Names")
    second = await settled(store, people.bob, "shop", before="a: 1", after="ä: 2", note="")
    await settled(store, people.ada, "crm", before="", after="x", note="")
    assert await store.edits.of_source(people.bob, "shop") == [second, first]
    assert await store.edits.of_source(people.ada, "shop", limit=1) == [second]
    assert await store.edits.get(people.bob, first.edit) == first
    assert first.principal == people.ada


async def test_a_clock_that_is_set_back_changes_no_order(store: Store, people: Any, clock: Any) -> None:
    clock.step = timedelta(hours=-1)
    made = [await settled(store, people.ada, "shop", before=str(n), after=str(n + 1), note="") for n in range(4)]
    assert await store.edits.of_source(people.ada, "shop") == made[::-1]
    begun = [await store.edits.begin(people.ada, "shop", before=str(n), after="", note="") for n in range(4, 6)]
    assert await store.edits.unsettled(people.ada, "shop") == begun


async def test_changes_of_another_tenant_do_not_exist(store: Store, people: Any) -> None:
    edit = await settled(store, people.ada, "shop", before="", after="secret", note="")
    assert await store.edits.of_source(people.eve, "shop") == []
    for attempt in (store.edits.get(people.eve, edit.edit), store.edits.get(people.ada, EditId("edt_none"))):
        with pytest.raises(NotFoundError) as caught:
            await attempt
        assert caught.value.stable_code == "edit_not_found"


async def test_only_a_settled_edit_is_history(store: Store, people: Any, opened: Any) -> None:
    begun = await store.edits.begin(people.ada, "shop", before="", after="a: 1", note="")
    assert await store.edits.of_source(people.ada, "shop") == []
    with pytest.raises(NotFoundError):
        await store.edits.get(people.ada, begun.edit)
    other = await opened()
    assert await store.edits.unsettled(people.ada, "shop") == [begun]
    assert await other.edits.unsettled(people.ada, "shop") == [], "its process lives"
    await store.release()
    assert await other.edits.unsettled(people.ada, "shop") == [begun]
    assert await other.edits.unsettled(people.eve, "shop") == []
    await other.edits.settle(begun)
    await other.edits.settle(begun)
    assert await other.edits.of_source(people.ada, "shop") == [begun]
    await other.edits.withdraw(begun)
    assert await other.edits.of_source(people.ada, "shop") == [begun], "what is settled stays"


async def test_a_withdrawn_edit_never_was(store: Store, people: Any) -> None:
    begun = await store.edits.begin(people.ada, "shop", before="", after="a: 1", note="")
    await store.edits.withdraw(begun)
    assert await store.edits.unsettled(people.ada, "shop") == []
    assert await store.edits.of_source(people.ada, "shop") == []
