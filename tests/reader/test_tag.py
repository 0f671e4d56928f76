"""Cues are found, the longest first."""

import pytest

from answerable.reader.linking.cues import find_cues
from answerable.reader.linking.tokens import tokenize


@pytest.mark.parametrize(
    ("text", "tags"),
    [
        ("the most common topic", ["THE", "COMMON"]),
        ("at least 3", ["GE"]),
        ("more expensive than the average", ["GT", "THAN", "THE", "AVG"]),
        ("for each city", ["EACH"]),
        ("in descending order", ["DESC"]),
        ("who do not have any orders", ["REL", "NEG"]),
    ],
)
def test_cues(text: str, tags: list[str]) -> None:
    assert [cue.tag for cue in find_cues(tokenize(text).tokens)] == tags


def test_or_before_a_number_begins_another_comparison() -> None:
    tags = [cue.tag for cue in find_cues(tokenize("above 8 or below 5").tokens)]
    assert tags == ["GT", "EITHER", "LT"]
    assert [cue.tag for cue in find_cues(tokenize("5 or below").tokens)] == ["LE"]
