"""Claims about how many rows there are: all, none, only one, three of them."""

import re
from collections.abc import Iterator

from answerable.answers.checking.lexicon import COUNTED, NEGATIONS
from answerable.answers.checking.numerals import Numeral
from answerable.answers.checking.predicates import (
    HAVING_NONE,
    RowSet,
    counted_as_none,
    group_at_end,
    joined,
    predicates,
    subject_after,
    subject_before,
)
from answerable.answers.checking.quantities import counted_columns
from answerable.answers.checking.sentence import Sentence
from answerable.answers.roles import Field, words
from answerable.core.words import fold, stem

_SPARED = r"^\W*(?:(?:apart from|except for|besides|other than)[^,]*,\s*)?"
_ALL = re.compile(
    _SPARED + r"(?:(?:in|on|at|for) )?(?:all|every|each|everyone|everybody)\b(?! (?!of\b)\w+ the\b)",
    re.IGNORECASE,
)
_NONE = re.compile(_SPARED + r"(?:(?:in|on|at) no|no|none|nobody|no one)\b(?! (?:matter|change|doubt))", re.IGNORECASE)
_BOTH = re.compile(r"\W*(both|neither)\s+(?:the\s+)?", re.IGNORECASE)
_ONLY = re.compile(r"\bonly\b", re.IGNORECASE)
_HEDGED = re.compile(r" (?:about|around|roughly|some|just)\b", re.IGNORECASE)
_EXCEPT = re.compile(r"\b(?:except(?: for)?|other than|apart from|besides|but)\s+(?:the\s+)?", re.IGNORECASE)
_BEGINNING = re.compile(
    r"^\W*(?:in \d{4},?\s+)?"
    r"(?:(?:only|just|exactly|all|the|in all,?|in total,?|there (?:are|were|is|was)|these are)\s+)*$",
    re.IGNORECASE,
)
_OF_THEM = re.compile(r"\s+of\s+(?:the|these|those|them|all|our|\d|two|three|four|five|six|seven|eight|nine|ten)\b")
_PLACED = re.compile(r"(?:\s+\w+){0,2}\s+(?:in|at|from|of|for|by)\s+(?:the\s+)?", re.IGNORECASE)
"""What may stand between a count and the name that its rows share: “the two games at the Verizon Center”."""
_NEXT_TO = re.compile(r"\s*(?:\w+\s+)?(?:(?:in|on|at|for|from|during)\s+)?(?:the\s+)?", re.IGNORECASE)
_AFTER_VERB = re.compile(r"\b(?:in|for|at|on)\s+(?:only\s+|just\s+|all\s+)?$", re.IGNORECASE)
_SEGMENT = re.compile(r"[,;:]|\b(?:and|but|while|whereas)\b")
_FEW = 20
"""A number at the beginning of a sentence that is larger than this and than twice the rows counts something else."""
_ASSERTS = frozenset(["is", "are", "was", "were", "has", "have", "had", "there", "found", "shows", "show"])
_DETERMINERS = frozenset(["the", "these", "those", "all", "of", "its", "across"])


def quantified(sentence: Sentence) -> Iterator[str]:
    """Yields what the rows contradict in a sentence that speaks of all, none or only some of them."""
    facts = sentence.facts
    if facts.row_count == 0:
        if _ASSERTS & sentence.words and not NEGATIONS & sentence.words and not sentence.quotes_facts:
            yield "the result has no rows"
        return
    if not facts.complete:
        return
    everything = frozenset(range(len(facts.rows)))
    if _ALL.match(sentence.text):
        yield from _all(sentence, everything)
    if _NONE.match(sentence.text):
        yield from _none(sentence)
    yield from _only(sentence)
    yield from _both_or_neither(sentence)
    yield from _without_any(sentence)


def _all(sentence: Sentence, everything: RowSet) -> Iterator[str]:
    spared = _spared(sentence)
    narrowed = _universe(sentence, everything, spared)
    sets = predicates(sentence, 0, spared if narrowed == everything else spared | narrowed)
    if sets and not any(narrowed - spared <= each and not (spared & each) for each in sets):
        yield "it is not so for every row"


