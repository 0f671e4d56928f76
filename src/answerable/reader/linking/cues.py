"""Cues: the phrases of a question that say what to do rather than what about."""

from collections import defaultdict
from typing import Literal

from answerable.core.records import dataclass
from answerable.reader.linking.tokens import QuestionToken

_PHRASES: dict[str, str] = {
    "COUNT": "how many|number of|numbers of|count of|count the number of|count|the number|total number of|quantity of",
    "MUCH": "how much",
    "AVG": "average|averages|avg|mean|on average",
    "SUM": "total|totals|sum|sum of|combined|overall|altogether",
    "MAX": "maximum|max|highest|largest|biggest|greatest|longest|latest|tallest|heaviest|top|best|highest number of|"
    "most recent|"
    "most recently|newest|most expensive|fastest|strongest|farthest|furthest|last|richest|busiest|largest number of|"
    "priciest|dearest|costliest|hottest|warmest|wettest|rainiest|windiest|happiest|brightest|deepest|widest|fattest|"
    "most crowded|most populous|most valuable|best paid|best selling|best rated|highest paid|highest rated",
    "MIN": "minimum|min|lowest|smallest|shortest|earliest|cheapest|bottom|worst|first|least expensive|slowest|"
    "sparsest|nearest|"
    "closest|lightest|weakest|poorest|lowest number of|smallest number of|newest|quietest|coldest|coolest|driest|"
    "harshest|narrowest|thinnest|least crowded|worst rated|worst paid|lowest paid|lowest rated",
    "OLD": "oldest",
    "YOUNG": "youngest",
    "MOST": "most|maximum number of|greatest number of|most number of|more than any other",
    "LEAST": "fewest|least|least number of|minimum number of|smallest number of",
    "COMMON": "most common|most frequent|most frequently|most popular|most often|most commonly|most used",
    "RARE": "least common|least popular|least frequent|least frequently|least often|least commonly",
    "EACH": "each|every|per|for each|of each|by each|in each|for every|for all|grouped by|group by|broken down by|"
    "each of|of every|split by|different kinds of|for different",
    "SORT": "sorted by|order by|ordered by|sort by|in order of|ranked by|sorted|ordered|order|sort|arranged by|arrange|"
    "in the order of|listed by|in order|sort them by|order them by|sorted in|ordered in|sorting by|rank",
    "ASC": "ascending|ascending order|alphabetical|alphabetically|lexicographical|lexicographically|lexicographic|"
    "increasing|from low to high|from lowest to highest|from oldest to youngest|alphabetic|from least to most|"
    "in alphabetical order|in ascending order|smallest to largest|from early to late|from the earliest to the latest",
    "DESC": "descending|descending order|decreasing|from high to low|from highest to lowest|reverse|from most to least|"
    "in descending order|reverse alphabetical|from the most to the least|from youngest to oldest|largest to smallest|"
    "from late to early|in reverse alphabetical order|from newest to oldest",
    "REL": "whose|who|that|where|with|having|such that|for which|in which|to which|when|if|with the|who have|who has|"
    "that have|that has|which have|which has",
    "NEG": "not|no|never|without|except|excluding|other than|neither|nor|don't|doesn't|hasn't|haven't|isn't|aren't|"
    "didn't|cannot|can't|wasn't|weren't|do not|does not|did not|have not|has not|are not|is not|was not|not have|"
    "do not have|does not have|did not have|not any|do not have any|don't have|don't have any|but not|has no|have no|"
    "rather than|apart from|besides|hadn't|won't|no longer|outside|instead of|exclude|none|nobody|no one|nothing|"
    "not a single|anywhere other than|anything but|anywhere but|everything but|everyone but|all but|aside from|non",
    "BOTH": "both|as well as|and also|also|not only|but also",
    "EITHER": "either|or",
    "AND": "and|&|but|along with|together with",
    "GT": "more than|greater than|larger than|higher than|older than|longer than|above|over|after|exceeding|exceeds|"
    "exceed|bigger than|taller than|heavier than|later than|better than|earns more than|costs more than|beyond|"
    "pricier than|dearer than|costlier than|warmer than|hotter than|richer than|faster than|busier than|deeper than|"
    "wider than|worth more than|strictly more than|higher|larger|greater|bigger|longer|older|since|surpass|"
    "surpasses",
    "LT": "less than|lower than|smaller than|younger than|fewer than|under|below|before|shorter than|cheaper than|"
    "earlier than|lighter than|colder than|cooler than|quieter than|poorer than|narrower than|worse than|"
    "lower|smaller|fewer|younger|shorter|earlier|until|prior to|slower than",
    "GE": "or better|or after|at least|no less than|no fewer than|not less than|or more|or above|or higher|or later|"
    "or greater|greater than or equal to|more than or equal to|minimum of|a minimum of|at minimum|or over|"
    "or older|and above",
    "LE": "or before|at most|no more than|not more than|up to|or less|or fewer|or below|or lower|less than or equal to|"
    "or under|smaller than or equal to|a maximum of|or earlier|maximum of|or younger|and below",
    "ONCE": "more than once|more than one time|multiple|several|repeatedly",
    "EQ": "exactly|equal to|equals|equal|exact",
    "BETWEEN": "between|in the range|ranging from|ranges from|from between|range",
    "LIKE": "contains|containing|contain|contained|includes|including|include|substring|like|the word|the letter|"
    "letter|with the word|"
    "the substring|the string|has the word|the phrase|in part|included|the keyword|letters|word|string|"
    "the letters|phrase|the words",
    "STARTS": "starts with|start with|begins with|begin with|beginning with|starting with|prefix|started with|starts|"
    "with the prefix|the prefix|initial",
    "ENDS": "ends with|end with|ending with|ending in|ends in|suffix|finishing with|the suffix|ends",
    "DISTINCT": "distinct|different|unique|various",
    "THAN": "than",
    "NULL": "missing|null|empty|blank|unknown|unspecified",
    "SAME": "same|the same|shared by|in common|share",
    "DIFFER": "difference|the difference|difference between|differ",
    "SHARE": "percentage|percent|share|proportion|ratio|fraction|percentage of|share of|proportion of|what share of|"
    "what part of|what fraction of",
    "GROW": "grew|growth|grown|grow|increase|increased|rise|rose|growing|grows",
    "WH": "what|which|who|whom|how|what are|what is|which are|who are|who is|what were|what was",
    "VERB": "list|show|find|give|return|tell|display|get|provide|present|report|give me|show me|tell me|state|select|"
    "identify|compute|calculate|please|i want|describe",
    "OF": "of",
    "FOR": "for",
    "IN": "in|on|at|into|within|inside|located in|from|to|through",
    "BY": "by|according to|based on",
    "BE": "is|are|was|were|be|been|being|do|does|did|have|has|had|can|will|would|could|there",
    "THE": "the|a|an|all|any|some|this|these|those|its|their|his|her|our|my|them|it|they|me|us|you|i|we|your|both the",
    "RESPECT": "respectively|corresponding|respective|together|along",
}
WEAK = frozenset(
    {"OF", "FOR", "IN", "BY", "BE", "THE", "WH", "VERB", "AND", "O", "SAME", "NULL", "SHARE", "GROW", "DIFFER"}
)
"""Tags that a link to the data may replace."""

