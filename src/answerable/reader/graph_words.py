"""What the words of a question name in a graph: nodes by their names, and kinds of nodes."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from answerable.core.catalog import Catalog, Table, ValueLookup
from answerable.core.values import Frozen
from answerable.core.words import name_words, stem

_SURE = 0.9
"""Least score of a value: whole names and slips of the pen, never parts of names."""
_CANDIDATES = 24
_LONGEST_VALUE = 6
PEOPLE = frozenset(("who", "everyone", "everybody", "anyone"))
_PERSONS = frozenset(map(stem, ("user", "person", "people", "employee", "member", "account")))


class PathAnswer(Frozen):
    """A query that answers a question about ways or relationships."""

    cypher: str
    sentence: str
    reason: str = "Both ends are named in the data, and only the relationships of the graph connect them."
    """Why it can be trusted."""


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


class GraphWords:
    def __init__(self, catalog: Catalog, values: ValueLookup, beside: frozenset[str]) -> None:
        """`beside`: words that name nothing."""
        self.nodes = {table.name: table for table in catalog.tables if not table.connections}
        self.edges = [(t.name, c.from_table, c.to_table) for t in catalog.tables for c in t.connections]
        self._values = values
        self._beside = beside

    def named(self, said: Sequence[str]) -> list[NamedNode]:
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
        if text in self._beside or text in PEOPLE:
            return None
        hits = [
            hit
            for hit in self._values.find(text, _CANDIDATES, _SURE)
            if hit.table in self.nodes and hit.column == self.shown(hit.table)
        ]
        best = {(hit.table, hit.column, hit.value) for hit in hits if hit.score == hits[0].score}
        return best.pop() if len(best) == 1 else None

    def shown(self, table: str) -> str:
        """The property by which people know a node: its name, else its key."""
        node = self.nodes[table]
        columns = [column.name for column in node.columns]
        named = next((name for name in columns if name.casefold() in ("name", "title", "label")), None)
        like_a_name = next((each for each in columns if name_words(each)[-1:] == ["name"]), None)
        return named or like_a_name or next(iter(node.primary_key), columns[0])

    @staticmethod
    def is_only(said: Sequence[str], named: Sequence[NamedNode], others: frozenset[str]) -> bool:
        taken = {place for each in named for place in range(each.start, each.end)}
        return all(word in others for place, word in enumerate(said) if place not in taken)

    @cached_property
    def names(self) -> Mapping[str, frozenset[str]]:
        """The words that each kind of node is called by, in both numbers."""
        return {name: frozenset(_called(table)) for name, table in self.nodes.items()}

    def nodes_called(self, word: str) -> list[str]:
        return [name for name, called in self.names.items() if word in called or stem(word) in map(stem, called)]

    def starting(self, said: Sequence[str]) -> list[str]:
        if not PEOPLE.isdisjoint(said):
            return [name for name, called in self.names.items() if not _PERSONS.isdisjoint(map(stem, called))]
        return list(
            dict.fromkeys(name for word in said if word not in self._beside for name in self.nodes_called(word))
        )


def _called(table: Table) -> Iterator[str]:
    for name in (table.name, table.label or "", *table.synonyms):
        yield from name_words(name)[-1:]


def _is_within(one: NamedNode, other: NamedNode) -> bool:
    return one is not other and other.start <= one.start and one.end <= other.end
