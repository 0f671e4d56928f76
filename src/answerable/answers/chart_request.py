"""Charts that a question asks for in words: "as a pie", "plot orders per month". What is left is the question."""

import re
from typing import Any, Literal

from answerable.core.records import dataclass
from answerable.core.values import Json

Form = Literal["bar", "line", "pie", "scatter", "histogram"]

_SLICES = 8
"""A reader cannot compare more slices of a pie than this."""
_KIND = r"(?:(?P<kind>bar|column|line|pie|donut|scatter|histogram)s?[ -]?)?"
_THING = r"(?:charts?|plots?|graphs?|diagrams?|histograms?|visuali[sz]ations?)"
_POLITE = r"(?:please )?(?:(?:can|could) you )?"
_LEAD = re.compile(
    rf"^{_POLITE}(?:(?:show|give|draw|make|create|display|plot)(?: me| us)? )?(?:an? |the )?{_KIND}{_THING}"
    r" (?:of|for|showing|with) (?P<rest>\S.*)$",
    re.IGNORECASE,
)
_VERB = re.compile(
    rf"^{_POLITE}(?:plot|draw|chart|graph|visuali[sz]e)(?: me| us)? (?:the )?(?P<rest>\S.*)$", re.IGNORECASE
)
_TAIL = re.compile(
    rf"^(?P<rest>.*\S),? (?:as|in|on|with) (?:an? |the )?(?:{_KIND}{_THING}|(?P<alone>pie|bar|line|column)s?)[.?! ]*$",
    re.IGNORECASE,
)
_FORMS: dict[str, Form] = {
    "bar": "bar",
    "column": "bar",
    "line": "line",
    "pie": "pie",
    "donut": "pie",
    "scatter": "scatter",
    "histogram": "histogram",
}


@dataclass(frozen=True, slots=True)
class ChartRequest:
    rest: str
    """The question without the request for a chart."""
    form: Form | None = None
    """None if no form was named."""


def chart_request(question: str) -> ChartRequest | None:
    """The chart that a question asks for, or None if it asks for none."""
    rest, asked = question.strip(), False
    form: Form | None = None
    for pattern in (_TAIL, _LEAD, _VERB):
        if (found := pattern.match(rest)) is None:
            continue
        named = found.groupdict()
        said = named.get("kind") or named.get("alone") or _histogram(found.group())
        form = form or _form(said)
        rest, asked = named["rest"].rstrip(" ,"), True
    return ChartRequest(rest, form) if asked else None


def _histogram(text: str) -> str | None:
    """The only form that is also the word for the chart."""
    return "histogram" if "histogram" in text.lower() else None


def _form(said: str | None) -> Form | None:
    return None if said is None else _FORMS[said.lower()]


def in_form(picture: dict[str, Any] | None, form: Form, rows: list[tuple[Json, ...]]) -> tuple[Json, str | None]:
    """The chart in the form that was asked for, where that form says something. Otherwise the chart as it is, and the
    reason."""
    if picture is None:
        return None, f"No {form} chart is drawn: these rows have no figures to compare."
    mark = picture["mark"]["type"]
    if form == {"bar": "bar", "line": "line", "point": "scatter"}.get(mark):
        return picture, None
    if form == "pie":
        return _pie(picture, rows)
    if form == "bar" and mark == "line":
        return picture | {"mark": {"type": "bar", "tooltip": True}}, None
    drawn = {"bar": "bars", "line": "a line", "point": "points"}[mark]
    reason = {
        "bar": "bars need a name for each figure",
        "line": "a line needs an order, such as time",
        "scatter": "points need two figures of each thing",
        "histogram": "these rows are figures of groups already",
    }[form]
    return picture, f"The chart shows {drawn}: {reason}."


def _pie(picture: dict[str, Any], rows: list[tuple[Json, ...]]) -> tuple[Json, str | None]:
    encoding = picture["encoding"]
    axes = [encoding[axis] for axis in ("x", "y") if axis in encoding]
    names = [axis for axis in axes if axis["type"] != "quantitative"]
    figures = [axis for axis in axes if axis["type"] == "quantitative" and axis["field"].startswith("c")]
    if len(names) != 1 or len(figures) != 1 or "color" in encoding:
        return picture, "No pie is drawn: it shows one figure for each name."
    values = [row[int(figures[0]["field"][1:])] for row in rows]
    if len(rows) > _SLICES or any(not isinstance(value, int | float) or value < 0 for value in values):
        return picture, f"No pie is drawn: it needs at most {_SLICES} parts, none of them missing or negative."
    # Months have a scale of time on an axis; as colours they are names like any other.
    name = {key: value for key, value in names[0].items() if key != "scale"}
    parts = {"theta": figures[0] | {"stack": True}, "color": name | {"type": "nominal"}}
    description = picture["description"].replace("Bar chart", "Pie chart").replace("Line chart", "Pie chart")
    return picture | {"mark": {"type": "arc", "tooltip": True}, "encoding": parts, "description": description}, None
