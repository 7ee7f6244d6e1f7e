"""Calls back into Python: what a native program leaves to Python's code, in its place among the steps.

Python gets copies of the arrays, so what it keeps or changes is its own, and gives arrays that are copied in turn. What
it raises ends the run. As the interpreter would do all again that was done before, nothing that is done behind such a
call may leave the run to it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ..core.errors import InternalError
from ..core.meta import Meta
from ..ir.program import Operator
from .calls import CALL, DEEP
from .errors import NoNativeForm
from .kept import array_words, copy_to_item, new_array, next_item, no_array_words
from .objects import DATA, ITEMS
from .operands import STATE, Frame, Listed, Maybe, Step, all_steps
from .steps import PARAMETERS, PLAN, RAISED, python, word
from .writer import Writer

if TYPE_CHECKING:
    from .assembler import Assembler

HOST = "host"
"""The step that calls Python."""
CHECK = "host_check"
"""The same for what does nothing but raise, and may be done again."""
_LOOPS = ("while_true", "repeat")


class Host(Protocol):
    """Who runs operators in Python, and raises as the interpreter does."""

    def function_of(self, operator: Operator) -> Callable[..., tuple[Any, ...]]:
        """What an operator gives for arrays, as a function."""

    def too_deep(self, operator: Operator) -> Any:
        """Raise the error for a call that is too deep."""


def host_call(
    n: Assembler, host: Host, operator: Operator, values: Sequence[Any], raises_only: bool = False
) -> tuple[Any, ...]:
    """What an operator gives that Python runs: the step for it is added. Raises NoNativeForm."""
    if any(isinstance(v, (Frame, Listed, Maybe)) for v in values):
        raise NoNativeForm("Python is given a list, or what may be missing")
    metas = [v.meta for v in operator.outputs]
    if not all(isinstance(m, Meta) and m.is_static for m in metas):
        raise NoNativeForm("Python gives arrays of sizes that only the run knows")
    outs = [n.new(m.shape, m.dtype.np) for m in metas if isinstance(m, Meta)]
    called = n.held(_Called(host, operator))
    given = [no_array_words() if v is None else array_words(n.contiguous(v)) for v in values]
    made = [array_words(x) for x in outs]
    items = [w for part in (*given, *made) for w in part]
    n.has_objects = n.calls_host = True
    n.add(CHECK if raises_only else HOST, [STATE, id(called), len(given), len(made), *items])
    return tuple(outs)


class _Called:
    """An operator as a function from arrays to a tuple of arrays whose elements lie side by side."""

    def __init__(self, host: Host, operator: Operator) -> None:
        self._run = host.function_of(operator)
        self._wanted = [(v.meta.shape, v.meta.dtype.np) for v in operator.outputs if isinstance(v.meta, Meta)]

    def __call__(self, *arrays: Any) -> tuple[Any, ...]:
        found = self._run(*arrays)
        return tuple([_fitting(x, shape, dtype) for x, (shape, dtype) in zip(found, self._wanted, strict=True)])


def _fitting(x: Any, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
    """x as an array of NumPy's own class, its elements side by side; the operator has seen to its being as expected."""
    if x.__class__ is not np.ndarray or not x.flags.c_contiguous:
        x = np.asarray(x, order="C").view(np.ndarray)
    if x.shape != shape or x.dtype != dtype:  # what is copied would end elsewhere
        wanted = f"{dtype}{list(shape)}"
        raise InternalError(f"Python gave {x.dtype}{list(x.shape)} in a program, where {wanted} was expected")
    return x


class _TooDeep:
    """What is called for a call that is too deep."""

    def __init__(self, host: Host, operator: Operator) -> None:
        self._host = host
        self._operator = operator

    def __call__(self) -> Any:
        return self._host.too_deep(self._operator)


