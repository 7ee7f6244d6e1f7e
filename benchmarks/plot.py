"""A picture of what a run measured: each framework's time over the better of vitrify's two, workload by workload."""

from pathlib import Path

from benchmarks.contenders import CONTENDERS, OURS_EAGER, OURS_STATIC
from benchmarks.measure import Result

# One for each framework; what is compiled is filled.
_COLOURS = {"vitrify": "#2060c0", "torch": "#c04020", "jax": "#20a040", "paddle": "#a06020"}


def relative(results: list[Result]) -> dict[str, float]:
    """Return each contender's median over the smaller of vitrify's two, by name; nothing where neither ran."""
    times = {r.contender: r.median for r in results if r.error is None}
    ours = [times[c] for c in (OURS_EAGER, OURS_STATIC) if c in times]
    return {c.name: time / min(ours) for c, time in times.items()} if ours else {}


def plot(found: dict[str, list[Result]], file: Path) -> None:
    """Write the picture, a line for each workload: what lies left of 1 is faster than vitrify."""
    from matplotlib import pyplot

    pyplot.rcParams.update({"svg.hashsalt": "vitrify", "svg.fonttype": "none"})
    rows = {name: relative(results) for name, results in found.items()}
    rows = {name: ratios for name, ratios in reversed(rows.items()) if ratios}
    figure, axes = pyplot.subplots(figsize=(8, 1.2 + 0.35 * len(rows)))
    for contender in CONTENDERS:
        points = [(ratios[contender.name], at) for at, ratios in enumerate(rows.values()) if contender.name in ratios]
        if points:
            colour = _COLOURS[contender.peer]
            fill = colour if contender.mode == "compiled" else "none"
            axes.scatter(*zip(*points), label=contender.name, edgecolors=colour, facecolors=fill, s=45, zorder=2)
    axes.axvline(1, color="#999999", lw=1, zorder=1)
    axes.set_xscale("log", base=2)
    axes.set_yticks(range(len(rows)), [*rows])
    axes.set_xlabel("time of a step over vitrify's (the better of eager and compiled)")
    axes.grid(axis="x", color="#dddddd", lw=0.5)
    axes.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1, 1))
    figure.tight_layout()
    file.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(file, metadata={"Date": None})
    pyplot.close(figure)
