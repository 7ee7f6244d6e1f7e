"""paddle.profiler: what a program does when, as a trace for Chrome or Perfetto and as tables."""

from ..core.timeline import TracerEventType
from .export import export_chrome_tracing, load_profiler_result
from .profiler import Profiler
from .record_event import RecordEvent
from .states import ProfilerState, ProfilerTarget, make_scheduler
from .summary import SortedKeys, SummaryView

__all__ = [
    "Profiler",
    "ProfilerState",
    "ProfilerTarget",
    "RecordEvent",
    "SortedKeys",
    "SummaryView",
    "TracerEventType",
    "export_chrome_tracing",
    "load_profiler_result",
    "make_scheduler",
]
