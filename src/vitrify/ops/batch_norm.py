"""Batch normalization: with the batch's own statistics, which update running ones, or with given statistics."""

from __future__ import annotations

from math import prod
from typing import Any

from ..core.errors import ShapeError
from ..core.meta import UNKNOWN, Meta, Shape
from ..core.modes import grad_enabled, scoped
from .channel_norm import batch_norm_native
from .creation import ones
from .like import assign_op, zeros_like
from .norm_kernel import Layout, normalize, stats_dtype, wide_float
from .normalization import channel_axis, check_norm, norm_cotangents, spatial_axes, together
from .reduce import sum
from .registry import Instead, define_op
from .select import where
from .shape import reshape
from .sizes import size_of
from .unary import rsqrt, sqrt
from .window_forms import batch_norm_form

# --- with the batch's statistics -------------------------------------------------------------------------------------


def _train_kernel(
    xp: Any, x: Any, running_mean: Any, running_var: Any, weight: Any, bias: Any, *, axes: Shape, param_axes: Shape,
    groups: int, epsilon: float, momentum: float,
) -> Any:  # fmt: skip
    out, mean, rstd = normalize(xp, x, weight, bias, Layout(axes, param_axes, groups), epsilon, centered=True)
    variance = xp.maximum(1 / (rstd * rstd) - rstd.dtype.type(epsilon), 0)
    new = (_blend(old, fresh, momentum) for old, fresh in ((running_mean, mean), (running_var, variance)))
    return (out, mean, rstd, *new)


def _blend(old: Any, fresh: Any, momentum: float) -> Any:
    kept = old.dtype.type(momentum)
    return old * kept + fresh.reshape(old.shape).astype(old.dtype) * (1 - kept)


def _train_meta(
    x: Meta, running_mean: Meta, running_var: Meta, weight: Meta | None, bias: Meta | None, *, axes: Shape,
    param_axes: Shape, groups: int, epsilon: float, momentum: float,
) -> tuple[Meta, ...]:  # fmt: skip
    layout = Layout(axes, param_axes, groups)
    check_norm("batch_norm", x, weight, bias, layout)
    _check_running(x, (running_mean, running_var), layout)
    stats = Meta(layout.stats_shape(x.shape), stats_dtype(x.dtype))
    return x, stats, stats, running_mean, running_var


def _check_running(x: Meta, running: tuple[Meta, Meta], layout: Layout) -> None:
    channels = x.shape[layout.param_axes[0]]
    for name, meta in zip(("running_mean", "running_var"), running):
        if meta.ndim != 1 or (meta.shape[0] != channels and UNKNOWN not in (meta.shape[0], channels)):
            raise ShapeError(f"batch_norm: {name} is {meta}, x {x} has {channels} channels")


def _train_vjp(
    cts: Any, *, x: Any, weight: Any, bias_like: Any, mean: Any, rstd: Any, needs: Any, axes: Any, param_axes: Any,
    groups: Any, epsilon: Any,
) -> Any:  # fmt: skip
    return norm_cotangents(cts[0], x, weight, bias_like, mean, rstd, needs, axes, param_axes, groups, epsilon)


def _evaluation(*, axes: Shape, param_axes: Shape, groups: int, epsilon: float, momentum: float) -> Instead:
    return Instead(
        batch_norm_infer_op,
        ("x", "running_mean", "running_var", "weight", "bias"),
        {"channel": param_axes[0], "epsilon": epsilon},
        unchanged={"mean_out": "running_mean", "variance_out": "running_var"},
    )


batch_norm_op = define_op(
    "batch_norm",
    kernel=_train_kernel,
    meta=_train_meta,
    vjp=_train_vjp,
    outputs=("out", "mean", "rstd", "mean_out", "variance_out"),
    amp="deny",
    evaluation=_evaluation,
    maps={"onnx": "BatchNormalization", "paddle": "batch_norm"},
    native=batch_norm_native,
    native_alone=True,
)

# --- with given statistics -------------------------------------------------------------------------------------------


def _infer_kernel(
    xp: Any, x: Any, mean: Any, variance: Any, weight: Any, bias: Any, *, channel: int, epsilon: float
) -> Any:
    dtype = wide_float(x.dtype)
    scale = 1 / xp.sqrt(variance.astype(dtype, copy=False) + dtype.type(epsilon))
    if weight is not None:
        scale = scale * weight.reshape(-1).astype(dtype, copy=False)
    shift = -mean.astype(dtype, copy=False) * scale
    if bias is not None:
        shift = shift + bias.reshape(-1).astype(dtype, copy=False)
    shape = [1] * x.ndim
    shape[channel] = -1
    out = x * scale.reshape(shape)
    out += shift.reshape(shape)
    return out.astype(x.dtype, copy=False)


def _infer_meta(
    x: Meta, mean: Meta, variance: Meta, weight: Meta | None, bias: Meta | None, *, channel: int, epsilon: float
) -> Meta:
    layout = Layout((), (channel,), 0)
    check_norm("batch_norm", x, weight, bias, layout)
    _check_running(x, (mean, variance), layout)
    return x


def _infer_in_ops(
    x: Any, mean: Any, variance: Any, weight: Any, bias: Any, *, channel: int, epsilon: float
) -> Any:  # fmt: skip
    """The same in simpler operators: two for the whole array, the others for one number a channel."""
    given = [v for v in (mean, variance, weight, bias) if v is not None]
    if x.dtype.name not in ("float32", "float64") or any(v.dtype is not x.dtype for v in given):
        return None
    scale = 1.0 / sqrt(variance + epsilon)
    if weight is not None:
        scale = scale * reshape(weight, [-1])
    shift = -mean * scale
    if bias is not None:
        shift = shift + reshape(bias, [-1])
    shape = [-1] + [1] * (x.ndim - 1 - channel)
    return x * reshape(scale, shape) + reshape(shift, shape)


