"""Normalization of rows, one for each channel, as steps of a plan: batch norm of arrays whose channels are outermost in
memory, as convolutions leave them, and its gradient.

A row is read for its mean, read again for its variance, and read and written for the result: it stays in the cache
meanwhile unless it is a very long one. Sums are those of a few vectors, gathered in float64 block by block.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from .emit import FLOAT32
from .errors import NoNativeForm
from .operands import Operand
from .products import NONE, moved
from .sharing import in_parts
from .steps import PARAMETERS, array, optional, word
from .vectors import BITS, FULL, LANES, first_lanes, fma, load, spread, store
from .vectors import total as sum_of_lanes
from .writer import Writer

if TYPE_CHECKING:
    from .assembler import Assembler

_UNROLLED = 4
_BLOCK = 4096
# Elements from which on threads share the work.
_LARGE = 1 << 16
DECLARATIONS = ("declare double @llvm.sqrt.f64(double)",)
Terms = Callable[[str, str], Sequence[str]]


def norm_steps() -> dict[str, str]:
    """The steps' functions, by name."""
    return {"channel_norm": _norm(), "channel_norm_grad": _norm_grad()}


def _sums(w: Writer, n: str, count: int, terms: Terms) -> list[str]:
    """The sums, as doubles, of what `terms` gives for each vector of a row: it is asked with an element's number, and a
    mask for the last ones, of which others must be 0.
    """
    totals = [w.variable("double", "0.0") for _ in range(count)]
    parts = [[w.space(FULL, 64) for _ in range(_UNROLLED)] for _ in range(count)]
    step = LANES * _UNROLLED
    with w.loop(n, 0, _BLOCK) as first:
        end = w.least(n, w.add(first, _BLOCK))
        for part in (p for own in parts for p in own):
            w.line(f"store {FULL} zeroinitializer, ptr {part}")
        many = w.add(first, w.value(f"and i64 {w.value(f'sub i64 {end}, {first}')}, {-step}"))
        with w.loop(many, first, step) as i:
            for u in range(_UNROLLED):
                _gather(w, [own[u] for own in parts], terms(w.add(i, u * LANES), ""))
        with w.loop(end, many, LANES) as i:
            mask = first_lanes(w, w.value(f"sub i64 {end}, {i}"))
            _gather(w, [own[0] for own in parts], terms(i, mask))
        for total, own in zip(totals, parts):
            vectors = [w.value(f"load {FULL}, ptr {p}") for p in own]
            while len(vectors) > 1:
                pairs = zip(vectors[::2], vectors[1::2])
                vectors = [w.value(f"fadd {FULL} {x}, {y}") for x, y in pairs]
            found = sum_of_lanes(w, vectors[0])
            old = w.value(f"load double, ptr {total}")
            w.line(f"store double {w.value(f'fadd double {old}, {_wide(w, found)}')}, ptr {total}")
    return [w.value(f"load double, ptr {total}") for total in totals]


def _gather(w: Writer, parts: Sequence[str], terms: Sequence[str]) -> None:
    for part, term in zip(parts, terms):
        old = w.value(f"load {FULL}, ptr {part}")
        w.line(f"store {FULL} {w.value(f'fadd {FULL} {old}, {term}')}, ptr {part}")


def _each(w: Writer, n: str, write: Callable[[str, str], None]) -> None:
    """Every vector of a row, the last under a mask."""
    whole = w.value(f"and i64 {n}, {-LANES}")
    with w.loop(whole, 0, LANES) as i:
        write(i, "")
    with w.loop(n, whole, LANES) as i:
        write(i, first_lanes(w, w.value(f"sub i64 {n}, {i}")))


def _wide(w: Writer, x: str) -> str:
    return w.value(f"fpext float {x} to double")


def _narrow(w: Writer, x: str) -> str:
    return w.value(f"fptrunc double {x} to float")


def _double(w: Writer, index: int) -> str:
    """The word as a double."""
    return w.value(f"bitcast i64 {word(w, index)} to double")


def _or(w: Writer, pointer: str, i: str, otherwise: str) -> str:
    """The float there, or a number where there is no array."""
    found = w.variable("float", otherwise)
    with w.when(w.value(f"icmp ne ptr {pointer}, null")):
        w.line(f"store float {w.load(pointer, i, 'float', 4)}, ptr {found}")
    return w.value(f"load float, ptr {found}")


