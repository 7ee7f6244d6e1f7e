"""Objects whose order or equality tensors decide: sorted, looked for, compared; what sorted gives are the objects."""

from dataclasses import dataclass
from functools import total_ordering

from .functions import N, X


class Node:
    """Compared by a tensor."""

    def __init__(self, key, value):
        self.key, self.value = key, value

    def __lt__(self, other):
        return self.key < other.key

    def __eq__(self, other):
        return isinstance(other, Node) and bool(self.key == other.key)

    __hash__ = None


@total_ordering
class Ranked:
    """All comparisons by two."""

    def __init__(self, rank):
        self.rank = rank

    def __eq__(self, other):
        return bool(self.rank == other.rank)

    def __lt__(self, other):
        return bool(self.rank < other.rank)

    __hash__ = None


@dataclass(order=True)
class Pair:
    """Compared by its fields."""

    first: object
    second: object


def sorted_by_their_order(x):
    nodes = [Node(a, i) for i, a in enumerate(x)]
    found = sorted(nodes)
    found[0].value = 100
    nodes.sort(reverse=True)
    return [n.value for n in found], [n.key for n in nodes]


def sorted_by_key_and_changed(x):
    nodes = [Node(a, i) for i, a in enumerate(x)]
    found = sorted(nodes, key=lambda node: node.key)
    found[0].value = 100
    return [n.value for n in nodes], [n.value for n in found]


def looked_for(x):
    nodes = [Node(a, None) for a in x]
    wanted = Node(x.max(), 0)
    return wanted in nodes, Node(x.sum() * 9, 0) not in nodes, nodes.index(wanted), nodes.count(wanted)


def totally_ordered(x):
    a, b = Ranked(x[0]), Ranked(x[1])
    return (x if a >= b else x * 2), a > b, a <= b, a != b, max(a, b).rank


def dataclasses_compared(x):
    pairs = [Pair(a, a * 2) for a in x]
    return [p.second for p in sorted(pairs)], Pair(x[0], 1) == Pair(x[1], 1), Pair(x[0], 1) != Pair(x[0], 2)


def sorted_again_after_changes(x):
    nodes = [Node(x[0], "a"), Node(x[1] * 2, "b")]
    total = 0
    for _ in range(3):
        nodes.sort(key=lambda node: node.key, reverse=True)
        nodes[0].key = nodes[0].key - 1
        total = total + nodes[0].key
    return total, [n.value for n in nodes]


CASES = [
    (function, [(X,), (N,), ([0.5, 0.5, 0.1],)])
    for function in (
        sorted_by_their_order, sorted_by_key_and_changed, looked_for, totally_ordered, dataclasses_compared,
        sorted_again_after_changes,
    )
]  # fmt: skip
