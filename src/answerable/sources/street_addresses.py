"""Street addresses: where somebody lives is personal data, where a shop or an office stands is not.

The name of the column decides, and the form of its values. The table says whose address it is: `shop.address` is that
of a place. Where the table is not known, an address is taken for somebody's.
"""

import re
from collections.abc import Sequence

from answerable.core.words import name_words, stem


def _stems(text: str) -> frozenset[str]:
    return frozenset(map(stem, text.split()))


_NAMES = _stems("address addr street")
_ANOTHER_KIND = _stems("mac web url site website http wallet contract bitcoin memory network host server subnet")
"""Before or after the word: addresses of machines and pages."""
_ABOUT_IT = _stems("id key type kind code count status date since from to at valid verified changed updated created")
"""`address_type` and `date_address_from` tell of an address, but hold none."""
_PLACES = _stems(
    "shop store branch office building company business firm supplier vendor manufacturer distributor warehouse "
    "depot factory plant location place site venue station stop airport port school university college library "
    "museum theatre theater cinema stadium hospital clinic pharmacy hotel restaurant cafe bar bank agency facility "
    "park church court organisation organization institution department headquarters landmark"
)
_WAYS = (
    "street|st|avenue|ave|road|rd|boulevard|blvd|lane|ln|drive|dr|court|ct|place|pl|square|sq|way|terrace|crescent|"
    "highway|hwy|parkway|pkwy|circle|close|row|mews"
)
_FORMS = (
    re.compile(rf"\d{{1,6}}[a-z]?(?:[-/]\d+)?,?\s+(?:\S+\s+){{1,4}}(?:{_WAYS})\b.*", re.IGNORECASE | re.DOTALL),
    re.compile(
        r"\d{1,6}(?: ?bis| ?ter)?,?\s+(?:rue|avenue|boulevard|place|chemin|quai)\s.+", re.IGNORECASE | re.DOTALL
    ),
    re.compile(
        r"\S.*(?:straße|strasse|str\.|straat|gasse|weg|allee|platz|gatan|gata|vägen|veien|vej|laan|plein)"
        r"\s*,?\s*\d+\s?[a-z]?(?:\W.*)?",
        re.IGNORECASE | re.DOTALL,
    ),
    re.compile(r"(?:via|viale|piazza|calle|avenida|av\.|rua|ul\.|ulica)\s.+\d.*", re.IGNORECASE | re.DOTALL),
)


def address_reason(name: str, values: Sequence[str], table: str | None) -> str | None:
    """Why a column of texts holds the addresses of people; None if it does not."""
    if table is not None and is_of_places(table):
        return None
    words = set(map(stem, name_words(name)))
    if words & _NAMES:
        return None if words & (_ANOTHER_KIND | _ABOUT_IT) else "its name"
    # One value may be a title, such as “21 Jump Street”.
    return "values like street addresses" if len(values) > 1 and all(map(is_street_address, values)) else None


def is_street_address(value: str) -> bool:
    return any(form.fullmatch(value.strip()) for form in _FORMS)


def is_of_places(table: str) -> bool:
    """The last word of a table's name says what its rows are: `coffee_shop` has shops, `shop_members` has members."""
    words = [word for word in name_words(table) if not word.isdigit()]
    return bool(words) and stem(words[-1]) in _PLACES
