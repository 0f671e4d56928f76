"""Claims that rows have the same amount: “A and B have the same balance”, “are tied in flights”."""

import re
from collections.abc import Iterator

from answerable.answers.checking.sentence import Sentence

_SAME = re.compile(
    r"(?<!nearly )(?<!almost )(?<!roughly )(?<!about )(?<!not )"
    r"\b(?:(?:have|has|had|share|shared|with|show|showed) the same|identical|equal(?:ly)?|(?:are|were) tied|tie)\b",
    re.IGNORECASE,
)


def unequal(sentence: Sentence) -> Iterator[str]:
    """Yields what the rows contradict: no quantity that is spoken of is the same for all that are listed."""
    found = _SAME.search(sentence.text)
    listed = [rows for names, rows in sentence.lists if found and names[-1].end <= found.start()]
    facts = sentence.facts
    spoken = [f for f in facts.measures if f.index in sentence.spoken]
    if not listed or not spoken:
        return
    if not any(len({facts.number(row, f.index) for row in listed[-1]}) == 1 for f in spoken):
        yield "they do not have the same in the rows"
