"""A request: what a question asks for, laid out by its cues, before any word is taken for a name of the data."""

from collections.abc import Iterator, Sequence
from typing import Literal

from answerable.core.records import dataclass
from answerable.reader.everyday.word_options import WordOptions
from answerable.reader.grammar.dated_scene import DatedScene
from answerable.reader.linking.cues import EXTREMES, OPERATORS, Cue
from answerable.reader.linking.everyday_words import CONNECTING_VERBS, TYPICAL
from answerable.reader.linking.links import ValueMention
from answerable.reader.linking.scales import LOW_POINTS, is_superlative
from answerable.reader.linking.scene import comparison_at
from answerable.reader.linking.tokens import ORDINALS
from answerable.reader.linking.units import SCALES, SPANS

Asked = Literal["rows", "count", "sum", "avg", "median", "share", "gap"]
Places = tuple[int, ...]

COMPARING_WORDS = frozenset({"vs", "vs.", "versus", "against", "compared", "compare", "than"})
_UNITS_OF_TIME = {
    "day": "day",
    "days": "day",
    "month": "month",
    "months": "month",
    "year": "year",
    "years": "year",
    "hour": "hour",
    "hours": "hour",
}
_TREND_WORDS = frozenset(
    {"trend", "changed", "change", "changing", "getting", "going", "developed", "over", "grown", "growing", "evolve"}
)
_TRENDS = frozenset({"trend", "trends", "develop", "developed", "development", "evolved", "evolution"})
_FALLS = frozenset({"drop", "drops", "fall", "falls", "decline", "declines", "decrease", "loss", "losses", "dip"})
_FAVOURITES = frozenset({"favourite", "favorite", "favourites", "favorites", "usual", "commonest"})
_ADDED_UP = frozenset({"summed", "added", "altogether"})
_ASKING = frozenset({"who", "which", "what", "where", "when", "how", "whose", "why", "who's", "what's"})
_GAPS = frozenset({"gap", "difference", "swing", "spread", "range"})
_WHAT_DID = (["what", "did"], ["what", "have"], ["what", "has"], ["what's", "the"], ["what", "do"])
_TAKING = frozenset(
    {"take", "took", "taken", "collect", "collected", "earn", "earned", "spend", "spent", "cost", "raise"}
)
_FIRST = frozenset({"first", "order"})
_BEFORE_LIMITS = (["which"], ["what"], ["the"], ["our"], ["name"])
# How far from a number the word may stand that says what is compared.
_REACH = 4
_NEAR_BY = 2
_NAMED = 0.4
_FEW_RANKS = 20
_RANKS = ORDINALS | {"first": 1}
_ENDINGS = ("st", "nd", "rd", "th")
_ENDS_OF_NEGATION = ("REL", "AND", "EACH", "NEG")


@dataclass(frozen=True, slots=True)
class NumberTest:
    place: int
    operator: str
    low: float
    high: float | None
    heads: Places
    """The words that say what the number is of, the nearest first."""
    unit: str = ""
    """The word after the number: kg, times."""
    unscaled: float = 0.0
    """The number without the "million" after it: a column may count millions without saying so."""


@dataclass(frozen=True, slots=True)
class Ranking:
    cue: Cue
    limit: int
    heads: Places
    """The words that may say by what rows are ranked: the superlative itself, and those after it."""
    sorts_all: bool
    """Asks for an order ("highest first"), not for the first rows."""
    falls: bool = False
    """The biggest drop, the biggest loss: of a change or a profit, the lowest."""


@dataclass(frozen=True, slots=True)
class EverydayRequest:
    question: DatedScene
    options: WordOptions
    asked: Asked
    subject: int | None
    """The place of the noun that the question is about."""
    groups: tuple[Places, ...]
    numbers: tuple[NumberTest, ...]
    ranking: Ranking | None
    negations: tuple[Places, ...]
    """For each negation the words in its scope."""
    negated_values: frozenset[int]
    """Places of values in the scope of a negation."""
    compares: bool
    """Values or periods are set against each other."""
    trend: bool
    unit: str | None
    """A day, month or year that is asked for: the hottest day, which month."""

    @property
    def negated(self) -> Places:
        """Words in the scope of a negation."""
        return tuple(place for scope in self.negations for place in scope)

    @property
    def against_average(self) -> Cue | None:
        """Above average, longer than the average: the comparison, if it is with an average."""
        return next(iter(_yardsticks(self.question)), None)

    def compared_row(self, table: int) -> ValueMention | None:
        """Happier than *the USA*: the row that others are compared with. Two of them are compared with each other."""
        words, names = self.question.words, self.question.schema.tables[table].row_names
        if "than" not in words or len(self.question.values) > 1:
            return None
        than = words.index("than")
        after = [value for value in self.question.values if than < value.start <= than + 2]
        return next((one for value in after for one in self.question.rivals(value) if one.column in names), None)

    @property
    def sets_apart(self) -> bool:
        """Says that what is named is set side by side: vs, compare."""
        return not COMPARING_WORDS.isdisjoint(self.question.words)

    @property
    def is_fragment(self) -> bool:
        """Names rows without a question word or verb: "rides to the airport". Who types this may want to see them, or
        to know how many there are."""
        return not _ASKING.intersection(self.question.words[:2]) and self.question.cue("VERB") is None

    @property
    def asks_which_period(self) -> bool:
        """Which weekday has the most: the period is what is asked for, not "each" of them."""
        return bool(self.question.spans("bucket")) and self.question.cue("EACH", "BY") is None

    @property
    def content(self) -> list[int]:
        return sorted(self.options.by_place)


