"""Where we differ from Paddle on purpose, and why. An entry that matches no differing case is stale."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase


@dataclass(frozen=True)
class Deliberate:
    """A class of differences: patterns of the case's text and of the kind of difference, and the reason."""

    case: str
    kind: str
    reason: str

    def covers(self, case: str, kind: str) -> bool:
        """Say whether this is the reason for a difference."""
        return fnmatchcase(kind, self.kind) and fnmatchcase(case.replace("[", "("), self.case.replace("[", "("))


INTEGERS = "positions are integers, which have no gradient"
ROUNDED = "Paddle rounds the settings of float64 functions to float32"
DELIBERATE: tuple[Deliberate, ...] = (
    Deliberate("paddle.nn.functional.selu(float64*", "*", ROUNDED),
    Deliberate("paddle.nn.functional.hardsigmoid(float64*", "*", ROUNDED),
    Deliberate("paddle.nn.functional.*max_pool*True)", "stop_gradient", INTEGERS),
    Deliberate("paddle.nn.AdaptiveMaxPool*return_mask=True)", "stop_gradient", INTEGERS),
    Deliberate(
        "paddle.nn.functional.cross_entropy(*ignore_index=2, label_smoothing=0.1)",
        "values",
        "ignored classes do not count, as its documentation says; Paddle looks for 2 among the smoothed labels",
    ),
    Deliberate(
        "paddle.nn.functional.cross_entropy(*probability, soft_label=True*",
        "gradient",
        "the derivative of the loss; Paddle's is that only where each row of labels sums to 1",
    ),
)


def reason_for(case: str, kind: str) -> Deliberate | None:
    """Return the entry that explains a difference, if one does."""
    return next((entry for entry in DELIBERATE if entry.covers(case, kind)), None)
