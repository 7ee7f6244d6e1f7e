"""Paddle's operator of recurrent networks, in our cells."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import tensor as T
from ..core.errors import FileFormatError, UnsupportedError
from ..ir.known_values import as_tensor
from ..nn.layer.rnn import RNN, steps_within
from ..nn.layer.rnn_cells import GRUCell, LSTMCell, SimpleRNNCell
from .operator_table import reads

_CELLS: dict[str, tuple[Any, dict[str, Any]]] = {
    "LSTM": (LSTMCell, {"proj_size": 0}),
    "GRU": (GRUCell, {}),
    "RNN_TANH": (SimpleRNNCell, {"activation": "tanh"}),
    "RNN_RELU": (SimpleRNNCell, {"activation": "relu"}),
}


@reads("rnn")
def rnn(
    x: Any, states: Sequence[Any], weights: Sequence[Any], lengths: Any = None, dropout_state: Any = None, *,
    mode: str, num_layers: int, is_bidirec: bool = False, dropout_prob: float = 0.0, is_test: bool = False,
) -> Any:  # fmt: skip
    """Layers of recurrent cells over x [time, batch, size]: the outputs, zero beyond each length, and the last states.

    weights: two matrices for each layer and direction, and behind all of them two biases for each.
    """
    if dropout_prob and not is_test and num_layers > 1:
        raise UnsupportedError("a recurrent network with dropout in training mode cannot be read")
    directions = 1 + is_bidirec
    count = num_layers * directions
    if mode not in _CELLS or len(weights) != 4 * count or len(states) != 1 + (mode == "LSTM"):
        raise FileFormatError(f"rnn: {len(weights)} weights and {len(states)} states for {count} cells of {mode}")
    kind, settings = _CELLS[mode]
    given = [as_tensor(w) for w in weights]
    of_cells = [(*given[2 * i : 2 * i + 2], *given[2 * (count + i) : 2 * (count + i) + 2]) for i in range(count)]
    before = list(zip(*[T.unstack(as_tensor(s), 0, count) for s in states]))
    lengths, x, after = None if lengths is None else as_tensor(lengths), as_tensor(x), []
    for layer in range(num_layers):
        outputs = []
        for at in range(layer * directions, (layer + 1) * directions):
            scan = RNN(kind.of(of_cells[at], **settings), is_reverse=at % directions == 1, time_major=True)
            start = before[at] if mode == "LSTM" else before[at][0]
            found, last = scan(x, start, lengths)
            outputs.append(found)
            after.append(last if mode == "LSTM" else (last,))
        x = T.concat(outputs, -1) if is_bidirec else outputs[0]
        if lengths is not None:
            x = x * T.cast(steps_within(x, lengths), x.dtype)
    return x, None, [T.stack(list(parts), 0) for parts in zip(*after)], None


@reads("spectral_norm")
def spectral_norm(weight: Any, u: Any, v: Any, *, dim: int = 0, power_iters: int = 1, eps: float = 1e-12) -> Any:
    """The weight over its largest singular value, found by power iteration from two vectors."""
    weight, u, v = as_tensor(weight), T.flatten(as_tensor(u)), T.flatten(as_tensor(v))
    order = [dim, *(d for d in range(weight.ndim) if d != dim)]
    matrix = T.reshape(T.transpose(weight, order), [weight.shape[dim], -1])
    for _ in range(power_iters):
        v = _unit(T.matmul(matrix, u, transpose_x=True), eps)
        u = _unit(T.matmul(matrix, v), eps)
    return weight / T.matmul(u, T.matmul(matrix, v))


def _unit(x: Any, eps: float) -> Any:
    return x / (T.sqrt(T.sum(x * x)) + eps)