# The number of a tag is a position in the feature vectors, so another order needs new weights.
TAGS = (*_PHRASES, "NUM", "QUOTE", "DATE", "VAL", "TAB", "COL", "MARK", "COMMA", "O", "NONE")
TAG_IDS = {tag: number for number, tag in enumerate(TAGS)}

ComparisonOperator = Literal["=", "!=", "<", "<=", ">", ">="]
OPERATORS: dict[str, ComparisonOperator] = {"GT": ">", "LT": "<", "GE": ">=", "LE": "<=", "EQ": "="}


@dataclass(frozen=True, slots=True)
class Cue:
    tag: str
    start: int
    end: int


def _table() -> dict[str, list[tuple[tuple[str, ...], str]]]:
    table: dict[str, list[tuple[tuple[str, ...], str]]] = defaultdict(list)
    for tag, phrases in _PHRASES.items():
        for phrase in phrases.split("|"):
            words = tuple(phrase.split())
            table[words[0]].append((words, tag))
    for options in table.values():
        # The longest phrase first: "more than once" before "more than". The sort is stable, so of equal phrases the
        # first tag wins.
        options.sort(key=lambda option: -len(option[0]))
    return dict(table)


_BY_FIRST_WORD = _table()


def cue_words() -> frozenset[str]:
    return frozenset(word for options in _BY_FIRST_WORD.values() for phrase, _ in options for word in phrase)


def find_cues(tokens: tuple[QuestionToken, ...]) -> list[Cue]:
    """The cues from left to right; of overlapping ones the longest."""
    words = [token.lower if token.kind in ("word", "mark") else "" for token in tokens]
    cues = []
    place = 0
    while place < len(words):
        cue = _cue_at(words, place)
        if cue is None:
            place += 1
        else:
            cues.append(cue)
            place = cue.end
    return cues


_COMPARATIVES = {"more": "GT", "less": "LT", "fewer": "LT"}


def _cue_at(words: list[str], place: int) -> Cue | None:
    # "No. 1" is a number, no negation.
    if words[place : place + 3] == ["no", ".", ""]:
        return None
    # "More orders than": the noun stands between the two words of the comparison.
    if words[place] in _COMPARATIVES and words[place + 2 : place + 3] == ["than"]:
        return Cue(_COMPARATIVES[words[place]], place, place + 1)
    for phrase, tag in _BY_FIRST_WORD.get(words[place], ()):
        if tuple(words[place : place + len(phrase)]) == phrase and not _starts_another(words, place, phrase):
            return Cue(tag, place, place + len(phrase))
    return None


def _starts_another(words: list[str], place: int, phrase: tuple[str, ...]) -> bool:
    """Over 8 or under 5: `or under` ends a comparison only where no number follows, and numbers have no word here."""
    after = place + len(phrase)
    return phrase[0] in ("or", "and") and len(phrase) > 1 and words[after : after + 1] == [""]


FUNCTION_TAGS: dict[str, tuple[str, ...]] = {
    "avg": ("AVG",),
    "sum": ("SUM", "MUCH"),
    "max": ("MAX", "OLD", "MOST", "YOUNG"),
    "min": ("MIN", "YOUNG", "LEAST", "OLD"),
    "count": ("COUNT",),
}
"""For each aggregate function the cues that ask for it, the usual one first."""
EXTREMES = ("MAX", "MIN", "OLD", "YOUNG", "MOST", "LEAST", "COMMON", "RARE")
