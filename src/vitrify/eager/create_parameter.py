"""Making parameters: names, attributes, initial values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..core import names
from ..core.dtype import DType, DTypeLike, as_dtype
from ..core.errors import ArgumentError, DTypeError, UnsupportedError
from ..core.meta import Meta
from ..core.modes import grad_enabled, recorder, scoped
from ..core.place import PlaceLike, as_place
from ..device.api import put
from ..ops.failure import no_memory_for
from ..ops.meta_rules import need_reach
from ..ops.unary import sqrt
from .gradients import gradients, training_of_trace
from .initializer import Constant, Initializer, choose_initializer, initial_value
from .lazy_init import fill_later, is_postponed
from .param_attr import ParamAttr, ParamAttrLike, WeightNormParamAttr, as_param_attr
from .parameter import Parameter


def new_parameter(
    owner: str,
    shape: Sequence[Any],
    dtype: DTypeLike,
    attr: ParamAttrLike = None,
    is_bias: bool = False,
    default_initializer: Initializer | None = None,
    device: PlaceLike | None = None,
) -> Any:
    """A new initialized parameter named `owner.w_0`, `owner.b_0`, ... or as `attr` says; None when `attr` is False.

    In static mode it is a Variable of the program, which the startup program fills; with a WeightNormParamAttr it is
    computed of two. Raises DTypeError when no initializer is given for a dtype that is not floating, and eagerly
    ArgumentError for a name that another parameter had (in a program it would be the same parameter).
    """
    chosen = as_param_attr(attr)
    if chosen is None:
        return None
    wanted = as_dtype(dtype)
    if not wanted.is_inexact and chosen.initializer is None and default_initializer is None:
        raise DTypeError(
            f"create_parameter: {wanted.name} has no default initializer",
            hint="pass default_initializer=paddle.nn.initializer.Constant(0)",
        )
    name = chosen.name or names.generate_part(owner, "b" if is_bias else "w")
    initializer = choose_initializer(chosen.initializer, default_initializer, is_bias)
    sizes = _sizes(shape)
    need_reach("create_parameter", Meta(tuple(sizes), wanted))
    persistables = getattr(recorder.get(), "persistables", None)
    if isinstance(chosen, WeightNormParamAttr):
        return _length_and_direction(persistables, name, sizes, wanted, chosen, initializer)
    if persistables is not None:
        return _of_program(persistables.create, name, sizes, wanted, chosen, initializer)
    if training_of_trace() is not None:
        return _of_trace(sizes, wanted, chosen, initializer)
    _take_name(name)
    later = is_postponed()
    held = [] if later else sizes
    try:
        param = Parameter(held, wanted, name=name, trainable=chosen.trainable, **_read_by_optimizers(chosen))
    except MemoryError:
        raise no_memory_for("create_parameter", [Meta(tuple(sizes), wanted)]) from None
    if later:
        fill_later(param, sizes, initializer)
        return param
    if device is not None:
        param._data = put(param._data, as_place(device))
    initializer.begin(param)
    return param


def _sizes(shape: Sequence[Any]) -> list[int]:
    try:
        found = [int(size) for size in shape]
    except (TypeError, ValueError, OverflowError) as err:  # the last of an infinity
        raise DTypeError(f"create_parameter: shape must hold integers, got {shape!r}") from err
    if min(found, default=0) < 0:
        raise ArgumentError(f"create_parameter: every size must be known and at least 0, got shape={found}")
    return found


def _take_name(name: str) -> None:
    """Two eager parameters of one name would be one in optimizers' states and saved files."""
    if names.is_parameter_name_taken(name):
        raise ArgumentError(
            f"create_parameter: parameter name {name!r} is taken by an earlier parameter, expected a new name",
            hint="give each parameter its own ParamAttr(name=...), or build inside paddle.utils.unique_name.guard()",
        )


def change_initial(param: Any, change: Callable[[Any], Any]) -> None:
    """Let a new parameter start from `change(value)` instead of `value`: now, or in the startup program."""
    if isinstance(param, Parameter):
        with scoped(grad_enabled, False):
            param.set_value(change(param))
    else:
        recorder.get().persistables.change_at_startup(param, change)


