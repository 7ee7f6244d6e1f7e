"""Profiler: records the steps that a scheduler chooses."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from types import TracebackType

from ..core.errors import ArgumentError
from ..core.timeline import READER, TIMELINE, Timeline, TracerEventType, now
from .export import export, export_chrome_tracing
from .result import ProfilerResult
from .states import ProfilerState, ProfilerTarget, Scheduler, as_scheduler
from .summary import SortedKeys, SummaryView, summary_text
from .timer import StepTimer

DEFAULT_FOLDER = "./profiler_log/"


class Profiler:
    """Records what runs in the steps that `scheduler` chooses, in all threads of the process.

    targets: devices; operators of all that are used are recorded in any case. scheduler: a function from the number of
    a step to a ProfilerState (`make_scheduler`), a pair (start, end) of steps, or None for all. on_trace_ready: called
    with the Profiler when a recording is over, by default `export_chrome_tracing("./profiler_log/")`. record_shapes:
    note the metas of operators' inputs. profile_memory: note the memory of what operators make. timer_only: record no
    events, only how long steps and their data take. with_flops: note the arithmetic that operators with a known cost
    take. emit_nvtx and custom_device_types are accepted for Paddle's sake. Raises ArgumentError for a scheduler without
    steps. Source: paddle.profiler.Profiler.

    Example:
        >>> import vitrify as paddle
        >>> with paddle.profiler.Profiler(scheduler=(1, 3), on_trace_ready=lambda p: p.export("/tmp/steps.json")) as p:
        ...     for _ in range(4):
        ...         y = paddle.ones([2]) + 1
        ...         p.step()
        >>> [event.name for event in p.profiler_result.events if event.name.startswith("Prof")]
        ['ProfileStep#1', 'ProfileStep#2']
    """

    def __init__(
        self,
        *,
        targets: Iterable[ProfilerTarget] | None = None,
        scheduler: Scheduler | tuple[int, int] | None = None,
        on_trace_ready: Callable[[Profiler], None] | None = None,
        record_shapes: bool = False,
        profile_memory: bool = False,
        timer_only: bool = False,
        emit_nvtx: bool = False,
        custom_device_types: Sequence[str] = (),
        with_flops: bool = False,
    ) -> None:
        self.targets = list(ProfilerTarget) if targets is None else list(targets)
        self.scheduler = as_scheduler(scheduler)
        self.on_trace_ready = on_trace_ready or export_chrome_tracing(DEFAULT_FOLDER)
        self.timer_only = timer_only
        self.step_num = 0
        self.current_state = ProfilerState.CLOSED
        self.profiler_result: ProfilerResult | None = None
        """What was recorded last."""
        self._notes = {"record_shapes": record_shapes, "profile_memory": profile_memory, "with_flops": with_flops}
        self._timer: StepTimer | None = None
        self._timeline: Timeline | None = None
        self._step_start = 0
        self._events_before = 0

    # -- from start to stop -------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Begin with step 0. Raises ArgumentError if this Profiler runs, or another one records."""
        if self._timer is not None:
            raise ArgumentError("Profiler.start: it runs already", hint="call stop() first")
        self._timer = StepTimer()
        READER.set(self._timer.read)
        self._enter(self.scheduler(self.step_num))

    def step(self, num_samples: int | None = None) -> None:
        """One step is over and the next begins; num_samples: how many samples the step saw."""
        if self._timer is None:
            return
        self._timer.step(num_samples)
        self._end_step()
        self.step_num += 1
        self._enter(self.scheduler(self.step_num))

    def stop(self) -> None:
        """End the recording; `on_trace_ready` gets what there is. With timer_only the times of steps are printed."""
        if self._timer is None:
            return
        timer, self._timer = self._timer, None
        READER.set(None)
        timeline = self._timeline
        if timeline is not None and len(timeline) > self._events_before:
            self._end_step()
        self._close()
        self.current_state = ProfilerState.CLOSED
        if self.timer_only:
            print(timer.summary())

    def __enter__(self) -> Profiler:
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, err: BaseException | None, tb: TracebackType | None) -> None:
        self.stop()

    def _enter(self, state: ProfilerState) -> None:
        """Go over to the state of the next step."""
        before, self.current_state = self.current_state, state
        if before is ProfilerState.RECORD_AND_RETURN or not state.records:
            self._close()
        if state.records and not self.timer_only and self._timeline is None:
            self._open()
        self._step_start = now()
        self._events_before = 0 if self._timeline is None else len(self._timeline)

    def _open(self) -> None:
        if TIMELINE.get() is not None:
            raise ArgumentError("Profiler: another one records", hint="stop it first")
        self._timeline = Timeline(**self._notes)
        TIMELINE.set(self._timeline)

    def _close(self) -> None:
        timeline, self._timeline = self._timeline, None
        if timeline is not None:
            TIMELINE.set(None)
            timeline.close()
            self.profiler_result = ProfilerResult.of(timeline)
            self.on_trace_ready(self)

    def _end_step(self) -> None:
        if self._timeline is not None:
            name = f"ProfileStep#{self.step_num}"
            self._timeline.add(TracerEventType.ProfileStep, name, self._step_start, now())

    # -- what was found -----------------------------------------------------------------------------------------------

    def step_info(self, unit: str | None = None) -> str:
        """How long the steps since the last call took on average, of that the data, and samples a second.

        unit: what samples are called, "samples" by default; without `num_samples` steps are counted.
        """
        return "" if self._timer is None else self._timer.info(unit)

    def export(self, path: str = "", format: str = "json") -> None:
        """Write what was recorded last as a trace that Chrome and Perfetto show.

        Raises ArgumentError for another format than "json", and while nothing was recorded.
        """
        export(self.profiler_result, path, format)

    def summary(
        self,
        sorted_by: SortedKeys = SortedKeys.CPUTotal,
        op_detail: bool = True,
        thread_sep: bool = False,
        time_unit: str = "ms",
        views: SummaryView | Sequence[SummaryView] | None = None,
    ) -> None:
        """Print what was recorded last as tables.

        sorted_by: the order of rows. op_detail: with the parts of each operator. thread_sep: a table for each thread.
        time_unit: "s", "ms", "us" or "ns". views: which tables, all by default.
        """
        if self.profiler_result is None:
            print("nothing was recorded")
        else:
            print(summary_text(self.profiler_result, sorted_by, op_detail, thread_sep, time_unit, views))
