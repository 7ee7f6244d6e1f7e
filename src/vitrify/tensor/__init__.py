"""Functions of tensors by the paths that model code imports them from. Source: paddle.tensor.

As in Paddle, `paddle.tensor` is a function, too: `paddle.tensor([1.0, 2.0])`.
"""

# ruff: noqa: F403

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from ..eager.tensor import to_tensor
from .array import *
from .attribute import *
from .creation import *
from .linalg import *
from .logic import *
from .manipulation import *
from .math import *
from .ops import *
from .random import *
from .search import *
from .stat import *


class _TensorModule(ModuleType):
    """A module that can be called."""

    def __call__(
        self, data: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False, pin_memory: bool = False
    ) -> Any:
        """A Tensor with a copy of `data`, at `device` (by default the current place); see `paddle.to_tensor`.

        `pin_memory` is accepted: where a copy to a GPU needs pinned memory, it takes some for itself.

        Example:
            >>> import vitrify as paddle
            >>> paddle.tensor([1.0, 2.0], requires_grad=True).stop_gradient
            False
        """
        return to_tensor(data, dtype, device, not requires_grad)


sys.modules[__name__].__class__ = _TensorModule
