"""Tensors under the names that other libraries have for making and recognizing them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.alias import aliased
from ..core.errors import DTypeError
from ..ops.arguments import rank_of
from ..ops.methods import TensorMethods
from .tensor import Tensor, to_tensor


@aliased(x="obj")
def is_tensor(x: Any) -> bool:
    """Whether x is a Tensor, or a variable of a program. Source: paddle.is_tensor.

    Example:
        >>> import vitrify as paddle
        >>> paddle.is_tensor(paddle.ones([1])), paddle.is_tensor([1.0])
        (True, False)
    """
    return isinstance(x, TensorMethods)


def from_numpy(ndarray: Any) -> Any:
    """A Tensor with a copy of a NumPy array. Raises DTypeError for anything else. Source: paddle.from_numpy.

    Example:
        >>> import numpy as np
        >>> import vitrify as paddle
        >>> paddle.from_numpy(np.arange(3)).tolist()
        [0, 1, 2]
    """
    if not isinstance(ndarray, np.ndarray):
        raise DTypeError(f"from_numpy: expects a NumPy array, got {type(ndarray).__name__}", hint="use to_tensor")
    return to_tensor(ndarray)


def as_tensor(
    data: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False, pin_memory: bool = False
) -> Any:
    """A new Tensor of nested sequences, numbers, a NumPy array or a Tensor, as `to_tensor` makes it.

    pin_memory: accepted; has no effect. Source: paddle.as_tensor.

    Example:
        >>> import vitrify as paddle
        >>> paddle.as_tensor([1, 2], dtype="float32").tolist()
        [1.0, 2.0]
    """
    return to_tensor(data, dtype, device, stop_gradient=not requires_grad)


def asarray(
    obj: Any, *, dtype: Any = None, device: Any = None, copy: bool | None = None, requires_grad: bool = False
) -> Any:
    """A new Tensor, as `as_tensor` makes it; it is a copy whatever `copy` says. Source: paddle.asarray.

    Example:
        >>> import vitrify as paddle
        >>> paddle.asarray([1, 2]).tolist()
        [1, 2]
    """
    return to_tensor(obj, dtype, device, stop_gradient=not requires_grad)


def tolist(x: Any) -> Any:
    """The elements of x as nested lists of Python values. Source: paddle.tolist.

    Example:
        >>> import vitrify as paddle
        >>> paddle.tolist(paddle.ones([2]))
        [1.0, 1.0]
    """
    rank_of("tolist", x)
    return x.tolist()


def _typed(name: str, dtype: str) -> Callable[..., Tensor]:
    def call(*args: Any, device: Any = None) -> Tensor:
        return Tensor(*args, dtype=dtype, device=device)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = (
        f"A {dtype} Tensor: of that shape for ints, else of the elements of one list, array or Tensor.\n\n"
        f"    Source: paddle.{name}.\n\n    Example:\n        >>> import vitrify as paddle\n"
        f"        >>> paddle.{name}([1, 1]).dtype, paddle.{name}(2, 3).shape\n"
        f"        (paddle.{dtype}, paddle.Size([2, 3]))\n    "
    )
    return call


FloatTensor = _typed("FloatTensor", "float32")
DoubleTensor = _typed("DoubleTensor", "float64")
HalfTensor = _typed("HalfTensor", "float16")
BFloat16Tensor = _typed("BFloat16Tensor", "bfloat16")
ByteTensor = _typed("ByteTensor", "uint8")
CharTensor = _typed("CharTensor", "int8")
ShortTensor = _typed("ShortTensor", "int16")
IntTensor = _typed("IntTensor", "int32")
LongTensor = _typed("LongTensor", "int64")
BoolTensor = _typed("BoolTensor", "bool")

__all__ = [
    "BFloat16Tensor",
    "BoolTensor",
    "ByteTensor",
    "CharTensor",
    "DoubleTensor",
    "FloatTensor",
    "HalfTensor",
    "IntTensor",
    "LongTensor",
    "ShortTensor",
    "as_tensor",
    "asarray",
    "from_numpy",
    "is_tensor",
    "tolist",
]
