"""Recurrent networks over sequences: one cell through time, both directions, several layers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...core.errors import ArgumentError
from ...core.lazy import lazy_module
from ...eager.layer import Layer
from ...eager.param_attr import ParamAttrLike
from ...ops.creation import arange, full
from ...ops.index import with_item
from ...ops.join import concat, stack
from ...ops.select import where
from ...ops.sizes import dim_size
from ...ops.split import unstack
from .. import functional as F
from .container import LayerList
from .rnn_cells import (
    GatedCell,
    GRUCell,
    LSTMCell,
    RNNCellBase,  # noqa: F401 - Paddle's path leads here
    SimpleRNNCell,
    batch_size,
)

_loops = lazy_module("vitrify.convert.control.loops")  # only programs of unknown lengths have the steps in a loop
Step = Callable[[Any, Any], tuple[Any, Any]]


def _swap(x: Any) -> Any:
    """Batch and time exchanged."""
    return x.transpose([1, 0, *range(2, x.ndim)])


class _Scan:
    """A cell through time. inputs: [T, N, *], steps in order; a step outside a sequence's length keeps the states."""

    def __init__(self, cell: Any, kwargs: dict[str, Any]) -> None:
        plain = isinstance(cell, GatedCell) and not (cell._forward_pre_hooks or cell._forward_post_hooks)
        self.cell = cell
        self.projects = plain and not kwargs
        self.step: Step = cell.step if self.projects else lambda x, states: cell(x, states, **kwargs)

    def __call__(self, inputs: Any, states: Any, within: Any, backward: bool) -> tuple[Any, Any]:
        """Outputs [T, N, *] and the last states. within: [T, N, 1] bool or None."""
        xs = self.cell.project(inputs) if self.projects else inputs
        if xs.shape[0] < 0:
            return self._looped(xs, states, within, backward)
        steps = unstack(xs, axis=0)
        masks = [None] * len(steps) if within is None else unstack(within, axis=0)
        outputs: list[Any] = [None] * len(steps)
        for at in reversed(range(len(steps))) if backward else range(len(steps)):
            outputs[at], states = self._once(steps[at], states, masks[at])
        return stack(outputs, axis=0), states

    def _once(self, x: Any, states: Any, mask: Any) -> tuple[Any, Any]:
        output, fresh = self.step(x, states)
        if mask is not None:
            fresh = _chosen(mask, fresh, states)
        return output, fresh

    def _looped(self, xs: Any, states: Any, within: Any, backward: bool) -> tuple[Any, Any]:
        """The same as a loop of the program, for a number of steps that is known only when it runs."""
        length = dim_size(xs, 0)
        first, _ = self.step(xs[0], states)
        outputs = full([length, *[batch_size(first, d) for d in range(first.ndim)]], 0.0, first.dtype)

        def body(at: Any, outputs: Any, states: Any) -> tuple[Any, Any, Any]:
            step = length - 1 - at if backward else at
            output, states = self._once(xs[step], states, None if within is None else within[step])
            return at + 1, with_item(outputs, step, output), states

        start = (full([], 0, "int64"), outputs, states)
        names = ("step", "outputs", "states")
        _, outputs, states = _loops.convert_while(lambda at, *_: at < length, body, start, names)
        return outputs, states


def _chosen(mask: Any, new: Any, old: Any) -> Any:
    """`new` where the mask is set and `old` elsewhere, in nested states."""
    if isinstance(new, (list, tuple)):
        return type(new)(_chosen(mask, n, o) for n, o in zip(new, old))
    return where(mask, new, old)


def steps_within(steps: Any, sequence_length: Any) -> Any:
    """Which steps belong to each sequence: [T, N, 1] bool."""
    at = arange(batch_size(steps, 0), dtype="int64")
    return (at.unsqueeze(1) < sequence_length.astype("int64").unsqueeze(0)).unsqueeze(2)


