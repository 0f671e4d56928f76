"""English words that say what a sentence claims: which end, which direction, which comparison, how many of all."""

import re


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Cues: words that say what a number is meant to be. Without them, sums and differences are not considered.
TOTAL = _set("total totals totalling sum together altogether combined overall all whole add adds cover covers across")
MEAN = _set("average averages averaged averaging mean avg")
MEDIAN = _set("median")
LESS = _set(
    "fell fall falls falling drop drops dropped decrease decreased decreases decline declined declines down lower less "
    "lost loss losses fewer shrank shrunk reduced reduction minus below behind negative worse lags trails early "
    "shorter smaller cheaper lighter slipped slid sank tumbled plunged plummeted dipped shed contracted collapsed "
    "short shy colder cooler"
)
MORE = _set(
    "rose rise rises rising grew grow grows growth increase increased increases up higher more gain gained gains above "
    "ahead exceeds exceeded positive better leads beats beat added longer larger bigger heavier taller climbed climbs "
    "jumped soared surged rebounded expanded advanced milder warmer hotter faster slower"
)
BETWEEN = _set("difference gap apart change changed between spread range differs differ")
COUNTED = _set("row rows result results record records entry entries item items group groups match matches")
NARROWING = _set(
    "in since from to until till during before after by than top first last past bottom least most over under above "
    "below between within of for at"
)
PERIOD_WORDS = _set("in since from to until till during of for and between through after before year")
HIGHER = _set(
    "more higher longer larger heavier greater bigger later newer taller dearer wetter warmer denser steeper "
    "stronger hotter busier richer"
)
"""Comparatives that put their subject above; the others put it below."""
YES_OR_NO = _set("is are was were did do does has have had can could will would should")
NEGATIONS = _set("no none nothing nobody not never neither without zero empty cannot n't nowhere")

# Directions: verbs of change. "Lost" and "gained" also go with superlatives: "lost the most".
ROSE = _set(
    "rose rise rises rising grew grow grows growing increased increases increase gained gains gain climbed climbs "
    "improved jumped went-up added soared surged rebounded expanded advanced swelled climb risen grown"
)
FELL = _set(
    "fell fall falls falling dropped drops drop decreased decreases decrease declined declines decline lost loses lose "
    "shrank shrink shrinks shrunk slipped sank shed slid tumbled plunged plummeted dipped contracted collapsed "
    "fallen"
)

UP, DOWN, EITHER = 1, -1, 0
SIGNS = {
    UP: re.compile(
        r"\b(?:positive(?:ly)?|ma[dk]es? (?:a|any) profit|(?:is|are|was|were) profitable|in the black)\b", re.I
    ),
    DOWN: re.compile(
        r"\b(?:negative(?:ly)?|in the red|los(?:t|es|e|ing) money|ma[dk]es? (?:a|any) loss|unprofitable)\b", re.I
    ),
}
"""What is said of a quantity above and below zero."""
PUNCTUALITY = {
    UP: re.compile(r"\b(?:late|behind schedule)\b(?! \w+s\b)", re.I),
    DOWN: re.compile(r"\b(?:early|ahead of (?:schedule|time)|before (?:schedule|time))\b", re.I),
}
"""What is said of a delay above and below zero."""
DELAYS = ("delay", "lateness")
MAGNITUDES = _set("correlation correlations corr coefficient coefficients spearman pearson loading effect residual")
"""Columns whose size counts without its sign: the strongest correlation may be negative."""

MOVEMENTS = {"growth": UP, "increase": UP, "gain": UP, "rise": UP, "decline": DOWN, "decrease": DOWN, "drop": DOWN}
MOVEMENTS |= {"loss": DOWN, "fall": DOWN}
"""Nouns of change: “the strongest growth” orders the changes of the rows, not their values."""

