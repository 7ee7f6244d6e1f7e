"""Statements under a `with`, as a function: what `While`, `Switch` and their kin trace as bodies of loops and branches.

Python runs the statements once, and loops and branches are traced as often as it takes to know what they carry. So the
operators are recorded into a block that is then thrown away, and replayed wherever the body is traced: with shapes and
flags found anew, as what they start from may be another value each time. What traces functions of the user's itself
(`cond`, `while_loop`), and what works on arrays, which are Python objects, is called again instead (`logged`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, TypeVar

from ...core.errors import UnsupportedError
from ...core.lazy import lazy_module
from ...core.pytree import flatten
from ...ir.builder import Builder, current_builder
from ...ir.gradient_flow import stops_of
from ...ir.program import Block, Operator, Variable
from ...ir.regions import copy_operator, copy_var

_journal = lazy_module("vitrify.convert.state.journal")
_base = lazy_module("vitrify.convert.values.base")
Mapped = dict[Variable, Any]
F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True)
class _Call:
    """A call to make again: between which operators it recorded its own, and what tensors meant before and after it."""

    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    result: Any
    start: int
    end: int
    before: Mapping[Variable, Variable]
    after: Mapping[Variable, Variable]


@dataclass
class Recording:
    """The statements of one `with`. Called, it records them where the program is being built now.

    outer: what tensors meant before them; changed: what those that were there before mean behind them.
    """

    block: Block
    outer: Mapping[Variable, Variable]
    calls: list[_Call] = field(default_factory=list)
    changed: dict[Variable, Variable] = field(default_factory=dict)

    def changes(self, build: Builder) -> dict[Variable, Variable]:
        """What tensors mean now that meant something else before."""
        return {var: value for var, value in build.current.items() if self.outer.get(var) is not value}

    def __call__(self) -> tuple[()]:
        """Record the statements; changes of tensors and arrays from outside are left behind."""
        _Replay(self, _base.builder()).run()
        return ()


class _Replay:
    """One run through a recording. `now`: what each of its variables is this time; `same`: each object, by id."""

    def __init__(self, recording: Recording, build: Builder) -> None:
        self.recording, self.build = recording, build
        parent = recording.block.parent
        assert parent is not None
        known = {recording.outer.get(var, var): var for var in recording.changed}
        starts = {parent.resolve(value): var for value, var in known.items() if var.block is not recording.block}
        self.now: Mapped = {
            head: build.held(starts.get(outer, outer)) for outer, head in recording.block.captures.items()
        }
        self.same: dict[int, Any] = {}
        self.made: list[Variable] = []

    def run(self) -> None:
        """Record everything, then let tensors from outside mean what they mean behind the statements."""
        done = 0
        for call in self.recording.calls:
            self.operators(done, call.start)
            self.call(call)
            done = call.end
        self.operators(done, len(self.recording.block.ops))
        for handle, end in self.recording.changed.items():
            self.change(handle, self.now[end])
        self.forget()

    def change(self, handle: Variable, value: Variable) -> None:
        """From here on `handle` means `value`."""
        if handle.block is self.recording.block:
            self.build.current[handle] = value
        elif self.build.held(handle) is not value:
            self.build.assign(handle, value)

    def operators(self, start: int, end: int) -> None:
        """Record operators number `start` to `end` again."""
        for operator in self.recording.block.ops[start:end]:
            with self.build.at(operator.locs):
                self.operator(operator)

    def operator(self, operator: Operator) -> None:
        """Record one again, with the shapes and flags that follow from its inputs of this time."""
        block = self.build.block
        for var in operator.variables:
            if var not in self.now:
                raise _unlogged()
            self.now[var] = block.resolve(self.now[var])
        if operator.blocks:
            copy_operator(operator, block, self.now)
            return
        values = [self.now[v] if isinstance(v, Variable) else v for v in operator.inputs]
        given = values[: len(values) - operator.ref_count]
        found = operator.op.meta(*[v if v is None else v.meta for v in given], **operator.attrs)
        metas = found if operator.op.multiple else (found,)
        stops = stops_of(operator.op, values, operator.attrs, len(metas))
        stopped = stops_of(operator.op, operator.inputs, operator.attrs, len(metas))
        outs = []
        for var, meta, stop, was in zip(operator.outputs, metas, stops, stopped):
            out = copy_var(var, block, meta)
            if var.stop_gradient == was:  # else the user said so
                out.stop_gradient = stop
            self.now[var] = out
            outs.append(out)
        block.append(operator.op, values, outs, operator.attrs, operator.locs)

    def call(self, call: _Call) -> None:
        """Make a call again, where tensors mean what they meant then."""
        current = self.build.current
        for var in list(self.now):
            if var.block is self.recording.block and current.get(var) is not self.now[var]:
                current[var] = self.now[var]
                self.made.append(var)
        for handle, value in call.before.items():
            self.change(handle, self.now[value])
        args = [self.same.get(id(arg), arg) for arg in call.args]
        kwargs = {name: self.same.get(id(arg), arg) for name, arg in call.kwargs.items()}
        result = call.function(*args, **kwargs)
        self.same[id(call.result)] = result
        leaves: list[Any] = []
        again: list[Any] = []
        flatten(call.result, leaves)
        flatten(result, again)
        for old, new in zip(leaves, again):
            if isinstance(old, Variable):
                self.now[old] = self.build.held(new)
        for handle, value in call.after.items():
            self.now[value] = self.build.held(handle)

    def forget(self) -> None:
        """Let nobody know what the recording's own variables were this time."""
        for var in self.made:
            self.build.current.pop(var, None)
        for call in self.recording.calls:
            for var in (*call.before, *call.after):
                if var.block is self.recording.block:
                    self.build.current.pop(var, None)


