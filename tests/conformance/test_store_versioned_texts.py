"""Texts that people keep in versions, on every database: graphs, and agents beside them."""

from typing import Any

import pytest

from answerable.core.errors import NotFoundError, UserError
from answerable.store.base import Store


async def test_versions_are_numbered_and_kept_to_the_byte(store: Store, people: Any) -> None:
    texts = ["name: a\r\n# ä\n", "name: a\n\n\tx", "name: a\n"]
    made = [await store.graphs.save(people.ada, "a", text, note=f"n{n}") for n, text in enumerate(texts)]
    assert [each.version for each in made] == [1, 2, 3]
    assert await store.graphs.versions(people.bob, "a") == made[::-1]
    assert [(await store.graphs.version(people.ada, "a", n + 1)).text for n in range(3)] == texts
    record = await store.graphs.get(people.ada, "a")
    assert (record.version, record.owner, record.created_at < record.updated_at) == (3, people.ada, True)


async def test_the_same_text_is_no_new_version(store: Store, people: Any) -> None:
    first = await store.graphs.save(people.ada, "a", "x", note="", tags=("one",))
    again = await store.graphs.save(people.bob, "a", "x", note="again", tags=("two",))
    assert again == first
    assert (await store.graphs.get(people.ada, "a")).tags == ("two",)
    await store.graphs.save(people.bob, "a", "y", note="")
    assert (await store.graphs.get(people.ada, "a")).tags == ("two",)


async def test_who_saves_over_another_version_is_told(store: Store, people: Any, opened: Any) -> None:
    other = await opened()
    await store.graphs.save(people.ada, "a", "1", note="", expected=0)
    await other.graphs.save(people.bob, "a", "2", note="", expected=1)
    for expected in (0, 1, 9):
        with pytest.raises(UserError) as caught:
            await store.graphs.save(people.ada, "a", "3", note="", expected=expected)
        assert caught.value.stable_code == "graph_changed"
    assert (await store.graphs.version(people.ada, "a")).text == "2"


async def test_graphs_are_listed_by_name_and_tag_and_deleted_whole(store: Store, people: Any) -> None:
    for name, tags in (("b", ("x",)), ("a", ()), ("c", ("x", "y"))):
        await store.graphs.save(people.ada, name, name, note="", tags=tags)
    assert [each.name for each in await store.graphs.list(people.bob)] == ["a", "b", "c"]
    assert [each.name for each in await store.graphs.list(people.bob, tag="x")] == ["b", "c"]
    await store.graphs.delete(people.ada, "b")
    assert [each.name for each in await store.graphs.list(people.bob)] == ["a", "c"]
    assert (await store.graphs.save(people.ada, "b", "new", note="")).version == 1


async def test_graphs_of_another_tenant_do_not_exist(store: Store, people: Any) -> None:
    await store.graphs.save(people.ada, "a", "secret", note="")
    assert await store.graphs.list(people.eve) == []
    for attempt in (
        store.graphs.get(people.eve, "a"),
        store.graphs.version(people.eve, "a"),
        store.graphs.version(people.eve, "a", 1),
        store.graphs.versions(people.eve, "a"),
        store.graphs.delete(people.eve, "a"),
        store.graphs.version(people.ada, "a", 2),
    ):
        with pytest.raises(NotFoundError):
            await attempt
    assert (await store.graphs.version(people.ada, "a")).text == "secret"


async def test_a_graph_and_an_agent_of_one_name_are_two_things(store: Store, people: Any) -> None:
    await store.graphs.save(people.ada, "a", "graph", note="")
    await store.agents.save(people.ada, "a", "agent", note="", expected=0)
    await store.agents.save(people.ada, "a", "agent 2", note="")
    assert [(await each.version(people.ada, "a")).text for each in (store.graphs, store.agents)] == ["graph", "agent 2"]
    await store.graphs.delete(people.ada, "a")
    assert [each.version for each in await store.agents.versions(people.ada, "a")] == [2, 1]
    with pytest.raises(UserError) as caught:
        await store.agents.save(people.ada, "a", "late", note="", expected=1)
    assert caught.value.stable_code == "agent_changed"
