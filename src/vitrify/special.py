"""Special functions, under a second path of Paddle's. Source: paddle.special."""

from .ops.softmax import softmax_by_dim as softmax
from .ops.statistics import logsumexp
from .ops.unary import expm1

__all__ = ["expm1", "logsumexp", "softmax"]