LOSSES = _set("loss losses lost decline declines drop drops decrease decreases fall below shortfall")
CHANGES = LOSSES | _set("change changes difference diff delta growth gain gains increase increases rise above")
"""Words of columns that tell how much something changed; the first, that it became less."""
AT_FIRST = _set("first start opening before old initial previous earlier")
AT_LAST = _set("last end closing after new final current latest later")
NAME_STARTS = _set("new north south east west united san los saint st great royal national")
"""Words that begin so many names that they stand for none alone."""
NO_SUPERLATIVES = _set(
    "interest forest west northwest southwest midwest rest test latest request guest honest modest invest suggest "
    "harvest contest protest arrest chest quest priest digest manifest earnest conquest"
)
"""Words that end as superlatives do."""
SUPERLATIVES: dict[str, tuple[int, tuple[str, ...]]] = {
    "highest": (UP, ()),
    "largest": (UP, ()),
    "biggest": (UP, ()),
    "greatest": (UP, ()),
    "strongest": (UP, ("correlation", "coefficient", "spearman", "pearson")),
    "maximum": (UP, ()),
    "peaked": (UP, ()),
    "bottomed": (DOWN, ()),
    "leads": (UP, ()),
    "tops": (UP, ()),
    "lowest": (DOWN, ()),
    "smallest": (DOWN, ()),
    "weakest": (DOWN, ("correlation", "coefficient", "spearman", "pearson")),
    "fewest": (DOWN, ()),
    "rarest": (DOWN, ()),
    "minimum": (DOWN, ()),
    "trails": (DOWN, ()),
    "best": (EITHER, ("score", "star", "rating", "satisfaction", "salary", "revenue")),
    "worst": (EITHER, ()),
    "heaviest": (UP, ("mass", "weight")),
    "lightest": (DOWN, ("mass", "weight")),
    "longest": (UP, ("length", "duration", "hours", "minutes", "time", "flipper")),
    "shortest": (DOWN, ("length", "duration", "hours", "minutes", "time", "flipper")),
    "tallest": (UP, ("height", "altitude")),
    "cheapest": (DOWN, ("price", "cost")),
    "dearest": (UP, ("price", "cost")),
    "priciest": (UP, ("price", "cost")),
    "wettest": (UP, ("precipitation", "rain", "rainfall")),
    "driest": (DOWN, ("precipitation", "rain", "rainfall")),
    "warmest": (UP, ("temp", "temperature")),
    "hottest": (UP, ("temp", "temperature")),
    "coldest": (DOWN, ("temp", "temperature")),
    "deadliest": (UP, ("deaths", "killed")),
    "fastest": (EITHER, ("speed", "hours", "minutes", "time", "duration")),
    "slowest": (EITHER, ("speed", "hours", "minutes", "time", "duration")),
    "busiest": (UP, ()),
    "newest": (UP, ("date",)),
    "latest": (UP, ("date",)),
    "oldest": (DOWN, ("date",)),
    "earliest": (DOWN, ("date",)),
    "youngest": (UP, ("date",)),
}
"""Word: which end of the order it names, and words of the columns that it speaks of. No words: any column."""

DATED = _set("newest latest oldest earliest youngest recent")
"""Superlatives about dates; the others are about quantities."""

