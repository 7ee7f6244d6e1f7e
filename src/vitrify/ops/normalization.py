"""Layer, group, instance, batch and RMS normalization: each one op that keeps its statistics for backward."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from ..core.alias import aliased
from ..core.dtype import float32
from ..core.errors import ArgumentError, DTypeError, ShapeError
from ..core.lazy import lazy_module
from ..core.meta import UNKNOWN, Meta, Shape, numel
from .arguments import as_int, dims, is_unknown, rank_of, static_ints
from .channel_norm import norm_grad_native
from .elementwise import add_op, divide_op, multiply_op, subtract_op
from .like import constant, reshape_like
from .norm_kernel import Layout, normalize, normalize_adjoint, stats_dtype
from .reduce import mean, sum
from .registry import OpDef, define_op, get_op
from .shape import flatten, reshape, unflatten
from .unary import rsqrt

_simpler = lazy_module("vitrify.ops.norm_in_ops")  # which programs that are read and run do without

# --- meta ------------------------------------------------------------------------------------------------------------


def _check_param(op: str, x: Meta, param: Meta | None, name: str, shape: Shape) -> None:
    if param is None:
        return
    have, want = numel(param.shape), numel(shape)
    if UNKNOWN not in (have, want) and have != want:
        raise ShapeError(f"{op}: {name} is {param}, x {x} needs {want} values")
    if not param.dtype.is_floating:
        raise DTypeError(f"{op}: {name} is {param}, expected a floating dtype")


def check_norm(op: str, x: Meta, weight: Meta | None, bias: Meta | None, layout: Layout) -> None:
    """Raise unless x is floating and the parameters have one value for each place they vary over."""
    if not x.dtype.is_floating:
        raise DTypeError(f"{op}: x is {x}, expected a floating dtype")
    if layout.groups and x.shape[layout.param_axes[0]] % layout.groups and UNKNOWN not in x.shape:
        raise ShapeError(f"{op}: the channels of x {x} cannot be divided into {layout.groups} groups")
    shape = layout.param_shape(x.shape)
    _check_param(op, x, weight, "weight", shape)
    _check_param(op, x, bias, "bias", shape)


# --- gradient --------------------------------------------------------------------------------------------------------


def _grad_kernel(
    xp: Any, ct: Any, x: Any, weight: Any, bias: Any, mean: Any, rstd: Any, *, axes: Shape, param_axes: Shape,
    groups: int, epsilon: float, with_params: bool,
) -> tuple[Any, Any, Any]:  # fmt: skip
    layout = Layout(axes, param_axes, groups)
    dx, dw, db = normalize_adjoint(xp, ct, x, weight, mean, rstd, layout, with_params)
    return dx, _like_param(xp, dw, weight), _like_param(xp, db, bias)


def _like_param(xp: Any, total: Any, param: Any) -> Any:
    """A parameter's cotangent in its own shape and dtype; an empty array where there is no parameter."""
    if param is None:
        return xp.zeros((0,), xp.float32)
    return xp.zeros_like(param) if total is None else total.reshape(param.shape).astype(param.dtype, copy=False)


def _grad_meta(
    ct: Meta, x: Meta, weight: Meta | None, bias: Meta | None, mean: Meta | None, rstd: Meta, **attrs: Any
) -> tuple[Meta, Meta, Meta]:
    nothing = Meta((0,), float32)
    return x, nothing if weight is None else weight, nothing if bias is None else bias


def _spread(param: Any, x: Any, layout: Layout) -> Any:
    """A parameter, or its cotangent, reshaped to broadcast against the split x."""
    return reshape(param, list(layout.param_shape(tuple(x.shape))))


