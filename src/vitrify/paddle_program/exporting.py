"""Layers and functions as programs of Paddle's: `jit.save(..., format="paddle")` and `format="paddle3"`."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core.atomic_file import atomic_file, replace_file
from ..core.dtype import from_np
from ..core.errors import ArgumentError, UnsupportedError, VitrifyError
from ..core.mapped_file import mapped_tensors
from ..core.meta import ListMeta, Meta, Ref
from ..ir.dead_code import live_operators
from ..ir.decompose import in_other_ops
from ..ir.model_file import ModelFile, SavedFunction, Slot, slots_in
from ..ir.program import Block, Literal, Operator, Variable
from ..jit.saving import collect
from ..ops.registry import OpDef
from . import (
    composed_forms,
    control_forms,
    detection_forms,
    drawn_forms,
    effect_forms,
    forms,
    index_forms,
    layer_forms,
    library_forms,
    list_forms,
    matrix_forms,
    searching_forms,
    size_forms,
    window_forms,
)
from .desc_writing import desc_program
from .emitter import FORMS, Emitter, Value, held, known
from .graph import Param, keep_used
from .in_place import cast_numbers, copy_multiplied_images, copy_scaled_products, copy_what_is_read_again
from .json_writing import json_program
from .pair import NEXT, PARAMS_SUFFIX
from .scalars import is_written, write_expression
from .tensor_writing import Tensors, checksum_of, checksum_of_file, write_tensors

# The rooms whose import enters their forms in the table.
ROOMS = (
    composed_forms, forms, index_forms, layer_forms, library_forms, list_forms, control_forms, detection_forms,
    drawn_forms, effect_forms, matrix_forms, searching_forms, size_forms, window_forms,
)  # fmt: skip


def save_desc(layer: Any, path: Any, input_spec: Any = None, **configs: Any) -> None:
    """Write `path.pdmodel` and `path.pdiparams`, which PaddlePaddle 2 and 3 read."""
    _save(layer, path, input_spec, configs, True)


def save_json(layer: Any, path: Any, input_spec: Any = None, **configs: Any) -> None:
    """Write `path.json` and `path.pdiparams`, which PaddlePaddle 3 reads."""
    _save(layer, path, input_spec, configs, False)


def _save(layer: Any, path: Any, input_spec: Any, configs: Mapping[str, Any], old: bool) -> None:
    unknown = sorted(configs.keys() - {"params_file"})
    if unknown:
        raise ArgumentError(f"jit.save: no setting of this format is called {unknown}")
    model = collect(layer, input_spec, training=False)
    prefix = str(os.fspath(path))
    if not os.path.basename(prefix):
        raise ArgumentError(f"jit.save: {prefix!r} names no file")
    chosen = configs.get("params_file") or prefix + PARAMS_SUFFIX
    for file in (prefix, chosen):
        os.makedirs(os.path.dirname(os.path.abspath(file)), exist_ok=True)
    # All before any is written: what is refused leaves no files of the others.
    found = {name: _files(name, function, model, old) for name, function in model.functions.items()}
    for name, files in found.items():
        path = prefix if name == "forward" else f"{prefix}.{name}"
        _write(path, chosen if name == "forward" else path + PARAMS_SUFFIX, files, old)


@dataclass(frozen=True)
class _Files:
    """What the files of a program hold: it, and its tensors in their order."""

    program: bytes
    tensors: Tensors


def _files(name: str, function: SavedFunction, model: ModelFile, old: bool) -> _Files:
    """The program of a function. Raises UnsupportedError for what Paddle's programs cannot say."""
    function = in_other_ops(function, lambda op: FORMS.get(op) is not None or is_written(op))
    block = function.program.global_block()
    _check_forms(name, block)
    g = Emitter(old, inline=_inline)
    names = _input_names(function)
    _check_lists(name, [*block.inputs, *block.outputs])
    inputs = [g.value(var.meta) for var in block.inputs[: len(names)]]
    params = _params(g, function, model)
    env: dict[Variable, Any] = dict(zip(block.inputs, [*inputs, *params]))
    _operators(g, block, env)
    _check_writes(g, name, function, block, env)
    given: dict[Any, Value] = {}
    outputs = [_output(g, slot, block, env, given) for slot in slots_in(function.output_tree)]
    if not outputs:
        raise UnsupportedError(f"{name} gives no tensor, and a program of Paddle's gives at least one")
    arrays = {p.name: model.tensors[key] for p, key in zip(g.graph.params, function.tensors)}
    used = keep_used(g.graph, {v.id for v in outputs})
    for rewrite in (cast_numbers, copy_scaled_products) if old else (copy_what_is_read_again,):
        rewrite(g)
    copy_multiplied_images(g)
    g.graph.params = [p for p in g.graph.params if p.id in used]
    kept = {p.name for p in g.graph.params}
    tensors = sorted((name, array) for name, array in {**arrays, **g.constants}.items() if name in kept)
    write = desc_program if old else json_program
    return _Files(write(g, names, inputs, outputs, checksum_of(tensors)), tensors)


