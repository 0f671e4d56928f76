"""What each content word of a question may mean: tables, columns and values, each with how well it fits."""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from answerable.core.records import dataclass
from answerable.core.words import singular, stem
from answerable.reader.grammar.dated_scene import DatedScene
from answerable.reader.linking.column_kinds import flag_values, holds_codes
from answerable.reader.linking.everyday_words import CONNECTING_VERBS, PERSON_WORDS, everyday_words, needs_no_link
from answerable.reader.linking.lexicon import GENERIC, STOPWORDS
from answerable.reader.linking.links import Mention
from answerable.reader.linking.scales import is_superlative
from answerable.reader.linking.word_meanings import is_person, nearness, word_vector

# Any table of people may be meant by a word for people: kids, folks, buyers.
_A_PERSON = 0.35
# A word that is left over: the less it says, the less it costs.
_LEFT_OVER = 0.04
_CONNECTING_LEFT_OVER = 0.4
_PERSON_LEFT_OVER = 0.25
# "Sunny" is near enough to the value "sun"; "cold" is not near enough to "fog".
_LEAST_LIKE_VALUE = 0.62
_SAME_START = 4
_OPPOSITE = 0.8
_A_PART = 0.7
_PERHAPS = 0.25
_NAMES_A_FLAG = 0.45
_FEW_VALUES = 40
_VERY_FEW_VALUES = 12
# A word is hardly a hint at a name of many words that has it somewhere.
_MOST_VALUE_WORDS = 2
_LEAST_CODE = 3
_MEANT = 0.5
_GLUED = 0.75
_MODIFIER = 0.7
_SORTS = frozenset({"type", "kind", "category", "class", "status"})
_LEAST_GLUED = 4
_OPPOSITE_WORDS = """
died:survived dead:survived deaths:survived death:survived drowned:survived perished:survived killed:survived
alive:survived! survivors:survived! lost:won losers:won failed:passed inactive:active closed:open unpaid:paid
unmarried:married unemployed:employed
"""
_COUNTERPART_WORDS = """
teacher:student teacher:pupil doctor:patient nurse:patient buyer:seller customer:supplier customer:vendor
client:supplier driver:rider driver:passenger employer:employee parent:child landlord:tenant host:guest
lender:borrower coach:player trainer:member waiter:guest instructor:student professor:student manager:employee
"""
_COUNTERPARTS = {
    pair for one in _COUNTERPART_WORDS.split() for pair in (tuple(one.split(":")), tuple(reversed(one.split(":"))))
}
"""People who deal with each other: near in meaning, and never the same."""
_OPPOSITES = dict(pair.split(":") for pair in _OPPOSITE_WORDS.split())
"""Words that say no, or with a mark yes, to what a flag is called."""


class Element(NamedTuple):
    """What a word may mean: a table, a column, a value of a column or a part of its values, or a measure of the
    catalog. The kind "word" is a word, by its place, that a part of a query explains by itself."""

    kind: str
    id: int
    value: str = ""


@dataclass(frozen=True)
class WordOptions:
    """For each content word, by its place, what it may mean and how well that fits."""

    question: DatedScene
    by_place: Mapping[int, Mapping[Element, float]]

    def chance(self, place: int, element: Element) -> float:
        if element.kind == "word":
            return float(element.id == place)
        return self.by_place.get(place, {}).get(element, 0.0)

    def best(self, element: Element, places: Iterable[int]) -> float:
        return max((self.chance(place, element) for place in places), default=0.0)

    def left_over(self, place: int) -> float:
        """How likely a word like this means nothing of its own."""
        word = self.question.words[place]
        if word in CONNECTING_VERBS or word in GENERIC:
            return _CONNECTING_LEFT_OVER
        return _PERSON_LEFT_OVER if word in PERSON_WORDS else _LEFT_OVER


def word_options(question: DatedScene) -> WordOptions:
    places = [place for place in range(len(question.words)) if _is_content(question, place)]
    return WordOptions(question, {place: dict(_options(question, place)) for place in places})


def _is_content(question: DatedScene, place: int) -> bool:
    token, tag = question.scene.tokens[place], question.scene.tags[place]
    if token.kind != "word" or token.value is not None or place in question.time_places:
        return False
    if place in question.value_places:
        return False
    if token.lower in PERSON_WORDS:
        return True
    if tag not in ("O", "TAB", "COL", "GROW", "SAME", "NULL", "VERB", "SORT"):
        return False
    least = _NAMES_A_FLAG if is_superlative(token.lower) else 0.0
    linked = any(m.start <= place < m.end and m.score > least for m in _names(question))
    if question.scene.is_unit_of_number(place):
        return linked
    if any(True for _ in _units(question, place)):
        return True
    says_nothing = needs_no_link(token.lower) or token.lower in STOPWORDS or is_superlative(token.lower)
    return linked or not says_nothing


def _names(question: DatedScene) -> tuple[Mention, ...]:
    links = question.scene.links
    return (*links.tables, *links.columns, *links.measures)


def _options(question: DatedScene, place: int) -> Iterator[tuple[Element, float]]:
    found: dict[Element, float] = {}
    for mention in _names(question):
        if mention.start <= place < mention.end:
            share = _MODIFIER if _names_only_what_is_sorted(question, mention) else 1.0
            _keep(found, Element(mention.kind, mention.id), min(1.0, mention.score) * share)
    word = question.words[place]
    for element, chance in (*_tables_called(question, word), *_units(question, place), *_parts(question, place)):
        _keep(found, element, chance)
    for element, chance in (*_values_like(question, word), *_flags(question, word, found)):
        _keep(found, element, chance)
    yield from ((element, chance) for element, chance in found.items() if not _is_counterpart(question, word, element))