def request_of(question: DatedScene, options: WordOptions) -> EverydayRequest:
    groups = _groups(question, options)
    grouped = {place for places in groups for place in places}
    numbers = _number_tests(question, options)
    negations, negated_values = _negations(question, options)
    words = set(question.words)
    return EverydayRequest(
        question=question,
        options=options,
        asked=_asked(question, options),
        subject=_subject(question, options, grouped),
        groups=groups,
        numbers=numbers,
        ranking=_ranking(question, options),
        negations=negations,
        negated_values=negated_values,
        compares=not words.isdisjoint(COMPARING_WORDS)
        or (question.words[-2:-1] == ["each"] or question.words[-1:] == ["each"])
        or (question.cue("EITHER") is not None and bool(words & {"more", "less", "better", "bigger", "who", "which"})),
        unit=_unit_asked_for(question),
        trend=not words.isdisjoint(_TRENDS)
        or (not words.isdisjoint(_TREND_WORDS) and bool({"year", "years", "time", "month", "months"} & words)),
    )


def _unit_asked_for(question: DatedScene) -> str | None:
    for place, word in enumerate(question.words):
        before = question.words[max(0, place - 1) : place]
        after_cue = any(cue.end == place and cue.tag in (*EXTREMES, "WH") for cue in question.scene.cues)
        if word in _UNITS_OF_TIME and (after_cue or before in (["which"], ["what"])):
            return _UNITS_OF_TIME[word]
    return None


def _asked(question: DatedScene, options: WordOptions) -> Asked:
    words = set(question.words)
    if _asks_for_a_share(question) or "%" in words or _asks_for_a_rate(question, options):
        return "share"
    if not words.isdisjoint(_GAPS) and question.cue("MAX") and (question.cue("MIN") or question.cue("BETWEEN")):
        return "gap"
    if (question.cue("AVG") or not words.isdisjoint(TYPICAL)) and not _is_yardstick(question):
        return "avg"
    if "median" in words:
        return "median"
    if question.cue("COUNT"):
        return "count"
    if question.cue("SUM", "MUCH") or not words.isdisjoint(_ADDED_UP) or _asks_for_takings(question):
        return "sum"
    return "rows"


def _asks_for_takings(question: DatedScene) -> bool:
    """What did we take in April, what has it cost us."""
    return question.words[:2] in _WHAT_DID and not _TAKING.isdisjoint(question.words)


def _is_yardstick(question: DatedScene) -> bool:
    """Above average: the average is what others are compared with."""
    return bool(_yardsticks(question))


def _yardsticks(question: DatedScene) -> list[Cue]:
    averages = question.cues("AVG")
    return [cue for cue in question.cues("GT", "LT") if any(0 <= mean.start - cue.end <= _NEAR_BY for mean in averages)]


def _asks_for_a_share(question: DatedScene) -> bool:
    """What percent; "over 20 percent" is a number with its unit."""
    tokens = question.scene.tokens
    return any(cue.start == 0 or tokens[cue.start - 1].value is None for cue in question.cues("SHARE"))


def _asks_for_a_rate(question: DatedScene, options: WordOptions) -> bool:
    """The pass rate is a share, and so is the cancellation rate, if something is cancelled; the rate of a room is a
    column."""
    named = {place for mention in question.columns() for place in range(mention.start, mention.end)}
    for place, word in enumerate(question.words):
        before = options.by_place.get(place - 1, {})
        state = any(element.kind == "value" and chance >= _NAMED for element, chance in before.items())
        if word == "rate" and (place not in named or state):
            return True
    return False


def _subject(question: DatedScene, options: WordOptions, grouped: set[int]) -> int | None:
    count = question.cue("COUNT")
    start = count.end if count is not None else 0
    content = [place for place in sorted(options.by_place) if place >= start and place not in grouped]
    nouns = [place for place in content if question.words[place] not in CONNECTING_VERBS]
    return next(iter(nouns or content), None)


