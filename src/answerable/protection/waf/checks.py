"""The checks of single values. Each says why a value looks like its attack, or None."""

from collections.abc import Callable
from typing import TypeAlias

from answerable.protection.waf import code, injections, markup, places, shell, sql

Check: TypeAlias = Callable[[str], str | None]

Checks: TypeAlias = tuple[tuple[str, int, Check], ...]
CHECKS: Checks = (
    ("sql", 5, sql.finding),
    ("script", 5, markup.finding),
    ("traversal", 5, places.traversal),
    ("traversal", 5, places.private_file),
    ("command", 5, shell.finding),
    ("ssrf", 5, places.foreign_host),
    ("xml", 5, injections.xml),
    ("template", 5, code.template),
    ("code", 5, code.finding),
    ("code", 5, code.hidden_code),
    ("nosql", 5, injections.nosql),
    ("ldap", 5, injections.ldap),
    ("lines", 5, injections.lines),
)
"""Name, points, check."""
CHECKS_OF_A_WORD: Checks = (
    ("sql", 5, sql.finding),
    ("code", 5, code.finding),
    ("code", 5, code.hidden_code),
    ("nosql", 5, injections.nosql),
)
"""For a value of letters, digits and dashes alone: it has no sign that the other checks need."""
