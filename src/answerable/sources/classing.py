"""Classes columns when they are described: secrets, which nobody needs to see, and personal data.

A class is decided by the name of the column, by patterns of its values, and, for secrets without a telling name, by how
random its values are. A `semantic.yaml` may say otherwise; see docs/semantic.md.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import pairwise

from answerable.core.catalog import Catalog, Column, Relationship, SecretColumn, Table
from answerable.core.words import name_words
from answerable.sources.street_addresses import address_reason


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


_SECRET_WORDS = _set(
    "password passwd pwd passphrase passcode secret secrets apikey privatekey credential credentials salt otp cvv cvc "
    "pin token tokens "
    "passwort kennwort motdepasse contrasena contrasenia senha wachtwoord haslo heslo losenord parola"
)
_SECRET_PAIRS = (
    ("api", "key"),
    ("access", "key"),
    ("private", "key"),
    ("secret", "key"),
    ("auth", "key"),
    ("encryption", "key"),
    ("pass", "hash"),
    ("recovery", "code"),
    ("security", "answer"),
    ("connection", "string"),
    ("conn", "str"),
    ("mot", "passe"),
)
_HARMLESS_AFTER = _set("count counts expires expiry expired expiration changed updated created at date time age")
"""`token_count` and `password_changed_at` tell of a secret, but hold none."""
_SECRET_VALUES = (
    re.compile(r"\$2[abxy]?\$\d\d\$.{40,}"),  # bcrypt
    re.compile(r"\$(?:argon2|pbkdf2|scrypt|[156])[^$]*\$.+"),
    re.compile(r"(?:sk|pk|rk)[-_](?:live|test|proj|ant)?[-_]?[A-Za-z0-9_\-]{16,}"),
    re.compile(r"(?:ghp|gho|ghs|github_pat|glpat|xox[abprs])[-_][A-Za-z0-9_\-]{16,}"),
    re.compile(r"AKIA[0-9A-Z]{16}"),
    re.compile(r"AIza[0-9A-Za-z_\-]{30,}"),
    re.compile(r"eyJ[A-Za-z0-9_\-]+\.[A-Za-z0-9_\-]+(?:\.[A-Za-z0-9_\-]*){0,3}"),  # a signed or encrypted token
    re.compile(r"[a-z][a-z0-9+.\-]*://[^/\s:@]*:[^/\s@]+@.+", re.IGNORECASE),  # an address with a password
    re.compile(r"(?:.*[;\s])?(?:password|passwd|pwd|accountkey|sharedaccesskey)\s*=\s*[^;\s]+.*", re.IGNORECASE),
    re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*", re.DOTALL),
)
_KEY_LIKE = re.compile(r"[A-Za-z0-9+/_\-=]{24,}")
_IDENTIFIER = re.compile(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")
_RANDOM_BITS = 3.7
"""Bits of information a character of random text has at least; words and codes have less."""

LONGEST_EXAMPLE = 80
"""Characters of a value that is shown as an example."""

_PERSONAL_WORDS = _set(
    "email mail phone telephone mobile cellphone fax ssn iban passport birthday birthdate dob postaddress homeaddress"
)
_PERSONAL_PAIRS = (
    ("e", "mail"),
    ("birth", "date"),
    ("date", "birth"),
    ("home", "address"),
    ("billing", "address"),
    ("shipping", "address"),
    ("ip", "address"),
    ("social", "security"),
    ("credit", "card"),
    ("card", "number"),
    ("tax", "id"),
    ("national", "id"),
    ("license", "number"),
)
_ABOUT = _set(
    "count opens sent rate model type brand maker os plan status verified confirmed enabled provider domain in"
)
"""`phone_model` and `email_opt_in` tell of an address or a number, but hold none."""
_EMAIL = re.compile(r"[^@\s]{1,64}@[^@\s]+\.[A-Za-z]{2,}")
_PHONE = re.compile(r"\+?\(?\d[\d\s().\-/x]{6,20}\d")
_CARD = re.compile(r"(?:\d[ -]?){13,19}")
_IBAN = re.compile(r"[A-Z]{2}\d{2}(?: ?[A-Z0-9]){11,30}")
_SSN = re.compile(r"\d{3}-\d{2}-\d{4}")
_IP = re.compile(r"(?:\d{1,3}\.){3}\d{1,3}(?:/\d{1,2})?|(?:[0-9a-fA-F]{1,4}:){7}[0-9a-fA-F]{1,4}")
_DATE = re.compile(r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}.*|\d{1,2}[-/.]\d{1,2}[-/.]\d{4}.*")


def classed_table(table: Table) -> Table:
    """The table with the class of each column. Of secrets no value is kept."""
    return table.model_copy(update={"columns": tuple(classed_column(each, table.name) for each in table.columns)})


def classed_column(column: Column, table: str | None = None) -> Column:
    if column.type == "boolean":
        return column
    # Of long texts there are only beginnings, which are not shown.
    values = column.examples
    column = column.model_copy(update={"examples": tuple(each for each in values if len(each) <= LONGEST_EXAMPLE)})
    if column.type == "integer":
        values = tuple(str(end) for end in (column.minimum, column.maximum) if end is not None)
    if reason := secret_reason(column.name, values, text=column.type == "text"):
        emptied = {"examples": (), "minimum": None, "maximum": None, "value_names": ()}
        return column.model_copy(update={"sensitivity": "secret", "sensitivity_reason": reason, **emptied})
    if reason := personal_reason(column.name, values, text=column.type == "text", table=table):
        return column.model_copy(update={"sensitivity": "personal", "sensitivity_reason": reason})
    return column


def without_secrets(catalog: Catalog) -> Catalog:
    """The catalog without the columns that hold secrets, and without what needs them. It lists them, so that people can
    see what was left out."""
    secrets = tuple(
        SecretColumn(table=table.name, column=column.name, reason=column.sensitivity_reason or "")
        for table in catalog.tables
        for column in table.columns
        if column.sensitivity == "secret"
    )
    if not secrets:
        return catalog
    hidden = {(secret.table, secret.column) for secret in secrets}
    return catalog.model_copy(
        update={
            "tables": tuple(_shown(table, hidden) for table in catalog.tables),
            "relationships": tuple(each for each in catalog.relationships if not hidden & _columns_of(each)),
            "secrets": secrets,
        }
    )


def _shown(table: Table, hidden: set[tuple[str, str]]) -> Table:
    columns = tuple(column for column in table.columns if (table.name, column.name) not in hidden)
    has_key = not any((table.name, name) in hidden for name in table.primary_key)
    return table.model_copy(update={"columns": columns, "primary_key": table.primary_key if has_key else ()})


def _columns_of(relationship: Relationship) -> set[tuple[str, str]]:
    ends = (relationship.from_table, relationship.from_columns), (relationship.to_table, relationship.to_columns)
    return {(table, column) for table, columns in ends for column in columns}


def secret_reason(name: str, values: Sequence[str], *, text: bool = True) -> str | None:
    """Why a column is taken for a secret; None if it is not."""
    words = name_words(name)
    if _says(words, _SECRET_WORDS, _SECRET_PAIRS) and not _HARMLESS_AFTER & set(words[-2:]):
        return "its name" if text or "pin" in words or "otp" in words else None
    if any(pattern.fullmatch(value.strip()) for pattern in _SECRET_VALUES for value in values):
        return "values like keys or hashes of passwords"
    if len(values) > 1 and all(map(_is_random, values)):
        return "values as random as keys"
    return None


def personal_reason(name: str, values: Sequence[str], *, text: bool = True, table: str | None = None) -> str | None:
    """Why a column is taken for personal data; None if it is not. `table` is the table's name where it is known."""
    words = name_words(name)
    if _says(words, _PERSONAL_WORDS, _PERSONAL_PAIRS) and not _ABOUT & set(words[-1:]):
        return "its name"
    if not text:
        return "values like numbers of cards" if len(values) > 1 and _all(values, _is_card) else None
    if reason := address_reason(name, values, table):
        return reason
    if not values:
        return None
    patterns: tuple[tuple[re.Pattern[str], str], ...] = ((_IP, "addresses of machines"),)
    patterns += ((_EMAIL, "e-mail addresses"), (_SSN, "numbers of persons"), (_IBAN, "numbers of accounts"))
    for pattern, what in patterns:
        if _all(values, pattern.fullmatch):
            return f"values like {what}"
    if _all(values, _is_card):
        return "values like numbers of cards"
    return "values like telephone numbers" if _all(values, _is_phone) else None


