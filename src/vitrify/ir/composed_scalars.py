"""Scalar primitives (D2) as compositions of others: for formats that have no operator for them.

Operands have Python's operators and a `dtype`; what a format has operators for stands in the class derived from this.
"""

from __future__ import annotations

import math
from typing import Any

Operand = Any


class ComposedScalars:
    """The compositions. Derived classes give `abs`, `where`, `sqrt`, `exp`, `log1p`, `reciprocal`, `maximum`, ..."""

    def number(self, value: float, like: Operand) -> Operand:
        """A number in the dtype of another operand."""
        raise NotImplementedError

    def rsqrt(self, x: Operand) -> Operand:
        """1 / sqrt(x)."""
        return self.reciprocal(self.sqrt(x))

    def hypot(self, x: Operand, y: Operand) -> Operand:
        """sqrt(x * x + y * y) without overflow."""
        a, b = self.abs(x), self.abs(y)
        large, small = self.maximum(a, b), self.minimum(a, b)
        share = small / self.where(large == 0, 1, large)
        return self.where(self.isinf(large), large, large * self.sqrt(share * share + 1))

    def signbit(self, x: Operand) -> Operand:
        """Whether x has a minus sign, zeros too."""
        if not x.dtype.is_floating:
            return x < 0
        return (x < 0) | ((x == 0) & (self.reciprocal(x) < 0))

    def copysign(self, x: Operand, y: Operand) -> Operand:
        """x with the sign of y."""
        return self.where(self.signbit(y), -self.abs(x), self.abs(x))

    def heaviside(self, x: Operand, y: Operand) -> Operand:
        """0 where x is negative, 1 where it is positive, y where it is 0."""
        return self.where(x == 0, y, self.where(x > 0, 1, self.where(x < 0, 0, x)))

    def softplus(self, x: Operand) -> Operand:
        """log(1 + exp(x)) without overflow."""
        return self.maximum(x, 0) + self.log1p(self.exp(-self.abs(x)))

    def logaddexp(self, x: Operand, y: Operand) -> Operand:
        """log(exp(x) + exp(y)) without overflow."""
        gap = self.where(x == y, 0, -self.abs(x - y))
        return self.maximum(x, y) + self.log1p(self.exp(gap))

    # -- complex numbers: those that are real --------------------------------------------------------------------

    def conj(self, x: Operand) -> Operand:
        """x itself: it is real."""
        return x

    def real(self, x: Operand) -> Operand:
        """x itself: it is real."""
        return x

    def imag(self, x: Operand) -> Operand:
        """0: it is real."""
        return self.where(x == x, self.number(0, x), self.number(0, x))

    def angle(self, x: Operand) -> Operand:
        """0 or pi: it is real."""
        return self.where(self.signbit(x), math.pi, self.where(x == x, 0, x))

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"no scalar primitive is named {name!r}")


__all__ = ["ComposedScalars"]
