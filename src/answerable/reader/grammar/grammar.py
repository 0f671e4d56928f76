"""The grammar: forms of questions, tried in order.

A form answers only if it accounts for every content word of the question; otherwise the question is left to the fitted
candidates. That makes its readings few and nearly always right.
"""

from collections.abc import Callable

from answerable.core.records import dataclass
from answerable.query.plan import Bucket, ColumnRef, DatePart, Expr, QueryPlan
from answerable.reader.grammar.dated_scene import DatedScene, Parse
from answerable.reader.grammar.everyday_forms import (
    from_lowest_to_highest,
    highest_of_each,
    how_much_of_each,
    how_often,
    one_per_other,
    share_of_part,
    this_or_that,
    trend,
    two_totals,
    where_from,
)
from answerable.reader.grammar.measure_forms import (
    duration,
    growth,
    measure_per_quantity,
    overview,
    share,
    top,
    two_periods,
)
from answerable.reader.grammar.partner_forms import (
    bought_both,
    in_one_period_only,
    more_than_manager,
    never,
    with_many,
    with_most,
)
from answerable.reader.grammar.row_forms import (
    all_rows,
    facts,
    first_rows,
    listing,
    missing_value,
    more_than_average,
    most_common,
    unfinished,
)
from answerable.reader.grammar.selling import OFFERING, verb_of_sale
from answerable.reader.linking.lexicon import GENERIC, STOPWORDS
from answerable.reader.linking.links import ValueMention
from answerable.reader.linking.name_words import split_name
from answerable.reader.plans.joins import NoPath

Form = Callable[[DatedScene], Parse | None]

FORMS: tuple[Form, ...] = (
    more_than_manager,
    bought_both,
    in_one_period_only,
    never,
    unfinished,
    missing_value,
    growth,
    two_periods,
    share,
    share_of_part,
    this_or_that,
    two_totals,
    from_lowest_to_highest,
    one_per_other,
    measure_per_quantity,
    trend,
    where_from,
    how_often,
    how_much_of_each,
    highest_of_each,
    duration,
    more_than_average,
    with_many,
    with_most,
    most_common,
    first_rows,
    top,
    overview,
    listing,
    facts,
    all_rows,
)
"""Special forms come before the general ones: "growth of revenue in 2025" would also be an overview."""

PLAIN_FORMS: frozenset[Form] = frozenset(
    {all_rows, bought_both, with_many, missing_value, most_common, overview, share, top},
)
"""Forms that explain a question as well as the fitted candidates do, even without a measure or a date."""

_FILLER_WORDS = """
get got did make made big high large come up our develop look percent percentage euro euros eur dollars usd
value first compare compared vs versus with still yet single ever nobody take takes days hours day hour total
names name please number place placed pay live lives comes often later anything anywhere everything us here
"""
FILLERS = frozenset(_FILLER_WORDS.split())
"""Words that a form need not account for."""

_WRAPPERS = frozenset({"member", "members", "piece", "range", "list"})

_CUE_TAGS_TO_USE = frozenset(
    [
        "NEG",
        "VAL",
        "SHARE",
        "GROW",
        "COMMON",
        "RARE",
        "MAX",
        "MIN",
        "AVG",
        "SUM",
        "MOST",
        "LEAST",
        "GT",
        "LT",
        "GE",
        "LE",
        "BETWEEN",
        "COUNT",
        "SORT",
        "ASC",
        "DESC",
    ]
)
"""Cues that change the answer: a form must use every one of them."""


@dataclass(frozen=True, slots=True)
class FormParse:
    """The parse of a form that explains the whole question."""

    parse: Parse
    form: Form
    timely: bool
    """The question speaks of a measure or of time, which few other readings could account for."""


def parse_question(question: DatedScene) -> FormParse | None:
    """The first form that explains the whole question."""
    for form in FORMS:
        try:
            parse = form(question)
        except NoPath:
            continue
        if parse is None or unexplained(question, parse.words) or _drops_group(question, parse):
            continue
        timely = is_timely(question, form)
        if timely or not _is_ambiguous(question, parse, form):
            # The first form that explains all words decides. If it loses "per month", no more general form is tried.
            whole = Parse(parse.plan, parse.words | _idle_places(question))
            return FormParse(whole, form, timely) if _keeps_buckets(question, parse.plan) else None
    return None


