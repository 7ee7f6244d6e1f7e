"""ParamAttr: what a user says about one parameter of a Layer."""

from __future__ import annotations

from typing import Any, TypeAlias

from ..core.errors import DTypeError
from .initializer import Initializer


class ParamAttr:
    """Name, initializer, learning rate factor, regularizer and flags of one parameter.

    Where a Layer takes a `weight_attr` or `bias_attr`, a name, an Initializer, True (defaults) or False (no such
    parameter) will do as well. Source: paddle.ParamAttr.

    Example:
        >>> import vitrify as paddle
        >>> attr = paddle.ParamAttr(name="w", learning_rate=0.5)
        >>> paddle.nn.Linear(2, 3, weight_attr=attr).weight.name
        'w'
    """

    def __init__(
        self,
        name: str | None = None,
        initializer: Initializer | None = None,
        learning_rate: float = 1.0,
        regularizer: Any = None,
        trainable: bool = True,
        do_model_average: bool = True,
        need_clip: bool = True,
    ) -> None:
        self.name = name
        self.initializer = initializer
        self.learning_rate = learning_rate
        self.regularizer = regularizer
        self.trainable = trainable
        self.do_model_average = do_model_average
        self.need_clip = need_clip

    def __repr__(self) -> str:
        return "ParamAttr(" + ", ".join(f"{k}={v!r}" for k, v in vars(self).items()) + ")"


ParamAttrLike: TypeAlias = ParamAttr | Initializer | str | bool | None


def as_param_attr(value: Any) -> ParamAttr | None:
    """`value` as a ParamAttr; None stands for False, the parameter that is not made.

    Raises DTypeError for anything but a ParamAttr, name, Initializer, regularizer, bool or None.
    """
    if value is None or value is True:
        return ParamAttr()
    if value is False:
        return None
    if isinstance(value, ParamAttr):
        return value
    if isinstance(value, str):
        return ParamAttr(name=value)
    if isinstance(value, Initializer):
        return ParamAttr(initializer=value)
    if hasattr(value, "coefficients"):  # a regularizer: its class lies above this level
        return ParamAttr(regularizer=value)
    raise DTypeError(f"{type(value).__name__} cast to ParamAttr: expects a ParamAttr, name, Initializer or bool")


__all__ = ["ParamAttr", "ParamAttrLike", "as_param_attr"]
