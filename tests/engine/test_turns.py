"""In a crowd a few runs work at a time; whoever would wait too long hears so at once."""

import asyncio
import time
from contextlib import suppress

import pytest

from answerable.core.errors import TransientError
from answerable.engine.turns import LONGEST_WAIT, TURN_SECONDS, Place, Turns


async def _work(turns: Turns, done: list[int], number: int, seconds: float = 0.01) -> None:
    async with turns.turn():
        await asyncio.sleep(seconds)
        done.append(number)


async def test_first_come_first_served() -> None:
    turns, done = Turns(at_once=1), list[int]()
    await asyncio.gather(*(_work(turns, done, number) for number in range(5)))
    assert done == [0, 1, 2, 3, 4]


async def test_no_more_at_once_than_allowed() -> None:
    turns, now, most = Turns(at_once=3), 0, 0

    async def work() -> None:
        nonlocal now, most
        async with turns.turn():
            now += 1
            most = max(most, now)
            await asyncio.sleep(0.01)
            now -= 1

    await asyncio.gather(*(work() for _ in range(20)))
    assert most == 3


async def test_a_run_that_waits_for_something_else_does_not_hold_up_others() -> None:
    turns, done = Turns(at_once=1), list[int]()
    slow = asyncio.create_task(_work(turns, done, 1, seconds=30))
    await asyncio.sleep(0)
    began = time.monotonic()
    await _work(turns, done, 2)
    assert done == [2]
    assert time.monotonic() - began < TURN_SECONDS + 5
    slow.cancel()


async def test_whoever_would_wait_too_long_is_refused_and_told_when_to_come_back() -> None:
    turns, done = Turns(at_once=1), list[int]()
    crowd = [asyncio.create_task(_work(turns, done, number)) for number in range(int(LONGEST_WAIT / TURN_SECONDS) + 1)]
    await asyncio.sleep(0)
    with pytest.raises(TransientError) as refused:
        turns.admit()
    assert refused.value.stable_code == "server_busy"
    assert refused.value.details["retry_after"] >= LONGEST_WAIT
    await asyncio.gather(*crowd)
    turns.admit().leave()


async def test_the_estimate_follows_how_quickly_turns_come() -> None:
    turns, done = Turns(at_once=1), list[int]()
    await asyncio.gather(*(_work(turns, done, number, seconds=0.001) for number in range(60)))
    crowd = [asyncio.create_task(_work(turns, done, number, seconds=0.001)) for number in range(100)]
    await asyncio.sleep(0)
    turns.admit().leave()  # a hundred quick ones are soon done, although as many slow ones would not be
    assert turns.expected_wait < 100 * TURN_SECONDS / 2
    await asyncio.gather(*crowd)


async def test_turns_that_come_in_bursts_are_not_taken_for_quick_ones() -> None:
    """Ten turns end in the same moment, then none for a while: right after a burst the wait is as long as ever."""
    turns = Turns(at_once=10)
    places = [turns.join() for _ in range(400)]
    began, ended = time.monotonic(), 0
    for burst in range(20):
        await asyncio.sleep(0.02)
        for place in places[10 * burst : 10 * burst + 10]:
            place.leave()
            ended += 1
        pace = (time.monotonic() - began) / ended
        waiting = 400 - ended - 10
        if burst > 4:
            assert turns.expected_wait > 0.8 * pace * waiting
    for place in places:
        place.leave()


async def test_the_wait_grows_while_no_turn_comes() -> None:
    turns = Turns(at_once=1)
    places = [turns.join() for _ in range(30)]
    for place in places[:20]:
        place.leave()
    before = turns.expected_wait
    await asyncio.sleep(0.2)
    assert turns.expected_wait > before + 0.05
    for place in places:
        place.leave()


async def test_whoever_gives_up_waiting_takes_no_turn() -> None:
    turns, done = Turns(at_once=1), list[int]()
    first = asyncio.create_task(_work(turns, done, 1, seconds=0.05))
    await asyncio.sleep(0)
    leaving = [asyncio.create_task(_work(turns, done, number)) for number in (2, 3)]
    last = asyncio.create_task(_work(turns, done, 4))
    await asyncio.sleep(0)
    for task in leaving:
        task.cancel()
    await asyncio.gather(first, last, *leaving, return_exceptions=True)
    assert done == [1, 4]
    assert turns.expected_wait == 0


async def test_a_turn_that_comes_in_the_moment_of_leaving_goes_to_the_next() -> None:
    turns, done = Turns(at_once=1), list[int]()
    first = turns.turn()
    await first.__aenter__()
    leaving = asyncio.create_task(_work(turns, done, 2))
    last = asyncio.create_task(_work(turns, done, 3))
    await asyncio.sleep(0)
    await first.__aexit__(None, None, None)  # the turn is given to the second
    leaving.cancel()
    await asyncio.gather(leaving, last, return_exceptions=True)
    assert done == [3]


async def test_without_a_limit_nobody_waits() -> None:
    turns, done = Turns(), list[int]()
    await asyncio.gather(*(_work(turns, done, number) for number in range(1000)))
    turns.admit().leave()
    assert len(done) == 1000


async def test_those_who_came_first_count_before_their_runs_begin() -> None:
    turns = Turns(at_once=1)
    places: list[Place] = []
    with suppress(TransientError):
        while len(places) < 100:
            places.append(turns.admit())
    assert LONGEST_WAIT / TURN_SECONDS - 1 <= len(places) <= LONGEST_WAIT / TURN_SECONDS + 1
    for place in places:
        place.leave()
    assert turns.expected_wait == 0
