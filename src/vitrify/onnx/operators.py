"""What ONNX operators mean here: each as calls of our own ops on tensors.

An operator's function is `function(node, *inputs)`: inputs are tensors, arrays that are known now (constants), arrays
of objects (sizes, of which some are known and the others 0-D tensors), lists, or None where left out.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.dtype import bool_, int64
from ..core.errors import UnsupportedError
from ..core.meta import UNKNOWN, Meta
from ..nn import functional as F
from ..ops.like import cast
from ..ops.registry import OpDef, all_ops, get_op
from .node import EmptyList, Node, as_tensor, known_ints, sizes_argument
from .reading import dtype_of

Operator = Callable[..., Any]


class Operators:
    """The functions by ONNX's name."""

    def __init__(self) -> None:
        self._functions: dict[str, Operator] = {}

    def __call__(self, *names: str) -> Callable[[Operator], Operator]:
        """Enter the decorated function under these names."""

        def enter(function: Operator) -> Operator:
            self._functions.update(dict.fromkeys(names, function))
            return function

        return enter

    def names(self) -> frozenset[str]:
        """The operators with a function of their own."""
        return frozenset(self._functions)

    def get(self, name: str) -> Operator | None:
        """The function of an operator; one that is an op of ours is found by the op's own mapping."""
        found = self._functions.get(name)
        if found is None and name in _same():
            op = _same()[name]
            return lambda node, *inputs: op(*map(as_tensor, inputs))
        return found


def _same() -> dict[str, OpDef]:
    """Elementwise ops without attributes, by the ONNX operator that they say they are."""
    return {op.maps["onnx"]: op for op in all_ops() if op.elementwise and not op.attrs and "onnx" in op.maps}


operator = Operators()

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
    a = as_tensor(x)
    return get_op("pow")(a, cast(as_tensor(y), a.dtype))


@operator("Max", "Min", "Sum")
def several(node: Node, *xs: Any) -> Any:
    """The largest, smallest or sum of several tensors."""
    op = get_op({"Max": "maximum", "Min": "minimum", "Sum": "add"}[node.type])
    found = as_tensor(xs[0])
    for x in xs[1:]:
        found = op(found, as_tensor(x))
    return found


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


@operator("Identity", "Dropout")
def identity(node: Node, x: Any, *_: Any) -> Any:
    """x itself; Dropout does nothing in evaluation."""
    return x


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
    dtype = node.dtype(start) if isinstance(start, np.ndarray) and start.dtype != object else int64
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
    return node.objects(kept)


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


def reshaped(x: Any, sizes: Any) -> Any:
    """x reshaped; where x's sizes are known, to known sizes."""
    if isinstance(sizes, tuple) and all(isinstance(s, int) for s in sizes) and UNKNOWN not in x.shape:
        out = [x.shape[i] if s == 0 else s for i, s in enumerate(sizes)]
        if -1 in out:
            rest = math.prod(s for s in out if s != -1)
            out[out.index(-1)] = math.prod(x.shape) // rest if rest else 0
        sizes = tuple(out)
    return get_op("reshape")(x, shape=sizes)


@operator("Flatten")
def flatten(node: Node, x: Any) -> Any:
    """x as a matrix."""
    found = as_tensor(x)
    axis = node.number("axis", 1) % (found.ndim + 1)
    rows, columns = found.shape[:axis], found.shape[axis:]
    if UNKNOWN not in rows:
        return reshaped(found, (math.prod(rows), -1))
    if UNKNOWN in columns:
        raise UnsupportedError("Flatten needs known sizes on one side of its axis")
    return get_op("reshape")(found, shape=(-1, math.prod(columns)))


@operator("Squeeze")
def squeeze(node: Node, x: Any, axes: Any = None) -> Any:
    """x without dimensions of size 1."""
    found = as_tensor(x) if not isinstance(x, np.ndarray) else x
    ndim = found.ndim
    given = known_ints(axes) if axes is not None else [i for i, s in enumerate(found.shape) if s == 1]
    places = tuple(sorted(a % ndim for a in given))
    if isinstance(found, np.ndarray):
        return np.squeeze(found, places)
    return get_op("squeeze")(found, axes=places)


@operator("Unsqueeze")
def unsqueeze(node: Node, x: Any, axes: Any) -> Any:
    """x with dimensions of size 1."""
    found = as_tensor(x) if not isinstance(x, np.ndarray) else x
    given = known_ints(axes)
    places = tuple(sorted(a % (found.ndim + len(given)) for a in given))
    if isinstance(found, np.ndarray):
        return np.expand_dims(found, places)
    return get_op("unsqueeze")(found, axes=places)


