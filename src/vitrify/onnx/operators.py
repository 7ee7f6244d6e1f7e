"""What ONNX operators mean here: arithmetic, shapes, indices, reductions and products."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core.dtype import bool_, int64
from ..core.errors import FileFormatError, UnsupportedError
from ..core.meta import UNKNOWN
from ..ir.known_values import as_tensor, known_ints, sizes_argument, sizes_array
from ..ir.program import Variable
from ..ops import functions as F
from ..ops.like import cast
from ..ops.registry import get_op
from .node import Node, axis_in
from .operator_table import operator
from .reading import dtype_of
from .sizes import as_matrix, extent, reshaped

# -- arithmetic --------------------------------------------------------------------------------------------------------


@operator("Div")
def div(node: Node, x: Any, y: Any) -> Any:
    """x / y; of integers cut towards zero."""
    a, b = as_tensor(x), as_tensor(y)
    return get_op("divide" if a.dtype.is_floating else "trunc_divide")(a, b)


@operator("Mod")
def mod(node: Node, x: Any, y: Any) -> Any:
    """What is left, with the sign of y; with fmod that of x."""
    a, b = as_tensor(x), as_tensor(y)
    rest = get_op("mod")(a, b)
    if not node.number("fmod", 0):
        return rest
    return get_op("where")((rest != 0) & ((rest < 0) ^ (a < 0)), rest - b, rest)


@operator("Pow")
def power(node: Node, x: Any, y: Any) -> Any:
    """x to the power of y, in x's dtype."""
    a, b = as_tensor(x), as_tensor(y)
    both = a.dtype if a.dtype.is_floating or not b.dtype.is_floating else b.dtype
    return cast(get_op("pow")(cast(a, both), cast(b, both)), a.dtype)


@operator("IsInf")
def is_infinite(node: Node, x: Any) -> Any:
    """Whether an element is infinite, of the signs asked for."""
    found = as_tensor(x)
    below, above = bool(node.number("detect_negative", 1)), bool(node.number("detect_positive", 1))
    if below and above:
        return F.isinf(found)
    if below or above:
        return F.isneginf(found) if below else F.isposinf(found)
    return F.isinf(found) & (found != found)  # none


@operator("Max", "Min", "Sum", "Mean")
def several(node: Node, *xs: Any) -> Any:
    """The largest, smallest, sum or mean of several tensors."""
    op = get_op({"Max": "maximum", "Min": "minimum"}.get(node.type, "add"))
    found = as_tensor(xs[0])
    for x in xs[1:]:
        found = op(found, as_tensor(x))
    return found / len(xs) if node.type == "Mean" else found


@operator("Clip")
def clip(node: Node, x: Any, low: Any = None, high: Any = None) -> Any:
    """x within bounds."""
    found = as_tensor(x)
    found = found if low is None else get_op("maximum")(found, as_tensor(low))
    return found if high is None else get_op("minimum")(found, as_tensor(high))


@operator("Cast")
def cast_(node: Node, x: Any) -> Any:
    """x in another dtype."""
    return cast(as_tensor(x), dtype_of(node.number("to")))


@operator("CastLike")
def cast_like(node: Node, x: Any, y: Any) -> Any:
    """x in the dtype of y."""
    return cast(as_tensor(x), as_tensor(y).dtype)


@operator("Identity")
def identity(node: Node, x: Any) -> Any:
    """x itself."""
    return x


@operator("Dropout")
def dropout(node: Node, x: Any, *_: Any) -> Any:
    """x itself, for this is evaluation, and which elements are kept: all."""
    if node.outputs == 1:
        return x
    kept = as_tensor(x)
    return x, F.ones_like(kept, bool_ if node.opset >= 10 else kept.dtype)


_ACTIVATIONS: dict[str, tuple[str, dict[str, tuple[str, float]]]] = {
    "LeakyRelu": ("leaky_relu", {"alpha": ("alpha", 0.01)}),
    "Elu": ("elu", {"alpha": ("alpha", 1.0)}),
    "Celu": ("celu", {"alpha": ("alpha", 1.0)}),
    "Selu": ("selu", {"alpha": ("alpha", 1.67326319217681884765625), "scale": ("gamma", 1.05070102214813232421875)}),
    "HardSigmoid": ("hard_sigmoid", {"slope": ("alpha", 0.2), "offset": ("beta", 0.5)}),
}


