"""Recurrent cells: one time step each."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from ...core.dtype import DTypeLike, default_dtype
from ...core.errors import ArgumentError
from ...eager.initializer import Constant
from ...eager.layer import Layer
from ...eager.param_attr import ParamAttr, ParamAttrLike
from ...ops.creation import full
from ...ops.matmul import matmul
from ...ops.sizes import dim_size
from ...ops.split import split
from .. import functional as F
from ..initializer import Uniform


def batch_size(x: Any, axis: int) -> Any:
    """The size of one dimension: an int where it is known, else a tensor."""
    known = x.shape[axis]
    return known if known >= 0 else dim_size(x, axis)


class RNNCellBase(Layer):
    """Base of recurrent cells: `forward(inputs, states)` gives the output and the new states.

    A cell with states of its own defines `state_shape`. Source: paddle.nn.RNNCellBase.

    Example:
        >>> import vitrify as paddle
        >>> cell = paddle.nn.GRUCell(2, 3)
        >>> isinstance(cell, paddle.nn.RNNCellBase), cell.get_initial_states(paddle.ones([4, 2])).shape
        (True, paddle.Size([4, 3]))
    """

    def get_initial_states(
        self,
        batch_ref: Any,
        shape: Any = None,
        dtype: DTypeLike | None = None,
        init_value: float = 0.0,
        batch_dim_idx: int = 0,
    ) -> Any:
        """States filled with `init_value`, one for each entry of `shape` (by default `state_shape`), batch first.

        batch_ref: the tensor whose dimension `batch_dim_idx` is the batch.
        """
        wanted = self.state_shape if shape is None else shape
        batch = batch_size(batch_ref, batch_dim_idx)
        kind = default_dtype() if dtype is None else dtype

        def filled(sizes: Sequence[Any]) -> Any:
            if any(isinstance(size, (list, tuple)) for size in sizes):
                return type(sizes)(filled(entry) for entry in sizes)  # type: ignore[call-arg]
            rest = list(sizes[1:]) if len(sizes) > 0 and sizes[0] == -1 else list(sizes)
            return full([batch, *rest], init_value, kind)

        return filled(wanted)

    @property
    def state_shape(self) -> Any:
        """The sizes of each state, without the batch."""
        raise NotImplementedError("a cell must define state_shape, or be given its initial states")

    @property
    def state_dtype(self) -> Any:
        """The dtype of the states."""
        return default_dtype().name


_WEIGHTS = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")


class GatedCell(RNNCellBase):
    """What the three cells share: weights for input and hidden state, whose rows are the gates one after the other.

    A step is split in two, so that a sequence multiplies all its inputs by `weight_ih` at once: `project` and `step`.
    """

    _gates: ClassVar[int] = 1

    def _set(self, input_size: int, hidden_size: int, attrs: Sequence[ParamAttrLike], recurrent_size: int) -> None:
        if hidden_size <= 0:
            raise ArgumentError(f"{type(self).__name__}: hidden_size must be greater than 0, got {hidden_size}")
        self.input_size = input_size
        self.hidden_size = hidden_size
        rows = self._gates * hidden_size
        shapes = ([rows, input_size], [rows, recurrent_size], [rows], [rows])
        self._biases = tuple(name for name, attr in zip(_WEIGHTS[2:], attrs[2:]) if attr is not False)
        for name, shape, attr in zip(_WEIGHTS, shapes, attrs):
            setattr(self, name, self._weight(shape, attr, is_bias=len(shape) == 1))

    @classmethod
    def of(cls, weights: Sequence[Any], **settings: Any) -> Any:
        """A cell whose four weights are tensors that somebody else holds, and with other attributes of these values."""
        cell = cls.__new__(cls)
        Layer.__init__(cell)
        cell.hidden_size, cell.input_size = weights[1].shape[-1], weights[0].shape[-1]
        for name, value in {**dict(zip(_WEIGHTS, weights)), **settings}.items():
            object.__setattr__(cell, name, value)
        return cell

    def _weight(self, shape: Sequence[int], attr: ParamAttrLike, is_bias: bool = False) -> Any:
        """A parameter within ±1/sqrt(hidden_size); for `attr` False one that stays at 1 (a bias: 0)."""
        if attr is False:
            attr = ParamAttr(initializer=Constant(0.0 if is_bias else 1.0), trainable=False)
        limit = 1.0 / math.sqrt(self.hidden_size)
        return self.create_parameter(shape, attr, is_bias=is_bias, default_initializer=Uniform(-limit, limit))

    @property
    def state_shape(self) -> Any:
        """The hidden size."""
        return (self.hidden_size,)

    def project(self, inputs: Any) -> Any:
        """The inputs' share of the gates. inputs: [*, input_size] -> [*, gates * hidden_size]."""
        return matmul(inputs, self.weight_ih, transpose_y=True) + (self.bias_ih + self.bias_hh)

    def step(self, projected: Any, states: Any) -> tuple[Any, Any]:
        """Output and new states, given what `project` made of the input. projected: [N, gates * hidden_size]."""
        raise NotImplementedError(f"{type(self).__name__} must define step(projected, states)")

    def forward(self, inputs: Any, states: Any = None) -> tuple[Any, Any]:
        """inputs: [N, input_size]; states: [N, hidden_size] or a tuple of these, zeros for None -> (output, states)."""
        if states is None:
            states = self.get_initial_states(inputs, dtype=inputs.dtype)
        return self.step(self.project(inputs), states)

    def extra_repr(self) -> str:
        """The sizes."""
        return f"{self.input_size}, {self.hidden_size}"


