"""Places in the questions of `semantic.yaml`: `{table.column}` for a value, `{period}` for a phrase about time, and
`{duration}` for a length of time."""

import re

PERIOD, DURATION = "period", "duration"
_PARTS = {f"{PERIOD}.start": PERIOD, f"{PERIOD}.end": PERIOD, f"{DURATION}.ago": DURATION}
"""What statements say of a place that is no value."""
PLACE = re.compile(r"\{([^{}]+)\}")


def places_of_question(text: str) -> frozenset[str]:
    return frozenset(PLACE.findall(text))


def places_of_statement(sql: str) -> frozenset[str]:
    """The places whose values a statement uses. Other braces are ordinary text."""
    found = re.findall(r"'\{([^{}']+)\}'", sql)
    return frozenset(_PARTS.get(name, name) for name in found)


def column_of(place: str) -> tuple[str, str]:
    """`groups.name 2` is a second value of the column `groups.name`."""
    table, _, column = place.split(" ")[0].partition(".")
    return table, column
