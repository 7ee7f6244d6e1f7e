"""Says whether two records of one case agree, and if not, in what they differ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.conformance.execution import Record

TOLERANCE = {"float16": 4e-3, "bfloat16": 3e-2, "float32": 3e-5, "complex64": 3e-5, "float64": 1e-9, "complex128": 1e-9}


@dataclass(frozen=True)
class Verdict:
    """How a case went: `agree`, `more` (we do what the peer cannot), `skipped`, or the kind of difference; and why."""

    kind: str
    why: str = ""

    @property
    def counts(self) -> bool:
        """Whether the case says anything: the peer has the API."""
        return self.kind != "skipped"

    @property
    def differs(self) -> bool:
        """Whether the two disagree."""
        return self.kind not in ("agree", "more", "skipped")


AGREE = Verdict("agree")
BRACKETS = str.maketrans("[]", "()")  # a list is as good a default as a tuple


def compare(ours: Record, theirs: Record, rtol: float | None = None) -> Verdict:
    """Return the verdict on a pair of records."""
    if theirs["kind"] == "absent":
        return Verdict("skipped", "Paddle has no such API")
    if ours["kind"] == "absent":
        return Verdict("missing")
    if theirs["kind"] in ("crash", "timeout"):
        return Verdict("more", f"Paddle: {theirs['kind']}") if ours["kind"] in ("value", "error") else AGREE
    if ours["kind"] in ("crash", "timeout"):
        return Verdict(ours["kind"])
    if theirs["kind"] == "signature":
        return compare_signatures(ours["parameters"], theirs["parameters"])
    if "error" in (ours["kind"], theirs["kind"]):
        return compare_errors(ours, theirs)
    why = difference(ours["result"], theirs["result"], rtol)
    if why is not None:
        return Verdict(*why)
    why = lists_differ("argument", ours["arguments"], theirs["arguments"], rtol)
    return Verdict(*why) if why else compare_gradients(ours.get("gradients"), theirs.get("gradients"), rtol)


def compare_signatures(ours: Any, theirs: Any) -> Verdict:
    """Return whether each parameter of the peer's is one of ours, in order, with the same default."""
    if ours is None or theirs is None:
        return Verdict("skipped", "no signature to be had")
    ours, theirs = ([(name, default.translate(BRACKETS)) for name, default in one] for one in (ours, theirs))
    names = [name for name, _ in ours]
    lacking = [name for name, _ in theirs if name not in names]
    if lacking:
        return Verdict("signature", f"lacks {', '.join(lacking)}: {ours} against {theirs}")
    common = [pair for pair in ours if pair[0] in {name for name, _ in theirs}]
    if [name for name, _ in common] != [name for name, _ in theirs]:
        return Verdict("signature", f"order: {ours} against {theirs}")
    for (name, mine), (_, other) in zip(common, theirs):
        if mine != other:
            return Verdict("signature", f"default of {name}: {mine or 'none'} against {other or 'none'}")
    return AGREE


def compare_errors(ours: Record, theirs: Record) -> Verdict:
    """Return the verdict where one of the two raised."""
    if ours["kind"] != "error":
        if theirs["no_kernel"]:
            return Verdict("more", "Paddle has no kernel")
        return Verdict("only Paddle raises", f"{theirs['classes'][0]}: {theirs['text']}")
    if theirs["kind"] != "error":
        return Verdict("only we raise", f"{ours['classes'][0]}: {ours['text']}")
    if theirs["no_kernel"] or theirs["classes"][0] in ours["classes"]:
        return AGREE
    return Verdict(
        f"error class {theirs['classes'][0]}",
        f"{ours['classes'][0]}: {ours['text']} | Paddle {theirs['classes'][0]}: {theirs['text']}",
    )


def compare_gradients(ours: Any, theirs: Any, rtol: float | None) -> Verdict:
    """Return the verdict on gradients."""
    if isinstance(theirs, dict):
        kind = "agree" if isinstance(ours, dict) else "more" if theirs["no_kernel"] else "only Paddle's backward raises"
        return Verdict(kind, f"backward of Paddle: {theirs['classes'][0]}: {theirs['text']}")
    if isinstance(ours, dict):
        return Verdict("only our backward raises", f"{ours['classes'][0]}: {ours['text']}")
    why = lists_differ("gradient", ours or [], theirs or [], rtol)
    return Verdict(*why) if why else AGREE


Why = tuple[str, str]


