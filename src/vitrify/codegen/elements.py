"""Elementwise work of a plan: kernels of groups of operators, and how their operands are walked through."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

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


def over(
    loop: Any, data: Any, operands: Sequence[Operand], shape: Shape, keep_last: bool = False
) -> list[Any] | None:
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