def _second_order(
    cts: Sequence[Any], *, ct: Any, x: Any, weight: Any, bias_like: Any, mean_like: Any, axes: Any, param_axes: Any,
    groups: Any, epsilon: Any, needs: Any,
) -> dict[str, Any]:  # fmt: skip
    """Cotangents of `norm_grad`'s inputs, the statistics being functions of x. With y the normalized x and
    P(a) = a - mean(a) - y * mean(a * y), its outputs are rstd * P(ct * weight), sum(ct * y) and sum(ct).
    """
    layout = Layout(axes, param_axes, groups)
    flowing, source, u = (_as_split(a, layout) for a in (ct, x, cts[0]))
    y, rstd = _normalized(source, layout, epsilon, centered=mean_like is not None)

    def project(a: Any) -> Any:
        along = y * _mean(a * y, layout)
        return a - along if mean_like is None else a - _mean(a, layout) - along

    w = None if weight is None else _spread(weight, x, layout)
    g = flowing if w is None else flowing * w
    pulled = rstd * project(u)
    to_ct = pulled if w is None else pulled * w
    to_x = project(u * _mean(g * y, layout) + g * _mean(u * y, layout)) + y * _mean(u * project(g), layout)
    to_x = -(rstd * rstd * to_x)
    if w is not None:
        v = _spread(cts[1], x, layout)
        to_ct = to_ct + v * y
        to_x = to_x + rstd * project(flowing * v)
    if bias_like is not None:
        to_ct = to_ct + _spread(cts[2], x, layout)
    found = {"ct": reshape_like(to_ct, ct), "x": reshape_like(to_x, x)}
    if "weight" in needs:
        found["weight"] = _param_sum(flowing * pulled, weight, layout)
    return found


def _as_split(x: Any, layout: Layout) -> Any:
    return unflatten(x, layout.param_axes[0], [layout.groups, -1]) if layout.groups else x


def _mean(x: Any, layout: Layout) -> Any:
    return mean(x, list(layout.axes), keepdim=True)


def _normalized(x: Any, layout: Layout, epsilon: float, *, centered: bool) -> tuple[Any, Any]:
    """x brought to mean 0 (when centered) and variance 1, and the factor used, in differentiable ops."""
    if centered:
        x = x - _mean(x, layout)
    rstd = rsqrt(_mean(x * x, layout) + epsilon)
    return x * rstd, rstd


def _param_sum(x: Any, param: Any, layout: Layout) -> Any:
    others = [i for i in range(x.ndim) if i not in layout.split_params]
    return reshape_like(sum(x, others) if others else x, param)


norm_grad_op: OpDef = define_op(
    "norm_grad",
    kernel=_grad_kernel,
    meta=_grad_meta,
    vjp=_second_order,
    outputs=("dx", "dweight", "dbias"),
    decompose=lambda *given, **attrs: _simpler.gradient_in_ops(*given, **attrs),
    native=norm_grad_native,
    native_alone=True,
    shape_only=["bias"],
)


def norm_cotangents(
    ct: Any, x: Any, weight: Any, bias: Any, mean: Any, rstd: Any, needs: Any, axes: Any, param_axes: Any, groups: Any,
    epsilon: Any,
) -> dict[str, Any]:  # fmt: skip
    """The cotangents of x, weight and bias."""
    dx, dw, db = norm_grad_op(
        ct, x, weight, bias, mean, rstd, axes=axes, param_axes=param_axes, groups=groups, epsilon=epsilon,
        with_params=not needs.isdisjoint(("weight", "bias")),
    )  # fmt: skip
    return {"x": dx, "weight": dw, "bias": db}


def _channel_form(
    n: Any, x: Any, weight: Any, bias: Any, *, axes: Shape, param_axes: Shape, groups: int, epsilon: float
) -> Any:
    """Norms over parts of the channels or of images, as steps of programs compiled ahead of time."""
    layout = Layout(axes, param_axes, groups)
    wide = n.reshape(n.contiguous(x), layout.split(x.shape))
    count = n.full((), prod(wide.shape[i] for i in layout.axes), x.dtype)

    def averaged(v: Any) -> Any:
        return n.apply(divide_op, n.reduce("sum", v, tuple(layout.axes), True), count)

    middle = averaged(wide)
    out = n.apply(subtract_op, wide, middle)
    spread = n.apply(add_op, averaged(n.apply(multiply_op, out, out)), n.full((), epsilon, x.dtype))
    rstd = n.apply(get_op("rsqrt"), spread)
    out = n.apply(multiply_op, out, rstd)
    for op, param in ((multiply_op, weight), (add_op, bias)):
        if param is not None:
            out = n.apply(op, out, n.reshape(param, layout.param_shape(x.shape)))
    return n.reshape(out, x.shape), middle, rstd


