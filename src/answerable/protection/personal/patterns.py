"""Personal data that has a form: cards, accounts, telephone numbers, e-mail and IP addresses, social security numbers.

A candidate is found by its form and kept if it passes the check that its kind has: digits of cards and accounts contain
a checksum, and numbers of the other kinds have ranges that are never issued.
"""

import re
from collections.abc import Callable, Iterator
from ipaddress import ip_address

from answerable.protection.personal.spans import Kind, Span

_CARD_LENGTHS = range(12, 20)
_EMAIL = re.compile(r"(?<![\w.+-])[\w.!#$%&'*+/=?^`{|}~-]{1,64}+@(?:[\w-]{1,63}+\.){1,8}[^\W\d_]{2,24}+(?![\w@])")
_CARD = re.compile(r"(?<![\w.@/-])\d(?:[ -]?\d){11,18}(?![\w-]?\d)(?!\w)")
_IBAN = re.compile(r"(?<!\w)[A-Za-z]{2}\d{2}(?:[ -]?[A-Za-z0-9]){11,30}(?!\w)")
_SSN = re.compile(r"(?<![\w.-])(\d{3})[- ](\d{2})[- ](\d{4})(?![\w-]|\.\d)")
_IP4 = re.compile(r"(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?![\w]|\.\d)")
_IP6 = re.compile(r"(?<![\w:.])(?:[0-9A-Fa-f]{0,4}:){2,7}[0-9A-Fa-f]{0,4}(?:\.\d{1,3}){0,3}(?![\w:])")
# Groups of digits are taken whole (`++`): a pattern that tries every way to part them takes exponential time.
_PHONE = re.compile(
    r"(?<![\w.,$€£#/-])\+?\(?\d{1,15}+\)?(?:(?:[ ./-]{1,2}+|(?<=\)))\(?\d{1,6}+\)?){0,6}+"
    r"(?:\s?(?:x|ext\.?)\s?\d{1,6}+)?(?!\w|[.,/-]\d|%)"
)
_DATE = re.compile(
    r"(?:\d{4}([-/.])\d{1,2}\1\d{1,2}|(?:19|20)\d\d \d{1,2} \d{1,2}"
    r"|\d{1,2}([-/.])\d{1,2}\2(?:\d{4}|\d{2})|(?:19|20)\d\d ?[-/] ?(?:19|20)\d\d)"
    r"(?![\w./-]?\d)"
)
_PHONE_WORDS = re.compile(
    r"phone|tel\b|telefon|mobile|cell|call|fax|ring|dial|reach|contact|sms|text|number|whats\s?app|line|hotline",
    re.IGNORECASE,
)
_PHONE_WORDS_AFTER = re.compile(r"[ (-]{1,2}(?:office|fax|mobile|home|work|cell)", re.IGNORECASE)
CONTEXT = 48
"""Characters before a number in which a word may say what it is."""


def with_a_form(text: str) -> Iterator[Span]:
    for kind, pattern, is_real in _KINDS:
        for match in pattern.finditer(text):
            if is_real(match, text):
                yield Span(match.start(), match.end(), kind)
    for match in _IBAN.finditer(text):
        yield from _account(match)


def _account(match: re.Match[str]) -> Iterator[Span]:
    """The form of an account goes on over the words behind it, so every end of a word is tried, the last one first."""
    ends = [match.end(), *(match.start() + gap.start() for gap in re.finditer(r"[ -]", match[0]))]
    for end in sorted(ends, reverse=True):
        if passes_iban(match.string[match.start() : end]):
            yield Span(match.start(), end, "iban")
            return


def _digits(text: str) -> str:
    return "".join(character for character in text if character.isdigit())


def passes_luhn(digits: str) -> bool:
    total = 0
    for place, digit in enumerate(reversed(digits)):
        doubled = int(digit) * (2 if place % 2 else 1)
        total += doubled - 9 if doubled > 9 else doubled
    return total % 10 == 0


def passes_iban(text: str) -> bool:
    """ISO 13616: moved to the end and read as a number, the first four characters leave 1 modulo 97."""
    plain = "".join(character for character in text.upper() if character.isalnum())
    if not 15 <= len(plain) <= 34 or not plain.isascii():
        return False
    return int("".join(str(int(character, 36)) for character in plain[4:] + plain[:4])) % 97 == 1


def _is_card(match: re.Match[str], _: str) -> bool:
    digits = _digits(match[0])
    is_issued = digits[0] in "23456" or (digits.startswith("1800") and len(digits) == 15)
    return len(digits) in _CARD_LENGTHS and is_issued and len(set(digits)) > 1 and passes_luhn(digits)


def _is_ssn(match: re.Match[str], _: str) -> bool:
    area, group, serial = match.groups()
    return area not in ("000", "666") and group != "00" and serial != "0000"


def _is_address_of_host(match: re.Match[str], _: str) -> bool:
    if "::" not in match[0] and match[0].count(":") not in (0, 7):
        return False
    try:
        address = ip_address(match[0])
    except ValueError:
        return False
    return not address.is_unspecified


def _is_phone(match: re.Match[str], text: str) -> bool:
    """Between the length of a local number and that of the longest international one. A bare row of digits needs a
    word before it that says what it is."""
    found, digits = match[0], _digits(match[0])
    if not 7 <= len(digits) <= 15 or _DATE.match(text, match.start()):
        return False
    if found.startswith(("+", "00", "(")) and len(digits) >= 8:
        return True
    before = text[max(match.start() - CONTEXT, 0) : match.start()]
    after = text[match.end() : match.end() + 10]
    has_word = _PHONE_WORDS.search(before) is not None or _PHONE_WORDS_AFTER.match(after) is not None
    groups = re.findall(r"\d+", found)
    if len(groups) == 1:
        return has_word and len(digits) >= 8
    if "." in found and len(groups) == 2 and not has_word:
        return False  # a decimal number
    # A row of pairs (12 12 12 12) is a list of numbers, unless it begins like a number to dial.
    is_grouped = len(groups) >= 3 and len(digits) >= 8 and (digits[0] == "0" or max(map(len, groups)) > 2)
    return has_word or is_grouped or bool(re.fullmatch(r"0\d{2,4}[ /-]\d{5,9}", found))


_KINDS: tuple[tuple[Kind, re.Pattern[str], Callable[[re.Match[str], str], bool]], ...] = (
    ("email", _EMAIL, lambda _match, _text: True),
    ("card", _CARD, _is_card),
    ("ssn", _SSN, _is_ssn),
    ("ip", _IP4, _is_address_of_host),
    ("ip", _IP6, _is_address_of_host),
    ("phone", _PHONE, _is_phone),
)
