"""Faults for the tests of runs: programs written as source text, operators that fail on demand, a device that does."""

from __future__ import annotations

import linecache
import random
import signal
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import vitrify as paddle
from tests.runtime import graphs
from vitrify.ops.registry import NoGradient, define_op

SIZE = graphs.SIZE
KINDS = ("kernel", "allocation", "callback", "copy", "interrupt")


class Injected(Exception):
    """What a kernel, a callback or a device raises because a test wants it to."""


@dataclass
class Traps:
    """What operators of these programs are to do, and what they did.

    `faults`: what to raise, by tag. `computing`: how many kernels are at work now. `made`: the arrays that
    kernels gave. `started`: the tags of all kernels that began; `fired`: of those that failed, in order.
    """

    faults: dict[int, Callable[[], None]] = field(default_factory=dict)
    computing: int = 0
    started: list[int] = field(default_factory=list)
    fired: list[int] = field(default_factory=list)
    made: list[weakref.ref[np.ndarray]] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    @contextmanager
    def kernel(self, tag: int) -> Iterator[None]:
        """One operator computes."""
        with self.lock:
            self.computing += 1
            self.started.append(tag)
            fault = self.faults.get(tag)
            if fault is not None:
                self.fired.append(tag)
        try:
            if fault is not None:
                fault()
            yield
        finally:
            with self.lock:
                self.computing -= 1

    def keep(self, array: np.ndarray) -> np.ndarray:
        """`array`, which from now on counts as made."""
        self.made.append(weakref.ref(array))
        return array

    def alive(self) -> int:
        """How many of the arrays that kernels gave are kept by someone."""
        self.made = [ref for ref in self.made if ref() is not None]
        return len(self.made)


TRAPS = Traps()


def _trap_kernel(xp: Any, x: Any, *, tag: int) -> Any:
    with TRAPS.kernel(tag):
        return TRAPS.keep(x * np.float32(0.5) + np.float32(0.01 * tag))


def _callback_kernel(xp: Any, x: Any, *, tag: int) -> tuple[Any, ...]:
    with TRAPS.kernel(tag):
        float(x.sum())
    return ()


EFFECT = NoGradient("a test")
trap = define_op("trap_for_tests", kernel=_trap_kernel, meta=lambda x, *, tag: x, vjp=EFFECT)
callback = define_op(
    "callback_for_tests", kernel=_callback_kernel, meta=lambda x, *, tag: (), vjp=EFFECT, outputs=("*outs",),
    effect=True,
)  # fmt: skip


def raise_injected() -> None:
    """What a kernel or callback does that fails."""
    raise Injected("no such thing")


def allocate_too_much() -> None:
    """What a kernel does for which there is no memory."""
    np.empty(1 << 60, "float32")


def press_ctrl_c() -> None:
    """What happens while a kernel computes: a signal comes to the main thread."""
    signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)


FAULTS: dict[str, Callable[[], None]] = {
    "kernel": raise_injected, "allocation": allocate_too_much, "callback": raise_injected, "interrupt": press_ctrl_c,
}  # fmt: skip
ERRORS: dict[str, type[BaseException]] = {
    "kernel": Injected, "allocation": MemoryError, "callback": Injected, "copy": Injected,
    "interrupt": KeyboardInterrupt,
}  # fmt: skip
FORMS = (
    "paddle.tanh({a} + {b})",
    "paddle.matmul({a}, {b}) * 0.1",
    "{a}.T",
    "{a}.flip([0])",
    "paddle.maximum({a}, {b})",
    "{a} + paddle.rand([SIZE, SIZE])",
    "trap({a} * 2, tag={inner}) if {a}.sum() > 0 else trap({b} - 1, tag={inner})",
)


@dataclass(frozen=True)
class Made:
    """A program, the file it is from, and the line of each tag; those of callbacks are from 100 on."""

    block: Any
    outputs: list[Any]
    file: str
    lines: dict[int, int]


def source(seed: int, count: int) -> tuple[str, dict[int, int]]:
    """The text of a function of three matrices with `count` traps, one a line, and the line of each tag."""
    rng = random.Random(seed)
    pool = ["x0", "x1", "x2"]
    lines, found = ["def build(x0, x1, x2):"], {}
    for tag in range(count):
        form = rng.choice(FORMS) if tag else "{a} + x0 + x1 + x2"  # all inputs are read
        form = form.format(a=rng.choice(pool), b=rng.choice(pool), inner=tag + 200)
        lines.append(f"    v{tag} = trap({form}, tag={tag})")
        found[tag] = found[tag + 200] = len(lines)
        pool.append(f"v{tag}")
        if not tag or rng.random() < 0.25:
            lines.append(f"    callback(v{tag}, tag={tag + 100})")
            found[tag + 100] = len(lines)
    lines.append(f"    return {', '.join(pool[-3:])}")
    return "\n".join(lines) + "\n", found


def program(seed: int, count: int = 12) -> Made:
    """A random program, with branches that tensors decide."""
    text, lines = source(seed, count)
    file = f"<faults {seed}>.py"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    names: dict[str, Any] = {"paddle": paddle, "trap": trap, "callback": callback, "SIZE": SIZE}
    exec(compile(text, file, "exec"), names)
    static = paddle.jit.to_static(names["build"], full_graph=True)
    static(*[paddle.to_tensor(array) for array in graphs.arrays(seed)])
    segment = static.program_cache.last().segment
    return Made(segment.block, list(segment.outputs), file, lines)


class FaultyDevice:
    """A device one of whose copies fails: the `number`-th that it is asked for, to it or from it."""

    def __init__(self, device: Any, number: int) -> None:
        self._device = device
        self._left = number
        self.fired = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._device, name)

    def put(self, stream: Any, array: Any) -> Any:
        """A copy in, which may fail."""
        self._count()
        return self._device.put(stream, array)

    def read(self, value: Any) -> Any:
        """A copy out, which may fail."""
        self._count()
        return self._device.read(value)

    def _count(self) -> None:
        self._left -= 1
        if self._left == -1:
            self.fired = True
            raise Injected("the bus is down")