# --- ops -------------------------------------------------------------------------------------------------------------


def _define(
    name: str, maps: dict[str, str], *, native: Any = None, native_alone: bool = False, ahead: Any = None
) -> OpDef:
    """An op that normalizes over `axes`: outputs (out, mean, rstd), the statistics being kept for backward."""

    def kernel(
        xp: Any, x: Any, weight: Any, bias: Any, *, axes: Shape, param_axes: Shape, groups: int, epsilon: float
    ) -> Any:
        return normalize(xp, x, weight, bias, Layout(axes, param_axes, groups), epsilon, centered=True)

    def meta(
        x: Meta, weight: Meta | None, bias: Meta | None, *, axes: Shape, param_axes: Shape, groups: int, epsilon: float
    ) -> tuple[Meta, ...]:
        layout = Layout(axes, param_axes, groups)
        check_norm(name, x, weight, bias, layout)
        stats = Meta(layout.stats_shape(x.shape), stats_dtype(x.dtype))
        return x, stats, stats

    def vjp(
        cts: Any, *, x: Any, weight: Any, bias_like: Any, mean: Any, rstd: Any, needs: Any, axes: Any,
        param_axes: Any, groups: Any, epsilon: Any,
    ) -> Any:  # fmt: skip
        return norm_cotangents(cts[0], x, weight, bias_like, mean, rstd, needs, axes, param_axes, groups, epsilon)

    def in_ops(x: Any, weight: Any, bias: Any, *, axes: Shape, param_axes: Shape, groups: int, epsilon: float) -> Any:
        return _simpler.norm_in_ops(x, weight, bias, Layout(axes, param_axes, groups), epsilon, centered=True)

    outputs = ("out", "mean", "rstd")
    return define_op(
        name,
        kernel=kernel,
        meta=meta,
        vjp=vjp,
        outputs=outputs,
        amp="deny",
        maps=maps,
        decompose=in_ops,
        native=native,
        native_alone=native_alone,
        ahead=ahead,
    )


layer_norm_op = _define("layer_norm", {"onnx": "LayerNormalization", "paddle": "layer_norm"})
group_norm_op = _define(
    "group_norm", {"onnx": "GroupNormalization", "paddle": "group_norm"}, native=_channel_form, native_alone=True
)
instance_norm_op = _define(
    "instance_norm", {"onnx": "InstanceNormalization", "paddle": "instance_norm"}, ahead=_channel_form
)


def _rms_kernel(
    xp: Any, x: Any, weight: Any, bias: Any, *, axes: Shape, param_axes: Shape, groups: int, epsilon: float
) -> Any:
    out, _, rstd = normalize(xp, x, weight, bias, Layout(axes, param_axes, groups), epsilon, centered=False)
    return out, rstd


def _rms_in_ops(x: Any, weight: Any, bias: Any, *, axes: Shape, param_axes: Shape, groups: int, epsilon: float) -> Any:
    found = _simpler.norm_in_ops(x, weight, bias, Layout(axes, param_axes, groups), epsilon, centered=False)
    return None if found is None else (found[0], found[2])


def _rms_meta(
    x: Meta, weight: Meta | None, bias: Meta | None, *, axes: Shape, param_axes: Shape, groups: int, epsilon: float
) -> tuple[Meta, ...]:
    layout = Layout(axes, param_axes, groups)
    check_norm("rms_norm", x, weight, bias, layout)
    return x, Meta(layout.stats_shape(x.shape), stats_dtype(x.dtype))


