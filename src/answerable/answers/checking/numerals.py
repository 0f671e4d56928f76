"""Finds everything in a text that states a number: digits, percentages, dates, number words, fractions.

Reading is strict: digits that do not form a number, a date or a time that can be read are reported as unreadable, so
that whoever checks the text knows of every one. Number words are read in English only.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Literal

from answerable.core.records import dataclass

Kind = Literal["number", "percent", "ratio", "ordinal", "date", "time", "unreadable"]


@dataclass(frozen=True, slots=True)
class StatedDate:
    """A date as far as it was said: a year, a quarter, a month, a day."""

    year: int | None = None
    quarter: int | None = None
    month: int | None = None
    day: int | None = None


@dataclass(frozen=True, slots=True)
class Numeral:
    start: int
    end: int
    text: str
    kind: Kind
    value: Decimal = Decimal(0)
    """Scaled: “1.2 million” is 1200000. A percentage is the number before the sign."""
    unit: Decimal = Decimal(1)
    """The worth of the last digit that was printed; what was rounded may be half of it away."""
    rough_unit: Decimal = Decimal(1)
    """The same, when trailing zeros are taken for rounding: “about 1,200” may stand for 1,234."""
    signed: bool = False
    scaled: bool = False
    """A word or letter multiplies it: million, k."""
    period: StatedDate | None = None


def numerals(text: str, masked: Sequence[tuple[int, int]] = ()) -> list[Numeral]:
    """All of them in order. Spans in `masked` were read by somebody else and are left out."""
    taken = list(masked)
    found = []
    # The most specific reader comes first: 2026-11-16 is a date before it is three numbers.
    for reader in (_dates, _times, _durations, _fractions, _digits, _words):
        for numeral in reader(text):
            if not any(numeral.start < end and start < numeral.end for start, end in taken):
                taken.append((numeral.start, numeral.end))
                found.append(numeral)
    found.extend(_leftovers(text, taken))
    return sorted(found, key=lambda numeral: numeral.start)


# Dates and times

MONTHS = ["january", "february", "march", "april", "may", "june", "july", "august", "september", "october"]
MONTHS += ["november", "december"]
_MONTH = (
    r"(?P<{0}>"
    + "|".join(f"{name}|{name[:3]}\\.?" + ("|sept\\.?" if name[0:4] == "sept" else "") for name in MONTHS)
    + ")"
)
_BEGIN, _END = r"(?<![\w.,/:\-−])", r"(?![\w/])(?![.,:]\d)(?!-\d)"
_DATE_FORMS = tuple(
    re.compile(_BEGIN + form + _END, re.IGNORECASE)
    for form in (
        r"(?P<y>\d{4})-(?P<m>\d{2})-(?P<d>\d{2})(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2})?)?",
        r"(?P<y>\d{4})-(?P<m>0[1-9]|1[0-2])",
        r"(?P<y>\d{4})[- ]?Q(?P<q>[1-4])",
        r"Q(?P<q>[1-4])(?:[ ,/-]{1,2}(?P<y>\d{4}))?",
        r"(?P<nth>first|second|third|fourth) quarter(?: (?:of )?(?P<y>\d{4}))?",
        r"(?P<d>\d{1,2})(?:st|nd|rd|th)? (?:of )?" + _MONTH.format("name") + r"(?:,? (?P<y>\d{4}))?",
        _MONTH.format("name") + r" (?P<d>\d{1,2})(?:st|nd|rd|th)?(?:,? (?P<y>\d{4}))?",
        _MONTH.format("name") + r",? (?P<y>\d{4})",
    )
)
_NEXT_DAY = re.compile(
    _MONTH.format("name")
    + r" \d{1,2}(?:, \d{1,2})*,? and (?P<d>\d{1,2})(?= (?:follow|were|are|had|have|came)\b|[,.;)])",
    re.IGNORECASE,
)
"""The last day of “January 11 and 3”."""
_TIME = re.compile(_BEGIN + r"\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?" + _END)


def _dates(text: str) -> Iterator[Numeral]:
    for form in _DATE_FORMS:
        for match in form.finditer(text):
            yield Numeral(match.start(), match.end(), match.group(), "date", period=_period(match.groupdict()))
    for match in _NEXT_DAY.finditer(text):
        yield Numeral(match.start("d"), match.end("d"), match["d"], "date", period=_period(match.groupdict()))


def _times(text: str) -> Iterator[Numeral]:
    for match in _TIME.finditer(text):
        yield Numeral(match.start(), match.end(), match.group(), "time")


_PARTS_OF = {
    "year": ("month", 12),
    "week": ("day", 7),
    "day": ("hour", 24),
    "hour": ("minute", 60),
    "minute": ("second", 60),
}
_DURATION = re.compile(
    _BEGIN
    + r"(?P<many>\d+) (?P<whole>year|week|day|hour|minute)s?(?:,| and)? "
    + r"(?P<rest>\d+)(?= (?P<part>month|day|hour|minute|second)s?\b)",
    re.IGNORECASE,
)


def _durations(text: str) -> Iterator[Numeral]:
    """“3 hours and 39 minutes” is one number, of minutes."""
    for match in _DURATION.finditer(text):
        part, size = _PARTS_OF[match["whole"].lower()]
        if match["part"].lower() == part:
            value = Decimal(match["many"]) * size + Decimal(match["rest"])
            yield Numeral(match.start(), match.end(), match.group(), "number", value)


def _period(groups: dict[str, str | None]) -> StatedDate:
    number = {key: int(value) for key in "yqmd" if (value := groups.get(key))}
    if nth := groups.get("nth"):
        number["q"] = 1 + ["first", "second", "third", "fourth"].index(nth.lower())
    name = groups.get("name")
    month = 1 + [m[:3] for m in MONTHS].index(name[:3].lower()) if name else number.get("m")
    return StatedDate(number.get("y"), number.get("q"), month, number.get("d"))


# Digits

_GROUP = "[,'’\u00a0\u202f\u2009]"
_SCALES = {"thousand": 3, "million": 6, "billion": 9, "trillion": 12, "mn": 6, "bn": 9, "k": 3, "K": 3, "M": 6, "B": 9}
_SMALL_SCALES = {"m": 6, "b": 9, "t": 12}
"""Read as scales only after a currency sign: 5m may well be five metres."""
_NUMBER = re.compile(
    rf"""
    (?<![\w.,/:])                                             # not inside a word or a longer number
    (?P<sign>(?<!\w)[-−+±]\ ?)?                               # a minus is no sign right after a word or digit
    (?P<currency>[$€£¥])?
    (?P<whole>\d{{1,3}}(?:{_GROUP}\d{{3}})+(?!\d)|\d+)
    (?P<part>\.\d+)?
    (?P<exponent>[eE][-+]?\d{{1,2}})?
    (?P<ordinal>st|nd|rd|th)?
    (?:\ ?(?P<percent>%|percent\b|per\ cent\b|percentage\ points?\b|pp\b))?
    (?:(?P<scale>(?:\ |-)(?:thousand|million|billion|trillion)\b|\ ?(?:mn|bn)\b|[kKMB]\b|[mbt]\b))?
    (?P<ratio>[x×](?!\w)|\ [x×](?=\ (?:as|more|less|the|that)\b)|(?:\ |-)times\b)?
    (?P<unit>[^\W\d_]{{1,3}}(?!\w))?                          # 41ms, 12kg
    (?!\w)(?![.,/:]\d)
    """,
    re.VERBOSE,
)


def _digits(text: str) -> Iterator[Numeral]:
    for match in _NUMBER.finditer(text):
        yield _number(match)


def _number(match: re.Match[str]) -> Numeral:
    part = match["part"] or ""
    bare = re.sub(_GROUP, "", match["whole"])
    printed = Decimal(bare + part + (match["exponent"] or ""))
    exponent = int((match["exponent"] or "e0")[1:])
    scale = Decimal(10) ** _scale(match)
    unit = Decimal(10) ** (exponent - max(0, len(part) - 1))
    zeros = 0 if part else len(bare) - len(bare.rstrip("0"))
    negative = (match["sign"] or "").strip() in ("-", "−")
    return Numeral(
        start=match.start(),
        end=match.end(),
        text=match.group(),
        kind=_kind(match),
        value=(-printed if negative else printed) * scale,
        unit=unit * scale,
        rough_unit=unit * Decimal(10) ** zeros * scale,
        signed=bool(match["sign"]),
        scaled=scale != 1,
    )


def _scale(match: re.Match[str]) -> int:
    word = (match["scale"] or "").strip(" -")
    if word in _SMALL_SCALES:
        return _SMALL_SCALES[word] if match["currency"] else 0
    return _SCALES.get(word, 0)


def _kind(match: re.Match[str]) -> Kind:
    if (match["sign"] or "").strip() == "±":
        return "unreadable"
    if match["ordinal"]:
        return "ordinal"
    if match["percent"]:
        return "percent"
    times = (match["ratio"] or "").strip(" -") == "times"
    # “Flew 14 times” counts; “2.5 times” and “14 times as many” multiply.
    if times and not match["part"] and not re.match(rf" {_COMPARED}", match.string[match.end() :]):
        return "number"
    return "ratio" if match["ratio"] else "number"


# Words

_SMALL = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
)
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_VALUES = {word: i for i, word in enumerate(_SMALL.split())}
_VALUES |= {word: 10 * i for i, word in enumerate(_TENS.split(), 2)}
_POWERS = {"dozen": 12, "hundred": 100, "thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000}
_COMPARED = r"(?:as|that|those|the|more|less|fewer|higher|lower|larger|smaller|longer|bigger|its|what|of)\b"
"""What follows “times” where it multiplies; “flew 14 times” counts."""
_WORD = r"(?:" + "|".join([*_VALUES, *_POWERS]) + r")"
_WORDS = re.compile(
    rf"(?<![\w-])(?:an? (?=dozen|hundred|thousand|million|billion))?{_WORD}(?:(?:[- ]| and ){_WORD})*"
    rf"(?P<half> and a half)?(?P<percent> percent| per cent)?"
    rf"(?P<ratio> times(?= {_COMPARED}))?(?!\w)(?!-\w)",
    re.IGNORECASE,
)
_NOT_COUNTED_BEFORE = re.compile(
    r"(?:\b(?:no|any|every|each|some|which|this|that|the|other|another|last|next|first|same|the only"
    r"|only the)|\bone by) $",
    re.IGNORECASE,
)
_NOT_COUNTED_AFTER = re.compile(r" (?:of|by|another|or|should|can|could|might|would|day)\b|-", re.IGNORECASE)
_STEP_AFTER = re.compile(r" (?:point|unit|standard deviation)\b", re.IGNORECASE)
_STEP_BEFORE = re.compile(r"(?:^|\b(?:an?|per|for|with|any))\W*$", re.IGNORECASE)
"""“A one point better rating”: the step that an effect is told for."""


_NO_VALUE = ("and", "a", "an", "percent", "per", "cent", "times", "half")
_HALF = Decimal("0.5")


def _words(text: str) -> Iterator[Numeral]:
    for match in _WORDS.finditer(text):
        words = [w for w in re.split(r"[- ]", match.group().lower()) if w not in _NO_VALUE]
        if not words or (words == ["one"] and _is_pronoun(text, match)):
            continue
        value = _value_of(words)
        if value is None:
            yield Numeral(match.start(), match.end(), match.group(), "unreadable")
            continue
        if match["half"]:
            halved: Kind = "ratio" if match["ratio"] else "percent" if match["percent"] else "number"
            yield Numeral(match.start(), match.end(), match.group(), halved, value + _HALF, _HALF, _HALF)
            continue
        if match["ratio"]:
            yield Numeral(match.start(), match.end(), match.group(), "ratio", Decimal(value), _HALF, Decimal(1))
            continue
        kind: Kind = "percent" if match["percent"] else "number"
        zeros = len(str(value)) - len(str(value).rstrip("0"))
        rough = Decimal(10) ** zeros
        yield Numeral(match.start(), match.end(), match.group(), kind, Decimal(value), rough_unit=rough)


def _is_pronoun(text: str, match: re.Match[str]) -> bool:
    before, after = text[: match.start()], text[match.end() :]
    if _STEP_AFTER.match(after) and _STEP_BEFORE.search(before):
        return True
    return bool(_NOT_COUNTED_BEFORE.search(before) or _NOT_COUNTED_AFTER.match(after) or not re.match(r" \w", after))


def _value_of(words: Sequence[str]) -> int | None:
    total, current = 0, 0
    for word in words:
        if word in _VALUES:
            current += _VALUES[word]
        elif word in ("dozen", "hundred"):
            current = max(1, current) * _POWERS[word]
        elif word in _POWERS:
            total, current = total + max(1, current) * _POWERS[word], 0
        else:
            return None
    return total + current


# Fractions and multiples

_SHARES = {
    r"(?<!first )(?<!second )(?:one |a )?half(?= (?:of|the|as)\b)": Decimal(50),
    r"(?:one|a)[- ]third": Decimal(100) / 3,
    r"two[- ]thirds": Decimal(200) / 3,
    r"(?:one|a)[- ]quarter(?! (?:later|earlier|ago|before|after)\b)": Decimal(25),
    r"three[- ]quarters": Decimal(75),
    r"(?:one|a)[- ]fifth": Decimal(20),
    r"two[- ]fifths": Decimal(40),
    r"three[- ]fifths": Decimal(60),
    r"four[- ]fifths": Decimal(80),
    r"(?:one|a)[- ]sixth": Decimal(100) / 6,
    r"(?:one|a)[- ]seventh": Decimal(100) / 7,
    r"(?:one|an)[- ]eighth": Decimal(100) / 8,
    r"(?:one|a)[- ]ninth": Decimal(100) / 9,
    r"(?:one|a)[- ]tenth": Decimal(10),
}
_SHARE_WORDS = ("half", "third", "quarter", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
"""One of them is in every pattern above: a text without them needs none."""
_ONE_IN = re.compile(
    r"\b(?P<some>one|two|three|four|five|six|seven|eight|nine|[1-9])(?: [a-z]+)? (?:in|out of) (?:every )?"
    r"(?P<of>\d{1,3}(?!\d)|a hundred|a thousand|" + "|".join(_VALUES) + r")\b",
    re.IGNORECASE,
)
_TO_ONE = re.compile(r"\b(?P<many>\d{1,3}|" + "|".join(list(_VALUES)[2:]) + r") to one\b", re.IGNORECASE)
"""“Eight to one”."""
_HALF_A_DOZEN = re.compile(r"\bhalf a dozen\b", re.IGNORECASE)
_MULTIPLES = {
    r"twice|doubled?|doubles|doubling": Decimal(2),
    r"thrice|tripled?|triples|tripling|threefold": Decimal(3),
    r"quadrupled?|quadruples|fourfold": Decimal(4),
    r"halved|halves|halving": Decimal("0.5"),
}
_MULTIPLE_WORDS = ("twice", "doubl", "thrice", "tripl", "fold", "quadrupl", "halv")


def _counted(word: str) -> int:
    return _VALUES.get(word) or _POWERS.get(word.removeprefix("a ")) or int(word)


def _fractions(text: str) -> Iterator[Numeral]:
    for match in _ONE_IN.finditer(text):
        some, of = (_counted(match[group].lower()) for group in ("some", "of"))
        if some < of:
            share = Decimal(100) * some / of
            yield Numeral(match.start(), match.end(), match.group(), "percent", share, share * 3 / 10, share * 3 / 10)
    for match in _TO_ONE.finditer(text):
        value = Decimal(_VALUES.get(match["many"].lower()) or int(match["many"]))
        yield Numeral(match.start(), match.end(), match.group(), "ratio", value, _HALF, Decimal(1))
    for match in _HALF_A_DOZEN.finditer(text):
        yield Numeral(match.start(), match.end(), match.group(), "number", Decimal(6))
    lowered = text.lower()
    for pattern, value in _SHARES.items() if any(word in lowered for word in _SHARE_WORDS) else ():
        for match in re.finditer(rf"\b(?:{pattern})\b", text, re.IGNORECASE):
            unit = min(Decimal(5), value / 5)
            yield Numeral(match.start(), match.end(), match.group(), "percent", value, unit, unit)
    for pattern, value in _MULTIPLES.items() if any(word in lowered for word in _MULTIPLE_WORDS) else ():
        for match in re.finditer(rf"\b(?:{pattern})\b", text, re.IGNORECASE):
            yield Numeral(match.start(), match.end(), match.group(), "ratio", value, Decimal("0.2"), Decimal("0.2"))


def _leftovers(text: str, taken: Sequence[tuple[int, int]]) -> Iterator[Numeral]:
    """Digits of any script that nobody has read."""
    for match in re.finditer(r"\S+", text):
        for position in range(match.start(), match.end()):
            if _is_number(text, position) and not any(start <= position < end for start, end in taken):
                yield Numeral(match.start(), match.end(), match.group(), "unreadable")
                break


def _is_number(text: str, position: int) -> bool:
    """The raised two of “R²” and “km²” belongs to the letter before it."""
    raised = text[position] in "²³" and text[position - 1 : position] in ("R", "χ", "m")
    return unicodedata.category(text[position]).startswith("N") and not raised
