"""Flags: the one table of what can be tuned from outside, and the one reader of the environment."""

import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from math import inf
from pathlib import Path
from typing import Any, Generic, NoReturn, TypeAlias, TypeVar

from .errors import ArgumentError
from .paddle_flags import DEFAULTS
from .setting import WATCH, Setting

Value: TypeAlias = bool | int | float | str
T = TypeVar("T", bound=Value)

_TRUTHS = dict.fromkeys(("1", "true", "yes", "on"), True) | dict.fromkeys(("", "0", "false", "no", "off"), False)


class Flag(Generic[T]):
    """One flag: a name, a default whose type is the flag's type, its environment variable and what it does.

    watched: whether operators obey it while they run, so that hot paths must know when it is on.
    least, most: the smallest and largest value of a number. words: those that a comma-separated text may consist of.
    """

    __slots__ = ("default", "doc", "env", "least", "most", "name", "setting", "words")

    def __init__(
        self, name: str, default: T, env: str, doc: str, *, watched: bool = False,
        least: float = -inf, most: float = inf, words: Collection[str] = (),
    ) -> None:  # fmt: skip
        self.name = name
        self.default = default
        self.env = env
        self.doc = doc
        self.least = least
        self.most = most
        self.words = words
        text = os.environ.get(env)
        self.setting: Setting[T] = Setting(name, default, WATCH if watched else None)
        if text is not None:
            self.setting.set(self._parse(text))

    @property
    def value(self) -> T:
        """The value in force here."""
        return self.setting.get()

    def set(self, value: object) -> None:
        """Change the value: in the innermost guard, or for the process outside any."""
        self.setting.set(self._checked(value))

    @contextmanager
    def scope(self, value: object) -> Iterator[None]:
        """Use `value` inside the block, in this thread or task alone."""
        with self.setting.scope(self._checked(value)):
            yield

    def _parse(self, text: str) -> T:
        """Return the value that an environment variable's text means."""
        parsed: object = text
        if isinstance(self.default, bool):
            parsed = _TRUTHS.get(text.strip().lower(), text)
        elif isinstance(self.default, int | float):
            with suppress(ValueError):
                parsed = type(self.default)(text)
        return self._checked(parsed)

    def _checked(self, value: object) -> T:
        """Return `value` if it has the flag's type; raise ArgumentError if not."""
        wanted = type(self.default)
        if wanted is bool and value in (0, 1):
            value = bool(value)
        elif wanted is float and type(value) is int:
            value = float(value)
        if type(value) is not wanted:
            self._refuse(wanted.__name__, value)
        if isinstance(value, int | float) and not self.least <= value <= self.most:
            limits = f"from {self.least:g} to {self.most:g}" if self.most < inf else f"of {self.least:g} or more"
            self._refuse(f"a number {limits}", value)
        if self.words and isinstance(value, str) and value and not words_of(value) <= set(self.words):
            self._refuse(f"some of {','.join(self.words)}", value)
        return value

    def _refuse(self, wanted: str, value: object) -> NoReturn:
        raise ArgumentError(f"flag {self.name!r} ({self.env}) takes {wanted}, but received {value!r}", hint=self.doc)


def words_of(text: str) -> set[str]:
    """Return the words of a comma-separated text.

    >>> sorted(words_of("ssa, passes"))
    ['passes', 'ssa']
    """
    return {word.strip() for word in text.split(",")}


DEBUG = Flag(
    "debug", False, "VITRIFY_DEBUG", "keep vitrify's own frames in tracebacks and verify graphs after each pass"
)
STAGES = ("converted", "program", "ssa", "passes", "kernels", "steps")
DUMP = Flag("dump", "", "VITRIFY_DUMP", f"stages to write out, comma-separated: {','.join(STAGES)}", words=STAGES)
DUMP_DIR = Flag("dump_dir", "vitrify_dump", "VITRIFY_DUMP_DIR", "folder that dumped stages are written to")
CACHE_DIR = Flag("cache_dir", "", "VITRIFY_CACHE_DIR", "folder for compiled kernels; empty: the user's cache folder")
CACHE_MB = Flag(
    "cache_mb", 256, "VITRIFY_CACHE_MB", "size limit of that folder, in MiB; 0 keeps nothing on disk", least=0
)
KEEP_FREED_MB = Flag(
    "keep_freed_mb",
    1024,
    "VITRIFY_KEEP_FREED_MB",
    "freed memory kept for the next arrays, in MiB, from import on",
    least=0,
)
NUM_THREADS = Flag("num_threads", 0, "VITRIFY_NUM_THREADS", "threads that kernels use; 0: one a core", least=0)
NATIVE = Flag(
    "native", True, "VITRIFY_NATIVE", "compile kernels to machine code where possible; off: NumPy or CuPy only"
)
NATIVE_AFTER_MS = Flag(
    "native_after_ms",
    15.0,
    "VITRIFY_NATIVE_AFTER_MS",
    "milliseconds that a group of operators has run, by estimate, before it is compiled; 0: it is at once",
    least=0,
)
ACTIVATION_BUDGET = Flag(
    "activation_budget",
    1.0,
    "VITRIFY_ACTIVATION_BUDGET",
    "share of the bytes that a program built from now on may keep for backward; what else it needs is computed again",
    least=0,
    most=1,
)
CHECK_NAN_INF = Flag(
    "check_nan_inf",
    False,
    "FLAGS_check_nan_inf",
    "stop at the first op whose result has a NaN or an infinity",
    watched=True,
)
BENCHMARK = Flag(
    "benchmark",
    False,
    "FLAGS_benchmark",
    "run operators one by one, wait for the device after each, and time it",
    watched=True,
)
SERIAL_RUN = Flag(
    "new_executor_serial_run",
    False,
    "FLAGS_new_executor_serial_run",
    "programs run in the caller's thread, one operator after the other, whatever their mode",
    watched=True,
)
SEQUENTIAL_RUN = Flag(
    "new_executor_sequential_run",
    False,
    "FLAGS_new_executor_sequential_run",
    "each operator of a program waits for the one before it, also on threads and streams",
    watched=True,
)
DETERMINISTIC = Flag(
    "cudnn_deterministic",
    False,
    "FLAGS_cudnn_deterministic",
    "prints, random draws and errors come in the order of the program in every mode; GPU sums add up in one order",
    watched=True,
)
HANG_SECONDS = Flag(
    "hang_seconds", 600.0, "VITRIFY_HANG_SECONDS", "how long a run waits while nothing ends; 0: for ever", least=0
)
CODE_LEVEL = Flag(
    "code_level", 0, "TRANSLATOR_CODE_LEVEL", "print converted code after this many transformers; 100: after all"
)
VERBOSITY = Flag("verbosity", 0, "TRANSLATOR_VERBOSITY", "how much the conversion logs: 0 nothing, 10 everything")

