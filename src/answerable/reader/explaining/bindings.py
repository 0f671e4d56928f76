"""What each phrase of the question became, for showing beside the answer.

Meanings are parts of the plan that runs, so none can say more than it does. A part for which the question has no words
is named as implied, and a word for which the plan has no part as not used.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import field

from answerable.answers.answer import Binding
from answerable.core.catalog import Measure
from answerable.core.records import dataclass
from answerable.core.words import normalise as normal
from answerable.core.words import stemmed
from answerable.query.plan import Aggregate, ColumnRef, Expr, QueryPlan
from answerable.query.scope import children
from answerable.reader.explaining.plan_parts import Kind, PlanPart, parts_of
from answerable.reader.grammar.grammar import FILLERS
from answerable.reader.grammar.measure_expressions import written_out
from answerable.reader.linking.cues import Cue
from answerable.reader.linking.lexicon import GENERIC, STOPWORDS
from answerable.reader.linking.links import MAX_VALUE_WORDS, Mention
from answerable.reader.linking.scene import Scene
from answerable.reader.linking.tokens import ORDINALS, OriginalText
from answerable.reader.time.date_phrases import DateSpan

UNUSED = "not used"
IMPLIED = "(implied)"
BEFORE = "(as before)"

# Weaker mentions are near misses. To show one as what a word became would be a lie.
_NAMED = 0.45
_TO_SAY: frozenset[Kind] = frozenset(
    {"shown", "measure", "test", "aggregate", "calculation", "period", "group", "order", "limit", "distinct"}
)
"""Kinds that change the rows: where no phrase became such a part, it is named by itself."""
_TELLING_TAGS = (
    "COUNT NEG AVG SUM MAX MIN OLD YOUNG MOST LEAST COMMON RARE GT LT GE LE EQ ONCE BETWEEN DISTINCT SHARE GROW"
)
_TELLING = frozenset(_TELLING_TAGS.split())
"""Cues that change what is asked for, though some of their words are small ones."""
_COMPARISONS = {
    "GT": (">", ">="),
    "LT": ("<", "<="),
    "GE": (">=", ">", "<"),
    "LE": ("<=", "<", ">"),
    "EQ": ("=",),
}
_UP = frozenset({"MAX", "MOST", "COMMON", "OLD"})
_DOWN = frozenset({"MIN", "LEAST", "RARE", "YOUNG"})


def bindings_of(
    text: str,
    scene: Scene,
    plan: QueryPlan,
    dates: Sequence[DateSpan],
    *,
    accounted: frozenset[int] = frozenset(),
    previous: QueryPlan | None = None,
) -> tuple[Binding, ...]:
    """In the order of the question, then what is implied or taken over from the question before. `accounted` are the
    places of words for which a form of the grammar answers."""
    catalog = scene.schema.catalog
    small = STOPWORDS | GENERIC | (FILLERS if accounted else frozenset())
    bound = _PhraseParts(scene, parts_of(plan, catalog), small)
    _bind_dates(bound, dates)
    _bind_values(bound)
    _bind_numbers(bound)
    # Order matters, since a word is bound once: values before names ("New York" before a column "york"),
    # names before cues ("number of employees" is a column), and weak names last.
    _bind_names(bound, ("TAB", "COL"))
    _bind_cues(bound)
    _bind_names(bound)
    _bind_accounted(bound, accounted)
    _attach_unsaid(bound)
    known = parts_of(previous, catalog) if previous is not None else ()
    return (*_said(bound, OriginalText(text, scene.question)), *_unsaid(bound, known))


@dataclass
class _PhraseParts:
    """The phrases of a question and the parts of the plan that each of them became, while they are being found."""

    scene: Scene
    parts: tuple[PlanPart, ...]
    small: frozenset[str]
    """Words that need no part of the plan."""
    phrases: dict[tuple[int, int], list[PlanPart]] = field(default_factory=dict)

    def free(self, start: int, end: int) -> bool:
        return all(end <= first or last <= start for first, last in self.phrases)

    def bind(self, start: int, end: int, parts: Iterable[PlanPart]) -> bool:
        """Binds a phrase to the parts that it became. Returns False if it has none or overlaps another phrase."""
        found = list(parts)
        if not found or not self.free(start, end):
            return False
        self.phrases[(start, end)] = found
        return True

    def is_content(self, place: int) -> bool:
        token, tag = self.scene.tokens[place], self.scene.tags[place]
        if token.kind != "word":
            return token.kind != "mark"
        return token.lower not in self.small and tag in ("O", "VAL", "TAB", "COL")

    def of(self, *kinds: Kind) -> list[PlanPart]:
        return [part for part in self.parts if part.kind in kinds]

    def is_said(self, part: PlanPart) -> bool:
        """A phrase became it, or something that includes it."""
        return any(_includes(parts_of_phrase.meaning, part.meaning) for parts_of_phrase in self.bound_parts())

    def bound_parts(self) -> Iterator[PlanPart]:
        return (part for parts in self.phrases.values() for part in parts)

    def unsaid_first(self, parts: Iterable[PlanPart]) -> list[PlanPart]:
        # False sorts before True, and parts of equal rank stay in order.
        return sorted(parts, key=self.is_said)


# Values that the plan compares with.


def _bind_dates(bound: _PhraseParts, dates: Sequence[DateSpan]) -> None:
    for span in dates:
        places = [
            place
            for place, token in enumerate(bound.scene.tokens)
            if token.start < span.end_char and span.start_char < token.end
        ]
        if places:
            bound.bind(places[0], places[-1] + 1, _parts_of_span(bound, span))


def _parts_of_span(bound: _PhraseParts, span: DateSpan) -> list[PlanPart]:
    if span.kind == "bucket":
        units = [part for part in bound.of("period") if part.how in (span.unit, span.part)]
        return [
            part for part in bound.of("period", "group") if any(_includes(part.meaning, one.meaning) for one in units)
        ]
    if span.kind == "recurring":
        recurring = [part for part in bound.of("test") if part.meaning.startswith(f"{span.part} of ")]
        return [part for part in recurring if set(part.values) & set(span.values)]
    ends = {end.isoformat() for end in (span.start, span.end) if end is not None}
    tests = [(part, ends & {str(value) for value in part.values}) for part in bound.of("test")]
    return [part for part, same in tests if same == ends] or [part for part, same in tests if same]


def _bind_values(bound: _PhraseParts) -> None:
    """First what the links found, the longest first; then any words that are the value, as for a text that is looked
    for though the data has no such value."""
    schema = bound.scene.schema
    for value in sorted(bound.scene.links.values, key=lambda v: (v.start - v.end, -v.score)):
        view = schema.columns[value.column]
        name = (schema.tables[view.table].name, view.name)
        bound.bind(
            value.start,
            value.end,
            [part for part in bound.of("test") if name in part.columns and value.value in map(str, part.values)],
        )
    for part in bound.of("test"):
        for text in (value for value in part.values if isinstance(value, str)):
            if not _is_in_phrase(bound, part, text):
                _bind_text(bound, part, text)


def _is_in_phrase(bound: _PhraseParts, part: PlanPart, text: str) -> bool:
    wanted = stemmed(normal(text))
    spans = [span for span, parts in bound.phrases.items() if part in parts]
    return any(stemmed(normal(bound.scene.question.span_text(*span))) == wanted for span in spans)


def _bind_text(bound: _PhraseParts, part: PlanPart, text: str) -> None:
    wanted = stemmed(normal(text))
    count = len(bound.scene.tokens)
    for length in range(min(MAX_VALUE_WORDS, count), 0, -1):
        for start in range(count - length + 1):
            said = stemmed(normal(bound.scene.question.span_text(start, start + length)))
            if said and said == wanted and bound.bind(start, start + length, [part]):
                return


def _bind_numbers(bound: _PhraseParts) -> None:
    cues = {cue.start: cue for cue in bound.scene.cues if cue.tag in _COMPARISONS}
    ends = {cue.end: cue for cue in cues.values()}
    for place, token in enumerate(bound.scene.tokens):
        number = token.value if token.value is not None else ORDINALS.get(token.lower)
        written = token.text if token.kind == "date" else str(number)
        if number is None and token.kind != "date":
            continue
        before, after = ends.get(place), cues.get(place + 1)
        start = before.start if before else place
        end = after.end if after and not before else place + 1
        tests = [part for part in bound.of("test") if _compares_with(part, written)]
        tests = tests or [part for part in bound.of("limit") if number in part.values]
        part = bound.unsaid_first(tests)[:1]
        # "more than 5" is one phrase, unless its cue belongs to another phrase already.
        if not bound.bind(start, end, part):
            bound.bind(place, place + 1, part)


def _compares_with(part: PlanPart, written: str) -> bool:
    texts = [str(value) for value in part.values if not isinstance(value, bool)]
    year = len(written) == 4 and part.how == "period"
    return written in texts or f"{written}.0" in texts or (year and any(text.startswith(written) for text in texts))


# Names of tables, columns and measures.


def _bind_names(bound: _PhraseParts, tags: Sequence[str] | None = None) -> None:
    """Names of what the plan uses, the fullest first. With tags: only where the words stand for a name, not a cue."""
    links = bound.scene.links
    mentions = [m for m in (*links.measures, *links.columns, *links.tables) if m.score > _NAMED]
    mentions = [m for m in mentions if not STOPWORDS.issuperset(bound.scene.words[m.start : m.end])]
    mentions.sort(
        key=lambda m: (
            -m.score * (m.end - m.start) ** 0.5,
            _ORDER.index(m.kind),
            not _stands_by_its_table(bound.scene, m),
            m.start,
        )
    )
    for mention in mentions:
        places = range(mention.start, mention.end)
        if tags is None or all(bound.scene.tags[place] in tags for place in places):
            bound.bind(mention.start, mention.end, _parts_of_name(bound, mention))


def _stands_by_its_table(scene: Scene, mention: Mention) -> bool:
    """Whether the table of the column is named beside it: "the balance of the savings" is no other balance."""
    if mention.kind != "column":
        return False
    tables = scene.tables.get(scene.schema.columns[mention.id].table, ())
    return any(0 <= mention.start - table.end <= 1 or 0 <= table.start - mention.end <= 2 for table in tables)


_ORDER = ("measure", "table", "column")


def _parts_of_name(bound: _PhraseParts, mention: Mention) -> list[PlanPart]:
    schema = bound.scene.schema
    if mention.kind == "measure":
        measure = schema.measures[mention.id][0]
        return [part for part in bound.of("measure") if part.how == measure.name] or _written_out(bound, measure)
    if mention.kind == "table":
        return [part for part in bound.of("table") if part.tables == (schema.tables[mention.id].name,)]
    view = schema.columns[mention.id]
    return [part for part in bound.of("column") if part.columns == ((schema.tables[view.table].name, view.name),)]


def _written_out(bound: _PhraseParts, measure: Measure) -> list[PlanPart]:
    """The aggregates of a measure that the plan compares with itself in another period."""
    expr = written_out(measure)
    wanted = set() if expr is None else {(one.function, one.of) for one in _aggregates(expr)}
    columns = {(how, (of.table, of.column)) for how, of in wanted if isinstance(of, ColumnRef)}
    return [part for part in bound.of("aggregate") if {(part.how, name) for name in part.columns} & columns]


def _aggregates(expr: Expr) -> Iterator[Aggregate]:
    if isinstance(expr, Aggregate):
        yield expr
    for _, child in children(expr):
        yield from _aggregates(child)


# Cues: what the plan does.


def _bind_cues(bound: _PhraseParts) -> None:
    for cue in bound.scene.cues:
        matched = _cue_parts(bound, cue)
        bound.bind(cue.start, cue.end, matched)
    for place, token in enumerate(bound.scene.tokens):
        bound.bind(place, place + 1, [part for part in bound.of("aggregate") if part.how == token.lower])


def _cue_parts(bound: _PhraseParts, cue: Cue) -> list[PlanPart]:
    tag = cue.tag
    if tag in _UP | _DOWN:
        return _extremes(bound, tag)
    if tag == "COUNT":  # how many rows; or how many days, how many units sold
        calculated = bound.of("aggregate", "calculation", "measure")
        return [part for part in calculated if part.how == "count"] or calculated
    if tag in _COMPARISONS:
        found = [part for part in bound.of("test") if part.how in _COMPARISONS[tag]]
        return bound.unsaid_first(found)[:1]
    if tag == "BY" and not _groups_next(bound, cue):
        return []
    wanted = _WANTED.get(tag)
    found = [] if wanted is None else [part for part in bound.parts if wanted(part)]
    return _said_after(bound, cue, found) if tag == "NEG" else found


def _said_after(bound: _PhraseParts, cue: Cue, parts: Sequence[PlanPart]) -> list[PlanPart]:
    """Chooses between the parts that the cue may stand for: those that the next phrase after the cue became."""
    for (start, _), parts_of_phrase in sorted(bound.phrases.items()):
        if start >= cue.end and (same := [part for part in parts if part in parts_of_phrase]):
            return same
    return list(parts)


def _extremes(bound: _PhraseParts, tag: str) -> list[PlanPart]:
    """The order and the limit; without an order, the minimum or maximum that the plan calculates."""
    direction, function = ("descending", "max") if tag in _UP else ("ascending", "min")
    orders = bound.of("order")
    agreeing = [part for part in orders if part.how == direction] or orders
    if agreeing:
        # "The largest" says the order and that only one row is wanted.
        return [*agreeing[:1], *(part for part in bound.of("limit") if not bound.is_said(part))]
    found = [part for part in bound.of("aggregate") if part.how in ("min", "max")]
    return [part for part in found if part.how == function] or found or bound.of("limit")


def _groups_next(bound: _PhraseParts, cue: Cue) -> bool:
    columns = {name for part in bound.of("group") for name in part.columns}
    tables = {name for part in bound.of("group") for name in part.tables}
    following = [parts for (start, _), parts in bound.phrases.items() if 0 <= start - cue.end <= 1]
    return any(
        set(part.columns) & columns or (part.kind == "table" and set(part.tables) & tables)
        for parts in following
        for part in parts
    )


def _is(kind: Kind, *hows: str) -> Callable[[PlanPart], bool]:
    return lambda part: part.kind == kind and (not hows or part.how in hows)


def _negates(part: PlanPart) -> bool:
    return (part.kind == "test" and (part.negated or part.how == "null")) or (
        part.kind == "combination" and part.how == "except"
    )


def _is_choice(part: PlanPart) -> bool:
    return part.kind == "either" or (part.kind == "combination" and part.how.startswith("union"))


_WANTED: dict[str, Callable[[PlanPart], bool]] = {
    "AVG": _is("aggregate", "avg"),
    "SUM": lambda part: part.kind == "measure" or (part.kind == "aggregate" and part.how == "sum"),
    "MUCH": _is("aggregate", "sum"),
    "EACH": _is("group"),
    "BY": _is("group"),
    "SORT": _is("order"),
    "ASC": _is("order"),
    "DESC": _is("order"),
    "NEG": _negates,
    "BETWEEN": lambda part: part.kind == "calculation" or (part.kind == "test" and part.how in ("between", "period")),
    "LIKE": _is("test", "contains"),
    "STARTS": _is("test", "starts_with"),
    "ENDS": _is("test", "ends_with"),
    "ONCE": _is("test", ">", ">=", "!="),
    "NULL": _is("test", "null"),
    "DISTINCT": _is("distinct"),
    "EITHER": _is_choice,
    "BOTH": _is("combination", "intersect", "union"),
    "AND": _is("combination", "intersect", "union"),
    "SHARE": _is("calculation"),
    "GROW": _is("calculation"),
    "DIFFER": _is("calculation"),
}


# Remaining words and parts.


def _bind_accounted(bound: _PhraseParts, accounted: frozenset[int]) -> None:
    """Words that a form took for what no other phrase says, such as open for a missing end; for a table, such as
    ordered for the orders; or for the one test or calculation there is, such as boss for a salary that is compared."""
    left = [place for place in sorted(accounted) if bound.free(place, place + 1) and bound.is_content(place)]
    for place in left:
        unsaid = [part for part in bound.of("test", "calculation") if not bound.is_said(part)]
        tests = bound.of("test")
        only = [parts for parts in (tests, bound.of("measure"), bound.of("aggregate")) if len(parts) == 1]
        bound.bind(place, place + 1, unsaid or _parts_of_owner(bound, place) or next(iter(only), ()))


def _parts_of_owner(bound: _PhraseParts, place: int) -> list[PlanPart]:
    schema = bound.scene.schema
    owners = {
        schema.tables[schema.columns[mention.id].table].name
        for mention in bound.scene.links.columns
        if mention.start <= place < mention.end
    }
    owners |= {schema.measures[m.id][0].table for m in bound.scene.links.measures if m.start <= place < m.end}
    return [part for part in bound.of("table") if part.tables[0] in owners]


def _attach_unsaid(bound: _PhraseParts) -> None:
    """A count to the word for the things counted, a sum to its column, a test to the column that it looks at."""
    for part in bound.of("aggregate", "test", "group", "calculation", "period"):
        if bound.is_said(part):
            continue
        spans = sorted(span for span, parts in bound.phrases.items() if any(_speaks_of(one, part) for one in parts))
        if spans:
            bound.phrases[spans[0]].append(part)


def _speaks_of(named: PlanPart, part: PlanPart) -> bool:
    if named.kind == "column":
        return named.columns[0] in part.columns
    return named.kind == "table" and named.tables[0] in part.tables


def _said(bound: _PhraseParts, own: OriginalText) -> Iterator[Binding]:
    meanings = {span: _meaning(parts) for span, parts in bound.phrases.items()}
    cues = [(cue.start, cue.end) for cue in bound.scene.cues if cue.tag in _TELLING]
    words = [(place, place + 1) for place in range(len(bound.scene.tokens)) if bound.is_content(place)]
    for span in (*cues, *words):
        if all(span[1] <= start or end <= span[0] for start, end in meanings):
            meanings[span] = UNUSED
    for span, meaning in sorted(meanings.items()):
        yield Binding(phrase=own.of(*span), meaning=meaning)


def _meaning(parts: Sequence[PlanPart]) -> str:
    texts = list(dict.fromkeys(part.meaning for part in parts))
    return "; ".join(_widest(texts))


def _widest(texts: Iterable[str]) -> list[str]:
    """Leaves out texts that another text includes."""
    known = list(texts)
    return [text for text in known if not any(text != other and _includes(other, text) for other in known)]


def _includes(whole: str, part: str) -> bool:
    # Whole names only: `id` is not included in `orders.id`.
    return re.search(rf"(?<![\w.]){re.escape(part)}(?![\w.])", whole) is not None


def _unsaid(bound: _PhraseParts, known: Sequence[PlanPart]) -> Iterator[Binding]:
    before = {part.meaning for part in known}
    missing = dict.fromkeys(part.meaning for part in bound.parts if part.kind in _TO_SAY and not bound.is_said(part))
    for meaning in _widest(missing):
        yield Binding(phrase=BEFORE if meaning in before else IMPLIED, meaning=meaning)
