"""What the ONNX operators of recurrent networks, losses and rearranged images mean here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.errors import UnsupportedError
from ..core.lazy import lazy_module
from ..core.sequences import as_list
from ..ir.known_values import as_tensor
from ..ops import functions as F
from .node import Node
from .operator_table import operator
from .reading import dtype_of

_rnn, _cells = lazy_module("vitrify.nn.layer.rnn"), lazy_module("vitrify.nn.layer.rnn_cells")
# For each network: our cell, where each of our gates stands among ONNX's, and the functions that ONNX names for it.
_NETWORKS: dict[str, tuple[str, tuple[int, ...], tuple[str, ...]]] = {
    "LSTM": ("LSTMCell", (0, 2, 3, 1), ("Sigmoid", "Tanh", "Tanh")),
    "GRU": ("GRUCell", (1, 0, 2), ("Sigmoid", "Tanh")),
    "RNN": ("SimpleRNNCell", (0,), ("Tanh",)),
}
_USUAL: dict[str, dict[str, Any]] = {"LSTM": {"proj_size": 0}, "RNN": {"activation": "tanh"}}
_DIRECTIONS = {"forward": (False,), "reverse": (True,), "bidirectional": (False, True)}


def _settings(node: Node, directions: int) -> dict[str, Any]:
    """What our cell is made with; refuses functions, clipping and order of steps that it has not."""
    usual = list(_NETWORKS[node.type][2]) * directions
    named = [name.capitalize() for name in node.texts("activations", usual)]
    if node.type == "RNN" and named == ["Relu"] * directions:
        return {"activation": "relu"}
    if named != usual or (node.type == "GRU" and node.number("linear_before_reset", 0) != 1):
        raise UnsupportedError(f"{node.type} with other functions, or resetting before its product, cannot be read")
    for name in ("clip", "input_forget", "activation_alpha", "activation_beta"):
        node.refuse(name, 0)
    return dict(_USUAL.get(node.type, {}))


def _gates(x: Any, order: Sequence[int]) -> Any:
    """The parts of the first dimension in another order."""
    parts = F.split(x, len(order), 0) if len(order) > 1 else [x]
    return F.concat([parts[i] for i in order], 0)


@operator("LSTM", "GRU", "RNN")
def recurrent(
    node: Node, x: Any, weight: Any, recurrence: Any, bias: Any = None, lengths: Any = None, hidden: Any = None,
    cell: Any = None, peephole: Any = None,
) -> Any:  # fmt: skip
    """A recurrent network over x [time, batch, size]: outputs [time, directions, batch, size], and the last states."""
    directions = _DIRECTIONS[node.text("direction", "forward")]
    if peephole is not None or node.number("layout", 0):
        raise UnsupportedError(f"{node.type} with peepholes, or with batches first, cannot be read")
    settings = _settings(node, len(directions))
    kind, order, _ = _NETWORKS[node.type]
    x, weight, recurrence = as_tensor(x), as_tensor(weight), as_tensor(recurrence)
    size = recurrence.shape[-1]
    biases = F.zeros([len(directions), 2 * len(order) * size], x.dtype) if bias is None else as_tensor(bias)
    lengths = None if lengths is None else as_tensor(lengths)
    outputs, lasts = [], []
    for i, backward in enumerate(directions):
        both = [_gates(b, order) for b in F.split(biases[i], 2, 0)]
        made = getattr(_cells, kind).of([_gates(weight[i], order), _gates(recurrence[i], order), *both], **settings)
        starts = [None if s is None else as_tensor(s)[i] for s in (hidden, cell)[: 1 + (node.type == "LSTM")]]
        start = _start(made, starts, x)
        found, last = _rnn.RNN(made, is_reverse=backward, time_major=True)(x, start, lengths)
        outputs.append(found if lengths is None else found * F.cast(_rnn.steps_within(x, lengths), x.dtype))
        lasts.append(last if node.type == "LSTM" else (last,))
    return (F.stack(outputs, 1), *[F.stack(list(parts), 0) for parts in zip(*lasts)])


def _start(cell: Any, starts: Sequence[Any], x: Any) -> Any:
    """The states before the first step: zeros where the file gives none."""
    zeros = cell.get_initial_states(x, dtype=x.dtype, batch_dim_idx=1)
    usual = as_list(zeros)
    found = [u if s is None else s for s, u in zip(starts, usual)]
    return tuple(found) if len(found) > 1 else found[0]


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
    return F.channel_shuffle(F.pixel_unshuffle(x, node.number("blocksize", 1)), x.shape[1])


@operator("EyeLike")
def eye_like(node: Node, x: Any) -> Any:
    """A matrix like x with 1 on a diagonal."""
    x = as_tensor(x)
    code = node.number("dtype", 0)
    rows, columns = (F.arange(F.shape(x)[i] if x.shape[i] < 0 else x.shape[i], dtype="int64") for i in (0, 1))
    return F.cast(rows.unsqueeze(1) + node.number("k", 0) == columns, dtype_of(code) if code else x.dtype)


_MODES = {"linear": "bilinear", "bilinear": "bilinear", "nearest": "nearest"}


@operator("GridSample")
def grid_sample(node: Node, x: Any, grid: Any) -> Any:
    """An image read at places between -1 and 1."""
    mode = node.text("mode", "linear")
    if mode not in _MODES:
        raise UnsupportedError(f"GridSample with mode={mode!r} cannot be read")
    padding, corners = node.text("padding_mode", "zeros"), bool(node.number("align_corners", 0))
    return F.grid_sample(as_tensor(x), as_tensor(grid), _MODES[mode], padding, corners)
