"""`x[...]`: the ops getitem (views), index_get (arrays), their adjoints, and setitem."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from ..core.errors import IndexRangeError, ShapeError
from ..core.meta import UNKNOWN, Meta, Shape
from .accumulate import add_at, put_at
from .arguments import SCALARS, is_tensor
from .flat_index import Rows, taken_at
from .index_form import FULL, Index, array_shape, basic_shape, is_mask, parse_index, plain_basic
from .like import cast, sum_to_like, zeros_like
from .moving_forms import getitem_form, setitem_form, write_at
from .registry import OpDef, define_op, get_op

# -- reading ---------------------------------------------------------------------------------------------------------


def _view(x: Any, basic: Sequence[Any]) -> Any:
    """The basic view; the ellipsis keeps NumPy from turning a single element into a scalar object."""
    try:
        return x[(*basic, Ellipsis)]
    except IndexError as err:
        raise IndexRangeError(f"getitem: {err}") from None


def array_index(arrays: Sequence[Any], axes: Shape) -> tuple[Any, ...]:
    """The index that puts each array at its dimension and takes the others whole."""
    out: list[Any] = []
    place = 0
    for array, axis in zip(arrays, axes):
        out += [FULL] * (axis - place) + [array]
        place = axis + (array.ndim if array.dtype.kind == "b" else 1)
    return tuple(out)


def _getitem_adjoint_kernel(xp: Any, x: Any, like: Any, *, index: tuple[Any, ...]) -> Any:
    out = xp.zeros(like.shape, x.dtype)
    _view(out, index)[...] = x
    return out


def _getitem_adjoint_native(n: Any, x: Any, like: Any, *, index: tuple[Any, ...]) -> Any:
    out = n.copy(n.full(like.shape, 0, x.dtype))
    write_at(n, out, x, index)
    return out


getitem_op: OpDef = define_op(
    "getitem",
    kernel=lambda xp, x, *, index: _view(x, index),
    meta=lambda x, *, index: x.with_shape(basic_shape("getitem", x, index)),
    vjp={"x": lambda ct, *, x_like, index: getitem_adjoint_op(ct, x_like, index=index)},
    dynamic=("index",),
    view=True,
    ahead=getitem_form,
    ahead_places=True,
)
getitem_adjoint_op: OpDef = define_op(
    "getitem_adjoint",
    kernel=_getitem_adjoint_kernel,
    meta=lambda x, like, *, index: x.with_shape(like.shape),
    vjp={"x": lambda ct, *, index: getitem_op(ct, index=index)},
    dynamic=("index",),
    native=_getitem_adjoint_native,
    native_places=True,
    shape_only=["like"],
)


def _index_get_kernel(xp: Any, x: Any, *indices: Any, axes: Shape) -> Any:
    try:
        found = x[array_index(indices, axes)]
    except IndexError as err:
        raise IndexRangeError(f"getitem: {err}") from None
    return found if found.base is None else found.copy()


def _index_add_kernel(xp: Any, x: Any, like: Any, *indices: Any, axes: Shape) -> Any:
    out = xp.zeros(like.shape, x.dtype)
    where = array_index(indices, axes)
    if len(indices) == 1 and indices[0].dtype.kind == "b":
        out[where] = x  # a mask names no element twice
    else:
        add_at(xp, out, where, x)
    return out


def _index_get_meta(x: Meta, *indices: Meta, axes: Shape) -> Meta:
    return x.with_shape(array_shape("getitem", x, indices, axes))


def _index_get_native(n: Any, x: Any, *indices: Any, axes: Shape) -> Any:
    if len(indices) == 1:
        return n.take(x, indices[0], axes[0], wraps=True)
    if any(v.dtype.kind == "b" for v in indices):
        n.refuse("masks are among several arrays of one index")
    if axes == tuple(range(axes[0], axes[0] + len(axes))):
        return taken_at(n, x, indices, axes[0])
    return taken_at(n, n.view(lambda a: np.moveaxis(a, axes, range(len(axes))), x), indices, 0)


def _index_add_native(n: Any, x: Any, like: Any, *indices: Any, axes: Shape) -> Any:
    if len(indices) == 1:
        return n.add_rows(x, indices[0], like.shape, axes[0], wraps=True)
    rows = Rows(n, like, indices, axes)
    return rows.array(n.add_rows(rows.of_part(x), rows.places, (prod(rows.sizes), *rows.rest), 0))


index_get_op: OpDef = define_op(
    "index_get",
    kernel=_index_get_kernel,
    meta=_index_get_meta,
    vjp={"x": lambda ct, *, x_like, indices, axes: index_get_adjoint_op(ct, x_like, *indices, axes=axes)},
    native=_index_get_native,
)
index_get_adjoint_op: OpDef = define_op(
    "index_get_adjoint",
    kernel=_index_add_kernel,
    meta=lambda x, like, *indices, axes: x.with_shape(like.shape),
    vjp={"x": lambda ct, *, indices, axes: index_get_op(ct, *indices, axes=axes)},
    native=_index_add_native,
    shape_only=["like"],
)


def getitem(x: Any, item: Any) -> Any:
    """x[item]: NumPy's indexing. Ints, slices, None and ... give a view; bool and integer arrays a copy.

    Ints count as basic (x[0, :, [1, 2]] is x[0][:, [1, 2]]). Tensors may be indices and slice bounds.
    Raises IndexRangeError outside a dimension or for too many indices. Source: paddle.Tensor.__getitem__.

    Example:
        >>> import vitrify as paddle
        >>> paddle.to_tensor([[1, 2, 3], [4, 5, 6]])[:, ::-2].tolist()
        [[3, 1], [6, 4]]
    """
    plain = plain_basic(item, x.ndim)
    if plain is not None:
        return getitem_op(x, index=plain)
    if is_tensor(item) and item.ndim and x.ndim and (item.dtype.is_integer or item.dtype.is_bool):
        return index_get_op(x, item, axes=(0,))
    index = parse_index("getitem", x, item)
    if not index.arrays:
        return getitem_op(x, index=index.basic)
    base = x if index.is_trivial else getitem_op(x, index=index.basic)
    return index_get_op(base, *index.arrays, axes=index.axes)


# -- writing ---------------------------------------------------------------------------------------------------------


def _region_shape(x: Meta, indices: Sequence[Meta], index: tuple[Any, ...], axes: Shape) -> Shape:
    base = basic_shape("setitem", x, index)
    return array_shape("setitem", x.with_shape(base), indices, axes) if indices else base


def _setitem_meta(x: Meta, value: Any, *indices: Meta, index: tuple[Any, ...], axes: Shape) -> Meta:
    region = _region_shape(x, indices, index, axes)
    given = value.shape if isinstance(value, Meta) else ()
    while len(given) > len(region) and given[0] == 1:
        given = given[1:]
    lead = len(region) - len(given)
    if lead < 0 or any(v not in (1, r) and UNKNOWN not in (v, r) for v, r in zip(given, region[lead:])):
        raise ShapeError(f"setitem: value {value} does not broadcast to the selected region {list(region)} of x {x}")
    return x


def _setitem_kernel(xp: Any, x: Any, value: Any, *indices: Any, index: tuple[Any, ...], axes: Shape) -> Any:
    out = xp.array(x)  # a copy, and an array: a program's 0-D values may be scalars of NumPy
    write(xp, out, xp.asarray(value).astype(x.dtype, copy=False), indices, index, axes)
    return out


def write(xp: Any, out: Any, value: Any, indices: Sequence[Any], index: tuple[Any, ...], axes: Shape) -> None:
    """out[index] = value, in place, for an index in plain form."""
    region = _view(out, index)
    try:
        if indices:
            put_at(xp, region, array_index(indices, axes), value)
        else:
            region[...] = value
    except IndexError as err:
        raise IndexRangeError(f"setitem: {err}") from None
    except ValueError as err:  # a mask with another number of True elements than values
        raise ShapeError(f"setitem: {err}") from None


def _may_repeat(indices: Sequence[Any]) -> bool:
    """Whether an index can name an element twice; masks cannot, nor can one number."""
    return not all(is_mask(v) for v in indices) and any(UNKNOWN in v.shape or prod(v.shape) > 1 for v in indices)


def _value_cotangent(ct: Any, value_like: Any, indices: Sequence[Any], index: Any, axes: Shape, once: bool) -> Any:
    """The part of `ct` that was written, summed to the value's shape; `once`: of an element that is named several
    times the first place alone has it."""
    whole = getitem_op(ct, index=index)
    part = index_get_op(whole, *indices, axes=axes) if indices else whole
    if once and indices and _may_repeat(indices):
        part = get_op("where")(get_op("first_places")(whole, *indices, axes=axes), part, zeros_like(part))
    return cast(summed_to_value(part, value_like), value_like.dtype)


def summed_to_value(part: Any, value_like: Any) -> Any:
    """`part` summed to the value's shape; the value may have extra leading dimensions of size 1."""
    extra = tuple(range(len(value_like.shape) - len(part.shape)))
    if extra:
        part = get_op("unsqueeze")(part, axes=extra)
    return sum_to_like(part, value_like)


