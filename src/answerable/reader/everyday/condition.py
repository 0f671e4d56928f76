"""One way to take a phrase of the question as a condition."""

from answerable.core.records import dataclass
from answerable.query.plan import Filter
from answerable.reader.everyday.word_options import Element


@dataclass(frozen=True)
class ConditionChoice:
    """One way to take a phrase, as a change to a proposal."""

    where: tuple[Filter, ...] = ()
    having: Filter | None = None
    uses: frozenset[Element] = frozenset()
    weight: float = 0.0
    counted: int | None = None
    """A table whose rows are counted for each row of the entity."""
    multiplies: bool = False
    dated: bool = False
    """Has taken the periods of the question."""
    tested: tuple[int, ...] = ()
    """Columns that a number is compared with: two numbers are not compared with one."""
    compared: int | None = None
    """A column of which several values are set against each other."""
