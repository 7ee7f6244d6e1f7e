"""Tables and charts of text."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

COLUMNS, LINES = 64, 8
BARS = " ▁▂▃▄▅▆▇█"


def table(title: str, head: Sequence[str], lines: Sequence[Sequence[str]], left: Collection[int] = (0,)) -> str:
    """The lines under a title, in columns, those in `left` flush left and the others right. Empty without lines."""
    if not lines:
        return ""
    widths = [max(len(cells[i]) for cells in (head, *lines)) for i in range(len(head))]

    def joined(cells: Sequence[str]) -> str:
        placed = [f"{c:<{w}}" if i in left else f"{c:>{w}}" for i, (c, w) in enumerate(zip(cells, widths))]
        return "  ".join(placed).rstrip()

    rule = "-" * len("  ".join("-" * w for w in widths))
    return "\n".join([title, rule, joined(head), rule, *map(joined, lines)])


def chart(points: Sequence[tuple[int, int]], start: int, end: int, text: Callable[[float], str]) -> list[str]:
    """A curve that steps at each point (time, value), as lines of bars; each column shows its largest value."""
    highest = _columns(points, start, end)
    top = max(highest) or 1
    lines = []
    for level in range(LINES, 0, -1):
        bars = "".join(_bar(value / top * LINES - (level - 1)) for value in highest)
        label = text(top * level / LINES) if level in (LINES, LINES // 2) else ""
        lines.append(f"{label:>10} |{bars}".rstrip())
    return [*lines, f"{'0':>10} +{'-' * COLUMNS}"]


def _columns(points: Sequence[tuple[int, int]], start: int, end: int) -> list[int]:
    highest = [0] * COLUMNS
    width = max(end - start, 1) / COLUMNS
    value, column = 0, 0
    for time, after in points:
        here = min(max(int((time - start) / width), 0), COLUMNS - 1)
        for passed in range(column, here + 1):
            highest[passed] = max(highest[passed], value)
        value, column = after, here
        highest[here] = max(highest[here], value)
    for passed in range(column + 1, COLUMNS):
        highest[passed] = value
    return highest


def _bar(height: float) -> str:
    return BARS[round(min(max(height, 0.0), 1.0) * (len(BARS) - 1))]
