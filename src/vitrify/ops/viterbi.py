"""The likeliest sequence of tags, by dynamic programming. Source: Viterbi 1967."""

from __future__ import annotations

from typing import Any

from ..core.dtype import int64
from ..core.errors import DTypeError, ShapeError
from ..core.meta import UNKNOWN, Meta
from .compare import less_than
from .creation import arange
from .gather import need_integers, take_along_axis
from .index import index_get_op
from .join import stack
from .like import cast, zeros_like
from .reduce import max as max_of
from .registry import NoGradient, define_op
from .select import where
from .shape import squeeze, unsqueeze
from .statistics import argmax
from .transpose import transpose


def _kernel(xp: Any, potentials: Any, transitions: Any, lengths: Any, *, tagged: bool) -> Any:
    """tagged: the last row says how well each tag begins a sequence, the one before it how well it ends one."""
    longest = int(lengths.max()) if lengths.size else 0
    batch, _, tags = potentials.shape
    if not longest:
        return xp.zeros((batch,), potentials.dtype), xp.zeros((batch, 0), "int64")
    ends = transitions[-2] if tagged else xp.zeros((tags,), transitions.dtype)
    scores = potentials[:, 0] + (transitions[-1] if tagged else 0)
    before = []
    for step in range(1, longest):
        ways = scores[:, :, None] + transitions
        before.append(ways.argmax(1))
        further = (lengths > step)[:, None]
        scores = xp.where(further, ways.max(1) + potentials[:, step], scores)
    scores = scores + ends
    return scores.max(1), _walked_back(xp, scores.argmax(1), before, lengths)


def _walked_back(xp: Any, last: Any, before: list[Any], lengths: Any) -> Any:
    """[batch, longest]: each sequence's tags from its last one back to the first; 0 behind its end."""
    rows = xp.arange(len(last))
    path = xp.zeros((len(last), len(before) + 1), "int64")
    tag = last
    for step in range(len(before), -1, -1):
        inside = lengths > step
        path[:, step] = xp.where(inside, tag, 0)
        if step:
            tag = xp.where(inside, before[step - 1][rows, tag], tag)
    return path


def _meta(potentials: Meta, transitions: Meta, lengths: Meta, *, tagged: bool) -> tuple[Meta, Meta]:
    if potentials.ndim != 3 or transitions.ndim != 2 or lengths.ndim != 1:
        raise ShapeError(
            f"viterbi_decode: potentials is {potentials}, transition_params is {transitions}, lengths is {lengths}; "
            "expected [batch, time, tags], [tags, tags] and [batch]"
        )
    if not potentials.dtype.is_floating or transitions.dtype is not potentials.dtype:
        raise DTypeError(f"viterbi_decode: potentials is {potentials}, transition_params is {transitions}: both floats")
    need_integers("viterbi_decode", lengths, "lengths")
    batch, _, tags = potentials.shape
    pairs = ((tags, transitions.shape[0]), (tags, transitions.shape[1]), (batch, lengths.shape[0]))
    if any(a != b for a, b in pairs if UNKNOWN not in (a, b)):
        raise ShapeError(
            f"viterbi_decode: potentials is {potentials}, transition_params is {transitions}, lengths is {lengths}: "
            "the number of tags or of sequences differs"
        )
    return Meta((batch,), potentials.dtype), Meta((batch, UNKNOWN), int64)


def _in_ops(potentials: Any, transitions: Any, lengths: Any, *, tagged: bool) -> Any:
    """Every step that there is room for, without effect behind the end of a sequence; None for unknown sizes."""
    steps, tags = potentials.shape[1:]
    if UNKNOWN in (steps, tags) or not steps or not tags:
        return None
    lengths = cast(lengths, int64)
    best = potentials[:, 0] + transitions[-1] if tagged else potentials[:, 0]
    before = []
    for step in range(1, steps):
        ways = unsqueeze(best, 2) + transitions
        before.append(argmax(ways, axis=1))
        further = unsqueeze(less_than(zeros_like(lengths) + step, lengths), 1)
        best = where(further, max_of(ways, axis=1) + potentials[:, step], best)
    if tagged:
        best = best + transitions[-2]
    scores = max_of(best, axis=1)
    rows = _rows_in_ops(argmax(best, axis=1), before, lengths)
    longest = max_of(lengths, axis=0)
    kept = less_than(arange(0, steps, 1, dtype="int64"), longest)
    path = transpose(index_get_op(stack(rows, axis=0), kept, axes=(0,)), [1, 0])
    return where(longest > 0, scores, zeros_like(scores)), path


def _rows_in_ops(last: Any, before: list[Any], lengths: Any) -> list[Any]:
    """The tags of all sequences at each step, walked back from the last one of each."""
    found: list[Any] = []
    tag = last
    for step in range(len(before), -1, -1):
        inside = less_than(zeros_like(lengths) + step, lengths)
        found.append(where(inside, tag, zeros_like(tag)))
        if step:
            earlier = squeeze(take_along_axis(before[step - 1], unsqueeze(tag, 1), 1), 1)
            tag = where(inside, earlier, tag)
    return found[::-1]


viterbi_op = define_op(
    "viterbi_decode",
    kernel=_kernel,
    meta=_meta,
    vjp=NoGradient("the best path jumps where the scores change"),
    outputs=("scores", "path"),
    maps={"paddle": "viterbi_decode"},
    decompose=_in_ops,
)


def viterbi_decode(
    potentials: Any, transition_params: Any, lengths: Any, include_bos_eos_tag: bool = True, name: str | None = None
) -> tuple[Any, Any]:
    """The best sequence of tags of each row, and its score: [batch] and int64 [batch, the largest length].

    potentials: how well each tag fits each place, [batch, time, tags] floats; transition_params: how well a tag follows
    another, [tags, tags] of the same dtype, from the row's tag to the column's; lengths: [batch] integers. Behind the
    end of a sequence its tags are 0. include_bos_eos_tag: the last tag is the start of each sequence, the last but one
    its end. Raises ShapeError and DTypeError. Source: paddle.text.viterbi_decode.

    Example:
        >>> import vitrify as paddle
        >>> fit, follow = paddle.to_tensor([[[1.0, 0.0], [0.0, 0.5]]]), paddle.to_tensor([[1.0, 0.0], [0.0, 1.0]])
        >>> scores, path = paddle.text.viterbi_decode(fit, follow, paddle.to_tensor([2]), False)
        >>> scores.tolist(), path.tolist()
        ([2.0], [[0, 0]])
    """
    scores, path = viterbi_op(potentials, transition_params, lengths, tagged=include_bos_eos_tag)
    return scores, path


__all__ = ["viterbi_decode"]
