"""The types of Ladybug as ours."""

import re

_PLAIN: dict[str, str] = {
    "STRING": "text",
    "UUID": "text",
    "INTERVAL": "text",
    "BOOL": "boolean",
    "DATE": "date",
    "DOUBLE": "number",
    "FLOAT": "number",
    "SERIAL": "integer",
    "BLOB": "binary",
    "TIMESTAMP_TZ": "datetime_utc",
}
_WHOLE = re.compile(r"U?INT(8|16|32|64|128)?")


def plain_type(declared: str) -> str:
    """A type of the catalog, or `datetime_utc` for a point in time with a zone. Lists, structs and maps are JSON."""
    upper = declared.upper()
    if "[" in upper:
        return "json"
    if upper in _PLAIN:
        return _PLAIN[upper]
    if _WHOLE.fullmatch(upper):
        return "integer"
    if upper.startswith("TIMESTAMP"):
        return "datetime"
    return "number" if upper.startswith("DECIMAL") else "json"
