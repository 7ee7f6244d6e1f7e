"""Weight decay as a penalty: its gradient is added to the parameter's before the update."""

from __future__ import annotations


class WeightDecayRegularizer:
    """Base of the penalties; `coefficients` are those of the L1 and the L2 term."""

    def __init__(self, coeff: float = 0.0) -> None:
        self._coeff = coeff

    @property
    def coefficients(self) -> tuple[float, float]:
        """(l1, l2): the gradient of the penalty is l1 * sign(parameter) + l2 * parameter."""
        raise NotImplementedError

    def __str__(self) -> str:
        return f"{type(self).__name__}, coeff={self._coeff:f}"


class L1Decay(WeightDecayRegularizer):
    """The penalty coeff * sum(|x|), which makes weights sparse. Source: paddle.regularizer.L1Decay.

    Give it to an optimizer as weight_decay, or to a ParamAttr as regularizer (which takes precedence).

    Example:
        >>> from vitrify.regularizer import L1Decay
        >>> print(L1Decay(0.1))
        L1Decay, coeff=0.100000
    """

    @property
    def coefficients(self) -> tuple[float, float]:
        """(coeff, 0)."""
        return self._coeff, 0.0


class L2Decay(WeightDecayRegularizer):
    """The penalty 0.5 * coeff * sum(x**2), which keeps weights small. Source: paddle.regularizer.L2Decay.

    Give it to an optimizer as weight_decay, or to a ParamAttr as regularizer (which takes precedence).

    Example:
        >>> from vitrify.regularizer import L2Decay
        >>> print(L2Decay(0.1))
        L2Decay, coeff=0.100000
    """

    @property
    def coefficients(self) -> tuple[float, float]:
        """(0, coeff)."""
        return 0.0, self._coeff


__all__ = ["L1Decay", "L2Decay"]
