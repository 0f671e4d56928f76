"""Prose is checked against the rows before it is shown: what it claims, not only its digits.

Each sentence has one of three outcomes. Its claims are grounded: it stays. The rows contradict it: a wrong number is
corrected where the right one is plain, else the sentence is left out, with the reason. Nothing decides it: it stays and
is marked as unverified. A finding tells of each change.
"""

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal

from answerable.answers.answer import NumberLink
from answerable.answers.checking.amounts import row_or_column_count
from answerable.answers.checking.equality import unequal
from answerable.answers.checking.facts import ExtraFact, Ground, ResultFacts, Rows, said
from answerable.answers.checking.grounding import ground
from answerable.answers.checking.lexicon import BETWEEN, LESS, MEAN, MEDIAN, MORE, TOTAL
from answerable.answers.checking.numerals import Numeral
from answerable.answers.checking.ordering import apart, misordered
from answerable.answers.checking.quantified import quantified, row_counts
from answerable.answers.checking.quantities import counted_columns, factor
from answerable.answers.checking.sentence import Sentence, sentences
from answerable.answers.roles import Field
from answerable.core.records import dataclass
from answerable.core.values import OutputColumn
from answerable.query.plan import QueryPlan

LEFT_OUT = "Left out a sentence: "
"""How the finding about a sentence begins that the rows contradict."""
UNVERIFIED = " (unverified)"
"""Stands at the end of a sentence that nothing decides."""

_RATE = re.compile(r"(?:\s+[\w-]+){0,2}\s+(?:per|a|an|each|every)\s+\w+", re.IGNORECASE)
"""What follows a number that is a rate: “about $251 a night”."""

_SLIP = 3
"""How many times as large a number may be as the one that it is corrected to, or the other way round."""

Proofs = list[tuple[Numeral, Ground | None]]


@dataclass(frozen=True, slots=True)
class CheckedText:
    text: str
    """What may be shown; empty if the rows contradict all of it."""
    findings: tuple[str, ...] = ()
    links: tuple[NumberLink, ...] = ()


def check_claims(
    text: str,
    columns: Sequence[OutputColumn],
    rows: Rows,
    extra_facts: Sequence[ExtraFact] = (),
    *,
    row_count: int | None = None,
    plan: QueryPlan | None = None,
    question: str = "",
    units: Mapping[str, str] | None = None,
) -> CheckedText:
    """`rows` are all rows, or the first of `row_count`; over a part of the rows nothing is aggregated or ordered. What
    narrows the `question` may be repeated."""
    count = len(rows) if row_count is None else row_count
    facts = ResultFacts(columns, rows, count, extra_facts, plan, question, units or {})
    checked_text = ""
    findings: list[str] = []
    links: list[NumberLink] = []
    for sentence in sentences(text):
        checked = _checked(sentence, facts)
        findings += checked.findings
        links += [link.model_copy(update=_shifted(link, len(checked_text))) for link in checked.links]
        checked_text += checked.text
    return CheckedText(checked_text.rstrip(), tuple(findings), tuple(links))


def _checked(text: str, facts: ResultFacts) -> CheckedText:
    sentence = Sentence(text, facts)
    proofs = _proofs(sentence)
    wrong = [numeral for numeral, proof in proofs if proof is None]
    against = _contradictions(sentence)
    if not wrong and not against and not sentence.unknown:
        return CheckedText(text, (), _links(proofs))
    # A sentence is shown whole or not at all: without its number it could say something else.
    if not against and wrong and (mended := _mended(sentence, proofs, wrong)):
        return mended
    if against:
        return CheckedText("", (f"{LEFT_OUT}{against[0]}.",))
    contradicted = next((numeral for numeral in wrong if _is_decided(numeral, sentence)), None)
    if contradicted is not None:
        return CheckedText("", (f"{LEFT_OUT}“{contradicted.text}” is not in the rows.",))
    doubt = wrong[0].text if wrong else sentence.unknown[0]
    return CheckedText(_marked(text), (f"Could not verify a sentence: “{doubt}” is not in the rows.",), _links(proofs))


def _contradictions(sentence: Sentence) -> list[str]:
    return [*quantified(sentence), *misordered(sentence), *apart(sentence), *unequal(sentence)]


def _marked(text: str) -> str:
    body = text.rstrip()
    end = re.search(r"[.!?]*$", body)
    cut = end.start() if end else len(body)
    return body[:cut] + UNVERIFIED + body[cut:] + text[len(body) :]


def _is_decided(numeral: Numeral, sentence: Sentence) -> bool:
    """Whether the rows say what the number should be, so that another number contradicts them."""
    facts = sentence.facts
    if numeral.kind == "unreadable" or sentence.unknown or _may_be_computed(numeral, sentence):
        return False
    if numeral.kind == "date" or sentence.is_year(numeral):
        return facts.has_dates
    if (
        numeral.kind == "ordinal"
        or (row_counts(numeral, sentence) is not None and sentence.is_understood)
        or row_or_column_count(sentence.word_after(numeral), facts)
    ):
        return True
    counted = counted_columns(numeral, sentence)
    if counted and facts.row_count == 1 and not sentence.cue(TOTAL, MEAN, MEDIAN, MORE, LESS, BETWEEN):
        return True  # “199 nights” beside the only cell of nights
    if not sentence.is_understood:
        return False  # it may be computed in a way that is not known here
    if counted:
        return True
    known = len(facts.measures) == 1 or any(f.index in sentence.spoken for f in facts.measures)
    return known and (bool(sentence.named_rows) or sentence.cue(TOTAL, MEAN, MEDIAN) or facts.row_count == 1)