def _put(w: Writer, value: str, pointer: str, i: str) -> None:
    """Write a float where there is an array."""
    with w.when(w.value(f"icmp ne ptr {pointer}, null")):
        w.store(value, pointer, i, "float", 4)


def _norm() -> str:
    """c: 2 rows, 3 their size, 4 5 the steps of x and out from row to row, 6 epsilon, 7 momentum; arrays: 8 x, 9 out,
    10 weight, 11 bias, 12 mean, 13 rstd, 14 15 the running mean and variance, 16 17 those to come.
    """
    w = Writer("i32", "channel_norm", PARAMETERS)
    n, epsilon, momentum = word(w, 3), _double(w, 6), _double(w, 7)
    x, out = array(w, 8), array(w, 9)
    weight, bias = optional(w, 10), optional(w, 11)
    mean, rstd, old_mean, old_var, new_mean, new_var = (array(w, i) for i in range(12, 18))
    count = w.value(f"sitofp i64 {n} to double")
    fresh = w.value(f"fsub double 1.0, {momentum}")

    def blend(old: str, new: str, value: str, row: str) -> None:
        kept = w.value(f"fmul double {_wide(w, w.load(old, row, 'float', 4))}, {momentum}")
        both = w.value(f"fadd double {kept}, {w.value(f'fmul double {value}, {fresh}')}")
        w.store(_narrow(w, both), new, row, "float", 4)

    with w.loop(word(w, 2)) as row:
        source, target = (w.at(p, w.times(row, word(w, s)), "i8") for p, s in ((x, 4), (out, 5)))
        (total,) = _sums(w, n, 1, lambda i, mask: [load(w, w.at(source, i, "float"), mask)])
        middle = w.value(f"fdiv double {total}, {count}")
        low = _narrow(w, middle)
        at = spread(w, low)

        def squares(i: str, mask: str) -> Sequence[str]:
            apart = w.value(f"fsub {FULL} {load(w, w.at(source, i, 'float'), mask)}, {at}")
            square = w.value(f"fmul {FULL} {apart}, {apart}")
            return [w.value(f"select {BITS} {mask}, {FULL} {square}, {FULL} zeroinitializer") if mask else square]

        (apart_from_it,) = _sums(w, n, 1, squares)
        variance = w.value(f"fdiv double {apart_from_it}, {count}")
        root = w.value(f"call double @llvm.sqrt.f64(double {w.value(f'fadd double {variance}, {epsilon}')})")
        factor = _narrow(w, w.value(f"fdiv double 1.0, {root}"))
        by = spread(w, w.value(f"fmul float {factor}, {_or(w, weight, row, '1.0')}"))
        to = spread(w, _or(w, bias, row, "0.0"))

        def write(i: str, mask: str) -> None:
            apart = w.value(f"fsub {FULL} {load(w, w.at(source, i, 'float'), mask)}, {at}")
            store(w, fma(w, apart, by, to), w.at(target, i, "float"), mask)

        _each(w, n, write)
        w.store(low, mean, row, "float", 4)
        w.store(factor, rstd, row, "float", 4)
        blend(old_mean, new_mean, middle, row)
        blend(old_var, new_var, variance, row)
    w.line("ret i32 0")
    return w.text