def lists_differ(what: str, ours: list[Any], theirs: list[Any], rtol: float | None) -> Why | None:
    """Return how two lists of tensors, with None for absent ones, differ."""
    if len(ours) != len(theirs):
        return what, f"{len(ours)} against {len(theirs)}"
    for place, (mine, other) in enumerate(zip(ours, theirs)):
        if mine is None or other is None:
            if mine is not other:
                return what, f"{place}: {shown(mine)} against {shown(other)}"
        else:
            why = contents_differ(mine, other, rtol)
            if why is not None:
                return what, f"{place}: {why[0]}: {why[1]}"
    return None


def difference(ours: Any, theirs: Any, rtol: float | None) -> Why | None:
    """Return how two results differ: kind and details; None where they agree."""
    if ours[0] != theirs[0]:
        return "type", f"{ours[0]} against {theirs[0]}"
    if ours[0] == "tensor":
        why = contents_differ(ours[1], theirs[1], rtol)
        if why is None and ours[2] != theirs[2] and ours[1][0] in TOLERANCE:  # no one asks integers for a gradient
            why = "stop_gradient", f"{ours[2]} against {theirs[2]}"
        return why
    if ours[0] == "array":
        return contents_differ(ours[1], theirs[1], rtol)
    if ours[0] in ("list", "tuple"):
        if len(ours[1]) != len(theirs[1]):
            return "shape", f"{len(ours[1])} results against {len(theirs[1])}"
        return next(filter(None, (difference(a, b, rtol) for a, b in zip(ours[1], theirs[1]))), None)
    if ours[0] == "dict":
        if [name for name, _ in ours[1]] != [name for name, _ in theirs[1]]:
            return "type", f"keys {[name for name, _ in ours[1]]} against {[name for name, _ in theirs[1]]}"
        return next(filter(None, (difference(a, b, rtol) for (_, a), (_, b) in zip(ours[1], theirs[1]))), None)
    if ours[0] == "plain" and ours[1] == theirs[1] and ours[1] in ("float", "complex"):
        return (
            None
            if close(np.array(ours[2]), np.array(theirs[2]), rtol or 3e-5)
            else ("values", f"{ours[2]} against {theirs[2]}")
        )
    return None if ours == theirs else ("values", f"{ours[1:]} against {theirs[1:]}")


def contents_differ(ours: Any, theirs: Any, rtol: float | None) -> Why | None:
    """Return how two packed tensors differ."""
    if ours[0] != theirs[0]:
        return "dtype", f"{ours[0]} against {theirs[0]}"
    if ours[1] != theirs[1]:
        return "shape", f"{list(ours[1])} against {list(theirs[1])}"
    if ours[2] == theirs[2]:
        return None
    mine, other = unpacked(ours), unpacked(theirs)
    if mine is not None and close(mine, other, rtol or TOLERANCE.get(ours[0], 0.0)):
        return None
    return "values", f"{shown(ours)} against {shown(theirs)}"


def unpacked(content: Any) -> Any:
    """Return the array of packed content; None where it has none."""
    dtype, shape, data = content
    if data is None or dtype == "object":
        return None
    return np.frombuffer(data, "float32" if dtype == "bfloat16" else dtype).reshape(shape)


def close(ours: Any, theirs: Any, rtol: float) -> bool:
    """Say whether values agree: NaN with NaN, infinities with their like, others by their own and the largest size."""
    if ours.dtype.kind == "c":
        if np.all(np.isfinite(ours)) and np.all(np.isfinite(theirs)):
            scale = np.abs(theirs).max(initial=1e-3)
            return bool(np.all(np.abs(ours - theirs) <= rtol * (np.abs(theirs) + 0.1 * scale)))
        return close(ours.real, theirs.real, rtol) and close(ours.imag, theirs.imag, rtol)
    if ours.dtype.kind in "biu":
        return bool(np.array_equal(ours, theirs))
    ours, theirs = ours.astype("float64"), theirs.astype("float64")
    finite = np.isfinite(theirs)
    if not np.array_equal(finite, np.isfinite(ours)) or not np.array_equal(
        ours[~finite], theirs[~finite], equal_nan=True
    ):
        return False
    ours, theirs = ours[finite], theirs[finite]
    scale = np.abs(theirs).max(initial=1e-3)
    return bool(np.all(np.abs(ours - theirs) <= rtol * (np.abs(theirs) + 0.1 * scale)))


def shown(content: Any) -> str:
    """Return a few of the values of packed content."""
    if content is None:
        return "None"
    array = unpacked(content)
    if array is None:
        return f"{content[0]}{list(content[1])}"
    text = np.array2string(array.ravel()[:8], precision=5, separator=",", max_line_width=10**6)
    return f"{content[0]}{list(content[1])} {text}"
