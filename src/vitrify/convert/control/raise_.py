"""`raise`: at once where Python decides; where a tensor decides, when the program runs and takes that path."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from dataclasses import astuple
from typing import Any

from ...core.errors import (
    ArgumentError,
    DTypeError,
    IndexRangeError,
    ShapeError,
    UnknownValueError,
    UnsupportedError,
    VitrifyError,
)
from ...core.pytree import flatten
from ...core.source import innermost_user_loc, user_frames, user_locs
from ...core.unset_local import of_one_function
from ...eager.host_ops import assert_op, raise_op
from ...ir.attributes import blocks_of, reachable_blocks
from ...ir.builder import current_builder
from ...ir.dead_code import has_effect
from ...ir.graph_tensor import GraphTensor, is_number
from ...ir.program import Operator, Variable
from ..guards.told import refuse_if_told
from ..state.journal import is_anything_changed, is_region_changed
from ..values.base import Undefined, builder
from ..values.deferred import Call, Deferred, Node, captured, holds_deferred, made_again, record
from ..values.handlers import RaisedInCallError, refuse_if_caught
from ..values.one_of import GraphOneOf, each_option
from ..values.user_errors import is_for_user, is_of_known_tensors, is_of_plain_values, without_frames

ENDED: Any = object()
"""What `run_path` gives for a path that ends in an exception."""


class NeverReturns(Exception):
    """Ends a path behind the call of a recursive function all of whose paths raise: no run comes there."""

    @staticmethod
    def made() -> NeverReturns:
        """Such an exception, known to the program."""
        err = NeverReturns()
        _note(current_builder(), err, Call(RuntimeError, ("a function returned that never does",)))
        return err


def may_end(operator: Operator) -> bool:
    """Whether a run may raise what the user's code raises where it comes to the operator."""
    blocks = [inner for block in blocks_of(operator.attrs) for inner in reachable_blocks(block, lambda b: b.ops)]
    return any(op.op in (raise_op, assert_op) for op in [operator, *[op for block in blocks for op in block.ops]])


def convert_raise(*given: Any) -> Any:
    """The exception for `raise`, `raise error` or `raise error from cause`."""
    if given and isinstance(given[0], GraphOneOf):
        return each_option(given[0], lambda error: _raised(error, *given[1:]))
    if len(given) == 2 and isinstance(given[1], GraphOneOf):
        return each_option(given[1], lambda cause: _raised(given[0], cause))
    err = _instance(given[0]) if given else sys.exc_info()[1]
    if err is None:
        return RuntimeError("No active exception to reraise")
    if not isinstance(err, BaseException):
        return err  # Python says what is wrong with it
    if len(given) == 2:
        cause = _instance(given[1])
        if not isinstance(cause, (BaseException, type(None))):
            raise TypeError("exception causes must derive from BaseException")
        err.__cause__ = cause
    build = current_builder()
    if build is not None:
        _note(build, err, _made_of(build, err))
    return err


def caught_raise(*given: Any) -> Any:
    """The exception of such a statement as a value, for a handler around it; which one it is a tensor may decide."""
    error, *cause = given
    if isinstance(error, GraphOneOf):
        return each_option(error, lambda option: caught_raise(option, *cause))
    if cause and isinstance(cause[0], GraphOneOf):
        return each_option(cause[0], lambda option: convert_raise(_copied(error), option))
    return convert_raise(*given)


def _copied(error: Any) -> Any:
    """Another exception like `error`, for one path alone; a class as it is."""
    if not isinstance(error, BaseException):
        return error
    build, made = current_builder(), made_again(type(error), error.args, vars(error))
    node = None if build is None else _made_of(build, error)
    if build is not None and node is not None:
        build.errors[id(made)] = (made, node, False)
    return made


def _raised(*given: Any) -> Any:
    raise convert_raise(*given)


def _instance(value: Any) -> Any:
    return value() if isinstance(value, type) and issubclass(value, BaseException) else value


def exception_maker(
    cls: type[BaseException], construct: Callable[..., BaseException] | None = None
) -> Callable[..., Any]:
    """What stands for an exception class in a call: made of tensors, the exception is made again when it is raised.

    construct: makes what a handler sees by then, where code of the user's does.
    """
    return cls if current_builder() is None else functools.partial(_make, cls, construct or cls)


def _make(
    cls: type[BaseException], construct: Callable[..., BaseException], /, *args: Any, **kwargs: Any
) -> BaseException:
    if not holds_deferred(args) and not holds_deferred(kwargs):
        return cls(*args, **kwargs)
    node = Call(cls, tuple(map(captured, args)), {name: captured(value) for name, value in kwargs.items()})
    try:
        err = construct(*args, **kwargs)
    except UnsupportedError:  # its own code wants to see the values
        err = cls.__new__(cls, *args)
    builder().errors[id(err)] = (err, node, False)
    return err


def _made_of(build: Any, err: BaseException) -> Node:
    held = build.errors.get(id(err))
    return held[1] if held is not None else None


def _note(build: Any, err: BaseException, node: Node) -> None:
    build.errors[id(err)] = (err, node, True)


# -- paths ------------------------------------------------------------------------------------------------------------


