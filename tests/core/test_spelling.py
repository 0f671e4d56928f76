import pytest
from hypothesis import given
from hypothesis import strategies as st

from answerable.core.spelling import allowed_slips, slips

letters = st.text(alphabet="abcd", max_size=8)


@pytest.mark.parametrize(
    ("one", "other", "count"),
    [
        ("berlin", "berlin", 0),
        ("berlin", "berln", 1),
        ("berlin", "berrlin", 1),
        ("berlin", "berlun", 1),
        ("berlin", "belrin", 1),
        ("berlin", "brelni", 2),
        ("", "ab", 2),
        ("los angles", "los angeles", 1),
        ("berlin", "paris", None),
        ("abc", "abcdef", None),
    ],
)
def test_slips_are_counted(one: str, other: str, count: int | None) -> None:
    assert slips(one, other, most=2) == count


@pytest.mark.parametrize(("length", "most"), [(0, 0), (3, 0), (4, 1), (7, 1), (8, 2), (40, 2)])
def test_short_words_must_be_right(length: int, most: int) -> None:
    assert allowed_slips(length) == most


@given(letters, letters)
def test_slips_are_the_same_in_both_directions(one: str, other: str) -> None:
    assert slips(one, other, most=8) == slips(other, one, most=8)


@given(letters, letters, st.integers(0, 8))
def test_a_bound_only_hides_what_is_beyond_it(one: str, other: str, most: int) -> None:
    count = slips(one, other, most=16)
    assert count == _plain(one, other)
    assert slips(one, other, most) == (count if count is not None and count <= most else None)


def _plain(one: str, other: str) -> int:
    """The definition, without any short cut."""
    table = [[i + j if i == 0 or j == 0 else 0 for j in range(len(other) + 1)] for i in range(len(one) + 1)]
    for i in range(1, len(one) + 1):
        for j in range(1, len(other) + 1):
            same = one[i - 1] == other[j - 1]
            table[i][j] = min(table[i - 1][j] + 1, table[i][j - 1] + 1, table[i - 1][j - 1] + (not same))
            if i > 1 and j > 1 and one[i - 1] == other[j - 2] and one[i - 2] == other[j - 1]:
                table[i][j] = min(table[i][j], table[i - 2][j - 2] + 1)
    return table[-1][-1]