def _run(
    cell: Any, inputs: Any, states: Any, lengths: Any, backward: bool, time_major: bool, kwargs: dict[str, Any]
) -> tuple[Any, Any]:
    """Outputs of all steps and the last states, batch first unless `time_major`."""
    steps = inputs if time_major else _swap(inputs)
    if states is None:
        states = cell.get_initial_states(steps, dtype=steps.dtype, batch_dim_idx=1)
    within = None if lengths is None else steps_within(steps, lengths)
    outputs, states = _Scan(cell, kwargs)(steps, states, within, backward)
    return outputs if time_major else _swap(outputs), states


class RNN(Layer):
    """A cell run along the time of a sequence. Source: paddle.nn.RNN.

    is_reverse: from the last step to the first. time_major: inputs and outputs are [T, N, *] instead of [N, T, *].

    Example:
        >>> import vitrify as paddle
        >>> rnn = paddle.nn.RNN(paddle.nn.SimpleRNNCell(16, 32))
        >>> y, h = rnn(paddle.ones([4, 23, 16]))
        >>> y.shape, h.shape
        (paddle.Size([4, 23, 32]), paddle.Size([4, 32]))
    """

    def __init__(self, cell: Any, is_reverse: bool = False, time_major: bool = False) -> None:
        super().__init__()
        self.cell = cell
        self.is_reverse = is_reverse
        self.time_major = time_major

    def forward(
        self, inputs: Any, initial_states: Any = None, sequence_length: Any = None, **kwargs: Any
    ) -> tuple[Any, Any]:
        """Outputs of all steps and the last states; steps beyond a sequence's length leave its states alone.

        inputs: [N, T, *]; sequence_length: [N] integer; kwargs go to the cell.
        """
        return _run(self.cell, inputs, initial_states, sequence_length, self.is_reverse, self.time_major, kwargs)


class BiRNN(Layer):
    """Two cells, one along the sequence and one against it, their outputs side by side. Source: paddle.nn.BiRNN.

    Example:
        >>> import vitrify as paddle
        >>> rnn = paddle.nn.BiRNN(paddle.nn.GRUCell(4, 8), paddle.nn.GRUCell(4, 8))
        >>> outputs, states = rnn(paddle.ones([2, 5, 4]))
        >>> outputs.shape
        paddle.Size([2, 5, 16])
    """

    def __init__(self, cell_fw: Any, cell_bw: Any, time_major: bool = False) -> None:
        super().__init__()
        if cell_fw.input_size != cell_bw.input_size:
            raise ArgumentError(
                f"BiRNN: the forward cell takes inputs of {cell_fw.input_size}, the other of {cell_bw.input_size}"
            )
        self.cell_fw = cell_fw
        self.cell_bw = cell_bw
        self.time_major = time_major

    def forward(
        self, inputs: Any, initial_states: Any = None, sequence_length: Any = None, **kwargs: Any
    ) -> tuple[Any, tuple[Any, Any]]:
        """Outputs [N, T, forward + backward size] and the pair of last states; initial_states is such a pair."""
        before = (None, None) if initial_states is None else initial_states
        outputs, after = zip(
            *[
                _run(cell, inputs, states, sequence_length, backward, self.time_major, kwargs)
                for cell, states, backward in ((self.cell_fw, before[0], False), (self.cell_bw, before[1], True))
            ]
        )
        return concat(list(outputs), axis=-1), after


