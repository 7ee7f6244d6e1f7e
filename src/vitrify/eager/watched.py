"""Running one op while a flag or a profiler is on: what the engine does, noted, timed and checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from ..core.config import BENCHMARK, CHECK_NAN_INF
from ..core.inspector import show
from ..core.source import user_frames
from ..core.timeline import TIMELINE, Timeline, TracerEventType, now
from ..device.api import wait_for
from ..ops.failure import metas_of
from ..ops.finite import check_finite
from ..ops.registry import OpDef
from ..ops.work import arithmetic
from .kernels import check_inputs, run_kernel

Check = Callable[[OpDef, list[Any], Mapping[str, Any]], None]
Run = Callable[[OpDef, list[Any], Mapping[str, Any]], Any]


def apply_watched(
    apply: Callable[..., Any],
    op: OpDef,
    inputs: Sequence[Any],
    arrays: list[Any],
    attrs: Mapping[str, Any],
    wanted: bool,
) -> Any:
    """What `apply` gives, which takes the meta rule and the kernel to call as its last arguments."""
    timeline = TIMELINE.get()
    run = partial(_run, timeline)
    if timeline is None:
        return apply(op, inputs, arrays, attrs, wanted, check_inputs, run)
    start = now()
    result = apply(op, inputs, arrays, attrs, wanted, partial(_check, timeline), run)
    end = now()
    args: dict[str, Any] = {"inputs": metas_of(arrays)} if timeline.record_shapes else {}
    if timeline.with_flops:
        args["flops"] = arithmetic(op, metas_of(arrays), attrs)
    if timeline.record_places:
        args["where"] = next(iter(user_frames(limit=1)), None)
    timeline.add(TracerEventType.Operator, op.name, start, end, args)
    return result


def _check(timeline: Timeline, op: OpDef, arrays: list[Any], attrs: Mapping[str, Any]) -> None:
    start = now()
    check_inputs(op, arrays, attrs)
    timeline.add(TracerEventType.InferMeta, f"{op.name} infer_meta", start, now())


def _run(timeline: Timeline | None, op: OpDef, arrays: list[Any], attrs: Mapping[str, Any]) -> Any:
    start = now()
    out = run_kernel(op, arrays, attrs)
    results = out if op.multiple else [out]
    if BENCHMARK.value:
        wait_for(results)
    if timeline is not None:
        timeline.add(TracerEventType.Kernel, f"{op.name} kernel", start, now())
        if timeline.profile_memory:
            for array in results:
                timeline.allocated(array, op.name)
    if CHECK_NAN_INF.value:
        check_finite(op.name, results)
    show(op, arrays, results)
    return out
