"""The workloads, as lists of dependencies on earlier nodes, and the same as graphs of the engine."""

import random
from collections.abc import Sequence
from typing import Any, TypeAlias

from answerable.core.ids import NodeId
from answerable.engine.graph import Graph, Node

Dependencies: TypeAlias = Sequence[Sequence[int]]


def chain(length: int) -> Dependencies:
    return [(number - 1,) if number else () for number in range(length)]


def fan(width: int) -> Dependencies:
    """One, then many, then one."""
    return [(), *[(0,)] * width, range(1, width + 1)]


def random_dag(nodes: int, edges: int, seed: int = 11, reach: int = 60) -> Dependencies:
    """One source; each edge comes from one of the `reach` nodes before."""
    chance = random.Random(seed)
    parents: list[set[int]] = [set(), *({chance.randrange(max(0, n - reach), n)} for n in range(1, nodes))]
    while sum(map(len, parents)) < edges:
        node = chance.randrange(2, nodes)
        parents[node].add(chance.randrange(max(0, node - reach), node))
    return [sorted(some) for some in parents]


def children(dependencies: Dependencies) -> list[list[int]]:
    made: list[list[int]] = [[] for _ in dependencies]
    for node, parents in enumerate(dependencies):
        for parent in parents:
            made[parent].append(node)
    return made


def graph(dependencies: Dependencies, kind: str, configs: Sequence[Any] | None = None) -> Graph:
    ids = [NodeId(f"n{number}") for number in range(len(dependencies))]
    nodes = [
        Node(id=id, kind=kind, after=tuple(ids[p] for p in parents), config=configs[n] if configs else None)
        for n, (id, parents) in enumerate(zip(ids, dependencies, strict=True))
    ]
    return Graph(nodes=tuple(nodes))
