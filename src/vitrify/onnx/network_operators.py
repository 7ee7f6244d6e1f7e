"""What the ONNX operators of losses and rearranged images mean here."""

from __future__ import annotations

from typing import Any

from ..ir.known_values import as_tensor
from ..ops import functions as F
from .node import Node
from .operator_table import operator
from .reading import dtype_of

# -- losses ------------------------------------------------------------------------------------------------------------


def _loss_options(node: Node, weight: Any) -> dict[str, Any]:
    return {
        "weight": None if weight is None else as_tensor(weight),
        "ignore_index": node.number("ignore_index", -100),
        "reduction": node.text("reduction", "mean"),
    }


@operator("SoftmaxCrossEntropyLoss")
def cross_entropy(node: Node, scores: Any, labels: Any, weight: Any = None) -> Any:
    """The cross entropy of scores [batch, classes, *], and their logarithmic softmax."""
    found = F.log_softmax(as_tensor(scores), 1)
    return F.nll_loss(found, as_tensor(labels), **_loss_options(node, weight)), found


@operator("NegativeLogLikelihoodLoss")
def nll_loss(node: Node, x: Any, labels: Any, weight: Any = None) -> Any:
    """The negative of the logarithmic probabilities of labels."""
    return F.nll_loss(as_tensor(x), as_tensor(labels), **_loss_options(node, weight))


# -- images, matrices --------------------------------------------------------------------------------------------------


@operator("DepthToSpace")
def depth_to_space(node: Node, x: Any) -> Any:
    """Blocks of channels as blocks of places."""
    size, x = node.number("blocksize", 1), as_tensor(x)
    return F.pixel_shuffle(x if node.text("mode", "DCR") == "CRD" else F.channel_shuffle(x, size * size), size)


@operator("SpaceToDepth")
def space_to_depth(node: Node, x: Any) -> Any:
    """Blocks of places as blocks of channels."""
    x = as_tensor(x)
    found = F.pixel_unshuffle(x, node.number("blocksize", 1))
    return found if node.text("mode", "DCR") == "CRD" else F.channel_shuffle(found, x.shape[1])


@operator("EyeLike")
def eye_like(node: Node, x: Any) -> Any:
    """A matrix like x with 1 on a diagonal."""
    x = as_tensor(x)
    code = node.number("dtype", 0)
    rows, columns = (F.arange(F.shape(x)[i] if x.shape[i] < 0 else x.shape[i], dtype="int64") for i in (0, 1))
    return F.cast(rows.unsqueeze(1) + node.number("k", 0) == columns, dtype_of(code) if code else x.dtype)
