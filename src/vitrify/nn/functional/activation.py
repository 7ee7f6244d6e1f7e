"""Activations and softmax. Source: paddle.nn.functional.activation."""

from ...ops import activation as _activation
from ...ops import softmax as _softmax
from ...ops.special import sigmoid
from ...ops.trig import tanh

_NAMES = {name: getattr(family, name) for family in (_activation, _softmax) for name in family.FUNCTIONAL}
globals().update(_NAMES)

__all__ = ["sigmoid", "tanh", *_NAMES]  # noqa: PLE0604  (names, all of them)
