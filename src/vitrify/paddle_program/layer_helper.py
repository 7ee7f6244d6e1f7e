"""`LayerHelper`, by which model code appends operators by their names; they run where they stand, eagerly as well."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..core.dtype import DTypeLike
from ..core.errors import ArgumentError
from ..core.sequences import as_list
from ..eager.create_parameter import create_parameter
from ..eager.param_attr import ParamAttr
from ..ops.creation import assign, empty
from .calling import call_operator

_Slots = Mapping[str, Any]


class LayerHelper:
    """Names of operators and places for their results. Source: paddle.common_ops_import.LayerHelper.

    `kwargs` are the arguments of the function that makes it, as `LayerHelper("relu", **locals())` gives them.

    Example:
        >>> import vitrify as paddle
        >>> from vitrify.common_ops_import import LayerHelper
        >>> helper = LayerHelper("relu")
        >>> out = helper.create_variable_for_type_inference("float32")
        >>> _ = helper.append_op(type="relu", inputs={"X": paddle.to_tensor([-1.0, 2.0])}, outputs={"Out": out})
        >>> out.tolist()
        [0.0, 2.0]
    """

    def __init__(self, layer_type: str, **kwargs: Any) -> None:
        self.layer_type = layer_type
        self.kwargs = kwargs
        self.name = kwargs.get("name") or layer_type

    @property
    def param_attr(self) -> Any:
        """The ParamAttr of the argument `param_attr`, or False."""
        return ParamAttr._to_attr(self.kwargs.get("param_attr"))

    @property
    def bias_attr(self) -> Any:
        """The ParamAttr of the argument `bias_attr`, or False."""
        return ParamAttr._to_attr(self.kwargs.get("bias_attr"))

    def input(self, input_param_name: str = "input") -> Any:
        """The one tensor that this argument gives; raises ArgumentError for several."""
        given = as_list(self.kwargs[input_param_name])
        if len(given) != 1:
            raise ArgumentError(f"{self.layer_type}: {input_param_name} must be one tensor, got {len(given)}")
        return given[0]

    def input_dtype(self, input_param_name: str = "input") -> Any:
        """The dtype of the tensors that this argument gives; raises ArgumentError where they have several."""
        found = {v.dtype for v in as_list(self.kwargs[input_param_name])}
        if len(found) != 1:
            raise ArgumentError(f"{self.layer_type}: {input_param_name} has the dtypes {sorted(map(str, found))}")
        return found.pop()

    def create_parameter(
        self, attr: Any, shape: Sequence[int], dtype: DTypeLike | None = None, is_bias: bool = False,
        default_initializer: Any = None,
    ) -> Any:  # fmt: skip
        """A new parameter, or None where `attr` is False."""
        if attr is False:
            return None
        return create_parameter(
            shape, dtype or "float32", attr=attr, is_bias=is_bias, default_initializer=default_initializer
        )

    def create_variable_for_type_inference(
        self, dtype: DTypeLike | None = None, stop_gradient: bool = False, shape: Any = None
    ) -> Any:
        """A tensor for a result: shape and dtype are those that `append_op` gives it."""
        return empty([0], dtype or "float32")

    def append_bias_op(self, input_var: Any, dim_start: int = 1, dim_end: int | None = None) -> Any:
        """The tensor and a new bias over its dimensions from `dim_start` on; the tensor where `bias_attr` is False."""
        if self.bias_attr is False:
            return input_var
        sizes = list(input_var.shape[dim_start:dim_end])
        bias = self.create_parameter(self.bias_attr, sizes, input_var.dtype, is_bias=True)
        out = self.create_variable_for_type_inference(input_var.dtype)
        self.append_op("elementwise_add", {"X": input_var, "Y": bias}, {"Out": out}, {"axis": dim_start})
        return out

    def append_activation(self, input_var: Any) -> Any:
        """What the activation that the argument `act` names, by text or a dict with its type, makes of it."""
        act = self.kwargs.get("act")
        if act is None:
            return input_var
        attrs = {"type": act} if isinstance(act, str) else dict(act)
        out = self.create_variable_for_type_inference(input_var.dtype)
        self.append_op(attrs.pop("type"), {"X": input_var}, {"Out": out}, attrs)
        return out

    def append_op(
        self, type: str | None = None, inputs: _Slots | None = None, outputs: _Slots | None = None,
        attrs: Mapping[str, Any] | None = None, **_: Any,
    ) -> None:  # fmt: skip
        """Run or record the operator; what it gives replaces the tensors of `outputs`, by slot, which change in place.

        Inputs are tensors or lists of them by slot. Raises ArgumentError for operators and UnsupportedError for slots
        and attributes that are not known.
        """
        given = {slot: as_list(value) for slot, value in (inputs or {}).items() if value is not None}
        settings = {name: value for name, value in (attrs or {}).items() if value is not None}
        found = call_operator(type or self.layer_type, given, settings, outputs or ())
        for slot, places in (outputs or {}).items():
            for place, value in zip(as_list(places), found.get(slot, ())):
                if value is not None:
                    assign(value, output=place)


__all__ = ["LayerHelper"]
