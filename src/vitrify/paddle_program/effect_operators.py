"""Paddle's operators that are there for what they do: print and assert."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import tensor as T
from ..ir.known_values import as_tensor
from ..ops.registry import get_op
from ..static.printing import failed_assertion
from .operator_table import reads

_FLAGS = ("name", "type", "shape", "layout", "lod")


@reads("print")
def print_(
    x: Any, *, first_n: int = -1, message: str = "", summarize: int = 20, print_tensor_name: bool = True,
    print_tensor_type: bool = True, print_tensor_shape: bool = True, print_tensor_layout: bool = True,
    print_tensor_lod: bool = True, print_phase: str = "BOTH", is_forward: bool = True,
) -> Any:  # fmt: skip
    """x, which is printed; the first times alone are not told apart from others."""
    given = (print_tensor_name, print_tensor_type, print_tensor_shape, print_tensor_layout, print_tensor_lod)
    shown = tuple(flag for flag, wanted in zip(_FLAGS, given) if wanted)
    phases = {"FORWARD": ("forward",), "BACKWARD": ("backward",)}.get(print_phase.upper(), ("forward", "backward"))
    return get_op("print_tensor")(
        as_tensor(x), label="x", message=message or None, summarize=summarize, shown=shown, phases=phases, counter=None
    )[0]


@reads("assert")
def assert_(condition: Any, data: Sequence[Any] = (), *, summarize: int = -1) -> list[Any]:
    """Nothing; a condition that does not hold raises AssertError with what is in `data`."""
    shown = [as_tensor(v) for v in data]
    flag = T.all(T.cast(as_tensor(condition), "bool"))
    get_op("assert")(flag, *shown, error=failed_assertion(len(shown), summarize))
    return []