def _groups(question: DatedScene, options: WordOptions) -> tuple[Places, ...]:
    """What stands after "by", "per" and "each", up to the next cue."""
    found: list[Places] = []
    ranked = question.cue(*EXTREMES) is not None
    for cue in question.cues("EACH", "BY"):
        if question.words[cue.start : cue.end] == ["for", "all"]:
            continue
        # "The top 3 by revenue" ranks by revenue.
        if cue.tag == "BY" and ranked and not question.cue("AVG", "SUM", "COUNT", "MUCH"):
            continue
        places = _run(question, options, cue.end)
        if places:
            found.append(places)
            while question.words[places[-1] + 1 : places[-1] + 2] in (["and"], [","]):
                places = _run(question, options, places[-1] + 2)
                if not places:
                    break
                found.append(places)
    return tuple(found)


def _run(question: DatedScene, options: WordOptions, start: int) -> Places:
    """The content words from here on, at most two, with an article before them."""
    while question.words[start : start + 1] and question.words[start] in ("the", "our", "a", "of", "number", "count"):
        start += 1
    places: list[int] = []
    while start in options.by_place and len(places) < 2:
        places.append(start)
        start += 1
    if len(places) == 2 and not _is_one_name(options, *places):
        places.pop()
    return tuple(places)


def _is_one_name(options: WordOptions, first: int, second: int) -> bool:
    """Whether both words name the same: "card type"."""
    both = options.by_place[first].keys() & options.by_place[second].keys()
    return any(options.chance(second, element) >= 0.4 for element in both)


def _number_tests(question: DatedScene, options: WordOptions) -> tuple[NumberTest, ...]:
    places = question.free_numbers
    ranges = _ranges(question, places)
    rankings = question.cues(*EXTREMES)
    found = []
    for place in places:
        number = question.scene.tokens[place].value
        if number is None or any(place == high for _, high in ranges) or _is_scale(question, place):
            continue
        if _is_pronoun(question, place):
            continue
        if any(_is_limit(question, ranking, place) for ranking in rankings):
            continue
        high = next((second for first, second in ranges if first == place), None)
        low, scale = float(number), _scale_after(question, place)
        top = None
        if high is not None:
            scale = max(scale, _scale_after(question, high))
            top = float(question.scene.tokens[high].value or 0) * _scale_after(question, high)
        operator = "between" if high is not None else _operator(question, place)
        heads = _heads(question, options, place, high if high is not None else place)
        unit = (question.words[place + 1 : place + 2] or [""])[0]
        found.append(NumberTest(place, operator, low * scale, top, heads, unit, low))
    return (*found, *_single_spans(question, options), *_ordinals(question, options))


def _operator(question: DatedScene, place: int) -> str:
    """Finds the comparison also where it stands far from its number: "fewer high school graduates than 80"."""
    found = comparison_at(question.scene, place)
    if found == "=" and question.words[place - 1 : place] == ["than"]:
        before = [cue for cue in question.cues("GT", "LT") if cue.start < place]
        return OPERATORS[before[-1].tag] if before else ">"
    return found


def _single_spans(question: DatedScene, options: WordOptions) -> Iterator[NumberTest]:
    """Longer than *a month*, over *an hour*."""
    for cue in question.cues("GT", "LT", "GE", "LE"):
        article, *unit = question.words[cue.end : cue.end + 2] or [""]
        if article in ("a", "an") and unit and unit[0] in SPANS and cue.end not in question.time_places:
            heads = _heads(question, options, cue.end, cue.end + 1)
            yield NumberTest(cue.end, OPERATORS[cue.tag], 1.0, None, heads, unit[0], 1.0)


def _ordinals(question: DatedScene, options: WordOptions) -> Iterator[NumberTest]:
    """Passengers in *third* class, *9th* graders: the number of a column that the next word names."""
    for place, word in enumerate(question.words[:-1]):
        number = _RANKS.get(word) or (int(word[:-2]) if word[:-2].isdigit() and word[-2:] in _ENDINGS else None)
        if number is None or place in question.time_places or place in question.value_places:
            continue
        columns = [
            question.schema.columns[element.id]
            for element, chance in options.by_place.get(place + 1, {}).items()
            if element.kind == "column" and chance >= (_NAMED if word != "first" else 1.0)
        ]
        if any(
            view.numeric
            and not (view.key or view.foreign or view.looks_like_id)
            and (view.source.distinct_count or 0) <= _FEW_RANKS
            for view in columns
        ):
            yield NumberTest(place, "=", float(number), None, (place + 1,), unscaled=float(number))


def _is_pronoun(question: DatedScene, place: int) -> bool:
    """The lightest fire *one*: "one" is a number after a comparison, after "only", and before what is counted."""
    if question.words[place] != "one" or comparison_at(question.scene, place) != "=":
        return False
    counted = question.words[max(0, place - 1) : place] in (["only"], ["just"], ["exactly"])
    after = place + 1
    named = any(mention.start == after for mention in (*question.scene.links.tables, *question.scene.links.columns))
    return not counted and not named