def _unlogged() -> UnsupportedError:
    return UnsupportedError(
        "an array is read or changed by Python's own means under `with While(...).block()` or a case of a Switch",
        hint="use paddle.tensor.array_read, array_write and array_length there",
    )


_recording: ContextVar[Recording | None] = ContextVar("recording", default=None)


def logged(function: F) -> F:
    """`function`, calls of which under a recording `with` are made again, instead of their operators being copied."""

    @wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        recording, build = _recording.get(), current_builder()
        if recording is None or build is None or build.block is not recording.block:
            return function(*args, **kwargs)
        start, before = len(recording.block.ops), recording.changes(build)
        result = function(*args, **kwargs)
        end, after = len(recording.block.ops), recording.changes(build)
        recording.calls.append(_Call(function, args, kwargs, result, start, end, before, after))
        return result

    return called  # type: ignore[return-value]


@contextmanager
def recording() -> Iterator[Recording]:
    """A Recording that holds, at the end, what was recorded inside; the program is as before then."""
    build: Builder = _base.builder()
    outer = dict(build.current)
    with _journal.journaling() as journal, build.sub_block() as block:
        made = Recording(block, outer)
        token = _recording.set(made)
        try:
            yield made
        finally:
            _recording.reset(token)
        made.changed = build.changed_since(outer, block)
        _refuse_unlogged(made, [value for _, value in journal.before.values()])


def _refuse_unlogged(made: Recording, written: list[Any]) -> None:
    """Raise UnsupportedError where a copied operator reads an array that the statements change: it is old by then."""
    held: set[Variable] = set()
    for value in written:
        items = getattr(value, "items", None)
        held.update(getattr(items, "parts", ()))
    heads = {head for outer, head in made.block.captures.items() if outer in held}
    called = {index for call in made.calls for index in range(call.start, call.end)}
    copied = [op for index, op in enumerate(made.block.ops) if index not in called]
    if any(v in heads for op in copied for v in op.variables):
        raise _unlogged()
