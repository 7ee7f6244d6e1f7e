"""What a new parameter holds: the base class of initializers, and the two that Layers use unless told otherwise.

Numbers are drawn from the current generator on the host and moved to the parameter's device, so that a seed means the
same weights everywhere. The other initializers are in `vitrify.nn.initializer`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core import philox
from ..core.dtype import DType, default_dtype
from ..core.errors import ArgumentError, ShapeError, UnsupportedError
from ..core.meta import Meta, Shape
from ..core.modes import grad_enabled, is_tracing, recorder, scoped
from ..core.rng import default_generator
from ..core.setting import Setting
from ..device.api import place_of, put
from ..ops.creation import constant
from ..ops.registry import NoGradient, define_op
from .gradients import training_of_trace
from .tensor import Tensor, wrap

Array = np.ndarray[Any, Any]


class Initializer:
    """Fills a Tensor: `initializer(parameter)`. Subclasses define `values`, or change the Tensor in `forward`.

    Source: paddle.nn.initializer.Initializer.
    """

    is_fresh = False
    """Whether each call of `values` makes an array that nobody else has: a new parameter keeps it, without a copy."""

    def __call__(self, param: Tensor, block: Any = None) -> Any:
        """Fill `param` in place; a parameter of a program is filled when its startup program runs."""
        if training_of_trace() is not None:
            with scoped(grad_enabled, False):
                return param.set_value(initial_value(self, Meta(tuple(param.shape), param.dtype), varies=True))
        if isinstance(param, Tensor):
            return self.forward(param, block)
        persistables = getattr(recorder.get(), "persistables", None)
        if persistables is None:
            raise ArgumentError(
                f"{type(self).__name__}: a variable of a program is filled by the startup program of its guard",
                hint="call the initializer inside `with program_guard(main, startup)`, or in static mode",
            )
        meta = Meta(tuple(param.shape), param.dtype)
        return persistables.change_at_startup(param, lambda held: initial_value(self, meta))

    def forward(self, param: Tensor, block: Any = None) -> Any:
        """Fill `param` in place with `values`."""
        values = np.asarray(self.values(tuple(param.shape), param.dtype), dtype=param.dtype.np)
        param.set_value(wrap(put(values, place_of(param._data))))

    def begin(self, param: Tensor) -> None:
        """Fill a new parameter, whose memory nobody has seen."""
        if self.is_fresh and _is_own(type(self)) and not is_tracing():
            values = np.asarray(self.values(tuple(param.shape), param.dtype), dtype=param.dtype.np)
            param._renew(put(values, place_of(param._data)))
        else:
            self(param)

    def values(self, shape: Shape, dtype: DType) -> Array:
        """The array for a parameter of this shape and dtype."""
        raise NotImplementedError(f"{type(self).__name__} must define values(shape, dtype) or forward(param, block)")

    def __repr__(self) -> str:
        inner = ", ".join(f"{k.lstrip('_')}={v}" for k, v in vars(self).items())
        return f"{type(self).__name__}({inner})"


def draw_dtype(dtype: DType) -> DType:
    """The floating dtype in which numbers for a parameter of `dtype` are drawn."""
    return dtype if dtype.is_floating else default_dtype()


def draw_uniform(shape: Shape, dtype: DType, low: float, high: float) -> Array:
    """Numbers from [low, high) of the current generator."""
    drawn = draw_dtype(dtype)
    key = default_generator().advance(philox.word_count(shape, drawn))
    drawn_array: Array = philox.uniform(np, key, shape, drawn, low, high)
    return drawn_array


def draw_normal(shape: Shape, dtype: DType, mean: float, std: float) -> Array:
    """Normally distributed numbers of the current generator."""
    drawn = draw_dtype(dtype)
    key = default_generator().advance(philox.word_count((math.prod(shape) + 1,), drawn))
    values: Array = philox.normal(np, key, shape, drawn, mean, std)
    return values


def fans(shape: Sequence[int]) -> tuple[int, int]:
    """Fan-in and fan-out of a weight; a kernel with more than two sizes begins with its out and in channels."""
    if len(shape) < 2:
        size = int(np.prod(shape)) if len(shape) else 1
        return size, size
    if len(shape) == 2:
        return shape[0], shape[1]
    field = math.prod(shape[2:])
    return shape[1] * field, shape[0] * field


def fan_sum(shape: Sequence[int], fan_in: float | None, fan_out: float | None) -> float:
    """Fan-in plus fan-out, each as given or else read off the shape."""
    found = fans(shape)
    return (found[0] if fan_in is None else fan_in) + (found[1] if fan_out is None else fan_out)


class Constant(Initializer):
    """Every element is `value`. Source: paddle.nn.initializer.Constant.

    Example:
        >>> import vitrify as paddle
        >>> start = paddle.nn.initializer.Constant(2.0)
        >>> paddle.create_parameter([2], "float32", default_initializer=start).tolist()
        [2.0, 2.0]
    """

    def __init__(self, value: float = 0.0) -> None:
        self.value = value

    is_fresh = True

    def values(self, shape: Shape, dtype: DType) -> Array:
        """`value` everywhere."""
        return np.full(shape, self.value, dtype.np)


class XavierUniform(Initializer):
    """Uniform within ±gain * sqrt(6 / (fan_in + fan_out)). Source: paddle.nn.initializer.XavierUniform; Glorot 2010.

    Example:
        >>> import vitrify as paddle
        >>> start = paddle.nn.initializer.XavierUniform()
        >>> paddle.create_parameter([2, 3], "float32", default_initializer=start).shape
        paddle.Size([2, 3])
    """

    def __init__(
        self, fan_in: float | None = None, fan_out: float | None = None, gain: float = 1.0, name: str | None = None
    ) -> None:
        self.fan_in = fan_in
        self.fan_out = fan_out
        self.gain = gain

    is_fresh = True

    def values(self, shape: Shape, dtype: DType) -> Array:
        """Uniform numbers."""
        limit = self.gain * math.sqrt(6.0 / fan_sum(shape, self.fan_in, self.fan_out))
        return draw_uniform(shape, dtype, -limit, limit)


class Normal(Initializer):
    """Normally distributed. Source: paddle.nn.initializer.Normal.

    Example:
        >>> import vitrify as paddle
        >>> start = paddle.nn.initializer.Normal(mean=0.0, std=0.1)
        >>> paddle.create_parameter([2], "float32", default_initializer=start).shape
        paddle.Size([2])
    """

    def __init__(self, mean: float = 0.0, std: float = 1.0, name: str | None = None) -> None:
        self.mean = mean
        self.std = std

    is_fresh = True

    def values(self, shape: Shape, dtype: DType) -> Array:
        """Normal numbers."""
        return draw_normal(shape, dtype, self.mean, self.std)


@dataclass(frozen=True)
class _Defaults:
    """What `set_global_initializer` chose; None leaves the choice to each Layer."""

    weight: Initializer | None = None
    bias: Initializer | None = None


_GLOBAL = Setting("global_initializer", _Defaults())


def set_global_initializer(weight_init: Initializer | None, bias_init: Initializer | None = None) -> None:
    """Use these initializers for weights and biases whose attributes name none; None restores each Layer's own.

    Raises ArgumentError for anything that is no Initializer. Source: paddle.nn.initializer.set_global_initializer.

    Example:
        >>> import vitrify as paddle
        >>> paddle.nn.initializer.set_global_initializer(paddle.nn.initializer.Constant(1.0))
        >>> paddle.nn.Linear(1, 1).weight.tolist()
        [[1.0]]
        >>> paddle.nn.initializer.set_global_initializer(None)
    """
    for name, value in (("weight_init", weight_init), ("bias_init", bias_init)):
        if value is not None and not isinstance(value, Initializer):
            raise ArgumentError(f"set_global_initializer: {name} must be an Initializer or None, got {value!r}")
    _GLOBAL.set(_Defaults(weight_init, bias_init))


def choose_initializer(given: Initializer | None, of_layer: Initializer | None, is_bias: bool) -> Initializer:
    """The initializer of a parameter: its attribute's, the global one, its Layer's, or zeros (bias) and Xavier's."""
    defaults = _GLOBAL.get()
    fallback = Constant(0.0) if is_bias else XavierUniform()
    return given or (defaults.bias if is_bias else defaults.weight) or of_layer or fallback


