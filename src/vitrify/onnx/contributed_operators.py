"""What operators that ONNX Runtime's optimizer writes (domain com.microsoft) mean here."""

from __future__ import annotations

from typing import Any

from ..core.errors import UnsupportedError
from ..ir.known_values import as_tensor
from ..ops import functions as F
from .layer_operators import conv
from .node import Node
from .operator_table import operator
from .recurrent_cells import activation_of
from .reduction_operators import gemm


@operator("com.microsoft.Gelu", "com.microsoft.BiasGelu")
def gelu(node: Node, x: Any, bias: Any = None) -> Any:
    """gelu, of a sum where there is a bias."""
    return F.gelu(as_tensor(x) if bias is None else as_tensor(x) + as_tensor(bias))


@operator("com.microsoft.FastGelu")
def fast_gelu(node: Node, x: Any, bias: Any = None) -> Any:
    """gelu by tanh, of a sum where there is a bias."""
    return F.gelu(as_tensor(x) if bias is None else as_tensor(x) + as_tensor(bias), approximate=True)


@operator("com.microsoft.QuickGelu")
def quick_gelu(node: Node, x: Any) -> Any:
    """x times the sigmoid of x and a factor."""
    x = as_tensor(x)
    return x * F.sigmoid(x * node.real("alpha", 1.702))


@operator("com.microsoft.FusedMatMul")
def product(node: Node, a: Any, b: Any) -> Any:
    """A product of what may be transposed, times a factor."""
    node.refuse("transBatchA", 0)
    node.refuse("transBatchB", 0)
    turned = [bool(node.number(name, 0)) for name in ("transA", "transB")]
    return F.matmul(as_tensor(a), as_tensor(b), *turned) * node.real("alpha", 1.0)


@operator("com.microsoft.SkipLayerNormalization")
def normalized_sum(node: Node, x: Any, skip: Any, scale: Any, shift: Any = None, bias: Any = None) -> Any:
    """The layer norm of a sum; the sum itself is the last of four results."""
    total = as_tensor(x) + as_tensor(skip)
    total = total if bias is None else total + as_tensor(bias)
    weight = as_tensor(scale)
    found = F.layer_norm(
        total, [total.shape[-1]], weight, None if shift is None else as_tensor(shift), node.real("epsilon", 1e-12)
    )
    if node.outputs in (2, 3):
        raise UnsupportedError("means and deviations of SkipLayerNormalization cannot be read")
    return (found, None, None, total)[: node.outputs] if node.outputs > 1 else found


@operator("com.microsoft.FusedConv")
def activated_convolution(node: Node, x: Any, weight: Any, bias: Any = None, more: Any = None) -> Any:
    """A convolution, to which something may be added, and an activation of it."""
    found = conv(node, x, weight, bias)
    return _activated(node, found if more is None else found + as_tensor(more))


@operator("com.microsoft.FusedGemm")
def activated_product(node: Node, x: Any, y: Any, bias: Any = None) -> Any:
    """A product and sum, and an activation of it."""
    return _activated(node, gemm(node, x, y, bias))


def _activated(node: Node, x: Any) -> Any:
    name = node.text("activation", "")
    numbers = node.reals("activation_params", [])
    if name == "Clip":
        return F.clip(x, *numbers)
    if name == "HardSwish":
        return F.hardswish(x)
    named = [node.real(key, 0.0) for key in ("activation_alpha", "activation_beta") if node.has(key)]
    return activation_of(node.type, name, [*numbers, *named])(x) if name else x
