"""Where we differ from Paddle on purpose, and why. An entry that matches no differing case is stale."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase


@dataclass(frozen=True)
class Deliberate:
    """A class of differences: patterns of the case's text, the kind of difference (alternatives by |), the reason."""

    cases: tuple[str, ...]
    kinds: str
    reason: str

    def covers(self, case: str, kind: str) -> bool:
        """Say whether this is the reason for a difference."""
        if not any(fnmatchcase(kind, pattern) for pattern in self.kinds.split("|")):
            return False
        return any(fnmatchcase(case.replace("[", "("), pattern.replace("[", "(")) for pattern in self.cases)


DELIBERATE: tuple[Deliberate, ...] = (
    Deliberate(
        ("*",), "error class AssertionError",
        "Paddle asserts; vitrify raises ValueError, TypeError or IndexError, which also `python -O` keeps",
    ),
    Deliberate(
        ("*",), "error class RuntimeError",
        "what Paddle's kernels refuse as RuntimeError are arguments that do not fit: ValueError or TypeError",
    ),
    Deliberate(
        ("paddle.*], 2)", "paddle.*], 2.5)", "paddle.*], True)"), "only Paddle raises",
        "functions of two tensors take a Python number for the second, as the operators do",
    ),
    Deliberate(
        ("*sinc*complex*", "*stanh*complex*", "*pow*complex*", "*prod*complex*"), "gradient",
        "Paddle leaves out the conjugate in these complex gradients; ours agree with finite differences",
    ),
    Deliberate(
        ("*clip*=float*", "*scale(*scale=float*", "*lerp*(float*, float*, float*", "*diagonal_scatter*",
         "*masked_fill*bool*, float32[])", "*masked_fill*bool*, complex64[])"), "gradient",
        "bounds, factors, weights and values that are tensors get their gradient; Paddle gives none, or zeros",
    ),
    Deliberate(("*.unfold*",), "gradient", "where windows overlap, their cotangents add up"),
    Deliberate(("*.gather(*int64[] below*axis=1)",), "gradient", "Paddle puts it into another place than it read from"),
    Deliberate(("*index_select*[-1]*",), "gradient", "Paddle puts that of a negative index into slice 0"),
    Deliberate(("*as_strided*",), "values|only we raise|error class*", "Paddle counts `offset` in bytes and reads past the tensor"),
    Deliberate(("*.isin(*, float32[]*",), "shape", "the result has the shape of x, as documented"),
    Deliberate(("*.mean(bool*",), "dtype", "the mean of truth values is a share, not a truth value"),
    Deliberate(("*deg2rad*(uint8*", "*rad2deg*(uint8*"), "dtype", "an angle in whole radians is of no use: float32 as for other integers"),
    Deliberate(("*.pow*(int* positive, 0.5)",), "dtype", "Paddle cuts the exponent off to an integer, but not in `x ** 0.5`"),
    Deliberate(
        ("*transpose*[0, 1])", "*permute*[0, 1])", "*transpose*(float32[3], [])"), "only we raise",
        "perm must name each dimension once, as documented",
    ),
    Deliberate(("*argmax*[], axis=*", "*argmin*[], axis=*"), "shape", "what is kept of no dimensions is no dimension"),
    Deliberate(("*histogram(float32[0]*",), "dtype", "counts are int64, also of nothing"),
    Deliberate(("*__bool__*",), "values", "truth is x != 0; Paddle asks x > 0"),
    Deliberate(("*.numpy(bfloat16*", "*.tolist(bfloat16*"), "dtype|values", "the numbers, not their bits as uint16"),
    Deliberate(("*__neg__(bool*",), "only we raise", "Paddle gives the tensor back unchanged"),
    Deliberate(
        ("*stanh*(float64*", "*atan2(int*", "*hypot*float64*", "*divide*float64[]*"), "values|gradient",
        "Paddle computes in float32 inside; vitrify in the dtype of the result",
    ),
    Deliberate(("*divide(bool*",), "dtype", "a quotient of truth values is float32; Paddle gives bool where it broadcasts"),
    Deliberate(("*.var(int*", "*nanmedian(int*"), "dtype", "float32 as `std` and `median` give, where Paddle cuts fractions off"),
    Deliberate(("Tensor.clip_(*",), "values", "without bounds nothing is clipped; Paddle fills with the smallest integer"),
    Deliberate(("*erfinv*",), "values", "NaN outside of [-1, 1], where there is no inverse; Paddle gives infinities"),
)  # fmt: skip


def reason_for(case: str, kind: str) -> Deliberate | None:
    """Return the entry that explains a difference, if one does."""
    return next((entry for entry in DELIBERATE if entry.covers(case, kind)), None)