def _may_be_computed(numeral: Numeral, sentence: Sentence) -> bool:
    """Whether the number may follow from the rows in a way that is not known here. Then nothing contradicts it: a
    rate, a scale that no name tells."""
    scales = any(sentence.facts.scale(f) != 1 for f in sentence.facts.measures)
    return bool(_RATE.match(sentence.text[numeral.end :])) or (numeral.scaled and not scales)


def _mended(sentence: Sentence, proofs: Proofs, wrong: list[Numeral]) -> CheckedText | None:
    """The sentence with its one wrong number put right, if it is plain which is right and nothing else says it."""
    meant = _meant(wrong[0], sentence) if len(wrong) == 1 and not sentence.unknown else None
    if meant is None or meant in [proof for _, proof in proofs]:
        return None
    numeral, written = wrong[0], _as_printed(meant.value, wrong[0])
    if meant.kind == "aggregate" and not _resembles(numeral.value, meant.value):
        return None
    # The corrected number may change what the other numbers stand for, so the whole sentence is checked again.
    mended = Sentence(sentence.text[: numeral.start] + written + sentence.text[numeral.end :], sentence.facts)
    proofs = _proofs(mended)
    if any(proof is None for _, proof in proofs) or _contradictions(mended):
        return None
    return CheckedText(mended.text, (f"Corrected “{numeral.text}” to “{written}” ({meant.basis}).",), _links(proofs))


def _resembles(said: Decimal, meant: Decimal) -> bool:
    """Whether a number may be a slip of another. A number of another size was meant to be something else."""
    low, high = sorted((abs(said), abs(meant)))
    return high <= low * _SLIP


def _proofs(sentence: Sentence) -> Proofs:
    return [(numeral, ground(numeral, sentence)) for numeral in sentence.numerals]


def _links(proofs: Proofs) -> tuple[NumberLink, ...]:
    return tuple(
        NumberLink(start=n.start, end=n.end, kind=proof.kind, row=proof.row, column=proof.column, basis=proof.basis)
        for n, proof in proofs
        if proof is not None
    )


def _meant(numeral: Numeral, sentence: Sentence) -> Ground | None:
    """What a wrong numeral was plainly meant to be: the one cell it can be, the sum, the mean, or the row count."""
    facts = sentence.facts
    hedge = sentence.hedge(numeral)
    if numeral.kind != "number" or sentence.bound(numeral) or (hedge is not None and not hedge["any"]):
        return None
    if not counted_columns(numeral, sentence) and (size := row_or_column_count(sentence.word_after(numeral), facts)):
        return size
    if sentence.is_year(numeral) or row_counts(numeral, sentence) is not None:
        return None
    spoken = [f for f in facts.measures if said(f, sentence.text)]
    columns = spoken if spoken else list(facts.measures)
    if (
        len(columns) != 1
        or facts.is_fraction(columns[0])
        or list(factor(columns[0], numeral, sentence)) != [Decimal(1)]
    ):
        return None
    named = sentence.rows_for(numeral)
    if sentence.cue(MORE, LESS, BETWEEN) or (named and sentence.cue(TOTAL, MEAN, MEDIAN)):
        return None
    if len(named) == 1:
        return next(facts.cells(named, columns), None)
    if named or not facts.complete:
        return None
    return _meant_aggregate(sentence, columns[0])


def _meant_aggregate(sentence: Sentence, column: Field) -> Ground | None:
    everything = range(len(sentence.facts.rows))
    total, mean = sentence.cue(TOTAL), sentence.cue(MEAN)
    # Neither was said, or both: then it is not plain which one was meant.
    if total == mean:
        return None
    grounds = sentence.facts.totals(everything) if total else sentence.facts.means(everything)
    return next((each for each in grounds if each.column == column.index), None)


def _as_printed(value: Decimal, numeral: Numeral) -> str:
    """The right value in the wrong one's clothes: the same decimals, grouping, scale and units."""
    digits = re.search(r"\d[\d,]*(?:\.(\d+))?", numeral.text)
    if digits is None:
        return f"{value:,}"
    decimals = len(digits[1] or "")
    scale = _scale_of(numeral, digits[0])
    number = abs(value) / scale
    grouped = "," in digits[0] or (scale == 1 and number >= 10_000) or (number >= 1_000 and numeral.value < 1_000)
    written = format(number, f"{',' if grouped else ''}.{decimals}f")
    prefix = numeral.text[: digits.start()].strip("-−+ ")
    return ("−" if value < 0 else "") + prefix + written + numeral.text[digits.end() :]


def _scale_of(numeral: Numeral, digits: str) -> Decimal:
    printed = Decimal(digits.replace(",", ""))
    return abs(numeral.value) / printed if printed and numeral.scaled else Decimal(1)


def _shifted(link: NumberLink, by: int) -> dict[str, int]:
    return {"start": link.start + by, "end": link.end + by}
