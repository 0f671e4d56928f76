"""Questions about ways through a graph: "how does Ada have access to GitHub?", "who can reach AWS through a group?".

Two things that the question names, and words that ask for what connects them, become one pattern. Which way it leads
and how long it can be, the relationships of the graph say; nothing is guessed.
"""

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import product

from answerable.core.catalog import Catalog, ValueLookup
from answerable.core.words import words
from answerable.query.cypher import tree, write
from answerable.reader.graph_words import PEOPLE, GraphWords, NamedNode, PathAnswer

_LONGEST_QUESTION = 24
_LONGEST_WAY, _LONGEST_SEARCH = 4, 6
"""Relationships of a way where it is known how long it can be, and where ways can go round in circles."""
_ASKING = frozenset(
    (
        "how",
        "why",
        "path",
        "paths",
        "way",
        "ways",
        "route",
        "connected",
        "related",
        "linked",
        "connects",
        "hops",
        "steps",
    )
)
_DISTANCE = frozenset(("hops", "steps", "far"))
_BESIDE = _ASKING | frozenset(
    word
    for line in (
        "a an the is are was do does did can could get gets got have has had access to from between and of with what",
        "leads lead reach reaches through via by which connect link shortest show me all find use uses come comes into",
        "there any many far away apart separate",
    )
    for word in line.split()
)
_REACHING = frozenset(("reach", "access", "get", "gets", "use", "has", "have"))
_THROUGH = frozenset(("through", "via"))


class PathQuestions:
    def __init__(self, catalog: Catalog, values: ValueLookup) -> None:
        self._words = GraphWords(catalog, values, _BESIDE)
        self._edges = self._words.edges

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
            for one, other in product(self._words.named(said), repeat=2)
            if one.end <= other.start and self._words.is_only(said, (one, other), _BESIDE)
        ]
        if len(pairs) != 1:
            return None
        one, other = pairs[0]
        edge = self._ways(one.table, other.table)
        if edge is None:
            return None
        pattern = tree.Pattern((_node("a", one), _node("b", other)), (edge,), "way")
        way = tree.ReturnItem(tree.Variable("way"))
        hops = tree.ReturnItem(tree.FunctionCall("length", (tree.Variable("way"),)), "hops")
        cypher = _written(pattern, (way,) if _DISTANCE.isdisjoint(said) else (hops, way))
        return PathAnswer(cypher=cypher, sentence=f"Show what connects {one.said} and {other.said}.")

    def _through(self, said: Sequence[str]) -> PathAnswer | None:
        """Who reaches a thing by way of things of another kind: `who can reach AWS through a group`."""
        if _THROUGH.isdisjoint(said) or _REACHING.isdisjoint(said):
            return None
        middle = next((place for place, word in enumerate(said) if word in _THROUGH), 0)
        kinds = [
            self._words.nodes_called(said[place])
            for place in range(middle + 1, len(said))
            if said[place] not in _BESIDE
        ]
        starts = self._words.starting(said[:middle])
        named = [
            each
            for each in self._words.named(said[:middle])
            if self._words.is_only(said[:middle], (each,), self._open_words)
        ]
        if len(kinds) != 1 or len(kinds[0]) != 1 or len(starts) != 1 or len(named) != 1:
            return None
        start, via, goal = starts[0], kinds[0][0], named[0]
        first, second = self._hops(start, via), self._hops(via, goal.table)
        if len(first) != 1 or len(second) != 1:
            return None
        nodes = (tree.NodePattern("a", (start,)), tree.NodePattern("b", (via,)), _node("c", goal))
        pattern = tree.Pattern(nodes, (tree.EdgePattern(types=first), tree.EdgePattern(types=second)), "way")
        shown = tuple(
            tree.ReturnItem(tree.Property(tree.Variable(variable), self._words.shown(table)), table)
            for variable, table in (("a", start), ("b", via))
        )
        cypher = _written(pattern, (*shown, tree.ReturnItem(tree.Variable("way"))))
        return PathAnswer(cypher=cypher, sentence=f"List each {start} that leads to {goal.said} through a {via}.")

    @cached_property
    def _open_words(self) -> frozenset[str]:
        return _BESIDE | PEOPLE | frozenset(word for names in self._words.names.values() for word in names)

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


def _node(variable: str, named: NamedNode) -> tree.NodePattern:
    return tree.NodePattern(variable, (named.table,), ((named.column, tree.Given(named.value)),))


def _written(pattern: tree.Pattern, items: Sequence[tree.ReturnItem]) -> str:
    query = tree.SingleQuery((tree.MatchClause((pattern,)),), tree.Projection(tuple(items)))
    return write.written(tree.CypherQuery((query,)))