CONCEPTS: dict[str, tuple[str, ...]] = {
    "populous": ("population",),
    "profitable": ("profit", "profits"),
    "expensive": ("price", "cost"),
    "dense": ("density",),
    "people": ("population", "capacity"),
    "inhabitants": ("population",),
    "heavier": ("mass", "weight"),
    "lighter": ("mass", "weight"),
    "longer": ("length", "flipper", "hours", "delay", "duration", "time"),
    "shorter": ("length", "flipper", "hours", "delay", "duration", "time"),
    "dearer": ("price", "cost"),
    "cheaper": ("price", "cost"),
    "cost": ("price", "cost"),
    "wetter": ("precipitation", "rain", "rainfall"),
    "drier": ("precipitation", "rain", "rainfall"),
    "warmer": ("temp", "temperature"),
    "hotter": ("temp", "temperature", "hottest"),
    "cooler": ("temp", "temperature"),
    "colder": ("temp", "temperature"),
    "denser": ("density",),
    "costs": ("price", "cost"),
    "residents": ("population",),
    "employees": ("staff", "employees"),
    "employs": ("staff", "employees"),
    "sells": ("price",),
    "priced": ("price",),
    "earns": ("salary", "profit", "profits", "revenue"),
    "earned": ("salary", "profit", "profits", "revenue"),
    "paid": ("salary", "revenue"),
    "pupils": ("enrollment", "enrolment"),
    "students": ("enrollment", "enrolment"),
    "seats": ("capacity",),
    "holds": ("capacity",),
    "killed": ("deaths",),
    "weigh": ("mass", "weight"),
    "weighs": ("mass", "weight"),
    "scores": ("score",),
    "share": ("share", "percent", "percentage", "pct", "rate"),
    "percentage": ("percentage", "percent", "pct", "share", "rate"),
    "rate": ("rate", "percent", "percentage", "pct", "share"),
    "earlier": ("delay", "lateness"),
    "later": ("delay", "lateness"),
    "late": ("delay", "lateness"),
    "early": ("delay", "lateness"),
}
"""Words of speech, and words of the columns that they speak of, the likeliest first."""

COUNTABLE = _set("common frequent popular")
"""What is most common has the highest count, not the highest amount."""