def _write(prefix: str, params: str, files: _Files, old: bool) -> None:
    """Write the pair such that a kill at any moment leaves the old one or the new one.

    A program never names tensors that are not there yet, and the old ones stay until it is replaced.
    """
    program = prefix + (".pdmodel" if old else ".json")
    if not files.tensors and not old:  # this format has no file of no parameters
        _write_file(program, files.program)
        return
    params = os.path.realpath(params)
    _finish_earlier(program, params)
    with atomic_file(params + NEXT) as out:
        write_tensors(out, files.tensors)
    _write_file(program, files.program)
    replace_file(params + NEXT, params)


def _finish_earlier(program: str, params: str) -> None:
    """Let a save that was cut off before its last step take it: the program there may need what this one replaces."""
    if not (os.path.isfile(program) and os.path.isfile(params + NEXT) and os.path.getsize(params + NEXT)):
        return
    checksum = checksum_of_file(mapped_tensors(params + NEXT))
    with open(program, "rb") as file:
        is_needed = checksum.encode() in file.read()
    if is_needed:
        replace_file(params + NEXT, params)


def _write_file(path: str, content: bytes) -> None:
    with atomic_file(path) as out:
        out.write(content)


def _check_lists(name: str, variables: Sequence[Variable | None]) -> None:
    if any(isinstance(v.meta, ListMeta) for v in variables if v is not None):
        raise UnsupportedError(
            f"{name} takes or gives a list whose length only the run knows, which Paddle's programs cannot",
            hint="give paddle.stack of it",
        )


def _check_writes(g: Emitter, name: str, function: SavedFunction, block: Block, env: Mapping[Variable, Any]) -> None:
    """Refuse what changes tensors of the program, but running statistics: Paddle's batch_norm changes those itself."""
    for var, index in zip(block.outputs[len(block.outputs) - len(function.writes) :], function.writes):
        assert var is not None
        if not g.is_kept_by_batch_norm(env[var], env[block.inputs[index]]):
            raise UnsupportedError(
                f"{name} changes its arguments or buffers in place, which Paddle's programs for inference cannot",
                hint="return the new values",
            )


def _check_forms(name: str, block: Block) -> None:
    """Name all ops at once that have no form."""
    forms_of = FORMS.names()
    missing = {o.op.name: o for o in _all_operators(block) if o.op.name not in forms_of and not _is_written(o)}
    if missing:
        first = next(iter(missing.values()))
        raise UnsupportedError(
            f"{name}: the ops {', '.join(sorted(missing))} have no form in Paddle's programs",
            loc=first.locs[0] if first.locs else None,
            hint="docs/interchange.md lists those that have one; our own format takes all",
        )


def _all_operators(block: Block) -> Iterator[Operator]:
    for operator in live_operators(block, block.outputs):
        yield operator
        for inner in operator.blocks.values():
            yield from _all_operators(inner)


def _inline(g: Emitter, block: Block, values: Sequence[Value]) -> list[Any]:
    """Write the operators of a block for these inputs; gives its outputs, None for those left out."""
    env: dict[Variable, Any] = dict(zip(block.inputs, values))
    around = (g.metas, g.op_name)
    _operators(g, block, env)
    g.metas, g.op_name = around
    return [None if var is None else env[var] for var in block.outputs]


def _input_names(function: SavedFunction) -> list[str]:
    found: list[str] = []
    for spec, var in zip(function.inputs, function.program.global_block().inputs):
        name = spec.name or var.name
        while name in found:
            name += "_"
        found.append(name)
    return found


def _params(g: Emitter, function: SavedFunction, model: ModelFile) -> list[Value]:
    """A value for each saved tensor; they come first among the program's parameters, in this order."""
    note = (model.note or {}).get("names", {})
    found, taken = [], set(_input_names(function))
    for key in function.tensors:
        array = model.tensors[key]
        name = str(note.get(key, key))
        while name in taken:
            name += "_"
        taken.add(name)
        value = g.value(Meta(array.shape, from_np(array.dtype)))
        g.graph.params.append(Param(value.id, name, value.dtype, value.shape, model.infos[key].trainable))
        found.append(value)
    return found