@operator("Transpose")
def transpose(node: Node, x: Any) -> Any:
    """x with its dimensions in another order."""
    found = as_tensor(x)
    perm = node.ints("perm", list(range(found.ndim))[::-1])
    return get_op("transpose")(found, perm=tuple(perm))


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
        return get_op("expand")(found, shape=tuple(wanted))
    # A size known only at run time may be 1, which keeps that of x: adding zeros broadcasts both ways.
    zeros = get_op("full")(shape=tuple(sizes), fill_value=0, dtype=found.dtype if found.dtype is not bool_ else int64)
    return cast(cast(found, zeros.dtype) + zeros, found.dtype)


@operator("Tile")
def tile(node: Node, x: Any, repeats: Any) -> Any:
    """x repeated as a whole."""
    return get_op("tile")(as_tensor(x), repeat_times=sizes_argument(repeats))


@operator("Concat")
def concat(node: Node, *xs: Any) -> Any:
    """The tensors one behind the other."""
    axis = node.number("axis")
    if all(isinstance(x, np.ndarray) for x in xs) and any(x.dtype == object for x in xs):
        return node.objects(np.concatenate([x.astype(object) for x in xs], axis))
    found = [as_tensor(x) for x in xs]
    return get_op("concat")(*found, axis=axis % found[0].ndim)


@operator("Split")
def split(node: Node, x: Any, sections: Any = None) -> Any:
    """x cut in parts."""
    found = as_tensor(x)
    axis = node.number("axis", 0) % found.ndim
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
        parts[axis % found.ndim] = slice(a, _end(b, step), step)
    if isinstance(found, np.ndarray):
        return found[tuple(parts)]
    return get_op("getitem")(found, index=tuple(parts))


def _end(stop: Any, step: int) -> Any:
    """A bound far outside is no bound."""
    return None if isinstance(stop, int) and (stop >= 2**31 - 1 or (stop < -(2**31) and step < 0)) else stop


@operator("Pad")
def pad(node: Node, x: Any, pads: Any, value: Any = None, axes: Any = None) -> Any:
    """x with more elements around."""
    found = as_tensor(x)
    sizes = sizes_argument(pads)
    if axes is not None or not isinstance(sizes, tuple):
        raise UnsupportedError("Pad with axes, or by amounts of unknown number, cannot be read")
    n = found.ndim
    pairs = tuple(v for i in range(n) for v in (sizes[i], sizes[n + i]))
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
        return node.objects(np.take(x, index, axis)) if x.dtype == object else np.take(x, index, axis)
    found = as_tensor(x)
    return get_op("gather")(found, as_tensor(index), axis=axis % found.ndim)


@operator("GatherND")
def gather_nd(node: Node, x: Any, index: Any) -> Any:
    """The elements of x at coordinates."""
    node.refuse("batch_dims", 0)
    return get_op("gather_nd")(as_tensor(x), as_tensor(index))


@operator("GatherElements")
def gather_elements(node: Node, x: Any, index: Any) -> Any:
    """The elements of x at places along one dimension."""
    found = as_tensor(x)
    axis = node.number("axis", 0) % found.ndim
    return get_op("take_along_axis")(found, as_tensor(index), axis=axis, broadcast=False)


@operator("ScatterElements")
def scatter_elements(node: Node, x: Any, index: Any, updates: Any) -> Any:
    """x with elements put, or added, at places along one dimension."""
    found = as_tensor(x)
    how = {"none": "assign", "add": "add", "mul": "mul", "min": "amin", "max": "amax"}[node.text("reduction", "none")]
    return get_op("put_along_axis")(
        found, as_tensor(index), as_tensor(updates), axis=node.number("axis", 0) % found.ndim, reduce=how,
        include_self=True, broadcast=False,
    )  # fmt: skip


@operator("ScatterND")
def scatter_nd(node: Node, x: Any, index: Any, updates: Any) -> Any:
    """x with elements put, or added, at coordinates."""
    found, at, new = map(as_tensor, (x, index, updates))
    if node.text("reduction", "none") == "add":
        return get_op("scatter_nd_add")(found, at, new)
    node.refuse("reduction", "none")
    depth = at.shape[-1]
    if depth == 1:
        return get_op("scatter")(found, get_op("squeeze")(at, axes=(at.ndim - 1,)), new, overwrite=True)
    parts = [get_op("gather")(at, as_tensor(np.asarray(i)), axis=at.ndim - 1) for i in range(depth)]
    index_of = (slice(None),) * found.ndim
    return get_op("setitem")(found, new, *parts, index=index_of, axes=tuple(range(depth)))