@operator(*_ACTIVATIONS)
def activation(node: Node, x: Any) -> Any:
    """An activation with numbers of its own."""
    name, numbers = _ACTIVATIONS[node.type]
    return get_op(name)(as_tensor(x), **{ours: node.real(theirs, d) for ours, (theirs, d) in numbers.items()})


@operator("Gelu")
def gelu(node: Node, x: Any) -> Any:
    """gelu, exact or by tanh."""
    return F.gelu(as_tensor(x), node.text("approximate", "none") == "tanh")


@operator("Softplus")
def softplus(node: Node, x: Any) -> Any:
    """log(1 + exp(x))."""
    return F.softplus(as_tensor(x), threshold=math.inf)


# -- making ------------------------------------------------------------------------------------------------------------


@operator("Constant")
def constant_(node: Node) -> Any:
    """The array of the attribute."""
    return node.array()


@operator("ConstantOfShape")
def constant_of_shape(node: Node, shape: Any) -> Any:
    """A tensor of one value."""
    value = node.array() if node.has("value") else np.zeros(1, np.float32)
    return get_op("full")(shape=sizes_argument(shape), fill_value=value.reshape(-1)[0].item(), dtype=node.dtype(value))


@operator("Range")
def range_(node: Node, start: Any, stop: Any, step: Any) -> Any:
    """Numbers from start to stop."""
    bounds = [v.reshape(-1)[0].item() if isinstance(v, np.ndarray) and v.dtype != object else v for v in
              (start, stop, step)]  # fmt: skip
    bounds = [v.reshape(-1)[0] if isinstance(v, np.ndarray) else v for v in bounds]
    known = [node.dtype(v) if isinstance(v, np.ndarray) else v.dtype for v in (start, stop, step)
             if v.dtype != object]  # fmt: skip
    dtype = known[0] if known else int64  # of sizes alone, of which ONNX makes int64
    return get_op("arange")(start=bounds[0], end=bounds[1], step=bounds[2], dtype=dtype)


# -- shapes ------------------------------------------------------------------------------------------------------------


@operator("Shape")
def shape(node: Node, x: Any) -> Any:
    """Sizes: numbers where they are known, 0-D tensors else."""
    if isinstance(x, np.ndarray):
        sizes: list[Any] = list(x.shape)
    else:
        sizes = [s if s != UNKNOWN else get_op("dim_size")(x, axis=i) for i, s in enumerate(x.shape)]
    kept = sizes[node.number("start", 0) : node.number("end", len(sizes))]
    return sizes_array(kept)


@operator("Size")
def size(node: Node, x: Any) -> Any:
    """The number of elements."""
    return get_op("numel")(as_tensor(x))


@operator("Reshape")
def reshape(node: Node, x: Any, target: Any) -> Any:
    """x in another shape; a 0 copies a size unless it is allowed to mean 0."""
    found = as_tensor(x)
    sizes = sizes_argument(target)
    zeros = isinstance(sizes, tuple) and any(isinstance(s, int) and s == 0 for s in sizes)
    if zeros and node.number("allowzero", 0):
        return get_op("full")(shape=sizes, fill_value=0, dtype=found.dtype)
    return reshaped(found, sizes)


@operator("Flatten")
def flatten(node: Node, x: Any) -> Any:
    """x as a matrix."""
    found = as_tensor(x)
    axis = node.number("axis", 1)
    return as_matrix(found, axis if axis == found.ndim else axis_in(axis, found.ndim))


@operator("Squeeze")
def squeeze(node: Node, x: Any, axes: Any = None) -> Any:
    """x without dimensions of size 1."""
    found = as_tensor(x) if not isinstance(x, np.ndarray) else x
    ndim = found.ndim
    given = known_ints(axes) if axes is not None else [i for i, s in enumerate(found.shape) if s == 1]
    places = tuple(sorted(axis_in(a, ndim) for a in given))
    if isinstance(found, np.ndarray):
        return np.squeeze(found, places)
    return get_op("squeeze")(found, axes=places)


