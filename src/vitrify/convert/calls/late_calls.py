"""Calls of library functions with numbers that only a run knows, where nothing else works: they wait for the run.

Which of them is an offset, a window or a power decides about shapes, and most functions take them as Python numbers
alone. What the function gives is found by trying a few numbers: sizes that differ between them are open.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, product
from typing import Any

from ...core.bound import bound_to, unbound
from ...core.dtype import bool_
from ...core.errors import VitrifyError
from ...core.meta import UNKNOWN, Meta
from ...core.modes import amp_state, grad_enabled, scoped
from ...core.pytree import flatten, is_open, unflatten
from ...eager.late_call import late_call_op, library_name
from ...eager.tensor import Tensor
from ...ir.builder import Builder
from ...ir.graph_tensor import is_number
from ...ir.program import Variable
from ..values.base import builder, is_tensor
from ..values.cases import held_parts, is_among, put_known
from ..values.deferred import Call, Deferred, captured, encoded
from ..values.optional import optional_kind

Given = tuple[Sequence[Any], Mapping[str, Any]]
REFUSALS = (VitrifyError, TypeError, ValueError, AttributeError, LookupError, ArithmeticError)
"""What functions raise that are given a number without a value, or one that they do not take."""
_INTEGERS = (1, 2, 0, 3, 4, -1, 5, 6, 8, 7, -2, 16, 12, 10, 9, 32, 64, 128, 1024)
_FLOATS = (0.5, 1.0, 2.0, 0.25, 0.0, 1.5, 3.0, -1.0, 8.0, 100.0)
MAX_TRIED, ENOUGH, MOST_EACH = 90, 8, 6


@dataclass(frozen=True)
class _Result:
    """What a function gave for some numbers: its structure, tensors and the rest.

    has_views: whether a tensor shows another one's memory. is_stopped: whether no gradient flows through any.
    """

    tree: Any
    leaves: tuple[Any, ...]
    metas: tuple[Meta, ...]
    has_views: bool
    is_stopped: bool

    def joined(self, other: _Result) -> _Result | None:
        """What both are; None where they differ in more than sizes."""
        same = self.tree == other.tree and self.leaves == other.leaves
        metas = [_joined(a, b) for a, b in zip(self.metas, other.metas)]
        known = [meta for meta in metas if meta is not None]
        if not same or len(known) < len(metas):
            return None
        has_views, is_stopped = self.has_views or other.has_views, self.is_stopped and other.is_stopped
        return _Result(self.tree, self.leaves, tuple(known), has_views, is_stopped)


_TENSOR = object()  # stands for a tensor among the leaves


def has_open_number(given: Given) -> bool:
    """Whether a Python number is among the arguments that only a run knows."""
    return any(map(_is_open_number, held_parts([given[0], dict(given[1])])))


def late_call(function: Callable[..., Any], given: Given) -> Callable[[], Any] | None:
    """What records the call, for the run to do it; None for calls that nobody can leave to the run."""
    build = builder()
    numbers = list(dict.fromkeys(filter(_is_open_number, held_parts([given[0], dict(given[1])]))))
    owner = bound_to(function)
    name = library_name(unbound(function))
    if name is None or not numbers or not _may_wait(build):
        return None
    if is_tensor(owner):
        given = ([owner, *given[0]], given[1])
    result = _tried(unbound(function), given, numbers)
    return None if result is None else lambda: _recorded(name, given, result)


def _may_wait(build: Builder) -> bool:
    """Whether there is no other way: neither Python between two programs, nor a program for these sizes alone."""
    inputs = build.program.global_block().inputs
    return amp_state.get() is None and (not build.is_called or (build.is_whole and all(map(_is_exact, inputs))))


def _is_exact(var: Variable) -> bool:
    return not is_number(var) and (not isinstance(var.meta, Meta) or var.meta.is_static)


def _is_open_number(value: Any) -> bool:
    return isinstance(value, Variable) and is_number(value) and not is_among(value) and optional_kind(value) is None


def _tried(function: Callable[..., Any], given: Given, numbers: Sequence[Variable]) -> _Result | None:
    """What the function gives, whatever the numbers are; None where that is not of one kind."""
    found: list[_Result] = []
    for values in _tries(list(map(_samples, numbers))):
        try:
            result = _result(function, put_known((list(given[0]), dict(given[1])), dict(zip(numbers, values))))
        except REFUSALS:
            continue
        if result is None:
            return None
        found.append(result)
        if len(found) >= ENOUGH * len(numbers):
            break
    common: _Result | None = found[0] if found else None
    for result in found[1:]:
        common = common and common.joined(result)
    return common


def _tries(samples: Sequence[Sequence[Any]]) -> Iterator[Sequence[Any]]:
    """Values for several numbers, in an order in which each of them varies soon."""
    yield from islice(zip(*samples), 4)
    places = product(*[range(min(len(known), MOST_EACH)) for known in samples])
    for at in islice(sorted(places, key=sum), MAX_TRIED):
        yield [known[i] for known, i in zip(samples, at)]
    if len(samples) == 1:
        yield from ([value] for value in samples[0][MOST_EACH:])


def _samples(number: Variable) -> Sequence[Any]:
    if number.dtype is bool_:
        return (True, False)
    return _INTEGERS if number.dtype.is_integer else _FLOATS


def _result(function: Callable[..., Any], given: Given) -> _Result | None:
    """What the function gives for known numbers; None where it draws random numbers or changes a tensor."""
    build = builder()
    before, mark = dict(build.current), len(build.block.ops)
    leaves: list[Any] = []
    with build.trial():
        tree = flatten(function(*given[0], **given[1]), leaves)
        is_changing = build.is_anything_changed(before, mark)
        is_random = any(op.op.random for op in build.block.ops[mark:])
        tensors = [build.value(leaf) for leaf in leaves if isinstance(leaf, (Variable, Tensor))]
        has_views = any(tensor in build.aliases.views for tensor in tensors)
    rest = tuple([_TENSOR if isinstance(leaf, (Variable, Tensor)) else leaf for leaf in leaves])
    if is_changing or is_random or not tensors or any(map(_is_odd, leaves)):
        return None
    is_stopped = all(tensor.stop_gradient for tensor in tensors)
    return _Result(tree, rest, tuple([tensor.meta for tensor in tensors]), has_views, is_stopped)


def _is_odd(leaf: Any) -> bool:
    """Whether it is something that only a run knows, and no tensor."""
    is_variable = isinstance(leaf, Variable) and (is_number(leaf) or not isinstance(leaf.meta, Meta))
    return is_variable or isinstance(leaf, Deferred) or is_open(leaf)


def _joined(a: Meta, b: Meta) -> Meta | None:
    if a.dtype is not b.dtype or len(a.shape) != len(b.shape):
        return None
    return Meta(tuple([m if m == n else UNKNOWN for m, n in zip(a.shape, b.shape)]), a.dtype)


def _recorded(name: str, given: Given, result: _Result) -> Any:
    build = builder()
    args, kwargs = _with_variables(list(given[0])), _with_variables(dict(given[1]))
    node = Call("library", (name, *map(captured, args)), {key: captured(value) for key, value in kwargs.items()})
    call, inputs = encoded(node)
    with scoped(grad_enabled, grad_enabled.get() and not result.is_stopped):
        outs = iter(late_call_op(*inputs, call=call, levels=(), out=result.metas))
    made = [next(outs) if leaf is _TENSOR else leaf for leaf in result.leaves]
    if result.has_views:  # the call waits with copies: a change of the one would not be seen in the other
        for value in (*held_parts(args), *held_parts(kwargs), *made):
            if is_tensor(value):
                build.keep(value)
    return unflatten(result.tree, iter(made))


def _with_variables(value: Any) -> Any:
    """`value` with variables of the program in place of eager tensors."""
    if isinstance(value, Tensor):
        return builder().value(value)
    if isinstance(value, list) or type(value) is tuple:
        return (tuple if type(value) is tuple else list)(map(_with_variables, value))
    if type(value) is dict:
        return {key: _with_variables(item) for key, item in value.items()}
    return value


__all__ = ["REFUSALS", "has_open_number", "late_call"]