def _norm_grad() -> str:
    """dx = rstd weight (ct - mean(ct) - y mean(ct y)), y the normalized x; the sums of ct y and of ct.

    c: 2 rows, 3 their size, 4 5 6 the steps of ct, x and dx from row to row; arrays: 7 ct, 8 x, 9 weight, 10 mean,
    11 rstd, 12 dx, 13 14 the weight's cotangent and the bias's.
    """
    w = Writer("i32", "channel_norm_grad", PARAMETERS)
    n = word(w, 3)
    ct, x, weight = array(w, 7), array(w, 8), optional(w, 9)
    mean, rstd, dx = (array(w, i) for i in range(10, 13))
    dweight, dbias = optional(w, 13), optional(w, 14)
    count = w.value(f"sitofp i64 {n} to double")
    with w.loop(word(w, 2)) as row:
        flow, source, target = (w.at(p, w.times(row, word(w, s)), "i8") for p, s in ((ct, 4), (x, 5), (dx, 6)))
        at = spread(w, w.load(mean, row, "float", 4))
        factor = w.load(rstd, row, "float", 4)

        def terms(i: str, mask: str) -> Sequence[str]:
            given = load(w, w.at(flow, i, "float"), mask)
            apart = w.value(f"fsub {FULL} {load(w, w.at(source, i, 'float'), mask)}, {at}")
            return [given, w.value(f"fmul {FULL} {given}, {apart}")]

        total, along = _sums(w, n, 2, terms)
        root = _wide(w, factor)
        on_y = w.value(f"fmul double {along}, {root}")
        by = spread(w, w.value(f"fmul float {factor}, {_or(w, weight, row, '1.0')}"))
        less = spread(w, _narrow(w, w.value(f"fdiv double {total}, {count}")))
        slope = w.value(f"fdiv double {w.value(f'fmul double {on_y}, {root}')}, {count}")
        lean = spread(w, _narrow(w, w.value(f"fneg double {slope}")))

        def write(i: str, mask: str) -> None:
            apart = w.value(f"fsub {FULL} {load(w, w.at(source, i, 'float'), mask)}, {at}")
            given = w.value(f"fsub {FULL} {load(w, w.at(flow, i, 'float'), mask)}, {less}")
            both = fma(w, apart, lean, given)
            store(w, w.value(f"fmul {FULL} {both}, {by}"), w.at(target, i, "float"), mask)

        _each(w, n, write)
        _put(w, _narrow(w, on_y), dweight, row)
        _put(w, _narrow(w, total), dbias, row)
    w.line("ret i32 0")
    return w.text


def _bits(value: float) -> int:
    found: int = struct.unpack("<q", struct.pack("<d", value))[0]
    return found


def _need(*operands: Operand | None) -> None:
    if any(x is not None and x.dtype != FLOAT32 for x in operands):
        raise NoNativeForm("norms of channels are those of float32")


def _from(x: Operand | None, row: int) -> Any:
    """What lies behind so many elements."""
    return NONE if x is None else moved(x, row * x.dtype.itemsize)


def add_norm(
    n: Assembler, x: Operand, out: Operand, params: Sequence[Operand | None], stats: Sequence[Operand], epsilon: float,
    momentum: float,
) -> None:  # fmt: skip
    """out [rows, columns] = x normalized; params: weight and bias; stats: mean, rstd, both running statistics, and both
    to come.
    """
    _need(x, *params, *stats)

    def part(start: int, stop: int) -> None:
        own = [moved(v, start * v.strides[0]) for v in (x, out)]
        others = [_from(v, start) for v in (*params, *stats)]
        n.add("channel_norm", [
            stop - start, x.shape[1], x.strides[0], out.strides[0], _bits(epsilon), _bits(momentum), *own, *others
        ])  # fmt: skip

    # Parts begin at multiples of 16 floats: no two threads write statistics to one line of the cache.
    in_parts(n, x.shape[0], x.size >= _LARGE, part, 16)


def add_norm_grad(
    n: Assembler, ct: Operand, x: Operand, dx: Operand, given: Sequence[Operand | None], made: Sequence[Operand | None]
) -> None:
    """dx [rows, columns] = the cotangent of x; given: weight, mean, rstd; made: the weight's cotangent, the bias's."""
    _need(ct, x, *given, *made)

    def part(start: int, stop: int) -> None:
        flow, source, target = (moved(v, start * v.strides[0]) for v in (ct, x, dx))
        weight, mean, rstd = (_from(v, start) for v in given)
        n.add("channel_norm_grad", [
            stop - start, x.shape[1], ct.strides[0], x.strides[0], dx.strides[0], flow, source, weight, mean, rstd,
            target, *(_from(v, start) for v in made),
        ])  # fmt: skip

    # Parts begin at multiples of 16 floats: no two threads write statistics to one line of the cache.
    in_parts(n, x.shape[0], x.size >= _LARGE, part, 16)


__all__ = ["DECLARATIONS", "add_norm", "add_norm_grad", "norm_steps"]
