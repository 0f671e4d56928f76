"""What a column holds, told from its name and values: amounts that add up, levels that do not, flags, codes."""

from answerable.reader.linking.name_words import spelled_out
from answerable.reader.linking.scales import names_something
from answerable.reader.linking.schema import ColumnView

_LEVEL_WORDS = """
age year price rate ratio score rank ranking rating percent percentage index temperature humidity speed windspeed bmi
gpa grade height width length depth latitude longitude level quality average mean median maximum minimum capita
per month day unit share density expectancy frequency code number position size memory pressure duration
"""
_LEVELS = frozenset(_LEVEL_WORDS.split())
_AMOUNT_WORDS = """
amount revenue sale sales turnover income profit cost costs spend spending expense expenses payment payments budget
earning earnings proceeds fare fares fine fines toll premium premiums refund refunds commission tax fee fees charge
charges bill takings tip donation quantity unit units volume count total sold
stock inventory passenger passengers visitor visitors visit visits view views click clicks hour hours minute minutes
distance call calls attendance audience rainfall precipitation goal goals point points win wins loss losses vote votes
medal medals killed death deaths injured balance employee employees rental rentals ride rides casual registered download
downloads order orders population enrollment paid spent earned kg tonne tonnes ton tons litre litres liter liters kwh
mwh
"""
_AMOUNTS = frozenset(_AMOUNT_WORDS.split())
_WHOLES = frozenset({"total", "global", "overall", "all", "count", "worldwide", "grand"})
_NUMBER_OF = frozenset({"number", "count", "total"})
_TRUE = ("true", "t", "yes", "y", "1", "on")
_FALSE = ("false", "f", "no", "n", "0", "off")
# A code abbreviates a word by its first letters.
_CODE = 4


def adds_up(view: ColumnView) -> bool:
    """Whether values of different rows can be added up: amounts and counts can, ages, prices and scores cannot."""
    words = spelled_out(view.words)
    if not view.numeric or view.key or view.foreign or names_something(view) or is_flag(view):
        return False
    if words[:1] and words[0] in _NUMBER_OF and len(words) > 1:
        return True
    return not _AMOUNTS.isdisjoint(words) and _LEVELS.isdisjoint(words)


def is_level(view: ColumnView) -> bool:
    """Whether adding up values of different rows makes no sense: ages, prices, scores."""
    words = spelled_out(view.words)
    # The number of shops adds up, a number by itself is a name.
    counted = words[:1] and words[0] in _NUMBER_OF and len(words) > 1
    return (not counted and not _LEVELS.isdisjoint(words)) or is_flag(view)


def is_whole(view: ColumnView) -> bool:
    """Whether the column is the sum of others beside it: global sales, the total bill."""
    return not _WHOLES.isdisjoint(spelled_out(view.words))


def is_flag(view: ColumnView) -> bool:
    return flag_values(view) is not None


def flag_values(view: ColumnView) -> tuple[str, str] | None:
    """What the column has for yes and for no. None if it holds anything else."""
    source = view.source
    if source.type == "boolean":
        return "true", "false"
    if source.type == "integer" and (source.minimum, source.maximum) == (0, 1):
        return "1", "0"
    examples = {text.strip().lower(): text for text in source.examples}
    if source.type != "text" or not 0 < (source.distinct_count or 0) <= 2:
        return None
    for yes, no in zip(_TRUE, _FALSE, strict=True):
        if examples and examples.keys() <= {yes, no}:
            return examples.get(yes, yes.upper()), examples.get(no, no.upper())
    return None


def holds_codes(view: ColumnView) -> bool:
    """Whether each value abbreviates a word: Sat, Rep."""
    examples = view.source.examples
    return bool(examples) and all(len(text) <= _CODE and text.isalpha() for text in examples)
