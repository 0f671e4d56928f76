"""Places in the questions of `semantic.yaml`: `{table.column}` for a value, `{table}` for a description of rows of that
table, `{period}` for a phrase about time, `{duration}` for a length of time, and `{number}` for a number."""

import re

PERIOD, DURATION, NUMBER = "period", "duration", "number"
OWN_PLACES = frozenset((PERIOD, DURATION, NUMBER))
"""Places that stand for no table or column."""
_PARTS = {f"{PERIOD}.start": PERIOD, f"{PERIOD}.end": PERIOD, f"{DURATION}.ago": DURATION}
"""What statements say of a place that is no value."""
PLACE = re.compile(r"\{([^{}]+)\}")


def places_of_question(text: str) -> frozenset[str]:
    return frozenset(PLACE.findall(text))


def places_of_statement(sql: str) -> frozenset[str]:
    """The places whose values a statement uses. Other braces are ordinary text."""
    found = re.findall(r"'\{([^{}']+)\}'", sql)
    return frozenset(_PARTS.get(name, name) for name in found)


def is_table(place: str) -> bool:
    """Whether a place stands for a description of rows: it names a table and no column."""
    return place not in OWN_PLACES and "." not in place


def column_of(place: str) -> tuple[str, str]:
    """`groups.name 2` is a second value of the column `groups.name`."""
    table, _, column = place.split(" ")[0].partition(".")
    return table, column