def _is_scale(question: DatedScene, place: int) -> bool:
    return question.words[place] in SCALES and place > 0 and question.scene.tokens[place - 1].value is not None


def _scale_after(question: DatedScene, place: int) -> int:
    return SCALES.get((question.words[place + 1 : place + 2] or [""])[0], 1)


def _ranges(question: DatedScene, places: Sequence[int]) -> list[tuple[int, int]]:
    found = []
    for place in places:
        # From 2 to 7, 20-30.
        if question.words[place + 1 : place + 2] in (["to"], ["-"]) and place + 2 in places:
            found.append((place, place + 2))
    for cue in question.cues("BETWEEN"):
        after = [place for place in places if cue.end <= place <= cue.end + 5 and not _is_scale(question, place)]
        if len(after) >= 2:
            found.append((after[0], after[1]))
    return found


def _heads(question: DatedScene, options: WordOptions, first: int, last: int) -> Places:
    """The content words after the number, then those before it: more than 10 *albums*, *older* than 60."""
    after = [
        place for place in range(last + 1, min(last + 1 + _REACH, len(question.words))) if place in options.by_place
    ]
    before = [place for place in range(first - 1, max(-1, first - 1 - _REACH), -1) if place in options.by_place]
    return (*after[:2], *before[:2])


def _is_limit(question: DatedScene, cue: Cue, place: int) -> bool:
    """Top 5, the 3 biggest: how many rows, not a condition."""
    near = place == cue.end or place == cue.start - 1 or question.words[place - 1 : place] in _BEFORE_LIMITS
    return near and comparison_at(question.scene, place) == "=" and isinstance(question.scene.tokens[place].value, int)


def _ranking(question: DatedScene, options: WordOptions) -> Ranking | None:
    ordinals = {test.place for test in _ordinals(question, options)}
    all_cues = [cue for cue in question.cues(*EXTREMES) if cue.start not in ordinals]
    if not all_cues:
        all_cues = _other_superlatives(question)
    order = next((cue for cue in all_cues if _says_order(question, cue)), None)
    cues = [cue for cue in all_cues if cue is not order and (order is None or cue.start != order.end)]
    cue = cues[0] if cues else order
    if cue is None:
        return None
    numbers = [place for place in question.free_numbers if any(_is_limit(question, one, place) for one in all_cues)]
    limit = int(question.scene.tokens[numbers[0]].value or 1) if numbers else 1
    after = [place for place in range(cue.end, len(question.words)) if place in options.by_place]
    before = [place for place in range(cue.start - 1, -1, -1) if place in options.by_place]
    by = [place for one in question.cues("BY") for place in _run(question, options, one.end)]
    heads = tuple(dict.fromkeys([*range(cue.start, cue.end), *by, *after, *before]))
    falls = not _FALLS.isdisjoint(question.words[cue.end : cue.end + 2])
    return Ranking(cue, limit, heads, sorts_all=not cues, falls=falls)


def _other_superlatives(question: DatedScene) -> list[Cue]:
    """The favourite workout, which most rows have; the deadliest year: any word that ends like a superlative."""
    found = [Cue("COMMON", place, place + 1) for place, word in enumerate(question.words) if word in _FAVOURITES]
    found += [
        Cue("MIN" if word in LOW_POINTS else "MAX", place, place + 1)
        for place, word in enumerate(question.words)
        if is_superlative(word) and place not in question.value_places
    ]
    return found[:1]


def _says_order(question: DatedScene, cue: Cue) -> bool:
    """Highest first, oldest first."""
    return cue.end > 1 and (question.words[cue.end : cue.end + 1] or [""])[0] in _FIRST


def _negations(question: DatedScene, options: WordOptions) -> tuple[tuple[Places, ...], frozenset[int]]:
    scopes: list[Places] = []
    values: set[int] = set()
    for cue in question.cues("NULL"):
        scopes.append(tuple(place for place in range(cue.start - 3, cue.end + 3) if place in options.by_place))
    for cue in question.cues("NEG"):
        # The status "no show" negates nothing.
        if cue.start in question.value_places:
            continue
        ends = [one.start for one in question.scene.cues if one.start >= cue.end and one.tag in _ENDS_OF_NEGATION]
        commas = [place for place in range(cue.end, len(question.words)) if question.words[place] == ","]
        end = min((*ends, *commas), default=len(question.words))
        scopes.append(tuple(place for place in range(cue.end, end) if place in options.by_place))
        values |= {value.start for value in question.values if cue.end <= value.start < max(end, cue.end + 3)}
    return tuple(scopes), frozenset(values)