@operator("NonZero")
def nonzero(node: Node, x: Any) -> Any:
    """The places of what is not zero: [ndim, n]."""
    return get_op("transpose")(get_op("nonzero")(as_tensor(x)), perm=(1, 0))


# -- reductions --------------------------------------------------------------------------------------------------------

_REDUCTIONS = {
    "ReduceSum": "sum", "ReduceMean": "mean", "ReduceMax": "max", "ReduceMin": "min", "ReduceProd": "prod",
    "ReduceLogSumExp": "logsumexp",
}  # fmt: skip


@operator(*_REDUCTIONS, "ReduceL2")
def reduction(node: Node, x: Any, axes: Any = None) -> Any:
    """A reduction, of all dimensions where none is named."""
    found = as_tensor(x)
    given = node.ints("axes", []) if axes is None else known_ints(axes)
    if not given and node.number("noop_with_empty_axes", 0):
        return found
    places = tuple(sorted(a % found.ndim for a in given)) if given else tuple(range(found.ndim))
    keepdim = bool(node.number("keepdims", 1))
    if node.type == "ReduceL2":
        return get_op("p_norm")(found, p=2.0, axis=places, keepdim=keepdim)
    out = get_op(_REDUCTIONS[node.type])(found, axis=places, keepdim=keepdim)
    return cast(out, found.dtype)


@operator("ArgMax", "ArgMin")
def arg(node: Node, x: Any) -> Any:
    """The first place of the largest or smallest."""
    node.refuse("select_last_index", 0)
    found = as_tensor(x)
    name = "argmax" if node.type == "ArgMax" else "argmin"
    axis = node.number("axis", 0) % found.ndim
    return get_op(name)(found, axis=axis, keepdim=bool(node.number("keepdims", 1)), dtype=int64)


@operator("CumSum")
def cumsum(node: Node, x: Any, axis: Any) -> Any:
    """Running sums."""
    node.refuse("exclusive", 0)
    found = as_tensor(x)
    return get_op("cumsum")(found, axis=known_ints(axis)[0] % found.ndim, reverse=bool(node.number("reverse", 0)))


@operator("TopK")
def topk(node: Node, x: Any, k: Any) -> Any:
    """The largest or smallest in order, and their places."""
    found = as_tensor(x)
    axis, largest = node.number("axis", -1) % found.ndim, bool(node.number("largest", 1))
    return list(get_op("topk")(found, k=sizes_argument(k)[0], axis=axis, largest=largest))


# -- products ----------------------------------------------------------------------------------------------------------


@operator("MatMul")
def matmul(node: Node, x: Any, y: Any) -> Any:
    """The matrix product."""
    a, b = as_tensor(x), as_tensor(y)
    if a.ndim < 2 or b.ndim < 2:
        raise UnsupportedError("MatMul of vectors cannot be read")
    return get_op("matmul")(a, b, transpose_x=False, transpose_y=False)


@operator("Gemm")
def gemm(node: Node, x: Any, y: Any, bias: Any = None) -> Any:
    """alpha * x @ y + beta * bias."""
    flags = {"transpose_x": bool(node.number("transA", 0)), "transpose_y": bool(node.number("transB", 0))}
    out = get_op("matmul")(as_tensor(x), as_tensor(y), **flags)
    alpha, beta = node.real("alpha", 1.0), node.real("beta", 1.0)
    out = out if alpha == 1 else out * alpha
    if bias is None:
        return out
    shift = as_tensor(bias)
    return out + (shift if beta == 1 else shift * beta)


@operator("Einsum")
def einsum(node: Node, x: Any, y: Any) -> Any:
    """A contraction of two tensors."""
    terms, _, out = node.text("equation").replace(" ", "").partition("->")
    left, _, right = terms.partition(",")
    return get_op("contract")(as_tensor(x), as_tensor(y), left=left, right=right, out=out)


@operator("Det")
def det(node: Node, x: Any) -> Any:
    """The determinant."""
    return get_op("det")(as_tensor(x))


# -- layers ------------------------------------------------------------------------------------------------------------


def _pairs(node: Node, n: int) -> Any:
    """Padding as (low, high) pairs."""
    if node.text("auto_pad", "NOTSET") == "SAME_UPPER":
        return "SAME"
    node.refuse("auto_pad", "NOTSET", "VALID")
    pads = node.ints("pads", [0] * (2 * n))
    if len(pads) != 2 * n:
        raise UnsupportedError(f"{node.type}: pads has {len(pads)} numbers for {n} dimensions")
    return tuple(zip(pads[:n], pads[n:]))


