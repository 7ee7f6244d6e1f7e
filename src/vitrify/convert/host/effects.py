"""print, assert and checks that must happen when the program runs, in the order of the source."""

from __future__ import annotations

import builtins
import sys
from collections.abc import Callable
from functools import partial
from typing import Any, NoReturn

from ...core.errors import UnknownValueError
from ...core.pytree import all_leaves
from ...eager.host_ops import assert_op, print_op
from ...ir.builder import current_builder
from ...ir.program import Variable
from ..control.branches import trace_branches
from ..control.protocols import truth
from ..control.raise_ import ENDED, convert_raise, run_path
from ..guards.told import refuse_if_told
from ..guards.unmerged import is_made, refuse_change
from ..state.journal import journaling
from ..values.base import MaybeUnset, Undefined, builder, is_graph, scalar_condition
from ..values.deferred import Call, captured, record
from ..values.emit import is_asserted, unset_flag
from ..values.handlers import refuse_if_caught, refuse_unless_decided
from ..values.optional import note_known, told_by
from ..values.text import GraphText, concatenated, join, shown
from ..values.unset_errors import is_place, unset_call, unset_error


def convert_assert(test: Any, message: Callable[[], Any] | None = None) -> None:
    """`assert test, message()`."""
    test = truth(test)
    if not is_graph(test):
        if not test:
            raise convert_raise(AssertionError(*(() if message is None else (message(),))))
        return
    flag = scalar_condition(test, "assert")
    if message is not None and _needs_tensors(message):
        trace_branches(flag, lambda: (), partial(_fail, message), ())
        return
    refuse_if_caught(AssertionError())
    refuse_if_told("AssertionError")
    note_known(told_by(test)[0])
    args = () if message is None else (captured(message()),)
    record(assert_op, flag, error=Call(AssertionError, args))


def _needs_tensors(message: Callable[[], Any]) -> bool:
    """Whether the program must do something for the message, which it then does only if the assertion fails."""
    with builder().sub_block() as block, journaling() as journal:
        return run_path(message) is ENDED or bool(block.ops) or bool(journal.before)


def _fail(message: Callable[[], Any]) -> NoReturn:
    raise convert_raise(AssertionError(message()))


def convert_print(*args: Any, sep: Any = None, end: Any = None, file: Any = None, flush: bool = False) -> None:
    """`print(*args)`, each time the program runs."""
    if current_builder() is None:
        builtins.print(*args, sep=sep, end=end, file=file, flush=flush)
        return
    for name, given in (("sep", sep), ("end", end)):
        if not isinstance(given, (str, GraphText, type(None))):
            raise TypeError(f"{name} must be None or a string, not {type(given).__name__}")
    text = join(" " if sep is None else sep, [shown(arg) for arg in args])
    text = concatenated(text, "\n" if end is None else end)
    if is_made(file):
        _print_into(file, text)
        return
    # The standard streams are those of the moment when the program runs.
    target = None if file is sys.stdout else "stderr" if file is sys.stderr else file
    record(print_op, text=captured(text), file=target, attrs={"flush": bool(flush)})


def _print_into(file: Any, text: str | GraphText) -> None:
    """Print into a buffer that the trace made: it is read while the program is built."""
    refuse_change(file, "print(file=)")
    if not isinstance(text, str):
        raise UnknownValueError(
            "print(file=) into a buffer made in this function needs a text that is known only when the program runs",
            hint="pass the buffer as an argument or make it outside, or convert with full_graph=False, which runs this "
            "as Python",
        )
    file.write(text)


def load(value: Any, is_free: bool = False) -> Any:
    """The value of a variable that may be unset; raises (now, or when the program runs) if it is."""
    if isinstance(value, MaybeUnset):
        _assert_flag(value.flag, value.name, value.line, is_free)
        return value.value
    if isinstance(value, Undefined):
        raise value.fail(is_free)
    for leaf in all_leaves(value):
        held = unset_flag(leaf)
        if held is not None and (leaf is value or not is_place(held[1])):
            _assert_flag(*held, is_free=is_free and leaf is value)
    return value


def load_free(value: Any) -> Any:
    """As `load`, of a variable of the function around, which Python calls a free one."""
    return load(value, is_free=True)


def assert_place_set(value: Any) -> None:
    """As `assert_set`, for what was read from a container or object; variables are checked where they are loaded."""
    if isinstance(value, MaybeUnset):
        _assert_flag(value.flag, value.name, value.line)
        return
    held = unset_flag(value)
    if held is not None and is_place(held[1]):
        assert_set(value)


def assert_set(value: Variable) -> None:
    """Let the program raise what eager code does when `value` is read and the path taken did not set it; once only."""
    held = unset_flag(value)
    if held is not None:
        _assert_flag(*held)


def _assert_flag(flag: Variable, name: str, line: int, is_free: bool = False) -> None:
    if is_asserted(flag):
        return
    is_known = refuse_unless_decided(unset_error(name, line, is_free), flag)
    builder().asserted.add((builder().block, flag))
    if not is_known:
        record(assert_op, flag, error=Call(*unset_call(name, line, is_free)))
