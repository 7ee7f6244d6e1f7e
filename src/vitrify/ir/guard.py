"""Default programs, and the guards under which op calls are recorded by hand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from ..core.dtype import as_dtype
from ..core.errors import ArgumentError
from ..core.meta import UNKNOWN, Meta
from ..core.modes import recorder
from ..ops.like import assign_op
from .builder import Builder, builder_of, building
from .program import Program, Variable


class _Programs:
    """A main program with the startup program that initialises its parameters."""

    def __init__(self, main: Program, startup: Program) -> None:
        self.main = main
        self.startup = startup
        self.builder = builder_of(main)


_DEFAULT = _Programs(Program(), Program())
_current: ContextVar[_Programs] = ContextVar("current_programs", default=_DEFAULT)


def default_main_program() -> Program:
    """The program that op calls are recorded into in static mode. Source: paddle.static.default_main_program."""
    return _current.get().main


def default_startup_program() -> Program:
    """The program that initialises parameters. Source: paddle.static.default_startup_program."""
    return _current.get().startup


@contextmanager
def program_guard(main_program: Program, startup_program: Program | None = None) -> Iterator[None]:
    """Record op calls into `main_program`, and parameter initialisation into `startup_program`.

    Source: paddle.static.program_guard.

    Example:
        >>> import vitrify as paddle
        >>> main = paddle.static.Program()
        >>> with paddle.static.program_guard(main):
        ...     x = paddle.static.data("x", [None, 4])
        ...     y = paddle.mean(x * 2)
        >>> len(main.global_block().ops)
        2
    """
    programs = _Programs(main_program, startup_program or default_startup_program())
    token = _current.set(programs)
    try:
        with building(programs.builder):
            yield
            programs.builder.settle()
    finally:
        _current.reset(token)


def enable_static() -> None:
    """Record op calls of this thread into the default main program from now on. Source: paddle.enable_static."""
    if recorder.get() is None:
        recorder.set(_current.get().builder)


def disable_static(place: Any = None) -> None:
    """Run op calls of this thread eagerly again. Source: paddle.disable_static."""
    recorder.set(None)


def data(name: str, shape: Sequence[int | None], dtype: Any = None, lod_level: int = 0) -> Variable:
    """A Variable of the main program that `Executor.run` feeds. None or -1 marks a dimension that may vary.

    dtype: float32 by default. Raises ArgumentError when the name is taken. Source: paddle.static.data.
    """
    block = default_main_program().global_block()
    if name in block.vars:
        raise ArgumentError(f"static.data: the program already has a variable {name!r}")
    dims = tuple(UNKNOWN if d is None else int(d) for d in shape)
    return block.add_input(Meta(dims, as_dtype(dtype or "float32")), name)


def create_persistable(
    meta: Meta, name: str | None, initial: Any, *, is_parameter: bool = False, trainable: bool = True
) -> Variable:
    """A persistable Variable of the main program, set by the startup program to what `initial()` records there."""
    programs = _current.get()
    block = programs.main.global_block()
    var = block.create_var(meta, name, prefix="param", stop_gradient=not (is_parameter and trainable), persistable=True)
    var.__dict__["is_parameter_"] = is_parameter
    start = programs.startup.global_block()
    twin = start.create_var(meta, var.name, persistable=True)
    with building(Builder(programs.startup)):
        value = initial()
        if value.dtype is not meta.dtype:
            value = value.astype(meta.dtype)
    start.append(assign_op, [start.resolve(value)], [twin], {})
    return var
