"""`paddle._C_ops`: operators as model code calls them past the public functions, all arguments in order.

Here are those of detectors, which have no public function of the same arguments, and `argsort`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from .ops.sort import argsort as _argsort
from .ops.sort import sort as _sort
from .paddle_program.graph import Node
from .paddle_program.importing import run_node
from .paddle_program.table import ROWS

_DETECTION = frozenset((
    "box_coder", "distribute_fpn_proposals", "generate_proposals", "matrix_nms", "multiclass_nms3", "prior_box",
    "roi_align", "roi_pool",
))  # fmt: skip


def _call(name: str, *arguments: Any) -> Any:
    row = ROWS[name]
    inputs, settings = list(arguments[: len(row.inputs)]), arguments[len(row.inputs) :]
    attrs = dict(zip((a.name for a in row.attrs), settings))
    outs = tuple(run_node(Node(name, inputs, [], attrs), inputs))
    return outs if len(outs) > 1 else outs[0]


def argsort(x: Any, axis: int = -1, descending: bool = False, stable: bool = False) -> tuple[Any, Any]:
    """The sorted elements, and the indices that sort x."""
    return _sort(x, axis, descending, stable), _argsort(x, axis, descending, stable)


def __getattr__(name: str) -> Callable[..., Any]:
    if name not in _DETECTION:
        raise AttributeError(f"there is no operator {name!r} in paddle._C_ops here; call its public function")
    return partial(_call, name)
