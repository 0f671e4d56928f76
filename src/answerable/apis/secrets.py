"""Takes the credential out of whatever an API sends back: servers repeat what they were sent."""

import base64
import json
import re
from urllib.parse import quote

import orjson

from answerable.core.values import Json

_HIDDEN = "[hidden]"


class SecretFilter:
    def __init__(self, secrets: tuple[str, ...]) -> None:
        spellings = {spelling for secret in secrets for spelling in _spellings(secret)}
        longest_first = sorted(spellings, key=len, reverse=True)
        self._pattern = re.compile("|".join(map(re.escape, longest_first)), re.IGNORECASE) if longest_first else None

    def text(self, text: str) -> str:
        return text if self._pattern is None else self._pattern.sub(_HIDDEN, text)

    def json(self, content: bytes) -> Json:
        """Decodes JSON and hides the secrets in it. Raises `ValueError` if the content is not JSON."""
        decoded = orjson.loads(content)
        if self._pattern is None:
            return decoded
        raw = content.decode("utf-8", "replace")
        # a backslash may hide a secret from the search in the raw text ("\u0073ecret"), so then every value is searched
        return self._filtered(decoded) if "\\" in raw or self._pattern.search(raw) else decoded

    def _filtered(self, value: Json) -> Json:
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            return [self._filtered(item) for item in value]
        if isinstance(value, dict):
            return {self.text(name): self._filtered(item) for name, item in value.items()}
        return value


def _spellings(secret: str) -> set[str]:
    in_base64 = base64.b64encode(secret.encode()).decode().rstrip("=")
    return {secret, quote(secret), quote(secret, safe=""), json.dumps(secret)[1:-1], in_base64}
