"""Why a program cannot be compiled ahead of time, where that is in the user's code, and what to do instead."""

from __future__ import annotations

from ...core.errors import UnsupportedError
from ...ir.program import Block, Operator

_WAY_OUT = "leave it to Python before or after the call, write it in other operators, or save in another format"
_FORMATS = "or save in another format"


def refusal(where: str, operator: Operator, reason: str) -> UnsupportedError:
    """The error for an operator of the program called `where`; reason: what its form says of it."""
    name, at, hint = operator.op.name, operator, _WAY_OUT
    function = operator.attrs.get("function")
    if name == "call" and isinstance(function, Block):
        reason, at = "it calls itself, and native programs have no recursion", _inner_call(function) or operator
        name, hint = function.name or name, f"write it as a loop, {_FORMATS}"
    elif operator.op.random:
        reason, hint = "native programs draw no random numbers", f"take what is random as an input, {_FORMATS}"
    elif operator.op.effect:
        reason = "it acts on the Python process, which a native program runs without"
        hint = f"return the value and do this behind the call, {_FORMATS}"
    loc = at.locs[0] if at.locs else None
    return UnsupportedError(f"{where}: {name} cannot be compiled ahead of time: {reason}", loc=loc, hint=hint)


def _inner_call(block: Block) -> Operator | None:
    """The call inside of a function that is the recursive one: the outermost one is that of whoever saves it."""
    for operator in block.ops:
        if operator.op.name == "call":
            return operator
        for inner in operator.blocks.values():
            found = _inner_call(inner)
            if found is not None:
                return found
    return None


__all__ = ["refusal"]
