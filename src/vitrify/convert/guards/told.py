"""What running a program again would tell others a second time: calls of functions, text for files.

An exception ends a program before it has changed anything; the function then runs as Python, from the start, to change
what it changes before it raises (`jit/unfinished.py`).
"""

from __future__ import annotations

from ...core.errors import UnsupportedError
from ...eager.host_ops import assert_op, effect_op, print_op, raise_op, seed_op
from ...eager.log_records import logger_of
from ...ir.attributes import reachable_blocks
from ...ir.program import Block, Operator
from ..state.journal import is_anything_changed
from ..values.base import builder


def is_repeatable(block: Block) -> bool:
    """Whether nobody but the console, and logs, was told of what the block does."""
    return not any(_tells(op) for inner in reachable_blocks(block, lambda b: b.ops) for op in inner.ops)


def _tells(op: Operator) -> bool:
    if op.op is print_op:
        return op.attrs["file"] not in (None, "stderr")
    if op.op is effect_op and logger_of(op.attrs["call"]) is not None:
        return False
    return op.op.effect and op.op not in (raise_op, assert_op, seed_op)


def refuse_if_told(what: str) -> None:
    """Raise UnsupportedError where an exception can end the program after it told of something and changed something.

    Neither can be done again, then, nor left out.
    """
    if not (builder().current or is_anything_changed()):
        return
    block: Block | None = builder().block
    while block is not None:
        if not is_repeatable(block):
            raise UnsupportedError(
                f"a tensor decides whether {what} is raised here, after Python objects or arguments were changed and "
                "a file was written to, or a function of Python's was called (such as one that warns)",
                hint="check before anything is changed, or convert with full_graph=False",
            )
        block = block.parent