ORDINALS = {"first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8}
RANK = re.compile(
    r"\b(?:(?:is|are|was|were|ranks?|ranked|comes?|came|in|placed) (?P<word>second|third|fourth|fifth|sixth|seventh"
    r"|eighth|last)\b(?!\s+(?:quarter|half|of|time|year|month))"
    r"|(?P<digit>[2-9])(?:nd|rd|th) (?:place|position)"
    r"|(?P<before>second|third|fourth|fifth)[- ](?P<end>highest|largest|biggest|most|wettest|longest|best|lowest"
    r"|smallest|fewest|shortest|cheapest))",
    re.IGNORECASE,
)

BOUND = re.compile(
    r"(?P<at_least>at least|no (?:less|fewer) than|not (?:less|fewer) than|≥)"
    r"|(?P<at_most>at most|(?<!add )(?<!adds )(?<!added )(?<!adding )(?<!come )(?<!comes )(?<!came )up to"
    r"|no more than|not more than|≤)"
    r"|(?P<above>(?<!no )(?:more|longer|higher|larger|greater|bigger|heavier|later|older|taller) than|over|above"
    r"|exceed(?:s|ed|ing)?(?: an? [\w ]{1,20} of)?|with an? [\w ]{1,20} (?:over|above)"
    r"|topp(?:ed|ing)|tops|beyond|after|>)"
    r"|(?P<below><|(?<!no )(?:less|fewer|shorter|lower|smaller|lighter|earlier|younger) than|under|below|before)",
    re.IGNORECASE,
)
"""Words before a number that make it a bound rather than a value."""
HEDGE = re.compile(
    r"(?P<any>about|around|roughly|approximately|some|circa|close to|almost the same \w+,|~|≈)"
    r"|(?P<just_above>just over|a little over|slightly over|slightly more than|just above|a bit over)"
    r"|(?P<just_below>nearly|almost|just below|just under|a little under|slightly less than|not quite)",
    re.IGNORECASE,
)

COMMON_STARTS = _set(
    "a an the this that these those it its they their there here we you he she i one two three four five six seven "
    "eight nine ten eleven twelve both each every all none no nobody nothing neither either any some most many few "
    "several only just about around roughly approximately nearly almost over under more less fewer at in on of for "
    "from to by with within between among across since until during before after while when where which who "
    "what how and or "
    "but so yet if as than then also however overall total average median altogether together combined compared half "
    "twice sales revenue turnover income profit growth demand performance business spending cost costs price prices "
    "volume traffic usage activity customers users people orders values value results result rows data numbers number "
    "figures figure counts count records rank ranking next last first second third finally still even please yes not "
    "nowhere everyone everybody everything something someone salaries wages rain rainfall weather temperature "
    "temperatures time times days months years quarters today note based according given looking considering despite "
    "although though because adding taking meanwhile notably interestingly clearly unfortunately answer summary best "
    "worst highest lowest largest smallest top bottom step"
)
VERBS = _set(
    "has have had is was are were comes came earns earned made makes make leads led holds held borders fell rose grew "
    "averages averaged measures measured takes took gained lost ended opened brings brought costs cost sells sold "
    "follows followed trails ranks ranked scores scored accounts contributes contributed declined dropped increased "
    "shrank added flies flew employs serves counts covers won wins beats beat joined joins "
    "recorded reached runs ran gets got shows showed saw does did can will went"
)
CAPITALS = _set(
    "i usd eur gbp us uk eu ok id ids sql csv json api url am pm utc gmt jan feb mar apr may jun jul aug sep sept oct "
    "nov dec january february march april june july august september october november december monday tuesday "
    "wednesday thursday friday saturday sunday q1 q2 q3 q4 ytd yoy kpi ceo it hr vat inc ltd co km kg mm cm "
    "mph kwh mw gb mb tb "
    "english mount lake river storm hurricane mr mrs ms dr city county state island hotel university company table "
    "store"
)

DIMENSIONS: dict[str, tuple[str, float]] = {
    **dict.fromkeys(("mm", "millimetre", "millimeter"), ("length", 0.001)),
    **dict.fromkeys(("cm", "centimetre", "centimeter"), ("length", 0.01)),
    **dict.fromkeys(("m", "metre", "meter"), ("length", 1.0)),
    **dict.fromkeys(("km", "kilometre", "kilometer"), ("length", 1000.0)),
    **dict.fromkeys(("mile", "mi"), ("length", 1609.344)),
    **dict.fromkeys(("foot", "feet", "ft"), ("length", 0.3048)),
    **dict.fromkeys(("g", "gram", "gramme"), ("mass", 1.0)),
    **dict.fromkeys(("kg", "kilo", "kilogram"), ("mass", 1000.0)),
    **dict.fromkeys(("tonne", "ton"), ("mass", 1000000.0)),
    **dict.fromkeys(("lb", "pound"), ("mass", 453.59237)),
    **dict.fromkeys(("ms", "millisecond"), ("time", 0.001)),
    **dict.fromkeys(("second", "sec"), ("time", 1.0)),
    **dict.fromkeys(("minute", "min"), ("time", 60.0)),
    **dict.fromkeys(("hour", "hr"), ("time", 3600.0)),
    **dict.fromkeys(("day",), ("time", 86400.0)),
    **dict.fromkeys(("week",), ("time", 604800.0)),
    **dict.fromkeys(("month",), ("time", 2629746.0)),
    **dict.fromkeys(("year",), ("time", 31556952.0)),
    **dict.fromkeys(("dollar", "usd", "eur", "euro", "gbp", "$", "€", "£"), ("money", 1.0)),
}
"""Unit: what it measures, and how many of the smallest common measure it is."""
SCALES = {"thousand": 1e3, "thousands": 1e3, "million": 1e6, "millions": 1e6, "billion": 1e9, "billions": 1e9}

UNDERSTOOD = frozenset(
    {
        *TOTAL,
        *MEAN,
        *MEDIAN,
        *LESS,
        *MORE,
        *BETWEEN,
        *COUNTED,
        *NARROWING,
        *PERIOD_WORDS,
        *HIGHER,
        *NEGATIONS,
        *ROSE,
        *FELL,
    }
    | {*COMMON_STARTS, *VERBS, *CAPITALS, *MOVEMENTS, *SUPERLATIVES, *CONCEPTS, *DIMENSIONS}
    | _set("be been being do did s such own much very far still them him her listed shown found")
    | _set("percent twice times dollars euros grams")
)
"""Words whose part in a sentence is known. A sentence with other words may say more than can be checked."""
