"""Grounds numbers: what each number of a sentence stands for in the result, the question or the plan.

A number is a cell, a count, a bound, a period, or can be computed from cells (a sum, mean, median, difference, ratio or
share), in the unit and with the rounding that it is said with. If the sentence names rows, the cells are theirs.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import date
from decimal import Decimal
from itertools import combinations

from answerable.answers.checking.facts import (
    Ground,
    ResultFacts,
    covers,
    number_of,
    period_of,
    rounds_to,
    stem,
)
from answerable.answers.checking.lexicon import (
    BETWEEN,
    COUNTED,
    FELL,
    LESS,
    MEAN,
    MEDIAN,
    MORE,
    NARROWING,
    PERIOD_WORDS,
    ROSE,
    TOTAL,
    YES_OR_NO,
)
from answerable.answers.checking.numerals import Numeral, StatedDate, numerals
from answerable.answers.checking.predicates import group_at_end, meets, predicates
from answerable.answers.checking.quantified import row_counts
from answerable.answers.checking.quantities import columns_for, counted_columns, factor, said_unit
from answerable.answers.checking.sentence import Sentence
from answerable.answers.roles import Field, words

_ADDS_UP = re.compile(
    r"\b(?:(?:come|came|comes|amount|amounts|amounted|sum|sums) (?:up )?to|between them|accounts? for|accounted for"
    r"|makes? up|made up)\b"
)
_OF_ALL = re.compile(r"\bof (?:the |all |all the )?$")
_QUANTIFIER = re.compile(r"\W*(?:no|none|nobody|all|every|each)\b", re.IGNORECASE)
_DENIES = re.compile(r"\W*(?:no|none|nobody|nothing)\b", re.IGNORECASE)
_DIFFERS = re.compile(
    r"\s*(?:\w+\s+)?(?:more|less|fewer|higher|lower|longer|shorter|larger|smaller|cheaper|heavier|ahead|behind)\b"
    r"(?! or\b)[^.;]*\b(?:than|of)\b",
)
"""What follows a number that is a difference: “500 more than”."""
_OF_ROWS = re.compile(r"\s+of (?:them\b|(?:the|these|those|all)\s)")
_HEDGED_SHARE = Decimal("0.1")
"""How far from the value a hedged fraction or multiple may be: “almost twice” is 1.83 times."""


def ground(numeral: Numeral, sentence: Sentence) -> Ground | None:
    """Returns what the numeral stands for, or None if nothing supports it."""
    facts = sentence.facts
    if numeral.kind == "unreadable":
        quoted = numeral.text.strip(".,;:!?()\"'“”") in facts.question
        return Ground(numeral.value, "fact", "a name in the question") if quoted else None
    if _is_asked(numeral, sentence):
        return Ground(numeral.value, "fact", "a condition of the question")
    if sentence.bound(numeral) and sentence.is_year(numeral):
        return _bounding(numeral, sentence)
    if numeral.kind == "date" or (sentence.is_year(numeral) and _is_period(numeral, sentence)):
        if facts.has_dates and _DENIES.match(sentence.text):
            return Ground(numeral.value, "fact", "a period without rows")
        return _dated(numeral, sentence) or (None if numeral.kind == "date" else _valued(numeral, sentence))
    if numeral.kind == "time":
        return _timed(numeral, facts)
    if numeral.kind == "ordinal":
        inside = 1 <= numeral.value <= facts.row_count
        return Ground(numeral.value, "row_count", "a place among the rows") if inside else None
    counts = row_counts(numeral, sentence)
    if numeral.kind == "percent" and (part := _part_of_rows(numeral, sentence)):
        return part
    if counts is not None:
        counted = int(numeral.value) in counts
        return Ground(numeral.value, "row_count", "the number of rows") if counted else _stated(numeral, facts)
    if sentence.range_of(numeral) is not None and _speaks_of_rows(numeral, sentence):
        return Ground(numeral.value, "fact", "a bound")
    if sentence.bound(numeral):
        return _bounding(numeral, sentence) or _spanned(numeral, sentence)
    return _valued(numeral, sentence)


def _part_of_rows(numeral: Numeral, sentence: Sentence) -> Ground | None:
    """“Three out of five” of five rows counts rows, and so does “half of the states have …”."""
    if _OF_ROWS.match(sentence.text[numeral.end :]) and sentence.facts.row_count:
        shares = {Decimal(100) * len(rows) / sentence.facts.row_count for rows in predicates(sentence, numeral.end)}
        agrees = _agreement(numeral, sentence)
        if any(agrees(share) for share in shares):
            return Ground(numeral.value, "row_count", "a part of the rows")
    part = re.fullmatch(r"(\w+) (?:in|out of) (?:every )?(\w+)", numeral.text)
    found = [n for n in numerals(f"{part[1]} and {part[2]} x") if n.kind == "number"] if part else []
    if not found or found[-1].value != sentence.facts.row_count:
        return None
    sizes = {len(rows) for rows in predicates(sentence, numeral.end)}
    some = numeral.value * sentence.facts.row_count / 100
    return Ground(numeral.value, "row_count", "a part of the rows") if round(some) in sizes else None


def _valued(numeral: Numeral, sentence: Sentence) -> Ground | None:
    grounds = {"number": _number_grounds, "percent": _percent_grounds, "ratio": _ratio_grounds}[numeral.kind]
    agrees = _agreement(numeral, sentence)
    found = next((each for each in grounds(numeral, sentence) if agrees(each.value)), None)
    return None if found is not None and _differs_for_others(found, numeral, sentence, agrees) else found


def _differs_for_others(found: Ground, numeral: Numeral, sentence: Sentence, agrees: Callable[[Decimal], bool]) -> bool:
    """“Both earn 25,000” has to hold for each row that is named."""
    named = sentence.rows_for(numeral)
    if found.kind != "cell" or found.column is None or len(named) < 2 or not _is_distributed(numeral, sentence):
        return False
    field = next(f for f in sentence.facts.fields if f.index == found.column)
    values = [value for row in named if (value := sentence.facts.number(row, found.column)) is not None]
    times = list(factor(field, numeral, sentence))
    return not all(any(agrees(value * each) for each in times) for value in values)


def _is_distributed(numeral: Numeral, sentence: Sentence) -> bool:
    """Whether this is the number that stands next to “each” or “both”."""
    for match in re.finditer(r"\b(?:each|both)\b", sentence.text, re.IGNORECASE):
        nearest = min(sentence.numerals, key=lambda n: max(match.start() - n.end, n.start - match.end()))
        if nearest == numeral:
            return True
    return False


def _stated(numeral: Numeral, facts: ResultFacts) -> Ground | None:
    return next((each for each in _extra(facts) if each.value == numeral.value), None)


# The question


def _is_asked(numeral: Numeral, sentence: Sentence) -> bool:
    """Whether the number repeats one by which the question narrows what it asks for. The numbers of a yes-or-no
    question are what it asks, so they are no facts."""
    question = sentence.facts.question
    if not question or not YES_OR_NO.isdisjoint(words(question)[:1]):
        return False
    asked = Sentence(question, sentence.facts)
    for other in numerals(question):
        same = other.value == numeral.value and other.period == numeral.period and other.kind == numeral.kind
        if same and _narrows_alike(other, asked, numeral, sentence):
            return True
        if asked.is_year(other) and numeral.period == StatedDate(year=int(other.value)):
            return True
    return False


def _narrows_alike(asked: Numeral, question: Sentence, said: Numeral, sentence: Sentence) -> bool:
    before, after = question.word_before(asked), question.word_after(asked)
    if sentence.is_year(said):
        return before in NARROWING | PERIOD_WORDS and _is_period(said, sentence) and sentence.word_before(said) != "by"
    same_word = sentence.word_before(said) == before or (after and stem(sentence.word_after(said)) == stem(after))
    return before in NARROWING | {"with"} and bool(same_word)


def _is_period(numeral: Numeral, sentence: Sentence) -> bool:
    before = sentence.word_before(numeral)
    return before in PERIOD_WORDS or not before


# Dates and times


def _dated(numeral: Numeral, sentence: Sentence) -> Ground | None:
    facts = sentence.facts
    said = numeral.period or StatedDate(year=int(numeral.value))
    for known, row, column in facts.dates():
        if covers(said, known):
            return Ground(numeral.value, "cell", f"a date in row {row + 1}", row, column)
    for fact in facts.extra:
        other = period_of(fact.value) if isinstance(fact.value, str) else None
        if other and covers(said, other):
            return Ground(numeral.value, "fact", fact.basis)
    for column, name in enumerate(c.name for c in facts.columns):
        if said.year is not None and str(said.year) in words(name):
            return Ground(numeral.value, "fact", f"the column {name}", column=column)
    return _asked_period(said, numeral, facts)


def _asked_period(said: StatedDate, numeral: Numeral, facts: ResultFacts) -> Ground | None:
    """A period that the question names, or one that lies in a year that it names."""
    for other in numerals(facts.question):
        known = other.period or (StatedDate(year=int(other.value)) if _is_year(other) else None)
        if known is not None and said.year == known.year and covers(known, said) and covers(said, known):
            return Ground(numeral.value, "fact", "a period of the question")
    return None


def _is_year(numeral: Numeral) -> bool:
    return numeral.kind == "number" and len(numeral.text) == 4 and numeral.text.isdigit()


def _timed(numeral: Numeral, facts: ResultFacts) -> Ground | None:
    """A time of day has to stand in a cell of a date or a time."""
    wanted = numeral.text.rjust(len(numeral.text) + (numeral.text.find(":") == 1), "0")
    for field in facts.fields:
        if field.type in ("datetime", "time"):
            for number, row in enumerate(facts.rows):
                if isinstance(row[field.index], str) and row[field.index].rpartition("T")[2].startswith(wanted):
                    return Ground(numeral.value, "cell", f"{field.name} of row {number + 1}", number, field.index)
    return None


# Bounds


def _bounding(numeral: Numeral, sentence: Sentence) -> Ground | None:
    """A number that something lies above or below. In sentences about all, none or some of the rows, `quantified`
    decides whether it does."""
    bound, facts = sentence.bound(numeral) or "", sentence.facts
    named = sentence.rows_for(numeral)
    if sentence.is_year(numeral) and facts.has_dates:
        return _dated_bound(numeral, sentence, bound)
    if sentence.is_year(numeral) and (dated := _dated(numeral, sentence)):
        return dated
    if numeral.kind != "number":
        grounds = _percent_grounds if numeral.kind == "percent" else _ratio_grounds
        values = (each for each in grounds(numeral, sentence) if each.kind != "fact")
        if numeral.kind == "ratio":
            return next((each for each in values if each.value > 1 and meets(each.value, bound, numeral.value)), None)
        return next((each for each in values if meets(each.value, bound, numeral.value)), None)
    if not named and _speaks_of_rows(numeral, sentence):
        return Ground(numeral.value, "fact", "a bound")
    # “In more than one country”: nothing says which of several columns is meant.
    columns = columns_for(numeral, sentence)
    if len(columns) > 1 and not sentence.spoken and said_unit(numeral, sentence) is None:
        columns = []
    rows = named or range(len(facts.rows))
    for field in columns:
        for times in factor(field, numeral, sentence):
            cells = [v * times for row in rows if (v := facts.number(row, field.index)) is not None]
            if cells and all(meets(value, bound, numeral.value) for value in cells):
                return Ground(numeral.value, "aggregate", f"a bound of {field.name}", column=field.index)
            summed = facts.complete and not named and sentence.cue(TOTAL)
            if cells and summed and meets(sum(cells, Decimal(0)), bound, numeral.value):
                return Ground(numeral.value, "aggregate", f"a bound of the sum of {field.name}", column=field.index)
    # “Only Rock has more than 500”: whether it does is decided with the rows that do.
    decided = "only" in sentence.words or _QUANTIFIER.match(sentence.text)
    return Ground(numeral.value, "fact", "a bound") if decided else None


def _dated_bound(numeral: Numeral, sentence: Sentence, bound: str) -> Ground | None:
    """“Opened before 2018”: so did every row that is named. Without names, the years of the rows have to reach it."""
    named = {row for mention in sentence.labels_named for row in mention.rows}
    years = [Decimal(known.year or 0) for known, row, _ in sentence.facts.dates() if not named or row in named]
    if _speaks_of_rows(numeral, sentence) or (years and all(meets(year, bound, numeral.value) for year in years)):
        return Ground(numeral.value, "fact", "a bound of the dates")
    return None


def _spanned(numeral: Numeral, sentence: Sentence) -> Ground | None:
    """“Averaged 5.4 minutes over 1,265 flights” states a value, not a bound."""
    if sentence.word_before(numeral) != "over":
        return None
    rows = sentence.rows_for(numeral)
    cells = sentence.facts.cells(rows, counted_columns(numeral, sentence))
    return next((each for each in cells if each.value == numeral.value), None)


def _speaks_of_rows(numeral: Numeral, sentence: Sentence) -> bool:
    """Whether the sentence begins with all, none, or a count of rows that the bound narrows."""
    starts = sentence.text.lstrip('"“(*- ').lower()
    if starts.startswith(("all ", "every ", "each ", "none ", "no ", "nobody ", "only ", "everyone ")):
        return bool(predicates(sentence, 0))
    counting = [n for n in sentence.numerals if n.end < numeral.start]
    return any(row_counts(n, sentence) is not None for n in counting)


# Numbers


def _number_grounds(numeral: Numeral, sentence: Sentence) -> Iterator[Ground]:
    facts = sentence.facts
    named = sentence.rows_for(numeral)
    counted = counted_columns(numeral, sentence)
    if _DIFFERS.match(sentence.text[numeral.end :]):
        yield from _differences(numeral, sentence, named)
        return
    if not counted and (size := row_or_column_count(sentence.word_after(numeral), facts)):
        yield size
        yield from _extra(facts)
        return
    rows: Sequence[int] = named or range(len(facts.rows))
    measures = counted or [f for f in _dated_columns(sentence) if not facts.is_fraction(f)]
    if sentence.cue(LESS, MORE):
        measures = list(dict.fromkeys([*measures, *facts.change_fields]))
    yield from _said(facts.cells(rows, measures), numeral, sentence)
    yield from facts.cells(rows, [f for f in facts.fields if _is_called(f, numeral, sentence)])
    if _may_count_rows(numeral, sentence, named):
        yield row_count(facts)
    yield from _years(numeral, facts)
    yield from _extra(facts)
    yield from _named_counts(numeral, sentence)
    yield from _gaps(numeral, sentence, named)
    yield from _said(_aggregates(numeral, sentence, named), numeral, sentence)
    if sentence.cue(LESS, MORE, BETWEEN):
        yield from _differences(numeral, sentence, named)


def _differences(numeral: Numeral, sentence: Sentence, named: list[int]) -> Iterator[Ground]:
    facts = sentence.facts
    if facts.change_fields:
        yield from _said(facts.cells(named, facts.change_fields), numeral, sentence)
    for first, second, field, basis in facts.pairs(_compared_rows(sentence, named)):
        difference = Ground(abs(first - second), "aggregate", f"difference of {basis}")
        yield from _said([difference._replace(column=field.index)] if field else [difference], numeral, sentence)
    for first, second, basis in _summed_pairs(sentence):
        yield Ground(abs(first - second), "aggregate", f"difference of {basis}")
    yield from _gaps(numeral, sentence, named)


def _compared_rows(sentence: Sentence, named: list[int]) -> Sequence[int]:
    """A row that has risen or fallen is compared with itself at another time, if its columns say how."""
    moved = sentence.cue(ROSE, FELL) and sentence.facts.pair is not None
    return named if moved and len(named) == 1 else sentence.facts.comparable_rows(named)


def _dated_columns(sentence: Sentence) -> Sequence[Field]:
    """All measures; if the sentence names a year that is in the names of columns, only those and the undated ones."""
    measures = sentence.facts.measures
    years = {w for w in sentence.words if len(w) == 4 and w.isdigit()}
    named = [f for f in measures if years & set(words(f.name))]
    if re.search(r"\b(?:from|year before|previous year|year earlier)\b", sentence.text):
        return measures
    undated = [f for f in measures if not any(len(w) == 4 and w.isdigit() for w in words(f.name))]
    return [*named, *undated] if named else measures


def _said(grounds: Iterator[Ground] | list[Ground], numeral: Numeral, sentence: Sentence) -> Iterator[Ground]:
    """The same in the unit and the scale of the number."""
    by_index = {f.index: f for f in sentence.facts.fields}
    for each in grounds:
        field = by_index.get(each.column) if each.column is not None else None
        if field is None:
            yield each
            continue
        for times in factor(field, numeral, sentence):
            yield each._replace(value=each.value * times) if times != 1 else each


def row_or_column_count(noun: str, facts: ResultFacts) -> Ground | None:
    """What a number of rows or columns has to be."""
    if noun in COUNTED:
        return row_count(facts)
    if noun in ("column", "columns"):
        return Ground(Decimal(len(facts.columns)), "aggregate", "the number of columns")
    return None


def row_count(facts: ResultFacts) -> Ground:
    return Ground(Decimal(facts.row_count), "row_count", "the number of rows")


def _aggregates(numeral: Numeral, sentence: Sentence, named: list[int]) -> Iterator[Ground]:
    facts = sentence.facts
    everything = list(range(len(facts.rows))) if facts.complete else []
    # “Of 8,977 orders” and “there are 1,608 tickets” say a sum without a word for it.
    counted = {f.index for f in counted_columns(numeral, sentence)}
    groups = [rows for _, rows in sentence.lists]
    groups += [g for n in sentence.numerals if (g := group_at_end(sentence, n)) is not None]
    adds_up = sentence.cue(TOTAL) or bool(_ADDS_UP.search(sentence.text)) or _speaks_of_all(sentence)
    # A name that stands for several rows, such as a year, or “the top three”, stands for their sum.
    one_name = any(set(named) == m.rows for m in sentence.mentions)
    for rows in (named if len(named) > 1 else [], *map(sorted, groups), everything):
        one_name = one_name or (rows is not everything and frozenset(rows) in groups)
        for total in facts.totals(rows):
            of_all = total.column in counted and (rows is everything or not named)
            of_all = of_all or (rows is not everything and one_name)
            if adds_up or of_all or _OF_ALL.search(sentence.text[: numeral.start]):
                yield total
        if sentence.cue(MEAN):
            yield from facts.means(rows)
        if sentence.cue(MEDIAN):
            yield from facts.medians(rows)


def _speaks_of_all(sentence: Sentence) -> bool:
    """“The three channels share”: the subject is all rows, by their number."""
    first = next((n for n in sentence.numerals if sentence.word_before(n) == "the"), None)
    return not sentence.mentions and first is not None and first.value == sentence.facts.row_count


def _named_counts(numeral: Numeral, sentence: Sentence) -> Iterator[Ground]:
    """How many rows a name stands for: “Spain has two stadiums”."""
    noun = stem(sentence.word_after(numeral))
    called = any(noun == stem(word) for f in sentence.facts.fields if f.role == "category" for word in words(f.name))
    for mention in sentence.mentions if called else ():
        yield Ground(Decimal(len(mention.rows)), "row_count", "the rows of that name")


def _gaps(numeral: Numeral, sentence: Sentence, named: list[int]) -> Iterator[Ground]:
    """Days, months and years between the dates of two rows."""
    facts, unit = sentence.facts, stem(sentence.word_after(numeral))
    if unit not in ("day", "week", "month", "year") or len(named) != 2:
        return
    for field in (f for f in facts.fields if f.role == "time" and f.type in ("date", "datetime")):
        first, last = sorted(str(facts.rows[row][field.index])[:10] for row in named)
        try:
            days = (date.fromisoformat(last) - date.fromisoformat(first)).days
        except ValueError:
            continue
        months = (int(last[:4]) - int(first[:4])) * 12 + int(last[5:7]) - int(first[5:7])
        size = {"day": Decimal(days), "week": Decimal(days) / 7, "month": Decimal(months), "year": Decimal(months) / 12}
        yield Ground(size[unit], "aggregate", f"time between {field.name} of the rows", column=field.index)


# Shares and changes


def _percent_grounds(numeral: Numeral, sentence: Sentence) -> Iterator[Ground]:
    facts = sentence.facts
    named = sentence.rows_for(numeral)
    rows: Sequence[int] = named or range(len(facts.rows))
    percentages = [f for f in facts.measures if facts.is_percentage(f)]
    fractions = [f for f in facts.measures if facts.is_fraction(f)]
    yield from facts.cells(rows, percentages)
    for each in facts.cells(rows, fractions):
        yield each._replace(value=each.value * 100)
    if len(named) > 1 and sentence.cue(TOTAL):
        for each in facts.totals(named):
            times = 100 if each.column in {f.index for f in fractions} else 1
            if each.column in {f.index for f in (*percentages, *fractions)}:
                yield each._replace(value=each.value * times)
    if sentence.cue(LESS, MORE, BETWEEN) and sentence.word_after(numeral) != "of":
        for first, second, _, basis in facts.pairs(_compared_rows(sentence, named)):
            yield from _changes(first, second, basis, sentence)
        for first, second, basis in _summed_pairs(sentence):
            yield from _changes(first, second, basis, sentence)
    if facts.complete and not _is_change(numeral, sentence):
        yield from _shares(sentence, named)
        yield from _parts_of_rows(sentence, named)
    yield from _extra(facts)


def _is_change(numeral: Numeral, sentence: Sentence) -> bool:
    """“Grew by 12%”, “12% more than”: a change, not a share."""
    if sentence.word_before(numeral) == "by" or sentence.word_after(numeral) in MORE | LESS:
        return True
    return sentence.cue(LESS, MORE, BETWEEN) and not sentence.bound(numeral) and sentence.word_after(numeral) != "of"


def _parts_of_rows(sentence: Sentence, named: list[int]) -> Iterator[Ground]:
    """One column as a part of another, if the sentence speaks of both: 1% of flights were cancelled."""
    facts = sentence.facts
    amounts = [f for f in facts.measures if not facts.is_fraction(f) and not facts.is_percentage(f)]
    spoken = [f for f in amounts if f.index in sentence.spoken]
    for part in spoken:
        for whole in spoken:
            for row in named if part is not whole else ():
                over, under = facts.number(row, part.index), facts.number(row, whole.index)
                if over is not None and under and 0 <= over <= under:
                    yield Ground(over / under * 100, "aggregate", f"{part.name} in {whole.name}, row {row + 1}", row)


def _summed_pairs(sentence: Sentence) -> Iterator[tuple[Decimal, Decimal, str]]:
    """Sums that can be compared: of two names that stand for several rows, and of all rows at two times."""
    facts = sentence.facts
    if sentence.cue(TOTAL) and facts.pair is not None and facts.complete:
        first, last = (sum(facts.values(field), Decimal(0)) for field in facts.pair)
        yield first, last, "the sums"
    for one, other in combinations(sentence.mentions, 2):
        if one.column == other.column and one.rows != other.rows and max(len(one.rows), len(other.rows)) > 1:
            for field in facts.measures:
                first, last = (facts.summed(field, mention.rows) for mention in (one, other))
                yield first, last, f"the sums of {field.name}"


def _ratio_grounds(numeral: Numeral, sentence: Sentence) -> Iterator[Ground]:
    facts = sentence.facts
    for first, second, _, basis in facts.pairs(facts.comparable_rows(sentence.rows_for(numeral))):
        for over, under in ((first, second), (second, first)):
            if under:
                yield Ground(over / under, "aggregate", f"ratio of {basis}")


def _shares(sentence: Sentence, named: list[int]) -> Iterator[Ground]:
    """Parts of a column's sum: of each named row (else of the largest), and of the named rows together."""
    facts = sentence.facts
    spoken = [f for f in facts.measures if f.index in sentence.spoken] or facts.measures
    for field in spoken:
        values = facts.values(field)
        total = sum(values, Decimal(0))
        # With negative values a part can be larger than the whole, so a share says nothing.
        if total <= 0 or min(values) < 0 or facts.is_fraction(field) or facts.is_percentage(field):
            continue
        basis = f"share in the sum of {field.name}"
        for row in named:
            if (value := facts.number(row, field.index)) is not None:
                yield Ground(value / total * 100, "aggregate", f"{basis}, row {row + 1}", row, field.index)
        if not named:
            yield Ground(max(values) / total * 100, "aggregate", f"{basis}, largest", column=field.index)
        if len(named) > 1:
            together = sum((v for row in named if (v := facts.number(row, field.index)) is not None), Decimal(0))
            yield Ground(together / total * 100, "aggregate", f"{basis}, together", column=field.index)


