"""What an optimizer keeps: parameter groups, and for each parameter its state arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core.dispatch import in_dynamic_mode
from ..core.errors import ArgumentError, DTypeError
from ..device.api import namespace_of
from ..eager.tensor import Tensor, wrap
from ..ops.methods import TensorMethods
from ..regularizer import L2Decay, WeightDecayRegularizer

HALF = 2  # bytes of the 16-bit float types, which are updated in float32


@dataclass(eq=False)
class Group:
    """Parameters that share settings.

    Fields:
        options: what the user's dict said, beside `params`.
        lr: factor on the learning rate; None leaves it to each parameter's `optimize_attr`.
        decay: L1 and L2 coefficients.
        own_decay: whether a parameter's own regularizer comes before `decay`.
        clip: gradient clipping, or None.
        attrs: the rule's attributes.
    """

    params: list[Any]
    options: Mapping[str, Any]
    lr: float | None
    decay: tuple[float, float]
    clip: Any
    attrs: dict[str, Any]
    own_decay: bool = True


class ParameterSettings:
    """What an optimizer decides once for a parameter: the rule's attributes, weight decay, rate, name of the state.

    half: whether it is a 16-bit parameter, which is updated in float32; keep_master: whether that copy is kept.
    """

    __slots__ = ("attrs", "decay", "half", "keep_master", "lr", "name", "param", "tag")

    def __init__(self, param: Any, group: Group, half: bool, keep_master: bool, tag: str | None = None) -> None:
        self.param = param
        self.attrs = group.attrs
        own = getattr(param, "regularizer", None) if group.own_decay else None
        self.decay = group.decay if own is None else own.coefficients
        self.lr = _lr_factor(param, group)
        self.half = half
        self.keep_master = half and keep_master
        self.name = f"{param.name}_fp32_master_0" if self.keep_master else param.name
        self.tag = "" if tag is None else f"{tag}_"

    def key(self, state: str) -> str:
        """What the state is called in state dicts, but for the count at its end: an optimizer's own name is in it."""
        return f"{self.name}_{self.tag}{state}"


class Slot(ParameterSettings):
    """One parameter's place in the optimizer: the array that is updated and the state beside it.

    `master` is the float32 array that a 16-bit parameter is updated through; it is kept between steps with
    multi_precision, and rounded back from the parameter at each step without.
    """

    __slots__ = ("_tensors", "arrays", "counters", "master")

    def __init__(self, param: Any, group: Group, keep_master: bool, tag: str | None = None) -> None:
        array = param._data
        super().__init__(param, group, array.dtype.itemsize == HALF, keep_master, tag)
        self.master = array.astype(np.float32) if self.half else None
        self.arrays: list[Any] = []
        self.counters: list[Any] = []
        self._tensors: dict[str, Tensor] = {}

    def tensors(self, names: Sequence[str]) -> list[Tensor]:
        """The state, which is called so, as Tensors on its memory: always the same ones, for programs know them."""
        return [self._as_tensor(name, array) for name, array in zip(names, (*self.arrays, *self.counters))]

    def master_tensor(self) -> Tensor:
        """The float32 copy as a Tensor on its memory."""
        return self._as_tensor("fp32_master", self.master)

    def _as_tensor(self, name: str, array: Any) -> Tensor:
        found = self._tensors.get(name)
        if found is None:
            found = self._tensors[name] = wrap(array)
            found.name = f"{self.param.name}_{name}_0" if array is self.master else f"{self.key(name)}_0"
        return found

    @property
    def dtype(self) -> Any:
        """The dtype that the update is computed in."""
        return self.param._data.dtype if self.master is None else self.master.dtype

    def full(self, shape: tuple[int, ...], value: float) -> Any:
        """A new state array at the parameter's place, filled with `value`."""
        return namespace_of((self.param._data,)).full(shape, value, self.dtype)

    def begin(self) -> Any:
        """The array to update in place."""
        if self.master is None:
            array = self.param._data
            if not getattr(array.flags, "writeable", True):  # e.g. mapped from a file
                array = self.param._data = array.copy()
            return array
        if not self.keep_master:
            self.master[...] = self.param._data
        return self.master

    def finish(self) -> None:
        """Make the updated array the parameter's value."""
        if self.master is not None:
            self.param._data[...] = self.master
        self.param.version_cell()[0] += 1


def _lr_factor(param: Any, group: Group) -> float:
    if group.lr is not None:
        return group.lr
    attr = getattr(param, "optimize_attr", None)
    return float(attr["learning_rate"]) if attr else 1.0


def decay_coefficients(owner: str, weight_decay: Any) -> tuple[float, float]:
    """The L1 and L2 coefficients that `weight_decay` (None, a number or a regularizer) stands for."""
    if weight_decay is None:
        return 0.0, 0.0
    if isinstance(weight_decay, WeightDecayRegularizer):
        return weight_decay.coefficients
    if isinstance(weight_decay, (int, float, np.number)) and not isinstance(weight_decay, bool):
        return L2Decay(float(weight_decay)).coefficients
    raise DTypeError(
        f"{owner}: weight_decay must be a number, L1Decay, L2Decay or None, got {type(weight_decay).__name__}"
    )


def check_parameters(owner: str, parameters: Any) -> list[Any]:
    """`parameters` as a list of parameters, or of dicts with "params"; raises for anything else.

    In static mode none need be given: `minimize` finds those of the program.
    """
    if parameters is None and not in_dynamic_mode():
        return []
    if parameters is None:
        raise ArgumentError(f"{owner}: parameters must be given", hint=f"pass parameters=model.parameters() to {owner}")
    if isinstance(parameters, (TensorMethods, Mapping)) or not hasattr(parameters, "__iter__"):
        raise DTypeError(
            f"{owner}: parameters must be a list of Tensors or of dicts, got {type(parameters).__name__}",
            hint="put it in a list",
        )
    found = list(parameters)
    for item in found:
        if not isinstance(item, (TensorMethods, Mapping)):
            raise DTypeError(f"{owner}: parameters holds a {type(item).__name__}, expected Tensors")
    return found


def group_params(owner: str, options: Mapping[str, Any], seen: set[int]) -> list[Any]:
    """The parameters of one group's dict; raises when one is in another group too."""
    params = options.get("params")
    if isinstance(params, TensorMethods):
        params = [params]
    if not isinstance(params, Sequence):
        raise DTypeError(
            f'{owner}: a parameter group needs "params", a list of Tensors; got {type(params).__name__}',
            hint="sets have no order, which would make the state's order differ between runs",
        )
    if any(id(p) in seen for p in params):
        raise ArgumentError(f"{owner}: some parameters appear in more than one parameter group")
    seen.update(id(p) for p in params)
    return list(params)