class SimpleRNNCell(GatedCell):
    """h' = act(W_ih x + b_ih + W_hh h + b_hh), with act tanh or relu. Source: paddle.nn.SimpleRNNCell; Elman 1990.

    Example:
        >>> import vitrify as paddle
        >>> output, state = paddle.nn.SimpleRNNCell(4, 8)(paddle.ones([3, 4]))
        >>> output.shape, state.shape
        (paddle.Size([3, 8]), paddle.Size([3, 8]))
    """

    _ACTIVATIONS: ClassVar[dict[str, Callable[..., Any]]] = {"tanh": F.tanh, "relu": F.relu}

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        activation: str = "tanh",
        weight_ih_attr: ParamAttrLike = None,
        weight_hh_attr: ParamAttrLike = None,
        bias_ih_attr: ParamAttrLike = None,
        bias_hh_attr: ParamAttrLike = None,
        name: str | None = None,
    ) -> None:
        super().__init__()
        if activation not in self._ACTIVATIONS:
            raise ArgumentError(f"SimpleRNNCell: activation must be tanh or relu, got {activation!r}")
        self.activation = activation
        self._set(input_size, hidden_size, (weight_ih_attr, weight_hh_attr, bias_ih_attr, bias_hh_attr), hidden_size)

    @property
    def _activation_fn(self) -> Callable[..., Any]:
        return self._ACTIVATIONS[self.activation]

    def step(self, projected: Any, states: Any) -> tuple[Any, Any]:
        """The new hidden state, twice."""
        hidden = self._activation_fn(projected + matmul(states, self.weight_hh, transpose_y=True))
        return hidden, hidden

    def extra_repr(self) -> str:
        """The sizes, and the activation unless it is tanh."""
        sizes = super().extra_repr()
        return sizes if self.activation == "tanh" else f"{sizes}, activation={self.activation}"