def run_path(path: Callable[[], Any]) -> Any:
    """What `path()` gives, traced into a block of its own; ENDED when it always raises, which is recorded, too.

    What the functions of programs written by hand raise is meant for who writes them.
    """
    if not builder().tracing:
        return path()
    try:
        return path()
    except BaseException as err:
        if is_raised_by_user(err):
            record_raise(of_one_function(err))
            without_frames(err)
            return ENDED
        if isinstance(err, Exception) and not isinstance(err, UnsupportedError):
            refuse_if_caught(err, innermost_user_loc(err.__traceback__))
            _note_changes()
        raise


def record_raise(err: BaseException) -> None:
    """Record that the program raises `err` here."""
    inner, outer = user_locs(err.__traceback__), user_frames(2)
    try:
        refuse_if_caught(err, inner[0] if inner else None)
    except RaisedInCallError as refusal:
        if not (builder().block.ops or is_region_changed()):
            refusal.error = err  # nothing else happens on this path
        raise
    refuse_if_told(type(err).__name__)
    # What a program raises holds tensors without their gradient: eager code's, which ran, too, have it.
    _note_changes(says_another=_tells_of_conversion(err) or _holds_gradients(err))
    if inner and outer and (inner[-1].file, inner[-1].function) == (outer[0].file, outer[0].function):
        outer = outer[1:]  # the function around the branch that raised: in the user's source they are one
    cause = err.__cause__
    chained = cause is not None or err.__suppress_context__
    with builder().at((*inner, *outer)):
        node = None if cause is None else _error_node(cause)
        record(raise_op, error=_error_node(err), cause=node, attrs={"chained": chained})


def _note_changes(says_another: bool = False) -> None:
    """Note what eager code has done by now. `says_another`: it raises the same class, with a text of its own."""
    build = builder()
    build.leaves_undone = build.leaves_undone or says_another or bool(build.current) or is_anything_changed()


def _holds_gradients(err: BaseException) -> bool:
    """Whether a handler finds a tensor in the error through which gradients flow."""
    held: list[Any] = []
    flatten([*err.args, *vars(err).values()], held)
    if any(isinstance(part, BaseException) and _holds_gradients(part) for part in held):
        return True
    return any(isinstance(part, Variable) and not part.stop_gradient and not is_number(part) for part in held)


def _tells_of_conversion(err: BaseException) -> bool:
    """Whether Python said what is wrong with a value, whose class may be one of ours."""
    return isinstance(err, (*_OF_CLASSES, AttributeError)) and id(err) not in builder().errors


def ends_program(err: BaseException, changed: bool) -> bool:
    """Whether `err`, which ends the trace, is raised by the program: after its effects, or with what tensors hold then.

    It is recorded if so. Else nothing happens before it, and it is raised at once. changed: whether Python objects
    were changed before.
    """
    build = builder()
    made_of_tensors = _made_of(build, err) is not None or holds_deferred(err.args)
    happens = changed or bool(build.current) or any(map(has_effect, build.block.ops))
    if not is_raised_by_user(err) or not (made_of_tensors or happens):
        return False
    record_raise(err)
    return True


def is_raised_by_user(err: BaseException) -> bool:
    """Whether the user's code raised it: a `raise` or `assert`, or what Python finds wrong with plain values there."""
    build = builder()
    if id(err) in build.errors and build.errors[id(err)][2]:
        return True
    if isinstance(err.__cause__, UnknownValueError):
        return False  # C code, such as NumPy's, says what it thinks of it
    if type(err) in (ShapeError, IndexRangeError):
        return True  # nothing but shapes decides, and those are known here
    if isinstance(err, _OF_CLASSES) and not isinstance(err, UnsupportedError):
        return is_of_plain_values(err) or is_of_known_tensors(err)
    if not _is_of_values(err):
        return False
    if isinstance(err, KeyError) and any(isinstance(key, (GraphTensor, Deferred)) for key in err.args):
        raise UnsupportedError(
            "the key that a dictionary is asked for is known only when the program runs",
            loc=innermost_user_loc(err.__traceback__),
            hint="choose with `if key == ...`, or keep the values in a list",
        )
    tb = err.__traceback__
    while tb is not None and tb.tb_next is not None:
        tb = tb.tb_next
    return (tb is not None and is_for_user(tb.tb_frame.f_code)) or is_of_plain_values(err)


def _is_of_values(err: BaseException) -> bool:
    """Whether eager code raises it, too: nothing that tensors of a program lack is the cause."""
    if isinstance(err, AttributeError):
        return not isinstance(err.obj, (GraphTensor, Deferred, Undefined))
    return isinstance(err, _OF_VALUES) and not isinstance(err, VitrifyError)


_OF_CLASSES = (TypeError, ArgumentError, DTypeError)
_OF_VALUES = (LookupError, ArithmeticError, ValueError, NameError, StopIteration)


def _error_node(err: BaseException) -> Node:
    made = _made_of(builder(), err)
    if made is not None:
        return made
    if isinstance(err, VitrifyError) and vars(err).keys() == {"message", "loc", "hint"}:
        made = Call(type(err), (err.message,), {"hint": err.hint})
        return made if err.loc is None else Call("located", (made, *astuple(err.loc)))
    if type(err) in (NameError, UnboundLocalError) and vars(err).keys() == {"__notes__"}:
        made_by = "unset_free" if type(err) is NameError else "unset_local"
        return Call(made_by, (*map(captured, err.args), *err.__notes__))
    if type(err).__module__ == "builtins" and not vars(err):
        return Call(type(err), tuple(map(captured, err.args)))
    return Call(made_again, (type(err), captured(err.args), captured(vars(err))))
