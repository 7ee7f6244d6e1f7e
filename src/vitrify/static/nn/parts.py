"""What the layers of `static.nn` share: their parameters, and activations by name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core import names
from ...core.errors import ArgumentError, ShapeError
from ...core.meta import UNKNOWN
from ...core.suggest import did_you_mean
from ...eager.create_parameter import new_parameter
from ...eager.initializer import Initializer
from ...eager.param_attr import ParamAttrLike
from ...ir.program import Variable
from ...ir.surgery import rename_result
from ...ops import activation, softmax
from ...ops.special import sigmoid
from ...ops.trig import tanh

_ACTIVATIONS: dict[str, Any] = {
    "sigmoid": sigmoid,
    "tanh": tanh,
    **{name: getattr(family, name) for family in (activation, softmax) for name in family.FUNCTIONAL},
}
del _ACTIVATIONS["leaky_relu"]  # Paddle's operator has another slope where none is given: 0.02


class Owner:
    """A layer made by one call: parameters named `kind_0.w_0`, `kind_0.b_0`, ..., or as `name` says."""

    def __init__(self, kind: str, name: str | None, dtype: Any) -> None:
        self.kind = kind
        self.full_name = names.generate(kind) if name is None else name
        self.dtype = dtype

    def weight(self, shape: Sequence[int], attr: ParamAttrLike, initializer: Initializer | None = None) -> Any:
        """A new weight; None when `attr` is False."""
        return new_parameter(self.full_name, shape, self.dtype, attr, False, initializer)

    def bias(self, shape: Sequence[int], attr: ParamAttrLike) -> Any:
        """A new bias of zeros; None when `attr` is False."""
        return new_parameter(self.full_name, shape, self.dtype, attr, True)

    def named(self, out: Any, skip: int = 0) -> Any:
        """`out` under the layer's next name of results, `kind_0.tmp_0`; skip: how many Paddle gives before.

        Paddle names the results of operators that are one with others here, or that nobody reads.
        """
        for _ in range(skip):
            names.generate_part(self.full_name, "tmp")
        name = names.generate_part(self.full_name, "tmp")
        return rename_result(out, name) if isinstance(out, Variable) else out

    def activated(self, out: Any, act: str | None) -> Any:
        """`out` after the activation of that name, or after Paddle's operator of that name.

        Raises ArgumentError for a name that none has.
        """
        if act is None:
            return out
        found = _ACTIVATIONS.get(act)
        if found is None:
            return self._operated(out, act)
        return self.named(found(out))

    def _operated(self, out: Any, act: str) -> Any:
        """What Paddle's operator of that name makes of `out`."""
        block = out.block
        made = block.create_var(name=names.generate_part(self.full_name, "tmp"))
        try:
            block.append_op(type=act, inputs={"X": out}, outputs={"Out": made})
        except ArgumentError:
            hint = did_you_mean(act, _ACTIVATIONS)
            raise ArgumentError(f"{self.kind}: there is no activation {act!r}", hint=hint) from None
        return made

    def known(self, size: int, what: str) -> int:
        """`size`, which a parameter's shape follows; raises ShapeError when it is known only at run time."""
        if size == UNKNOWN:
            raise ShapeError(f"{self.kind}: {what} must be known when the program is written, for a parameter's shape")
        return int(size)
