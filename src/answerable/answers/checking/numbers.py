"""Numbers in prose are checked against the rows before the prose is shown.

Every number that a sentence states has to be a cell, the row count, or a simple aggregate of a column, rounded as it is
printed; and when the sentence names a row, a cell of that row. A number that is none of these is corrected where it is
plain which one was meant, else its sentence is left out. Either way a finding tells of it.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from answerable.answers.answer import NumberLink
from answerable.answers.checking.facts import (
    Claim,
    ExtraFact,
    ResultFacts,
    Rows,
    covers,
    number_of,
    period_of,
    rounds_to,
    said,
    stem,
)
from answerable.answers.checking.numerals import Numeral, StatedDate
from answerable.answers.checking.sentence import (
    BETWEEN,
    COUNTED,
    LESS,
    MEAN,
    MEDIAN,
    MORE,
    NARROWING,
    TOTAL,
    YES_OR_NO,
    Sentence,
    sentences,
)
from answerable.answers.roles import Field, words
from answerable.core.values import OutputColumn
from answerable.query.plan import QueryPlan

Proofs = list[tuple[Numeral, Claim | None]]


@dataclass(frozen=True, slots=True)
class CheckedText:
    text: str
    """Only what was found true; empty when nothing was."""
    findings: tuple[str, ...] = ()
    links: tuple[NumberLink, ...] = ()


def check_numbers(
    text: str,
    columns: Sequence[OutputColumn],
    rows: Rows,
    extra_facts: Sequence[ExtraFact] = (),
    *,
    row_count: int | None = None,
    plan: QueryPlan | None = None,
    question: str = "",
) -> CheckedText:
    """`rows` are all rows, or the first of `row_count`; over a part of the rows nothing is aggregated. What narrows the
    `question` may be repeated."""
    facts = ResultFacts(columns, rows, len(rows) if row_count is None else row_count, extra_facts, plan)
    facts = replace(facts, conditions=_conditions(question, facts))
    checked_text = ""
    findings: list[str] = []
    links: list[NumberLink] = []
    for sentence in sentences(text):
        checked = _checked(sentence, facts)
        findings += checked.findings
        links += [link.model_copy(update=_shifted(link, len(checked_text))) for link in checked.links]
        checked_text += checked.text
    trimmed = checked_text.rstrip()
    return CheckedText(trimmed, tuple(findings), tuple(links))


def _checked(text: str, facts: ResultFacts) -> CheckedText:
    sentence = Sentence(text, facts)
    proofs = _proofs(sentence)
    wrong = [numeral for numeral, proof in proofs if proof is None]
    if not wrong:
        return CheckedText(text, (), _links(proofs))
    # A sentence is shown whole or not at all: without its number it could say something else.
    left_out = CheckedText("", (f"Left out a sentence: “{wrong[0].text}” is not in the rows.",))
    return _mended(sentence, proofs, wrong) or left_out


def _mended(sentence: Sentence, proofs: Proofs, wrong: list[Numeral]) -> CheckedText | None:
    """The sentence with its one wrong number put right, if it is plain which is right and nothing else says it."""
    meant = _meant(wrong[0], sentence) if len(wrong) == 1 else None
    if meant is None or meant in [proof for _, proof in proofs]:
        return None
    numeral, written = wrong[0], _as_printed(meant.value, wrong[0])
    # The corrected number may change what the other numbers stand for, so the whole sentence is checked again.
    text = sentence.text[: numeral.start] + written + sentence.text[numeral.end :]
    proofs = _proofs(Sentence(text, sentence.facts))
    if any(proof is None for _, proof in proofs):
        return None
    return CheckedText(text, (f"Corrected “{numeral.text}” to “{written}” ({meant.basis}).",), _links(proofs))


def _proofs(sentence: Sentence) -> Proofs:
    return [(numeral, _proof(numeral, sentence)) for numeral in sentence.numerals]


def _links(proofs: Proofs) -> tuple[NumberLink, ...]:
    return tuple(
        NumberLink(start=n.start, end=n.end, kind=proof.kind, row=proof.row, column=proof.column, basis=proof.basis)
        for n, proof in proofs
        if proof is not None
    )


def _proof(numeral: Numeral, sentence: Sentence) -> Claim | None:
    """Returns what the numeral stands for, or None if the result does not support it."""
    if numeral.kind == "unreadable":
        return None
    if _condition(numeral, sentence) in sentence.facts.conditions:
        return Claim(numeral.value, "fact", "a condition of the question")
    if numeral.kind == "date":
        return _dated(numeral, sentence.facts)
    if numeral.kind == "time":
        return _timed(numeral, sentence.facts)
    if numeral.kind == "ordinal":
        inside = 1 <= numeral.value <= sentence.facts.row_count
        return Claim(numeral.value, "row_count", "a place among the rows") if inside else None
    claims = {"number": _number_claims, "percent": _percent_claims, "ratio": _ratio_claims}[numeral.kind]
    agrees = _agreement(numeral, sentence)
    return next((claim for claim in claims(numeral, sentence) if agrees(claim.value)), None)


def _conditions(question: str, facts: ResultFacts) -> frozenset[tuple[str, Decimal, StatedDate | None]]:
    """Returns the numbers that narrow the question. A yes-or-no question has none: its numbers are what it asks."""
    asked = Sentence(question, facts)
    if not YES_OR_NO.isdisjoint(words(question)[:1]):
        return frozenset()
    found = (_condition(numeral, asked) for numeral in asked.numerals)
    return frozenset(condition for condition in found if condition[0] in NARROWING)


def _condition(numeral: Numeral, sentence: Sentence) -> tuple[str, Decimal, StatedDate | None]:
    return sentence.word_before(numeral), numeral.value, numeral.period


def _number_claims(numeral: Numeral, sentence: Sentence) -> Iterator[Claim]:
    facts = sentence.facts
    named = sentence.rows_for(numeral)
    counted = _counted(numeral, sentence)
    if not counted and (size := _size(sentence.word_after(numeral), facts)):
        yield size
        yield from _extra(facts)
        return
    rows: Sequence[int] = named or range(len(facts.rows))
    yield from facts.cells(rows, counted or [f for f in facts.measures if not facts.is_fraction(f)])
    yield from facts.cells(rows, [f for f in facts.fields if _is_called(f, numeral, sentence)])
    if _may_count_rows(numeral, sentence, named):
        yield _row_count(facts)
    yield from _years(numeral, facts)
    yield from _extra(facts)
    yield from _aggregates(sentence, named)
    if sentence.cue(LESS, MORE, BETWEEN):
        for first, second, _, basis in facts.pairs(facts.comparable_rows(named)):
            yield Claim(abs(first - second), "aggregate", f"difference of {basis}")


def _size(noun: str, facts: ResultFacts) -> Claim | None:
    """What a number of rows or columns has to be."""
    if noun in COUNTED:
        return _row_count(facts)
    if noun in ("column", "columns"):
        return Claim(Decimal(len(facts.columns)), "aggregate", "the number of columns")
    return None


def _row_count(facts: ResultFacts) -> Claim:
    return Claim(Decimal(facts.row_count), "row_count", "the number of rows")


def _percent_claims(numeral: Numeral, sentence: Sentence) -> Iterator[Claim]:
    facts = sentence.facts
    named = sentence.rows_for(numeral)
    rows: Sequence[int] = named or range(len(facts.rows))
    yield from facts.cells(rows, [f for f in facts.measures if facts.is_percentage(f)])
    for claim in facts.cells(rows, [f for f in facts.measures if facts.is_fraction(f)]):
        yield claim._replace(value=claim.value * 100)
    moving = sentence.cue(LESS, MORE, BETWEEN)
    if moving:
        for first, second, _, basis in facts.pairs(facts.comparable_rows(named)):
            yield from _changes(first, second, basis, sentence)
    elif facts.complete:
        yield from _shares(sentence, named)
    yield from _extra(facts)


def _ratio_claims(numeral: Numeral, sentence: Sentence) -> Iterator[Claim]:
    facts = sentence.facts
    for first, second, _, basis in facts.pairs(facts.comparable_rows(sentence.rows_for(numeral))):
        for over, under in ((first, second), (second, first)):
            if under:
                yield Claim(over / under, "aggregate", f"ratio of {basis}")


def _aggregates(sentence: Sentence, named: list[int]) -> Iterator[Claim]:
    facts = sentence.facts
    everything = list(range(len(facts.rows))) if facts.complete else []
    for rows in (named if len(named) > 1 else [], everything):
        if sentence.cue(TOTAL):
            yield from facts.totals(rows)
        if sentence.cue(MEAN):
            yield from facts.means(rows)
        if sentence.cue(MEDIAN):
            yield from facts.medians(rows)


def _shares(sentence: Sentence, named: list[int]) -> Iterator[Claim]:
    """Parts of a column's sum: of each named row (else of the largest), and of the named rows together."""
    facts = sentence.facts
    for field in facts.measures:
        values = facts.values(field)
        total = sum(values, Decimal(0))
        # With negative values a part can be larger than the whole, so a share says nothing.
        if total <= 0 or min(values) < 0:
            continue
        basis = f"share in the sum of {field.name}"
        for row in named:
            if (value := facts.number(row, field.index)) is not None:
                yield Claim(value / total * 100, "aggregate", f"{basis}, row {row + 1}", row, field.index)
        if not named:
            yield Claim(max(values) / total * 100, "aggregate", f"{basis}, largest", column=field.index)
        if len(named) > 1 and sentence.cue(TOTAL):
            together = sum((v for row in named if (v := facts.number(row, field.index)) is not None), Decimal(0))
            yield Claim(together / total * 100, "aggregate", f"{basis}, together", column=field.index)


