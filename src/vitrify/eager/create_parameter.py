"""Making parameters: names, attributes, initial values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core import names
from ..core.dtype import DTypeLike, as_dtype
from ..core.errors import DTypeError
from ..core.place import PlaceLike, as_place
from ..device.api import put
from .initializer import Initializer, choose_initializer
from .param_attr import ParamAttrLike, as_param_attr
from .parameter import Parameter


def new_parameter(
    owner: str,
    shape: Sequence[Any],
    dtype: DTypeLike,
    attr: ParamAttrLike = None,
    is_bias: bool = False,
    default_initializer: Initializer | None = None,
    device: PlaceLike | None = None,
) -> Parameter | None:
    """A new initialized parameter named `owner.w_0`, `owner.b_0`, ... or as `attr` says; None when `attr` is False.

    Raises DTypeError when no initializer is given for a dtype that is not floating.
    """
    chosen = as_param_attr(attr)
    if chosen is None:
        return None
    wanted = as_dtype(dtype)
    if not (wanted.is_floating or wanted.is_complex) and chosen.initializer is None and default_initializer is None:
        raise DTypeError(
            f"create_parameter: {wanted.name} has no default initializer",
            hint="pass default_initializer=paddle.nn.initializer.Constant(0)",
        )
    param = Parameter(
        [int(size) for size in shape],
        wanted,
        name=chosen.name or names.generate(f"{owner}.{'b' if is_bias else 'w'}"),
        trainable=chosen.trainable,
        optimize_attr={"learning_rate": chosen.learning_rate},
        regularizer=chosen.regularizer,
        do_model_average=chosen.do_model_average,
        need_clip=chosen.need_clip,
    )
    if device is not None:
        param._data = put(param._data, as_place(device))
    choose_initializer(chosen.initializer, default_initializer, is_bias)(param)
    return param


def create_parameter(
    shape: Sequence[Any],
    dtype: DTypeLike,
    name: str | None = None,
    attr: ParamAttrLike = None,
    is_bias: bool = False,
    default_initializer: Initializer | None = None,
) -> Parameter | None:
    """A new initialized parameter outside any Layer. Source: paddle.create_parameter.

    Example:
        >>> import vitrify as paddle
        >>> paddle.create_parameter([2, 3], "float32").shape
        [2, 3]
    """
    owner = name if name is not None else names.generate("create_parameter")
    chosen = as_param_attr(attr)
    if chosen is not None and chosen.name is None and name is not None:
        chosen.name = name
    return new_parameter(owner, shape, dtype, False if chosen is None else chosen, is_bias, default_initializer)


__all__ = ["create_parameter", "new_parameter"]
