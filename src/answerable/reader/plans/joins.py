"""Which tables connect the ones that are needed: a Steiner tree over the relationships, cheapest first."""

import heapq
from collections.abc import Iterable

from answerable.reader.linking.schema import Edge, Schema


class NoPath(Exception):
    """The tables are not connected by any relationship."""


def join_tree(schema: Schema, first: int, needed: Iterable[int], avoid: frozenset[int] = frozenset()) -> list[Edge]:
    """Edges in the order in which they can be joined, starting from `first`.

    The tree grows by the nearest missing table (the classic approximation of a Steiner tree). The result is exact for
    two tables. For more tables it can cost more than the best tree, but less than twice as much.
    """
    return grown_tree(schema, {first}, needed, avoid)


def grown_tree(
    schema: Schema, joined: Iterable[int], needed: Iterable[int], avoid: frozenset[int] = frozenset()
) -> list[Edge]:
    """The edges that bring the needed tables to those that are joined already."""
    inside = set(joined)
    missing = set(needed) - inside
    tree: list[Edge] = []
    while missing:
        path = _nearest(schema, inside, missing, avoid)
        if path is None:
            raise NoPath
        tree.extend(path)
        inside.update(edge.end for edge in path)
        missing -= inside
    return tree


def distance(schema: Schema, start: int, end: int) -> float | None:
    if start == end:
        return 0.0
    path = _nearest(schema, {start}, {end}, frozenset())
    return None if path is None else sum(edge.cost for edge in path)


def _nearest(schema: Schema, inside: set[int], missing: set[int], avoid: frozenset[int]) -> list[Edge] | None:
    queue: list[tuple[float, int, int]] = [(0.0, order, table) for order, table in enumerate(sorted(inside))]
    best: dict[int, float] = dict.fromkeys(inside, 0.0)
    came: dict[int, Edge] = {}
    counter = len(queue)
    heapq.heapify(queue)
    while queue:
        cost, _, table = heapq.heappop(queue)
        if cost > best[table]:
            continue
        if table in missing:
            return _walk_back(came, table, inside)
        for edge in schema.edges.get(table, ()):
            if avoid and any(here in avoid or there in avoid for here, there in edge.pairs):
                continue
            total = cost + edge.cost
            if total < best.get(edge.end, float("inf")):
                best[edge.end] = total
                came[edge.end] = edge
                counter += 1
                heapq.heappush(queue, (total, counter, edge.end))
    return None


def _walk_back(came: dict[int, Edge], table: int, inside: set[int]) -> list[Edge]:
    path: list[Edge] = []
    while table not in inside:
        edge = came[table]
        path.append(edge)
        table = edge.start
    return path[::-1]
