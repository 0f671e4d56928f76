"""Cues are found, the longest first."""

import pytest

from answerable.reader.normalise import normalise
from answerable.reader.tag import find_cues


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
    assert [cue.tag for cue in find_cues(normalise(text).tokens)] == tags