@operator("Unsqueeze")
def unsqueeze(node: Node, x: Any, axes: Any) -> Any:
    """x with dimensions of size 1."""
    found = as_tensor(x) if not isinstance(x, np.ndarray) else x
    given = known_ints(axes)
    places = tuple(sorted(axis_in(a, found.ndim + len(given)) for a in given))
    if isinstance(found, np.ndarray):
        return np.expand_dims(found, places)
    return get_op("unsqueeze")(found, axes=places)


@operator("Transpose")
def transpose(node: Node, x: Any) -> Any:
    """x with its dimensions in another order."""
    found = as_tensor(x)
    perm = node.ints("perm", list(range(found.ndim))[::-1])
    if sorted(perm) != list(range(found.ndim)):
        raise FileFormatError(f"Transpose: perm {perm} is no order of {found.ndim} dimensions")
    return get_op("transpose")(found, perm=tuple(perm))


LARGEST_CONSTANT = 1 << 28


def _bounded(x: Any, sizes: Any) -> None:
    """Raise FileFormatError where a constant would grow to sizes that no model means: it is computed right now."""
    numbers = sizes if isinstance(sizes, (tuple, list)) else ()
    if not isinstance(x, Variable) and all(isinstance(s, int) for s in numbers):
        count = math.prod(max(abs(s), 1) for s in numbers)
        if count > LARGEST_CONSTANT:
            raise FileFormatError(f"a constant of {count} elements")


@operator("Expand")
def expand(node: Node, x: Any, target: Any) -> Any:
    """x repeated to the shape that it and `target` broadcast to."""
    found = as_tensor(x)
    sizes = sizes_argument(target)
    if not isinstance(sizes, tuple):
        raise UnsupportedError("Expand needs a shape of known length")
    lead = len(sizes) - found.ndim
    wanted = [-1 if isinstance(s, int) and s == 1 and i >= lead else s for i, s in enumerate(sizes)]
    if lead < 0:
        wanted = [-1] * -lead + wanted
    if all(isinstance(s, int) for s in wanted):
        _bounded(found, wanted)
        return get_op("expand")(found, shape=tuple(wanted))
    # A size known only at run time may be 1, which keeps that of x: adding zeros broadcasts both ways.
    zeros = get_op("full")(shape=tuple(sizes), fill_value=0, dtype=found.dtype if found.dtype is not bool_ else int64)
    return cast(cast(found, zeros.dtype) + zeros, found.dtype)


@operator("Tile")
def tile(node: Node, x: Any, repeats: Any) -> Any:
    """x repeated as a whole."""
    found, times = as_tensor(x), sizes_argument(repeats)
    _bounded(found, [*times, *found.shape] if isinstance(times, tuple) else times)
    return get_op("tile")(found, repeat_times=times)


@operator("Concat")
def concat(node: Node, *xs: Any) -> Any:
    """The tensors one behind the other."""
    axis = node.number("axis")
    if all(isinstance(x, np.ndarray) for x in xs) and any(x.dtype == object for x in xs):
        return sizes_array(np.concatenate([x.astype(object) for x in xs], axis))
    found = [as_tensor(x) for x in xs]
    return get_op("concat")(*found, axis=axis_in(axis, found[0].ndim))


