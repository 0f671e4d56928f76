"""Questions of `semantic.yaml` with the statements that answer them: asked again in the same words, or nearly so.

Two questions are the same if they have the same content words in any order, numbers included. Words that the catalog
calls synonyms of one thing count as one word. A question that names another value of the same column is answered by
the statement with that value in it, and one with places by the statement with the values of the question
(`question_patterns.py`). Questions that come near are offered instead.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING

from answerable.core.catalog import Catalog, Column, KnownQuestion, LivePart, Table, ValueLookup
from answerable.core.question_places import PERIOD, PLACE
from answerable.core.values import Frozen
from answerable.core.words import name_words, normalise, stem
from answerable.reader.grammar.dated_scene import DatedScene
from answerable.reader.question_patterns import FilledPattern, Filling, QuestionPattern

if TYPE_CHECKING:
    from sqlglot import exp

_NOW = re.compile(r"\b(?:right now|as of now|at (?:the|this) moment|just now|currently|now)\b", re.IGNORECASE)
"""What says that a question is about this moment."""
_ALIKE = 0.66
"""From this share of common content words on, a question is worth offering."""
_LINKED = 6
"""So many wordings are compared closely, the nearest first: linking each takes some milliseconds."""
_SMALL = frozenset(
    word
    for line in (
        "a an the of in on at for to with is are was were be been am do does did done have has had what which whats",
        "that this these those there their them they it its we us our ours i me my you your please give show list find",
        "return tell display get provide and s so then now currently got can could would will into any plus hold holds",
        "include including",
    )
    for word in line.split()
)
"""Words that change nothing. Negations, comparisons and words such as "most", "each" and "who" are not among them."""
_NEGATIONS = (
    "isnt", "arent", "wasnt", "werent", "dont", "doesnt", "didnt", "hasnt", "havent", "hadnt", "cant", "cannot",
    "never",
)  # fmt: skip
_SAME: Mapping[str, str] = {
    "how many": "count",
    "number of": "count",
    "count of": "count",
    "for each": "each",
    "per": "each",
    "by": "each",
    "every": "each",
    "mean": "average",
    "avg": "average",
    "percentage": "share",
    "percent": "share",
    "proportion": "share",
    "biggest": "largest",
    "cheapest": "lowest price",
    "folks": "people",
    "no one": "nobody",
    "zero": "no",
    **dict.fromkeys(_NEGATIONS, "not"),
}
_WHO = re.compile(r"\b(?:people|persons|users|members|accounts|everyone|everybody|anyone|anybody|those) (?:who|that)\b")
"""Longer ways to say "who"."""


class LearnedAnswer(Frozen):
    """A statement of `semantic.yaml` that answers a question."""

    question: str
    """The question as it was learned."""
    sql: str
    same_values: bool
    """Whether the statement is as it was learned. Otherwise a value in it was replaced."""
    asks_now: bool = False
    """Whether the question says that it is about this moment."""
    live: LivePart | None = None
    """What is asked of the live source then."""
    path: Mapping[str, str] = {}
    """Columns that each row is a way through, with what leads to each."""


class LearnedQuestions:
    def __init__(self, catalog: Catalog, values: ValueLookup, *, live: bool = False) -> None:
        """`live`: only those that ask a live source, else only the others."""
        self._catalog = catalog
        self._values = values
        self._live = live

    @cached_property
    def _about_now(self) -> "LearnedQuestions":
        return LearnedQuestions(self._catalog, self._values, live=True)

    def answer(
        self, question: str, linked: Callable[[str], DatedScene], now: datetime, *, has_live: bool = False
    ) -> LearnedAnswer | None:
        """The statement for a question that was learned, perhaps with another value in it; None for all others. One
        about right now is answered by those that ask a live source, if there is one and one of them fits; so is one
        about a period that is not over, by those of them that are about what happens all the time."""
        timeless = _NOW.sub(" ", question)
        if timeless == question:
            recent = self._about_now._recent(question, linked, now) if has_live else None
            return recent or self._answer(question, linked, now)
        found = self._about_now._answer(timeless, linked, now) if has_live else None
        found = found or self._answer(timeless, linked, now)
        return found and found.model_copy(update={"asks_now": True})

    def _recent(self, question: str, linked: Callable[[str], DatedScene], now: datetime) -> LearnedAnswer | None:
        if not any(known.live is not None and known.live.recent for known in self._catalog.questions):
            return None
        return self._filled(question, linked(question), now, only_recent=True)

    def _answer(self, question: str, linked: Callable[[str], DatedScene], now: datetime) -> LearnedAnswer | None:
        asked = self._frame(question)
        if not asked:
            return None
        near = [(known, text) for share, known, text in self._nearest(asked) if share == 1.0]
        if near:
            known, _ = near[0]
            return _answered(known, known.question, known.sql, same_values=True)
        scene = linked(question)
        filled = self._filled(question, scene, now)
        if filled is not None:
            return filled
        if not scene.values:
            return None
        for _, known, text in self._nearest(asked)[:_LINKED]:
            sql = self._with_values(scene, linked(text), known.sql)
            if sql is not None:
                return _answered(known, known.question, sql, same_values=False)
        return None

    def _filled(
        self, question: str, scene: DatedScene, now: datetime, *, only_recent: bool = False
    ) -> LearnedAnswer | None:
        """`only_recent`: only if the question is about a period that is not over, and the pattern asks live then."""
        for pattern in self._patterns:
            found = pattern.filled(question, scene.dates, self._values, now)
            if found is None or (only_recent and not _is_recent(found, now)):
                continue
            sql = _replaced(found.known.sql, found.values, self._catalog.dialect)
            live = _live_part(found, self._catalog.dialect)
            if sql is not None and (live is None) == (found.known.live is None):
                answered = _answered(found.known, found.question, sql, same_values=True)
                return answered.model_copy(update={"live": live})
        return None

    def alike(self, question: str, most: int) -> tuple[str, ...]:
        """Learned questions that come near to this one, the nearest first."""
        asked = self._frame(question)
        found = [known.question for share, known, _ in self._nearest(asked) if share >= _ALIKE] if asked else []
        return tuple(dict.fromkeys(found))[:most]

    @cached_property
    def _wordings(self) -> Sequence[tuple[KnownQuestion, str, frozenset[str]]]:
        return [(known, text, self._frame(text)) for known, text in self._texts() if not PLACE.search(text)]

    @cached_property
    def _patterns(self) -> Sequence[QuestionPattern]:
        """Those with the most words of their own first, because they say the most; then those that name the fewest
        descriptions, because a value says more."""
        found = [
            QuestionPattern(known, text, self._frame, self._catalog)
            for known, text in self._texts()
            if PLACE.search(text)
        ]
        return sorted(found, key=lambda pattern: (-len(pattern.content), pattern.descriptions))

    def _texts(self) -> Iterator[tuple[KnownQuestion, str]]:
        for known in self._catalog.questions:
            if (known.live is not None) == self._live:
                for text in (known.question, *known.also):
                    yield known, _NOW.sub(" ", text) if self._live else text

    @cached_property
    def _one_word(self) -> Mapping[str, str]:
        """For each word that is a synonym of one thing, the word that stands for all of them."""
        named: dict[str, set[str]] = {}
        columns = [column for table in self._catalog.tables for column in table.columns]
        things: list[Table | Column] = [*self._catalog.tables, *columns]
        for thing in things:
            names = (thing.label or thing.name, *thing.synonyms)
            words = [word for name in names if (word := _only_word(name)) is not None]
            for word in words:
                named.setdefault(word, set()).add(words[0])
        return {word: min(names) for word, names in named.items() if len(names) == 1}

    def _frame(self, text: str) -> frozenset[str]:
        said = f" {' '.join(normalise(text.replace(chr(39), '').replace('’', '')).split())} "
        for phrase, word in _SAME.items():
            said = said.replace(f" {phrase} ", f" {word} ")
        said = _WHO.sub("who", said)
        words = [word for word in said.split() if word not in _SMALL]
        return frozenset(self._one_word.get(stem(word), stem(word)) for word in words)

    def _nearest(self, asked: frozenset[str]) -> list[tuple[float, KnownQuestion, str]]:
        shares = (
            (2 * len(asked & frame) / (len(asked) + len(frame)), known, text)
            for known, text, frame in self._wordings
            if frame & asked
        )
        return sorted(shares, key=lambda each: -each[0])

    def _with_values(self, asked: DatedScene, learned: DatedScene, sql: str) -> str | None:
        """The statement with the values of the question in place of those that it was learned with. None if the
        questions differ in more than values of the same columns, or if a value does not stand in the statement."""
        if self._rest(asked) != self._rest(learned) or len(asked.values) != len(learned.values):
            return None
        pairs = list(zip(learned.values, asked.values, strict=True))
        if any(old.column != new.column for old, new in pairs):
            return None
        return _replaced(sql, {old.value: new.value for old, new in pairs}, self._catalog.dialect)

    def _rest(self, scene: DatedScene) -> frozenset[str]:
        """The content words that are part of no value."""
        kept = (t.text for place, t in enumerate(scene.scene.tokens) if place not in scene.value_places)
        return self._frame(" ".join(kept))


def _answered(known: KnownQuestion, question: str, sql: str, *, same_values: bool) -> LearnedAnswer:
    return LearnedAnswer(question=question, sql=sql, same_values=same_values, live=known.live, path=known.path)


def _is_recent(found: FilledPattern, now: datetime) -> bool:
    """Whether the period of a question reaches this moment, and its live part is about such periods."""
    end = str(found.values.get(f"{{{PERIOD}.end}}", ""))
    live = found.known.live
    return live is not None and live.recent and end > now.strftime("%Y-%m-%d %H:%M:%S")


def _live_part(found: FilledPattern, dialect: str) -> LivePart | None:
    """The live part with the values of the question in its statement."""
    live = found.known.live
    sql = None if live is None else _replaced(live.sql, found.values, dialect)
    return None if live is None or sql is None else live.model_copy(update={"sql": sql})


def _only_word(name: str | None) -> str | None:
    """The one word of a name that says something: `sign` of "signed in"."""
    words = [word for word in name_words(name) if word not in _SMALL] if name else []
    return stem(words[0]) if len(words) == 1 else None


def _replaced(sql: str, values: Mapping[str, Filling], dialect: str) -> str | None:
    from sqlglot import exp, parse_one
    from sqlglot.errors import SqlglotError

    try:
        tree = parse_one(sql, dialect=dialect)
    except SqlglotError:
        return None
    texts = [literal for literal in tree.find_all(exp.Literal) if literal.is_string]
    for old, new in values.items():
        places = [literal for literal in texts if literal.this.casefold() == old.casefold()]
        if not places and not PLACE.search(old):  # a statement need not name every place
            return None
        for literal in places:
            literal.replace(_expression(new))
    if values and any(literal.is_string and PLACE.search(literal.this) for literal in tree.find_all(exp.Literal)):
        return None
    return tree.sql(dialect=dialect)


def _expression(filling: Filling) -> "exp.Expression":
    from sqlglot import exp

    if isinstance(filling, int):
        return exp.Literal.number(filling)
    if isinstance(filling, str):
        return exp.Literal.string(filling)
    rows = exp.select(exp.column(filling.key, quoted=True)).from_(exp.to_table(filling.table))
    for column, value in filling.conditions:
        rows = rows.where(exp.column(column, quoted=True).eq(exp.Literal.string(value)))
    return rows
