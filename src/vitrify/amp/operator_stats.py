"""How often operators were called, by the dtype that they computed in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import Lock
from typing import Any

from ..core.dtype import DType
from ..core.inspector import dismiss, enlist
from ..core.outside import outside_programs
from ..ops.registry import StructuralGradient

_COLUMNS = ("float16", "bfloat16", "float32", "")
_HEAD = f"""<{"-" * 55} op list {"-" * 56}>
<{"-" * 15} Op Name {"-" * 16} | -- FP16 Calls --- | -- BF16 Calls --- | --- FP32 Calls--- | -- Other Calls -->"""


class OperatorStats:
    """Counts the calls of operators."""

    def __init__(self) -> None:
        self._calls: dict[str, Counter[str]] = {}
        self._lock = Lock()

    def saw(self, op: Any, dtype: DType | None, results: Sequence[Any]) -> None:
        """Count a call; branches and loops are what their operators are."""
        if isinstance(op.vjp, StructuralGradient):
            return
        name = "" if dtype is None or dtype.name not in _COLUMNS else dtype.name
        with self._lock:
            self._calls.setdefault(op.name, Counter())[name] += 1

    def __str__(self) -> str:
        rows = [
            f"  {name:<40}" + "".join(f"|  {calls[column]:<17}" for column in _COLUMNS)
            for name, calls in sorted(self._calls.items())
        ]
        return "\n".join([_HEAD, *rows, f"<{'-' * 53} op count: {len(rows)} {'-' * 54}>", ""])


def enable_operator_stats_collection() -> None:
    """Count the calls of operators from here on, by what they compute in: float16, bfloat16, float32, anything else.

    That is the dtype of the first tensor that an op takes, or else gives. Operators of programs count as they were
    recorded. Raises UnsupportedError in a function that is compiled with full_graph=True.
    Source: paddle.amp.debugging.enable_operator_stats_collection.

    Example:
        >>> import vitrify as paddle
        >>> paddle.amp.debugging.enable_operator_stats_collection()
        >>> x = paddle.to_tensor([1.0]).exp()
        >>> paddle.amp.debugging.disable_operator_stats_collection()
        <--...-- op list --...-->
        <--------------- Op Name ---------------- | -- FP16 Calls --- | -- BF16 Calls --- | --- FP32 Calls--- | ...
          exp                                     |  0                |  0                |  1                |  0
        <--...-- op count: 1 --...-->
        <BLANKLINE>
    """
    outside_programs("enable_operator_stats_collection")
    dismiss(OperatorStats)
    enlist(OperatorStats())


def disable_operator_stats_collection() -> None:
    """Print what was counted since `enable_operator_stats_collection`, and count no more; nothing where none was on.

    Raises UnsupportedError in a function that is compiled with full_graph=True.
    Source: paddle.amp.debugging.disable_operator_stats_collection.

    Example:
        >>> import vitrify as paddle
        >>> paddle.amp.debugging.disable_operator_stats_collection()
    """
    outside_programs("disable_operator_stats_collection")
    for stats in dismiss(OperatorStats):
        print(stats)


@contextmanager
def collect_operator_stats() -> Iterator[None]:
    """A context in which calls of operators are counted by dtype; at its end the counts are printed.

    Raises UnsupportedError in a function that is compiled with full_graph=True.
    Source: paddle.amp.debugging.collect_operator_stats.

    Example:
        >>> import vitrify as paddle
        >>> x, y = paddle.ones([2, 3]), paddle.ones([3, 2])
        >>> with paddle.amp.debugging.collect_operator_stats():
        ...     with paddle.amp.auto_cast(dtype="bfloat16"):
        ...         z = paddle.matmul(x, y)
        <--...-- op list --...-->
        <--------------- Op Name ---------------- | -- FP16 Calls --- | -- BF16 Calls --- | --- FP32 Calls--- | ...
          cast                                    |  0                |  0                |  2                |  0
          matmul                                  |  0                |  1                |  0                |  0
        <--...-- op count: 2 --...-->
        <BLANKLINE>
    """
    enable_operator_stats_collection()
    try:
        yield
    finally:
        disable_operator_stats_collection()