def _keep(found: dict[Element, float], element: Element, chance: float) -> None:
    found[element] = max(found.get(element, 0.0), chance)


def _tables_called(question: DatedScene, word: str) -> Iterator[tuple[Element, float]]:
    """Tables of people for a word for people, and tables whose name has the word glued to another."""
    person = word in PERSON_WORDS or is_person(singular(word))
    for table in question.schema.tables:
        if person and table.people:
            yield Element("table", table.id), _A_PERSON
        if _is_glued_in(table.name.lower(), word):
            yield Element("table", table.id), _GLUED


def _units(question: DatedScene, place: int) -> Iterator[tuple[Element, float]]:
    """The fare per *km*: the number that is counted in it."""
    if _follows_per(question, place):
        for view in question.schema.columns:
            if view.numeric and question.words[place] in view.words:
                yield Element("column", view.id), _A_PART


def _follows_per(question: DatedScene, place: int) -> bool:
    return place > 0 and question.words[place - 1] == "per"


def _parts(question: DatedScene, place: int) -> Iterator[tuple[Element, float]]:
    # "Homes" are rather the rows than "Keystone Homes"; "ladders" are nothing but ladders.
    many = singular(question.words[place]) != question.words[place] and question.words[place] in everyday_words()
    for part in question.scene.links.parts:
        if part.start <= place < part.end:
            single = len(set(part.values)) == 1
            value = part.values[0] if single else part.text
            yield Element("value" if single else "part", part.column, value), _PERHAPS if many else _A_PART


def _names_only_what_is_sorted(question: DatedScene, mention: Mention) -> bool:
    """ "Property" of `property_type`: what has the type, and not the type."""
    if mention.kind != "column" or mention.end - mention.start > 1:
        return False
    words = question.schema.columns[mention.id].words
    said = stem(question.words[mention.start])
    return len(words) > 1 and words[-1] in _SORTS and said != stem(words[-1]) and said in map(stem, words[:-1])


def _is_counterpart(question: DatedScene, word: str, element: Element) -> bool:
    """Teachers are no students, however near the words are."""
    if element.kind not in ("table", "column"):
        return False
    views = question.schema.tables if element.kind == "table" else question.schema.columns
    return any((singular(word), singular(name)) in _COUNTERPARTS for name in views[element.id].words)


def _is_glued_in(name: str, word: str) -> bool:
    """Bird strikes in `birdstrikes`: the name begins or ends with the word, and the rest of it is a word, too."""
    root = singular(word)
    for part in (word, root):
        rest = name.removeprefix(part) if name.startswith(part) else name.removesuffix(part)
        if len(part) >= _LEAST_GLUED and rest != name and len(rest) >= _LEAST_GLUED and word_vector(rest) is not None:
            return True
    return False


def _values_like(question: DatedScene, word: str) -> Iterator[tuple[Element, float]]:
    """Values that the word is derived from or comes near to: foggy days have the weather "fog"."""
    if len(word) < 4 or needs_no_link(word) or word in PERSON_WORDS:
        return
    own, root = word_vector(word), stem(word)
    names = {column for table in question.schema.tables for column in table.row_names}
    for view in question.schema.columns:
        source = view.source
        if source.type != "text" or not 1 < (source.distinct_count or 0) <= _FEW_VALUES or view.looks_like_id:
            continue
        # Names of people and places are near to every word about people and places.
        few = (source.distinct_count or 0) <= _VERY_FEW_VALUES and not view.place and view.id not in names
        for text in source.examples:
            parts = text.lower().split()
            if len(parts) > _MOST_VALUE_WORDS:
                continue
            for part in parts:
                if len(part) < 3:
                    continue
                # One word of three is a weak hint at the whole value.
                share = 0.7 / len(parts)
                if (
                    stem(part) == root
                    or _same_start(root, stem(part))
                    or (holds_codes(view) and root.startswith(part) and len(part) >= _LEAST_CODE)
                ):
                    yield Element("value", view.id, text), share
                elif own is not None and few and (other := word_vector(part)) is not None:
                    like = nearness(own, other)
                    if like >= _LEAST_LIKE_VALUE:
                        yield Element("value", view.id, text), share * like * _MEANT


def _flags(question: DatedScene, word: str, names: Mapping[Element, float]) -> Iterator[tuple[Element, float]]:
    """Yes or no to a flag that the word names, or whose opposite it is: smokers, those who drowned."""
    opposite = _OPPOSITES.get(word, "")
    lacking = stem(word.removesuffix("less")) if word.endswith("less") else None
    for view in question.schema.columns:
        may_lack = lacking is not None and view.numeric and view.source.minimum == 0
        if may_lack and any(_like_root(lacking or "", name) for name in view.words):
            yield Element("value", view.id, "0"), _OPPOSITE
        flag = flag_values(view)
        if flag is None:
            continue
        chance = names.get(Element("column", view.id), 0.0)
        if opposite and stem(opposite.removesuffix("!")) in map(stem, view.words):
            yield Element("value", view.id, flag[0 if opposite.endswith("!") else 1]), _OPPOSITE
        elif chance >= _NAMES_A_FLAG and word not in PERSON_WORDS:
            yield Element("value", view.id, flag[0]), chance


def _like_root(root: str, name: str) -> bool:
    """Childless, `children`."""
    return len(root) >= 3 and stem(name).startswith(root)


def _same_start(one: str, other: str) -> bool:
    """Bank, banking; fail, failure; sun, sunny."""
    short, long = sorted((one, other), key=len)
    return long.startswith(short) and (len(short) >= _SAME_START or len(long) - len(short) <= 2)