def _none(sentence: Sentence) -> Iterator[str]:
    spared = _spared(sentence)
    # “Nobody has finished A and B” speaks of people, and of rows that it names.
    if re.match(r"\W*(?:no other|nobody|no one)\b", sentence.text, re.IGNORECASE):
        spared |= {row for mention in sentence.mentions for row in mention.rows}
    # “No year was hotter than 2014” speaks of the others.
    spared |= {row for m in sentence.mentions if sentence.text[: m.start].endswith(" than ") for row in m.rows}
    sets = predicates(sentence, 0, spared)
    if sets and not any(each <= spared for each in sets):
        yield "it is so for a row"


def _only(sentence: Sentence) -> Iterator[str]:
    for match in _ONLY.finditer(sentence.text):
        hedged = _HEDGED.match(sentence.text, match.end())
        end = hedged.end() if hedged else match.end()
        count = next((n for n in sentence.numerals if 0 <= n.start - end <= 3), None)
        if count is not None and count.period is None and not sentence.is_year(count):
            yield from _the_only_two(sentence, match, count)
            continue  # “only 14 flights” is a value
        subject = subject_before(sentence, match.start())
        place = subject_after(sentence, match.end())
        if (
            subject
            and place
            and re.fullmatch(r"\s+(?:on|in|at|from|for)\s+(?:the )?", sentence.text[match.end() : place.start])
        ):
            if not subject.rows <= place.rows:
                yield "it is so for other rows too"
            continue
        subject = subject or place
        if subject is None:
            continue
        rows = sentence.rows_of(subject) | joined(sentence, subject)
        sets = predicates(sentence, match.end(), rows)
        if not sets and subject is place:  # “it is positive only in winter”
            sets = predicates(sentence, 0, rows, match.start())
        if sets and rows not in sets:
            yield "it is not so for this row alone"


def _the_only_two(sentence: Sentence, only: re.Match[str], count: Numeral) -> Iterator[str]:
    """“A and B are the only two under ten percent”: they, and no others."""
    subject = subject_before(sentence, only.start())
    if subject is None or not sentence.text[: only.start()].lower().endswith("the "):
        return
    rows = sentence.rows_of(subject) | joined(sentence, subject)
    sets = predicates(sentence, count.end, rows)
    if sets and (rows not in sets or len(rows) != count.value):
        yield "it is not so for these rows alone"


def _both_or_neither(sentence: Sentence) -> Iterator[str]:
    """“Both A and B made a profit”, “neither A nor B did”."""
    found = _BOTH.match(sentence.text)
    first = sentence.mention_after(found.end()) if found else None
    second = sentence.mention_after(first.end) if first else None
    if found is None or first is None or second is None or second.start - first.end > len(" and the "):
        return
    rows = sentence.rows_of(first) | sentence.rows_of(second)
    sets = predicates(sentence, second.end, rows)
    if found[1].lower() == "both" and sets and not any(rows <= each for each in sets):
        yield "it is not so for both"
    if found[1].lower() == "neither" and sets and not any(rows.isdisjoint(each) for each in sets):
        yield "it is so for one of them"


def _without_any(sentence: Sentence) -> Iterator[str]:
    """“June had none”, “there were no such days in June and July”: zero in each row that is named."""
    for found in HAVING_NONE.finditer(sentence.text):
        there = found.group().lower().startswith("there")
        named = subject_after(sentence, found.end()) if there else subject_before(sentence, found.start())
        if named is None or not _NEXT_TO.fullmatch(
            sentence.text[found.end() : named.start] if there else sentence.text[named.end : found.start()]
        ):
            continue
        rows = sentence.rows_of(named) | joined(sentence, named)
        columns = [sentence.facts.numbers(f.index) for f in counted_as_none(sentence, found)]
        if columns and not any(all(not cells[row] for row in rows) for cells in columns):
            yield "there are some in the rows"


def _spared(sentence: Sentence) -> RowSet:
    """The rows that the sentence leaves out: all except East."""
    exception = _EXCEPT.search(sentence.text)
    mention = sentence.mention_after(exception.end()) if exception else None
    adjacent = mention is not None and exception is not None and mention.start - exception.end() <= 4
    return mention.rows if adjacent and mention else frozenset()


def _universe(sentence: Sentence, everything: RowSet, spared: RowSet) -> RowSet:
    first = sentence.mentions[0] if sentence.mentions else None
    verb = re.search(r"\b(?:has|have|had|is|are|was|were|cost|costs|rose|fell|grew|earn|make|made)\b", sentence.text)
    if first is not None and verb is not None and first.end <= verb.start() and not first.rows <= spared:
        return first.rows
    return everything


