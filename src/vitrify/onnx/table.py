"""The table of ONNX forms: op name -> how its nodes are written, with the parameters of the op's kernel.

A form is `form(g, *inputs, **attrs)`: inputs are `Value`s (None where left out), attributes are those of the operator,
with a `Value` where one is known only at run time. It gives a Value, or one for each output (None for an output that
nobody asked for, see `Context.wanted`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ..ir.forms import Forms
from .graph import Graph, Value

Form = Callable[..., Any]


@dataclass
class Context(Graph):
    """The graph that a form writes into, and what is known of the operator: its outputs' metas, which are wanted."""

    metas: tuple[Any, ...] = ()
    input_metas: tuple[Any, ...] = ()
    wanted: frozenset[int] = frozenset()
    op_name: str = ""
    drop_checks: bool = False
    # Writes a block of the operator into an inner graph; see blocks.py.
    inline: Callable[..., list[Value]] | None = field(default=None, repr=False)


FORMS = Forms[Form]()
