"""Splits Cypher into tokens. Comments and blanks end here; what no token can be is an error that names the place."""

import re
from dataclasses import dataclass
from typing import Literal

from answerable.core.errors import RefusedError, UserError

LONGEST_TEXT = 20_000
MOST_TOKENS = 5_000

Kind = Literal["name", "quoted", "text", "integer", "decimal", "symbol", "end"]

_TOKEN = re.compile(
    r"""
    (?P<blank>[ \t\r\n]+ | //[^\r\n]* | /\*.*?\*/)
  | (?P<decimal>(?:[0-9]+\.[0-9]+|\.[0-9]+)(?:[eE][+-]?[0-9]+)? | [0-9]+[eE][+-]?[0-9]+)
  | (?P<integer>[0-9]+)
  | (?P<name>[A-Za-z_][A-Za-z0-9_]*)
  | (?P<quoted>`(?:[^`]|``)*`)
  | (?P<text>'(?:[^'\\]|\\.)*' | "(?:[^"\\]|\\.)*")
  | (?P<symbol><>|!=|<=|>=|=~|\.\.|->|<-|[-+*/%^=<>()\[\]{},.:|;])
    """,
    re.VERBOSE | re.DOTALL,
)
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "\\": "\\", "'": "'", '"': '"'}


@dataclass(frozen=True, slots=True)
class CypherToken:
    kind: Kind
    value: str
    """Without quotes and escapes."""
    place: int

    def is_word(self, *words: str) -> bool:
        """Whether it is one of these keywords, which are written in upper case here and in any case in a query."""
        return self.kind == "name" and self.value.upper() in words

    def is_symbol(self, *symbols: str) -> bool:
        return self.kind == "symbol" and self.value in symbols


def invalid(message: str, hint: str | None = None) -> UserError:
    return UserError(message, code="cypher_invalid", hint=hint)


def tokenized(text: str) -> list[CypherToken]:
    """The tokens of a query, with one of the kind `end` behind the last."""
    if len(text) > LONGEST_TEXT:
        raise invalid(f"The query has {len(text):,} characters; at most {LONGEST_TEXT:,} are read.")
    return all_tokens(text, MOST_TOKENS)


def all_tokens(text: str, most: int) -> list[CypherToken]:
    """All tokens of a text, however long it is."""
    tokens: list[CypherToken] = []
    place = 0
    while place < len(text):
        found = _TOKEN.match(text, place)
        if found is None:
            raise _unreadable(text, place)
        kind = found.lastgroup
        if kind != "blank":
            tokens.append(CypherToken(kind, _meant(kind, found[0]), place))  # type: ignore[arg-type]
        place = found.end()
        if len(tokens) > most:
            raise invalid(f"The query has more than {most:,} words and signs.")
    return [*tokens, CypherToken("end", "", len(text))]


def _meant(kind: str | None, written: str) -> str:
    if kind == "quoted":
        return _sound(written[1:-1].replace("``", "`"))
    if kind == "text":
        return _sound(_ESCAPE.sub(_unescaped, written[1:-1]))
    return "<>" if written == "!=" else written


def _sound(text: str) -> str:
    """A zero character would end the text for the engine, and half a character is none."""
    if "\0" in text or any("\ud800" <= letter <= "\udfff" for letter in text):
        raise invalid("The query holds a character that no text has.")
    return text


def _unescaped(found: re.Match[str]) -> str:
    if digits := found[1] or found[2]:
        if int(digits, 16) > 0x10FFFF:
            raise invalid(f"{found[0]!r} is no character.")
        return chr(int(digits, 16))
    if found[3] not in _ESCAPED:
        raise invalid(f"{found[0]!r} means nothing in a text.", "Write \\\\ for a backslash.")
    return _ESCAPED[found[3]]


def _unreadable(text: str, place: int) -> UserError | RefusedError:
    letter = text[place]
    if letter == "$":
        return RefusedError(
            "Parameters such as $name cannot be used.", code="cypher_refused", hint="Write the value into the query."
        )
    if letter in "'\"`":
        return invalid(f"The quote at character {place + 1} is not closed.")
    if text.startswith("/*", place):
        return invalid(f"The comment at character {place + 1} is not closed.")
    hint = "Write names with other letters between backticks." if letter.isalpha() else None
    return invalid(f"The sign {letter!r} at character {place + 1} has no meaning here.", hint)