def _changes(first: Decimal, second: Decimal, basis: str, sentence: Sentence) -> Iterator[Claim]:
    """From either to the other, if the sentence names that direction."""
    for old, new in ((first, second), (second, first)):
        if old:
            change = (new - old) / abs(old) * 100
            agrees = (change >= 0 and sentence.cue(MORE, BETWEEN)) or (change <= 0 and sentence.cue(LESS, BETWEEN))
            if agrees:
                yield Claim(change, "aggregate", f"relative change of {basis}")


def _agreement(numeral: Numeral, sentence: Sentence) -> Callable[[Decimal], bool]:
    """Whether a value, rounded as the numeral is printed or as its hedge allows, is the numeral."""
    hedge = sentence.hedge(numeral)
    loss = not numeral.signed and numeral.kind != "ratio" and sentence.cue(LESS)

    def rounds(value: Decimal, rough: bool) -> bool:
        """A loss may be written without its minus if the sentence says that it is one."""
        return rounds_to(value, numeral, rough) or (loss and value < 0 and rounds_to(-value, numeral, rough))

    def agrees(value: Decimal) -> bool:
        if rounds(value, False):
            return True
        if hedge is None or (hedge["above"] and value < numeral.value) or (hedge["below"] and value > numeral.value):
            return False
        return rounds(value, True)

    return agrees


