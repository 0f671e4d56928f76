"""The content filter: whether a text is let through, and why not."""

import logging

from answerable.core.errors import RefusedError, TransientError
from answerable.protection.content.azure import AzureJudge
from answerable.protection.content.listed_words import ListedWords
from answerable.protection.content.rules import ContentRules, Place

_log = logging.getLogger("answerable.content")
_SUBJECTS = {"questions": "The question", "replies": "The reply of the model"}


class ContentFilter:
    def __init__(self, rules: ContentRules | None = None) -> None:
        self._rules = rules or ContentRules()
        self._words = ListedWords(self._rules.words)
        self._azure = AzureJudge(self._rules.azure) if self._rules.azure else None

    def looks_at(self, place: Place) -> bool:
        return self._rules.is_on and place in self._rules.places

    async def check(self, text: str, place: Place) -> None:
        """Raises `RefusedError` with the reasons if the text is not let through."""
        if not text.strip() or not self.looks_at(place):
            return
        listed = self._words.found(text)
        reasons = (
            [f"it has {listed!r}, which is on the list of this installation"] if listed else await self._judged(text)
        )
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
