"""`convert_to_mixed_precision`: a saved model whose operators compute in half the bits where that is safe."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from ..core.dtype import DType, float32
from ..core.dtype import as_dtype as dtype_of
from ..core.errors import ArgumentError
from ..core.lazy import lazy_module
from ..core.meta import Meta
from ..core.modes import AmpState
from ..ir.builder import Builder, building
from ..ir.model_file import ModelFile, SavedFunction, write_model
from ..ir.model_formats import MODEL_SUFFIX, read_any_model
from ..ir.program import Block, Operator, Variable
from ..ir.surgery import find_op
from ..ops.like import cast, cast_op
from .kinds import PlaceType, PrecisionType

# What runs a model needs neither.
_amp = lazy_module("vitrify.static.amp")
_jit = lazy_module("vitrify.jit")
_LOW = {PrecisionType.Half: "float16", PrecisionType.Bfloat16: "bfloat16"}
# By the ending of the model's file: the format.
_FORMATS = {MODEL_SUFFIX: "vitrify", ".json": "paddle3", ".pdmodel": "paddle"}


def convert_to_mixed_precision(
    model_file: str,
    params_file: str,
    mixed_model_file: str,
    mixed_params_file: str,
    mixed_precision: PrecisionType,
    backend: PlaceType,
    keep_io_types: bool = True,
    black_list: Iterable[str] = set(),
    **kwargs: Any,
) -> None:
    """Write the model with its operators, and the weights that these alone read, in a precision of 16 bits.

    mixed_precision: PrecisionType.Half or Bfloat16. keep_io_types: whether inputs and outputs stay as they are.
    black_list: operators that stay in float32; white_list, in kwargs: such as never would otherwise; both by our names
    or Paddle's. What loses too much is left in float32, as by `amp.auto_cast(level="O2")`, and so are branches and
    loops. backend: the kind of device that the file is meant for; every one runs it. The ending of mixed_model_file
    says the format: .json, .pdmodel or .vtmodel; the two files are of one save whenever this ends.
    Raises ArgumentError for other precisions, endings and operators, and what reading a model raises. Source:
    paddle.inference.convert_to_mixed_precision.

    Example:
        >>> import os, tempfile
        >>> import vitrify as paddle
        >>> from vitrify import inference
        >>> folder = tempfile.mkdtemp()
        >>> old, new = os.path.join(folder, "net"), os.path.join(folder, "half")
        >>> paddle.jit.save(paddle.nn.Linear(4, 2), old, [paddle.static.InputSpec([None, 4])], format="paddle3")
        >>> inference.convert_to_mixed_precision(
        ...     old + ".json", old + ".pdiparams", new + ".json", new + ".pdiparams",
        ...     inference.PrecisionType.Half, inference.PlaceType.CPU,
        ... )
        >>> {p.dtype for p in paddle.jit.load(new).parameters()}
        {paddle.float16}
    """
    if mixed_precision not in _LOW:
        raise ArgumentError(
            f"convert_to_mixed_precision: mixed_precision must be Half or Bfloat16, got {mixed_precision!r}"
        )
    unknown = set(kwargs) - {"white_list"}
    if unknown:
        raise ArgumentError(f"convert_to_mixed_precision: there is no argument {', '.join(sorted(unknown))}")
    prefix, ending = os.path.splitext(mixed_model_file)
    if ending not in _FORMATS:
        raise ArgumentError(f"convert_to_mixed_precision: {mixed_model_file!r} ends in none of {', '.join(_FORMATS)}")
    low = dtype_of(_LOW[mixed_precision])
    allow = frozenset(find_op(name).name for name in kwargs.get("white_list") or ())
    deny = frozenset(find_op(name).name for name in black_list)
    model = read_any_model(model_file, params_file or None)
    state = AmpState("O2", low.name, allow, deny, False)
    for function in model.functions.values():
        _lower(function, state, low, keep_io_types)
    _lower_tensors(model, low)
    _write(model, prefix, ending, mixed_params_file)


def _lower(function: SavedFunction, state: AmpState, low: DType, keep: bool) -> None:
    """Let the operators of a function compute as `state` says, with inputs and outputs as they are, or low, too."""
    block = function.program.global_block()
    wanted = [v if v is None else v.meta for v in block.outputs]
    _amp.cast_forward(block, state)
    if not keep:
        for i, var in enumerate(block.inputs[: len(function.inputs)]):
            if _is_wide(var):
                _narrow(block, var, low)
                function.inputs = (*function.inputs[:i], _spec(function.inputs[i], low), *function.inputs[i + 1 :])
    builder = Builder(function.program)
    kept = len(block.outputs) - len(function.writes)
    with building(builder):
        for i, (out, meta) in enumerate(zip(block.outputs, wanted)):
            if out is not None and isinstance(meta, Meta):
                as_it_was = keep or i >= kept or meta.dtype is not float32
                block.outputs[i] = cast(out, meta.dtype if as_it_was else low)


def _spec(spec: Any, low: DType) -> Any:
    return type(spec)(spec.shape, low.name, spec.name)


def _is_wide(var: Variable) -> bool:
    return isinstance(var.meta, Meta) and var.dtype is float32


def _casts_to(operator: Operator, low: DType) -> bool:
    return operator.op is cast_op and operator.outputs[0].dtype is low


def _narrow(block: Block, var: Variable, low: DType) -> None:
    """Let an input of the block come in the low precision; who takes it in float32 gets it cast."""
    assert isinstance(var.meta, Meta)
    var.meta = Meta(var.meta.shape, low)
    made = [op.outputs[0] for op in block.ops if _casts_to(op, low) and op.inputs[0] is var]
    block.ops[:] = [op for op in block.ops if not (op.outputs and any(op.outputs[0] is v for v in made))]
    for cast_away in made:
        del block.vars[cast_away.name]
    wide: Variable | None = None
    if any(v is var for op in block.ops for v in op.inputs) or any(v is var for v in block.outputs):
        with building(Builder(block.program)):
            wide = cast(var, float32)
        block.ops.insert(0, block.ops.pop())
    for op in block.ops[wide is not None :]:
        op.inputs = tuple([wide if v is var else var if any(v is m for m in made) else v for v in op.inputs])
    block.outputs = [wide if v is var else var if any(v is m for m in made) else v for v in block.outputs]


def _lower_tensors(model: ModelFile, low: DType) -> None:
    """Hold in the low precision the tensors that every function casts wherever it reads them."""
    places: dict[str, list[tuple[Block, Variable]]] = {}
    wide: set[str] = set()
    for function in model.functions.values():
        block = function.program.global_block()
        written = {i - len(function.inputs) for i in function.writes}
        for i, name in enumerate(function.tensors):
            var = block.inputs[len(function.inputs) + i]
            readers = [op for op in block.ops if any(v is var for v in op.inputs)]
            is_free = i not in written and not any(v is var for v in block.outputs)
            if not (readers and is_free and _is_wide(var) and all(_casts_to(op, low) for op in readers)):
                wide.add(name)
            places.setdefault(name, []).append((block, var))
    for name in places.keys() - wide:
        model.tensors[name] = model.tensors[name].astype(low.np)
        for block, var in places[name]:
            _narrow(block, var, low)


def _write(model: ModelFile, prefix: str, ending: str, params_file: str) -> None:
    if ending == MODEL_SUFFIX:
        write_model(prefix, model, params_file or None)
    else:
        _jit.save(_jit.TranslatedLayer(model), prefix, format=_FORMATS[ending], params_file=params_file)


__all__ = ["convert_to_mixed_precision"]