@operator("Conv")
def conv(node: Node, x: Any, weight: Any, bias: Any = None) -> Any:
    """A convolution."""
    found, w = as_tensor(x), as_tensor(weight)
    n = found.ndim - 2
    return get_op("conv")(
        found, w, None if bias is None else as_tensor(bias), stride=tuple(node.ints("strides", [1] * n)),
        padding=_pairs(node, n), dilation=tuple(node.ints("dilations", [1] * n)), groups=node.number("group", 1),
        channel_last=False,
    )  # fmt: skip


@operator("ConvTranspose")
def conv_transpose(node: Node, x: Any, weight: Any, bias: Any = None) -> Any:
    """A transposed convolution."""
    found = as_tensor(x)
    n = found.ndim - 2
    node.refuse("output_shape")
    padding = _pairs(node, n)
    if padding == "SAME":
        raise UnsupportedError("ConvTranspose with auto_pad cannot be read")
    return get_op("conv_transpose")(
        found, as_tensor(weight), None if bias is None else as_tensor(bias),
        stride=tuple(node.ints("strides", [1] * n)), padding=padding,
        output_padding=tuple(node.ints("output_padding", [0] * n)), output_size=None,
        dilation=tuple(node.ints("dilations", [1] * n)), groups=node.number("group", 1), channel_last=False,
    )  # fmt: skip


@operator("MaxPool", "AveragePool")
def pool(node: Node, x: Any) -> Any:
    """Pooling over windows."""
    found = as_tensor(x)
    kernel = tuple(node.ints("kernel_shape"))
    n = len(kernel)
    node.refuse("dilations", [1] * n)
    attrs = {
        "kernel": kernel, "stride": tuple(node.ints("strides", [1] * n)), "padding": _pairs(node, n),
        "ceil_mode": bool(node.number("ceil_mode", 0)), "channel_last": False,
    }  # fmt: skip
    if node.type == "MaxPool":
        if node.outputs == 1:
            return get_op("max_pool")(found, **attrs)
        return _max_pool_places(found, attrs)
    exclusive = not node.number("count_include_pad", 0)
    return get_op("avg_pool")(found, exclusive=exclusive, divisor=None, **attrs)


def _max_pool_places(x: Any, attrs: dict[str, Any]) -> list[Any]:
    """The maxima, and their places counted through the whole tensor."""
    if UNKNOWN in x.shape[1:]:
        raise UnsupportedError("the places of MaxPool need known sizes")
    out, places = get_op("max_pool_with_index")(x, **attrs)
    plane = math.prod(x.shape[2:])
    planes = get_op("arange")(start=0, end=get_op("dim_size")(x, axis=0) * x.shape[1], step=1, dtype=int64)
    starts = get_op("reshape")(planes * plane, shape=(-1, x.shape[1], *[1] * (x.ndim - 2)))
    return [out, cast(places, int64) + starts]


@operator("GlobalAveragePool", "GlobalMaxPool")
def global_pool(node: Node, x: Any) -> Any:
    """The mean or maximum of each channel."""
    found = as_tensor(x)
    name = "mean" if node.type == "GlobalAveragePool" else "max"
    return get_op(name)(found, axis=tuple(range(2, found.ndim)), keepdim=True)


@operator("BatchNormalization")
def batch_norm(node: Node, x: Any, scale: Any, shift: Any, mean: Any, variance: Any) -> Any:
    """Batch normalization by given statistics."""
    node.refuse("training_mode", 0)
    given = [as_tensor(v) for v in (x, mean, variance, scale, shift)]
    return get_op("batch_norm_infer")(*given, channel=1, epsilon=node.real("epsilon", 1e-5))


@operator("LayerNormalization")
def layer_norm(node: Node, x: Any, scale: Any, shift: Any = None) -> Any:
    """Layer normalization over the last dimensions."""
    found = as_tensor(x)
    axes = tuple(range(node.number("axis", -1) % found.ndim, found.ndim))
    outs = get_op("layer_norm")(
        found, as_tensor(scale), None if shift is None else as_tensor(shift), axes=axes, param_axes=axes, groups=0,
        epsilon=node.real("epsilon", 1e-5),
    )  # fmt: skip
    return list(outs)[: node.outputs]


