"""Parameter: a Tensor that a Layer owns and an optimizer changes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core import names
from ..core.dtype import DTypeLike, as_dtype
from ..core.errors import DTypeError, UnsupportedError
from ..core.place import current_place
from ..device.api import put
from .holder import fill
from .lazy_init import initialize, is_initialized
from .tensor import Tensor


class Parameter(Tensor):
    """A persistable Tensor that wants a gradient, with what optimizers read of it.

    `Parameter(data, requires_grad=True)` shares memory with the Tensor `data`; `Parameter(shape, dtype, ...)` holds
    zeros until it is initialized. Source: paddle.base.framework.EagerParamBase, also called paddle.nn.Parameter.

    Attributes:
        trainable: the opposite of `stop_gradient`.
        optimize_attr: `{"learning_rate": factor}` on the optimizer's learning rate.
        regularizer: weight decay for this parameter alone, or None.
        need_clip: whether gradient clipping looks at it.
        do_model_average: whether model averaging looks at it.
        is_distributed: whether each process holds a different part.

    Example:
        >>> import vitrify as paddle
        >>> w = paddle.nn.Parameter(paddle.to_tensor([1.0, 2.0]))
        >>> w.trainable, w.stop_gradient, w.persistable
        (True, False, True)
    """

    __slots__ = ()

    _name_prefix = "_eager_param_base"

    def __init__(
        self,
        data: Tensor | Sequence[int] | None = None,
        requires_grad: Any = True,
        *,
        shape: Sequence[int] | None = None,
        dtype: DTypeLike | None = None,
        name: str | None = None,
        trainable: bool | None = None,
        optimize_attr: dict[str, Any] | None = None,
        regularizer: Any = None,
        do_model_average: bool | None = None,
        need_clip: bool = True,
        is_distributed: bool = False,
    ) -> None:
        # Paddle's two forms share positions: (data, requires_grad) and (shape, dtype).
        if shape is None and data is not None and not isinstance(data, Tensor):
            shape, data = data, None
            dtype, requires_grad = (dtype, True) if isinstance(requires_grad, bool) else (requires_grad, True)
        if isinstance(data, Tensor):
            fill(self, data._data)
            self._cell = data.version_cell()
        else:
            zeros = np.zeros((0,) if shape is None else tuple(int(d) for d in shape), as_dtype(dtype or "float32").np)
            fill(self, put(zeros, current_place()))
        self.stop_gradient = not (bool(requires_grad) if trainable is None else trainable)
        self.name = name if name is not None else names.generate(self._name_prefix)
        self.persistable = True
        self.optimize_attr = {"learning_rate": 1.0} if optimize_attr is None else optimize_attr
        self.regularizer = regularizer
        self.do_model_average = do_model_average
        self.need_clip = need_clip
        self.is_distributed = is_distributed

    @classmethod
    def from_tensor(cls, tensor: Tensor, **kwargs: Any) -> Parameter:
        """A Parameter on the memory of `tensor`."""
        return cls(tensor, **kwargs)

    @property
    def trainable(self) -> bool:
        """Whether optimizers change it and backward computes its gradient."""
        return not self.stop_gradient

    @trainable.setter
    def trainable(self, value: bool) -> None:
        if not isinstance(value, bool):
            raise DTypeError(f"trainable: expects a bool, got {type(value).__name__}")
        self.stop_gradient = not value

    def initialize(self) -> None:
        """Give a parameter made in a LazyGuard its values; raises InitializedError (an AssertionError) for others."""
        initialize(self)

    def _of_program(self) -> Any:
        """Nothing: what a program gives is a Tensor, and a copy of a parameter is a Parameter."""
        raise UnsupportedError(
            f"a copy of the parameter {self.name!r}, which would be a Parameter, too",
            hint="copy it outside of the function, or copy its values (w.detach().clone())",
        )

    def _is_initialized(self) -> bool:
        return is_initialized(self)

    def __repr__(self) -> str:
        return "Parameter containing:\n" + super().__repr__()

    __str__ = __repr__


__all__ = ["Parameter"]
