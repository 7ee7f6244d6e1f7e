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

    @staticmethod
    def _to_attr(arg: Any) -> Any:
        """`arg` as a ParamAttr or a list of them, False where there is to be no parameter."""
        if isinstance(arg, (list, tuple)):
            return [ParamAttr._to_attr(one) for one in arg]
        return as_param_attr(arg) or False

    def __repr__(self) -> str:
        return "ParamAttr(" + ", ".join(f"{k}={v!r}" for k, v in vars(self).items()) + ")"


class WeightNormParamAttr(ParamAttr):
    """A parameter that is computed of two others, its length and its direction: w = g * v / |v|.

    dim: along it each slice of w has a length of its own; None: one length. Made in programs of static mode only, as
    `NAME_g` and `NAME_v`; Layers have `nn.utils.weight_norm`.
    Source: paddle.static.WeightNormParamAttr; Salimans, Kingma 2016.

    Example:
        >>> import vitrify as paddle
        >>> main = paddle.static.Program()
        >>> with paddle.static.program_guard(main, paddle.static.Program()):
        ...     x = paddle.static.data("x", [None, 4])
        ...     y = paddle.static.nn.fc(x, 3, weight_attr=paddle.static.WeightNormParamAttr(1, "w"), bias_attr=False)
        >>> [(p.name, p.shape) for p in main.all_parameters()]
        [('w_v', paddle.Size([4, 3])), ('w_g', paddle.Size([1, 3]))]
    """

    def __init__(
        self,
        dim: int | None = None,
        name: str | None = None,
        initializer: Initializer | None = None,
        learning_rate: float = 1.0,
        regularizer: Any = None,
        trainable: bool = True,
        do_model_average: bool = False,
        need_clip: bool = True,
    ) -> None:
        super().__init__(name, initializer, learning_rate, regularizer, trainable, do_model_average, need_clip)
        self.dim = dim


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


__all__ = ["ParamAttr", "ParamAttrLike", "WeightNormParamAttr", "as_param_attr"]