def unexplained(question: DatedScene, used: frozenset[int]) -> list[str]:
    """Content words that no part of the reading accounts for."""
    left = []
    idle = _idle_places(question)
    compared = any(cue.start in used for cue in question.cues("GT", "LT", "GE", "LE"))
    for place, (token, tag) in enumerate(zip(question.scene.tokens, question.scene.tags, strict=True)):
        if place in used or token.kind == "mark" or place in question.time_places or place in idle:
            continue
        plain = token.lower in STOPWORDS or token.lower in GENERIC or token.lower in FILLERS
        must_be_used = token.kind in ("number", "date", "quoted") or tag in _CUE_TAGS_TO_USE
        # "Pricier than": a comparison that no cue knows must not be taken for something else.
        must_be_used = must_be_used or (tag == "THAN" and not compared)
        if must_be_used or (not plain and tag in ("O", "TAB", "COL", "NUM")):
            left.append(token.text)
    return left


def _idle_places(question: DatedScene) -> frozenset[int]:
    """Places of words that say no more than another one does: a *member of* staff, things that we *sell*, and "sold"
    beside the measure that says what of sales is meant."""
    words, tags = question.words, question.scene.tags
    wrapped = {place for place, word in enumerate(words) if word in _WRAPPERS and tags[place + 1 : place + 2] == ["OF"]}
    asks_amount = question.cue("MUCH", "MOST", "LEAST", "COUNT") is not None
    offered = {
        place for place, word in enumerate(words) if word in OFFERING and words[max(0, place - 1) : place] == ["we"]
    }
    sold = verb_of_sale(words) if question.measured is not None else None
    if question.measured is not None:
        wrapped |= {cue.end for cue in question.cues("MAX", "MIN") if words[cue.end : cue.end + 1] == ["performing"]}
    places = wrapped | (set() if asks_amount else offered) | set(sold or ())
    return frozenset(place for place in places if tags[place] in ("O", "IN", "THE"))


def is_timely(question: DatedScene, form: Form) -> bool:
    """Whether the question speaks of a measure or of time. The largest value of a column of totals is not a measure, so
    the form of first rows does not count."""
    return bool(question.dates) or (question.measured is not None and form is not first_rows)


def _keeps_buckets(question: DatedScene, plan: QueryPlan) -> bool:
    """Whether a "per month" of the question became a group of the plan. A form drops it for a table without dates."""
    grouped = any(isinstance(key, Bucket | DatePart) or _is_year(key) for key in plan.group_by)
    return grouped or not question.spans("bucket")


def _drops_group(question: DatedScene, parse: Parse) -> bool:
    """Whether "by card type" or "per student" names something that the plan leaves out."""
    tags = (["TAB"], ["COL"], ["O"]) if question.scene.guessed else (["TAB"], ["COL"])
    for cue in question.cues("EACH", "BY"):
        after = cue.end + 1 if question.words[cue.end : cue.end + 1] in (["the"], ["our"]) else cue.end
        named = question.scene.tags[after : after + 1] in tags
        if named and cue.start not in parse.words and after not in question.value_places:
            return True
    return False


def _is_in_two_columns(question: DatedScene, plan: QueryPlan, value: ValueMention) -> bool:
    """Whether the data leaves open which column is compared. Of the table that the question names, its own column is:
    "stores in Poland" are not those of customers in Poland."""
    schema = question.schema
    columns = {rival.column for rival in question.rivals(value) if rival.score >= value.score}
    own_table = {schema.table_ids.get(plan.entity)}
    named = {mention.id for mention in question.tables} & own_table if question.tables else own_table
    own = {column for column in columns if schema.columns[column].table in named}
    return len(own or columns) > 1


def _is_year(key: Expr) -> bool:
    return isinstance(key, ColumnRef) and split_name(key.column)[-1:] in (("year",), ("yr",))


def _is_ambiguous(question: DatedScene, parse: Parse, form: Form) -> bool:
    """Whether the question has something that the simple forms do not weigh: "or", values that more than one column
    holds, text that is no value of the data, or a second sentence."""
    if question.cue("EITHER", "DISTINCT", "RESPECT") is not None and form is not overview:
        return True
    in_two_columns = any(_is_in_two_columns(question, parse.plan, value) for value in question.values)
    free_text = any(value.score < 0.85 for value in question.scene.values)
    second_sentence = "after_mark" in question.scene.clause
    unused_cue = any(cue.tag in ("EACH", "EITHER") and cue.start not in parse.words for cue in question.scene.cues)
    return in_two_columns or free_text or second_sentence or unused_cue
