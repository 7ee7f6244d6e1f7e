"""Generator functions of the user's, called while a program is built."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from typing import Any
from weakref import ref

from ...core.bound import bound_to
from ...ir.builder import Builder
from ..control.comprehension import Each, GeneratorExpression
from ..control.logic import convert_not
from ..control.loops import convert_for
from ..control.pushed import Sink, push_into, pushing, refuse_giving
from ..state.journal import note_spent, refuse_given
from ..values.base import builder
from ..values.user_errors import thrown

Function = Callable[..., Any]


WATCHED = "__vitrify_watched__"
"""The attribute of the form of a generator function in which something runs when the generator is closed."""
_STEPS = frozenset({"send", "throw", "close", "__next__"})


def stepping(method: Any) -> Function | None:
    """What is called for a method by which an iterator of Python's own goes on, noting that; None for other methods."""
    owner = bound_to(method)
    if method.__name__ not in _STEPS or not isinstance(owner, Iterator):
        return None

    def call(*args: Any) -> Any:
        note_spent(owner)
        return method(*(thrown(args) if method.__name__ == "throw" else args))

    return call


class PushedGenerator(GeneratorExpression):
    """What a generator function gives: Python's own generator, unless it is used up from its start by a loop."""

    def __init__(self, native: Generator[Any, Any, Any], form: Function, args: Any, kwargs: Any) -> None:
        super().__init__(Each((), _itself))
        self.is_watched = getattr(form, WATCHED, False)
        self.native = native
        self._call: Any = form, args, kwargs
        self._is_given = False

    def _running(self) -> Generator[Any, Any, Any]:
        refuse_giving(self)
        if self.is_left is not False:
            return super()._running()
        self.go_on_with(self.native)
        return self.native

    def python_form(self) -> Generator[Any, Any, Any]:
        return self.native

    def go_on_with(self, python: Any) -> None:
        self.started, self._call = python, None

    def is_fresh(self) -> bool:
        return self.started is None and not self._is_given

    def push(self, sink: Sink) -> Any:
        self._is_given = True
        self.native.close()
        self.native = _ended()
        (form, args, kwargs), self._call = self._call, None  # who keeps this keeps nothing else
        value = form(sink, *args, **kwargs)
        self.is_left = sink.is_left
        return value

    def take(self) -> Each | None:
        """What folds over it; None if it has to be iterated."""
        return Each(self, _itself) if self.is_fresh() else None


def _ended() -> Generator[Any, Any, Any]:
    """A generator without items."""
    yield from ()


def _itself(item: Any) -> Any:
    return item


def called_generator(native: Function, form: Callable[[], Function | None]) -> Function:
    """What a call of a generator function calls: `native` is its converted form, `form` finds the one that pushes."""

    def call(*args: Any, **kwargs: Any) -> Any:
        refuse_given((*args, *kwargs.values()))  # Python's own loop would take items of it
        made = native(*args, **kwargs)
        builder().suspended.append(ref(made))
        found = form()
        return made if found is None else PushedGenerator(made, found, args, kwargs)

    return call


@contextmanager
def closing_suspended(build: Builder) -> Iterator[None]:
    """Close the generators that a failed trace leaves waiting: their `finally` runs while all effects are undone.

    It would run once Python finds that nobody holds them any more.
    """
    try:
        yield
    except BaseException:
        for waiting in build.suspended:
            generator = waiting()
            if generator is not None and not generator.gi_running:
                with suppress(Exception):  # of the user's code, in a run that nobody asked for
                    generator.close()
        raise


def give(sink: Sink, item: Any) -> Any:
    """Let who consumes a generator have the next item; whether that one wants no more."""
    return sink.give(item)


def give_watched(sink: Sink, item: Any) -> Any:
    """As `give`, in a `try` of the generator's."""
    return sink.give_watched(item)


def delegate(sink: Sink, items: Any) -> tuple[Any, Any]:
    """Give all items; whether no more are wanted, and what the generator returns, if they come from one."""
    if pushing(items):
        note_spent(items)
        value = push_into(sink, items)
        return sink.is_left, value

    def one(item: Any, left: Any) -> tuple[Any]:
        return (sink.give(item),)

    def goes_on(left: Any) -> Any:
        return convert_not(left)

    (left,) = convert_for(items, one, (False,), ("left",), goes_on)
    return left, None
