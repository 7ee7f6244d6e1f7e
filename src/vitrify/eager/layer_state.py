"""state_dict: the parameters and buffers of a Layer by name, out and in."""

from __future__ import annotations

import warnings
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.errors import UserCodeError
from ..ops.methods import TensorMethods
from .tensor import Tensor, to_tensor

if TYPE_CHECKING:
    pass

StateDict = dict[str, Any]


class StateDictError(UserCodeError, RuntimeError):
    """A state dict does not have the keys that a Layer has."""


class LayerState:
    """Saving and restoring what a Layer has learned."""

    _parameters: dict[str, Any]
    _buffers: dict[str, Any]
    _sub_layers: dict[str, Any]
    _non_persistable_buffer_names_set: set[str]
    _state_dict_hooks: dict[int, Callable[..., Any]]

    def _own_state(self, with_all_buffers: bool) -> Iterator[tuple[str, Tensor]]:
        for name, param in self._parameters.items():
            if param is not None:
                yield name, param
        for name, buffer in self._buffers.items():
            if buffer is not None and (with_all_buffers or name not in self._non_persistable_buffer_names_set):
                yield name, buffer

    def _collect(
        self, destination: StateDict | None, sublayers: bool, prefix: str, use_hook: bool, keep_vars: bool, all_: bool
    ) -> StateDict:
        found: StateDict = OrderedDict() if destination is None else destination
        for name, tensor in self._own_state(all_):
            found[prefix + name] = tensor if keep_vars else tensor.detach()
        if sublayers:
            for name, layer in self._sub_layers.items():
                if layer is not None:
                    found = layer._collect(found, True, f"{prefix}{name}.", use_hook, keep_vars, all_)
        if use_hook:
            for hook in list(self._state_dict_hooks.values()):
                replaced = hook(found)
                found = found if replaced is None else replaced
        return found

    def state_dict(
        self,
        destination: StateDict | None = None,
        include_sublayers: bool = True,
        structured_name_prefix: str = "",
        use_hook: bool = True,
        keep_vars: bool = True,
    ) -> StateDict:
        """Parameters and persistable buffers by dotted name: the tensors themselves, not copies.

        destination: a dict to add to. keep_vars: False gives tensors off the tape. Source: paddle.nn.Layer.state_dict.

        Example:
            >>> import vitrify as paddle
            >>> list(paddle.nn.Linear(2, 3).state_dict())
            ['weight', 'bias']
        """
        return self._collect(destination, include_sublayers, structured_name_prefix, use_hook, keep_vars, False)

    def to_static_state_dict(
        self,
        destination: StateDict | None = None,
        include_sublayers: bool = True,
        structured_name_prefix: str = "",
        use_hook: bool = True,
        keep_vars: bool = True,
    ) -> StateDict:
        """`state_dict` with the buffers that are not persistable as well: all that a saved program needs."""
        return self._collect(destination, include_sublayers, structured_name_prefix, use_hook, keep_vars, True)

    def set_state_dict(
        self, state_dict: Mapping[str, Any], use_structured_name: bool = True
    ) -> tuple[list[str], list[str]]:
        """Copy values into parameters and buffers; returns the keys that are missing and those that are left over.

        An entry of another shape is both, with a warning. use_structured_name: False matches by `Parameter.name`.
        Raises DTypeError when a dtype cannot be cast safely. Source: paddle.nn.Layer.set_state_dict.
        """
        missing: list[str] = []
        used: set[str] = set()
        for key, tensor in self.state_dict(use_hook=False).items():
            name = key if use_structured_name else tensor.name
            if name not in state_dict:
                missing.append(key)
                warnings.warn(f"Skip loading for {key}. {key} is not found in the provided dict.", stacklevel=2)
                continue
            value = state_dict[name]
            shape = list(value.shape if isinstance(value, TensorMethods) else np.shape(value))
            if shape != tensor.shape:
                missing.append(key)
                warnings.warn(
                    f"Skip loading for {key}. {key} receives a shape {shape}, "
                    f"but the expected shape is {list(tensor.shape)}.",
                    stacklevel=2,
                )
                continue
            used.add(name)
            _load(tensor, value)
        return missing, [key for key in state_dict if key not in used]

    set_dict = set_state_dict
    load_dict = set_state_dict

    def load_state_dict(
        self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False
    ) -> tuple[list[str], list[str]]:
        """`set_state_dict`, which raises StateDictError (a RuntimeError) for keys that do not match when `strict`."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            missing, unexpected = self.set_state_dict(state_dict)
        if strict and (missing or unexpected):
            lists = (("Missing", missing), ("Unexpected", unexpected))
            lines = [f"{what} key(s): {', '.join(map(repr, keys))}" for what, keys in lists if keys]
            raise StateDictError(f"load_state_dict: {type(self).__name__} has other keys\n  " + "\n  ".join(lines))
        return missing, unexpected


def _load(tensor: Tensor, value: Any) -> None:
    """Copy one entry; floating values are cast to the tensor's own floating dtype."""
    if not isinstance(tensor, Tensor):  # a parameter of a program: its scope takes the value
        tensor.set_value(value)
        return
    if isinstance(value, TensorMethods) and not isinstance(value, Tensor):  # what a program computes
        both = value.dtype.is_floating and tensor.dtype.is_floating
        tensor.set_value(value.astype(tensor.dtype) if both and value.dtype is not tensor.dtype else value)
        return
    given = value if isinstance(value, Tensor) else to_tensor(np.asarray(value))
    if given.dtype is not tensor.dtype and given.dtype.is_floating and tensor.dtype.is_floating:
        given = given.detach()
        given._cast_data(tensor.dtype)
    tensor.set_value(given)


__all__ = ["LayerState", "StateDictError"]