def _rms_vjp(
    cts: Any, *, x: Any, weight: Any, bias_like: Any, rstd: Any, needs: Any, axes: Any, param_axes: Any, groups: Any,
    epsilon: Any,
) -> Any:  # fmt: skip
    return norm_cotangents(cts[0], x, weight, bias_like, None, rstd, needs, axes, param_axes, groups, epsilon)


rms_norm_op = define_op(
    "rms_norm",
    kernel=_rms_kernel,
    meta=_rms_meta,
    vjp=_rms_vjp,
    outputs=("out", "rstd"),
    amp="deny",
    maps={"onnx": "RMSNormalization", "paddle": "rms_norm"},
    decompose=_rms_in_ops,
)

# --- public ----------------------------------------------------------------------------------------------------------


def _known_sizes(op: str, sizes: Any) -> tuple[Any, ...]:
    """The sizes that an argument lists, tensors where only a run knows them."""
    if is_unknown(sizes):
        sizes = list(sizes) if sizes.ndim else [sizes]
    if not isinstance(sizes, (list, tuple)) or not any(map(is_unknown, sizes)):
        return static_ints(op, sizes, "normalized_shape")
    return tuple(as_int(op, size, "normalized_shape") for size in sizes)


def _trailing(op: str, x: Any, normalized_shape: Any) -> tuple[Any, Shape]:
    """x and its last dimensions, which must have the sizes `normalized_shape`: a run says so where only it can tell."""
    rank_of(op, x)
    sizes = _known_sizes(op, normalized_shape)
    own = tuple(x.shape[-len(sizes) :]) if sizes else ()
    known = dims(sizes)
    if not sizes or len(sizes) > x.ndim or any(a != b and UNKNOWN not in (a, b) for a, b in zip(own, known)):
        raise ShapeError(
            f"{op}: normalized_shape is {list(known)}, x has shape {list(x.shape)}, expected [*, "
            f"{', '.join(map(str, known))}]"
        )
    lead = x.ndim - len(sizes)
    if any(map(is_unknown, sizes)) or UNKNOWN in own:
        what = f"{op}: normalized_shape is {list(known)}, which the last dimensions of x do not have"
        x = get_op("sized")(x, sizes=(UNKNOWN,) * lead + sizes, what=what)
    return x, tuple(range(lead, x.ndim))


@aliased(x="input", epsilon="eps")
def layer_norm(
    x: Any, normalized_shape: Any, weight: Any = None, bias: Any = None, epsilon: float = 1e-05,
    name: str | None = None,
) -> Any:  # fmt: skip
    """(x - mean) / sqrt(var + epsilon) * weight + bias, over the last dimensions, which are normalized_shape.

    x: [*, *normalized_shape] floating -> the same; weight, bias: as many values as normalized_shape has elements.
    var is the biased variance. Raises ShapeError when x does not end in normalized_shape.
    Source: Ba, Kiros, Hinton, "Layer Normalization" (2016); paddle.nn.functional.layer_norm.

    Example:
        >>> import vitrify as paddle
        >>> paddle.nn.functional.layer_norm(paddle.to_tensor([[1.0, 3.0]]), [2], epsilon=0.0).tolist()
        [[-1.0, 1.0]]
    """
    x, axes = _trailing("layer_norm", x, normalized_shape)
    return layer_norm_op(x, weight, bias, axes=axes, param_axes=axes, groups=0, epsilon=float(epsilon))[0]


def rms_norm(
    input: Any, normalized_shape: Any, weight: Any = None, eps: float = 1e-05, name: str | None = None
) -> tuple[Any, Any]:
    """x / sqrt(mean(x ** 2) + eps) * weight over the last dimensions, and the factor 1 / sqrt(...) of each row.

    input: [*, *normalized_shape] -> the same, and [rows]. Source: Zhang, Sennrich, "Root Mean Square Layer
    Normalization" (2019); paddle.nn.functional.rms_norm.

    Example:
        >>> import vitrify as paddle
        >>> paddle.nn.functional.rms_norm(paddle.to_tensor([[3.0, 3.0]]), [2], eps=0.0)[0].tolist()
        [[1.0, 1.0]]
    """
    input, axes = _trailing("rms_norm", input, normalized_shape)
    out, rstd = rms_norm_op(input, weight, None, axes=axes, param_axes=axes, groups=0, epsilon=float(eps))
    return out, flatten(rstd)


