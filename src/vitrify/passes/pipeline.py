"""The passes in their order, and the one place that runs them: verified, timed and written out on demand."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter

from ..core.config import DEBUG
from ..core.dump import dump, is_dumped
from ..core.lazy import lazy_module
from ..ir.ssa import Graph, map_graphs
from ..ir.ssa_verify import graph_text, verify_graph
from .algebra import simplified
from .common import without_repeats
from .dead import without_dead_code
from .fold import folded
from .fuse import fuse
from .invariants import hoisted
from .parts import gathered
from .unfold import unfolded

_fast_algebra = lazy_module("vitrify.passes.fast_algebra")


@dataclass(frozen=True)
class Pass:
    """A function from Graph to Graph, applied to a graph and to all inside it."""

    name: str
    run: Callable[[Graph], Graph]


CLEANING = (
    Pass("unfold", unfolded),
    Pass("fold constants", folded),
    Pass("simplify", simplified),
    Pass("gather parts", gathered),
    Pass("merge repeats", without_repeats),
    Pass("hoist invariants", hoisted),
    Pass("drop dead code", without_dead_code),
)
PASSES = (*CLEANING, Pass("fuse", fuse))
FAST = Pass("simplify as real numbers", lambda graph: _fast_algebra.simplified_fast(graph))
_SIMPLIFIED = [one.name for one in PASSES].index("simplify") + 1
FAST_PASSES = (*PASSES[:_SIMPLIFIED], FAST, *PASSES[_SIMPLIFIED:])


@dataclass(frozen=True)
class Step:
    """What one pass did: the graph behind it, and how long it took in seconds."""

    name: str
    graph: Graph
    seconds: float


def optimized(graph: Graph, label: str = "", fast_math: bool = False) -> Graph:
    """The graph after all passes. `VITRIFY_DUMP=ssa,passes` writes out the graph before them, and what each changes.

    fast_math: they may take floats for real numbers.
    """
    steps = steps_of(graph, FAST_PASSES if fast_math else PASSES)
    name = "_".join(label.split())
    if is_dumped("ssa"):
        dump("ssa", f"{name}.txt", graph_text(graph))
    if is_dumped("passes"):
        dump("passes", f"{name}.diff", differences(graph, steps))
    return steps[-1].graph


def steps_of(graph: Graph, passes: Sequence[Pass] = PASSES) -> list[Step]:
    """The graph after each pass in turn; under `VITRIFY_DEBUG` each is verified."""
    steps = []
    for one in passes:
        start = perf_counter()
        graph = map_graphs(graph, one.run)
        steps.append(Step(one.name, graph, perf_counter() - start))
        if DEBUG.value:
            verify_graph(graph)
    return steps


def differences(graph: Graph, steps: Sequence[Step]) -> str:
    """The graph as text, and for each pass the lines that it changed, with its time."""
    found = [graph_text(graph)]
    before = found[0]
    for step in steps:
        after = graph_text(step.graph)
        found.append(f"--- {step.name}: {step.seconds * 1e3:.2f} ms{'' if after != before else ', no change'}\n")
        lines = difflib.unified_diff(before.splitlines(True), after.splitlines(True), n=1)
        found += [line for line in lines if not line.startswith(("---", "+++"))]
        before = after
    return "".join(found)


__all__ = ["CLEANING", "FAST_PASSES", "PASSES", "Pass", "Step", "differences", "optimized", "steps_of"]
