"""Elementwise work of a plan: kernels of groups of operators, and how their operands are walked through."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

from .errors import NoNativeForm
from .pointwise import Signature
from .steps import MOST_OPERANDS

if TYPE_CHECKING:
    from .operands import Operand

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Pointwise:
    """A compiled group: its operands, where its description lies, and which inputs each output depends on."""

    signature: Signature
    address: Any
    cones: tuple[tuple[int, ...], ...]


def in_memory_order(operands: Sequence[Operand], shape: Shape) -> tuple[list[Operand], Shape]:
    """The operands, all of `shape`, and the shape, dimensions in the order in which the last one lies in memory."""
    steps = _steps(operands[-1], shape)
    order = sorted(range(len(shape)), key=lambda d: -abs(steps[d]) if shape[d] > 1 else 0)
    if order == sorted(order):
        return [*operands], shape
    found = []
    for x in operands:
        own = _steps(x, shape)
        sizes = (1,) * (len(shape) - x.ndim) + x.shape
        found.append(replace(x, shape=tuple(sizes[d] for d in order), strides=tuple(own[d] for d in order)))
    return found, tuple(shape[d] for d in order)


class Across(NamedTuple):
    """A copy that exchanges two dimensions: both arrays without the source's innermost, which the inner loop goes over
    by itself (`inner_loops.turned_loop`), and the word that says how.
    """

    source: Operand
    target: Operand
    data: int


# Elements of both dimensions below which there are no squares to exchange.
_LEAST_ACROSS = 8


def turned(x: Operand, target: Operand) -> Across | None:
    """A copy between arrays of four-byte elements whose innermost dimensions differ; None where it is no such copy."""
    if x.dtype.itemsize != 4 or x.ndim < 2:
        return None
    inner = [next((d for d, (n, s) in enumerate(zip(v.shape, v.strides)) if n > 1 and s == 4), -1) for v in (x, target)]
    if -1 in inner or inner[0] == inner[1] or any(x.shape[d] < _LEAST_ACROSS for d in inner):
        return None
    axis = inner[0]
    if target.strides[axis] < 0 or target.strides[axis] >> 31 or x.shape[axis] >> 31:
        return None
    data = target.strides[axis] << 32 | x.shape[axis]
    source, to = (_without(v, axis) for v in (x, target))
    return Across(source, to, data)


def _without(x: Operand, axis: int) -> Operand:
    others = [d for d in range(x.ndim) if d != axis]
    return replace(x, shape=tuple(x.shape[d] for d in others), strides=tuple(x.strides[d] for d in others))


def over(loop: Any, data: Any, operands: Sequence[Operand], shape: Shape, keep_last: bool = False) -> list[Any] | None:
    """The words of a step over all elements of operands that broadcast to a shape; None where there are none.

    keep_last: the last dimension is the inner loop's, as it stands.
    """
    if 0 in shape:
        return None
    if len(operands) > MOST_OPERANDS:
        raise NoNativeForm(f"{len(operands)} operands are too many")
    steps = [_steps(x, shape) for x in operands]
    sizes, steps = _merged(shape, steps, keep_last)
    inner = sizes.pop() if sizes else 1
    words: list[Any] = [loop, data, len(operands), inner, len(sizes), prod(sizes), *sizes]
    for x, own in zip(operands, steps):
        last = own.pop() if own else x.dtype.itemsize
        words += [x, last, *own]
    return words


def _steps(x: Operand, shape: Shape) -> list[int]:
    """The steps of x broadcast to a shape."""
    own = [0 if n == 1 else s for n, s in zip(x.shape, x.strides)]
    return [0] * (len(shape) - len(own)) + own


def _merged(shape: Shape, steps: list[list[int]], keep_last: bool) -> tuple[list[int], list[list[int]]]:
    """The dimensions without those of size 1, neighbours made one where every operand lies so."""
    sizes: list[int] = []
    found: list[list[int]] = [[] for _ in steps]
    last = len(shape) - 1
    for d in range(last, -1, -1):
        own = [s[d] for s in steps]
        if shape[d] == 1 and not (keep_last and d == last):
            continue
        is_open = bool(sizes) and not (keep_last and len(sizes) == 1)
        if is_open and all(s == f[0] * sizes[0] for s, f in zip(own, found)):
            sizes[0] *= shape[d]
            continue
        sizes.insert(0, shape[d])
        for f, s in zip(found, own):
            f.insert(0, s)
    return sizes, found
