"""`fused`: a group of operators on the same elements as one.

Lowering makes it, behind differentiation: it stands in programs that run, not in those that users build. Its kernel
runs the group's operators one by one, as a branch of `if` would be run; something faster may take their place
(runtime/fused.py). `body` is a closed Block of elementwise operators, whose results have one shape into which its
inputs broadcast, and of reductions over rows or columns of that shape; each with its user frames.
"""

from __future__ import annotations

from typing import Any

from .control_flow import Callee, check_block
from .registry import VARIADIC_OUTPUTS, StructuralGradient, define_op
from .work import arithmetic


def _run(xp: Any, *values: Any, body: Callee) -> tuple[Any, ...]:
    return body.consume([*values])


def _meta(*values: Any, body: Any) -> tuple[Any, ...]:
    check_block("fused", "body", body, values)
    return tuple(v.meta for v in body.outputs)


def _work(*metas: Any, body: Any) -> float:
    return sum(arithmetic(o.op, [getattr(v, "meta", None) for v in o.inputs], o.attrs) for o in body.ops)


fused_op = define_op(
    "fused",
    kernel=_run,
    meta=_meta,
    vjp=StructuralGradient("groups are made of differentiated programs"),
    outputs=VARIADIC_OUTPUTS,
    work=_work,
    native=lambda n, *values, body: n.group(body, values),
)


__all__ = ["fused_op"]