def row_counts(numeral: Numeral, sentence: Sentence) -> set[int] | None:
    """The numbers that a count of rows may be here; None if the numeral does not count rows."""
    facts = sentence.facts
    whole = numeral.kind == "number" and numeral.value == int(numeral.value) and not numeral.scaled
    noun = sentence.word_after(numeral)
    if not whole or not facts.complete or numeral.value > max(_FEW, 2 * facts.row_count) or noun in COUNTED:
        return None
    of_them = _is_of_them(numeral, sentence)
    begins = bool(_BEGINNING.match(sentence.text[: numeral.start]))
    determined = sentence.word_before(numeral) in _DETERMINERS
    if sizes := _only_so_many(sentence, numeral) or _moved_in(sentence, numeral) or _in_a_run(sentence, numeral):
        return sizes
    labelled = _label_columns(noun, sentence) if not sentence.mention_before(numeral.start) or determined else []
    if counted_columns(numeral, sentence) and not of_them:
        return {facts.row_count} if determined and numeral.value == facts.row_count else None
    if group_at_end(sentence, numeral) is not None:
        return {int(numeral.value)}
    if facts.row_count == 1 and not labelled and not of_them:
        return None
    if determined and (group := _labelled_group(numeral, sentence)) is not None:
        return {len(group)}
    if sentence.word_before(numeral) == "other":
        return _others(sentence, numeral) | _other_labels(sentence, noun)
    if determined and not of_them and noun not in ("that", "which", "who"):
        sizes = _sizes(sentence, labelled or [f for f in facts.fields if f.role in ("category", "time")])
        return sizes if labelled or numeral.value in sizes else None
    if not (labelled or of_them or begins or noun in ("that", "which", "who")):
        return _elliptic(sentence, numeral)
    dated = re.match(r"\W*in (?:\d{4}|\w+ \d{4})\b", sentence.text, re.IGNORECASE)
    sets = predicates(sentence, 0 if dated else numeral.end, end=_clause_end(sentence, numeral))
    sets = sets or _said_before(sentence, numeral, of_them)
    if not sets and of_them:
        return _of_them(sentence, numeral) or _sizes(sentence, labelled)
    if not sets or _asked(sentence, numeral):
        return _sizes(sentence, labelled)
    return {size for rows in sets for size in _sizes(sentence, labelled, rows)}


def _is_of_them(numeral: Numeral, sentence: Sentence) -> bool:
    """Whether a part of the rows is counted. “3,034 of 3,503” and “6 of the 21 days” are parts of a sum."""
    rows, found = sentence.facts.row_count, _OF_THEM.match(sentence.text[numeral.end :])
    whole = next((n for n in sentence.numerals if 0 < n.start - numeral.end <= len(" of all the ")), None)
    return found is not None and numeral.value <= rows and (whole is None or whole.value <= rows)


def _only_so_many(sentence: Sentence, numeral: Numeral) -> set[int]:
    """“The only two under ten percent”: as many as there are."""
    if not re.search(r"\bthe only $", sentence.text[: numeral.start]) or counted_columns(numeral, sentence):
        return set()
    return {len(rows) for rows in predicates(sentence, numeral.end)}


def _said_before(sentence: Sentence, numeral: Numeral, of_them: bool) -> list[RowSet]:
    """“Was flat at 37.62 in eight of the twelve months”: the condition stands before the count."""
    placed = of_them and _AFTER_VERB.search(sentence.text[: numeral.start])
    return predicates(sentence, 0, end=numeral.start) if placed else []


def _in_a_run(sentence: Sentence, numeral: Numeral) -> set[int]:
    """“For three straight months”: whether there is such a run is decided with its direction."""
    run = re.match(r" (?:straight|consecutive|successive)\b| \w+ in a row\b", sentence.text[numeral.end :])
    return {int(numeral.value)} if run and numeral.value < sentence.facts.row_count else set()


def _moved_in(sentence: Sentence, numeral: Numeral) -> set[int]:
    """“Fell in three of the five countries and rose in two”: what is counted stands before the count."""
    before = sentence.text[: numeral.start]
    if not sentence.facts.changes or sentence.facts.series is not None or not _AFTER_VERB.search(before):
        return set()
    parts = [match.end() for match in _SEGMENT.finditer(before)]
    return {len(rows) for rows in predicates(sentence, parts[-1] if parts else 0, end=numeral.start)}


