"""Packed numbers come back as they were put in."""

import pytest

from answerable.reader.fitted.packed import Packed, unpack


def test_what_was_put_in_comes_out() -> None:
    packed = Packed({"names": ["a", "ü"], "limit": 0.5})
    packed.put("whole", "h", [-1, 0, 30_000])
    packed.put("parts", "f", [0.5, -0.25])
    packed.put("none", "I", [])
    again = unpack(packed.pack())
    assert again.facts == {"names": ["a", "ü"], "limit": 0.5}
    assert [again.get(name) for name in ("whole", "parts", "none")] == [[-1, 0, 30_000], [0.5, -0.25], []]


def test_the_same_numbers_give_the_same_bytes() -> None:
    def packed() -> bytes:
        one = Packed({"x": 1})
        one.put("a", "f", [0.1, 0.2])
        return one.pack()

    assert packed() == packed()


def test_a_number_too_large_for_its_kind_is_refused() -> None:
    with pytest.raises(OverflowError):
        Packed({}).put("a", "h", [40_000])