def _define_writing(name: str, once: bool) -> OpDef:
    return define_op(
        name,
        kernel=_setitem_kernel,
        meta=_setitem_meta,
        vjp={
            "x": lambda ct, *, indices, index, axes: setitem_op(ct, 0, *indices, index=index, axes=axes),
            "value": lambda ct, *, value_like, indices, index, axes: _value_cotangent(
                ct, value_like, indices, index, axes, once
            ),
        },
        dynamic=("index",),
        maps={"paddle": "set_value"},
        native=setitem_form,
        ahead_places=True,
    )


# They differ in the gradient of a value for elements that are named several times, as in PaddlePaddle: for `x[i] = v`
# the first place has it, for `index_put` each.
setitem_op: OpDef = _define_writing("setitem", once=True)
index_put_op: OpDef = _define_writing("index_put", once=False)


def with_item(x: Any, item: Any, value: Any, write: OpDef = setitem_op) -> Any:
    """A copy of x in which x[item] is `value`, broadcast to the region and cast to x's dtype."""
    plain = plain_basic(item, x.ndim)
    index = parse_index("setitem", x, item) if plain is None else Index(plain, (), ())
    if not is_tensor(value) and not isinstance(value, SCALARS):
        value = np.asarray(value)
    return write(x, value, *index.arrays, index=index.basic, axes=index.axes)


def setitem(x: Any, item: Any, value: Any) -> None:
    """x[item] = value, in place. Source: paddle.Tensor.__setitem__.

    value: a scalar, array or tensor that broadcasts to x[item]; it is cast to x's dtype. Raises ShapeError when it
    does not broadcast, IndexRangeError for an index outside x. Of several values for one element the last stays; the
    gradient goes to the first, as in PaddlePaddle, and the values behind it have zeros.

    Example:
        >>> import vitrify as paddle
        >>> x = paddle.zeros([2, 2])
        >>> x[0, 1] = 5
        >>> x.tolist()
        [[0.0, 5.0], [0.0, 0.0]]
    """
    x._become(with_item(x, item, value))


METHODS = {"__getitem__": getitem, "__setitem__": setitem}
__all__: list[str] = []
