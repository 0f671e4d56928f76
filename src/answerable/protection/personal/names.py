"""Names of people: runs of capitalised words that lists of given and family names know, or that a word announces."""

import gzip
import re
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from itertools import pairwise

from answerable.protection.personal.spans import Span

_WORD = r"(?:[A-ZÀ-ÞĀ-Ž](?:['’][A-ZÀ-Þ])?[^\W\d_]*(?:['’-][^\W\d_]+)*)"
_PARTICLE = r"(?:van der|van den|van de|van|von|de la|de|da|di|del|dos|la|le|el|al|bin|ibn)"
_RUN = re.compile(
    rf"(?<![\w@./#-]){_WORD}"
    rf"(?:(?: |[ ]?\b{_PARTICLE} ){_WORD}|\.? [A-ZÀ-Þ]\.(?= )|(?<=\b[A-Z])\. ?{_WORD})*(?![\w@])"
)
_ANNOUNCES = re.compile(
    r"(?:\b(?:mr|mrs|ms|miss|dr|prof|sir|madam|lady|lord|president|senator|judge|captain|sgt|herr|frau|monsieur|madame|"
    r"señor|señora)\.?|\b(?:(?:my|his|her|their|your|the|first|last|middle|full|maiden|family|sur) ?name(?: is|'s|:)|"
    r"named|called|name:|i am|i'm|this is|dear|hello|hi|hey|regards,|sincerely,|by|with|told|says|said|asked|met|"
    r"starring|assistant to|songwriter|singer|player|author|actor|actress|director|add|under|heard|calls? me|friend|"
    r"brother|sister|mother|father|wife|husband|son|daughter))\s*$",
    re.IGNORECASE,
)
_PLACES_BEFORE = re.compile(
    r"\b(?:in|from|at|near|to|of|across|visit|visiting|live|lives|capital|city|via|toward|towards|into)\s+(?:the\s+)?"
    r"(?:north|south|east|west|northern|southern|eastern|western|central)?\s*$",
    re.IGNORECASE,
)


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


_NOT_PEOPLE = _set(
    "Inc Ltd LLC Corp Corporation Company Group Bank University College School Institute Orchestra Street Avenue Road "
    "Lane Boulevard Drive Square Court Park River Lake Mount Island County City State Republic Kingdom Hotel Hospital "
    "Church Museum Airport Station Union Council Committee Ministry Department Association Foundation Society Club "
    "League Team Apt Suite Unit Box Monday Tuesday Wednesday Thursday Friday Saturday Sunday January February March "
    "April May June July August September October November December English French German Spanish Italian Chinese "
    "Japanese Russian American British Internet Google Facebook Twitter Microsoft Apple Amazon Visa Mastercard "
    "Christmas Easter God Lord Bible Spain Poland France Germany Italy Canada Brazil Mexico India China Japan Russia "
    "Ireland Iceland Norway Sweden Denmark Finland Austria Switzerland Belgium Netherlands Portugal Greece Hungary "
    "Czech Slovenia Croatia Serbia Estonia Latvia Lithuania Ukraine Turkey Egypt Israel Australia Zealand Africa "
    "America Europe Asia England Scotland Wales London Paris Princess Prince Queen King Royal Bridge Way Green Hill "
    "Plaza Via Rua Avenida Calle Rue Ulica Crossroad Terrace Place Pass Bypass Trail Loop Mall PLC Research Big Three "
    "Analytics Reports Investments St Cite Los San Santa Coves Flat Flats"
)
_ALSO_WORDS = _set(
    "A An And Are As At Be But By Can Could Day Did Do Does Down For Fine From Good Had Has Have He Her Here His How "
    "I If In Is It Its Just Let Long Make Many May Me More Most Much My New No Not Now Of On One Only Or Our Out Over "
    "Please Rich Say See She So Some Such Than Thank Thanks That The Their Them Then There They This Those To Too Up "
    "Us Very Was We Well Were What When Where Which Who Why Will With Would Yes You Young Your Mark Bill Art Dean "
    "Grant Chase Hope Grace Rose Faith Joy Case Church Page Price Rice Best Love Small Power Powers Hand Hands Street "
    "Field Fields Ford Short White Black Brown Green Gray Grey King Queen Bishop Major Stone Wood Woods Banks Rivers "
    "Hill Hills Moon Star Sun Summer Winter April June August Christian Frank Gene Jack Pat Ray Sue Van Win Max "
    "Earnest Guy Key Law Little Lane Park Parks Strong Sharp Wise Yard Ada Date Name Phone Email Address Mobile Fax "
    "Title Job Work Office Home Order Number Card Account Customer Member Client Total Should Shall Might Must First "
    "Last Next Every Each Any All Both Few Other Another Same"
)


def names(text: str) -> Iterator[Span]:
    for match in _RUN.finditer(text):
        yield from _names_in(match, text)
    yield from _written_small(text)


def _written_small(text: str) -> Iterator[Span]:
    """A given name and a family name side by side, or one that is announced, also when nobody pressed the shift key."""
    given, family = _lists()

    def is_small(word: str) -> bool:
        known = word.capitalize() in family or word.capitalize() in given
        return word.islower() and known and word not in _SMALL_WORDS

    words = list(re.finditer(r"(?<![\w@./#-])[^\W\d_]{3,}(?![\w@])", text))
    for word, after in pairwise([*words, None]):
        if word is None or not word[0].islower() or word[0].capitalize() not in given or word[0] in _SMALL_WORDS:
            continue
        if after is not None and re.fullmatch(r" (?:\w\.? )?", text[word.end() : after.start()]) and is_small(after[0]):
            yield Span(word.start(), after.end(), "name")
            continue
        if _NAMED.search(text[max(word.start() - 40, 0) : word.start()]):
            yield Span(word.start(), word.end(), "name")


