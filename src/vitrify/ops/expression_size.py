"""How many steps on whole arrays a scalar expression is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

# primitives that are several steps on arrays (ops/scalar.py)
_STEPS = {"sigmoid": 4, "softplus": 6, "rsqrt": 2}
# Steps that a composite operator takes, such as softmax.
_COMPOSITE = 6


def steps_of(op: Any, arity: int, attrs: Mapping[str, Any]) -> int:
    """In how many steps on whole arrays an op computes so many operands, roughly."""
    if op.scalar is None:
        return 1 if op.decompose is None else _COMPOSITE
    return count_primitives(op.scalar, arity, attrs)


def count_primitives(scalar: Any, arity: int, attrs: Mapping[str, Any]) -> int:
    """The number of steps, primitives and Python operators, in which the expression computes so many operands.

    >>> count_primitives("exp", 1, {}), count_primitives(lambda s, x: s.exp(-x) * 2, 1, {})
    (1, 3)
    """
    if isinstance(scalar, str):
        return _STEPS.get(scalar, 1)
    counting = _Primitives()
    scalar(counting, *[_Operand(counting) for _ in range(arity)], **attrs)
    return counting.count


def primitives_of(scalar: Any, arity: int, attrs: Mapping[str, Any]) -> frozenset[str]:
    """The names of the primitives in the expression; Python's operators are not among them.

    >>> sorted(primitives_of(lambda s, x: s.exp(-x) * 2, 1, {}))
    ['exp']
    """
    if isinstance(scalar, str):
        return frozenset((scalar,))
    counting = _Primitives()
    scalar(counting, *[_Operand(counting) for _ in range(arity)], **attrs)
    return frozenset(counting.names)


class _Primitives:
    """A namespace of primitives that counts what is asked of it."""

    def __init__(self) -> None:
        self.count = 0
        self.names: set[str] = set()

    def __getattr__(self, name: str) -> Callable[..., _Operand]:
        self.names.add(name)
        return lambda *args: self.made(_STEPS.get(name, 1))

    def made(self, steps: int = 1) -> _Operand:
        """The result of so many more steps."""
        self.count += steps
        return _Operand(self)


class _Operand:
    """An operand that has no value."""

    __slots__ = ("_primitives",)

    def __init__(self, primitives: _Primitives) -> None:
        self._primitives = primitives


def _counted(self: _Operand, *others: Any) -> _Operand:
    return self._primitives.made()


_OPERATORS = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and", "or", "xor", "lshift", "rshift")
for _name in _OPERATORS:
    setattr(_Operand, f"__{_name}__", _counted)
    setattr(_Operand, f"__r{_name}__", _counted)
for _name in ("neg", "pos", "abs", "invert", "lt", "le", "gt", "ge", "eq", "ne"):
    setattr(_Operand, f"__{_name}__", _counted)


__all__ = ["count_primitives", "primitives_of", "steps_of"]
