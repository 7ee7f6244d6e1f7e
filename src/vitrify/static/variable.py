"""What Paddle's code calls a Variable: a value of a program, and in dynamic mode a Tensor."""

from __future__ import annotations

from typing import Any

from ..core.modes import PYTHON_NUMBER
from ..eager.tensor import Tensor
from ..ir.variable import Variable as ProgramVariable


class _TensorsToo(type):
    """Makes isinstance and issubclass say of tensors what they say of values of programs."""

    def __instancecheck__(cls, instance: Any) -> bool:
        if cls is not Variable:
            return super().__instancecheck__(instance)
        # What stands for a Python number in a program is an int or a float in eager code.
        value = isinstance(instance, ProgramVariable) and PYTHON_NUMBER not in vars(instance)
        return value or isinstance(instance, Tensor)

    def __subclasscheck__(cls, subclass: type) -> bool:
        if cls is not Variable:
            return super().__subclasscheck__(subclass)
        return issubclass(subclass, (Tensor, ProgramVariable))


class Variable(ProgramVariable, metaclass=_TensorsToo):
    """A value of a program, by its name; in `isinstance` a Tensor, too. Source: paddle.static.Variable.

    Example:
        >>> import vitrify as paddle
        >>> isinstance(paddle.ones([1]), paddle.static.Variable)
        True
    """


def setitem(x: Any, index: Any, value: Any) -> Any:
    """`x` after `x[index] = value`, a change in place. Source: paddle.static.setitem.

    index: a number, slice, tensor or list, or a tuple of these, one for each dimension; raises what `x[index] = value`
    raises.

    Example:
        >>> import vitrify as paddle
        >>> paddle.static.setitem(paddle.zeros([2, 2]), (slice(None), 1), 5.0).tolist()
        [[0.0, 5.0], [0.0, 5.0]]
    """
    x[index] = value
    return x


__all__ = ["Variable", "setitem"]
