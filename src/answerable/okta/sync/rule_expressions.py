"""Expressions of group rules as conditions on users: `user.department=="Sales" AND user.city=="Berlin"`.

Only comparisons of attributes that are synced are understood, joined by AND or by OR. Others give None, and whoever
shows the rule says that it was not worked out.
"""

import re

_COLUMNS = {
    "department": "department",
    "title": "title",
    "city": "city",
    "countryCode": "country",
    "userType": "user_type",
    "employeeNumber": "employee_number",
    "login": "login",
    "email": "email",
    "firstName": "first_name",
    "lastName": "last_name",
}
_COMPARISON = re.compile(
    r"""user\.(?P<attribute>\w+)\s*(?P<operator>==|!=|eq|ne)\s*(?P<quote>["'])(?P<value>[^"']*)(?P=quote)"""
)
_AND, _OR = re.compile(r"\s+(?:and|AND)\s+|\s*&&\s*"), re.compile(r"\s+(?:or|OR)\s+|\s*\|\|\s*")


def condition_of(expression: str | None) -> tuple[str, list[str]] | None:
    """A condition on the table `users` and its parameters."""
    text = (expression or "").strip()
    parts, word = _AND.split(text), " AND "
    if len(parts) == 1:
        parts, word = _OR.split(text), " OR "
    conditions: list[str] = []
    parameters: list[str] = []
    for part in parts:
        found = _COMPARISON.fullmatch(part.strip())
        if found is None or found["attribute"] not in _COLUMNS:
            return None
        operator = "IS" if found["operator"] in ("==", "eq") else "IS NOT"
        conditions.append(f"{_COLUMNS[found['attribute']]} {operator} ?")
        parameters.append(found["value"])
    return word.join(conditions), parameters