@operator("InstanceNormalization")
def instance_norm(node: Node, x: Any, scale: Any, shift: Any) -> Any:
    """Each channel of each sample normalized."""
    found = as_tensor(x)
    outs = get_op("instance_norm")(
        found, as_tensor(scale), as_tensor(shift), axes=tuple(range(2, found.ndim)), param_axes=(1,), groups=0,
        epsilon=node.real("epsilon", 1e-5),
    )  # fmt: skip
    return outs[0]


@operator("Softmax", "LogSoftmax")
def softmax(node: Node, x: Any) -> Any:
    """Softmax along one dimension."""
    found = as_tensor(x)
    name = "softmax" if node.type == "Softmax" else "log_softmax"
    return get_op(name)(found, axis=node.number("axis", -1) % found.ndim)


@operator("Resize")
def resize(node: Node, x: Any, roi: Any = None, scales: Any = None, sizes: Any = None) -> Any:
    """Linear or cubic resizing of the dimensions behind the channels."""
    found = as_tensor(x)
    mode = node.text("mode", "nearest")
    where = node.text("coordinate_transformation_mode", "half_pixel")
    if mode == "nearest" and (where != "asymmetric" or node.text("nearest_mode", "round_prefer_floor") != "floor"):
        raise UnsupportedError("Resize to the nearest element is read as asymmetric with nearest_mode floor only")
    if mode == "cubic" and abs(node.real("cubic_coeff_a", -0.75) + 0.75) > 1e-6:
        raise UnsupportedError("Resize is read with cubic_coeff_a = -0.75 only")
    if where not in ("align_corners", "asymmetric", "pytorch_half_pixel", "half_pixel"):
        raise UnsupportedError(f"Resize with coordinates {where!r} cannot be read")
    n = found.ndim - 2
    wanted = None if sizes is None else sizes_argument(sizes)[2:]
    factors = (0.0,) * n if scales is None or not np.size(scales) else tuple(float(s) for s in np.asarray(scales)[2:])
    return get_op("resize")(
        found, first=2, sizes=wanted, scales=factors, kind=mode, align_corners=where == "align_corners",
        align_mode=int(where == "asymmetric"),
    )  # fmt: skip


# -- sequences ---------------------------------------------------------------------------------------------------------


@operator("SequenceEmpty")
def sequence_empty(node: Node) -> Any:
    """A list that gets the kind of its first item."""
    return EmptyList(dtype_of(node.number("dtype", 1)))


@operator("SequenceConstruct")
def sequence_construct(node: Node, *items: Any) -> Any:
    """A list of items."""
    found = [as_tensor(item) for item in items]
    return get_op("list_of")(*found, item=found[0].meta if hasattr(found[0], "meta") else None)


def as_list(x: Any, item: Meta) -> Any:
    """A list for items like `item`."""
    if not isinstance(x, EmptyList):
        return x
    return get_op("list_of")(item=Meta((UNKNOWN,) * len(item.shape), x.dtype))


@operator("SequenceInsert")
def sequence_insert(node: Node, x: Any, item: Any, place: Any = None) -> Any:
    """A list with one more item."""
    new = as_tensor(item)
    held = as_list(x, new.meta)
    if place is None:
        return get_op("list_append")(held, new)
    at = sizes_argument(place)[0]
    before = get_op("list_slice")(held, start=None, stop=at, step=None)
    after = get_op("list_slice")(held, start=at, stop=None, step=None)
    return get_op("list_extend")(get_op("list_append")(before, new), after)


@operator("SequenceAt")
def sequence_at(node: Node, x: Any, place: Any) -> Any:
    """One item."""
    return get_op("list_get")(x, index=sizes_argument(place)[0])


@operator("SequenceErase")
def sequence_erase(node: Node, x: Any, place: Any = None) -> Any:
    """A list without one item."""
    return get_op("list_remove")(x, index=-1 if place is None else sizes_argument(place)[0])


@operator("SequenceLength")
def sequence_length(node: Node, x: Any) -> Any:
    """How many items there are."""
    return get_op("list_len")(x)


@operator("ConcatFromSequence")
def concat_from_sequence(node: Node, x: Any) -> Any:
    """The items one behind the other, or along a new dimension."""
    name = "list_stack" if node.number("new_axis", 0) else "list_join"
    return get_op(name)(x, axis=node.number("axis"))


@operator("SplitToSequence")
def split_to_sequence(node: Node, x: Any, parts: Any = None) -> Any:
    """The slices along a dimension."""
    if parts is not None or node.number("keepdims", 1):
        raise UnsupportedError("SplitToSequence is read for single slices without their dimension only")
    found = as_tensor(x)
    return get_op("list_unstack")(found, axis=node.number("axis", 0) % found.ndim)


