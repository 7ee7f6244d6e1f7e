"""ONNX's recurrent cells in full: any activations, clipped sums, peepholes and either order of resetting."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ..core.errors import UnsupportedError
from ..ops import functions as F
from .node import Node

Function = Callable[[Any], Any]
# Activations by name: what they do with their two numbers, and what these are where the file names none (or None where
# the activation has no such number, and so takes none of the file's).
_FUNCTIONS: dict[str, tuple[Callable[[Any, Any, Any], Any], float | None, float | None]] = {
    "relu": (lambda x, a, b: F.relu(x), None, None),
    "tanh": (lambda x, a, b: F.tanh(x), None, None),
    "sigmoid": (lambda x, a, b: F.sigmoid(x), None, None),
    "softsign": (lambda x, a, b: F.softsign(x), None, None),
    "softplus": (lambda x, a, b: F.log1p(F.exp(-F.abs(x))) + F.relu(x), None, None),
    "affine": (lambda x, a, b: x * a + b, 1.0, 0.0),
    "leakyrelu": (lambda x, a, b: F.leaky_relu(x, a), 0.01, None),
    "thresholdedrelu": (lambda x, a, b: F.where(x > a, x, x * 0.0), 1.0, None),
    "scaledtanh": (lambda x, a, b: F.tanh(x * b) * a, 1.0, 1.0),
    "hardsigmoid": (lambda x, a, b: F.clip(x * a + b, 0.0, 1.0), 0.2, 0.5),
    "elu": (lambda x, a, b: F.elu(x, a), 1.0, None),
}


def activations(node: Node, usual: Sequence[str]) -> list[Function]:
    """The activations of all directions, in order, each with its numbers."""
    alphas, betas = iter(node.reals("activation_alpha", [])), iter(node.reals("activation_beta", []))
    return [_with_numbers(node.type, name, alphas, betas) for name in node.texts("activations", list(usual))]


def activation_of(type_: str, name: str, numbers: Sequence[float]) -> Function:
    """An activation of a node of this type, with its numbers in order."""
    return _with_numbers(type_, name, iter(numbers[:1]), iter(numbers[1:]))


def _with_numbers(type_: str, name: str, alphas: Iterator[float], betas: Iterator[float]) -> Function:
    if name.lower() not in _FUNCTIONS:
        raise UnsupportedError(f"{type_} with the activation {name!r} cannot be read")
    function, alpha, beta = _FUNCTIONS[name.lower()]
    a = None if alpha is None else next(alphas, alpha)
    b = None if beta is None else next(betas, beta)
    return lambda x: function(x, a, b)


@dataclass(frozen=True)
class Cell:
    """A step of a network: weights [gates * hidden, *] in ONNX's order, and what bounds and joins its sums."""

    kind: str
    weight: Any
    recurrence: Any
    bias: Any  # of the inputs, then of the states: [2, gates * hidden]
    peephole: Any
    functions: Sequence[Function]
    clip: float | None
    resets_after: bool
    couples: bool

    @property
    def hidden(self) -> int:
        """How many numbers a state has."""
        return int(self.recurrence.shape[-1])

    def __call__(self, x: Any, states: Any) -> tuple[Any, Any]:
        """The output and the new states, of x [batch, size] and states [batch, hidden]."""
        out: tuple[Any, Any] = _STEPS[self.kind](self, x, states)
        return out

    def sums(self, x: Any, h: Any) -> tuple[list[Any], list[Any]]:
        """The inputs' and the states' share of each gate."""
        given = F.matmul(x, self.weight, transpose_y=True) + self.bias[0]
        held = F.matmul(h, self.recurrence, transpose_y=True) + self.bias[1]
        n = _GATES[self.kind]
        return _parts(given, n), _parts(held, n)

    def bounded(self, x: Any) -> Any:
        """A gate's sum within the bounds that the file sets."""
        return x if self.clip is None else F.clip(x, -self.clip, self.clip)


def _parts(x: Any, n: int) -> list[Any]:
    return list(F.split(x, n, -1)) if n > 1 else [x]


def _simple(cell: Cell, x: Any, h: Any) -> tuple[Any, Any]:
    (given,), (held,) = cell.sums(x, h)
    out = cell.functions[0](cell.bounded(given + held))
    return out, out


def _gru(cell: Cell, x: Any, h: Any) -> tuple[Any, Any]:
    given, held = cell.sums(x, h)
    f, g = cell.functions
    z, r = (f(cell.bounded(given[i] + held[i])) for i in (0, 1))
    kept = r * held[2]
    if not cell.resets_after:
        rows = cell.recurrence[2 * cell.hidden :]
        kept = F.matmul(r * h, rows, transpose_y=True) + cell.bias[1][2 * cell.hidden :]
    fresh = g(cell.bounded(given[2] + kept))
    out = (1 - z) * fresh + z * h
    return out, out


def _lstm(cell: Cell, x: Any, states: Any) -> tuple[Any, Any]:
    h, c = states
    given, held = cell.sums(x, h)
    i, o, f, fresh = (a + b for a, b in zip(given, held))
    into, out_of, forgets = [None] * 3 if cell.peephole is None else _parts(cell.peephole, 3)
    sigma, g, last = cell.functions

    def gate(total: Any, seen: Any, held: Any) -> Any:
        return sigma(cell.bounded(total if seen is None else total + seen * held))

    i = gate(i, into, c)
    f = 1 - i if cell.couples else gate(f, forgets, c)
    c = f * c + i * g(cell.bounded(fresh))
    out = gate(o, out_of, c) * last(c)
    return out, (out, c)


_GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
_STEPS: dict[str, Callable[[Cell, Any, Any], tuple[Any, Any]]] = {"RNN": _simple, "GRU": _gru, "LSTM": _lstm}