FLAGS: Mapping[str, Flag[Any]] = {
    flag.name: flag
    for flag in (
        DEBUG,
        DUMP,
        DUMP_DIR,
        CACHE_DIR,
        CACHE_MB,
        KEEP_FREED_MB,
        NUM_THREADS,
        NATIVE,
        NATIVE_AFTER_MS,
        ACTIVATION_BUDGET,
        CHECK_NAN_INF,
        BENCHMARK,
        SERIAL_RUN,
        SEQUENTIAL_RUN,
        HANG_SECONDS,
        DETERMINISTIC,
        CODE_LEVEL,
        VERBOSITY,
    )
}


def _find(name: str) -> Flag[Any]:
    """Return the flag of this name, with or without Paddle's prefix `FLAGS_`; raise ArgumentError if there is none."""
    short = name.removeprefix("FLAGS_")
    flag = FLAGS.get(short)
    if flag is None and short not in DEFAULTS:
        raise ArgumentError(f"there is no flag {name!r}; the flags are {', '.join(FLAGS)}")
    return flag or _without_effect(short)


@cache
def _without_effect(name: str) -> Flag[Any]:
    return Flag(name, DEFAULTS[name], f"FLAGS_{name}", "a flag of PaddlePaddle that nothing here reads")


def get_flags(flags: str | Iterable[str]) -> dict[str, Value]:
    """Return the values of the named flags, under the names given. Source: paddle.get_flags.

    >>> get_flags("FLAGS_check_nan_inf")
    {'FLAGS_check_nan_inf': False}
    """
    names = [flags] if isinstance(flags, str) else list(flags)
    return {name: _find(name).value for name in names}


def set_flags(flags: Mapping[str, Value]) -> None:
    """Change flags: in the innermost guard of each, or for the process outside any. Raises ArgumentError.

    Those of PaddlePaddle that have no meaning here are kept and have no effect. Source: paddle.set_flags.

    >>> with flags_guard({"debug": False}):
    ...     set_flags({"debug": True})
    """
    for name, value in flags.items():
        _find(name).set(value)


@contextmanager
def flags_guard(flags: Mapping[str, Value]) -> Iterator[None]:
    """Use these values inside the block, in this thread or task alone."""
    with ExitStack() as stack:
        for name, value in flags.items():
            stack.enter_context(_find(name).scope(value))
        yield


def blas_is_single() -> bool:
    """Return whether matrix products use one thread each, as far as the environment says."""
    return "1" in (os.environ.get("OPENBLAS_NUM_THREADS"), os.environ.get("OMP_NUM_THREADS"))


def kernel_threads() -> int:
    """Return how many threads one kernel may use: the flag, else `$OMP_NUM_THREADS`, else one for each core we have."""
    if NUM_THREADS.value > 0:
        return NUM_THREADS.value
    text = os.environ.get("OMP_NUM_THREADS", "")
    if text.isdigit() and int(text) > 0:
        return int(text)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def may_use_amx() -> bool:
    """Return whether `$ONEDNN_MAX_CPU_ISA`, by which the instructions of PaddlePaddle and PyTorch are limited, allows
    for tiles: it does unless it names a set of instructions without them.
    """
    limit = os.environ.get("ONEDNN_MAX_CPU_ISA", "").strip().upper()
    return limit in ("", "ALL", "DEFAULT") or "AMX" in limit


def cache_dir() -> Path:
    """Return the folder for compiled kernels: the flag, else `$XDG_CACHE_HOME/vitrify`, else `~/.cache/vitrify`."""
    if CACHE_DIR.value:
        return Path(CACHE_DIR.value)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "vitrify"


def launched_processes() -> int:
    """Return how many processes the launcher that started this one says there are; 1 without a launcher."""
    text = os.environ.get("PADDLE_TRAINERS_NUM", "1")
    return int(text) if text.isdigit() else 1