def _changes(first: Decimal, second: Decimal, basis: str, sentence: Sentence) -> Iterator[Ground]:
    """From either to the other, if the sentence names that direction."""
    for old, new in ((first, second), (second, first)):
        if old:
            change = (new - old) / abs(old) * 100
            agrees = (change >= 0 and sentence.cue(MORE, BETWEEN)) or (change <= 0 and sentence.cue(LESS, BETWEEN))
            if agrees:
                yield Ground(change, "aggregate", f"relative change of {basis}")


# Agreement


def _agreement(numeral: Numeral, sentence: Sentence) -> Callable[[Decimal], bool]:
    """Whether a value, rounded as the numeral is printed or as its hedge allows, is the numeral."""
    hedge = sentence.hedge(numeral)
    loss = not numeral.signed and numeral.kind != "ratio" and sentence.cue(LESS)
    fraction = numeral.kind in ("percent", "ratio") and not any(c.isdigit() for c in numeral.text)

    def rounds(value: Decimal, rough: bool) -> bool:
        """A loss may be written without its minus if the sentence says that it is one."""
        return rounds_to(value, numeral, rough) or (loss and value < 0 and rounds_to(-value, numeral, rough))

    def agrees(value: Decimal) -> bool:
        if rounds(value, False):
            return True
        if hedge is None:
            return False
        if (hedge["just_above"] and value < numeral.value) or (hedge["just_below"] and value > numeral.value):
            return False
        near = fraction or hedge["just_above"] or hedge["just_below"]
        if near and abs(value - numeral.value) <= abs(numeral.value) * _HEDGED_SHARE:
            return True
        return rounds(value, True)

    return agrees


