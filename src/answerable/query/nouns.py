"""Tables, columns and measures as people call them: their labels, else their names as words.

Where two would be called the same, their exact names are used, so that a sentence never leaves open which is meant.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cached_property

from answerable.core.catalog import Catalog, Column, Measure, Table
from answerable.core.words import singular as singular_of_word

# At marks, before a capital after a small letter (`orderDate`), and after an acronym (`HTTPCode`).
_BREAKS = re.compile(r"[\W_]+|(?<=[a-z\d])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_NUMBERED = re.compile(r"(?<=[^\W\d_]{3})(?: \d+)+$")
_ADDED = re.compile(r" (?:of|in|with|for) .+$| \(.+\)$")
_SAME_IN_PLURAL = frozenset({"data", "news", "series", "species", "staff", "information", "equipment", "feedback"})
MASSES = frozenset({"data", "information", "equipment", "feedback", "weather", "employment", "traffic", "music"})
_PARTICLES = frozenset({"at", "by", "for", "from", "in", "of", "on", "to", "with"})
_UNITS = frozenset(
    {"mm", "cm", "km", "mg", "g", "kg", "lb", "lbs", "oz", "usd", "eur", "gbp", "mph", "kmh", "kwh", "ms"}
)
_CURRENCIES = frozenset({"usd", "eur", "gbp"})
_IRREGULAR_PLURALS = {"person": "people", "child": "children", "man": "men", "woman": "women"}


class Nouns:
    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._columns: dict[str, Mapping[str, str]] = {}

    def many(self, table: Table) -> str:
        return self._tables[table.name][0]

    def one(self, table: Table) -> str:
        return self._tables[table.name][1]

    def column(self, table: Table, column: Column) -> str:
        if table.name not in self._columns:
            wanted = {column.name: _with_unit(_called(column.label, column.name)) for column in table.columns}
            self._columns[table.name] = _distinct(wanted)
        return self._columns[table.name][column.name]

    def measure(self, measure: Measure) -> str:
        return self._measures[measure.name]

    @cached_property
    def _tables(self) -> Mapping[str, tuple[str, str]]:
        short = _distinct({table.name: _noun(table, numbered=False) for table in self._catalog.tables})
        wanted = {
            table.name: _noun(table, numbered=short[table.name].startswith("`")) for table in self._catalog.tables
        }
        return {
            name: (many, many if many.startswith("`") else singular(many)) for name, many in _distinct(wanted).items()
        }

    @cached_property
    def _measures(self) -> Mapping[str, str]:
        columns = {_called(column.label, column.name) for table in self._catalog.tables for column in table.columns}
        wanted = {measure.name: _called(measure.label, measure.name) for measure in self._catalog.measures}
        # If a measure and a column had the same noun, different plans could have the same sentence.
        return {name: f"{text} (measure)" if text in columns else text for name, text in _distinct(wanted).items()}


def _noun(table: Table, *, numbered: bool) -> str:
    """The noun in the plural. What has none, such as "weather", "t1" and "assigned to", has rows. Without `numbered`,
    digits at the end of a name are left out: the rows of `claims_2024` are claims."""
    noun = _called(table.label, table.name)
    noun = noun if numbered or table.label is not None else _NUMBERED.sub("", noun)
    last = noun.rpartition(" ")[2]
    odd = len(last) < 3 or last in MASSES | _PARTICLES or not last.isalpha()
    return f"{noun} rows" if odd and not noun.startswith("`") else plural(noun)


def _with_unit(noun: str) -> str:
    """ "body mass g" is a body mass in grams."""
    head, last = _split_last(noun)
    return f"{head}({last})" if head and last in _UNITS else noun


def unit_in_name(column: Column) -> str | None:
    """The unit that the last word of a name says: `body_mass_g`."""
    head, last = _split_last(spoken(column.name))
    if not head or last not in _UNITS or column.type not in ("integer", "number"):
        return None
    return last.upper() if last in _CURRENCIES else last


def without_unit(noun: str, column: Column) -> str:
    """The noun of a column, without the unit that its name ends with."""
    return _split_last(noun)[0].rstrip() if unit_in_name(column) and noun.endswith(")") else noun


def spoken(name: str) -> str:
    """An identifier as words: `orderDate` and `order_date` are "order date"."""
    words = [word for word in _BREAKS.split(name) if word]
    return " ".join(words).lower() or f"`{name}`"


def plural(noun: str) -> str:
    if added := _ADDED.search(noun):  # members of club, bill lengths (mm)
        return plural(noun[: added.start()]) + added.group()
    head, last = _split_last(noun)
    if last in _SAME_IN_PLURAL or singular_of_word(last) != last or noun.startswith("`"):
        return noun
    return head + (_IRREGULAR_PLURALS.get(last) or _with_s(last))


def is_plural(noun: str) -> bool:
    last = _split_last(noun)[1]
    return last not in _SAME_IN_PLURAL and singular_of_word(last) != last


def singular(noun: str) -> str:
    if added := _ADDED.search(noun):
        return singular(noun[: added.start()]) + added.group()
    head, last = _split_last(noun)
    return head + singular_of_word(last)


def _with_s(word: str) -> str:
    if word.endswith("y") and word[-2:-1] not in tuple("aeiou"):
        return word[:-1] + "ies"
    return word + ("es" if word.endswith(("s", "x", "z", "ch", "sh")) else "s")


def _split_last(noun: str) -> tuple[str, str]:
    head, blank, last = noun.rpartition(" ")
    return head + blank, last


def _called(label: str | None, name: str) -> str:
    if label is None or not label.strip():
        return spoken(name)
    text = " ".join(label.split())
    return text[0].lower() + text[1:] if text[1:2].islower() else text


def _distinct(wanted: Mapping[str, str]) -> Mapping[str, str]:
    counts = Counter(_folded(wanted.values()))
    return {name: text if counts[text.casefold()] == 1 else f"`{name}`" for name, text in wanted.items()}


def _folded(texts: Iterable[str]) -> Iterable[str]:
    return (text.casefold() for text in texts)
