"""Layer: the base class of everything with parameters. It lives here because `jit`, below `nn`, must recognise it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ..core import names
from ..core.dtype import DTypeLike, as_dtype, default_dtype
from ..core.errors import ArgumentError, DTypeError
from ..core.place import PlaceLike
from .create_parameter import new_parameter
from .initializer import Initializer
from .layer_cast import LayerCast
from .layer_hooks import LayerHooks
from .layer_object_helper import LayerObjectHelper
from .layer_state import LayerState
from .layer_tree import LayerTree
from .param_attr import ParamAttrLike
from .tensor import Tensor, wrap

_WORD = re.compile(r"(.)([A-Z][a-z]+)")
_EDGE = re.compile(r"([a-z])([A-Z])")


def snake_case(name: str) -> str:
    """A class name as Paddle names its Layers: `Conv2DTranspose` is `conv2d_transpose`."""
    return _EDGE.sub(r"\1_\2", _WORD.sub(r"\1_\2", name)).lower()


class Layer(LayerTree, LayerHooks, LayerState, LayerCast):
    """A part of a model: parameters, buffers and sublayers as attributes, and `forward`.

    name_scope: prefix of parameter names, by default the class's name in snake case. dtype: what `create_parameter`
    uses. `training` says which mode it is in. Source: paddle.nn.Layer.

    Example:
        >>> import vitrify as paddle
        >>> class Net(paddle.nn.Layer):
        ...     def __init__(self):
        ...         super().__init__()
        ...         self.fc = paddle.nn.Linear(4, 2)
        ...     def forward(self, x):
        ...         return self.fc(x)
        >>> Net()(paddle.ones([3, 4])).shape
        paddle.Size([3, 2])
    """

    def __init__(self, name_scope: str | None = None, dtype: DTypeLike = "float32") -> None:
        self._make_tables()
        self._make_hooks()
        self.training = True
        self._dtype = as_dtype(dtype).name
        self._full_name = names.generate(name_scope if name_scope is not None else snake_case(type(self).__name__))

    def full_name(self) -> str:
        """The name that prefixes those of its parameters, such as `linear_0`."""
        return self._full_name

    @property
    def _helper(self) -> LayerObjectHelper:  # Layers written for Paddle 1.x take their dtype from it
        return LayerObjectHelper(self)

    # -- making parameters ------------------------------------------------------------------------------------------

    def create_parameter(
        self,
        shape: Sequence[Any],
        attr: ParamAttrLike = None,
        dtype: DTypeLike | None = None,
        is_bias: bool = False,
        default_initializer: Initializer | None = None,
        device: PlaceLike | None = None,
    ) -> Any:
        """A new initialized Parameter, not yet an attribute; None when `attr` is False.

        Without other word weights are drawn by XavierUniform and biases are zero. Raises DTypeError for a dtype without
        a default initializer. Source: paddle.nn.Layer.create_parameter.
        """
        if dtype is None:  # "float32" is also what a Layer has when nobody chose
            dtype = default_dtype() if self._dtype == "float32" else self._dtype
        return new_parameter(self._full_name, shape, dtype, attr, is_bias, default_initializer, device)

    def create_tensor(
        self, name: str | None = None, persistable: bool | None = None, dtype: DTypeLike | None = None
    ) -> Tensor:
        """A new empty Tensor, not yet an attribute. Source: paddle.nn.Layer.create_tensor."""
        out = wrap(np.zeros((0,), as_dtype("float32" if dtype is None else dtype).np))
        out.name = name if name is not None else names.generate_part(self._full_name, "_generated_var")
        out.persistable = bool(persistable)
        return out

    create_variable = create_tensor

    # -- the tree by path -------------------------------------------------------------------------------------------

    def apply(self, fn: Callable[[Any], Any]) -> Any:
        """This Layer, after `fn` was called on every sublayer below, children first, and then on itself."""
        for layer in self.children():
            layer.apply(fn)
        fn(self)
        return self

    def get_sublayer(self, target: str) -> Layer:
        """The sublayer at a dotted path; the Layer itself for "". Raises ArgumentError if there is none."""
        layer = self
        for name in target.split(".") if target else ():
            below: Layer | None = layer._sub_layers.get(name)
            if below is None:
                raise ArgumentError(f"{type(self).__name__} has no sublayer {target!r} (nothing at {name!r})")
            layer = below
        return layer

    def set_sublayer(self, target: str, layer: Layer, strict: bool = False) -> None:
        """Put `layer` at a dotted path whose parent exists; with `strict` only in place of another one."""
        parent, _, name = target.rpartition(".")
        owner = self.get_sublayer(parent)
        if not name or (strict and name not in owner._sub_layers):
            raise ArgumentError(f"{type(self).__name__} has no sublayer {target!r} to replace")
        owner.add_sublayer(name, layer)

    def _entry(self, table: str, target: str) -> Any:
        parent, _, name = target.rpartition(".")
        found = self.get_sublayer(parent).__dict__[table].get(name)
        if found is None:
            raise ArgumentError(f"{type(self).__name__} has no {table.strip('_').rstrip('s')} {target!r}")
        return found

    def get_parameter(self, target: str) -> Any:
        """The parameter at a dotted path; raises ArgumentError if there is none."""
        return self._entry("_parameters", target)

    def get_buffer(self, target: str) -> Tensor:
        """The buffer at a dotted path; raises ArgumentError if there is none."""
        found: Tensor = self._entry("_buffers", target)
        return found

    # -- other spellings --------------------------------------------------------------------------------------------

    def add_module(self, name: str, module: Any) -> Any:
        """`add_sublayer`, by the name that PyTorch has for it."""
        return self.add_sublayer(name, module)

    def register_parameter(self, name: str, param: Any) -> Any:
        """`add_parameter`, by the name that PyTorch has for it."""
        return self.add_parameter(name, param)

    register_module = add_module
    get_submodule = get_sublayer
    set_submodule = set_sublayer

    def modules(self) -> Iterator[Layer]:
        """This Layer and all sublayers below, each once."""
        return iter(self.sublayers(include_self=True))

    def named_modules(
        self, memo: set[Any] | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Layer]]:
        """Dotted names of this Layer and of all sublayers below."""
        return self.named_sublayers(prefix, True, memo, remove_duplicate)

    # -- text -------------------------------------------------------------------------------------------------------

    def extra_repr(self) -> str:
        """What stands between the parentheses of `repr`; Layers with settings override it."""
        return ""

    def __repr__(self) -> str:
        extra = self.extra_repr().split("\n") if self.extra_repr() else []
        below = [
            f"({name}): " + repr(layer).replace("\n", "\n  ")
            for name, layer in self._sub_layers.items()
            if layer is not None
        ]
        head = type(self).__name__ + "("
        if len(extra) <= 1 and not below:
            return head + "".join(extra) + ")"
        first = extra[0] if len(extra) == 1 else ""
        lines = ([] if len(extra) == 1 else extra) + below
        return head + first + "\n  " + "\n  ".join(lines) + "\n)"

    def backward(self, *inputs: Any) -> Any:
        """Refused: a Layer's gradient follows from the ops it calls."""
        raise DTypeError(f"{type(self).__name__}: a Layer has no backward", hint="call loss.backward() on a Tensor")


__all__ = ["Layer", "snake_case"]
