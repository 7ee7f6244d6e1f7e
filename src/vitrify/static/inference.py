"""Programs for inference: cut down to what is asked for, in files and as bytes."""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from typing import Any

from ..core.atomic_file import atomic_file
from ..core.errors import ArgumentError, DTypeError, FileFormatError
from ..core.meta import Meta
from ..core.sequences import as_list
from ..core.suggest import did_you_mean
from ..core.tensor_file import read_tensors, state_dict_note, write_tensors
from ..ir.clone import clone_program
from ..ir.guard import checked_program
from ..ir.input_spec import InputSpec
from ..ir.model_file import ModelFile, SavedFunction, Slot, TensorInfo, write_model
from ..ir.model_formats import read_any_model
from ..ir.program import Program, Variable, position
from ..ir.serialize import program_from_bytes, program_to_bytes
from ..runtime.scope import global_scope, read_value

Vars = Any  # a Variable or a list of them


def _listed(what: str, value: Vars) -> list[Variable]:
    found = as_list(value)
    for item in found:
        if not isinstance(item, Variable):
            raise DTypeError(f"{what} takes Variables, but received {type(item).__name__}")
    return found


def normalize_program(program: Program, feed_vars: Vars, fetch_vars: Vars, **kwargs: Any) -> Program:
    """A copy for inference: as in evaluation, with only what `fetch_vars` need from `feed_vars`, in that order.

    Raises ArgumentError where the program has no such variable, or needs one that is not fed.
    Source: paddle.static.normalize_program.

    Example:
        >>> import vitrify as paddle
        >>> main = paddle.static.Program()
        >>> with paddle.static.program_guard(main, paddle.static.Program()):
        ...     x = paddle.static.data("x", [None, 2])
        ...     y = x * 2
        ...     loss = (y - paddle.static.data("label", [None, 2])).mean()
        >>> [op.type for op in paddle.static.normalize_program(main, [x], [y]).global_block().ops]
        ['scale']
    """
    checked_program("normalize_program: program", program)
    feeds = [v.name for v in _listed("normalize_program: feed_vars", feed_vars)]
    fetches = [v.name for v in _listed("normalize_program: fetch_vars", fetch_vars)]
    known = program.global_block().vars
    for what, names in (("feed_vars", feeds), ("fetch_vars", fetches)):
        for name in names:
            if name not in known:
                raise ArgumentError(
                    f"normalize_program: {what}: the program has no variable {name!r}", hint=did_you_mean(name, known)
                )
    test = clone_program(program, for_test=True)
    changed = test.changed_names()
    cut = test.prune(fetches, feeds)
    block = cut.global_block()
    inputs, made = [block.var(name) for name in feeds], {v for op in block.ops for v in op.outputs}
    missing = [v for v in block.inputs if position(inputs, v) < 0 and v not in made]
    if missing:
        raise ArgumentError(
            f"normalize_program: {', '.join(fetches)} needs {missing[0].name!r}, which is not among feed_vars",
            hint="feed it, or fetch what does not depend on it",
        )
    block.inputs[:] = inputs
    block.outputs[:] = [block.var(changed.get(name, name)) for name in fetches]
    return cut


def _program_of(fetch_vars: Vars, program: Program | None) -> Program:
    if program is not None:
        return checked_program("program", program)
    first = _listed("fetch_vars", fetch_vars)[0]
    return first.block.program


# --- files -----------------------------------------------------------------------------------------------------------


def save_inference_model(path_prefix: str, feed_vars: Vars, fetch_vars: Vars, executor: Any, **kwargs: Any) -> None:
    """Write the normalized program to `path.vtmodel` and the parameters that it needs to `path.vtparams`.

    `load_inference_model` gives it back as a program, `jit.load` as a Layer. program=: the one to cut down, by default
    that of fetch_vars. The other keyword arguments of Paddle (clip_extra, legacy_format) change nothing here. Raises
    ArgumentError for variables that the program lacks, and for parameters without a value.
    Source: paddle.static.save_inference_model.

    Example:
        >>> import tempfile, vitrify as paddle
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     x = paddle.static.data("x", [None, 2])
        ...     y = paddle.static.nn.fc(x, 3)
        >>> path = tempfile.mkdtemp() + "/model"
        >>> exe = paddle.static.Executor()
        >>> with paddle.static.scope_guard(paddle.static.Scope()):
        ...     _ = exe.run(startup)
        ...     paddle.static.save_inference_model(path, [x], [y], exe)
        >>> with paddle.static.scope_guard(paddle.static.Scope()):
        ...     program, feeds, fetches = paddle.static.load_inference_model(path, exe)
        ...     out, = exe.run(program, feed={feeds[0]: [[1.0, 2.0]]}, fetch_list=fetches)
        >>> feeds, out.shape
        (['x'], (1, 3))
    """
    program = normalize_program(_program_of(fetch_vars, kwargs.get("program")), feed_vars, fetch_vars)
    write_model(path_prefix, _as_model(program))


