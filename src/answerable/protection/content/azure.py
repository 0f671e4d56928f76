"""Azure AI Content Safety: judges a text in four categories, each with a severity from 0 to 6."""

import asyncio
import os
from collections.abc import Mapping

import httpx
import orjson

from answerable.core.errors import OperatorError, TransientError
from answerable.protection.content.rules import AzureContentSafety

VERSION = "2024-09-01"
LONGEST_TEXT = 10_000
"""Characters that one request may have."""
SECONDS = 10.0
MOST_BYTES = 1_000_000


class AzureJudge:
    def __init__(self, rules: AzureContentSafety, environment: Mapping[str, str] = os.environ) -> None:
        self._rules = rules
        self._environment = environment
        self._transport: httpx.AsyncHTTPTransport | None = None

    async def reasons(self, text: str) -> list[str]:
        """Why the text is refused: `Hate, severity 4`. Empty if it is not."""
        pieces = [text[start : start + LONGEST_TEXT] for start in range(0, len(text), LONGEST_TEXT)]
        severities: dict[str, int] = {}
        for judged in await asyncio.gather(*map(self._severities, pieces)):
            for category, severity in judged.items():
                severities[category] = max(severity, severities.get(category, 0))
        return [
            f"{category}, severity {severity}"
            for category, severity in sorted(severities.items())
            if severity > self._rules.above
        ]

    async def close(self) -> None:
        if self._transport is not None:
            await self._transport.aclose()
            self._transport = None

    async def _severities(self, text: str) -> Mapping[str, int]:
        body = await self._asked(orjson.dumps({"text": text, "outputType": "FourSeverityLevels"}))
        try:
            analysed = orjson.loads(body)["categoriesAnalysis"]
            judged = {str(each["category"]): int(each["severity"]) for each in analysed}
        except (orjson.JSONDecodeError, KeyError, TypeError, ValueError):
            raise _unreachable("it answers with something else than a judgement") from None
        if not judged:
            raise _unreachable("it judges no category")
        return judged

    async def _asked(self, body: bytes) -> bytes:
        """Follows no redirect and reads no proxy from the environment: the key goes to the endpoint alone."""
        key = self._environment.get(self._rules.key_from)
        if not key:
            raise OperatorError(
                f"The environment variable {self._rules.key_from} for the content filter is not set.",
                code="content_key_missing",
            )
        url = f"{self._rules.endpoint}/contentsafety/text:analyze?api-version={VERSION}"
        headers = {"Ocp-Apim-Subscription-Key": key, "Content-Type": "application/json"}
        timeout = {"timeout": httpx.Timeout(SECONDS).as_dict()}
        self._transport = self._transport or httpx.AsyncHTTPTransport()
        request = httpx.Request("POST", url, content=body, headers=headers, extensions=timeout)
        try:
            async with asyncio.timeout(SECONDS):
                response = await self._transport.handle_async_request(request)
                try:
                    content = await _bounded(response)
                finally:
                    await response.aclose()
        except (TimeoutError, httpx.HTTPError):
            raise _unreachable("it cannot be reached") from None
        if response.status_code in (401, 403):
            raise OperatorError("The content filter refuses its key.", code="content_key_refused")
        if response.status_code != 200:
            raise _unreachable(f"it answers with {response.status_code}")
        return content


async def _bounded(response: httpx.Response) -> bytes:
    content = b""
    async for chunk in response.aiter_bytes():
        content += chunk
        if len(content) > MOST_BYTES:
            raise _unreachable("it sends too much")
    return content


def _unreachable(why: str) -> TransientError:
    return TransientError(
        f"The content filter could not judge the text: {why}.",
        code="content_unreachable",
        hint="Try again in a while. Until then nothing is let through that was not judged.",
    )
