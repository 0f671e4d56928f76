from answerable.core.back_off import back_off


def test_waits_grow_up_to_the_longest() -> None:
    assert [back_off(attempt, first=0.5, longest=3.0) for attempt in (1, 2, 3, 4)] == [0.5, 1.0, 2.0, 3.0]
    assert back_off(3, first=1.0, factor=3.0) == 9.0
