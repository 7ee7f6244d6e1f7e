"""Short names of casts, and questions about a tensor's dtype."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.alias import aliased
from ..core.dtype import as_dtype
from ..core.errors import DTypeError
from .arguments import is_tensor, rank_of
from .like import cast

# method -> the dtype it casts to
_CASTS = {
    "bool": "bool", "byte": "uint8", "char": "int8", "short": "int16", "int": "int32", "long": "int64",
    "half": "float16", "float": "float32", "double": "float64", "cfloat": "complex64", "cdouble": "complex128",
    "bfloat16": "bfloat16", "float16": "float16", "float32": "float32", "float64": "float64", "uint8": "uint8",
    "int8": "int8", "int16": "int16", "int32": "int32", "int64": "int64", "complex64": "complex64",
    "complex128": "complex128",
}  # fmt: skip
# dtype -> what goes in, and what comes out, in the example of its methods
_SHOWN = {
    "bool": ("[0.0, 0.5, -2.0]", "[False, True, True]"),
    "uint8": ("[7.9, 255.0]", "[7, 255]"),
    "int8": ("[1.7, -1.7]", "[1, -1]"),
    "int16": ("[300.7, -1.7]", "[300, -1]"),
    "int32": ("[1.7, -1.7]", "[1, -1]"),
    "int64": ("[1.7, -1.7]", "[1, -1]"),
    "bfloat16": ("[0.1, 257.0]", "[0.10009765625, 256.0]"),
    "float16": ("[0.1, 1e6]", "[0.0999755859375, inf]"),
    "float32": ("[1, 16777217]", "[1.0, 16777216.0]"),
    "float64": ("[1, 16777217]", "[1.0, 16777217.0]"),
    "complex64": ("[1.5]", "[(1.5+0j)]"),
    "complex128": ("[1.5]", "[(1.5+0j)]"),
}


def _cast_to(name: str, called: str) -> Callable[[Any], Any]:
    dtype = as_dtype(name)

    def method(x: Any) -> Any:
        return cast(x, dtype)

    given, result = _SHOWN[name]
    method.__doc__ = (
        f"x as {name}, in x's shape; x itself when it has that dtype already. Source: paddle.Tensor.astype.\n\n"
        "    Example:\n        >>> import vitrify as paddle\n"
        f"        >>> paddle.to_tensor({given}).{called}().tolist()\n        {result}\n    "
    )
    return method


def type_as(x: Any, other: Any) -> Any:
    """x cast to other's dtype, in x's shape. Raises DTypeError if other is no tensor. Source: paddle.Tensor.type_as.

    Example:
        >>> import vitrify as paddle
        >>> paddle.to_tensor([1.7, -1.7]).type_as(paddle.to_tensor([1])).tolist()
        [1, -1]
    """
    rank_of("type_as", other, "other")
    return cast(x, other.dtype)


def dim(x: Any) -> int:
    """The number of dimensions, as `x.ndim`. Source: paddle.Tensor.dim.

    Example:
        >>> import vitrify as paddle
        >>> paddle.ones([2, 3]).dim(), paddle.to_tensor(1.0).ndimension()
        (2, 0)
    """
    return int(x.ndim)


def _need_tensor(op: str, x: Any) -> Any:
    if not is_tensor(x):
        raise DTypeError(f"{op}: expects a Tensor, got {type(x).__name__}")
    return x


@aliased(x="input")
def is_complex(x: Any) -> bool:
    """Whether x holds complex numbers. Raises DTypeError unless x is a Tensor. Source: paddle.is_complex.

    Example:
        >>> import vitrify as paddle
        >>> paddle.is_complex(paddle.to_tensor([1j]))
        True
    """
    return bool(_need_tensor("is_complex", x).dtype.is_complex)


@aliased(x="input")
def is_floating_point(x: Any) -> bool:
    """Whether x holds real floating point numbers. Source: paddle.is_floating_point.

    Raises DTypeError unless x is a Tensor.

    Example:
        >>> import vitrify as paddle
        >>> paddle.is_floating_point(paddle.to_tensor([1.0]))
        True
    """
    return bool(_need_tensor("is_floating_point", x).dtype.is_floating)


def is_integer(x: Any) -> bool:
    """Whether x holds integers (bool are none). Raises DTypeError unless x is a Tensor. Source: paddle.is_integer.

    Example:
        >>> import vitrify as paddle
        >>> paddle.is_integer(paddle.to_tensor([1]))
        True
    """
    return bool(_need_tensor("is_integer", x).dtype.is_integer)


METHODS: dict[str, Any] = {name: _cast_to(dtype, name) for name, dtype in _CASTS.items()} | {
    "type_as": type_as,
    "is_complex": is_complex,
    "is_floating_point": is_floating_point,
    "is_integer": is_integer,
    "dim": dim,
    "ndimension": dim,
}
INPLACE = ()
__all__ = ["is_complex", "is_floating_point", "is_integer"]