def _is_called(field: Field, numeral: Numeral, sentence: Sentence) -> bool:
    """Keys and calendar numbers count only when the sentence calls them so: order 1042, week 12, #7."""
    if field.role == "measure" or field.role == "time":
        return False
    before = sentence.word_before(numeral)
    return before in ("#", "number", "no", "id") or stem(before) in {stem(word) for word in words(field.name)}


def _counted(numeral: Numeral, sentence: Sentence) -> list[Field]:
    """The measures that the word after the numeral names: in “500 orders” only orders can be meant."""
    noun = stem(sentence.word_after(numeral))
    return [f for f in sentence.facts.measures if noun and noun in {stem(word) for word in words(f.name)}]


def _may_count_rows(numeral: Numeral, sentence: Sentence, named: list[int]) -> bool:
    """Not when the numeral counts what a column counts, nor what a named row has."""
    noun = stem(sentence.word_after(numeral))
    labels = [f for f in sentence.facts.fields if f.role in ("category", "key", "time")]
    if any(noun == stem(word) for f in labels for word in words(f.name)):
        return True
    return not named and not _counted(numeral, sentence)


def _years(numeral: Numeral, facts: ResultFacts) -> Iterator[Claim]:
    if len(numeral.text) == 4 and numeral.text.isdigit():
        for period, row, column in facts.dates():
            yield Claim(Decimal(period.year or 0), "cell", f"a date in row {row + 1}", row, column)
        for fact in facts.extra:
            if isinstance(fact.value, str) and (known := period_of(fact.value)):
                yield Claim(Decimal(known.year or 0), "fact", fact.basis)


