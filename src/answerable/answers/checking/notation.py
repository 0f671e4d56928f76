"""Numbers in the notation of statistics: “p < 0.05”, “r = 0.81”, “R² = 0.83”. The symbol names the column."""

import re
from collections.abc import Callable, Sequence
from decimal import Decimal

from answerable.answers.checking.facts import Ground
from answerable.answers.checking.numerals import Numeral
from answerable.answers.checking.predicates import meets
from answerable.answers.checking.sentence import Sentence
from answerable.answers.roles import Field, words

_SYMBOL = re.compile(
    r"(?:^|[\s(,;])(?P<symbol>p|P|r|R²|R2|R\^2|t|z|F|df|n|N|ρ|rho|χ²|β|d)(?:[- ]values?)?\s*(?:=|≈|<|>|≤|≥|of)\s*$"
)
_COLUMNS: dict[str, tuple[frozenset[str], ...]] = {
    "p": (frozenset({"p"}), frozenset({"pvalue"})),
    "r": (frozenset({"correlation"}), frozenset({"corr"}), frozenset({"r"}), frozenset({"pearson"})),
    "r²": (frozenset({"squared"}), frozenset({"r2"}), frozenset({"rsquared"})),
    "t": (frozenset({"t"}), frozenset({"tstat"})),
    "z": (frozenset({"z"}),),
    "f": (frozenset({"f"}), frozenset({"fstat"})),
    "df": (frozenset({"df"}), frozenset({"freedom"})),
    "n": (frozenset({"n"}), frozenset({"count"}), frozenset({"observations"})),
    "ρ": (frozenset({"spearman"}), frozenset({"rho"}), frozenset({"correlation"})),
    "χ²": (frozenset({"chi2"}), frozenset({"chi"})),
    "β": (frozenset({"coefficient"}), frozenset({"beta"}), frozenset({"slope"})),
    "d": (frozenset({"d"}), frozenset({"cohen"})),
}
_SPELLINGS = {"r2": "r²", "r^2": "r²", "rho": "ρ"}


def noted_columns(numeral: Numeral, sentence: Sentence) -> Sequence[Field]:
    """The columns that a symbol before the number stands for; none if there is no symbol or no such column."""
    found = _SYMBOL.search(sentence.text[: numeral.start])
    if found is None:
        return ()
    symbol = _SPELLINGS.get(found["symbol"].lower(), found["symbol"].lower())
    for wanted in _COLUMNS[symbol]:
        named = [f for f in sentence.facts.measures if wanted <= set(words(f.name))]
        if named:
            return named
    return ()


def noted_ground(
    numeral: Numeral, columns: Sequence[Field], sentence: Sentence, agrees: Callable[[Decimal], bool]
) -> Ground | None:
    """A bound has to hold for every row that is spoken of; a value has to be a cell of one of them."""
    facts = sentence.facts
    rows = sentence.rows_for(numeral) or range(len(facts.rows))
    bound = sentence.bound(numeral)
    cells = list(facts.cells(rows, columns))
    if bound is None:
        return next((each for each in cells if agrees(each.value)), None)
    if cells and all(meets(each.value, bound, numeral.value) for each in cells):
        return Ground(numeral.value, "aggregate", f"a bound of {columns[0].name}", column=columns[0].index)
    return None
