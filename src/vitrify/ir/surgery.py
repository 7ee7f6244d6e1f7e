"""Changing programs by hand: operators put in, taken out, exchanged; variables renamed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..core.errors import ArgumentError, DTypeError, IndexRangeError
from ..core.source import user_frames
from ..core.suggest import did_you_mean
from ..ops.registry import OpDef, all_ops
from .builder import Builder, building
from .program import Block, Operator, Program, Variable, position

Inputs = Mapping[str, Any] | Sequence[Any]


def find_op(name: str) -> OpDef:
    """The op of that name, ours or Paddle's; raises ArgumentError when there is none."""
    ops = {op.name: op for op in all_ops()}
    found = ops.get(name) or next((op for op in ops.values() if op.maps.get("paddle") == name), None)
    if found is None:
        raise ArgumentError(f"no op is named {name!r}", hint=did_you_mean(name, ops))
    return found


def insert_op(
    block: Block, index: int, op: OpDef | str, inputs: Inputs = (), attrs: Mapping[str, Any] | None = None,
    outputs: Sequence[Variable] | None = None,
) -> Operator:  # fmt: skip
    """The new operator, put before the one that is number `index` now; an index as long as the list appends it.

    inputs: Variables and numbers in the op's order, or by the names of its inputs. outputs: the variables it writes,
    new ones by default. Raises what the op itself raises for inputs that do not fit, ArgumentError for unknown names,
    for an index out of range and for inputs that only operators behind it write.

    Example:
        >>> import vitrify as paddle
        >>> from vitrify.ir.surgery import insert_op
        >>> main = paddle.static.Program()
        >>> with paddle.static.program_guard(main):
        ...     x = paddle.static.data("x", [2])
        ...     y = x + 1
        >>> doubled = insert_op(main.global_block(), 0, "multiply", [x, 2.0])
        >>> [op.op.name for op in main.global_block().ops]
        ['multiply', 'add']
    """
    if not 0 <= index <= len(block.ops):
        raise ArgumentError(f"insert_op: index {index} is outside the {len(block.ops)} operators")
    op = find_op(op) if isinstance(op, str) else op
    attrs = attrs or {}
    _check_attrs(op, attrs)
    builder = Builder(block.program)
    builder.block = block
    mark, known = len(block.ops), set(block.vars)
    with building(builder), builder.at(user_frames(2)):
        made = op(*_ordered(op, inputs), **attrs)
    fresh = block.ops[mark:]
    del block.ops[mark:]
    operator = fresh[-1]  # casts of operands come before it
    reason = _unwritten(block, index, fresh) or (None if outputs is None else _misfit(operator, outputs))
    if reason is not None:
        for name in set(block.vars) - known:
            del block.vars[name]
        raise ArgumentError(reason)
    if outputs is not None:
        for var in made if isinstance(made, (list, tuple)) else [made]:
            del block.vars[var.name]
        operator.outputs = tuple(outputs)
    block.ops[index:index] = fresh
    return operator


def _check_attrs(op: OpDef, attrs: Mapping[str, Any]) -> None:
    wrong = sorted(set(op.attrs) ^ set(attrs))
    if wrong:
        what = "needs the attribute" if wrong[0] in op.attrs else "has no attribute"
        raise ArgumentError(f"{op.name} {what} {wrong[0]!r}, its attributes are {', '.join(op.attrs) or 'none'}")


def _unwritten(block: Block, index: int, fresh: Sequence[Operator]) -> str | None:
    """Which value these operators would read at `index` before anything writes it; None if there is none."""
    written = {v for op in (*block.ops[:index], *fresh) for v in op.outputs}
    later = {v: op for op in block.ops[index:] for v in op.outputs if not v.persistable} if fresh else {}
    for var in (v for op in fresh for v in op.variables):
        if var in later and var not in written and position(block.inputs, var) < 0:
            return (
                f"{fresh[-1].op.name} at {index} would read {var.name!r}, which {later[var].op.name} writes behind it"
            )
    return None


def _misfit(operator: Operator, wanted: Sequence[Variable]) -> str | None:
    """Why the operator cannot write these variables; None if it can."""
    if len(operator.outputs) != len(wanted):
        return f"{operator.op.name} has {len(operator.outputs)} outputs, {len(wanted)} variables were given"
    for new, old in zip(operator.outputs, wanted):
        if new.meta != old.meta:
            return f"{operator.op.name} gives {new.meta}, {old.name!r} is {old.meta}"
    return None


def _ordered(op: OpDef, inputs: Inputs) -> list[Any]:
    """The operands in the op's order; names may be spelled as Paddle's slots are, `X` for `x`."""
    if not isinstance(inputs, Mapping):
        return list(inputs)
    by_name = {name.lower(): value for name, value in inputs.items()}
    unknown = sorted(set(by_name) - set(op.inputs))
    if unknown:
        raise ArgumentError(f"{op.name} has no input {unknown[0]!r}, it has {', '.join(op.inputs)}")
    found: list[Any] = []
    for name in op.inputs:
        value = by_name.get(name)
        if isinstance(value, (list, tuple)):
            found += value
        else:
            found.append(value)
    while found and found[-1] is None:
        found.pop()
    return found


