"""`paddle._legacy_C_ops`: operators by their names in Paddle's programs, `relu(x)`, `scale(x, "scale", 2.0)`.

Inputs come first, None for those left out, then pairs of an attribute's name and its value. Each operator that
`paddle_program` reads is here; others raise AttributeError.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from .core.errors import ArgumentError
from .core.sequences import as_list
from .paddle_program.calling import call_operator, row_of, rows_of

# Where the outputs stand in another order than in newer programs.
_ORDERS = {"distribute_fpn_proposals": ("MultiFpnRois", "RestoreIndex", "MultiLevelRoIsNum")}


def _call(kind: str, *arguments: Any) -> Any:
    at = next((i for i, a in enumerate(arguments) if isinstance(a, str)), len(arguments))
    attrs = dict(zip(arguments[at::2], arguments[at + 1 :: 2]))
    # A plain number among the inputs says how many tensors an output holds.
    given = [a for a in arguments[:at] if not isinstance(a, int)]
    slots = [slot.slots[0][0] for slot in rows_of(kind)[0].inputs if slot.slots]
    inputs = {s: as_list(a) for s, a in zip(slots, given) if a is not None}
    found = call_operator(kind, inputs, attrs)
    row = row_of(kind, inputs, attrs)
    many = {out.slot for out in row.outputs if out.many}
    order = _ORDERS.get(kind, [out.slot for out in row.outputs])
    outs = tuple(found[slot] if slot in many else found[slot][0] for slot in order)
    return outs if len(outs) > 1 else outs[0]


def __getattr__(name: str) -> Callable[..., Any]:
    try:
        rows_of(name)
    except ArgumentError as err:
        raise AttributeError(str(err)) from None
    return partial(_call, name)