def _read_by_optimizers(attr: ParamAttr) -> dict[str, Any]:
    return {
        "optimize_attr": {"learning_rate": attr.learning_rate},
        "regularizer": attr.regularizer,
        "do_model_average": attr.do_model_average,
        "need_clip": attr.need_clip,
    }


def _of_program(
    create: Any, name: str, sizes: list[int], dtype: DType, attr: ParamAttr, initializer: Initializer
) -> Any:
    """A parameter of the program being written, filled by its startup program."""
    meta = Meta(tuple(sizes), dtype)
    return create(
        meta,
        name,
        lambda: initial_value(initializer, meta),
        is_parameter=True,
        trainable=attr.trainable,
        attributes=_read_by_optimizers(attr),
    )


def _of_trace(sizes: list[int], dtype: DType, attr: ParamAttr, initializer: Initializer) -> Any:
    """A parameter made in a function that is being traced: a leaf of the program, filled anew by each of its runs."""
    meta = Meta(tuple(sizes), dtype)
    with scoped(grad_enabled, False):
        variable = initial_value(initializer, meta, varies=True)
    variable.__dict__.update(_read_by_optimizers(attr), is_parameter_=True)
    if attr.trainable:
        variable.stop_gradient = False
        gradients().note_leaf(variable, variable)
    return variable


def _length_and_direction(
    persistables: Any, name: str, sizes: list[int], dtype: DType, attr: WeightNormParamAttr, initializer: Initializer
) -> Any:
    """g * v / |v| of two parameters; at first it is what the initializer gives for v."""
    if persistables is None:
        raise UnsupportedError(
            "WeightNormParamAttr is for programs of static mode", hint="for a Layer call paddle.nn.utils.weight_norm"
        )
    if attr.dim is not None and not -len(sizes) <= attr.dim < len(sizes):
        raise ArgumentError(f"WeightNormParamAttr: dim {attr.dim} is none of a parameter of shape {sizes}")
    kept = None if attr.dim is None else attr.dim % len(sizes)
    axes = [d for d in range(len(sizes)) if d != kept]
    starts: list[Any] = []

    def length(weight: Any) -> Any:
        squares = weight * weight
        return sqrt(squares.sum(axis=axes, keepdim=True) if axes else squares)

    def noted(held: Any) -> Any:
        starts.append(held)
        return held

    v = _of_program(persistables.create, f"{name}_v", sizes, dtype, attr, initializer)
    g_sizes = [size if d == kept else 1 for d, size in enumerate(sizes)]
    g = _of_program(persistables.create, f"{name}_g", g_sizes, dtype, attr, Constant(0.0))
    persistables.change_at_startup(v, noted)
    persistables.change_at_startup(g, lambda held: length(starts[0]))
    return v * (g / length(v))


def create_parameter(
    shape: Sequence[Any],
    dtype: DTypeLike,
    name: str | None = None,
    attr: ParamAttrLike = None,
    is_bias: bool = False,
    default_initializer: Initializer | None = None,
) -> Any:
    """A new initialized parameter outside any Layer; in static mode a Variable, which the startup program fills.

    Without an initializer: zeros for a bias, else Xavier uniform. Raises DTypeError for a dtype without a default
    initializer; ArgumentError for a name that is taken, and in static mode for unknown sizes.
    Source: paddle.create_parameter.

    Example:
        >>> import vitrify as paddle
        >>> paddle.create_parameter([2, 3], "float32").shape
        paddle.Size([2, 3])
    """
    owner = name if name is not None else names.generate("create_parameter")
    chosen = as_param_attr(attr)
    if chosen is not None and chosen.name is None and name is not None:
        chosen.name = name
    if chosen is None and recorder.get() is not None:
        raise ArgumentError("create_parameter: attr=False asks for no parameter at all")
    return new_parameter(owner, shape, dtype, False if chosen is None else chosen, is_bias, default_initializer)


__all__ = ["change_initial", "create_parameter", "new_parameter"]
