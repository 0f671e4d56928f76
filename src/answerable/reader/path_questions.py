"""Questions about ways through a graph: "how does Ada have access to GitHub?", "who can reach AWS through a group?".

Two things that the question names, and words that ask for what connects them, become one pattern. Which way it leads
and how long it can be, the relationships of the graph say; nothing is guessed.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product

from answerable.core.catalog import Catalog, Table, ValueLookup
from answerable.core.values import Frozen
from answerable.core.words import name_words, stem, words
from answerable.query.cypher import tree, write

_SURE = 0.9
"""Least score of a value: whole names and slips of the pen, never parts of names."""
_CANDIDATES = 24
_LONGEST_VALUE = 6
_LONGEST_QUESTION = 24
_LONGEST_WAY, _LONGEST_SEARCH = 4, 6
"""Relationships of a way where it is known how long it can be, and where ways can go round in circles."""
_ASKING = frozenset(
    ("how", "why", "path", "paths", "way", "ways", "route", "connected", "related", "linked", "connects")
)
_BESIDE = _ASKING | frozenset(
    word
    for line in (
        "a an the is are was do does did can could get gets got have has had access to from between and of with what",
        "leads lead reach reaches through via by which connect link shortest show me all find use uses come comes into",
    )
    for word in line.split()
)
_REACHING = frozenset(("reach", "access", "get", "gets", "use", "has", "have"))
_THROUGH = frozenset(("through", "via"))
_PEOPLE = frozenset(("who", "everyone", "everybody", "anyone"))
_PERSONS = frozenset(map(stem, ("user", "person", "people", "employee", "member", "account")))


class PathAnswer(Frozen):
    """A query that answers a question about ways."""

    cypher: str
    sentence: str


@dataclass(frozen=True, slots=True)
class NamedNode:
    """A node that the question names, and the places of the words that do so."""

    table: str
    column: str
    value: str
    start: int
    end: int

    @property
    def said(self) -> str:
        return f"{self.value} ({self.table})"


class PathQuestions:
    def __init__(self, catalog: Catalog, values: ValueLookup) -> None:
        self._nodes = {table.name: table for table in catalog.tables if not table.connections}
        self._edges = [(t.name, c.from_table, c.to_table) for t in catalog.tables for c in t.connections]
        self._values = values

    def answer(self, question: str) -> PathAnswer | None:
        """None for a question that says anything else."""
        said = words(question)
        if not self._edges or len(said) > _LONGEST_QUESTION:
            return None
        return self._between(said) or self._through(said)

    def _between(self, said: Sequence[str]) -> PathAnswer | None:
        """What leads from one thing to another."""
        if _ASKING.isdisjoint(said):
            return None
        pairs = [
            (one, other)
            for one, other in product(self._named(said), repeat=2)
            if one.end <= other.start and self._is_only(said, (one, other), _BESIDE)
        ]
        if len(pairs) != 1:
            return None
        one, other = pairs[0]
        edge = self._ways(one.table, other.table)
        if edge is None:
            return None
        pattern = tree.Pattern((_node("a", one), _node("b", other)), (edge,), "way")
        cypher = _written(pattern, (tree.ReturnItem(tree.Variable("way")),))
        return PathAnswer(cypher=cypher, sentence=f"Show what connects {one.said} and {other.said}.")

    def _through(self, said: Sequence[str]) -> PathAnswer | None:
        """Who reaches a thing by way of things of another kind: `who can reach AWS through a group`."""
        if _THROUGH.isdisjoint(said) or _REACHING.isdisjoint(said):
            return None
        middle = next((place for place, word in enumerate(said) if word in _THROUGH), 0)
        kinds = [
            self._nodes_called(said[place]) for place in range(middle + 1, len(said)) if said[place] not in _BESIDE
        ]
        starts = self._starting(said[:middle])
        named = [each for each in self._named(said[:middle]) if self._is_only(said[:middle], (each,), self._open_words)]
        if len(kinds) != 1 or len(kinds[0]) != 1 or len(starts) != 1 or len(named) != 1:
            return None
        start, via, goal = starts[0], kinds[0][0], named[0]
        first, second = self._hops(start, via), self._hops(via, goal.table)
        if len(first) != 1 or len(second) != 1:
            return None
        nodes = (tree.NodePattern("a", (start,)), tree.NodePattern("b", (via,)), _node("c", goal))
        pattern = tree.Pattern(nodes, (tree.EdgePattern(types=first), tree.EdgePattern(types=second)), "way")
        shown = tuple(
            tree.ReturnItem(tree.Property(tree.Variable(variable), self._shown(table)), table)
            for variable, table in (("a", start), ("b", via))
        )
        cypher = _written(pattern, (*shown, tree.ReturnItem(tree.Variable("way"))))
        return PathAnswer(cypher=cypher, sentence=f"List each {start} that leads to {goal.said} through a {via}.")

    # What the words name.

    def _named(self, said: Sequence[str]) -> list[NamedNode]:
        """Nodes that runs of words name, each by one column of one kind of node; the longest run counts."""
        found: list[NamedNode] = []
        for start in range(len(said)):
            for end in range(min(len(said), start + _LONGEST_VALUE), start, -1):
                hit = self._value(" ".join(said[start:end]))
                if hit is not None:
                    found.append(NamedNode(*hit, start, end))
                    break
        return [each for each in found if not any(_is_within(each, other) for other in found)]

    def _value(self, text: str) -> tuple[str, str, str] | None:
        if text in _BESIDE or text in _PEOPLE:
            return None
        hits = [
            hit
            for hit in self._values.find(text, _CANDIDATES, _SURE)
            if hit.table in self._nodes and hit.column == self._shown(hit.table)
        ]
        best = {(hit.table, hit.column, hit.value) for hit in hits if hit.score == hits[0].score}
        return best.pop() if len(best) == 1 else None

    def _shown(self, table: str) -> str:
        """The property by which people know a node: its name, else its key."""
        node = self._nodes[table]
        columns = [column.name for column in node.columns]
        named = next((name for name in columns if name.casefold() in ("name", "title", "label")), None)
        return named or next(iter(node.primary_key), columns[0])

    @staticmethod
    def _is_only(said: Sequence[str], named: Sequence[NamedNode], others: frozenset[str]) -> bool:
        taken = {place for each in named for place in range(each.start, each.end)}
        return all(word in others for place, word in enumerate(said) if place not in taken)

    @cached_property
    def _open_words(self) -> frozenset[str]:
        return _BESIDE | _PEOPLE | frozenset(word for names in self._names.values() for word in names)

    @cached_property
    def _names(self) -> Mapping[str, frozenset[str]]:
        """The words that each kind of node is called by, in both numbers."""
        return {name: frozenset(_called(table)) for name, table in self._nodes.items()}

    def _nodes_called(self, word: str) -> list[str]:
        return [name for name, called in self._names.items() if word in called or stem(word) in map(stem, called)]

    def _starting(self, said: Sequence[str]) -> list[str]:
        if not _PEOPLE.isdisjoint(said):
            return [name for name, called in self._names.items() if not _PERSONS.isdisjoint(map(stem, called))]
        return list(dict.fromkeys(name for word in said if word not in _BESIDE for name in self._nodes_called(word)))

    # Which way it leads.

    def _hops(self, start: str, end: str) -> tuple[str, ...]:
        return tuple(name for name, one, other in self._edges if (one, other) == (start, end))

    def _ways(self, start: str, end: str) -> tree.EdgePattern | None:
        """The relationships between two kinds of nodes: all ways, or the shortest where ways can go round."""
        forward, backward = set(self._lengths(start, end)), set(self._lengths(end, start))
        if not forward and not backward:
            return None
        direction: tree.Direction = "both" if start == end else "right" if forward else "left"
        if self._goes_round or start == end:
            return tree.EdgePattern(direction=direction, length=tree.PathLength(1, _LONGEST_SEARCH, "ALL SHORTEST"))
        return tree.EdgePattern(direction=direction, length=tree.PathLength(1, max(forward or backward)))

    def _lengths(self, start: str, end: str, seen: tuple[str, ...] = ()) -> Iterator[int]:
        """The lengths of ways from one kind of node to another that pass no kind twice."""
        for _, one, other in self._edges:
            if one == start and other == end:
                yield len(seen) + 1
            elif one == start and other not in (*seen, start) and len(seen) + 1 < _LONGEST_WAY:
                yield from self._lengths(other, end, (*seen, start))

    @cached_property
    def _goes_round(self) -> bool:
        return any(one == other or any(self._lengths(other, one)) for _, one, other in self._edges)


def _called(table: Table) -> Iterator[str]:
    for name in (table.name, table.label or "", *table.synonyms):
        yield from name_words(name)[-1:]


def _is_within(one: NamedNode, other: NamedNode) -> bool:
    return one is not other and other.start <= one.start and one.end <= other.end


def _node(variable: str, named: NamedNode) -> tree.NodePattern:
    return tree.NodePattern(variable, (named.table,), ((named.column, tree.Given(named.value)),))


def _written(pattern: tree.Pattern, items: Sequence[tree.ReturnItem]) -> str:
    query = tree.SingleQuery((tree.MatchClause((pattern,)),), tree.Projection(tuple(items)))
    return write.written(tree.CypherQuery((query,)))
