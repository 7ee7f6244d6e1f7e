"""Default programs, and the guards under which op calls are recorded by hand."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from ..core import names
from ..core.dtype import as_dtype, default_dtype
from ..core.errors import ArgumentError, DTypeError
from ..core.meta import UNKNOWN, Meta
from ..core.modes import grad_enabled, recorder, scoped
from ..ops.like import assign_op
from .builder import Builder, builder_of, building
from .notes import Persistables
from .program import Program, Variable


def create_persistable(
    meta: Meta,
    name: str | None,
    initial: Callable[[], Any],
    *,
    is_parameter: bool = False,
    trainable: bool = True,
    attributes: Mapping[str, Any] | None = None,
) -> Variable:
    """A persistable Variable of the main program, set by the startup program to what `initial()` records there.

    A name that the program has already gives the variable of that name, so parameters are shared by it; the startup
    program fills it once. attributes: what optimizers read of it (`optimize_attr`, `regularizer`, `need_clip`, ...).
    Raises ArgumentError when that variable is another kind of thing, or of another shape or dtype.
    """
    programs = _current.get()
    block = programs.main.global_block()
    held = block.vars.get(name) if name is not None else None
    if held is not None:
        _check_same(held, meta, is_parameter)
        return held
    name = name or names.generate("param" if is_parameter else "var")
    stops = not (is_parameter and trainable)
    var = block.create_var(meta, name, stop_gradient=stops, persistable=True)
    var.__dict__.update(attributes or {}, is_parameter_=is_parameter)
    fill_at_startup(var, initial)
    return var


def fill_at_startup(var: Variable, initial: Callable[[], Any]) -> None:
    """Let the startup program of now set the variable of that name to what `initial()` records, unless it sets it."""
    if var.name not in _current.get().startup.global_block().vars:
        change_at_startup(var, lambda held: initial())


def change_at_startup(var: Variable, change: Callable[[Variable], Any]) -> None:
    """Let the startup program of now, as its last act, set the variable of that name to what `change(held)` records.

    held: what the variable holds by then.
    """
    startup = _current.get().startup
    start = startup.global_block()
    held = start.vars.get(var.name)
    if held is None:
        held = start.create_var(var.meta, var.name, persistable=True)
    builder = Builder(startup)
    with building(builder), scoped(grad_enabled, False):
        value = change(held)
        if value.dtype is not var.dtype:
            value = value.astype(var.dtype)
        start.append(assign_op, [start.resolve(builder.value(value))], [held], {})


def _check_same(held: Variable, meta: Meta, is_parameter: bool) -> None:
    if not held.persistable:
        raise ArgumentError(f"the program has a variable {held.name!r} that no scope keeps", hint="choose another name")
    if held.meta != meta or held.is_parameter is not is_parameter:
        raise ArgumentError(
            f"{held.name!r} is {held.meta} in this program and cannot be shared as {meta}",
            hint="parameters of one name are one parameter: give this one another name",
        )


_PERSISTABLES = Persistables(create_persistable, change_at_startup)


class _Programs:
    """A main program with the startup program that initialises its parameters."""

    def __init__(self, main: Program, startup: Program) -> None:
        self.main = main
        self.startup = startup
        self.builder = builder_of(main)
        self.builder.persistables = _PERSISTABLES


_DEFAULT = _Programs(Program(), Program())
_current: ContextVar[_Programs] = ContextVar("current_programs", default=_DEFAULT)


def default_main_program() -> Program:
    """The program that op calls are recorded into in static mode. Source: paddle.static.default_main_program.

    Example:
        >>> import vitrify as paddle
        >>> main = paddle.static.Program()
        >>> with paddle.static.program_guard(main):
        ...     print(paddle.static.default_main_program() is main)
        True
    """
    return _current.get().main


def default_startup_program() -> Program:
    """The program that initialises parameters. Source: paddle.static.default_startup_program.

    Example:
        >>> import vitrify as paddle
        >>> startup = paddle.static.Program()
        >>> with paddle.static.program_guard(paddle.static.Program(), startup):
        ...     print(paddle.static.default_startup_program() is startup)
        True
    """
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
    main_program = checked_program("program_guard: main_program", main_program)
    if startup_program is None:
        startup_program = default_startup_program()
    programs = _Programs(main_program, checked_program("program_guard: startup_program", startup_program))
    token = _current.set(programs)
    try:
        with building(programs.builder):
            yield
            programs.builder.settle()
    finally:
        _current.reset(token)


@contextmanager
def name_scope(prefix: str | None = None) -> Iterator[None]:
    """Let the operators recorded inside say that they belong to `prefix`, below the scopes around it.

    `Operator.name_scope` holds it, "/encoder/layer_0/" for example. A prefix used again in the same scope gets a
    number. Raises DTypeError for what is no string. Source: paddle.static.name_scope.

    Example:
        >>> import vitrify as paddle
        >>> main = paddle.static.Program()
        >>> with paddle.static.program_guard(main):
        ...     with paddle.static.name_scope("encoder"):
        ...         x = paddle.static.data("x", [2]) * 2
        >>> main.global_block().ops[0].name_scope
        '/encoder/'
    """
    if prefix is not None and not isinstance(prefix, str):
        raise DTypeError(f"name_scope: prefix must be a string, got {type(prefix).__name__}")
    program = default_main_program()
    outer = program.name_scope
    path = program.fresh_scope(outer, prefix or "scope")
    program.name_scope = path
    try:
        yield
    finally:
        program.name_scope = outer


def enable_static() -> None:
    """Record op calls of this thread into the default main program from now on. Source: paddle.enable_static.

    Example:
        >>> import vitrify as paddle
        >>> paddle.enable_static()
        >>> paddle.in_dynamic_mode()
        False
        >>> paddle.disable_static()
    """
    if recorder.get() is None:
        recorder.set(_current.get().builder)


def disable_static(place: Any = None) -> None:
    """Run op calls of this thread eagerly again. Source: paddle.disable_static.

    Example:
        >>> import vitrify as paddle
        >>> paddle.enable_static()
        >>> paddle.in_dynamic_mode()
        False
        >>> paddle.disable_static()
        >>> paddle.in_dynamic_mode()
        True
    """
    recorder.set(None)


def data(name: str, shape: Sequence[int | None], dtype: Any = None, lod_level: int = 0) -> Variable:
    """A Variable of the main program that `Executor.run` feeds. None or -1 marks a dimension that may vary.

    dtype: the default dtype where none is given. Declared again in the same way it is the Variable that it was, so that
    functions which build parts of one program may each declare what they read. Raises ArgumentError when the name is
    taken by anything else. Source: paddle.static.data.

    Example:
        >>> import vitrify as paddle
        >>> with paddle.static.program_guard(paddle.static.Program()):
        ...     x = paddle.static.data("x", [None, 2])
        ...     paddle.static.data("x", [-1, 2]) is x
        True
    """
    block = default_main_program().global_block()
    if not isinstance(name, str) or not isinstance(shape, (list, tuple)):
        raise DTypeError(f"static.data: name must be a string and shape a list or tuple, got {name!r} and {shape!r}")
    dims = tuple(UNKNOWN if d is None else int(d) for d in shape)
    meta = Meta(dims, default_dtype() if dtype is None else as_dtype(dtype))
    taken = block.vars.get(name)
    if taken is None:
        return block.add_input(meta, name)
    if taken.is_data and taken.meta == meta:
        return taken
    raise ArgumentError(
        f"static.data: the program already has a variable {name!r}, {taken.meta}, and this one would be {meta}",
        hint="give this one a name of its own, or declare both with the same shape and dtype",
    )


def checked_program(what: str, program: Any) -> Program:
    """`program`; raises DTypeError unless it is a Program."""
    if not isinstance(program, Program):
        raise DTypeError(f"{what} takes a Program, but received {type(program).__name__}")
    return program