def _says(words: Sequence[str], single: frozenset[str], pairs: Sequence[tuple[str, str]]) -> bool:
    joined = "".join(words)
    together = {*pairwise(words), *zip(words, words[2:], strict=False)}
    return bool(single & {*words, joined}) or any(pair in together for pair in pairs)


def _all(values: Sequence[str], matches: Callable[[str], object]) -> bool:
    return all(matches(value.strip()) for value in values)


def _is_random(value: str) -> bool:
    """Long, without words, with letters and digits mixed; an identifier in its usual form is no secret."""
    text = value.strip()
    if not _KEY_LIKE.fullmatch(text) or _IDENTIFIER.fullmatch(text) or text.isdigit() or text.isalpha():
        return False
    counts = Counter(text)
    bits = -sum(n / len(text) * math.log2(n / len(text)) for n in counts.values())
    return bits >= _RANDOM_BITS and not re.search(r"[_\-/](?:[a-z]{3,}[_\-/])", text)


def _is_phone(value: str) -> bool:
    digits = sum(char.isdigit() for char in value)
    marked = value.startswith(("+", "(")) or any(mark in value for mark in " -./")
    return bool(_PHONE.fullmatch(value)) and 7 <= digits <= 15 and marked and not _DATE.fullmatch(value)


def _is_card(value: str) -> bool:
    digits = [int(char) for char in value if char.isdigit()]
    if not _CARD.fullmatch(value) or not 13 <= len(digits) <= 19:
        return False
    doubled = [digit * 2 - 9 * (digit > 4) if place % 2 else digit for place, digit in enumerate(reversed(digits))]
    return sum(doubled) % 10 == 0