class RNNBase(LayerList):
    """Several layers of one kind of cell, in one or both directions; dropout between the layers while training.

    The parameters of each cell are also attributes of the network, by layer and direction: `weight_ih_l0`,
    `weight_hh_l1_reverse`, ...
    """

    state_components = 1
    """Of how many tensors the state of a cell consists."""

    def __init__(
        self,
        make_cell: Callable[[int], Any],
        input_size: int,
        hidden_size: int,
        num_layers: int,
        direction: str,
        time_major: bool,
        dropout: float,
        proj_size: int = 0,
    ) -> None:
        super().__init__()
        if direction not in ("forward", "bidirect", "bidirectional"):
            raise ArgumentError(
                f"{type(self).__name__}: direction must be forward or bidirect (or bidirectional), got {direction!r}"
            )
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.num_layers = num_layers
        self.num_directions = 1 if direction == "forward" else 2
        self.time_major = time_major
        self.dropout = dropout
        self.proj_size = proj_size
        size = input_size
        for _ in range(num_layers):
            self.append(self._new_layer(make_cell, size))
            size = self.num_directions * (proj_size or hidden_size)
        self._name_weights()

    def _new_layer(self, make_cell: Callable[[int], Any], input_size: int) -> Any:
        if self.num_directions == 1:
            return RNN(make_cell(input_size), time_major=True)
        return BiRNN(make_cell(input_size), make_cell(input_size), time_major=True)

    def _cells(self) -> list[Any]:
        """All cells: layer by layer, forward before backward."""
        return [cell for layer in self for cell in layer.children()]

    def _name_weights(self) -> None:
        for i, cell in enumerate(self._cells()):
            layer, direction = divmod(i, self.num_directions)
            for name in ("weight_ih", "weight_hh", *cell._biases):
                setattr(self, f"{name}_l{layer}{'_reverse' if direction else ''}", getattr(cell, name))

    def flatten_parameters(self) -> None:
        """Accepted for compatibility: the weights need no arranging."""

    def forward(self, inputs: Any, initial_states: Any = None, sequence_length: Any = None) -> tuple[Any, Any]:
        """Outputs of the last layer, zero beyond each sequence's length, and the last states of all layers.

        With `proj_size`, what lies beyond the length is computed from the last states, as of `RNN`.
        inputs: [N, T, input_size], or [T, N, input_size] if time_major; states: [layers * directions, N, size], for an
        LSTM the pair (h, c) of them; sequence_length: [N] integer.
        """
        steps = inputs if self.time_major else _swap(inputs)
        before = self._initial(steps, initial_states)
        # a projected state keeps what it was computed to be beyond the end, as PaddlePaddle does there
        within = None if sequence_length is None or self.proj_size else steps_within(steps, sequence_length)
        after: list[Any] = []
        for i, layer in enumerate(self):
            if i > 0 and self.dropout > 0.0:
                steps = F.dropout(steps, self.dropout, training=self.training, mode="upscale_in_train")
            given = before[i * self.num_directions : (i + 1) * self.num_directions]
            steps, states = layer(steps, given[0] if self.num_directions == 1 else tuple(given), sequence_length)
            if within is not None:
                steps = where(within, steps, full([], 0.0, steps.dtype))
            after += [states] if self.num_directions == 1 else list(states)
        return steps if self.time_major else _swap(steps), _joined(after)

    def _initial(self, steps: Any, states: Any) -> Sequence[Any]:
        """The states of each cell before the first step."""
        cells = self._cells()
        if states is None:
            return [cell.get_initial_states(steps, dtype=steps.dtype, batch_dim_idx=1) for cell in cells]
        if isinstance(states, (list, tuple)) and isinstance(cells[0].state_shape[0], (list, tuple)):
            return list(zip(*[unstack(part, axis=0, num=len(cells)) for part in states]))
        whole = states[0] if isinstance(states, (list, tuple)) else states
        return unstack(whole, axis=0, num=len(cells))

    def extra_repr(self) -> str:
        """The sizes, and the settings that differ from the defaults."""
        parts = [f"{self.input_size}, {self.hidden_size}"]
        if self.num_layers != 1:
            parts.append(f"num_layers={self.num_layers}")
        if self.time_major:
            parts.append(f"time_major={self.time_major}")
        if self.dropout:
            parts.append(f"dropout={self.dropout}")
        return ", ".join(parts)


