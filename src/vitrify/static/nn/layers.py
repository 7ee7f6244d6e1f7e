"""Layers of `static.nn` that multiply, look up and scale."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from ...core.errors import ArgumentError
from ...core.modes import grad_enabled, scoped
from ...core.sequences import as_list
from ...eager.create_parameter import change_initial
from ...eager.initializer import Constant, Normal, XavierUniform
from ...eager.param_attr import ParamAttr, ParamAttrLike
from ...ops.elementwise import add, add_n
from ...ops.embedding import embedding as look_up
from ...ops.flat_product import mul_op
from ...ops.linear import bilinear
from ...ops.matmul import matmul
from ...ops.pad import pad
from ...ops.scatter import index_fill
from ...ops.shape import reshape
from ...ops.similarity import normalize
from ...ops.softmax import prelu_op
from ...ops.transpose import transpose
from .parts import Owner


def fc(
    x: Any,
    size: int,
    num_flatten_dims: int = 1,
    weight_attr: Any = None,
    bias_attr: ParamAttrLike = None,
    activation: str | None = None,
    name: str | None = None,
) -> Any:
    """activation(x @ weight + bias), where the last dimensions of x count as one.

    x: [*first num_flatten_dims sizes, *rest], or a list of tensors, each with a weight of its own, whose products are
    added up -> [*first, size]. weight: [product of rest, size]. weight_attr may be a list for a list of tensors.
    Raises ArgumentError for num_flatten_dims out of range. Source: paddle.static.nn.fc.

    Example:
        >>> import vitrify as paddle
        >>> with paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()):
        ...     x = paddle.static.data("x", [None, 2, 3])
        ...     paddle.static.nn.fc(x, 4).shape, paddle.static.nn.fc(x, 4, num_flatten_dims=2).shape
        (paddle.Size([-1, 4]), paddle.Size([-1, 2, 4]))
    """
    inputs = as_list(x)
    attrs = list(weight_attr) if isinstance(weight_attr, (list, tuple)) else [weight_attr] * len(inputs)
    if not inputs or len(attrs) != len(inputs):
        raise ArgumentError(f"fc: {len(attrs)} weight_attr for {len(inputs)} inputs")
    owner = Owner("fc", name, inputs[0].dtype)
    products = [_product(owner, part, size, num_flatten_dims, attr) for part, attr in zip(inputs, attrs)]
    out = products[0] if len(products) == 1 else owner.named(add_n(products))
    bias = owner.bias([size], bias_attr)
    if bias is not None:
        out = owner.named(add(out, bias))
    return owner.activated(out, activation)


def _product(owner: Owner, x: Any, size: int, lead: int, attr: ParamAttrLike) -> Any:
    """x, with its last dimensions as one, times a weight for it."""
    lead = x.ndim - 1 if lead == -1 else lead
    if not 0 < lead < x.ndim:
        raise ArgumentError(
            f"fc: num_flatten_dims must lie in [1, {x.ndim - 1}] for x of {x.ndim} dimensions, got {lead}"
        )
    width = prod(owner.known(d, f"dimension {lead + i} of x") for i, d in enumerate(x.shape[lead:]))
    return owner.named(mul_op(x, owner.weight([width, size], attr), x_num_col_dims=lead))


def embedding(
    input: Any,
    size: Sequence[int],
    is_sparse: bool = False,
    is_distributed: bool = False,
    padding_idx: int | None = None,
    param_attr: ParamAttrLike = None,
    dtype: Any = "float32",
) -> Any:
    """The rows of a table of `size` [rows, width] at the places `input`; those of padding_idx are zeros.

    input: [*] integer -> [*, width]. is_sparse and is_distributed change nothing here: gradients are dense, on one
    machine. Source: paddle.static.nn.embedding.

    Example:
        >>> import vitrify as paddle
        >>> with paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()):
        ...     ids = paddle.static.data("ids", [None, 5], "int64")
        ...     paddle.static.nn.embedding(ids, [100, 8]).shape
        paddle.Size([-1, 5, 8])
    """
    rows, width = size
    at = None if padding_idx is None else padding_idx + rows if padding_idx < 0 else padding_idx
    owner = Owner("embedding", None, dtype)
    weight = owner.weight([rows, width], param_attr, XavierUniform())
    if at is not None:
        change_initial(weight, lambda held: index_fill(held, np.array([at]), 0, 0.0))
    return owner.named(look_up(input, weight, padding_idx=at))


def bilinear_tensor_product(
    x: Any,
    y: Any,
    size: int,
    act: str | None = None,
    name: str | None = None,
    param_attr: ParamAttrLike = None,
    bias_attr: ParamAttrLike = None,
) -> Any:
    """act(x @ weight[i] @ y + bias) for each i below size. x: [n, a], y: [n, b], weight: [size, a, b] -> [n, size].

    Source: paddle.static.nn.bilinear_tensor_product.

    Example:
        >>> import vitrify as paddle
        >>> with paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()):
        ...     x, y = paddle.static.data("x", [None, 2]), paddle.static.data("y", [None, 3])
        ...     paddle.static.nn.bilinear_tensor_product(x, y, 4).shape
        paddle.Size([-1, 4])
    """
    owner = Owner("bilinear_tensor_product", name, x.dtype)
    sizes = [owner.known(v.shape[-1], f"the last dimension of {what}") for v, what in ((x, "x"), (y, "y"))]
    weight = owner.weight([size, *sizes], param_attr)
    return owner.activated(owner.named(bilinear(x, y, weight, owner.bias([1, size], bias_attr))), act)


def prelu(
    x: Any, mode: str, param_attr: ParamAttrLike = None, data_format: str = "NCHW", name: str | None = None
) -> Any:
    """x where it is positive, elsewhere x times a learned slope: one for "all", for each "channel" or each "element".

    Slopes start at 0.25. Raises ArgumentError for other modes. Source: paddle.static.nn.prelu; He et al. 2015.

    Example:
        >>> import vitrify as paddle
        >>> with paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()):
        ...     paddle.static.nn.prelu(paddle.static.data("x", [None, 3, 4, 4]), "channel").shape
        paddle.Size([-1, 3, 4, 4])
    """
    if mode not in ("all", "channel", "element"):
        raise ArgumentError(f"prelu: mode must be 'all', 'channel' or 'element', got {mode!r}")
    owner = Owner("prelu", name, x.dtype)
    channel = x.ndim - 1 if data_format.endswith("C") else 1
    shape = [1]
    if mode == "channel":
        shape = [1] * x.ndim
        shape[channel] = owner.known(x.shape[channel], "the number of channels")
    elif mode == "element":
        shape = [1, *(owner.known(d, "every size but the batch's") for d in x.shape[1:])]
    return owner.named(prelu_op(x, owner.weight(shape, param_attr, Constant(0.25))))


def row_conv(input: Any, future_context_size: int, param_attr: ParamAttrLike = None, act: str | None = None) -> Any:
    """act of each step and those after it, weighted: out[t] = sum over i of input[t + i] * weight[i], elementwise.

    input: [n, steps, d] -> the same; weight: [future_context_size + 1, d]. Source: paddle.static.nn.row_conv;
    Amodei et al. 2015.

    Example:
        >>> import vitrify as paddle
        >>> with paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()):
        ...     paddle.static.nn.row_conv(paddle.static.data("x", [None, 7, 3]), 2).shape
        paddle.Size([-1, 7, 3])
    """
    owner = Owner("row_conv", None, input.dtype)
    taps = future_context_size + 1
    weight = owner.weight([taps, owner.known(input.shape[-1], "the last dimension of input")], param_attr)
    steps = owner.known(input.shape[1], "the number of steps")
    longer = pad(input, [0, 0, 0, future_context_size, 0, 0], data_format="NCL", pad_from_left_axis=True)
    out = longer[:, :steps] * weight[0]
    for i in range(1, taps):
        out = add(out, longer[:, i : i + steps] * weight[i])
    return owner.activated(owner.named(out), act)


def spectral_norm(weight: Any, dim: int = 0, power_iters: int = 1, eps: float = 1e-12, name: str | None = None) -> Any:
    """`weight` over its largest singular value, which power iteration finds from two vectors that the program keeps.

    dim: the dimension that becomes the rows of the matrix. Source: paddle.static.nn.spectral_norm; Miyato 2018.

    Example:
        >>> import vitrify as paddle
        >>> with paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()):
        ...     w = paddle.static.create_parameter([4, 3, 2], "float32")
        ...     paddle.static.nn.spectral_norm(w, dim=1).shape
        paddle.Size([4, 3, 2])
    """
    owner = Owner("spectral_norm", name, weight.dtype)
    rows = weight.shape[dim]
    fixed = ParamAttr(trainable=False)
    u, v = (owner.weight([n], fixed, Normal()) for n in (rows, prod(weight.shape) // rows))
    order = [dim, *(d for d in range(weight.ndim) if d != dim)]
    matrix = reshape(transpose(weight, order), [rows, -1])
    with scoped(grad_enabled, False):
        for _ in range(power_iters):
            v = normalize(matmul(matrix, u, transpose_x=True), axis=0, epsilon=eps)
            u = normalize(matmul(matrix, v), axis=0, epsilon=eps)
    return weight / matmul(u, matmul(matrix, v))


__all__ = ["bilinear_tensor_product", "embedding", "fc", "prelu", "row_conv", "spectral_norm"]