def _as_model(program: Program) -> ModelFile:
    """The normalized program as a function of what is fed; the scope's variables become its tensors."""
    block = program.global_block()
    fed, kept = list(block.inputs), block.persistables
    parameters = {v.name: TensorInfo(v.is_parameter, v.trainable) for v in kept}
    arrays = {v.name: read_value(v.name) for v in kept}
    for var in kept:
        var.persistable = False
        var.__dict__.pop("is_parameter_", None)
    block.inputs[:] = [*fed, *kept]
    outputs = [Slot("output", i) for i in range(len(block.outputs))]
    function = SavedFunction(
        program=program,
        inputs=tuple([_spec(v) for v in fed]),
        input_tree=(tuple([Slot("input", i) for i in range(len(fed))]), {}),
        output_tree=outputs[0] if len(outputs) == 1 else outputs,
        tensors=tuple(arrays),
    )
    note = {"names": {name: name for name in arrays}}
    return ModelFile(functions={"forward": function}, tensors=arrays, infos=parameters, note=note)


def _spec(var: Variable) -> InputSpec:
    assert isinstance(var.meta, Meta)
    return InputSpec(var.meta.shape, var.meta.dtype, var.name, var.stop_gradient)


def load_inference_model(path_prefix: str, executor: Any, **kwargs: Any) -> list[Any]:
    """[program, names to feed, variables to fetch] of what `save_inference_model` or `jit.save` wrote.

    Other formats are read as well (docs/interchange.md). The global scope holds the parameters from now on. Raises
    FileFormatError for damaged files, and for functions that take or give more than tensors.
    Source: paddle.static.load_inference_model.

    Example:
        >>> import vitrify as paddle
        >>> import tempfile
        >>> prefix = tempfile.mkdtemp() + "/model"
        >>> main = paddle.static.Program()
        >>> with paddle.static.program_guard(main):
        ...     x = paddle.static.data("x", [None, 2])
        ...     y = x * 2
        >>> exe = paddle.static.Executor()
        >>> paddle.static.save_inference_model(prefix, [x], [y], exe, program=main)
        >>> program, feeds, fetches = paddle.static.load_inference_model(prefix, exe)
        >>> feed = {feeds[0]: paddle.ones([1, 2]).numpy()}
        >>> exe.run(program, feed=feed, fetch_list=fetches)[0].tolist()
        [[2.0, 2.0]]
    """
    model = read_any_model(*_files(path_prefix, **kwargs))
    function = model.functions.get("forward")
    if function is None:
        raise FileFormatError(f"{path_prefix} holds no function `forward`")
    block = function.program.global_block()
    kept = list(zip(block.inputs[len(function.inputs) :], function.tensors))
    program_of(model)
    for var, key in kept:
        global_scope().var(var.name).set(model.tensors[key])
    return [function.program, [v.name for v in block.inputs], list(block.outputs)]


def program_of(model: ModelFile) -> Program:
    """The program of a model's `forward`, which takes what is fed; a scope is to hold its tensors."""
    function = model.functions["forward"]
    block = function.program.global_block()
    fed = list(block.inputs[: len(function.inputs)])
    names = dict((model.note or {}).get("names", {}))
    for var, key in zip(block.inputs[len(fed) :], function.tensors):
        _keep(block, var, names.get(key, key))
        var.__dict__["is_parameter_"] = model.infos[key].parameter
        var.stop_gradient = not model.infos[key].trainable
    block.inputs[:] = fed
    count = len(block.outputs) - len(function.writes)
    block.outputs[:] = block.outputs[:count]
    return function.program


def _files(path_prefix: str, model_filename: Any = None, params_filename: Any = None, **kwargs: Any) -> tuple[Any, Any]:
    """The model's file and its parameters' by the names that the caller gave them, both in the folder of the path."""
    if kwargs:
        raise ArgumentError(f"load_inference_model: no setting is called {sorted(kwargs)}")
    if model_filename is None:
        return path_prefix, None
    folder = path_prefix if os.path.isdir(path_prefix) else os.path.dirname(path_prefix)
    params = None if params_filename is None else os.path.join(folder, params_filename)
    return os.path.join(folder, model_filename), params


def _keep(block: Any, var: Variable, name: str) -> None:
    """Let `var`, an input, be a variable of the scope under `name`."""
    if name != var.name and name not in block.vars:
        del block.vars[var.name]
        var.name = name
        block.vars[name] = var
    var.persistable = True