def _extra(facts: ResultFacts) -> Iterator[Claim]:
    for fact in facts.extra:
        value = number_of(fact.value)
        if value is not None:
            yield Claim(value, "fact", fact.basis)


def _dated(numeral: Numeral, facts: ResultFacts) -> Claim | None:
    assert numeral.period is not None
    for known, row, column in facts.dates():
        if covers(numeral.period, known):
            return Claim(numeral.value, "cell", f"a date in row {row + 1}", row, column)
    for fact in facts.extra:
        said_date = period_of(fact.value) if isinstance(fact.value, str) else None
        if said_date and covers(numeral.period, said_date):
            return Claim(numeral.value, "fact", fact.basis)
    return None


def _timed(numeral: Numeral, facts: ResultFacts) -> Claim | None:
    """A time of day has to stand in a cell of a date or a time."""
    wanted = numeral.text.rjust(len(numeral.text) + (numeral.text.find(":") == 1), "0")
    for field in facts.fields:
        if field.type in ("datetime", "time"):
            for number, row in enumerate(facts.rows):
                if isinstance(row[field.index], str) and row[field.index].rpartition("T")[2].startswith(wanted):
                    return Claim(numeral.value, "cell", f"{field.name} of row {number + 1}", number, field.index)
    return None


def _meant(numeral: Numeral, sentence: Sentence) -> Claim | None:
    """What a wrong numeral was plainly meant to be: the one cell it can be, the sum, the mean, or the row count."""
    facts = sentence.facts
    hedge = sentence.hedge(numeral)
    if numeral.kind != "number" or (hedge is not None and not hedge["any"]):
        return None
    if not _counted(numeral, sentence) and (size := _size(sentence.word_after(numeral), facts)):
        return size
    spoken = [f for f in facts.measures if said(f, sentence.text)]
    columns = spoken if spoken else list(facts.measures)
    if len(columns) != 1 or facts.is_fraction(columns[0]):
        return None
    named = sentence.rows_for(numeral)
    if sentence.cue(MORE, LESS, BETWEEN) or (named and sentence.cue(TOTAL, MEAN, MEDIAN)):
        return None
    if len(named) == 1:
        return next(facts.cells(named, columns), None)
    if named or not facts.complete:
        return None
    return _meant_aggregate(sentence, columns[0])


def _meant_aggregate(sentence: Sentence, column: Field) -> Claim | None:
    everything = range(len(sentence.facts.rows))
    total, mean = sentence.cue(TOTAL), sentence.cue(MEAN)
    # Neither was said, or both: then it is not plain which one was meant.
    if total == mean:
        return None
    claims = sentence.facts.totals(everything) if total else sentence.facts.means(everything)
    return next((claim for claim in claims if claim.column == column.index), None)


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
