"""Update rules: the arithmetic of one optimizer on one parameter, written once.

A rule works in place on arrays, which is what `Optimizer.step` runs. The op made from it (`rule.op`) does the same
on copies, so that a program can hold the update of a parameter as one operator.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from operator import attrgetter
from typing import Any, Protocol

import numpy as np

from ..core.errors import ShapeError
from ..core.meta import Meta
from ..device.api import namespace_of
from ..ops.registry import InPlace, NativeInPlace, NoGradient, OpDef, define_op
from .native import NativeStep, add_update

# Elements worked on at a time: larger parameters go block by block, so that scratch stays in the cache.
BLOCK = 1 << 18
Floats = tuple[float, ...]
# prepare(lr, counters, attrs): advances the counters once a step, returns the numbers that `apply` uses.
Prepare = Callable[[float, Sequence[Any], Mapping[str, Any]], Floats]


class Apply(Protocol):
    """Changes `param` and the state arrays in place; all arrays have one shape, `scratch` is free to use."""

    def __call__(self, xp: Any, coefs: Sequence[Any], scratch: Any, param: Any, grad: Any, *state: Any) -> None: ...


class Workspace:
    """Scratch memory for updates of one dtype; every optimizer has its own."""

    __slots__ = ("_vector", "coefs", "decayed", "dtype", "scratch")

    def __init__(self, dtype: Any, n_coefs: int) -> None:
        self.dtype = dtype
        self.scratch = np.empty(0, dtype)
        self.decayed = np.empty(0, dtype)
        self._vector = np.empty(n_coefs, dtype)
        # NumPy reads a 0-D array of the right dtype twice as fast as a Python float.
        self.coefs = tuple(self._vector[i, ...] for i in range(n_coefs))

    def take(self, coefs: Floats) -> Sequence[Any]:
        """The numbers as 0-D arrays of this dtype, valid until the next call."""
        self._vector[:] = coefs
        return self.coefs

    def grow(self, size: int) -> None:
        """Make room for arrays of `size` elements."""
        if self.scratch.size < size:
            self.scratch = np.empty(size, self.dtype)
            self.decayed = np.empty(size, self.dtype)


@dataclass(frozen=True, eq=False)
class UpdateRule:
    """One optimizer's arithmetic.

    Fields:
        arrays: names of the state arrays shaped like the parameter.
        counters: names of the one-element state arrays, which live on the CPU.
        attrs: names of the numbers that stay the same from step to step.
        n_coefs: how many numbers `prepare` returns.
        whole: the parameter must be seen at once (it needs norms), so it is not cut into blocks.
    """

    name: str
    arrays: tuple[str, ...]
    counters: tuple[str, ...]
    attrs: tuple[str, ...]
    prepare: Prepare
    apply: Apply
    n_coefs: int
    whole: bool = False

    def run(
        self,
        param: Any,
        grad: Any,
        lr: float,
        arrays: Sequence[Any],
        counters: Sequence[Any],
        attrs: Mapping[str, Any],
        decay: tuple[float, float],
        work: Workspace,
    ) -> None:
        """Do one step in place. `decay`: coefficients of L1 and L2 decay, added to the gradient."""
        self.run_prepared(param, grad, self.prepare(lr, counters, attrs), arrays, decay, work)

    def run_prepared(
        self, param: Any, grad: Any, coefs: Floats, arrays: Sequence[Any], decay: tuple[float, float], work: Workspace
    ) -> None:
        """`run` with what `prepare` returned."""
        if param.__class__ is np.ndarray and param.flags.c_contiguous and not self.whole:
            self.run_flat(work, coefs, decay, param.reshape(-1), grad.reshape(-1), arrays)
            return
        xp = namespace_of((param,))
        grad = _decayed(xp, decay, xp.empty_like(grad), param, grad)
        self.apply(xp, coefs, xp.empty_like(param), param, grad, *arrays)

    def run_flat(
        self, work: Workspace, floats: Floats, decay: tuple[float, float], param: Any, grad: Any, arrays: Sequence[Any]
    ) -> None:
        """Do a step on contiguous arrays, block by block. `floats`: what `prepare` returned."""
        coefs = work.take(floats)
        size = param.size
        work.grow(min(size, BLOCK))
        flat = [a.reshape(-1) for a in arrays]
        if size <= BLOCK:
            grad = _decayed(np, decay, work.decayed[:size], param, grad)
            self.apply(np, coefs, work.scratch[:size], param, grad, *flat)
            return
        for start in range(0, size, BLOCK):
            part = slice(start, min(start + BLOCK, size))
            n = part.stop - start
            block = _decayed(np, decay, work.decayed[:n], param[part], grad[part])
            self.apply(np, coefs, work.scratch[:n], param[part], block, *[a[part] for a in flat])

    @property
    def op(self) -> OpDef:
        """The update as an op: (param, grad, lr, arrays, counters; attrs, l1, l2) -> their new values."""
        return _OPS[self.name]


def _decayed(xp: Any, decay: tuple[float, float], out: Any, param: Any, grad: Any) -> Any:
    """`grad` plus the gradient of the weight decay, in `out`; `grad` itself when there is none."""
    l1, l2 = decay
    if l2:
        xp.multiply(param, l2, out)
        xp.add(out, grad, out)
        return out
    if l1:
        xp.sign(param, out)
        xp.multiply(out, l1, out)
        xp.add(out, grad, out)
        return out
    return grad


def _op_kernel(rule: UpdateRule) -> Callable[..., Any]:
    """The rule as a kernel on copies, with the parameter names that the registry reads."""
    n = len(rule.arrays)

    def kernel(xp: Any, param: Any, grad: Any, lr: Any, *state: Any, l1: float, l2: float, **attrs: Any) -> Any:
        new = [a.copy() for a in (param, *state)]
        work = Workspace(param.dtype, rule.n_coefs)
        rule.run(new[0], grad, float(lr), new[1 : n + 1], new[n + 1 :], attrs, (l1, l2), work)
        return tuple(new) if state else new[0]

    names = ("xp", "param", "grad", "lr", *rule.arrays, *rule.counters)
    kinds = inspect.Parameter
    kernel.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [kinds(name, kinds.POSITIONAL_OR_KEYWORD) for name in names]
        + [kinds(name, kinds.KEYWORD_ONLY) for name in (*rule.attrs, "l1", "l2")]
    )
    return kernel


def _op_meta(rule: UpdateRule) -> Callable[..., Any]:
    def meta(param: Meta, grad: Meta, lr: Any, *state: Meta, **attrs: Any) -> Any:
        if any(a != b for a, b in zip(param.shape, grad.shape) if -1 not in (a, b)) or param.ndim != grad.ndim:
            raise ShapeError(f"{rule.name}: param is {param}, its gradient {grad}")
        return (param, *state) if state else param

    return meta


def _op_in_place(rule: UpdateRule) -> InPlace:
    """The rule on the arrays given."""
    n = len(rule.arrays)

    def run(
        scratch: dict[Any, Any], param: Any, grad: Any, lr: Any, *state: Any, l1: float, l2: float, **attrs: Any
    ) -> None:
        key = rule.n_coefs, param.dtype
        work = scratch.get(key)
        if work is None:
            work = scratch[key] = Workspace(param.dtype, rule.n_coefs)
        rule.run(param, grad, float(lr), state[:n], state[n:], attrs, (l1, l2), work)

    def run_many(
        scratch: dict[Any, Any], columns: Sequence[Sequence[Any]], *, l1: float, l2: float, **attrs: Any
    ) -> None:
        rate = _one_rate(columns[2])
        own = (*columns[:2], *columns[3:])
        if rate is None or not together(rule, own, rate, attrs, (l1, l2), scratch):
            for call in zip(*columns):
                run(scratch, *call, l1=l1, l2=l2, **attrs)

    places = lambda count: (0, *range(3, 2 + count))  # noqa: E731 - the parameter, arrays and counters
    return InPlace(places, run) if rule.whole else InPlace(places, run, run_many, _op_native(rule))


def _op_native(rule: UpdateRule) -> NativeInPlace:
    """The rule at the end of a native program."""
    first_counter = 3 + len(rule.arrays)

    def numbers(
        columns: Sequence[Sequence[Any]], *, l1: float, l2: float, **attrs: Any
    ) -> tuple[Floats, Callable[[], None]] | None:
        rate = _one_rate(columns[2])
        return None if rate is None else _advanced(rule, columns[first_counter:], rate, attrs)

    def emit(
        assembler: Any, coefs: Any, columns: Sequence[Sequence[Any]], *, l1: float, l2: float, **attrs: Any
    ) -> None:
        own = [*columns[:2], *columns[3:first_counter]]
        add_update(assembler, (rule, (l1, l2)), (rule.apply, _decayed), coefs, own)

    return NativeInPlace(rule.n_coefs, lambda position: position == 2 or position >= first_counter, numbers, emit)


def _one_rate(rates: Sequence[Any]) -> float | None:
    """The learning rate of all; None where they have several."""
    first, *others = rates
    rate = float(first)
    for other in others:
        if other is not first and float(other) != rate:
            return None
    return rate


def _advanced(
    rule: UpdateRule, counters: Sequence[Sequence[Any]], rate: float, attrs: Mapping[str, Any]
) -> tuple[Floats, Callable[[], None]] | None:
    """The numbers of a step that all parameters do, their counters advanced, and what takes that back; None where
    counters differ.
    """
    before = []
    for column in counters:
        value = column[0].item()
        for counter in column:
            if counter.item() != value:
                return None
        before.append(value)
    coefs = rule.prepare(rate, [column[0] for column in counters], attrs)
    for column in counters:
        _put(column, column[0].item())

    def undo() -> None:
        for column, value in zip(counters, before):
            _put(column, value)

    return coefs, undo


def _put(counters: Sequence[Any], value: float) -> None:
    for counter in counters:
        counter[0] = value  # in half the time of `[...]`


def memory_of(array: Any) -> Any:
    """The array whose memory it is: itself, or the one that it is a view of, as drawn numbers are; None if unknown."""
    base = array.base
    if base is None:
        return array
    return base if base.__class__ is np.ndarray and base.base is None else None


MAX_GATHERED = 4096
"""Without native code parameters of so many elements are updated together: what the calls for each take counts for
larger ones no more."""
MOST_GATHERED = 1 << 18
"""Elements of all of them."""
_array_dtype, _array_shape = attrgetter("dtype"), attrgetter("shape")


def together(
    rule: UpdateRule,
    columns: Sequence[Sequence[Any]],
    rate: float,
    attrs: Mapping[str, Any],
    decay: tuple[float, float],
    scratch: dict[Any, Any],
) -> bool:
    """Whether several parameters could be updated as one. columns: all of them, their gradients, each of the rule's
    arrays, each of its counters.
    """
    count = 2 + len(rule.arrays)
    columns, counters = columns[:count], columns[count:]
    latest = "latest", rule, decay, len(columns[0])
    again: Callable[..., bool] | None = scratch.get(latest)
    if again is None and not _are_alike(columns):
        return False
    found = _advanced(rule, counters, rate, attrs)
    if found is None:
        return False
    coefs, undo = found
    # The plan of the step before looks at its arrays itself.
    if again is None or not again(coefs, chain.from_iterable(columns)):
        if again is not None and not _are_alike(columns):
            undo()
            return False
        step = _natively(rule, columns, coefs, decay, scratch)
        if step is None:
            scratch.pop(latest, None)
            _by_numpy(rule, columns, coefs, decay, scratch)
        else:
            scratch[latest] = step.again
    return True


def _are_alike(columns: Sequence[Sequence[Any]]) -> bool:
    """Whether parameters and gradients are arrays of the host, of one dtype."""
    arrays = [*columns[0], *columns[1]]
    dtype = arrays[0].dtype
    return [*map(type, arrays)].count(np.ndarray) == len(arrays) == [*map(_array_dtype, arrays)].count(dtype)


def _natively(
    rule: UpdateRule, columns: Sequence[Sequence[Any]], coefs: Floats, decay: tuple[float, float],
    scratch: dict[Any, Any],
) -> NativeStep | None:  # fmt: skip
    """The native call that has updated all; None where the parameters are where they were."""
    key = "native", rule, decay, *map(_array_shape, columns[0])
    step = scratch.get(key)
    if step is None:
        step = scratch[key] = NativeStep(len(columns[0]), sum(array.size for array in columns[0]))
    if step.is_none or not step.run((rule, columns[0][0].dtype, decay), (rule.apply, _decayed), coefs, columns):
        return None
    return step


def _by_numpy(
    rule: UpdateRule, columns: Sequence[Sequence[Any]], coefs: Floats, decay: tuple[float, float],
    scratch: dict[Any, Any],
) -> None:  # fmt: skip
    """Large parameters one by one; small ones gathered in one array, which takes less time than calls for each."""
    dtype = columns[0][0].dtype
    key = "work", rule.n_coefs, dtype
    work = scratch.get(key)
    if work is None:
        work = scratch[key] = Workspace(dtype, rule.n_coefs)
    small: list[list[Sequence[Any]]] = [[]]
    room = MOST_GATHERED
    for param, grad, *arrays in zip(*columns):
        if param.size > MAX_GATHERED:
            rule.run_prepared(param, grad, coefs, arrays, decay, work)
            continue
        room -= param.size
        if room < 0:
            room = MOST_GATHERED - param.size
            small.append([])
        small[-1].append((param, grad, *arrays))
    for part in small:
        if part:
            _gathered(rule, [*zip(*part)], coefs, decay, work, scratch)


def _gathered(
    rule: UpdateRule, columns: Sequence[Sequence[Any]], coefs: Floats, decay: tuple[float, float], work: Workspace,
    scratch: dict[Any, Any],
) -> None:  # fmt: skip
    size = sum(array.size for array in columns[0])
    key = "together", len(columns), work.dtype
    held = scratch.get(key)
    if held is None or held.shape[1] < size:
        held = scratch[key] = np.empty((len(columns), size), work.dtype)
    flat = held[:, :size]
    for row, arrays in zip(flat, columns):
        np.concatenate([a.reshape(-1) for a in arrays], out=row)
    rule.run_flat(work, coefs, decay, flat[0], flat[1], list(flat[2:]))
    for i, row in enumerate(flat):
        if i != 1:
            _scatter(row, columns[i])


def _scatter(row: Any, arrays: Sequence[Any]) -> None:
    start = 0
    for array in arrays:
        array[...] = row[start : start + array.size].reshape(array.shape)
        start += array.size


_OPS: dict[str, OpDef] = {}


# Rules that are an attribute of another one in Paddle's programs.
_VARIANTS = {"nesterov_update": "momentum", "amsgrad_update": "adam", "rmsprop_centered_update": "rmsprop"}


def define_update(name: str, **fields: Any) -> UpdateRule:
    """Make a rule and register its op `name`; see `UpdateRule` for the fields."""
    rule = UpdateRule(name, **fields)
    _OPS[name] = define_op(
        name,
        kernel=_op_kernel(rule),
        meta=_op_meta(rule),
        vjp=NoGradient("an optimizer step is not differentiated"),
        outputs=tuple(f"{output}_out" for output in ("param", *rule.arrays, *rule.counters)),
        in_place=_op_in_place(rule),
        maps={"paddle": _VARIANTS.get(name, name.removesuffix("_update"))},
    )
    return rule