def _joined(states: Sequence[Any]) -> Any:
    """The states of all cells stacked: one tensor, or a tuple of them."""
    if isinstance(states[0], (list, tuple)):
        return tuple(stack(list(parts), axis=0) for parts in zip(*states))
    return stack(list(states), axis=0)


class SimpleRNN(RNNBase):
    """Layers of SimpleRNNCell. Source: paddle.nn.SimpleRNN.

    Example:
        >>> import vitrify as paddle
        >>> outputs, h = paddle.nn.SimpleRNN(4, 8, num_layers=2)(paddle.ones([3, 5, 4]))
        >>> outputs.shape, h.shape
        (paddle.Size([3, 5, 8]), paddle.Size([2, 3, 8]))
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        direction: str = "forward",
        time_major: bool = False,
        dropout: float = 0.0,
        activation: str = "tanh",
        weight_ih_attr: ParamAttrLike = None,
        weight_hh_attr: ParamAttrLike = None,
        bias_ih_attr: ParamAttrLike = None,
        bias_hh_attr: ParamAttrLike = None,
        name: str | None = None,
    ) -> None:
        def make_cell(size: int) -> SimpleRNNCell:
            attrs = (weight_ih_attr, weight_hh_attr, bias_ih_attr, bias_hh_attr)
            return SimpleRNNCell(size, hidden_size, activation, *attrs)

        super().__init__(make_cell, input_size, hidden_size, num_layers, direction, time_major, dropout)
        self.activation = activation
        self.mode = f"RNN_{activation.upper()}"


class LSTM(RNNBase):
    """Layers of LSTMCell; the states are (h, c). Source: paddle.nn.LSTM.

    Example:
        >>> import vitrify as paddle
        >>> y, (h, c) = paddle.nn.LSTM(16, 32, num_layers=2)(paddle.ones([4, 23, 16]))
        >>> y.shape, h.shape
        (paddle.Size([4, 23, 32]), paddle.Size([2, 4, 32]))
    """

    mode = "LSTM"
    state_components = 2

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        direction: str = "forward",
        time_major: bool = False,
        dropout: float = 0.0,
        weight_ih_attr: ParamAttrLike = None,
        weight_hh_attr: ParamAttrLike = None,
        bias_ih_attr: ParamAttrLike = None,
        bias_hh_attr: ParamAttrLike = None,
        proj_size: int = 0,
        name: str | None = None,
    ) -> None:
        def make_cell(size: int) -> LSTMCell:
            attrs = (weight_ih_attr, weight_hh_attr, bias_ih_attr, bias_hh_attr)
            return LSTMCell(size, hidden_size, *attrs, proj_size=proj_size)

        super().__init__(make_cell, input_size, hidden_size, num_layers, direction, time_major, dropout, proj_size)


class GRU(RNNBase):
    """Layers of GRUCell. Source: paddle.nn.GRU.

    Example:
        >>> import vitrify as paddle
        >>> outputs, h = paddle.nn.GRU(4, 8, direction="bidirect")(paddle.ones([3, 5, 4]))
        >>> outputs.shape, h.shape
        (paddle.Size([3, 5, 16]), paddle.Size([2, 3, 8]))
    """

    mode = "GRU"

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        direction: str = "forward",
        time_major: bool = False,
        dropout: float = 0.0,
        weight_ih_attr: ParamAttrLike = None,
        weight_hh_attr: ParamAttrLike = None,
        bias_ih_attr: ParamAttrLike = None,
        bias_hh_attr: ParamAttrLike = None,
        name: str | None = None,
    ) -> None:
        def make_cell(size: int) -> GRUCell:
            return GRUCell(size, hidden_size, weight_ih_attr, weight_hh_attr, bias_ih_attr, bias_hh_attr)

        super().__init__(make_cell, input_size, hidden_size, num_layers, direction, time_major, dropout)


__all__ = ["GRU", "LSTM", "RNN", "BiRNN", "RNNBase", "SimpleRNN"]
