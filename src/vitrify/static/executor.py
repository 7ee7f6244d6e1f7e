"""Executor: runs Programs with feed and fetch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from typing import Any, NamedTuple

import numpy as np

from ..core.cache import BoundedCache
from ..core.errors import ArgumentError, ClosedError, DTypeError, FeedFetchError
from ..core.modes import recorder, scoped
from ..core.place import CPUPlace, Place, as_place, current_place
from ..core.rng import rng_guard
from ..device.api import put
from ..eager.tensor import Tensor, wrap
from ..ir.builder import builder_of, building
from ..ir.fingerprint import Fingerprint, fingerprint
from ..ir.guard import default_main_program
from ..ir.program import Program, Variable
from ..runtime.executor import StandaloneExecutor
from ..runtime.options import DEFAULT, ExecutionOptions
from ..runtime.prepare import PreparedProgram, RunSpec, prepare
from ..runtime.scope import Scope, global_scope
from .compiled_program import CompiledProgram
from .from_dataset import Feeds, run_over, watch

PROGRAMS = 64  # prepared programs that an Executor keeps
CALLS = 256  # combinations of program, feeds and fetches that it finds without hashing

_CPU = CPUPlace()
_recorder = recorder.get
_NOTHING: dict[str, Any] = {}


# A call as it can be compared at once: the program's number, names fed and fetched, use_prune, the names of what holds
# them, and the options when they are given.
_CallKey = tuple[int, tuple[str, ...], tuple[str, ...], bool, str, str, "ExecutionOptions | None"]


class _Key(NamedTuple):
    """What a prepared program depends on; the scope it runs in is looked up by the StandaloneExecutor."""

    program: str
    spec: RunSpec
    place: Place
    options: ExecutionOptions


class _Call(NamedTuple):
    """What the last call of this form found, and the state of the program that it was found for."""

    fingerprint: Fingerprint
    runner: StandaloneExecutor


class Executor:
    """Runs Programs at a place. Source: paddle.static.Executor.

    A program is prepared once for each set of feeds and fetches: copied, given feed and fetch operators, lowered. What
    was prepared is found again by the program's content, so an equal program, a clone for instance, shares it; a
    program that changed is prepared anew. An unchanged one costs a dict lookup. Threads may share an Executor.

    Example:
        >>> import vitrify as paddle
        >>> main = paddle.static.Program()
        >>> with paddle.static.program_guard(main):
        ...     x = paddle.static.data("x", [2])
        ...     y = x * 3
        >>> exe = paddle.static.Executor(paddle.CPUPlace())
        >>> [out.tolist() for out in exe.run(main, feed={"x": [1.0, 2.0]}, fetch_list=[y])]
        [[3.0, 6.0]]
    """

    def __init__(self, place: Any = None) -> None:
        self.place: Place = as_place(place) if place is not None else current_place()
        self._prepared: BoundedCache[_Key, StandaloneExecutor] = BoundedCache("executor", PROGRAMS)
        self._calls: BoundedCache[_CallKey, _Call] = BoundedCache("executor calls", CALLS)
        self._closed = False

    def run(
        self,
        program: Program | CompiledProgram | None = None,
        feed: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
        fetch_list: Any = None,
        feed_var_name: str = "feed",
        fetch_var_name: str = "fetch",
        scope: Scope | None = None,
        return_numpy: bool = True,
        use_program_cache: bool = True,
        use_prune: bool = False,
    ) -> list[Any]:
        """The values of `fetch_list`, as NumPy arrays or Tensors of the caller's own.

        program: the default main program when None.
        feed: name -> value. Arrays and Tensors must have the variable's dtype and fit its shape; Python numbers and
            lists are converted.
        fetch_list: Variables, or names of variables, also one alone.
        feed_var_name, fetch_var_name: what the prepared program calls what it is fed and what it gives.
        scope: where parameters are read and written; the global scope when None.
        use_program_cache: False prepares the program anew.
        use_prune: run only what the fetched values need: no update of a parameter, no print.

        Raises ArgumentError for a missing feed, an unknown fetch, or a parameter without a value, FeedFetchError or
        ShapeError for a feed that does not fit, ClosedError after `close`. What an operator raises names the line that
        made it.
        """
        if self._closed:
            raise ClosedError("run: this Executor was closed", hint="make a new one: paddle.static.Executor(place)")
        given = _NOTHING if feed is None else feed if feed.__class__ is dict else _as_feed(feed)
        fetches = _names_in(fetch_list)
        options: ExecutionOptions | None = None
        if isinstance(program, CompiledProgram):
            options, program = program.options, program.program
        program = default_main_program() if program is None else _checked_program(program)
        key = (program.uid, tuple(given), fetches, use_prune, feed_var_name, fetch_var_name, options)
        call = self._calls.get(key) if use_program_cache else None
        if call is None or not call.fingerprint.describes(program):
            call = self._found(key, program, use_program_cache)
        if scope is None:
            scope = global_scope()
        elif not isinstance(scope, Scope):
            raise DTypeError(f"run: scope takes a Scope, but received {type(scope).__name__}")
        if program.host_values:
            _set_host_values(program, scope)
        if _recorder() is None and not program.random_seed:
            return _handed_out(call.runner.run(_unwrapped(given), scope), return_numpy)
        draws = rng_guard(program.random_seed) if program.random_seed else nullcontext()
        with scoped(recorder, None), draws:  # in static mode: what kernels call runs now
            return _handed_out(call.runner.run(_unwrapped(given), scope), return_numpy)

    def prepared(
        self,
        program: Program | CompiledProgram | None = None,
        feed: Sequence[str] | Mapping[str, Any] = (),
        fetch_list: Any = None,
        use_prune: bool = False,
    ) -> PreparedProgram:
        """What `run` would run: a copy of the program with feed and fetch operators, without what need not run.

        Example:
            >>> import vitrify as paddle
            >>> main = paddle.static.Program()
            >>> with paddle.static.program_guard(main):
            ...     y = paddle.static.data("x", [2]) * 3
            >>> [op.type for op in paddle.static.Executor().prepared(main, ["x"], [y]).block.ops]
            ['feed', 'scale', 'fetch']
        """
        plain = program.program if isinstance(program, CompiledProgram) else program
        plain = _checked_program(default_main_program() if plain is None else plain)
        return prepare(plain, RunSpec(tuple(feed), _current(plain, _names_in(fetch_list)), use_prune))

    def train_from_dataset(
        self,
        program: Program | CompiledProgram | None = None,
        dataset: Feeds | None = None,
        scope: Scope | None = None,
        thread: int = 0,
        debug: bool = False,
        fetch_list: Sequence[Variable | str] | None = None,
        fetch_info: Sequence[str] | None = None,
        print_period: int = 100,
        fetch_handler: Any = None,
    ) -> None:
        """Run the program on every batch of a `paddle.distributed.QueueDataset` or `InMemoryDataset`, in their order.

        thread: taken; batches run one after another, so that results are the same each time. debug: say at the end how
            many batches there were and how long they took.
        fetch_list, fetch_info: what is printed every `print_period` batches, and what it is called.
        fetch_handler: has `var_dict`, `period_secs` and `handler(values)`, called when as many seconds have passed.
        """

        def run(feed: Mapping[str, Any], fetches: list[Any]) -> list[Any]:
            return self.run(program, feed, fetches, scope=scope)

        run_over(dataset, run, watch(fetch_list, fetch_info, print_period, fetch_handler), debug)

    # One process trains and infers alike: whether parameters change is for the program to say.
    infer_from_dataset = train_from_dataset

    def close(self) -> None:
        """Forget what was prepared; the Executor refuses to run from now on. Source: paddle.static.Executor.close."""
        self._closed = True
        self._calls.clear()
        self._prepared.clear()

    def _found(self, key: _CallKey, program: Program, use_program_cache: bool) -> _Call:
        """The prepared program for a call that is new, or whose program has changed."""
        _, feeds, fetches, prune, feed_name, fetch_name, options = key
        options = DEFAULT if options is None else options
        _check_feed_names(feeds)
        spec = RunSpec(feeds, _current(program, fetches), prune, feed_name, fetch_name)
        seen = fingerprint(program)

        def build() -> StandaloneExecutor:
            return StandaloneExecutor(prepare(program, spec), self.place, options)

        if not use_program_cache:
            return _Call(seen, build())
        runner = self._prepared.get_or_build(_Key(seen.key, spec, self.place, options), build)
        return self._calls.put(key, _Call(seen, runner))


def _set_host_values(program: Program, scope: Scope) -> None:
    """Let the scope hold what the host decides, learning rates of schedulers, for this run."""
    known = program.global_block().vars
    with scoped(recorder, None):
        for name, value in program.host_values.items():
            var = known[name]
            held = scope.find_var(name) or scope.root().var(name)
            held.tensor.hold(np.full(var.shape, value(), var.dtype.np))


def _names_in(fetch_list: Any) -> tuple[str, ...]:
    """The names of what is fetched: Variables and names, alone or in lists."""
    if fetch_list is None:
        return ()
    if isinstance(fetch_list, (str, Variable)):
        fetch_list = (fetch_list,)
    if not isinstance(fetch_list, (list, tuple)):
        raise _no_fetch("a list of Variables and names", fetch_list)
    names: list[str] = []
    for item in fetch_list:
        if item.__class__ is str:
            names.append(item)
        elif isinstance(item, Variable):
            names.append(item.name)
        elif isinstance(item, (list, tuple)):
            names += _names_in(item)
        else:
            raise _no_fetch("Variables or names", item)
    return tuple(names)


def _current(program: Program, names: tuple[str, ...]) -> tuple[str, ...]:
    """The names of what the variables hold now, after in-place changes while the program was built."""
    if program is default_main_program():  # static mode has no guard whose end would do it
        with building(builder_of(program)) as builder:
            builder.settle()
    changed = program.changed_names()
    return tuple([changed.get(name, name) for name in names]) if changed else names


def _no_fetch(expected: str, value: Any) -> FeedFetchError:
    return FeedFetchError(
        f"fetch_list: expects {expected}, got {type(value).__name__}", hint="fetch_list=[loss, 'accuracy']"
    )


def _as_feed(feed: Any) -> Mapping[str, Any]:
    """The one dict that is fed; Paddle's lists of dicts, one a place, have one here."""
    if isinstance(feed, Mapping):
        return feed
    if isinstance(feed, (list, tuple)) and all(isinstance(item, Mapping) for item in feed):
        if len(feed) == 1:
            only: Mapping[str, Any] = feed[0]
            return only
        raise ArgumentError(
            f"feed: a list has one dict for each place, and a program runs at one place; got {len(feed)} dicts",
            hint="join them to one batch, or run once for each",
        )
    raise FeedFetchError(f"feed: expects a dict from names to values, got {type(feed).__name__}", hint="feed={'x': x}")


def _check_feed_names(names: tuple[Any, ...]) -> None:
    for name in names:
        if not isinstance(name, str):
            raise FeedFetchError(
                f"feed: expects names of variables as keys, got {type(name).__name__}", hint="feed={x.name: value}"
            )


def _checked_program(program: Any) -> Program:
    if not isinstance(program, Program):
        raise DTypeError(f"run: expects a Program or CompiledProgram, got {type(program).__name__}")
    return program


def _unwrapped(feed: Mapping[str, Any]) -> Mapping[str, Any]:
    """The feed with arrays in place of Tensors."""
    for value in feed.values():
        if isinstance(value, Tensor):
            return {name: value._data if isinstance(value, Tensor) else value for name, value in feed.items()}
    return feed


def _handed_out(results: Sequence[Any], as_numpy: bool) -> list[Any]:
    """What the fetch operators gave, as NumPy arrays or Tensors; a list of tensors is a list of these."""
    out: list[Any] = []
    for value in results:
        if value.__class__ is list:
            out.append(_handed_out(value, as_numpy))
        elif as_numpy:
            out.append(value if value.__class__ is np.ndarray else put(value, _CPU))
        else:
            out.append(wrap(value))
    return out
