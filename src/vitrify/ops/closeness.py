"""Equality of whole tensors, exact and within a tolerance."""

from __future__ import annotations

from typing import Any

from ..core.alias import aliased
from ..core.dtype import bool_, int32
from ..core.meta import Meta
from .arguments import finish, is_unknown, need_tensors
from .compare import TRUTH, isfinite, isnan, logical_and, logical_or
from .like import cast
from .meta_rules import elementwise
from .reduce import all_op
from .registry import define_elementwise, define_op


def _close(s: Any, x: Any, y: Any, *, rtol: float, atol: float, equal_nan: bool) -> Any:
    near = (s.abs(x - y) <= atol + rtol * s.abs(y)) & s.isfinite(y) | (x == y)
    return near | (s.isnan(x) & s.isnan(y)) if equal_nan else near


_isclose_op = define_elementwise(
    "isclose",
    scalar=_close,
    meta=elementwise("isclose", ("x", "y"), result=bool_),
    vjp=TRUTH,
    maps={"paddle": "isclose"},
)
_equal_all_op = define_op(
    "equal_all",
    kernel=lambda xp, x, y: xp.asarray(x.shape == y.shape and bool((x == y).all())),
    meta=lambda x, y: Meta((), bool_),
    vjp=TRUTH,
    maps={"paddle": "equal_all"},
)


@aliased(x="input", y="other")
def isclose(
    x: Any, y: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: bool = False, name: str | None = None, *,
    out: Any = None,
) -> Any:  # fmt: skip
    """Whether |x - y| <= atol + rtol * |y|, elementwise with broadcasting. Source: paddle.isclose.

    Example:
        >>> import vitrify as paddle
        >>> paddle.isclose(paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([1.0, 2.1])).tolist()
        [True, False]
    """
    if is_unknown(rtol) or is_unknown(atol):
        near = logical_or(logical_and(abs(x - y) <= atol + rtol * abs(y), isfinite(y)), x == y)
        return finish("isclose", logical_or(near, logical_and(isnan(x), isnan(y))) if equal_nan else near, out)
    x, y = (cast(v, int32) if getattr(v, "dtype", None) is bool_ else v for v in (x, y))
    return finish("isclose", _isclose_op(x, y, rtol=float(rtol), atol=float(atol), equal_nan=bool(equal_nan)), out)


def allclose(
    x: Any, y: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: bool = False, name: str | None = None
) -> Any:
    """Whether `isclose` holds everywhere: a 0-D bool. Source: paddle.allclose.

    Example:
        >>> import vitrify as paddle
        >>> paddle.allclose(paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([1.0, 2.0])).item()
        True
    """
    near = isclose(x, y, rtol, atol, equal_nan)
    return all_op(near, axis=tuple(range(near.ndim)), keepdim=False)


def equal_all(x: Any, y: Any, name: str | None = None) -> Any:
    """Whether x and y have the same shape and elements: a 0-D bool. Source: paddle.equal_all.

    Example:
        >>> import vitrify as paddle
        >>> paddle.equal_all(paddle.to_tensor([1, 2]), paddle.to_tensor([1, 2])).item()
        True
    """
    need_tensors("equal_all", x, y)
    return _equal_all_op(x, y)


METHODS: dict[str, Any] = {"isclose": isclose, "allclose": allclose, "equal_all": equal_all}
INPLACE = ()
__all__ = ["allclose", "equal_all", "isclose"]
