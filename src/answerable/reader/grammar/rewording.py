"""Rewordings: the question as if its words were the names that they may mean.

Forms accept only what a question says in full. People rarely do: they say "birds" for penguins and "beak" for bill
length. So each word that names nothing in full is taken for the likeliest names in turn, as if they had been said, and
the forms are tried again. A question has few such words and each has few meanings, so few rewordings are tried.
"""

from collections.abc import Iterator
from dataclasses import replace
from heapq import nlargest
from itertools import product
from typing import NamedTuple

from answerable.reader.grammar.dated_scene import COLUMN_NAMED, DatedScene
from answerable.reader.linking.cues import EXTREMES
from answerable.reader.linking.everyday_words import CONNECTING_VERBS, PERSON_WORDS, needs_no_link
from answerable.reader.linking.links import Links, Mention
from answerable.reader.linking.scales import names_something
from answerable.reader.linking.scene import Scene, build_scene

_MOST_MEANINGS = 3
_MOST_REWORDINGS = 12
_MOST_WORDS = 5
# A link this weak is a guess from half a name; forms that must explain every word make too much of it.
_LEAST_MEANING = 0.2
# The lead of a meaning without a rival: larger than any lead in practice.
_ALONE = 9.0
# A verb like "take" that connects two things usually means nothing of its own.
_CONNECTS = 0.5
# The rows of the only table, called by a word that is not in the data: how many *birds*.
_ROWS_OF_ONLY_TABLE = 0.3


class Rewording(NamedTuple):
    question: DatedScene
    chance: float
    """The product of the scores of the links that were taken in full: 1 would be a question in words of the schema."""
    lead: float
    """The least lead of a link over the next meaning of its word, as a ratio."""


class _Meaning(NamedTuple):
    mention: Mention | None
    """None if the word is taken to mean nothing of its own."""
    chance: float


def rewordings(question: DatedScene) -> list[Rewording]:
    """The likeliest first."""
    # Quoted text and patterns are said as they are.
    if question.scene.question.quotes or question.cue("LIKE", "STARTS", "ENDS"):
        return []
    places = [place for place in range(len(question.words)) if _is_open(question, place)][: _MOST_WORDS + 1]
    if not places or len(places) > _MOST_WORDS:
        return []
    meanings = [_meanings(question, place) for place in places]
    if not all(meanings):
        return []
    chosen = nlargest(_MOST_REWORDINGS, product(*meanings), key=_chance)
    leads = [_lead(options) for options in meanings]
    return [Rewording(_reworded(question, one), _chance(one), min(leads)) for one in chosen]


def _chance(meanings: tuple[_Meaning, ...]) -> float:
    product_of_all = 1.0
    for meaning in meanings:
        product_of_all *= meaning.chance
    return product_of_all


def _lead(options: list[_Meaning]) -> float:
    return _ALONE if len(options) == 1 else options[0].chance / options[1].chance


def _is_open(question: DatedScene, place: int) -> bool:
    """Whether the word is content that names nothing in full."""
    token, tag = question.scene.tokens[place], question.scene.tags[place]
    if token.kind != "word" or place in question.time_places or place in question.value_places:
        return False
    if token.lower in PERSON_WORDS:
        return True
    if tag in EXTREMES:
        return bool(_meanings(question, place))
    if tag not in ("O", "TAB", "COL") or (needs_no_link(token.lower) and not _is_grouped_by(question, place)):
        return False
    links = question.scene.links
    return not any(
        m.start <= place < m.end and m.score >= COLUMN_NAMED for m in (*links.tables, *links.columns, *links.measures)
    )


def _is_grouped_by(question: DatedScene, place: int) -> bool:
    """What follows "by" and "each" is never dropped, also if it is a word like "kind"."""
    before = place - 2 if place > 1 and question.words[place - 1] in ("the", "our") else place - 1
    return any(cue.tag in ("EACH", "BY") and cue.end == before + 1 for cue in question.scene.cues)


def _meanings(question: DatedScene, place: int) -> list[_Meaning]:
    links = question.scene.links
    weak = [m for m in (*links.tables, *links.columns, *links.measures) if m.start <= place < m.end]
    if question.scene.tags[place] in EXTREMES:
        weak = [m for m in weak if m.kind == "column" and _has_size(question, m.id)]
    found = {(m.kind, m.id): _Meaning(replace(m, score=1.0), m.score) for m in weak if m.score >= _LEAST_MEANING}
    if question.scene.tags[place] in EXTREMES:
        return _of_superlative(question, list(found.values()))
    if len(question.schema.tables) == 1 and ("table", 0) not in found and _may_name_rows(question, place):
        found["table", 0] = _Meaning(Mention("table", 0, place, place + 1, 1.0), _ROWS_OF_ONLY_TABLE)
    ranked = sorted(found.values(), key=lambda meaning: -meaning.chance)[:_MOST_MEANINGS]
    word = question.words[place]
    if word in CONNECTING_VERBS:
        ranked.append(_Meaning(None, _CONNECTS))
    # "Who" may just begin the question.
    return ranked if ranked or word not in PERSON_WORDS else [_Meaning(None, 1.0)]


def _may_name_rows(question: DatedScene, place: int) -> bool:
    """How many *birds*, which *birds*, *birds* per island."""
    before = question.scene.tags[place - 1] if place else "WH"
    return not question.tables and before in ("COUNT", "WH", "THE", "MAX", "MIN", "OLD", "YOUNG", "VERB")


def _has_size(question: DatedScene, column: int) -> bool:
    view = question.schema.columns[column]
    return (view.numeric or view.temporal) and not question.is_key(column) and not names_something(view)


def _of_superlative(question: DatedScene, meanings: list[_Meaning]) -> list[_Meaning]:
    """A superlative brings its own column (the priciest room), unless the question names one (the highest price)."""
    named = any(m.score >= COLUMN_NAMED and _has_size(question, m.id) for m in question.scene.links.columns)
    ranked = sorted(meanings, key=lambda meaning: -meaning.chance)[:_MOST_MEANINGS]
    return [] if named or question.measured is not None else ranked


def _reworded(question: DatedScene, meanings: tuple[_Meaning, ...]) -> DatedScene:
    taken = [meaning.mention for meaning in meanings if meaning.mention is not None]
    scene = question.scene
    links = _without(scene.links, {place for m in taken for place in range(m.start, m.end)})
    links = replace(
        links,
        tables=(*links.tables, *(m for m in taken if m.kind == "table")),
        columns=(*links.columns, *(m for m in taken if m.kind == "column")),
        measures=(*links.measures, *(m for m in taken if m.kind == "measure")),
    )
    return DatedScene(_rebuilt(scene, links), question.dates)


def _without(links: Links, places: set[int]) -> Links:
    """Other meanings of the same words do not count any more."""

    def kept(mentions: tuple[Mention, ...]) -> Iterator[Mention]:
        return (m for m in mentions if places.isdisjoint(range(m.start, m.end)))

    return replace(
        links,
        tables=tuple(kept(links.tables)),
        columns=tuple(kept(links.columns)),
        measures=tuple(kept(links.measures)),
    )


def _rebuilt(scene: Scene, links: Links) -> Scene:
    rebuilt = build_scene(scene.question, scene.schema, links)
    rebuilt.guessed = True
    return rebuilt
