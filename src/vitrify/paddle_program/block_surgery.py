"""Blocks of Programs changed by hand, with operators as Paddle's programs name them (`ir/block_surgery.py`).

Paddle's variables may be written many times; ours, but for those of scopes, are written once. So what a later operator
writes to a variable is a variable of its own, a *version*, which those behind it read, and which the name gives.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..core.errors import ArgumentError, UnsupportedError
from ..core.sequences import as_list
from ..core.source import user_frames
from ..eager.create_parameter import create_parameter as make_parameter
from ..eager.param_attr import ParamAttr
from ..ir.block_surgery import VERSION_OF
from ..ir.builder import Builder, builder_of, building
from ..ir.guard import default_startup_program, program_guard
from ..ir.known_values import as_tensor
from ..ir.program import Block, Operator, Variable
from ..ir.surgery import rename_in, rename_var
from ..ops.creation import assign
from ..ops.like import assign_op
from .calling import call_operator
from .description import described

_Slots = Mapping[str, Any]


def insert_operator(
    block: Block, index: int, kind: str, inputs: _Slots, outputs: _Slots, attrs: Mapping[str, Any]
) -> Operator:
    """See `Block._insert_op`."""
    if not 0 <= index <= len(block.ops):
        raise ArgumentError(f"_insert_op: index {index} is outside the {len(block.ops)} operators")
    targets = {slot: [_target(block, kind, v) for v in as_list(given)] for slot, given in outputs.items()}
    given = {
        slot: [_held(block, _variable(block, v), index) for v in as_list(values)]
        for slot, values in inputs.items()
        if values is not None
    }
    builder = Builder(block.program)
    builder.block = block
    mark = len(block.ops)
    with building(builder), builder.at(user_frames(3)):
        settings = {name: value for name, value in attrs.items() if value is not None}
        found = call_operator(kind, given, settings, targets)
        written = [
            (target, _own_value(block, mark, as_tensor(value)))
            for slot, places in targets.items()
            for target, value in zip(places, found.get(slot, ()))
            if value is not None
        ]
        for target, value in written:
            if target.persistable:
                block.append(assign_op, [value], [target], {}, user_frames(3))
    fresh = block.ops[mark:]
    del block.ops[mark:]
    if not fresh:
        raise ArgumentError(f"{kind} writes nothing: none of its outputs is wanted")
    block.ops[index:index] = fresh
    for target, value in written:
        if not target.persistable:
            _write(block, index, fresh, target, value)
    return fresh[-1]


def remove_operator(block: Block, index: int) -> None:
    """See `Block._remove_op`."""
    if not 0 <= index < len(block.ops):
        raise ArgumentError(f"_remove_op: index {index} is outside the {len(block.ops)} operators")
    operator = block.ops[index]
    del block.ops[index]
    for var in operator.outputs:
        target = var.__dict__.get(VERSION_OF, var)
        before = _held(block, target, index)
        if var is not target:
            _exchange(block, index, var, before)
            _mean(block, target)
        elif before is not target:  # what wrote it earlier is its writer now
            for op in block.ops[:index]:
                op.outputs = tuple(target if v is before else v for v in op.outputs)
            _exchange(block, 0, before, target)


def set_attribute(operator: Operator, name: str, value: Any) -> None:
    """See `Operator._set_attr`."""
    known = described(operator)
    assert known is not None
    held = {operator.name_of(v): v for v in operator.variables}
    block = operator.block
    builder = Builder(block.program)
    builder.block = block
    mark = len(block.ops)
    given = {slot: [held[n] for n in names] for slot, names in known.inputs.items() if names}
    with building(builder), builder.at(operator.locs):
        call_operator(known.type, given, {**known.attrs, name: value})
    fresh = block.ops[mark:]
    del block.ops[mark:]
    if len(fresh) != 1 or len(fresh[0].outputs) != len(operator.outputs):
        raise UnsupportedError(f"{known.type} with {name}={value!r} is several operators here")
    for old, new in zip(operator.outputs, fresh[0].outputs):
        old.meta = new.meta
        block.vars.pop(new.name, None)
    operator.op, operator.inputs, operator.attrs = fresh[0].op, fresh[0].inputs, fresh[0].attrs


def rename_variable(block: Block, old: str, new: str) -> Variable:
    """See `Block._rename_var`."""
    is_global = block is block.program.global_block()
    return rename_var(block.program, old, new) if is_global else rename_in(block, old, new)


def create_parameter(block: Block, shape: Sequence[int], dtype: Any, settings: Mapping[str, Any]) -> Variable:
    """See `Block.create_parameter`."""
    known = {name: value for name, value in settings.items() if name not in ("stop_gradient", "persistable", "type")}
    own = {"name", "initializer", "learning_rate", "regularizer", "trainable", "need_clip", "do_model_average"}
    if set(known) - own:
        raise ArgumentError(f"create_parameter takes no {sorted(set(known) - own)[0]!r}", hint=f"known: {sorted(own)}")
    with program_guard(block.program, default_startup_program()):
        made: Variable = make_parameter(shape, dtype, attr=ParamAttr(**known))
    return made


def _variable(block: Block, value: Any) -> Any:
    """A variable by itself or by its name, as the block sees it."""
    return block.resolve(block._var_recursive(value) if isinstance(value, str) else value)


def _target(block: Block, kind: str, value: Any) -> Variable:
    """The variable that an output is written to."""
    var = block._find_var_recursive(value) if isinstance(value, str) else value
    if not isinstance(var, Variable):
        raise ArgumentError(
            f"{kind} cannot write {value!r}: the block has no such variable", hint="make it: block.create_var(name=...)"
        )
    target: Variable = var.__dict__.get(VERSION_OF, var)
    return target


def _own_value(block: Block, mark: int, value: Any) -> Variable:
    """What an operator gave as a variable that it wrote itself; what it hands through is copied."""
    made = {var for op in block.ops[mark:] for var in op.outputs}
    own: Variable = value if value in made else assign(value)
    return own


def _versions(target: Variable, ops: Sequence[Operator]) -> list[Variable]:
    return [v for op in ops for v in op.outputs if v.__dict__.get(VERSION_OF) is target]


def _held(block: Block, var: Variable, index: int) -> Variable:
    """The variable that holds what `var` means before operator number `index`."""
    var = var.__dict__.get(VERSION_OF, var)
    written = {v for op in block.ops[:index] for v in op.outputs}
    versions = _versions(var, block.ops[:index])
    latest = builder_of(block.program).current.get(var)  # changed in place while it was recorded
    if latest is not None and VERSION_OF not in latest.__dict__ and latest in written:
        return latest
    if not versions or (var in written and _place(block, versions[-1]) < _place(block, var)):
        return var  # a version that comes before the variable's own writer is over by then
    return versions[-1]


def _place(block: Block, var: Variable) -> int:
    """The number of the operator that writes a variable; -1 of inputs."""
    return next((i for i, op in enumerate(block.ops) if any(v is var for v in op.outputs)), -1)


def _write(block: Block, index: int, fresh: Sequence[Operator], target: Variable, value: Variable) -> None:
    """Let the operators behind `fresh`, which stand at `index`, read `value` where they read `target`."""
    others = [op for op in block.ops if all(op is not new for new in fresh)]
    is_known = any(v is target for v in block.inputs) or any(v is target for op in others for v in op.outputs)
    if not is_known and not _versions(target, others):
        _become(block, fresh, target, value)
        return
    before = _held(block, target, index)
    value.__dict__[VERSION_OF] = target
    if _place(block, target) < index:  # else what is written here is over before anything could read it
        _exchange(block, index + len(fresh), before, value)
        _mean(block, target)


def _become(block: Block, fresh: Sequence[Operator], target: Variable, value: Variable) -> None:
    """`target`, which nothing has written, is what `value` was."""
    target.meta, target.stop_gradient = value.meta, value.stop_gradient
    for op in fresh:
        op.outputs = tuple(target if v is value else v for v in op.outputs)
        op.inputs = tuple(target if v is value else v for v in op.inputs)
    block.vars.pop(value.name, None)


def _exchange(block: Block, start: int, old: Variable, new: Variable) -> None:
    """Let operators from number `start` on, and the end of the block, read `new` where they read `old`."""
    for op in block.ops[start:]:
        op.inputs = tuple(new if v is old else v for v in op.inputs)
        for inner in op.blocks.values():
            if old in inner.captures:
                inner.captures[new] = inner.captures.pop(old)
    block.outputs = [new if v is old else v for v in block.outputs]


def _mean(block: Block, target: Variable) -> None:
    """Let the name, for whoever fetches it or records behind all this, mean what is written last."""
    current = builder_of(block.program).current
    last = _held(block, target, len(block.ops))
    if last is target:
        current.pop(target, None)
    else:
        current[target] = last
