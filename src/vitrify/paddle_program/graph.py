"""A saved program of Paddle's in one form, whichever of its formats it came in: nodes as `.json` programs have them."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from typing import Any

from ..core.dtype import DType

Id = Hashable
MOST_NODES = 1_000_000
DEEPEST = 32
MOST_DIMENSIONS = 64


@dataclass(frozen=True)
class Feed:
    """An input of the program."""

    id: Id
    name: str
    dtype: DType
    shape: tuple[int, ...]


@dataclass(frozen=True)
class Param:
    """A tensor that the program keeps in its file of parameters."""

    id: Id
    name: str
    dtype: DType
    shape: tuple[int, ...]
    trainable: bool


@dataclass
class Node:
    """One operator. An input is an id, a list of ids, a known array or None; an output an id, a list or None."""

    name: str
    inputs: list[Any]
    outputs: list[Any]
    attrs: dict[str, Any] = field(default_factory=dict)
    blocks: list[Graph] = field(default_factory=list)


@dataclass
class Graph:
    """A program or a block of one: nodes in order; `args` are ids that the operator around it gives values to."""

    nodes: list[Node] = field(default_factory=list)
    feeds: list[Feed] = field(default_factory=list)
    params: list[Param] = field(default_factory=list)
    args: list[Id] = field(default_factory=list)
    outputs: list[Id] = field(default_factory=list)
    output_dtypes: list[DType] = field(default_factory=list)  # empty where the values' own are right
    checksum: str | None = None  # of the file of parameters, where the program says it


def all_nodes(graph: Graph) -> Iterator[Node]:
    """Every node, those of blocks included."""
    for node in graph.nodes:
        yield node
        for block in node.blocks:
            yield from all_nodes(block)


def taken_from_around(graph: Graph) -> list[Id]:
    """The ids that a block's nodes take and none of them gives, in the order of their first use."""
    given: set[Id] = {None, *graph.args}
    found: dict[Id, None] = {}
    for node in graph.nodes:
        inner = [taken_from_around(block) for block in node.blocks]
        for taken in [sorted(all_ids(node.inputs), key=str), *inner]:
            found.update(dict.fromkeys(id_ for id_ in taken if id_ not in given))
        given |= all_ids(node.outputs)
    found.update(dict.fromkeys(id_ for id_ in graph.outputs if id_ not in given))
    return list(found)


EFFECTS = frozenset(("assert", "print"))
"""Operators that are there for what they do, whoever takes what they give."""


def has_effect(node: Node) -> bool:
    """Whether a node, or one in its blocks, is there for what it does."""
    return node.name in EFFECTS or any(inner.name in EFFECTS for block in node.blocks for inner in all_nodes(block))


def keep_used(graph: Graph, wanted: set[Id]) -> set[Id]:
    """The ids that are needed for those wanted; nodes that give none of them and do nothing else are taken out."""
    used = wanted | set(graph.outputs)
    kept = []
    for node in reversed(graph.nodes):
        if used.isdisjoint(all_ids(node.outputs)) and not has_effect(node):
            continue
        used |= all_ids(node.inputs)
        for block in node.blocks:
            used |= keep_used(block, set())
        kept.append(node)
    graph.nodes[:] = kept[::-1]
    return used


def all_ids(values: list[Any]) -> set[Id]:
    """Ids alone and in lists; arrays are none."""
    found: set[Id] = set()
    for value in values:
        found |= set(value) if isinstance(value, list) else {value} if isinstance(value, Hashable) else set()
    return found - {None}