@operator("Split")
def split(node: Node, x: Any, sections: Any = None) -> Any:
    """x cut in parts."""
    found = as_tensor(x)
    axis = axis_in(node.number("axis", 0), found.ndim)
    count = node.number("num_outputs", node.outputs)
    if sections is None and found.shape[axis] != UNKNOWN and found.shape[axis] % count:
        step = -(-found.shape[axis] // count)
        parts: Any = (*[step] * (count - 1), found.shape[axis] - step * (count - 1))
    else:
        parts = count if sections is None else sizes_argument(sections)
    return list(get_op("split")(found, sections=parts, axis=axis))


@operator("Slice")
def slice_(node: Node, x: Any, starts: Any, ends: Any, axes: Any = None, steps: Any = None) -> Any:
    """x[start:end:step] in some dimensions."""
    found = x if isinstance(x, np.ndarray) else as_tensor(x)
    first, last = sizes_argument(starts), sizes_argument(ends)
    places = list(range(len(first))) if axes is None else known_ints(axes)
    by = [1] * len(places) if steps is None else known_ints(steps)
    parts: list[Any] = [slice(None)] * found.ndim
    for axis, a, b, step in zip(places, first, last, by):
        parts[axis_in(axis, found.ndim)] = slice(a, _end(b, step), step)
    is_known = all(bound is None or isinstance(bound, int) for p in parts for bound in (p.start, p.stop))
    if isinstance(found, np.ndarray) and is_known:
        return found[tuple(parts)]
    return get_op("getitem")(found, index=tuple(parts)) if is_known else as_tensor(found)[tuple(parts)]


def _end(stop: Any, step: int) -> Any:
    """A bound far outside is no bound."""
    return None if isinstance(stop, int) and (stop >= 2**31 - 1 or (stop < -(2**31) and step < 0)) else stop


@operator("Pad", known=(2,))
def pad(node: Node, x: Any, pads: Any, value: Any = None, axes: Any = None) -> Any:
    """x with more elements around."""
    found = as_tensor(x)
    n = found.ndim
    sizes = sizes_argument(pads)
    if not isinstance(sizes, tuple):
        raise UnsupportedError("Pad by amounts of unknown number cannot be read")
    padded = list(range(n)) if axes is None else [axis_in(a, n) for a in known_ints(axes)]
    if len(sizes) != 2 * len(padded) or len(set(padded)) != len(padded):
        raise FileFormatError(f"Pad: {len(sizes)} amounts for {len(padded)} axes")
    amounts = dict(zip(padded, zip(sizes, sizes[len(padded) :])))
    pairs = tuple(v for i in range(n) for v in amounts.get(i, (0, 0)))
    _bounded(found, [a + b + s if isinstance(a, int) and isinstance(b, int) else a for a, b, s in
                           zip(pairs[::2], pairs[1::2], found.shape)])  # fmt: skip
    mode = {"constant": "constant", "reflect": "reflect", "edge": "replicate", "wrap": "circular"}[
        node.text("mode", "constant")
    ]
    fill = 0 if value is None else np.asarray(value).reshape(-1)[0].item()
    return get_op("pad")(found, pads=pairs, mode=mode, value=fill)


@operator("Trilu")
def trilu(node: Node, x: Any, k: Any = None) -> Any:
    """A triangle of x."""
    diagonal = 0 if k is None else known_ints(k)[0]
    return get_op("triu" if node.number("upper", 1) else "tril")(as_tensor(x), diagonal=diagonal)


# -- indices -----------------------------------------------------------------------------------------------------------


@operator("Gather")
def gather(node: Node, x: Any, index: Any) -> Any:
    """The slices of x at an index."""
    axis = node.number("axis", 0)
    if isinstance(x, np.ndarray) and isinstance(index, np.ndarray) and index.dtype != object:
        return sizes_array(np.take(x, index, axis)) if x.dtype == object else np.take(x, index, axis)
    found = as_tensor(x)
    return get_op("gather")(found, as_tensor(index), axis=axis_in(axis, found.ndim))


@operator("GatherND")
def gather_nd(node: Node, x: Any, index: Any) -> Any:
    """The elements of x at coordinates, which begin behind the first `batch_dims` dimensions."""
    x, index = as_tensor(x), as_tensor(index)
    for axis in reversed(range(node.number("batch_dims", 0))):
        index = _with_own_place(index, axis, x)
    return get_op("gather_nd")(x, index)


def _with_own_place(index: Any, axis: int, x: Any) -> Any:
    """Coordinates with their place along a dimension, which x has too, in front."""
    like = index[..., :1]
    size = x.shape[axis] if x.shape[axis] >= 0 else F.shape(x)[axis]
    places = F.reshape(F.arange(size, dtype=index.dtype), [-1, *[1] * (index.ndim - axis - 1)])
    return F.concat([F.zeros_like(like) + places, index], -1)


@operator("GatherElements")
def gather_elements(node: Node, x: Any, index: Any) -> Any:
    """The elements of x at places along one dimension."""
    found = as_tensor(x)
    axis = axis_in(node.number("axis", 0), found.ndim)
    return get_op("take_along_axis")(found, as_tensor(index), axis=axis, broadcast=False)


@operator("Compress")
def compress(node: Node, x: Any, mask: Any) -> Any:
    """The slices of x where a mask of one dimension is true."""
    found, rows = as_tensor(x), as_tensor(mask)
    at = node.number("axis", 0)
    found = found if node.has("axis") else get_op("reshape")(found, shape=(-1,))
    places = get_op("reshape")(get_op("nonzero")(rows), shape=(-1,))
    return get_op("gather")(found, places, axis=axis_in(at, found.ndim))


_COMBINED = {"none": "assign", "add": "add", "mul": "mul", "min": "amin", "max": "amax"}


@operator("ScatterElements", "Scatter")
def scatter_elements(node: Node, x: Any, index: Any, updates: Any) -> Any:
    """x with elements put, or added, at places along one dimension."""
    found = as_tensor(x)
    how = _COMBINED[node.text("reduction", "none")]
    return get_op("put_along_axis")(
        found, as_tensor(index), as_tensor(updates), axis=axis_in(node.number("axis", 0), found.ndim), reduce=how,
        include_self=True, broadcast=False,
    )  # fmt: skip


@operator("ScatterND")
def scatter_nd(node: Node, x: Any, index: Any, updates: Any) -> Any:
    """x with elements put, or combined with what is there, at coordinates."""
    found, at, new = map(as_tensor, (x, index, updates))
    how = node.text("reduction", "none")
    if how == "add":
        return get_op("scatter_nd_add")(found, at, new)
    depth = at.shape[-1]
    if how != "none":
        return _combined(found, at, new, _COMBINED[how])
    if depth == 1:
        return get_op("scatter")(found, get_op("squeeze")(at, axes=(at.ndim - 1,)), new, overwrite=True)
    parts = [get_op("gather")(at, as_tensor(np.asarray(i)), axis=at.ndim - 1) for i in range(depth)]
    index_of = (slice(None),) * found.ndim
    return get_op("index_put")(found, new, *parts, index=index_of, axes=tuple(range(depth)))


def _combined(x: Any, at: Any, new: Any, how: str) -> Any:
    """x with rows combined with what is there, a row being all that one coordinate names."""
    depth, row = at.shape[-1], at[..., 0] * 0
    for axis in range(depth):
        size, place = extent(x, axis), at[..., axis]
        row = row * size + F.where(place < 0, place + size, place)
    width = math.prod(extent(x, axis) for axis in range(depth, x.ndim))
    rows, values = F.reshape(x, [-1, width]), F.reshape(new, [-1, width])
    places = F.expand(F.reshape(row, [-1, 1]), F.shape(values))
    put = get_op("put_along_axis")(rows, places, values, axis=0, reduce=how, include_self=True, broadcast=False)
    return get_op("reshape_like")(put, x)


@operator("OneHot")
def one_hot(node: Node, x: Any, depth: Any, values: Any) -> Any:
    """`values[1]` at the place of each class in a new dimension, `values[0]` elsewhere and for classes outside."""
    places = cast(as_tensor(x), int64)
    axis = axis_in(node.number("axis", -1), places.ndim + 1)
    count = sizes_argument(depth)[0] if isinstance(depth, np.ndarray) else F.reshape(cast(depth, int64), [])
    classes = F.reshape(F.arange(count, dtype="int64"), [-1, *[1] * (places.ndim - axis)])
    both = as_tensor(values)
    return F.where(F.unsqueeze(F.where(places < 0, places + count, places), axis) == classes, both[1], both[0])


@operator("NonZero")
def nonzero(node: Node, x: Any) -> Any:
    """The places of what is not zero: [ndim, n]."""
    return get_op("transpose")(get_op("nonzero")(as_tensor(x)), perm=(1, 0))
