"""Comparison, logic and bits of tensors; which elements are finite; closeness."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.dispatch import bind, operator_of
from ..core.dtype import bool_
from .arguments import finish
from .define import binary, in_place, unary
from .elementwise import reflected
from .meta_rules import Predicate, any_dtype, elementwise, integral, unless_complex, whole
from .registry import NoGradient, OpDef, define_elementwise, get_op

TRUTH = NoGradient("the result is bool")
BITS = NoGradient("bits are not differentiable")


def _compare(name: str, scalar: str, doc: str, result: str, onnx: str | None = None) -> Any:
    example = ("[1, 2, 3]", "[2, 2, 2]", result)
    return binary(name, scalar=scalar, vjp=TRUTH, doc=doc, example=example, result=bool_, out=True, onnx=onnx)


equal = _compare("equal", "eq", "Whether x == y", "[False, True, False]", "Equal")
not_equal = _compare("not_equal", "ne", "Whether x != y", "[True, False, True]")
less_than = _compare("less_than", "lt", "Whether x < y", "[True, False, False]", "Less")
less_equal = _compare("less_equal", "le", "Whether x <= y", "[True, True, False]", "LessOrEqual")
greater_than = _compare("greater_than", "gt", "Whether x > y", "[False, False, True]", "Greater")
greater_equal = _compare("greater_equal", "ge", "Whether x >= y", "[False, True, True]", "GreaterOrEqual")
eq, ne, lt, le, gt, ge = equal, not_equal, less_than, less_equal, greater_than, greater_equal
less, greater = less_than, greater_than


def _logical(name: str, scalar: str, doc: str, result: str, onnx: str) -> Any:
    example = ("[True, False, True]", "[True, True, False]", result)
    return binary(name, scalar=scalar, vjp=TRUTH, doc=doc, example=example, result=bool_, out=True, onnx=onnx)


logical_and = _logical("logical_and", "and_", "Whether both x and y are non-zero", "[True, False, False]", "And")
logical_or = _logical("logical_or", "or_", "Whether x or y is non-zero", "[True, True, True]", "Or")
logical_xor = _logical("logical_xor", "xor", "Whether exactly one of x and y is non-zero", "[False, True, True]", "Xor")
logical_not = unary(
    "logical_not",
    scalar="not_",
    vjp=TRUTH,
    doc="Whether x is zero",
    example=("[True, False]", "[False, True]"),
    accepts=any_dtype,
    result=bool_,
    onnx="Not",
)


def _bitwise(name: str, scalar: str, doc: str, result: str, onnx: str | None = None) -> Any:
    example = ("[6, 5]", "[3, 1]", result)
    return binary(name, scalar=scalar, vjp=BITS, doc=doc, example=example, accepts=integral, out_third=True, onnx=onnx)


bitwise_and = _bitwise("bitwise_and", "bitand", "The bits that both x and y have", "[2, 1]", "BitwiseAnd")
bitwise_or = _bitwise("bitwise_or", "bitor", "The bits that x or y has", "[7, 5]", "BitwiseOr")
bitwise_xor = _bitwise("bitwise_xor", "bitxor", "The bits that exactly one of x and y has", "[5, 4]", "BitwiseXor")
bitwise_not = unary(
    "bitwise_not",
    scalar="bitnot",
    vjp=BITS,
    doc="The bits that x does not have; logical not for bool",
    example=("[0, 5]", "[-1, -6]"),
    accepts=integral,
    out_second=True,
    onnx="BitwiseNot",
)
bitwise_invert = bitwise_not

_left_shift_op = define_elementwise(
    "bitwise_left_shift", scalar="shl", meta=elementwise("bitwise_left_shift", ("x", "y"), whole), vjp=BITS
)
_right_shift_op = define_elementwise(
    "bitwise_right_shift", scalar="shr", meta=elementwise("bitwise_right_shift", ("x", "y"), whole), vjp=BITS
)
_logical_right_shift_op = define_elementwise(
    "logical_right_shift", scalar="lshr", meta=elementwise("bitwise_right_shift", ("x", "y"), whole), vjp=BITS
)


def bitwise_left_shift(x: Any, y: Any, is_arithmetic: bool = True, out: Any = None, name: str | None = None) -> Any:
    """x shifted left by y bits, elementwise with broadcasting. Source: paddle.bitwise_left_shift.

    Example:
        >>> import vitrify as paddle
        >>> paddle.bitwise_left_shift(paddle.to_tensor([6, 5]), paddle.to_tensor([3, 1])).tolist()
        [48, 10]
    """
    return finish("bitwise_left_shift", _left_shift_op(x, y), out)


def bitwise_right_shift(x: Any, y: Any, is_arithmetic: bool = True, out: Any = None, name: str | None = None) -> Any:
    """x shifted right by y bits, elementwise with broadcasting; zeros come in unless `is_arithmetic` keeps the sign.

    Source: paddle.bitwise_right_shift.

    Example:
        >>> import vitrify as paddle
        >>> paddle.bitwise_right_shift(paddle.to_tensor([6, -5]), paddle.to_tensor([1, 1])).tolist()
        [3, -3]
    """
    op = _right_shift_op if is_arithmetic else _logical_right_shift_op
    return finish("bitwise_right_shift", op(x, y), out)


# -- which elements are ... ------------------------------------------------------------------------------------------


def _test(
    name: str, scalar: Any, doc: str, result: str, onnx: str | None = None, accepts: Predicate = any_dtype
) -> Any:
    example = ('[1.0, float("nan"), -float("inf")]', result)
    return unary(
        name, scalar=scalar, vjp=TRUTH, doc=doc, example=example, accepts=accepts, result=bool_, out=True, onnx=onnx,
        paddle=f"{name}_v2",
    )  # fmt: skip


isnan = _test("isnan", "isnan", "Whether x is no number", "[False, True, False]", "IsNaN")
isinf = _test("isinf", "isinf", "Whether x is infinite", "[False, False, True]", "IsInf")
isfinite = _test("isfinite", "isfinite", "Whether x is neither infinite nor NaN", "[True, False, False]")
signbit = _test("signbit", "signbit", "Whether x has a minus sign", "[False, False, True]", accepts=unless_complex)
isposinf = _test("isposinf", lambda s, x: s.eq(x, float("inf")), "Whether x is +inf", "[False, False, False]")
isneginf = _test("isneginf", lambda s, x: s.eq(x, -float("inf")), "Whether x is -inf", "[False, False, True]")
isreal = _test("isreal", lambda s, x: s.eq(s.imag(x), 0), "Whether x has no imaginary part", "[True, True, True]")


# -- methods ---------------------------------------------------------------------------------------------------------


def _unless_foreign(op: OpDef) -> Callable[[Any, Any], Any]:
    """`==` and `!=` with what is no number, array or tensor, lists included: Python then compares identities."""

    def method(x: Any, y: Any) -> Any:
        if y is None or isinstance(y, (str, bytes, list, tuple)):
            return NotImplemented
        return bind(op, (x, y), {})

    return method


def _operators(name: str, op: OpDef) -> dict[str, Any]:
    return {f"__{name}__": operator_of(op), f"__r{name}__": reflected(op)}


METHODS: dict[str, Any] = {
    **{
        fn.__name__: fn
        for fn in (
            equal, not_equal, less_than, less_equal, greater_than, greater_equal, logical_and, logical_or, logical_xor,
            logical_not, bitwise_and, bitwise_or, bitwise_xor, bitwise_not, bitwise_left_shift, bitwise_right_shift,
            isnan, isinf, isfinite, isposinf, isneginf, isreal, signbit,
        )
    },
    "eq": equal,
    "ne": not_equal,
    "lt": less_than,
    "le": less_equal,
    "gt": greater_than,
    "ge": greater_equal,
    "less": less_than,
    "greater": greater_than,
    "bitwise_invert": bitwise_not,
    **{
        fn.__name__ + "_": in_place(fn, keeps_shape=True, shows_out=True)  # Paddle's have `out`, no other's in place
        for fn in (bitwise_left_shift, bitwise_right_shift)
    },
    "__eq__": _unless_foreign(get_op("equal")),
    "__ne__": _unless_foreign(get_op("not_equal")),
    "__lt__": operator_of(get_op("less_than")),
    "__le__": operator_of(get_op("less_equal")),
    "__gt__": operator_of(get_op("greater_than")),
    "__ge__": operator_of(get_op("greater_equal")),
    **_operators("and", get_op("bitwise_and")),
    **_operators("or", get_op("bitwise_or")),
    **_operators("xor", get_op("bitwise_xor")),
    **_operators("lshift", _left_shift_op),
    **_operators("rshift", _right_shift_op),
    "__invert__": bitwise_not,
}  # fmt: skip
INPLACE = (
    "equal", "not_equal", "less_than", "less_equal", "greater_than", "greater_equal", "less", "logical_and",
    "logical_or", "logical_xor", "logical_not", "bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_not",
    "bitwise_invert",
)  # fmt: skip
__all__ = [
    "bitwise_and",
    "bitwise_invert",
    "bitwise_left_shift",
    "bitwise_not",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
    "eq",
    "equal",
    "ge",
    "greater",
    "greater_equal",
    "greater_than",
    "gt",
    "isfinite",
    "isinf",
    "isnan",
    "isneginf",
    "isposinf",
    "isreal",
    "le",
    "less",
    "less_equal",
    "less_than",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "lt",
    "ne",
    "not_equal",
    "signbit",
]
