"""What a program has learned, in files and back into scopes: save, load, and the states in between."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..core.atomic_file import atomic_file
from ..core.errors import ArgumentError, DTypeError, MissingFileError, ShapeError
from ..core.source import user_stacklevel
from ..core.tensor_file import is_tensor_file, read_tensors, state_dict_note, write_tensors
from ..ir.guard import checked_program
from ..ir.model_formats import STATES
from ..ir.program import Program, Variable
from ..ir.serialize import program_to_bytes
from ..runtime.scope import global_scope, read_value

PARAMETERS, OTHERS, PROGRAM = ".pdparams", ".pdopt", ".pdmodel"
State = dict[str, Any]


def save(program: Program, model_path: str, protocol: int = 4, **configs: Any) -> None:
    """Write `path.pdparams` (parameters), `path.pdopt` (what else scopes keep) and `path.pdmodel` (the program).

    The values are those of the global scope. `paddle.load` reads the first two as dicts. protocol and configs change
    nothing: files are never pickles. Raises ArgumentError for a path that ends in a slash and for a variable without a
    value, DTypeError for programs that hold Python functions. Source: paddle.static.save.

    Example:
        >>> import tempfile, vitrify as paddle
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     w = paddle.static.create_parameter([2], "float32", name="w")
        >>> path = tempfile.mkdtemp() + "/model"
        >>> with paddle.static.scope_guard(paddle.static.Scope()):
        ...     _ = paddle.static.Executor().run(startup)
        ...     paddle.static.save(main, path)
        >>> list(paddle.static.load_program_state(path))
        ['w']
    """
    checked_program("static.save: program", program)
    base = os.path.basename(model_path)
    if not base:
        raise ArgumentError("static.save: model_path must end in a file name", hint="save(program, 'folder/name')")
    content = program_to_bytes(program)
    os.makedirs(os.path.dirname(os.path.abspath(model_path)), exist_ok=True)
    kept = program.global_block().persistables
    for suffix, wanted in ((PARAMETERS, True), (OTHERS, False)):
        arrays = {v.name: read_value(v.name) for v in kept if v.is_parameter is wanted}
        write_tensors(model_path + suffix, arrays, state_dict_note(arrays))
    with atomic_file(model_path + PROGRAM) as out:
        out.write(content)


def load(program: Program, model_path: str, executor: Any = None, var_list: Sequence[Variable] | None = None) -> None:
    """Let the global scope hold what `static.save`, ours or Paddle's, wrote for the program's variables or `var_list`.

    Raises ArgumentError for files that lack one of them, ShapeError and DTypeError where a value does not fit.
    Source: paddle.static.load.

    Example:
        >>> import vitrify as paddle
        >>> import tempfile
        >>> prefix = tempfile.mkdtemp() + "/model"
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     y = paddle.static.nn.fc(paddle.static.data("x", [None, 2]), 1)
        >>> exe = paddle.static.Executor()
        >>> _ = exe.run(startup)
        >>> paddle.static.save(main, prefix)
        >>> paddle.static.load(main, prefix, exe)
    """
    checked_program("static.load: program", program)
    state = load_program_state(model_path)
    for var in program.global_block().persistables if var_list is None else var_list:
        if var.name not in state:
            raise ArgumentError(
                f"static.load: {model_path} has no value of {var.name!r}",
                hint="parameters are matched by name: was it built in another order, without unique_name.guard?",
            )
        _put(var, state[var.name])


def load_program_state(model_path: str, var_list: Sequence[Variable] | None = None) -> State:
    """The arrays that `static.save` wrote, ours or Paddle's, by name; those of `var_list` only, when it is given.

    Raises MissingFileError where no such files are, FileFormatError for damaged ones.
    Source: paddle.static.load_program_state.

    Example:
        >>> import vitrify as paddle
        >>> import tempfile
        >>> prefix = tempfile.mkdtemp() + "/model"
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     y = paddle.static.nn.fc(paddle.static.data("x", [None, 2]), 1)
        >>> _ = paddle.static.Executor().run(startup)
        >>> paddle.static.save(main, prefix)
        >>> sorted(array.shape for array in paddle.static.load_program_state(prefix).values())
        [(1,), (2, 1)]
    """
    prefix = model_path.removesuffix(PARAMETERS).removesuffix(OTHERS).removesuffix(PROGRAM)
    paths = [prefix + suffix for suffix in (PARAMETERS, OTHERS) if os.path.exists(prefix + suffix)]
    if not paths:
        raise MissingFileError(
            f"load_program_state: there is no {prefix}{PARAMETERS}", hint="give the path that static.save was given"
        )
    found: State = {}
    for path in paths:
        found.update(read_tensors(path).tensors if is_tensor_file(path) else STATES.read(path))
    wanted = None if var_list is None else {var.name for var in var_list}
    return found if wanted is None else {name: value for name, value in found.items() if name in wanted}


def set_program_state(program: Program, state_dict: Mapping[str, Any]) -> None:
    """Let the global scope hold these values of the program's variables; names that it lacks are warned about.

    Raises ShapeError and DTypeError where a value does not fit. Source: paddle.static.set_program_state.

    Example:
        >>> import vitrify as paddle
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     w = paddle.static.create_parameter([2], "float32", name="docs_w")
        >>> _ = paddle.static.Executor().run(startup)
        >>> paddle.static.set_program_state(main, {"docs_w": paddle.to_tensor([3.0, 4.0]).numpy()})
        >>> paddle.static.global_scope().find_var("docs_w").get_tensor().numpy().tolist()
        [3.0, 4.0]
    """
    checked_program("set_program_state: program", program)
    known = {var.name: var for var in program.global_block().persistables}
    for name, value in state_dict.items():
        if name in known:
            _put(known[name], np.asarray(value))
    unused = sorted(set(state_dict) - set(known))
    if unused:
        warnings.warn(
            f"set_program_state: the program has no variables {', '.join(unused)}", stacklevel=user_stacklevel()
        )


def _put(var: Variable, value: Any) -> None:
    if list(value.shape) != var.shape:
        raise ShapeError(f"{var.name!r} is {var.meta} in the program, the value has shape {list(value.shape)}")
    if value.dtype != var.dtype.np:
        raise DTypeError(f"{var.name!r} is {var.meta} in the program, the value is {value.dtype}")
    global_scope().var(var.name).set(value)


__all__ = ["load", "load_program_state", "save", "set_program_state"]
