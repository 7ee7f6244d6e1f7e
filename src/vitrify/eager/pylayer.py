"""PyLayer: an operation whose forward and backward the user writes in Python."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.errors import ArgumentError, ShapeError, StaleBackwardError, UnsupportedError
from ..core.meta import UNKNOWN
from ..core.modes import grad_enabled, scoped
from ..ops.methods import TensorMethods
from .packing import save_input, save_output
from .tape import TENSORS, Edge, Hook, Saved, as_leaf
from .tensor import Tensor, edge_to


class PyLayerContext:
    """What `forward` hands to `backward`: saved tensors, options, and any attribute set on it.

    Source: paddle.autograd.PyLayerContext.

    Example:
        >>> import vitrify as paddle
        >>> class Square(paddle.autograd.PyLayer):
        ...     @staticmethod
        ...     def forward(ctx, x):
        ...         ctx.save_for_backward(x)
        ...         return x * x
        ...     @staticmethod
        ...     def backward(ctx, grad):
        ...         (x,) = ctx.saved_tensor()
        ...         return grad * 2 * x
        >>> x = paddle.to_tensor([3.0], stop_gradient=False)
        >>> Square.apply(x).backward()
        >>> x.grad.tolist()
        [6.0]
    """

    _saved: tuple[Any, ...] = ()
    _not_differentiable: tuple[Tensor, ...] = ()
    _materialize = True
    _node: PyLayerNode | None = None

    def save_for_backward(self, *tensors: Any) -> None:
        """Keep `tensors` for `saved_tensor`; a later change in place is noticed. Once, in forward."""
        self._saved = tensors

    def saved_tensor(self) -> tuple[Any, ...]:
        """What `save_for_backward` kept; raises StaleBackwardError when one was changed in place since."""
        node = self._node
        if node is None:
            return self._saved
        return tuple(s.restore(node, "a saved tensor") if isinstance(s, Saved) else s for s in self._saved)

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """What `save_for_backward` kept."""
        return self.saved_tensor()

    def mark_not_inplace(self, *tensors: Tensor) -> None:
        """Accepted for compatibility: every output is a new Tensor, so no input is changed."""

    def mark_non_differentiable(self, *tensors: Tensor) -> None:
        """Say that these outputs have no gradient."""
        self._not_differentiable = tensors

    def set_materialize_grads(self, value: bool) -> None:
        """Choose whether `backward` gets zeros (the default) or None for outputs that nothing depends on."""
        self._materialize = bool(value)

    def set_grad_in_dtype_consistent(self, flag: bool) -> None:
        """Accepted for compatibility: gradients arrive in the dtype of their output in any case."""


class PyLayerNode:
    """The tape node of one `apply`."""

    __slots__ = ("backward", "context", "edges", "hooks", "inputs", "name", "outputs", "retained")

    def __init__(self, cls: type[PyLayer], context: PyLayerContext, inputs: Sequence[Tensor]) -> None:
        self.name = cls.__name__
        self.backward = cls.backward
        self.context: PyLayerContext | None = context
        self.inputs = [t._data.shape for t in inputs]
        self.edges: list[Edge | None] = [edge_to(t) for t in inputs]
        self.outputs: list[tuple[tuple[int, ...], np.dtype[Any]]] = []
        self.hooks: dict[int, list[Hook]] | None = None
        self.retained: dict[int, Any] | None = None

    def vjp(self, cotangents: list[Tensor | None], last: bool = False) -> Sequence[Tensor | None]:
        """What the user's `backward` returns, one for each Tensor that `forward` got."""
        context = self.context
        if context is None:
            raise StaleBackwardError(
                f"{self.name}: backward ran through this part of the graph before and freed it",
                hint="call backward(retain_graph=True) the first time",
            )
        given = list(cotangents)
        if context._materialize:
            given = [TENSORS.zeros(*meta) if ct is None else ct for ct, meta in zip(given, self.outputs)]
        # The context points here only while backward runs: for good, the two would be a cycle.
        context._node = self
        try:
            returned = self.backward(context, *[None if ct is None else as_leaf(ct) for ct in given])
        finally:
            context._node = None
        return self._by_edge(list(tensors_and_none(returned)))

    def _by_edge(self, returned: list[Tensor | None]) -> list[Tensor | None]:
        found = one_for_each(self.name, returned, [edge is not None for edge in self.edges])
        for i, ct in enumerate(found):
            if ct is not None and self.edges[i] is not None:
                check_gradient(self.name, i, ct._data.shape, self.inputs[i])
        return found

    def release(self) -> None:
        """Drop the context."""
        self.context = None


