"""Normalizations of `static.nn`."""

from __future__ import annotations

from math import prod
from typing import Any

from ...core.errors import ArgumentError
from ...eager.initializer import Constant
from ...eager.param_attr import ParamAttr, ParamAttrLike
from ...ops import batch_norm as batch
from ...ops import normalization
from .parts import Owner


def _channel_parameters(
    owner: Owner, input: Any, data_layout: str, param_attr: ParamAttrLike, bias_attr: ParamAttrLike
) -> tuple[int, Any, Any]:
    """The number of channels, a scale of ones and a bias of zeros."""
    axis = -1 if data_layout.endswith("C") and data_layout != "NC" else 1
    channels = owner.known(input.shape[axis], "the number of channels")
    return channels, owner.weight([channels], param_attr, Constant(1.0)), owner.bias([channels], bias_attr)


def batch_norm(
    input: Any, act: str | None = None, is_test: bool = False, momentum: float = 0.9, epsilon: float = 1e-05,
    param_attr: ParamAttrLike = None, bias_attr: ParamAttrLike = None, data_layout: str = "NCHW",
    in_place: bool = False, name: str | None = None, moving_mean_name: str | None = None,
    moving_variance_name: str | None = None, do_model_average_for_mean_and_var: bool = True,
    use_global_stats: bool = False,
) -> Any:  # fmt: skip
    """act of the input normalized by the batch's statistics; running ones are kept for `clone(for_test=True)`.

    is_test or use_global_stats: use the running statistics. in_place changes nothing here.
    Source: paddle.static.nn.batch_norm; Ioffe, Szegedy 2015.

    Example:
        >>> import vitrify as paddle
        >>> with paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()):
        ...     x = paddle.static.data("x", [None, 3, 8, 8])
        ...     paddle.static.nn.batch_norm(x, act="relu").shape
        paddle.Size([-1, 3, 8, 8])
    """
    owner = Owner("batch_norm", name, input.dtype)
    channels, scale, bias = _channel_parameters(owner, input, data_layout, param_attr, bias_attr)
    averaged = do_model_average_for_mean_and_var
    mean, variance = (
        owner.weight([channels], ParamAttr(stat_name, Constant(value), trainable=False, do_model_average=averaged))
        for stat_name, value in ((moving_mean_name, 0.0), (moving_variance_name, 1.0))
    )
    out = batch.batch_norm(
        input, mean, variance, scale, bias, not is_test, momentum, epsilon, data_layout, use_global_stats or None
    )
    # Before the result, Paddle names the mean and the variance, and in training the room of its kernel.
    return owner.activated(owner.named(out, skip=2 if is_test else 3), act)


def layer_norm(
    input: Any, scale: bool = True, shift: bool = True, begin_norm_axis: int = 1, epsilon: float = 1e-05,
    param_attr: ParamAttrLike = None, bias_attr: ParamAttrLike = None, act: str | None = None,
    name: str | None = None,
) -> Any:  # fmt: skip
    """act of the input normalized over its dimensions from begin_norm_axis on, times a scale plus a bias.

    Raises ArgumentError for an axis out of range. Source: paddle.static.nn.layer_norm; Ba et al. 2016.

    Example:
        >>> import vitrify as paddle
        >>> with paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()):
        ...     paddle.static.nn.layer_norm(paddle.static.data("x", [None, 4, 8]), begin_norm_axis=2).shape
        paddle.Size([-1, 4, 8])
    """
    owner = Owner("layer_norm", name, input.dtype)
    if not 0 < begin_norm_axis < input.ndim:
        raise ArgumentError(f"layer_norm: begin_norm_axis must lie in [1, {input.ndim - 1}], got {begin_norm_axis}")
    shape = [owner.known(d, "every size from begin_norm_axis on") for d in input.shape[begin_norm_axis:]]
    weight = owner.weight([prod(shape)], param_attr if scale else False, Constant(1.0))
    bias = owner.bias([prod(shape)], bias_attr if shift else False)
    out = normalization.layer_norm(input, shape, weight, bias, epsilon)
    return owner.activated(owner.named(out, skip=2), act)


def group_norm(
    input: Any, groups: int, epsilon: float = 1e-05, param_attr: ParamAttrLike = None,
    bias_attr: ParamAttrLike = None, act: str | None = None, data_layout: str = "NCHW", name: str | None = None,
) -> Any:  # fmt: skip
    """act of the input normalized over each of `groups` groups of channels. Source: paddle.static.nn.group_norm.

    Example:
        >>> import vitrify as paddle
        >>> with paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()):
        ...     paddle.static.nn.group_norm(paddle.static.data("x", [None, 4, 8, 8]), 2).shape
        paddle.Size([-1, 4, 8, 8])
    """
    owner = Owner("group_norm", name, input.dtype)
    _, weight, bias = _channel_parameters(owner, input, data_layout, param_attr, bias_attr)
    out = normalization.group_norm(input, groups, epsilon, weight, bias, data_layout)
    return owner.activated(out, act)


def instance_norm(
    input: Any, epsilon: float = 1e-05, param_attr: ParamAttrLike = None, bias_attr: ParamAttrLike = None,
    name: str | None = None,
) -> Any:  # fmt: skip
    """The input normalized over the spatial dimensions of each sample and channel.

    Raises ArgumentError when one of param_attr and bias_attr alone is False. Source: paddle.static.nn.instance_norm.

    Example:
        >>> import vitrify as paddle
        >>> with paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()):
        ...     paddle.static.nn.instance_norm(paddle.static.data("x", [None, 4, 8, 8])).shape
        paddle.Size([-1, 4, 8, 8])
    """
    if (param_attr is False) != (bias_attr is False):
        raise ArgumentError("instance_norm: param_attr and bias_attr must be False together or not at all")
    owner = Owner("instance_norm", name, input.dtype)
    _, weight, bias = _channel_parameters(owner, input, "NCHW", param_attr, bias_attr)
    return owner.named(normalization.instance_norm(input, weight=weight, bias=bias, eps=epsilon), skip=2)


__all__ = ["batch_norm", "group_norm", "instance_norm", "layer_norm"]
