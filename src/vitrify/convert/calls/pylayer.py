"""PyLayer.apply in converted code: forward and backward, both converted, become operators of the program."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import MethodType
from typing import Any

from ...core.errors import UnsupportedError
from ...core.modes import grad_enabled, scoped
from ...core.pytree import flatten, unflatten
from ...eager.pylayer import PyLayer, PyLayerContext, check_gradient, one_for_each, tensors_and_none, tensors_in
from ...eager.tensor import Tensor
from ...ir.builder import building
from ...ir.stop_flags import WANTS
from ...ops.creation import assign
from ...ops.hand_gradient import with_gradient_op
from ...ops.like import zeros_like
from ...ops.methods import TensorMethods
from ...ops.missing import MAY_BE_MISSING
from ..containers.inner_lists import inner_lists
from ..containers.structure import opened
from ..guards.observe import current_observer
from ..state.cells import closed_over
from ..state.journal import journaling
from ..values.base import builder, is_graph

Convert = Callable[[Any], Any]
_APPLY = PyLayer.apply.__func__  # type: ignore[attr-defined]


def is_apply(method: MethodType) -> bool:
    """Whether the method is the `apply` of a PyLayer."""
    return method.__func__ is _APPLY


def applied(method: MethodType, convert: Convert) -> Callable[..., Any]:
    """What to call in place of `SomePyLayer.apply`."""
    layer: Any = method.__self__

    def apply(*args: Any, **kwargs: Any) -> Any:
        inputs = list(tensors_in((*args, *kwargs.values())))
        if not any(map(is_graph, inputs)):
            return method(*args, **kwargs)
        context = PyLayerContext()
        with scoped(grad_enabled, False):
            outputs = convert(layer.forward)(context, *args, **kwargs)
        if not grad_enabled.get() or all(t.stop_gradient for t in inputs):
            return outputs
        return _with_gradient(layer, convert, context, inputs, outputs)

    return apply


def _with_gradient(
    layer: type[PyLayer], convert: Convert, context: PyLayerContext, inputs: Sequence[Any], outputs: Any
) -> Any:
    """The outputs with the gradient that the layer's backward gives.

    What the context holds comes to backward as further values: the variables of forward may lie in a block of theirs.
    """
    is_row = isinstance(outputs, (list, tuple))
    leaves = list(outputs) if is_row else [outputs]
    hidden = {id(t) for t in context._not_differentiable}
    places = [i for i, t in enumerate(leaves) if _is_differentiable(t) and id(t) not in hidden]
    if not places:
        return outputs
    kept: list[Any] = []
    context_tree = flatten({k: v for k, v in vars(context).items() if k != "_not_differentiable"}, kept)
    saved = [i for i, t in enumerate(kept) if isinstance(t, TensorMethods)]
    own = {id(t) for t in inputs}
    outs = [assign(leaves[i]) if id(leaves[i]) in own else leaves[i] for i in places]
    wanted = [not t.stop_gradient for t in inputs]

    constant = [i for i, t in enumerate(leaves) if is_graph(t) and i not in places]
    further = [*(kept[i] for i in saved), *(leaves[i] for i in constant)]

    # Nothing below may hold the context: what a loop makes is its own only while nobody else knows it.
    materialize, n_outs, n_saved = context._materialize, len(outs), len(saved)

    def pulled(cts: Sequence[Any], values: Sequence[Any], own: list[Any] | None = None) -> list[Any]:
        rest = values[n_outs + len(wanted) :]
        held = list(kept)
        for place, value in zip(saved, rest):
            held[place] = value
        fresh = PyLayerContext()
        vars(fresh).update(opened(unflatten(context_tree, iter(held)), {}))
        if own is not None:
            own += [fresh, *inner_lists(dict(vars(fresh)))]
        without = ((place, value, None) for place, value in zip(constant, rest[n_saved:]))
        likes = sorted([*zip(places, values, cts), *without], key=_first)
        filled = [as_leaf(_cotangent(ct, like, materialize)) for _, like, ct in likes]
        returned = list(tensors_and_none(convert(layer.backward)(fresh, *filled)))
        found = one_for_each(layer.__name__, returned, wanted)
        for i, (ct, value) in enumerate(zip(found, values[n_outs:])):
            if ct is not None and wanted[i]:
                check_gradient(layer.__name__, i, ct.shape, value.shape)
        return [*found, *[None] * (n_saved + len(constant))]

    made = with_backward(f"the backward of {layer.__name__}", pulled, outs, [*inputs, *further])
    for place, value in zip(places, made):
        leaves[place] = value
    return type(outputs)(leaves) if is_row else leaves[0]


def with_backward(
    name: str, pulled: Callable[..., list[Any]], outs: Sequence[Any], further: Sequence[Any], may_change: bool = False
) -> list[Any]:
    """`outs`, from whose cotangents `pulled(cts, [*outs, *further], own)` makes those of the further values.

    `own` is None, or a list for what it makes for itself. The eager tensors that it reads besides become values, too.
    may_change: whether it may change Python objects: by a backward that is traced, too, and by no other.
    """
    outside, is_changing = _tensors_from_outside(name, pulled, outs, [*outs, *further])
    build = builder()
    if is_changing and not (may_change and build.tracing and build.block is build.program.global_block()):
        raise change_refused(name)

    def backward(cts: Sequence[Any], values: Sequence[Any]) -> list[Any]:
        own_values = values[: len(values) - len(outside)]
        if is_changing:
            if any(ct is not None and MAY_BE_MISSING in ct.__dict__ for ct in cts) or build.block is not block:
                raise change_refused(name)
            with building(build):  # which knows what the user's code holds
                return pulled(cts, own_values)
        with _meaning(outside, values[len(own_values) :]):
            return [*pulled(cts, own_values), *[None] * len(outside)]

    block = build.block
    if is_changing:
        outside = []
        backward.__dict__[CHANGES] = name
    made: list[Any] = with_gradient_op(*outs, *further, *outside, backward=backward, count=len(outs))
    return made


def _tensors_from_outside(
    name: str, pulled: Callable[..., list[Any]], outs: Sequence[Any], values: Sequence[Any]
) -> tuple[list[Any], bool]:
    """The eager tensors that the layer's backward reads, which its context does not hold; and whether it changes
    Python objects, as programs do as they end, while gradients come later.

    The program's inputs are known when its backward part is recorded, so backward is rehearsed here, and what that
    records or writes is taken back. An error is left for whoever asks for gradients.
    """
    build = builder()
    found: dict[int, Any] = {}
    lift = build.lift

    def noting(value: Any) -> Any:
        if isinstance(value, Tensor):
            found[id(value)] = value
        return lift(value)

    observer = current_observer()
    calls = [] if observer is None else observer.calls
    n_calls = len(calls)
    own: list[Any] = []  # what backward is given for itself
    with journaling(closed_over((pulled,))) as journal, build.trial(), scoped(grad_enabled, False):
        build.lift = noting
        try:
            pulled([zeros_like(out) for out in outs], values, own)
        except Exception:  # noqa: BLE001 - left for whoever asks for gradients
            found.clear()
        finally:
            build.lift = lift
        journal.forget_local(own, in_block=False)
        is_changing = len(calls) > n_calls or journal.is_changed(besides=own)
        del calls[n_calls:]
    return list(found.values()), is_changing


CHANGES = "changes_objects"
"""The attribute of a function that goes back through an operator and changes Python objects: what it is called."""


def change_refused(name: str) -> UnsupportedError:
    """The error of a backward that changes Python objects when the program has ended."""
    return UnsupportedError(
        f"{name} changes Python objects, each time that gradients are computed; a program's runs no Python",
        hint="let backward give gradients only, or convert with full_graph=False, which runs this statement as Python",
    )


@contextmanager
def _meaning(handles: Sequence[Any], values: Sequence[Any]) -> Iterator[None]:
    """Inside, each of the handles, tensors from outside, is lifted to one of the values."""
    build = builder()
    lift = build.lift
    meant = {id(handle): value for handle, value in zip(handles, values)}
    build.lift = lambda value: meant[id(value)] if id(value) in meant else lift(value)
    try:
        yield
    finally:
        build.lift = lift


_first = operator.itemgetter(0)


def _is_differentiable(value: Any) -> bool:
    return is_graph(value) and value.dtype.is_inexact


def as_leaf(ct: Any) -> Any:
    """A cotangent as code of the user's gets it: one that wants a gradient itself."""
    if ct is None or not ct.stop_gradient:
        return ct
    made = assign(ct)
    object.__setattr__(made, "stop_gradient", False)
    made.__dict__[WANTS] = True
    return made


def _cotangent(ct: Any, like: Any, materialize: bool) -> Any:
    """The cotangent of an output, zeros where none came and the layer asks for them."""
    return zeros_like(like) if ct is None and materialize else ct
