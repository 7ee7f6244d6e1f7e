"""What ONNX's recurrent networks mean here: our own cells where these say the same, else ONNX's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.lazy import lazy_module
from ..ir.known_values import as_tensor
from ..ops import functions as F
from .node import Node
from .operator_table import operator
from .recurrent_cells import Cell, activations
from .sizes import extent

_rnn, _cells = lazy_module("vitrify.nn.layer.rnn"), lazy_module("vitrify.nn.layer.rnn_cells")
# For each network: our cell, where each of our gates stands among ONNX's, and the functions that ONNX names for it.
_NETWORKS: dict[str, tuple[str, tuple[int, ...], tuple[str, ...]]] = {
    "LSTM": ("LSTMCell", (0, 2, 3, 1), ("Sigmoid", "Tanh", "Tanh")),
    "GRU": ("GRUCell", (1, 0, 2), ("Sigmoid", "Tanh")),
    "RNN": ("SimpleRNNCell", (0,), ("Tanh",)),
}
_USUAL: dict[str, dict[str, Any]] = {"LSTM": {"proj_size": 0}, "RNN": {"activation": "tanh"}}
_DIRECTIONS = {"forward": (False,), "reverse": (True,), "bidirectional": (False, True)}


def _settings(node: Node, directions: int, peephole: Any) -> dict[str, Any] | None:
    """What our cell is made with; None where it has not the functions, bounds, peepholes or order of steps."""
    usual = list(_NETWORKS[node.type][2]) * directions
    named = [name.capitalize() for name in node.texts("activations", usual)]
    if peephole is not None or node.has("clip") or node.number("input_forget", 0):
        return None
    if node.type == "RNN" and named == ["Relu"] * directions:
        return {"activation": "relu"}
    if named != usual or (node.type == "GRU" and node.number("linear_before_reset", 0) != 1):
        return None
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
    """A recurrent network over x [time, batch, size]: outputs [time, directions, batch, size], and the last states.

    With layout 1 x and the states have the batch in front, and so have the results.
    """
    directions = _DIRECTIONS[node.text("direction", "forward")]
    batch_first = bool(node.number("layout", 0))
    x, weight, recurrence = _swapped(as_tensor(x), batch_first), as_tensor(weight), as_tensor(recurrence)
    gates = len(_NETWORKS[node.type][1])
    biases = (
        as_tensor(bias) if bias is not None else F.zeros([len(directions), 2 * gates * recurrence.shape[-1]], x.dtype)
    )
    lengths = None if lengths is None else as_tensor(lengths)
    given = [None if s is None else _swapped(as_tensor(s), batch_first) for s in (hidden, cell)]
    cells = _cells_of(node, directions, [weight, recurrence, biases], None if peephole is None else as_tensor(peephole))
    outputs, lasts = [], []
    for i, backward in enumerate(directions):
        start = _start([None if s is None else s[i] for s in given[: 1 + (node.type == "LSTM")]], x, recurrence)
        found, last = _rnn.RNN(cells[i], is_reverse=backward, time_major=True)(x, start, lengths)
        outputs.append(found if lengths is None else found * F.cast(_rnn.steps_within(x, lengths), x.dtype))
        lasts.append(last if node.type == "LSTM" else (last,))
    ends = [_swapped(F.stack(list(parts), 0), batch_first) for parts in zip(*lasts)]
    out = F.stack(outputs, 1)
    return (F.transpose(out, [2, 0, 1, 3]) if batch_first else out, *ends)


def _cells_of(node: Node, directions: Sequence[bool], weights: Sequence[Any], peephole: Any) -> list[Any]:
    """A cell for each direction."""
    settings = _settings(node, len(directions), peephole)
    kind, order, usual = _NETWORKS[node.type]
    if settings is not None:
        return [
            getattr(_cells, kind).of(
                [
                    _gates(weights[0][i], order),
                    _gates(weights[1][i], order),
                    *[_gates(b, order) for b in F.split(weights[2][i], 2, 0)],
                ],
                **settings,
            )
            for i in range(len(directions))
        ]
    functions, n = activations(node, usual * len(directions)), len(usual)
    return [
        Cell(
            node.type,
            weights[0][i],
            weights[1][i],
            F.split(weights[2][i], 2, 0),
            None if peephole is None else peephole[i],
            functions[i * n : (i + 1) * n],
            node.real("clip", 0.0) if node.has("clip") else None,
            bool(node.number("linear_before_reset", 0)),
            bool(node.number("input_forget", 0)),
        )
        for i in range(len(directions))
    ]


def _swapped(x: Any, batch_first: bool) -> Any:
    return F.transpose(x, [1, 0, 2]) if batch_first else x


def _start(starts: Sequence[Any], x: Any, recurrence: Any) -> Any:
    """The states before the first step: zeros where the file gives none."""
    zeros = F.zeros([extent(x, 1), recurrence.shape[-1]], x.dtype)
    found = [zeros if s is None else s for s in starts]
    return tuple(found) if len(found) > 1 else found[0]
