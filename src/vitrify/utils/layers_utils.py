"""`paddle.utils.layers_utils`: functions of nested lists, tuples and dicts; the entries of a dict are sorted by key."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ..core.errors import ArgumentError


def is_sequence(seq: Any) -> bool:
    """Whether it is a list, tuple or dict."""
    return isinstance(seq, (list, tuple, dict))


def _children(nest: Any) -> list[Any]:
    return [nest[key] for key in sorted(nest)] if isinstance(nest, dict) else list(nest)


def _like(nest: Any, values: list[Any]) -> Any:
    """The values in a container like `nest`."""
    if isinstance(nest, dict):
        found = dict(zip(sorted(nest), values))
        return type(nest)((key, found[key]) for key in nest)
    return type(nest)(*values) if hasattr(nest, "_fields") else type(nest)(values)


def flatten(nest: Any) -> list[Any]:
    """What the nest holds, as one list. Source: paddle.utils.flatten.

    >>> flatten({"b": [1, (2, 3)], "a": 4})
    [4, 1, 2, 3]
    """
    return [leaf for child in _children(nest) for leaf in flatten(child)] if is_sequence(nest) else [nest]


def pack_sequence_as(structure: Any, flat_sequence: Sequence[Any]) -> Any:
    """The values of `flatten(structure)` replaced by others. Source: paddle.utils.pack_sequence_as.

    Raises ArgumentError when their numbers differ.

    >>> pack_sequence_as({"b": [1, (2, 3)], "a": 4}, "wxyz")
    {'b': ['x', ('y', 'z')], 'a': 'w'}
    """
    if len(flatten(structure)) != len(flat_sequence):
        raise ArgumentError(f"pack_sequence_as: {len(flat_sequence)} values for {len(flatten(structure))} places")
    return _packed(structure, iter(flat_sequence))


def _packed(structure: Any, values: Iterator[Any]) -> Any:
    if not is_sequence(structure):
        return next(values)
    return _like(structure, [_packed(child, values) for child in _children(structure)])


def map_structure(func: Callable[..., Any], *structure: Any) -> Any:
    """`func` of the values at the same places of the nests. Source: paddle.utils.map_structure.

    >>> map_structure(lambda a, b: a + b, {"x": [1, 2]}, {"x": [3, 4]})
    {'x': [4, 6]}
    """
    return pack_sequence_as(structure[0], [func(*values) for values in zip(*map(flatten, structure))])


__all__ = ["flatten", "is_sequence", "map_structure", "pack_sequence_as"]
