"""How names are written and compared in each SQL dialect."""

from functools import lru_cache

from sqlglot import exp

from answerable.core.values import Language
from answerable.query.sql.dialects import DIALECTS

_WORDS = """
add all alter analyse analyze and anti any array as asc asof asymmetric at authorization autoincrement between
binary both by case cast check collate collation column columns commit concurrently constraint create cross cube
current_catalog current_date current_role current_schema current_time current_timestamp current_user default
deferrable delete desc describe distinct do drop else end escape except exists false fetch for force foreign
freeze from full generated glob grant group having if ilike in index initially inner insert install intersect
into is isnull join lambda lateral leading left like limit localtime localtimestamp lock map natural not nothing
notnull null offset on only or order outer overlaps partitioned_by pivot pivot_longer pivot_wider placing
positional primary qualify raise references regexp returning revoke right rlike rollback rollup select semi
session_user set show similar some struct summarize symmetric system_user table tablesample then to trailing
transaction true try_cast tuple uncache union unique unpack unpivot update user using values variadic verbose
when where window with xor
"""
RESERVED = frozenset(_WORDS.split())
"""Words that one of the dialects, or the parser of any, does not take as a name without quotes."""

_SMALL = frozenset("abcdefghijklmnopqrstuvwxyz_")
_DIGITS = frozenset("0123456789")


def identifier(name: str, dialect: Language) -> exp.Identifier:
    """The name as the dialect will read it back; quoted only where it must be."""
    return exp.Identifier(this=name, quoted=not _is_plain(name, dialect))


@lru_cache(4096)
def _is_plain(name: str, dialect: Language) -> bool:
    folded = folded_name(name, dialect)
    if not folded or folded in RESERVED or folded[0] not in _SMALL:
        return False
    return all(letter in _SMALL or letter in _DIGITS for letter in folded)


def address(table: str, dialect: Language) -> tuple[str | None, str]:
    """Schema and name of a table of the catalog; the schema is None if the dialect or the name has none."""
    schema, dot, name = table.partition(".")
    if not DIALECTS[dialect].has_schemas or not (schema and dot and name):
        return None, table
    return schema, name


def folded(identifier: exp.Identifier, dialect: Language) -> str:
    """The key under which a written name is looked up; `folded_name` gives that of a stored name."""
    if identifier.args.get("quoted") and not DIALECTS[dialect].folds_quoted_names:
        return identifier.name
    return ascii_lower(identifier.name)


def folded_name(name: str, dialect: Language) -> str:
    """The key of a stored name."""
    return ascii_lower(name) if DIALECTS[dialect].folds_quoted_names else name


def ascii_lower(name: str) -> str:
    """Databases fold the case of ASCII letters only."""
    return name.lower() if name.isascii() else "".join(c.lower() if c.isascii() else c for c in name)