def _elliptic(sentence: Sentence, numeral: Numeral) -> set[int] | None:
    """“Four are in oil and gas, three in banking”: the second count has no noun of its own."""
    follows = sentence.text[: numeral.start].rstrip().endswith((",", "and")) and len(sentence.numerals) > 1
    group = _labelled_group(numeral, sentence) if follows else None
    return {len(group)} if group is not None else None


def _of_them(sentence: Sentence, numeral: Numeral) -> set[int]:
    """“Two of the companies, Air China and Dragonair, are …”, “Sprint offers two of the five phones”."""
    if listed := _listed_after(sentence, numeral):
        return listed
    subject = subject_before(sentence, numeral.start)
    return {len(sentence.rows_of(subject))} if subject is not None else set()


def _listed_after(sentence: Sentence, numeral: Numeral) -> set[int]:
    """How many names are listed after a count: “two of the companies, Air China and Dragonair, are …”."""
    return {len(rows) for names, rows in sentence.lists if names[0].start > numeral.end and len(rows) == numeral.value}


def _others(sentence: Sentence, numeral: Numeral) -> set[int]:
    """How many “the other two” may be: the rows of the name before it, and those that the counts before leave over."""
    left = {sentence.facts.row_count - int(n.value) for n in sentence.numerals if n.end < numeral.start}
    subject = subject_before(sentence, numeral.start)
    named = {len(sentence.rows_of(subject))} if subject is not None else set()
    left |= {sentence.facts.row_count - len(sentence.named_rows)} if sentence.named_rows else set()
    return left & named if named & left else left | named


def _other_labels(sentence: Sentence, noun: str) -> set[int]:
    """How many “the other two species” are, if one of them is named."""
    facts = sentence.facts
    named = {m.column: set[str]() for m in sentence.labels_named}
    for mention in sentence.labels_named:
        named[mention.column] |= {repr(facts.rows[row][mention.column]) for row in mention.rows}
    return {facts.distinct(f) - len(named[f.index]) for f in _label_columns(noun, sentence) if f.index in named}


def _clause_end(sentence: Sentence, numeral: Numeral) -> int:
    """Where the clause of a number ends: what follows a comma or a colon is said in addition."""
    aside = re.match(r"\s+\w+\s+\([^)]*\)", sentence.text[numeral.end :])
    start = numeral.end + (aside.end() if aside else 0)
    end = re.search(r"[,;:](?!\d)", sentence.text[start:])
    return start + end.start() if end else len(sentence.text)


def _labelled_group(numeral: Numeral, sentence: Sentence) -> RowSet | None:
    """The rows of “the two IT Staff members”, if they are as many as that."""
    near = [m for m in sentence.labels_named if m.start > numeral.end]
    placed = [m for m in near if _PLACED.fullmatch(sentence.text[numeral.end : m.start])]
    mention = next((m for m in near if m.start - numeral.end <= 2), None) or (placed[0] if placed else None)
    return mention.rows if mention is not None and len(mention.rows) == numeral.value else None


def _label_columns(noun: str, sentence: Sentence) -> list[Field]:
    key = stem(fold(noun))
    labels = (f for f in sentence.facts.fields if f.role in ("category", "key", "time"))
    return [f for f in labels if key and key in {stem(fold(word)) for word in words(f.name)}]


def _sizes(sentence: Sentence, labelled: list[Field], rows: RowSet | None = None) -> set[int]:
    """How many rows these are, and how many different labels they have."""
    facts = sentence.facts
    if rows is None:
        # Rows are named by their first label; “in five countries” counts another one.
        first = next((f.index for f in facts.fields if f.role in ("category", "key", "time")), None)
        of_rows = not labelled or any(f.index == first for f in labelled)
        return {*([facts.row_count] if of_rows else []), *(facts.distinct(f) for f in labelled)}
    return {len(rows), *(len({repr(facts.rows[row][f.index]) for row in rows}) for f in labelled)}


def _asked(sentence: Sentence, numeral: Numeral) -> bool:
    """Whether the conditions are those of the question, which all rows meet."""
    asked = set(re.findall(r"\d+", sentence.facts.question.replace(",", "")))
    after = [n for n in sentence.numerals if n.start > numeral.end and sentence.bound(n) is not None]
    return bool(after) and all(str(int(n.value)) in asked for n in after)
