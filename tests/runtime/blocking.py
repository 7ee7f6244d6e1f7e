"""An operator whose kernel waits for the test, and programs of it."""

from __future__ import annotations

import threading
import time

import vitrify as paddle
from tests.runtime import graphs
from vitrify.ops.registry import NoGradient, define_op

PATIENCE = 30.0


class Gate:
    """Opened by the test: until then the kernels of operators with one of the `tags` wait.

    With `spared`, a thread, they wait on others only; there until another has begun to.
    """

    def __init__(self) -> None:
        self.tags: set[int] = set()
        self.spared: threading.Thread | None = None
        self.reached = threading.Event()
        self.open = threading.Event()

    def close(self, *tags: int, spared: threading.Thread | None = None) -> None:
        """Let operators with these tags wait from now on."""
        self.tags, self.spared = set(tags), spared
        self.reached.clear()
        self.open.clear()

    def release(self) -> None:
        """Let all go on, now and later."""
        self.tags = set()
        self.open.set()

    def wait(self) -> None:
        """Wait, in a kernel."""
        if threading.current_thread() is self.spared:
            assert self.reached.wait(PATIENCE)
        else:
            self.reached.set()
            assert self.open.wait(PATIENCE)


GATE = Gate()


def _blocking_kernel(xp, x, *, tag):
    if tag in GATE.tags:
        GATE.wait()
    return x + tag


blocking = define_op("blocking_for_tests", kernel=_blocking_kernel, meta=lambda x, *, tag: x, vjp=NoGradient("a test"))


def core(**options):
    """Two chains of four operators each, joined at the end; the tags are 0 to 7."""
    main = paddle.static.Program()
    with paddle.static.program_guard(main):
        x = paddle.static.data("x", [4])
        chains = []
        for start in (0, 4):
            y = x
            for tag in range(start, start + 4):
                y = blocking(y, tag=tag)
            chains.append(y)
        output = chains[0] * chains[1]
    return graphs.core((main, [x], [output]), **options)


def threads_of_runs() -> set[str]:
    """The names of all threads that runs have started and that are there still."""
    return {t.name for t in threading.enumerate() if t.name.startswith(("vitrify-", "stream "))}


def until(condition, seconds: float = PATIENCE) -> bool:
    """Whether `condition` comes true in time."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.002)
    return True
