"""Questions about relationships within one kind of node, and about what can be reached: "who follows Ada?", "whom does
Ada follow?", "who has the most followers?", "who follows nobody?", "who can reach AWS?".

Such a relationship has the same kind at both ends, so the order of the words alone says which end is meant. A question
that says anything else is left to others.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from answerable.core.catalog import Catalog, ValueLookup
from answerable.core.words import name_words, stem, words
from answerable.query.cypher.tree import Given
from answerable.query.cypher.write import expression, name
from answerable.reader.graph_words import PEOPLE, GraphWords, NamedNode, PathAnswer

_LONGEST_QUESTION = 16
_REASON = "What the words name is in the graph, and the order of the words says which way the relationship leads."
_FARTHEST = 6
"""Relationships that are followed for whatever can be reached."""
_COUNTING = frozenset(("many", "number", "count"))
_EACH = frozenset(("each", "every", "per"))
_MOST = frozenset(("most",))
_NOBODY = frozenset(("nobody", "none", "no", "without", "not", "dont", "doesnt", "isnt", "arent"))
_REACH = frozenset(("reach", "reaches", "reachable"))
_FAR = frozenset(("indirectly", "transitively"))
_SMALL = frozenset(
    word
    for line in (
        "who whom which what does do did is are was were the a an to by of has have had that show list me find how in",
        "all can from or directly as s one else people person persons everyone everybody with",
    )
    for word in line.split()
)
_ALLOWED = _SMALL | _COUNTING | _EACH | _MOST | _NOBODY | _REACH | _FAR | PEOPLE


class _Asked:
    """The words of a question, sorted by what they do."""

    def __init__(self, said: Sequence[str], verb: int, is_noun: bool, named: NamedNode | None) -> None:
        self.said = said
        self.verb = verb
        self.is_noun = is_noun
        """Whether the relationship is named by those who are at its beginning: `followers`."""
        self.named = named
        self.nobody = next((place for place, word in enumerate(said) if word in _NOBODY), None)

    def has(self, some: frozenset[str]) -> bool:
        return not some.isdisjoint(self.said)

    @property
    def is_passive(self) -> bool:
        return "by" in self.said and self.said[self.verb].endswith("ed")

    def is_before_verb(self, place: int) -> bool:
        """Whether what stands at a place is the one who acts: before the verb, or after it and "by"."""
        return (place < self.verb) != self.is_passive


class RelationshipQuestions:
    def __init__(self, catalog: Catalog, values: ValueLookup) -> None:
        self._words = GraphWords(catalog, values, _ALLOWED)

    def answer(self, question: str) -> PathAnswer | None:
        """None for a question that says anything else."""
        said = words(question.replace("'s", " s").replace("’s", " s").replace("no one", "nobody"))
        if not self._words.edges or len(said) > _LONGEST_QUESTION:
            return None
        if not _REACH.isdisjoint(said):
            return self._reached(said)
        between = [found for each in self._rivals if (found := self._between(said, *each)) is not None]
        if len(between) == 1:
            return between[0]
        for edge, kind in self._own.items():
            asked = self._asked(said, edge, kind)
            if asked is not None:
                return self._about_one(asked, edge, kind) if asked.named else self._about_all(asked, edge, kind)
        return None

    @cached_property
    def _own(self) -> Mapping[str, str]:
        """Relationships with one kind of node at both ends, and the kind."""
        ends: dict[str, set[tuple[str, str]]] = {}
        for edge, one, other in self._words.edges:
            ends.setdefault(edge, set()).add((one, other))
        return {edge: one for edge, pairs in ends.items() for one, other in pairs if len(pairs) == 1 and one == other}

    def _asked(self, said: Sequence[str], edge: str, kind: str) -> _Asked | None:
        verb = stem(name_words(edge)[0])
        verbs = [place for place, word in enumerate(said) if stem(word) == verb]
        nouns = [place for place, word in enumerate(said) if word in (f"{verb}er", f"{verb}ers")]
        named = [each for each in self._words.named(said) if each.table == kind]
        if len(verbs) + len(nouns) != 1 or len(named) > 1:
            return None
        rest = {verb, *name_words(edge)[1:], *self._words.names[kind]}
        taken = {*verbs, *nouns, *(place for each in named for place in range(each.start, each.end))}
        left = [word for place, word in enumerate(said) if place not in taken]
        if any(word not in _ALLOWED and stem(word) not in set(map(stem, rest)) for word in left):
            return None
        return _Asked(said, (verbs or nouns)[0], bool(nouns), named[0] if named else None)

    def _about_one(self, asked: _Asked, edge: str, kind: str) -> PathAnswer | None:
        """Those whom one node has the relationship to, or who have it to that node."""
        assert asked.named is not None
        if asked.nobody is not None or asked.has(_EACH | _MOST):
            return None
        acts = not asked.is_noun and asked.is_before_verb(asked.named.start)
        far = f"* SHORTEST 1..{_FARTHEST}" if asked.has(_FAR) else ""
        ends = (f"(n:{name(kind)})", f"(x:{name(kind)})") if acts else (f"(x:{name(kind)})", f"(n:{name(kind)})")
        shown = name(self._words.shown(kind))
        where = f"n.{name(asked.named.column)} = {expression(Given(asked.named.value))}"
        where += f" AND x.{shown} <> n.{shown}" if far else ""
        listed = f"DISTINCT x.{shown} AS {shown} ORDER BY {shown}"
        returned = "count(DISTINCT x) AS `count`" if asked.has(_COUNTING) else listed
        cypher = f"MATCH {ends[0]}-[:{name(edge)}{far}]->{ends[1]} WHERE {where} RETURN {returned}"
        whom = f"{asked.named.said} has {edge} to" if acts else f"have {edge} to {asked.named.said}"
        how = "Count" if asked.has(_COUNTING) else "List"
        steps = f", over at most {_FARTHEST} steps" if far else ""
        return PathAnswer(cypher=cypher, reason=_REASON, sentence=f"{how} each {kind} that {whom}{steps}.")

    def _about_all(self, asked: _Asked, edge: str, kind: str) -> PathAnswer | None:
        """How often each node has the relationship, which has it the most, or which never."""
        shown, label = name(self._words.shown(kind)), name(kind)
        if asked.nobody is not None and not asked.has(_COUNTING | _EACH | _MOST):
            acts = not asked.is_noun and not asked.is_before_verb(asked.nobody)
            arrow = f"(x)-[:{name(edge)}]->(:{label})" if acts else f"(:{label})-[:{name(edge)}]->(x)"
            where = f"WHERE NOT EXISTS {{ MATCH {arrow} }}"
            cypher = f"MATCH (x:{label}) {where} RETURN x.{shown} AS {shown} ORDER BY {shown}"
            end = "to nobody" if acts else "from nobody"
            return PathAnswer(cypher=cypher, reason=_REASON, sentence=f"List each {kind} that has {edge} {end}.")
        if asked.nobody is not None or not (asked.has(_MOST) or (asked.has(_EACH) and asked.has(_COUNTING | _EACH))):
            return None
        acts = not asked.is_noun and not self._is_object(asked)
        arrow = f"(x)-[:{name(edge)}]->(y:{label})" if acts else f"(y:{label})-[:{name(edge)}]->(x)"
        order = f"ORDER BY `count` DESC, {shown}" + (" LIMIT 1" if asked.has(_MOST) else "")
        counted = f"x.{shown} AS {shown}, count(DISTINCT y) AS `count`"
        cypher = f"MATCH (x:{label}) OPTIONAL MATCH {arrow} RETURN {counted} {order}"
        which = "the one with the most" if asked.has(_MOST) else "the number"
        end = f"{edge} to others" if acts else f"{edge} from others"
        return PathAnswer(cypher=cypher, reason=_REASON, sentence=f"For each {kind}, {which} of {end}.")

    @staticmethod
    def _is_object(asked: _Asked) -> bool:
        """Whether what is counted acts: `who is followed by the most`, `whom do the most follow`."""
        counted = next(place for place, word in enumerate(asked.said) if word in _MOST | _EACH)
        if asked.has(_EACH):  # `how many does each follow`: each one acts
            return asked.is_passive
        return counted < asked.verb or asked.is_passive

    # Several relationships between the same two kinds.

    @cached_property
    def _rivals(self) -> Sequence[tuple[str, str, str]]:
        """Relationships that are not the only one between two kinds: only their own word says which is meant."""
        ends = [(one, other) for _, one, other in self._words.edges]
        return [each for each in self._words.edges if each[1] != each[2] and ends.count(each[1:]) > 1]

    def _between(self, said: Sequence[str], edge: str, one: str, other: str) -> PathAnswer | None:
        """`how many people work at each company`, `who works at Acme`, `where does Ada work`."""
        verb = stem(name_words(edge)[0])
        verbs = [word for word in said if stem(word) == verb]
        named = [each for each in self._words.named(said) if each.table in (one, other)]
        called = {word for kind in (one, other) for word in self._words.names[kind]}
        stems = set(map(stem, _SMALL | _COUNTING | _EACH | {verb, "where", "at", *name_words(edge)[1:], *called}))
        taken = {place for each in named for place in range(each.start, each.end)}
        rest = [word for place, word in enumerate(said) if place not in taken]
        if len(verbs) != 1 or len(named) > 1 or any(stem(word) not in stems for word in rest):
            return None
        asked_kind = other if named and named[0].table == one else one
        shown, arrow = self._words.shown(asked_kind), f"(a:{name(one)})-[:{name(edge)}]->(b:{name(other)})"
        variable = "a" if asked_kind == one else "b"
        counts = not _COUNTING.isdisjoint(said)
        if named:
            where = f"{'b' if variable == 'a' else 'a'}.{name(named[0].column)} = {expression(Given(named[0].value))}"
            listed = f"DISTINCT {variable}.{name(shown)} AS {name(shown)} ORDER BY {name(shown)}"
            returned = f"count(DISTINCT {variable}) AS `count`" if counts else listed
            cypher = f"MATCH {arrow} WHERE {where} RETURN {returned}"
            how, rest_of = ("Count" if counts else "List"), f"by {edge} with {named[0].said}"
        elif counts and not _EACH.isdisjoint(said):
            key = name(self._words.shown(other))
            optional = f"OPTIONAL MATCH (a:{name(one)})-[:{name(edge)}]->(b)"
            figures = f"b.{key} AS {key}, count(DISTINCT a) AS `count` ORDER BY `count` DESC, {key}"
            cypher, how, rest_of = (
                f"MATCH (b:{name(other)}) {optional} RETURN {figures}",
                "Count",
                f"by {edge} with each {other}",
            )
        else:
            return None
        return PathAnswer(cypher=cypher, reason=_REASON, sentence=f"{how} each {asked_kind} connected {rest_of}.")

    # What can be reached.

    def _reached(self, said: Sequence[str]) -> PathAnswer | None:
        """Whatever of one kind leads to a node, or can be reached from it, over any relationships."""
        named = [each for each in self._words.named(said) if self._is_rest_small(said, each)]
        place = next(place for place, word in enumerate(said) if word in _REACH)
        if len(named) != 1:
            return None
        (goal,) = named
        beside = [word for at, word in enumerate(said) if not goal.start <= at < goal.end]
        kinds = self._words.starting(["who"] if "who" in beside or "whom" in beside else beside)
        if len(kinds) != 1:
            return None
        (kind,) = kinds
        leads_from_goal = goal.start < place
        one, other = (goal.table, kind) if leads_from_goal else (kind, goal.table)
        longest = max(self._lengths(one, other), default=0)
        if not longest:
            return None
        shown = name(self._words.shown(kind))
        ends = (f"(n:{name(goal.table)})", f"(x:{name(kind)})")
        ends = ends if leads_from_goal else ends[::-1]
        where = f"n.{name(goal.column)} = {expression(Given(goal.value))}"
        where += f" AND x.{shown} <> n.{shown}" if kind == goal.table else ""
        arrow = f"{ends[0]}-[* SHORTEST 1..{longest}]->{ends[1]}"
        cypher = f"MATCH {arrow} WHERE {where} RETURN DISTINCT x.{shown} AS {shown} ORDER BY {shown}"
        whom = f"{goal.said} leads to" if leads_from_goal else f"leads to {goal.said}"
        return PathAnswer(
            cypher=cypher, reason=_REASON, sentence=f"List each {kind} that {whom}, over at most {longest} steps."
        )

    def _is_rest_small(self, said: Sequence[str], goal: NamedNode) -> bool:
        called = _SMALL | PEOPLE | _REACH | frozenset(word for names in self._words.names.values() for word in names)
        return all(
            word in called or any(stem(word) == stem(each) for each in called)
            for place, word in enumerate(said)
            if not goal.start <= place < goal.end
        )

    def _lengths(self, start: str, end: str, steps: int = 1, seen: tuple[str, ...] = ()) -> Iterator[int]:
        """How long ways from one kind of node to another can be. Where they can go round, as long as is looked at."""
        for _, one, other in self._words.edges:
            if one != start or steps > _FARTHEST:
                continue
            if one == other or other in seen:
                yield from (_FARTHEST for _, first, last in self._words.edges if last == end and first in (*seen, one))
            if other == end:
                yield steps
            elif other not in (*seen, start):
                yield from self._lengths(other, end, steps + 1, (*seen, start))
