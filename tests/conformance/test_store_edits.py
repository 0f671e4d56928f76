"""Changes of what is said about sources, on every database."""

from typing import Any

import pytest

from answerable.core.errors import NotFoundError
from answerable.core.ids import EditId
from answerable.store.base import Store


async def test_changes_are_kept_newest_first(store: Store, people: Any) -> None:
    first = await store.edits.add(people.ada, "shop", before="", after="a: 1", note="Names")
    second = await store.edits.add(people.bob, "shop", before="a: 1", after="ä: 2", note="")
    await store.edits.add(people.ada, "crm", before="", after="x", note="")
    assert await store.edits.of_source(people.bob, "shop") == [second, first]
    assert await store.edits.of_source(people.ada, "shop", limit=1) == [second]
    assert await store.edits.get(people.bob, first.edit) == first
    assert first.principal == people.ada


async def test_changes_of_another_tenant_do_not_exist(store: Store, people: Any) -> None:
    edit = await store.edits.add(people.ada, "shop", before="", after="secret", note="")
    assert await store.edits.of_source(people.eve, "shop") == []
    for attempt in (store.edits.get(people.eve, edit.edit), store.edits.get(people.ada, EditId("edt_none"))):
        with pytest.raises(NotFoundError) as caught:
            await attempt
        assert caught.value.stable_code == "edit_not_found"
