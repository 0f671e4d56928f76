"""The content filter: whether a text is let through, and why not."""

import logging
from collections.abc import Sequence

from answerable.core.errors import RefusedError, TransientError
from answerable.protection.content.azure import AzureJudge
from answerable.protection.content.classifier import InjectionClassifier
from answerable.protection.content.listed_words import ListedWords
from answerable.protection.content.rules import ContentRules, Place

_log = logging.getLogger("answerable.content")
_SUBJECTS = {"questions": "The question", "replies": "The reply of the model"}


class ContentFilter:
    def __init__(self, rules: ContentRules | None = None) -> None:
        self._rules = rules or ContentRules()
        self._words = ListedWords(self._rules.words)
        self._azure = AzureJudge(self._rules.azure) if self._rules.azure else None
        self._classifier = InjectionClassifier()

    def looks_at(self, place: Place) -> bool:
        return self._rules.looks_at(place)

    @property
    def marks_data(self) -> bool:
        return self._rules.classifies("data")

    async def check(self, text: str, place: Place) -> None:
        """Raises `RefusedError` with the reasons if the text is not let through."""
        if not text.strip() or not self.looks_at(place):
            return
        reasons = await self._reasons(text, place)
        if reasons:
            # The text itself is not logged: it may be what nobody should read.
            _log.warning("refused by the content filter", extra={"fields": {"place": place, "reasons": reasons}})
            raise RefusedError(
                f"{_SUBJECTS[place]} was refused by the content filter: {'; '.join(reasons)}.",
                code="content_refused",
                hint="Ask in other words. Whoever runs this installation decides what is refused.",
            )

    async def close(self) -> None:
        if self._azure is not None:
            await self._azure.close()

    async def suspicious(self, texts: Sequence[str]) -> dict[str, float]:
        """The texts of the data that read like an instruction to a model, with their scores."""
        assert self._rules.classifier is not None
        scores = await self._classifier.scores(texts) if texts else []
        return {text: score for text, score in zip(texts, scores, strict=True) if score > self._rules.classifier.above}

    async def _reasons(self, text: str, place: Place) -> list[str]:
        """The cheapest look first; the next one only if nothing was found."""
        if place in self._rules.places and (listed := self._words.found(text)) is not None:
            return [f"it has {listed!r}, which is on the list of this installation"]
        if self._rules.classifies(place) and (found := await self.suspicious([text])):
            return [f"it reads like an instruction to a model, score {found[text]:.2f}"]
        return await self._judged(text) if place in self._rules.places else []

    async def _judged(self, text: str) -> list[str]:
        if self._azure is None or self._rules.azure is None:
            return []
        try:
            return await self._azure.reasons(text)
        except TransientError as error:
            if self._rules.azure.when_unreachable == "refuse":
                raise
            _log.warning("not judged by the content filter", extra={"fields": {"problem": error.message}})
            return []