# -- in programs written by hand --------------------------------------------------------------------------------------

PLAIN = (bool, int, float, str, type(None))
OWN = __name__.partition(".")[0]


def _initialize_kernel(
    xp: Any, *, initializer: str, settings: tuple[Any, ...], shape: Shape, dtype: DType, key: Any
) -> Any:
    """What the initializer of that class name and those attributes puts into a new parameter."""
    made: Any = object.__new__(_named(initializer))
    made.__dict__.update(settings)
    with scoped(recorder, None):
        param = wrap(xp.zeros(shape, dtype.np))
        made(param)
    return param._data


initialize_op = define_op(
    "initialize",
    kernel=_initialize_kernel,
    meta=lambda *, initializer, settings, shape, dtype: Meta(tuple(shape), dtype),
    vjp=NoGradient("a new value depends on no other"),
    random=True,
)


def _named(name: str) -> type[Initializer]:
    """Our own initializer of that class name; a program in a file names no other."""
    return next(cls for cls in _subclasses(Initializer) if cls.__name__ == name and _is_own(cls))


def _is_own(cls: type[Any]) -> bool:
    return cls.__module__.partition(".")[0] == OWN


def _subclasses(cls: type[Any]) -> Iterator[type[Any]]:
    for sub in cls.__subclasses__():
        yield sub
        yield from _subclasses(sub)


def initial_value(initializer: Initializer, meta: Meta, *, varies: bool = False) -> Any:
    """The value that `initializer` gives, in the program being built.

    Our own initializers draw whenever the program runs. Arrays, and what an initializer of the user's own gives, are
    constants of the program; `varies`: that would be wrong, as the value may be another each time.
    """
    rule = getattr(initializer, "rule", initializer)
    settings, kind = vars(rule), type(rule)
    if _is_own(kind) and all(isinstance(value, PLAIN) for value in settings.values()):
        return initialize_op(
            initializer=kind.__name__, settings=tuple(settings.items()), shape=meta.shape, dtype=meta.dtype
        )
    if varies and not (_is_own(kind) and hasattr(rule, "value")):
        raise UnsupportedError(
            f"{kind.__name__} fills a parameter inside of the function: what it gives may be another each time",
            hint="make the parameter outside of the function, or use an initializer of paddle.nn.initializer",
        )
    with scoped(recorder, None):
        param = wrap(np.zeros(meta.shape, meta.dtype.np))
        initializer(param)
    if param.size != math.prod(meta.shape):
        found = f"the value has shape {list(param.shape)}"
        raise ShapeError(f"{kind.__name__}: {found}, the variable has {list(meta.shape)}")
    return constant(param.numpy().reshape(meta.shape))


__all__ = ["Constant", "Initializer", "Normal", "XavierUniform", "fans", "initial_value", "set_global_initializer"]
