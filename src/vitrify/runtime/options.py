"""What can be chosen about a run of a program, in one value."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

from ..core.config import BENCHMARK, CHECK_NAN_INF, DETERMINISTIC, SEQUENTIAL_RUN, SERIAL_RUN
from ..core.errors import ArgumentError, DTypeError
from ..core.inspector import INSPECTORS
from ..core.timeline import TIMELINE

MODES = ("auto", "trace", "threads", "streams")
OFF, ALLOW, FORCE = GRAPHS = ("off", "allow", "force")
NEVER, AUTO, ALWAYS = NATIVE_CHOICES = ("never", "auto", "always")
COLLECTORS = ("fast", "event", "none")


@dataclass(frozen=True)
class ExecutionOptions:
    """How a lowered program runs; none of it but `fast_math` changes what it computes.

    Fields:
        mode: "trace" runs instructions one by one in an order computed once, "threads" lets those that do not depend on
            each other run at once, "streams" gives them to streams of the device; "auto" chooses.
        inplace: an operator may write its result into the buffer of an input that nothing needs any more.
        addto: gradients of one variable are added into one buffer instead of summed from several.
        gc: "fast" frees a buffer when its last use was started, "event" when it is over, "none" at the end of the run.
        threads: how many threads the mode "threads" uses; 0: one a core.
        serial: operators run one by one in the order of the program, whatever the mode could do.
        sequential: each operator waits for the one before it, also on threads and streams.
        deterministic: effects and errors come in the order of the program, whatever the mode.
        keep_scopes: after how many runs the scope with a run's temporaries is dropped; 1: none is made.
        graph: on a GPU "allow" captures programs as CUDA graphs, which are launched as one piece; "force" raises
            GraphCaptureError where that cannot be, "off" never does it.
        iterations: how often a call runs the program; what is fetched is of the last time.
        passes: the program is optimized before it is lowered: its operators are then not those that were recorded.
        fast_math: passes may take floats for real numbers: results are rounded otherwise, and nobody takes care of
            infinities, NaN and the sign of zero.
        native: "auto" compiles groups of operators to machine code when their runs have taken as long as compiling
            would, "always" before they first run, "never" not at all.
        shares_items: lists give back the very arrays that were put into them, by which somebody knows these. Machine
            code copies them, so operators on lists are left to the interpreter.

    >>> ExecutionOptions(serial=True)
    ExecutionOptions(serial=True)
    """

    mode: str = "auto"
    inplace: bool = True
    addto: bool = False
    gc: str = "fast"
    threads: int = 0
    serial: bool = False
    sequential: bool = False
    deterministic: bool = False
    keep_scopes: int = 1
    graph: str = "off"
    iterations: int = 1
    passes: bool = True
    fast_math: bool = False
    native: str = AUTO
    shares_items: bool = False

    def __post_init__(self) -> None:
        for field in fields(self):
            value, wanted = getattr(self, field.name), type(field.default)
            if type(value) is not wanted:
                raise DTypeError(f"ExecutionOptions: {field.name} takes {wanted.__name__}, but received {value!r}")
        for name, allowed in (("mode", MODES), ("gc", COLLECTORS), ("graph", GRAPHS), ("native", NATIVE_CHOICES)):
            value = getattr(self, name)
            if value not in allowed:
                raise ArgumentError(f"ExecutionOptions: {name} is one of {allowed}, but received {value!r}")
        for name, least in (("threads", 0), ("keep_scopes", 1), ("iterations", 1)):
            value = getattr(self, name)
            if value < least:
                raise ArgumentError(f"ExecutionOptions: {name} is {least} or more, but received {value}")

    def __repr__(self) -> str:
        changed: dict[str, Any] = {
            f.name: getattr(self, f.name) for f in fields(self) if getattr(self, f.name) != f.default
        }
        return f"ExecutionOptions({', '.join(f'{name}={value!r}' for name, value in changed.items())})"


DEFAULT = ExecutionOptions()


def in_force(options: ExecutionOptions, optimized: bool = False) -> ExecutionOptions:
    """`options` with what the flags ask for here. Who looks at operators sees those that were recorded.

    optimized: the operators are others now.
    """
    serial, sequential, deterministic = SERIAL_RUN.value, SEQUENTIAL_RUN.value, DETERMINISTIC.value
    if optimized and (TIMELINE.get() is not None or CHECK_NAN_INF.value or BENCHMARK.value or INSPECTORS.get()):
        options = replace(options, passes=False)
    if not (serial or sequential or deterministic):
        return options
    return replace(
        options,
        serial=options.serial or serial,
        sequential=options.sequential or sequential,
        deterministic=options.deterministic or deterministic,
    )