# --- bytes -----------------------------------------------------------------------------------------------------------


def serialize_program(feed_vars: Vars, fetch_vars: Vars, **kwargs: Any) -> bytes:
    """The normalized program as bytes, which `deserialize_program` reads. Source: paddle.static.serialize_program.

    Example:
        >>> import vitrify as paddle
        >>> with paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()):
        ...     x = paddle.static.data("x", [2])
        ...     data = paddle.static.serialize_program([x], [x * 2])
        >>> paddle.static.deserialize_program(data)
        <Program: 1 blocks, 1 operators>
    """
    program = _program_of(fetch_vars, kwargs.get("program"))
    return program_to_bytes(normalize_program(program, feed_vars, fetch_vars))


def serialize_persistables(feed_vars: Vars, fetch_vars: Vars, executor: Any, **kwargs: Any) -> bytes:
    """The parameters that the normalized program needs as bytes. Source: paddle.static.serialize_persistables.

    Example:
        >>> import vitrify as paddle
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     x = paddle.static.data("x", [None, 2])
        ...     y = paddle.static.nn.fc(x, 1)
        >>> exe = paddle.static.Executor()
        >>> _ = exe.run(startup)
        >>> isinstance(paddle.static.serialize_persistables([x], [y], exe, program=main), bytes)
        True
    """
    program = normalize_program(_program_of(fetch_vars, kwargs.get("program")), feed_vars, fetch_vars)
    arrays = {v.name: read_value(v.name) for v in program.global_block().persistables}
    out = io.BytesIO()
    write_tensors(out, arrays, state_dict_note(arrays))
    return out.getvalue()


def deserialize_program(data: bytes) -> Program:
    """The program that `serialize_program` wrote; raises FileFormatError. Source: paddle.static.deserialize_program.

    Example:
        >>> import vitrify as paddle
        >>> main = paddle.static.Program()
        >>> with paddle.static.program_guard(main):
        ...     x = paddle.static.data("x", [None, 2])
        ...     y = paddle.exp(x)
        >>> data = paddle.static.serialize_program([x], [y], program=main)
        >>> "exp" in str(paddle.static.deserialize_program(data))
        True
    """
    return program_from_bytes(data)


def deserialize_persistables(program: Program, data: bytes, executor: Any) -> Program:
    """`program`, whose parameters the global scope holds from now on.

    Raises FileFormatError for damaged bytes, ArgumentError for a parameter that they lack.
    Source: paddle.static.deserialize_persistables.

    Example:
        >>> import vitrify as paddle
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     x = paddle.static.data("x", [None, 2])
        ...     y = paddle.static.nn.fc(x, 1)
        >>> exe = paddle.static.Executor()
        >>> _ = exe.run(startup)
        >>> data = paddle.static.serialize_persistables([x], [y], exe, program=main)
        >>> program = paddle.static.deserialize_program(paddle.static.serialize_program([x], [y], program=main))
        >>> paddle.static.deserialize_persistables(program, data, exe) is program
        True
    """
    arrays = read_tensors(io.BytesIO(data)).tensors
    for var in program.global_block().persistables:
        if var.name not in arrays:
            raise ArgumentError(f"deserialize_persistables: there is no value of {var.name!r}")
        global_scope().var(var.name).set(arrays[var.name])
    return program


def save_to_file(path: str, content: bytes) -> None:
    """Write bytes to a file, in one step. Source: paddle.static.save_to_file.

    Example:
        >>> import vitrify as paddle
        >>> import tempfile
        >>> path = tempfile.mkdtemp() + "/program"
        >>> paddle.static.save_to_file(path, b"bytes")
        >>> paddle.static.load_from_file(path)
        b'bytes'
    """
    if not isinstance(content, bytes):
        raise DTypeError(f"save_to_file: content must be bytes, got {type(content).__name__}")
    with atomic_file(path) as out:
        out.write(content)


def load_from_file(path: str) -> bytes:
    """The bytes of a file. Source: paddle.static.load_from_file.

    Example:
        >>> import vitrify as paddle
        >>> import tempfile
        >>> path = tempfile.mkdtemp() + "/program"
        >>> paddle.static.save_to_file(path, b"bytes")
        >>> paddle.static.load_from_file(path)
        b'bytes'
    """
    with open(path, "rb") as file:
        return file.read()


__all__: Sequence[str] = [
    "deserialize_persistables", "deserialize_program", "load_from_file", "load_inference_model", "normalize_program",
    "save_inference_model", "save_to_file", "serialize_persistables", "serialize_program",
]  # fmt: skip