def one_for_each(name: str, returned: Sequence[Any], wanted: Sequence[bool]) -> list[Any]:
    """What a `backward` returned, one for each tensor argument, where it may be one for each of those wanted alone."""
    if len(returned) == sum(wanted) != len(wanted):
        given = iter(returned)
        return [next(given) if is_wanted else None for is_wanted in wanted]
    if len(returned) != len(wanted):
        raise ArgumentError(
            f"{name}.backward returned {len(returned)} gradients, forward got {len(wanted)} tensors",
            hint="return one gradient for each Tensor argument of forward, None where there is none",
        )
    return list(returned)


def check_gradient(name: str, index: int, shape: Sequence[int], wanted: Sequence[int]) -> None:
    """Raise ShapeError where a gradient has another shape than its input; -1 stands for sizes that only a run knows."""
    if len(shape) != len(wanted) or any(a != b and UNKNOWN not in (a, b) for a, b in zip(shape, wanted)):
        raise ShapeError(f"{name}.backward: gradient {index} has shape {list(shape)}, its input has {list(wanted)}")


class PyLayer(PyLayerContext):
    """Base of user-defined operations: subclass it with static methods `forward(ctx, ...)` and `backward(ctx, ...)`.

    Source: paddle.autograd.PyLayer.

    Example:
        >>> import vitrify as paddle
        >>> class Double(paddle.autograd.PyLayer):
        ...     @staticmethod
        ...     def forward(ctx, x):
        ...         return x + x
        ...     @staticmethod
        ...     def backward(ctx, dy):
        ...         return dy + dy
        >>> x = paddle.to_tensor([1.0], stop_gradient=False)
        >>> Double.apply(x).backward()
        >>> x.grad.tolist()
        [2.0]
    """

    @staticmethod
    def forward(ctx: Any, *args: Any, **kwargs: Any) -> Any:
        """The outputs: a Tensor, or a tuple or list that may hold other things too."""
        raise NotImplementedError("a PyLayer must define a static method forward(ctx, ...)")

    @staticmethod
    def backward(ctx: Any, *args: Any) -> Any:
        """The gradients of forward's Tensor arguments, given those of its Tensor outputs."""
        raise NotImplementedError("a PyLayer must define a static method backward(ctx, ...)")

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """The outputs of `forward(ctx, *args, **kwargs)`, differentiated by `backward`."""
        inputs = list(tensors_in((*args, *kwargs.values())))
        _refuse_variables(cls, inputs)
        context = PyLayerContext()
        with scoped(grad_enabled, False):
            outputs = cls.forward(context, *args, **kwargs)
        if not grad_enabled.get() or all(t.stop_gradient for t in inputs):
            return outputs
        node = PyLayerNode(cls, context, inputs)
        if isinstance(outputs, (list, tuple)):
            attached = type(outputs)([_attach(o, node) for o in outputs])
        else:
            attached = _attach(outputs, node)
        _keep_saved(context, list(tensors_in(outputs)))
        return attached


def tensors_in(value: Any) -> Any:
    """The tensors in nested lists and tuples, in order."""
    if isinstance(value, TensorMethods):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from tensors_in(item)


def tensors_and_none(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from tensors_and_none(item)
    else:
        yield value


def _refuse_variables(cls: type[PyLayer], inputs: Sequence[Any]) -> None:
    if not all(isinstance(t, Tensor) for t in inputs):
        raise UnsupportedError(
            f"{cls.__name__}: a PyLayer cannot become part of a program being built",
            hint="call it in a function with @to_static, or in a program use paddle.static.nn.static_pylayer",
        )


def _attach(output: Any, node: PyLayerNode) -> Any:
    """`output` as output of `node`: always a new Tensor, so that an input returned as it is stays what it was."""
    if not isinstance(output, Tensor):
        return output
    out = TENSORS.of_output(output._data, node, len(node.outputs))
    out._cell = output.version_cell()
    node.outputs.append((output._data.shape, output._data.dtype))
    context = node.context
    assert context is not None
    if output._data.dtype.kind not in "fcV" or any(output is t for t in context._not_differentiable):
        out._node = None
        out.stop_gradient = True
    return out


def _keep_saved(context: PyLayerContext, outputs: Sequence[Tensor]) -> None:
    """Saved outputs are kept as bare memory: a context that held its own node's output would be a cycle."""
    index = {id(t): i for i, t in enumerate(outputs)}
    context._saved = tuple(
        (save_output(s, index[id(s)]) if id(s) in index else save_input(s)) if isinstance(s, Tensor) else s
        for s in context._saved
    )
    context._not_differentiable = ()


__all__ = ["PyLayer", "PyLayerContext", "one_for_each", "tensors_and_none", "tensors_in"]