def _is_called(field: Field, numeral: Numeral, sentence: Sentence) -> bool:
    """Keys and calendar numbers count only when the sentence calls them so: order 1042, week 12, #7."""
    if field.role == "measure" or field.role == "time":
        return False
    before = sentence.word_before(numeral)
    return before in ("#", "number", "no", "id") or stem(before) in {stem(word) for word in words(field.name)}


def _may_count_rows(numeral: Numeral, sentence: Sentence, named: list[int]) -> bool:
    """Not when the numeral counts what a column counts, nor what a named row has."""
    noun = stem(sentence.word_after(numeral))
    labels = [f for f in sentence.facts.fields if f.role in ("category", "key", "time")]
    if any(noun == stem(word) for f in labels for word in words(f.name)):
        return True
    return not named and not counted_columns(numeral, sentence)


def _years(numeral: Numeral, facts: ResultFacts) -> Iterator[Ground]:
    if _is_year(numeral):
        for period, row, column in facts.dates():
            yield Ground(Decimal(period.year or 0), "cell", f"a date in row {row + 1}", row, column)
        for fact in facts.extra:
            if isinstance(fact.value, str) and (known := period_of(fact.value)):
                yield Ground(Decimal(known.year or 0), "fact", fact.basis)


def _extra(facts: ResultFacts) -> Iterator[Ground]:
    for fact in facts.extra:
        value = number_of(fact.value)
        if value is not None:
            yield Ground(value, "fact", fact.basis)
