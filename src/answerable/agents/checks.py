"""Checks of an answer: each recomputes something of the answer's own rows in another way, and the data decides.

A model names what of the rows it recomputes (a cell, the sum of a column, the number of rows) and writes the query. The
value that must come out is read from the rows here; the model never states it. A check counts only if it is a query of
its own over tables that the answer comes from. All of this is pure; `advice_step.py` runs the queries.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from answerable.agents.replies import Verification
from answerable.core.values import Json, OutputColumn
from answerable.engine.steps.present import Advice

_TOLERANCE = 1e-9
"""Relative. Databases sum floating-point numbers in different orders, so the last digits may differ."""
_NUMBERS = ("integer", "number")
_ROUNDS = re.compile(r"round|decimal|numeric|trunc|floor|ceil|\bint", re.IGNORECASE)
"""Words of programs that shorten numbers."""


class NotThere(Exception):
    """The reason why the rows do not hold what a check is about, for the model that wrote the check."""


@dataclass(frozen=True, slots=True)
class CheckedRows:
    """The rows of an answer, as far as checks need them."""

    columns: tuple[OutputColumn, ...]
    rows: Sequence[Sequence[Json]]
    row_count: int
    code: str
    """The programs behind the rows, as one text."""

    def value(self, check: Verification) -> Json:
        """The value of the answer that the check recomputes. Raises `NotThere` if the rows have no such value."""
        if check.of == "rows":
            return self.row_count
        place = self._place(check.column)
        if check.of == "sum":
            if len(self.rows) < self.row_count:
                raise NotThere(f"{self.row_count:,} rows are too many to add up; check a cell or the number of rows")
            cells = [row[place] for row in self.rows if row[place] is not None]
            if not all(_is_number(cell) for cell in cells):
                raise NotThere(f"the column {check.column!r} holds no numbers to add up")
            return sum(cells)
        if not 1 <= check.row <= len(self.rows):
            raise NotThere(f"there is no row {check.row}; there are {len(self.rows)}")
        return self.rows[check.row - 1][place]

    def _place(self, name: str) -> int:
        names = [column.name for column in self.columns]
        if len(names) == 1 and not name:
            return 0
        if name not in names:
            raise NotThere(f"the rows have no column {name!r}; they have {', '.join(map(repr, names))}")
        return names.index(name)

    def decides(self, check: Verification) -> bool:
        """Whether a check that holds says enough to trust the rows. Their number alone says nothing of the figures in
        them; of a list without figures it is all there is."""
        return check.of != "rows" or not any(column.type in _NUMBERS for column in self.columns)


def is_independent(sql: str, tables: Collection[str], program: str, program_tables: Collection[str]) -> bool:
    """Whether a query says anything about the answer: it reads what the answer comes from, and it is not, and does not
    contain, the answer's own query."""
    own, other = _plain(program), _plain(sql)
    return bool(set(tables) & set(program_tables)) and own not in other and other not in own


def _plain(sql: str) -> str:
    return re.sub(r"[\s();\"`]+", " ", sql).casefold().strip()


@dataclass(frozen=True, slots=True)
class CheckResult:
    """A check, the value of the answer that it recomputes, and the value that its query returned."""

    verification: Verification
    claimed: Json
    found: Json
    ran: bool = True
    """False if the query failed, returned no row, or is not independent of the answer's own: it decides nothing."""
    decisive: bool = True
    program: str = ""

    @property
    def agrees(self) -> bool:
        return same_value(self.claimed, self.found, rounded=bool(_ROUNDS.search(self.program)), of=self.verification.of)

    @property
    def finding(self) -> str:
        return (
            f"A check does not hold: {self.verification.question} The answer says {_shown(self.claimed)}, "
            f"the data says {_shown(self.found)}."
        )


def same_value(claimed: Json, found: Json, *, rounded: bool = False, of: str = "cell") -> bool:
    """Whether two values are the same. In rows that a program has `rounded`, as far as the first is written out: there
    0.27 is the same as 0.2705."""
    if claimed is None or found is None:
        return claimed is found
    if _is_number(claimed) and _is_number(found):
        decimals = repr(claimed).partition(".")[2].removesuffix("0") if isinstance(claimed, float) else ""
        may_round = rounded and of != "rows" and (decimals.isdigit() or not decimals)
        # Each rounded cell may be off by half a digit, so the sum of many may be off by several.
        digit = (20 if of == "sum" else 0.500001) * 10 ** -len(decimals)
        return bool(abs(found - claimed) <= max(digit if may_round else 0.0, _TOLERANCE * max(1.0, abs(claimed))))
    return _text(claimed) == _text(found)


def _text(value: Json) -> str:
    # A date and the first moment of the same day are one value: databases return either.
    return re.sub(r"T00:00:00(\.0+)?$", "", str(value).strip()).casefold()


def _is_number(value: Json) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _shown(value: Json) -> str:
    return f"{value:,.10g}" if isinstance(value, float) else f"{value:,}" if _is_number(value) else str(value)


def failed(results: Sequence[CheckResult]) -> list[CheckResult]:
    return [each for each in results if each.ran and not each.agrees]


def verdict(results: Sequence[CheckResult], concerns: Sequence[str]) -> Advice:
    """The confidence that checks give. Without a check that decides, there is none to give."""
    ran = [each for each in results if each.ran]
    wrong = failed(results)
    findings = (*(each.finding for each in wrong), *(f"The model remarks: {concern}" for concern in concerns))
    if wrong:
        reason = f"{len(wrong)} of {len(ran)} checks did not hold."
        return Advice(confidence="low", reason=reason, findings=findings, doubt=wrong[0].finding)
    if concerns:
        return Advice(
            confidence="medium",
            reason="The model has a doubt about its own answer.",
            findings=findings,
            doubt=f"It is doubtful: {concerns[0]}",
        )
    held = [each for each in ran if each.decisive]
    if not held:
        return Advice()
    checks = "One independent check" if len(held) == 1 else f"{len(held)} independent checks"
    return Advice(confidence="high", reason=f"{checks} of the data held.")