def _place_of(what: str, block: Block, which: Operator | int) -> int:
    """The number of an operator in its block's list, which may be given as in Python's lists."""
    if isinstance(which, int):
        if not -len(block.ops) <= which < len(block.ops):
            raise IndexRangeError(f"{what}: index {which} is outside the {len(block.ops)} operators")
        return which % len(block.ops)
    if not isinstance(which, Operator):
        raise DTypeError(f"{what} takes an Operator or its number, but received {type(which).__name__}")
    at = position(block.ops, which)
    if at < 0:
        raise ArgumentError(f"{what}: {which.op.name} is no operator of this block")
    return at


def remove_op(block: Block, which: Operator | int) -> Operator:
    """The operator, taken out of the block; number `which` of its list, or itself.

    What it wrote must be read by nobody, or written by another operator. Raises ArgumentError else, IndexRangeError for
    a number outside the list.

    Example:
        >>> import vitrify as paddle
        >>> from vitrify.ir.surgery import remove_op
        >>> main = paddle.static.Program()
        >>> with paddle.static.program_guard(main):
        ...     y = paddle.static.data("x", [2]) + 1
        ...     z = y * 2
        >>> remove_op(main.global_block(), 1).op.name
        'multiply'
    """
    at = _place_of("remove_op", block, which)
    operator = block.ops[at]
    rest = [op for op in block.ops if op is not operator]
    written = {v for op in rest for v in op.outputs}
    orphans = [v for v in operator.outputs if v not in written and not v.persistable]
    for var in orphans:
        reader = next((op for op in rest if position(op.variables, var) >= 0 or _captures(op, var)), None)
        if reader is not None or position(block.outputs, var) >= 0:
            raise ArgumentError(
                f"remove_op: {var.name!r} is read by {reader.op.name if reader else 'the end of the block'}",
                hint="take that out first, or use replace_op",
            )
    del block.ops[at]
    for var in orphans:
        block.vars.pop(var.name, None)
    return operator


def _captures(operator: Operator, var: Variable) -> bool:
    return any(outer is var for inner in operator.blocks.values() for outer in inner.captures)


def replace_op(
    block: Block, which: Operator | int, op: OpDef | str, inputs: Inputs, attrs: Mapping[str, Any] | None = None
) -> Operator:
    """A new operator in the place of another one, which writes the same variables.

    Raises ArgumentError where it does not give what those are. See `insert_op` for the arguments.

    Example:
        >>> import vitrify as paddle
        >>> from vitrify.ir.surgery import replace_op
        >>> main = paddle.static.Program()
        >>> with paddle.static.program_guard(main):
        ...     x = paddle.static.data("x", [2])
        ...     y = x + 1
        >>> _ = replace_op(main.global_block(), 0, "multiply", [x, 3.0])
        >>> paddle.static.Executor().run(main, feed={"x": [1.0, 2.0]}, fetch_list=[y])[0].tolist()
        [3.0, 6.0]
    """
    at = _place_of("replace_op", block, which)
    old = block.ops[at]
    new = insert_op(block, at, op, inputs, attrs, old.outputs)
    del block.ops[position(block.ops, old)]
    return new


def rename_var(program: Program, old: str, new: str) -> Variable:
    """The variable of block 0 called `old`, called `new` from now on; scopes keep what they hold under the old name.

    Raises ArgumentError when there is none of that name, or one of the new name already.

    Example:
        >>> import vitrify as paddle
        >>> from vitrify.ir.surgery import rename_var
        >>> main = paddle.static.Program()
        >>> with paddle.static.program_guard(main):
        ...     x = paddle.static.data("x", [2])
        >>> rename_var(main, "x", "image").name, main.global_block().has_var("x")
        ('image', False)
    """
    var = rename_in(program.global_block(), old, new)
    if old in program.host_values:
        program.host_values[new] = program.host_values.pop(old)
    return var


def rename_in(block: Block, old: str, new: str) -> Variable:
    """Likewise of any block."""
    if not isinstance(new, str) or not new:
        raise DTypeError(f"rename_var: the new name must be a text with something in it, but received {new!r}")
    if new in block.vars:
        raise ArgumentError(f"rename_var: the program already has a variable {new!r}")
    var = block.var(old)
    var.name = new
    renamed = {held.name: held for held in block.vars.values()}
    block.vars.clear()
    block.vars.update(renamed)
    return var


def rename_result(var: Variable, new: str) -> Variable:
    """A variable that an operator just gave, under another name; under its own where the block has that name already.

    Nothing knows it by name yet, so that nothing else changes, and variables keep their order.
    """
    held = var.block.vars
    if new not in held:
        del held[var.name]
        var.name = new
        held[new] = var
    return var


__all__ = ["find_op", "insert_op", "remove_op", "rename_result", "rename_var", "replace_op"]
