"""Finding where numbers go wrong in low precision, with Paddle's names."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from ..core.converted_too import converted_too
from ..core.errors import DTypeError, UserCodeError
from ..ops.arguments import is_tensor
from ..ops.numerics import check_numerics_op
from .accuracy_logs import compare_accuracy
from .operator_stats import (
    collect_operator_stats,
    disable_operator_stats_collection,
    enable_operator_stats_collection,
)
from .tensor_checker import DebugMode, TensorCheckerConfig, disable_tensor_checker, enable_tensor_checker


class LayerInputError(UserCodeError, RuntimeError):
    """A Layer whose numbers are checked was not called with a tensor."""


def check_numerics(
    tensor: Any, op_type: str, var_name: str, debug_mode: DebugMode = DebugMode.CHECK_NAN_INF_AND_ABORT
) -> tuple[Any, Any]:
    """(stats, values) of a tensor: int64 [3], how many NaN, infinities and zeros; float32 [3], maximum, minimum, mean.

    tensor: any shape, floating; of complex numbers the magnitudes count. NaN counts in the mean alone. op_type,
    var_name: what reports call its origin and the tensor. debug_mode: when a line is printed, and whether bad numbers
    raise; see DebugMode. In a program it is an operator, which looks in each run. Raises NotFiniteError, DTypeError
    for other dtypes, for names that are no text and for what is no DebugMode.
    Source: paddle.amp.debugging.check_numerics.

    Example:
        >>> import vitrify as paddle
        >>> debugging = paddle.amp.debugging
        >>> x = paddle.to_tensor([4.0, 0.0, float("inf")])
        >>> stats, values = debugging.check_numerics(x, "pow", "x", debugging.DebugMode.CHECK_NAN_INF)
        [PRECISION] [ERROR] in [device=cpu, op=pow, tensor=x, dtype=fp32], numel=3, num_nan=0, num_inf=1, ...
        >>> stats.tolist(), values.tolist()
        ([0, 1, 1], [inf, 0.0, inf])
    """
    if not isinstance(debug_mode, DebugMode):
        raise DTypeError(f"check_numerics: debug_mode must be a DebugMode, got {debug_mode!r}")
    for name, text in (("op_type", op_type), ("var_name", var_name)):
        if not isinstance(text, str):
            raise DTypeError(f"check_numerics: {name} must be a str, got {text!r}")
    if not is_tensor(tensor):
        raise DTypeError(f"check_numerics: tensor must be a Tensor, got {type(tensor).__name__}")
    stats, values = check_numerics_op(tensor, op=op_type, tensor=var_name, mode=debug_mode.value)
    return stats, values


def check_layer_numerics(func: Callable[..., Any]) -> Callable[..., Any]:
    """A decorator of a Layer's `forward`, which raises when a tensor that goes in or comes out has NaN or infinities.

    Tensors are its positional arguments and what it returns, one or a list or tuple; shapes and floating dtypes are
    any, other dtypes are not looked at. Compiled Layers check in each run. `forward` raises NotFiniteError, which
    names the Layer's class and the tensor ("input 0", "output 0"), and LayerInputError, a RuntimeError, where the
    first argument is no tensor. PaddlePaddle looks at every operator inside, on GPUs alone:
    `enable_tensor_checker` does. Source: paddle.amp.debugging.check_layer_numerics.

    Example:
        >>> import vitrify as paddle
        >>> class Inverse(paddle.nn.Layer):
        ...     @paddle.amp.debugging.check_layer_numerics
        ...     def forward(self, x):
        ...         return 1 / x
        >>> Inverse()(paddle.to_tensor([2.0])).tolist()
        [0.5]
        >>> Inverse()(paddle.to_tensor([0.0]))
        Traceback (most recent call last):
        vitrify.core.errors.NotFiniteError: Inverse: there are 0 NaN and 1 Inf values in [device=cpu, op=Inverse, ...
    """

    @converted_too
    @wraps(func)
    def checked(self: Any, *args: Any, **kwargs: Any) -> Any:
        if not args or not is_tensor(args[0]):
            found = type(args[0]).__name__ if args else "nothing"
            raise LayerInputError(f"{type(self).__name__}: the first input must be a tensor, got {found}")
        _check_all(type(self).__name__, "input", args)
        out = func(self, *args, **kwargs)
        _check_all(type(self).__name__, "output", out if isinstance(out, (list, tuple)) else (out,))
        return out

    return checked


def _check_all(layer: str, what: str, values: Any) -> None:
    for place, value in enumerate(values):
        if is_tensor(value) and value.dtype.is_inexact:
            check_numerics(value, layer, f"{what} {place}")


__all__ = [
    "DebugMode",
    "TensorCheckerConfig",
    "check_layer_numerics",
    "check_numerics",
    "collect_operator_stats",
    "compare_accuracy",
    "disable_operator_stats_collection",
    "disable_tensor_checker",
    "enable_operator_stats_collection",
    "enable_tensor_checker",
]
