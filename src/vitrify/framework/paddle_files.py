"""What Paddle means by the objects in its `.pdparams` and `.pdopt` files. Source: files that Paddle 3.3.1 wrote."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt

from ..core.errors import FileFormatError
from ..core.meta import numel
from ..eager.tensor import Tensor, wrap

Array = npt.NDArray[Any]
NAMES = "StructuredToParameterName@@"  # key of a table from a state dict's keys to the tensors' own names
BIG = "UnpackBigParamInfor@@"  # key of a table of tensors that were cut into slices


def from_paddle(value: Any, return_numpy: bool, keep_names: bool) -> Any:
    """The object that Paddle would load: Tensors (or arrays) in place of what it stores for them.

    return_numpy: arrays instead of Tensors; keep_names: keep the table of names in a state dict.
    """
    names: dict[Any, Any] = {}
    if isinstance(value, dict):
        value = _joined(value)
        table = value.get(NAMES)
        names = table if isinstance(table, dict) else {}
        value = {key: item for key, item in value.items() if keep_names or key != NAMES}
    # Tensors are stored as (name, array), in state dicts as arrays alone. So where pairs occur, arrays are arrays.
    pairs = _has_pair(value, set())
    return _Converter(return_numpy, bare=not pairs or bool(names), names=names).convert(value)


@dataclass(frozen=True)
class _Converter:
    return_numpy: bool
    bare: bool  # whether an array alone is a tensor
    names: dict[Any, Any]
    # What objects became: one that occurs twice stays one, and a file cannot make us walk it for ever.
    done: dict[int, Any] = field(default_factory=dict)

    def convert(self, value: Any) -> Any:
        if id(value) not in self.done:
            self.done[id(value)] = self.converted(value)
        return self.done[id(value)]

    def converted(self, value: Any) -> Any:
        if isinstance(value, np.ndarray):
            return self.tensor(value, None) if self.bare else value
        if _is_pair(value):
            return self.tensor(value[1], value[0])
        if isinstance(value, dict):
            return type(value)((key, self.entry(key, item)) for key, item in value.items())
        if isinstance(value, (list, tuple)):
            return type(value)(self.convert(item) for item in value)
        return value

    def entry(self, key: Any, value: Any) -> Any:
        name = self.names.get(key)
        if isinstance(value, np.ndarray) and isinstance(name, str):
            return self.tensor(value, name)
        return self.convert(value)

    def tensor(self, array: Array, name: str | None) -> Tensor | Array:
        if self.return_numpy:
            return array
        # Paddle has no NumPy type for bfloat16 and stores its bits.
        tensor = wrap(array.view(ml_dtypes.bfloat16) if array.dtype == np.uint16 else array)
        if name is not None:
            tensor.name = name
        return tensor


def _is_pair(value: Any) -> bool:
    return type(value) is tuple and len(value) == 2 and isinstance(value[0], str) and isinstance(value[1], np.ndarray)


def _has_pair(value: Any, seen: set[int]) -> bool:
    if _is_pair(value):
        return True
    if id(value) in seen or not isinstance(value, (dict, list, tuple)):
        return False
    seen.add(id(value))
    return any(_has_pair(item, seen) for item in (value.values() if isinstance(value, dict) else value))


def _joined(state: dict[Any, Any]) -> dict[Any, Any]:
    """A state dict whose big tensors, cut into slices because old pickles end at 4 GiB, are whole again."""
    table = state.get(BIG)
    if not isinstance(table, dict):
        return state
    used = {name for entry in table.values() for name in _slices(entry)}
    whole = {key: _join(key, entry, state) for key, entry in table.items()}
    return {key: value for key, value in {**state, **whole}.items() if key != BIG and key not in used}


def _slices(entry: Any) -> list[Any]:
    slices = entry.get("slices") if isinstance(entry, dict) else None
    if not isinstance(slices, (list, tuple)) or not slices or not all(isinstance(name, str) for name in slices):
        raise FileFormatError("a tensor cut into slices does not name them")
    return list(slices)


def _join(key: Any, entry: dict[str, Any], state: dict[Any, Any]) -> Array:
    parts = [state.get(name) for name in _slices(entry)]
    shape = entry.get("OriginShape")
    arrays = [part.reshape(-1) for part in parts if isinstance(part, np.ndarray)]
    sizes = isinstance(shape, (list, tuple)) and all(type(n) is int and n >= 0 for n in shape)
    if not sizes or len(arrays) != len(parts) or numel(list(shape or ())) != sum(a.size for a in arrays):
        raise FileFormatError(f"the slices of tensor {key!r} do not make up its shape {shape}")
    return np.concatenate(arrays).reshape(tuple(shape or ()))
