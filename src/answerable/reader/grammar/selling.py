"""Verbs of buying and selling stand for the measure of sales: how much did we sell, who spent the most."""

from collections.abc import Sequence

from answerable.core.catalog import Measure
from answerable.core.words import stemmed
from answerable.reader.linking.cues import Cue
from answerable.reader.linking.links import Mention
from answerable.reader.linking.scene import Scene

_VERBS = frozenset(["sell", "sells", "sold", "selling", "spend", "spends", "spent", "spending", "turnover"])
_TAKING_IN = frozenset(["bring", "brings", "brought", "take", "takes", "took"])
_EARNING = frozenset(["make", "makes", "made", "earn", "earns", "earned"])
_SALES = frozenset(map(stemmed, ["revenue", "sales", "turnover", "takings", "income"]))
_AMOUNTS = ("MUCH", "MOST", "LEAST")
OFFERING = frozenset(["sell", "offer", "carry", "stock"])


def verb_of_sale(words: Sequence[str]) -> range | None:
    """The places of the first verb of selling or spending; "bring in" has two words."""
    for place, word in enumerate(words):
        if word in _VERBS:
            return range(place, place + 1)
        if word in _TAKING_IN and words[place + 1 : place + 2] == ["in"]:
            return range(place, place + 2)
        # "Which brand made the most money".
        if word in _EARNING and "money" in words[place + 1 :]:
            return range(place, words.index("money", place) + 1)
    return None


def sales_measure(measures: Sequence[Measure]) -> int | None:
    """Returns the index of the first measure that is called sales, revenue or takings. None if there is none."""
    for place, measure in enumerate(measures):
        names = (measure.name.replace("_", " "), *([measure.label] if measure.label else []), *measure.synonyms)
        if any(stemmed(name) in _SALES for name in names):
            return place
    return None


def measure_of_sale(scene: Scene, cues: Sequence[Cue]) -> Mention | None:
    """The measure that a verb stands for, if the question asks for an amount (how much, the most)."""
    if not any(cue.tag in _AMOUNTS for cue in cues) or any(cue.tag == "COUNT" for cue in cues):
        return None
    verb = verb_of_sale(scene.words)
    measure = sales_measure([one for one, _ in scene.schema.measures]) if verb is not None else None
    return None if verb is None or measure is None else Mention("measure", measure, verb.start, verb.stop, 1.0)