def _output(g: Emitter, slot: Slot, block: Block, env: Mapping[Variable, Any], given: dict[Any, Value]) -> Value:
    """An output as a value of its own: inputs that are handed through, and what is given twice, are copied.

    given: the last copy of each value. What is given again is a copy of that one: `paddle.inference` makes one of equal
    operators, and of their outputs finds the last alone.
    """
    var = block.inputs[slot.index] if slot.kind == "input" else block.outputs[slot.index]
    assert var is not None
    # No `scale` by 1, which Paddle itself writes: its pass that merges a product of matrices and such a scale leaves
    # whoever else takes the product without it.
    value = env[var]
    given[value.id] = g.op("assign", given.get(value.id, value))
    return given[value.id]


def _operators(g: Emitter, block: Block, env: dict[Variable, Any]) -> None:
    for operator in live_operators(block, block.outputs):
        write_operator(g, operator, env)


def write_operator(g: Emitter, operator: Operator, env: dict[Variable, Any]) -> None:
    """Write what an operator is; `env` has a Value for each variable that it reads, and gets those that it gives.

    Raises UnsupportedError, with the operator's line, for what has no form.
    """
    try:
        g.metas = tuple(held(v.meta) for v in operator.outputs)
        g.op_name = operator.op.name
        given = [_input(g, v, env) for v in operator.inputs]
        attrs = {key: _attribute(g, value, given) for key, value in operator.attrs.items()}
        operands = given[: len(given) - operator.ref_count]
        form = FORMS.get(operator.op)
        found = _written(g, operator.op, operands, attrs) if form is None else form(g, *operands, **attrs)
    except VitrifyError as err:
        raise _located(operator, err) from err
    outs = [found] if isinstance(found, Value) else list(found)
    for var, value in zip(operator.outputs, outs):
        if value is not None:
            env[var] = _settled(g, value, held(var.meta))


def _written(g: Emitter, op: OpDef, inputs: Sequence[Any], attrs: dict[str, Any]) -> Any:
    """What an op without a form is: its expression, or a constant where nothing is left to the run."""
    if op.scalar is not None:
        return write_expression(g, op, inputs, attrs)
    return g.constant(op.kernel(np, **{name: known(value) for name, value in attrs.items()}))


def _is_written(operator: Operator) -> bool:
    """Whether an operator without a form can be written, as far as that can be told beforehand."""
    op = operator.op
    if any(isinstance(v.meta, Meta) and v.meta.dtype.is_complex for v in operator.variables):
        return False
    is_constant = not (op.inputs or op.variadic or op.random or op.effect or op.steps)
    return is_written(op) or (is_constant and op.on_host is False)


def _settled(g: Emitter, value: Value, meta: Any) -> Value:
    """A form's value as the one of a variable: of its dtype, and with what is known of its shape."""
    found = g.cast(value, meta.dtype)
    return Value(found.id, meta.dtype, tuple(meta.shape))


def _located(operator: Operator, err: VitrifyError) -> UnsupportedError:
    loc = err.loc or (operator.locs[0] if operator.locs else None)
    return UnsupportedError(f"{operator.op.name}: {err.message}", loc=loc, hint=err.hint)


def _input(g: Emitter, value: Any, env: Mapping[Variable, Any]) -> Any:
    if isinstance(value, Literal):
        return g.constant(np.asarray(value.value, value.dtype.np))
    if value is None:
        return None
    if value not in env:
        raise UnsupportedError("it takes a result that has no form in Paddle's programs")
    return env[value]


def _attribute(g: Emitter, attr: Any, inputs: Sequence[Any]) -> Any:
    """An attribute with a Value for each Ref in it."""
    if isinstance(attr, Ref):
        found = inputs[attr.index]
        if attr.item is None:
            return found
        cut = Meta((), found.dtype)
        at = attr.item
        return g.op("slice", found, [at], [at + 1], meta=cut, axes=[0], infer_flags=[1], decrease_axis=[0])
    if isinstance(attr, slice):
        return slice(*[_attribute(g, part, inputs) for part in (attr.start, attr.stop, attr.step)])
    if isinstance(attr, (list, tuple)):
        return tuple(_attribute(g, part, inputs) for part in attr)
    return attr