def _infer_vjp(
    ct: Any, *, x: Any, mean: Any, variance: Any, weight: Any, needs: Any, channel: Any, epsilon: Any
) -> dict[str, Any]:
    """All cotangents follow from the sums of ct and ct * (x - mean) over each channel.

    Statistics get none, also where they are parameters: as in Paddle, they are data.
    """

    def spread(value: Any) -> Any:
        return reshape(value, [-1] + [1] * (x.ndim - 1 - channel))

    others = [i for i in range(x.ndim) if i != channel]
    rstd = rsqrt(variance + epsilon)
    scale = rstd if weight is None else rstd * reshape(weight, [-1])
    found = {}
    if "x" in needs:
        found["x"] = ct * spread(scale)
    if "bias" in needs:
        found["bias"] = sum(ct, others)
    if "weight" in needs:
        found["weight"] = sum(ct * (x - spread(mean)), others) * rstd
    return found


batch_norm_infer_op = define_op(
    "batch_norm_infer",
    kernel=_infer_kernel,
    meta=_infer_meta,
    vjp=_infer_vjp,
    amp="deny",
    maps={"paddle": "batch_norm"},
    decompose=_infer_in_ops,
    ahead=batch_norm_form,
)

# --- one element a channel -------------------------------------------------------------------------------------------


def _unless_single_kernel(
    xp: Any, x: Any, normalized: Any, mean: Any, new_mean: Any, variance: Any, new_variance: Any, *, axes: Shape
) -> Any:
    """What training gives: x and the statistics as they are where a channel has a single element."""
    single = prod(x.shape[axis] for axis in axes) == 1
    chosen = (x, mean, variance) if single else (normalized, new_mean, new_variance)
    return tuple([array.copy() for array in chosen])


def _unless_single_vjp(cts: Any, *, x_like: Any, axes: Any) -> dict[str, Any]:
    count = ones([], "int64")
    for axis in axes:
        count = count * size_of(x_like, axis)
    single, ct = count == 1, cts[0]
    return {"x": where(single, ct, zeros_like(ct)), "normalized": where(single, zeros_like(ct), ct)}


unless_single_op = define_op(
    "unless_single",
    kernel=_unless_single_kernel,
    meta=lambda x, normalized, mean, new_mean, variance, new_variance, *, axes: (x, mean, variance),
    vjp=_unless_single_vjp,
    outputs=("out", "mean_out", "variance_out"),
    # In evaluation one element is normalized like any other.
    evaluation=lambda *, axes: Instead(
        assign_op, ("normalized",), unchanged={"mean_out": "mean", "variance_out": "variance"}
    ),
)

# --- public ----------------------------------------------------------------------------------------------------------


def batch_norm(
    x: Any, running_mean: Any, running_var: Any, weight: Any = None, bias: Any = None, training: bool = False,
    momentum: float = 0.9, epsilon: float = 1e-05, data_format: str = "NCHW", use_global_stats: bool | None = None,
    name: str | None = None,
) -> Any:  # fmt: skip
    """x normalized channel by channel over batch and space, times weight plus bias.

    x: [n, c, *spatial] (or [n, *spatial, c]) floating -> the same; other tensors: [c]. While training (or with
    use_global_stats=False) the batch's statistics are used, and the running ones change in place:
    running = running * momentum + batch * (1 - momentum), with the biased variance; else the running ones are used.
    Where a channel has a single element, x and the running statistics stay as they are. Statistics get no
    gradient, nor does a weight without a bias, or a bias without a weight, as in PaddlePaddle.
    Raises ShapeError when the number of channels differs. Source: Ioffe, Szegedy, "Batch Normalization" (2015);
    paddle.nn.functional.batch_norm.

    Example:
        >>> import vitrify as paddle
        >>> mean, var = paddle.zeros([1]), paddle.ones([1])
        >>> x = paddle.to_tensor([[1.0], [3.0]])
        >>> paddle.nn.functional.batch_norm(x, mean, var, training=True, epsilon=0.0, data_format="NC").tolist()
        [[-1.0], [1.0]]
    """
    channel = channel_axis("batch_norm", x, data_format)
    weight, bias = together(weight, bias)
    if not training if use_global_stats is None else use_global_stats:
        return batch_norm_infer_op(x, running_mean, running_var, weight, bias, channel=channel, epsilon=float(epsilon))
    axes = (0, *spatial_axes(x, channel))
    out, _, _, new_mean, new_var = batch_norm_op(
        x, running_mean, running_var, weight, bias, axes=axes, param_axes=(channel,), groups=0, epsilon=float(epsilon),
        momentum=float(momentum),
    )  # fmt: skip
    if all(x.shape[axis] in (1, UNKNOWN) for axis in axes):
        out, new_mean, new_var = unless_single_op(x, out, running_mean, new_mean, running_var, new_var, axes=axes)
    with scoped(grad_enabled, False):  # statistics may be parameters, which get no gradient for being kept
        for running, new in ((running_mean, new_mean), (running_var, new_var)):
            running._become(assign_op(new.detach()))  # memory of its own: the next call changes it in place again
    return out


__all__ = ["batch_norm"]