class LSTMCell(GatedCell):
    """Long short-term memory; the rows of the weights are the input, forget, cell and output gates.

    i, f, o = sigmoid(...), g = tanh(...), c' = f * c + i * g, h' = o * tanh(c').
    proj_size: if positive, h' is projected to this size. Source: paddle.nn.LSTMCell; Hochreiter, Schmidhuber 1997.

    Example:
        >>> import vitrify as paddle
        >>> y, (h, c) = paddle.nn.LSTMCell(16, 32)(paddle.ones([4, 16]))
        >>> y.shape, c.shape
        (paddle.Size([4, 32]), paddle.Size([4, 32]))
    """

    _gates = 4

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        weight_ih_attr: ParamAttrLike = None,
        weight_hh_attr: ParamAttrLike = None,
        bias_ih_attr: ParamAttrLike = None,
        bias_hh_attr: ParamAttrLike = None,
        proj_size: int | None = 0,
        name: str | None = None,
    ) -> None:
        super().__init__()
        self.proj_size = proj_size or 0
        if not 0 <= self.proj_size < max(hidden_size, 1):
            raise ArgumentError(f"LSTMCell: proj_size {proj_size} must be smaller than hidden_size {hidden_size}")
        attrs = (weight_ih_attr, weight_hh_attr, bias_ih_attr, bias_hh_attr)
        self._set(input_size, hidden_size, attrs, self.proj_size or hidden_size)
        if self.proj_size:
            self.weight_ho = self._weight([hidden_size, self.proj_size], weight_hh_attr)

    @property
    def state_shape(self) -> Any:
        """The sizes of h and c."""
        return ((self.proj_size or self.hidden_size,), (self.hidden_size,))

    def step(self, projected: Any, states: Any) -> tuple[Any, Any]:
        """h', (h', c')."""
        hidden, cell = states
        gates = projected + matmul(hidden, self.weight_hh, transpose_y=True)
        enter, forget, candidate, leave = split(gates, 4, axis=-1)
        cell = F.sigmoid(forget) * cell + F.sigmoid(enter) * F.tanh(candidate)
        hidden = F.sigmoid(leave) * F.tanh(cell)
        if self.proj_size:
            hidden = matmul(hidden, self.weight_ho)
        return hidden, (hidden, cell)


class GRUCell(GatedCell):
    """Gated recurrent unit; the rows of the weights are the reset gate, the update gate and the candidate.

    r, z = sigmoid(...), n = tanh(W_ic x + b_ic + r * (W_hc h + b_hc)), h' = z * h + (1 - z) * n.
    Source: paddle.nn.GRUCell; Cho 2014.

    Example:
        >>> import vitrify as paddle
        >>> output, state = paddle.nn.GRUCell(4, 8)(paddle.ones([3, 4]))
        >>> output.shape, state.shape
        (paddle.Size([3, 8]), paddle.Size([3, 8]))
    """

    _gates = 3

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        weight_ih_attr: ParamAttrLike = None,
        weight_hh_attr: ParamAttrLike = None,
        bias_ih_attr: ParamAttrLike = None,
        bias_hh_attr: ParamAttrLike = None,
        name: str | None = None,
    ) -> None:
        super().__init__()
        self._set(input_size, hidden_size, (weight_ih_attr, weight_hh_attr, bias_ih_attr, bias_hh_attr), hidden_size)

    def project(self, inputs: Any) -> Any:
        """The inputs' share of the gates; the hidden bias stays with the hidden state, which r multiplies."""
        return matmul(inputs, self.weight_ih, transpose_y=True) + self.bias_ih

    def step(self, projected: Any, states: Any) -> tuple[Any, Any]:
        """The new hidden state, twice."""
        x_reset, x_update, x_new = split(projected, 3, axis=-1)
        recurrent = matmul(states, self.weight_hh, transpose_y=True) + self.bias_hh
        h_reset, h_update, h_new = split(recurrent, 3, axis=-1)
        update = F.sigmoid(x_update + h_update)
        candidate = F.tanh(x_new + F.sigmoid(x_reset + h_reset) * h_new)
        hidden = (states - candidate) * update + candidate
        return hidden, hidden


__all__ = ["GRUCell", "GatedCell", "LSTMCell", "RNNCellBase", "SimpleRNNCell", "batch_size"]
