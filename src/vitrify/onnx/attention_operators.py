"""What the ONNX operators of transformers mean here: attention, turned places, norms and gates."""

from __future__ import annotations

import math
from typing import Any

from ..core.dtype import bool_, float32, int64
from ..core.errors import UnsupportedError
from ..core.meta import UNKNOWN
from ..ir.known_values import as_tensor
from ..ops import functions as F
from ..ops.like import cast
from ..ops.registry import get_op
from .node import Node, axis_in
from .operator_table import operator
from .reading import dtype_of
from .sizes import extent

# -- attention ---------------------------------------------------------------------------------------------------------


def _heads(x: Any, count: int) -> Any:
    """x [batch, length, heads * size] as [batch, heads, length, size]; what has four dimensions already as it is."""
    if x.shape[-1] == UNKNOWN:
        raise UnsupportedError("heads of sizes that are not known cannot be read")
    if x.ndim == 4:
        return x
    split = F.reshape(x, [extent(x, 0), extent(x, 1), count, x.shape[2] // count])
    return F.transpose(split, [0, 2, 1, 3])


def _once_for_each(x: Any, queries: Any) -> Any:
    """Keys or values [batch, heads, *] repeated for the several heads of queries that share one."""
    times = queries.shape[1] // x.shape[1]
    return x if times == 1 else F.repeat_interleave(x, times, 1)


def _bias(mask: Any, total: Any, dtype: Any) -> Any:
    """A mask as what is added to scores; what a shorter one leaves out is hidden."""
    found = as_tensor(mask)
    if found.dtype == bool_:
        found = F.where(found, F.zeros([], dtype), F.full([], -math.inf, dtype))
    if isinstance(total, int) and found.shape[-1] == total:
        return found
    missing = total - extent(found, found.ndim - 1)
    beyond = F.full([*[extent(found, d) for d in range(found.ndim - 1)], missing], -math.inf, dtype)
    return F.concat([found, beyond], -1)


def _hidden(node: Node, q: Any, k: Any, past: Any, filled: Any) -> Any:
    """Which scores do not count, by the order of time and by how much of each sequence there is; None for none."""
    rows, columns = (F.arange(extent(x, 2), dtype=int64) for x in (q, k))
    before: Any = 0 if past is None else extent(past, 2)
    hidden = None
    if filled is not None:
        held = F.reshape(cast(as_tensor(filled), int64), [-1, 1, 1, 1])
        before, hidden = held - extent(q, 2), columns >= held
    if node.number("is_causal", 0):
        late = columns > F.unsqueeze(rows, 1) + before
        hidden = late if hidden is None else hidden | late
    return hidden


@operator("Attention")
def attention(
    node: Node, q: Any, k: Any, v: Any, mask: Any = None, past_k: Any = None, past_v: Any = None, filled: Any = None
) -> Any:
    """Attention, the keys and values with those of before in front, and the scores at one of four stages."""
    for name in ("left_window_size", "right_window_size"):
        node.refuse(name, -1)
    given = as_tensor(q)
    q = _heads(given, node.number("q_num_heads", 1))
    k, v = (_heads(as_tensor(x), node.number("kv_num_heads", 1)) for x in (k, v))
    past = None if past_k is None else as_tensor(past_k)
    if past is not None:
        k, v = F.concat([past, k], 2), F.concat([as_tensor(past_v), v], 2)
    by = node.real("scale", 1 / math.sqrt(q.shape[3]))
    keys, values = _once_for_each(k, q), _once_for_each(v, q)
    stages = [F.matmul(q * math.sqrt(by), keys * math.sqrt(by), transpose_y=True)]
    cap = node.real("softcap", 0.0)
    stages.append(F.tanh(stages[0] / cap) * cap if cap else stages[0])
    stages.append(stages[1] if mask is None else stages[1] + _bias(mask, extent(k, 2), q.dtype))
    hidden = _hidden(node, q, k, past, filled)
    if hidden is not None:
        stages[2] = F.where(hidden, F.full([], -math.inf, q.dtype), stages[2])
    stages.append(_chances(node, stages[2], mask is not None or hidden is not None))
    out = F.matmul(stages[3], values)
    if given.ndim == 3:
        out = F.reshape(F.transpose(out, [0, 2, 1, 3]), [extent(given, 0), extent(given, 1), q.shape[1] * v.shape[3]])
    return (out, k, v, stages[node.number("qk_matmul_output_mode", 0)])[: node.outputs]


def _chances(node: Node, scores: Any, may_hide_all: bool) -> Any:
    """The softmax of scores; zeros where all are hidden."""
    code = node.number("softmax_precision", 0)
    wide = cast(scores, dtype_of(code)) if code else scores
    found = F.softmax(wide, -1)
    if may_hide_all:
        nothing = F.max(wide, -1, keepdim=True) == -math.inf
        found = F.where(nothing, F.zeros([], found.dtype), found)
    return cast(found, scores.dtype)


@operator("RotaryEmbedding")
def rotary(node: Node, x: Any, cosines: Any, sines: Any, places: Any = None) -> Any:
    """x with pairs of its numbers turned by the angle of their place."""
    given = as_tensor(x)
    heads = _heads(given, node.number("num_heads", 0) or 1)
    size = node.number("rotary_embedding_dim", 0) or heads.shape[3]
    turns = [as_tensor(v) if places is None else F.gather(as_tensor(v), F.reshape(as_tensor(places), [-1]))
             for v in (cosines, sines)]  # fmt: skip
    turns = [F.reshape(v, [extent(heads, 0), 1, extent(heads, 2), size // 2]) for v in turns]
    turned, rest = heads[..., :size], heads[..., size:]
    interleaved = bool(node.number("interleaved", 0))
    left, right = (turned[..., 0::2], turned[..., 1::2]) if interleaved else F.split(turned, 2, -1)
    both = [left * turns[0] - right * turns[1], left * turns[1] + right * turns[0]]
    out = get_op("reshape_like")(F.stack(both, -1), turned) if interleaved else F.concat(both, -1)
    out = out if size == heads.shape[3] else F.concat([out, rest], -1)
    return out if given.ndim == 4 else F.reshape(F.transpose(out, [0, 2, 1, 3]), F.shape(given))


# -- norms -------------------------------------------------------------------------------------------------------------


def rms_norm(x: Any, scale: Any, axis: int, epsilon: float, stash: Any) -> Any:
    """x over the root of the mean of its squares, from a dimension on."""
    found = as_tensor(x)
    wide = cast(found, stash)
    axes = tuple(range(axis_in(axis, found.ndim), found.ndim))
    root = F.rsqrt(get_op("mean")(wide * wide, axis=axes, keepdim=True) + epsilon)
    return cast(wide * root, found.dtype) * as_tensor(scale)


def _stash(node: Node, x: Any) -> Any:
    """The dtype that a norm computes in."""
    return dtype_of(node.number("stash_type", 1)) if as_tensor(x).dtype.itemsize < 4 else as_tensor(x).dtype


@operator("RMSNormalization", "SimplifiedLayerNormalization")
def simple_norm(node: Node, x: Any, scale: Any) -> Any:
    """x over the root of the mean of its squares."""
    return rms_norm(x, scale, node.number("axis", -1), node.real("epsilon", 1e-5), _stash(node, x))


@operator("com.microsoft.SkipSimplifiedLayerNormalization")
def simple_norm_of_sum(node: Node, x: Any, skip: Any, scale: Any, bias: Any = None) -> Any:
    """The same of a sum; the sum itself is the last of four results."""
    total = as_tensor(x) + as_tensor(skip)
    total = total if bias is None else total + as_tensor(bias)
    if node.outputs in (2, 3):
        raise UnsupportedError("means and deviations of SkipSimplifiedLayerNormalization cannot be read")
    found = rms_norm(total, scale, -1, node.real("epsilon", 1e-12), _stash(node, total))
    return (found, None, None, total)[: node.outputs] if node.outputs > 1 else found


@operator("GroupNormalization")
def group_norm(node: Node, x: Any, scale: Any, shift: Any) -> Any:
    """Each group of channels of each sample normalized; before operator set 21 a group's channels share their scale."""
    found, groups = as_tensor(x), node.number("num_groups")
    params = [as_tensor(v) for v in (scale, shift)]
    if node.opset < 21:
        params = [F.repeat_interleave(v, found.shape[1] // groups, 0) for v in params]
    wide = cast(found, _stash(node, found))
    return cast(F.group_norm(wide, groups, node.real("epsilon", 1e-5), *[cast(p, wide.dtype) for p in params]),
                found.dtype)  # fmt: skip


@operator("MeanVarianceNormalization")
def standardized(node: Node, x: Any) -> Any:
    """x less its mean, over its deviation."""
    found = as_tensor(x)
    axes = tuple(axis_in(a, found.ndim) for a in node.ints("axes", [0, 2, 3]))
    mean = get_op("mean")
    rest = found - mean(found, axis=axes, keepdim=True)
    return rest / (F.sqrt(mean(rest * rest, axis=axes, keepdim=True)) + 1e-9)


@operator("LpNormalization")
def of_norm_one(node: Node, x: Any) -> Any:
    """x over its norm along a dimension; zeros where that is 0."""
    found = as_tensor(x)
    axis = (axis_in(node.number("axis", -1), found.ndim),)
    norm = get_op("p_norm")(found, p=float(node.number("p", 2)), axis=axis, keepdim=True)
    return F.where(norm == 0, F.zeros_like(found), found / norm)


# -- activations -------------------------------------------------------------------------------------------------------


@operator("Swish")
def swish(node: Node, x: Any) -> Any:
    """x times the sigmoid of x and a factor."""
    found = as_tensor(x)
    return found * F.sigmoid(found * node.real("alpha", 1.0))


@operator("SwiGLU")
def gated(node: Node, gate: Any, x: Any) -> Any:
    """x times the swish of a gate."""
    return swish(node, gate) * as_tensor(x)


@operator("Shrink")
def shrink(node: Node, x: Any) -> Any:
    """What lies beyond a bound, nearer to zero, and zeros."""
    given = as_tensor(x)
    found = given if given.dtype.is_floating else cast(given, float32)
    bound, by = node.real("lambd", 0.5), node.real("bias", 0.0)
    out = F.where(found < -bound, found + by, F.where(found > bound, found - by, F.zeros_like(found)))
    return cast(out, given.dtype)


@operator("ThresholdedRelu")
def thresholded(node: Node, x: Any) -> Any:
    """What is above a bound, and zeros."""
    found = as_tensor(x)
    return F.where(found > node.real("alpha", 1.0), found, F.zeros_like(found))