def settle(n: Assembler, may_refuse: Callable[[str], bool]) -> None:
    """Let calls raise by themselves where they are too deep, in a program that calls Python. Raises NoNativeForm where
    a step that may refuse would come behind such a call.
    """
    host = n.host
    if not n.calls_host or host is None:
        return
    blocks = [n.steps, *[f.steps for f in n.functions]]
    for step in (s for block in blocks for s in all_steps(block) if s.function == CALL):
        step.words[DEEP] = id(n.held(_TooDeep(host, step.words[DEEP])))
    for block in blocks:
        _look(n, block, may_refuse, block is not n.steps and _functions_call(n))


def _functions_call(n: Assembler) -> bool:
    return any(_calls_host(f.steps) for f in n.functions)


def _calls_host(steps: Sequence[Step]) -> bool:
    return any(step.function == HOST for step in all_steps(steps))


def _look(n: Assembler, steps: Sequence[Step], may_refuse: Callable[[str], bool], is_behind: bool) -> bool:
    """Whether Python has been called behind these steps; is_behind: before them, too."""
    for step in steps:
        if step.function in _LOOPS and any(map(_calls_host, step.blocks)):
            is_behind = True
        paths = [_look(n, block, may_refuse, is_behind) for block in step.blocks]
        is_behind = is_behind or any(paths)
        if step.function == HOST or (step.function == CALL and _functions_call(n)):
            is_behind = True
        refuses = may_refuse(step.function) and not step.is_sure
        if is_behind and (refuses or (step.function == CALL and _refuses(n, may_refuse))):
            raise NoNativeForm("the interpreter could not do again what Python has done")
    return is_behind


def _refuses(n: Assembler, may_refuse: Callable[[str], bool]) -> bool:
    steps = [step for f in n.functions for step in all_steps(f.steps)]
    return any(may_refuse(step.function) and not step.is_sure for step in steps)


def _host(name: str) -> str:
    """A call of a function. c: 2 where the state is, 3 the function, 4 arrays that it takes and 5 gives, 6... these."""
    w = Writer("i32", name, PARAMETERS)
    plan, count, made_count = w.load(w.at("%P", word(w, 2)), PLAN, "ptr"), word(w, 4), word(w, 5)
    given = w.call("ptr", python(w, plan, "PyTuple_New"), f"i64 {count}")
    with w.when(w.value(f"icmp eq ptr {given}, null")):
        w.leave(f"i32 {RAISED}")
    at = w.variable("ptr", w.at("%c", 6))
    with w.loop(count) as i:
        item = w.value(f"load ptr, ptr {at}")
        array = new_array(w, plan, item)
        with w.when(w.value(f"icmp eq ptr {array}, null")):
            w.call("void", python(w, plan, "Py_DecRef"), f"ptr {given}")
            w.leave(f"i32 {RAISED}")
        w.store(array, w.at(given, ITEMS, "i8"), i, "ptr")
        w.line(f"store ptr {next_item(w, item)}, ptr {at}")
    made = w.call("ptr", python(w, plan, "PyObject_CallObject"), f"ptr {w.load('%c', 3, 'ptr')}", f"ptr {given}")
    w.call("void", python(w, plan, "Py_DecRef"), f"ptr {given}")
    with w.when(w.value(f"icmp eq ptr {made}, null")):
        w.leave(f"i32 {RAISED}")
    with w.loop(made_count) as i:
        item = w.value(f"load ptr, ptr {at}")
        source = w.load(w.at(w.load(w.at(made, ITEMS, "i8"), i, "ptr"), DATA, "i8"), 0, "ptr")
        copy_to_item(w, item, source)
        w.line(f"store ptr {next_item(w, item)}, ptr {at}")
    w.call("void", python(w, plan, "Py_DecRef"), f"ptr {made}")
    w.line("ret i32 0")
    return w.text


def host_steps() -> dict[str, str]:
    """All functions, by name."""
    return {name: _host(name) for name in (HOST, CHECK)}


__all__ = ["CHECK", "HOST", "Host", "host_call", "host_steps", "settle"]
