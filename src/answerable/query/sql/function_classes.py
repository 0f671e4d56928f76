"""What each function of an engine is, so that the check can decide by that and not by a list of favourites.

One text file for each engine holds every name of the engine's own catalog. `tests/query/test_function_classes.py`
compares the files with the installed engines and fails on a name that has no class.
"""

from functools import cache
from pathlib import Path

from answerable.core.records import dataclass

DIGEST_FUNCTION = "answerable_digest"
"""What a worker adds to an engine that cannot compute a digest itself. Access rules use it; written SQL may not."""
_FILES = Path(__file__).parent / "functions"


@dataclass(frozen=True, slots=True)
class FunctionClasses:
    """Names in lower case."""

    pure: frozenset[str]
    """Compute from their arguments and nothing else."""
    generator: frozenset[str]
    """Compute too, but a small argument can make a large result. The limits of rows, time and memory bound them."""
    table: frozenset[str]
    """May stand in FROM."""
    outside: frozenset[str]
    """Reach files, settings, other sessions, the catalog or the inside of the engine."""

    def allows(self, name: str) -> bool:
        return name in self.pure or name in self.generator or name in self.table


@cache
def function_classes(engine: str) -> FunctionClasses:
    sections = _sections((_FILES / f"{engine}.txt").read_text(encoding="utf-8"))
    return FunctionClasses(**{name: sections[name] for name in FunctionClasses.__slots__})


def _sections(text: str) -> dict[str, frozenset[str]]:
    """`[section]` lines, each followed by names. Comments stand above the first section, as `#` is an operator."""
    _comment, *parts = text.split("\n[")
    return {name: frozenset(names.split()) for name, names in (part.split("]\n", 1) for part in parts)}