def _names_in(match: re.Match[str], text: str) -> Iterator[Span]:
    run = re.sub(r"['’]s\b.*$", "", match[0], flags=re.DOTALL)
    words = list(re.finditer(r"[^\s]+", run))
    if any(word[0].strip(".,") in _NOT_PEOPLE for word in words):
        return
    while words and words[-1][0] in _ALSO_WORDS - {"Key", "Page", "King"}:
        words.pop()
    # A run may begin with words of the sentence: `Will Ana come`, `Dear Ana`.
    while words and words[0][0].rstrip(".") in _ALSO_WORDS | _TITLES and len(words) >= 1:
        words.pop(0)
    if not words:
        return
    start, end = match.start() + words[0].start(), match.start() + words[-1].end()
    if _is_name([word[0] for word in words], text, start, end):
        yield Span(start, end, "name")


def _is_name(words: list[str], text: str, start: int, end: int) -> bool:
    if any(word.strip(".,") in _NOT_PEOPLE for word in words):
        return False
    if _NUMBER_BEFORE.search(text[:start][-12:]) or _NUMBER_AFTER.match(text, end):
        return False  # a street or a town
    given, family = _lists()
    before = text[max(start - 40, 0) : start]
    announced = _ANNOUNCES.search(before) is not None
    known = sum(word in given or word in family for word in words)
    is_listed = _OF_A_LIST.match(text, end) or _IN_A_LIST.search(before)
    if is_listed and not all(word in given for word in words) and len(words) < 3:
        return False  # `Clark, Romero and Hall` is a company more often than three people
    if any(word.isupper() and len(word) > 2 for word in words) and not known:
        return False
    if len(words) >= 2 and _makes_a_full_name(words, text, start, end):
        return True
    if len(words) >= 2:
        return (
            announced
            or _SUBJECT.match(text, end) is not None
            or (_IS.match(text, end) is not None and known > 0)
            or any(word in given for word in words)
            or known >= 2
        )
    if announced:
        return known > 0 or text[end : end + 1] in ("", ".", ",", "\n", "!", "?", " ")
    return (
        known > 0 or (_SUBJECT.match(text, end) is not None and not _is_english(words[0]))
    ) and not _PLACES_BEFORE.search(before)


_NAMED = re.compile(r"\b(?:name is|name's|named|called|name:|calls? me|mr\.?|mrs\.?|ms\.?|dr\.?)\s*$", re.IGNORECASE)
_NUMBER_BEFORE = re.compile(r"\d[A-Za-z]?,? $")
_NUMBER_AFTER = re.compile(r",? \d")
_OF_A_LIST = re.compile(r", [A-ZÀ-Þ][\w'-]+ and [A-ZÀ-Þ]| and [A-ZÀ-Þ][\w'-]+ (?:Orchestra|Group|Inc|Ltd|LLC)|-[A-Z]")
_SUBJECT = re.compile(
    r" (?:lives|lived|spent|said|says|listed|told|works|worked|wrote|went|gave|asked|moved|plays|played|"
    r"likes|loves|wants|needs|called|sent|bought|joined|married|studied|speaks|spoke)\b"
)
_IN_A_LIST = re.compile(r"[A-ZÀ-Þ][\w'-]+, (?:[A-ZÀ-Þ][\w'-]+ and )?$")
_MIDDLE_INITIAL = re.compile(r"[A-ZÀ-Þ]\.?")
_OF_SOME_PLACE = re.compile(r",? (?:from|of) [A-ZÀ-Þ]")
_POSSESSIVE = re.compile(r"['’]s\b")


def _makes_a_full_name(words: list[str], text: str, start: int, end: int) -> bool:
    """A letter in the middle (`Ana M. Silva`), what somebody has (`Ana Silva's`), or the first line of a letter."""
    if len(words) == 3 and _MIDDLE_INITIAL.fullmatch(words[1]):
        return True
    if _OF_SOME_PLACE.match(text, end):
        return True
    is_line = not text[:start].strip() and text[end : end + 1] == "\n"
    return len(words) <= 3 and (is_line or _POSSESSIVE.match(text, end) is not None)


_IS = re.compile(r" (?:is|was|has|had|were|began)\b")
_SMALL_WORDS = frozenset(word.lower() for word in _ALSO_WORDS | _NOT_PEOPLE)


def _is_english(word: str) -> bool:
    return word.lower() in _SMALL_WORDS


_TITLES = _set("Mr Mrs Ms Miss Dr Prof Sir Madam Mr. Mrs. Ms. Dr. Prof. Dear Hello Hi Hey President Senator Captain")


@cache
def _lists() -> tuple[frozenset[str], frozenset[str]]:
    """Given names and family names of some sixty languages, from the lists of Faker (MIT)."""
    content = gzip.decompress(files("answerable.protection.personal").joinpath("names.txt.gz").read_bytes()).decode()
    given, _, family = content.partition("\n\n")
    return frozenset(given.split()) - _ALSO_WORDS, frozenset(family.split()) - _ALSO_WORDS