def channel_axis(op: str, x: Any, data_format: str) -> int:
    """The dimension that holds the channels. Raises ArgumentError for other formats, ShapeError below 2 dimensions."""
    known = ("NC", "NCL", "NCHW", "NCDHW", "NLC", "NHWC", "NDHWC")
    if data_format not in known:
        raise ArgumentError(f"{op}: data_format must be one of {', '.join(known)}, got {data_format!r}")
    if rank_of(op, x) < 2:
        raise ShapeError(f"{op}: x has shape {list(x.shape)}, expected at least 2 dimensions")
    return x.ndim - 1 if data_format.endswith("C") else 1


def spatial_axes(x: Any, channel: int) -> Shape:
    """All dimensions but the batch and the channels."""
    return tuple(i for i in range(1, x.ndim) if i != channel)


def instance_norm(
    x: Any, running_mean: Any = None, running_var: Any = None, weight: Any = None, bias: Any = None,
    use_input_stats: bool = True, momentum: float = 0.9, eps: float = 1e-05, data_format: str = "NCHW",
    name: str | None = None,
) -> Any:  # fmt: skip
    """x normalized over the spatial dimensions, each sample and channel by itself, times weight plus bias.

    x: [n, c, *spatial] floating -> the same; weight, bias: [c]. running_mean, running_var, use_input_stats and momentum
    are without effect, and a weight or bias alone gets no gradient, as in Paddle.
    Source: paddle.nn.functional.instance_norm.

    Example:
        >>> import vitrify as paddle
        >>> paddle.nn.functional.instance_norm(paddle.to_tensor([[[1.0, 3.0]]]), eps=0.0, data_format="NCL").tolist()
        [[[-1.0, 1.0]]]
    """
    channel = channel_axis("instance_norm", x, data_format)
    axes = spatial_axes(x, channel)
    weight, bias = together(weight, bias)
    return instance_norm_op(x, weight, bias, axes=axes, param_axes=(channel,), groups=0, epsilon=float(eps))[0]


def together(weight: Any, bias: Any) -> tuple[Any, Any]:
    """Both as they are, or the only one as a constant: PaddlePaddle's kernels give one alone no gradient."""
    return (weight, bias) if weight is not None and bias is not None else (constant(weight), constant(bias))


@aliased(x="input", epsilon="eps")
def group_norm(
    x: Any, num_groups: int, epsilon: float = 1e-05, weight: Any = None, bias: Any = None, data_format: str = "NCHW",
    name: str | None = None,
) -> Any:  # fmt: skip
    """x normalized over the spatial dimensions and the channels of each of num_groups groups.

    x: [n, c, *spatial] (or [n, *spatial, c]) floating -> the same; weight, bias: [c]. Raises ShapeError when the groups
    do not divide the channels. Source: Wu, He, "Group Normalization" (2018); paddle.nn.functional.group_norm.

    Example:
        >>> import vitrify as paddle
        >>> paddle.nn.functional.group_norm(paddle.to_tensor([[1.0, 3.0, 5.0, 7.0]]), 2, 0.0, data_format="NC").tolist()
        [[-1.0, 1.0, -1.0, 1.0]]
    """
    channel = channel_axis("group_norm", x, data_format)
    if num_groups < 1:
        raise ArgumentError(f"group_norm: num_groups must be at least 1, got {num_groups}")
    axes = tuple(i for i in range(1, x.ndim + 1) if i != channel)
    return group_norm_op(x, weight, bias, axes=axes, param_axes=(channel,), groups=num_groups, epsilon=float(epsilon))[
        0
    ]


__all__ = ["group_norm", "instance_norm", "layer_norm", "rms_norm"]
