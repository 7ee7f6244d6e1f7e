"""Losses that sum over all alignments of a label sequence with an input sequence: CTC and RNN-T.

Both take log probabilities and compute, by the forward-backward algorithm, the loss and its derivative at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any, NamedTuple

from ..core.errors import ArgumentError, DTypeError, IndexRangeError, ShapeError
from ..core.meta import UNKNOWN, Meta
from .like import cast
from .reduce import mean
from .reduction import check_reduction, reduced
from .registry import define_op
from .shape import reshape
from .softmax import log_softmax

_NEVER = -float("inf")


# --- CTC -------------------------------------------------------------------------------------------------------------


class _States(NamedTuple):
    """The labels with blanks between, as states of an automaton: [batch, 2 * labels + 1] each."""

    symbol: Any
    can_skip: Any
    is_last: Any


def _states(xp: Any, labels: Any, label_lengths: Any, blank: int) -> _States:
    batch, length = labels.shape
    symbol = xp.full((batch, 2 * length + 1), blank, dtype=labels.dtype)
    symbol[:, 1::2] = labels
    can_skip = xp.zeros(symbol.shape, bool)
    can_skip[:, 2:] = (symbol[:, 2:] != blank) & (symbol[:, 2:] != symbol[:, :-2])
    at = xp.arange(symbol.shape[1]) - 2 * label_lengths[:, None]
    return _States(symbol, can_skip, (at == 0) | (at == -1))


def _moved(xp: Any, a: Any, by: int) -> Any:
    """Log probabilities shifted along the states: by > 0 to later ones."""
    out = xp.full_like(a, _NEVER)
    if by > 0:
        out[:, by:] = a[:, :-by]
    else:
        out[:, :by] = a[:, -by:]
    return out


def _ctc_forward(xp: Any, emit: Any, s: _States) -> Any:
    """alpha [time, batch, states]: the log probability of all ways to be in a state, emissions included."""
    alpha = xp.full_like(emit, _NEVER)
    alpha[0, :, :2] = emit[0, :, :2]
    for t in range(1, len(emit)):
        stay = xp.logaddexp(alpha[t - 1], _moved(xp, alpha[t - 1], 1))
        skip = xp.where(s.can_skip, _moved(xp, alpha[t - 1], 2), _NEVER)
        alpha[t] = xp.logaddexp(stay, skip) + emit[t]
    return alpha


def _ctc_backward(xp: Any, emit: Any, s: _States, input_lengths: Any) -> Any:
    """beta [time, batch, states]: the log probability of all ways from a state to the end, its emission left out."""
    beta = xp.full_like(emit, _NEVER)
    ends = xp.where(s.is_last, 0.0, _NEVER)
    for t in range(len(emit) - 1, -1, -1):
        if t + 1 < len(emit):
            ahead = beta[t + 1] + emit[t + 1]
            skip = _moved(xp, xp.where(s.can_skip, ahead, _NEVER), -2)
            beta[t] = xp.logaddexp(xp.logaddexp(ahead, _moved(xp, ahead, -1)), skip)
        beta[t] = xp.where((input_lengths == t + 1)[:, None], ends, beta[t])
    return beta


def _log_sum(xp: Any, a: Any) -> Any:
    """The logarithm of the sum of exp(a) along the last dimension, -inf where everything is."""
    top = xp.maximum(a.max(axis=-1), -1e300)
    total = xp.exp(a - top[:, None]).sum(axis=-1)
    return xp.where(total > 0, xp.log(xp.maximum(total, 1e-300)) + top, _NEVER)


def _ctc_kernel(
    xp: Any, log_probs: Any, labels: Any, input_lengths: Any, label_lengths: Any, *, blank: int, by_times: bool,
    zero_infinity: bool,
) -> tuple[Any, Any]:  # fmt: skip
    labels = _symbols(xp, "ctc_loss", labels, label_lengths, log_probs.shape[2])
    s = _states(xp, labels, label_lengths, blank)
    wide = log_probs.astype(xp.float64)
    emit = xp.take_along_axis(wide, xp.broadcast_to(s.symbol, (len(wide), *s.symbol.shape)), axis=2)
    alpha, beta = _ctc_forward(xp, emit, s), _ctc_backward(xp, emit, s, input_lengths)
    paths = alpha + beta
    total = _log_sum(xp, xp.take_along_axis(paths, (input_lengths - 1)[None, :, None], axis=0)[0])
    possible = xp.isfinite(total)
    share = xp.exp(paths - xp.where(possible, total, 0)[:, None])  # the probability of each state at each time
    chosen = (s.symbol[..., None] == xp.arange(log_probs.shape[2])).astype(wide.dtype)
    slope = -xp.matmul(share.swapaxes(0, 1), chosen).swapaxes(0, 1)
    if by_times:
        slope = slope / input_lengths[:, None]
    loss = xp.where(possible, -total, 0) if zero_infinity else -total
    return loss.astype(log_probs.dtype), slope.astype(log_probs.dtype)


def _ctc_meta(
    log_probs: Meta, labels: Meta, input_lengths: Meta, label_lengths: Meta, *, blank: int, by_times: bool,
    zero_infinity: bool,
) -> tuple[Meta, Meta]:  # fmt: skip
    if log_probs.ndim != 3 or labels.ndim != 2:
        raise ShapeError(f"ctc_loss: log_probs is {log_probs}, labels is {labels}, expected [t, b, c] and [b, l]")
    _check_lengths("ctc_loss", labels, input_lengths, label_lengths)
    if log_probs.shape[2] != UNKNOWN and not 0 <= blank < log_probs.shape[2]:
        raise ArgumentError(f"ctc_loss: blank must lie in [0, {log_probs.shape[2]}), got {blank}")
    return log_probs.with_shape((log_probs.shape[1],)), log_probs


def _symbols(xp: Any, op: str, labels: Any, lengths: Any, count: int) -> Any:
    """The labels, 0 behind the end of each row; IndexRangeError where one that counts is no class."""
    counted = xp.arange(labels.shape[1]) < lengths[:, None]
    outside = counted & ((labels < 0) | (labels >= count))
    if outside.any():
        raise IndexRangeError(f"{op}: a label must lie in [0, {count}), got {int(labels[outside][0])}")
    return xp.where(counted, labels, 0)


def _check_lengths(op: str, labels: Meta, *lengths: Meta) -> None:
    for name, meta in zip(("labels", "input_lengths", "label_lengths"), (labels, *lengths)):
        if not meta.dtype.is_integer:
            raise DTypeError(f"{op}: {name} is {meta}, expected integers")
    for name, meta in zip(("input_lengths", "label_lengths"), lengths):
        if meta.ndim != 1 or (UNKNOWN not in (meta.shape[0], labels.shape[0]) and meta.shape[0] != labels.shape[0]):
            raise ShapeError(f"{op}: {name} is {meta}, expected one length for each of the batch's {labels.shape[0]}")


ctc_op = define_op(
    "ctc",
    kernel=_ctc_kernel,
    meta=_ctc_meta,
    vjp={"log_probs": lambda cts, *, slope: reshape(cts[0], [1, -1, 1]) * slope.detach()},
    outputs=("loss", "slope"),
    amp="deny",
    maps={"paddle": "warpctc"},
)


def ctc_loss(
    log_probs: Any, labels: Any, input_lengths: Any, label_lengths: Any, blank: int = 0, reduction: str = "mean",
    norm_by_times: bool = False, zero_infinity: bool = False,
) -> Any:  # fmt: skip
    """The negative log probability of all alignments of labels with log_probs, to which softmax is applied first.

    log_probs: [t, b, c] logits; labels: [b, l] integers; input_lengths, label_lengths: [b], how much of each counts.
    "mean" divides each loss by its label's length first. norm_by_times divides gradients by input_lengths;
    zero_infinity gives 0 where no alignment exists. First derivatives only. Source: Graves et al., "Connectionist
    Temporal Classification" (2006), section 4.1; paddle.nn.functional.ctc_loss.

    Example:
        >>> import vitrify as paddle
        >>> args = paddle.to_tensor([[1]]), paddle.to_tensor([1]), paddle.to_tensor([1])
        >>> round(paddle.nn.functional.ctc_loss(paddle.zeros([1, 1, 2]), *args).item(), 4)
        0.6931
    """
    check_reduction("ctc_loss", reduction)
    loss = ctc_op(
        log_softmax(log_probs, -1), labels, input_lengths, label_lengths, blank=int(blank),
        by_times=bool(norm_by_times), zero_infinity=bool(zero_infinity),
    )[0]  # fmt: skip
    return mean(loss / cast(label_lengths, loss.dtype)) if reduction == "mean" else reduced(loss, reduction)


# --- RNN-T -----------------------------------------------------------------------------------------------------------


def _lattice(xp: Any, log_probs: Any, labels: Any, blank: int) -> tuple[Any, Any]:
    """Log probabilities of going on in time (a blank) and of emitting the next label: [b, t, u + 1], [b, t, u]."""
    symbols = xp.broadcast_to(labels[:, None, :, None], (*log_probs.shape[:2], labels.shape[1], 1))
    emit = xp.take_along_axis(log_probs[:, :, : labels.shape[1]], symbols, axis=3)[..., 0]
    return log_probs[..., blank], emit


def _diagonals(xp: Any, times: int, states: int) -> Iterator[tuple[Any, Any]]:
    """The places of a lattice by how far they are from the first: those of one diagonal do not need each other."""
    for steps in range(times + states - 1):
        u = xp.arange(max(0, steps - times + 1), min(steps, states - 1) + 1)
        yield steps - u, u


def _rnnt_forward(xp: Any, wait: Any, emit: Any) -> Any:
    """alpha[:, t, u]: from the first place to there."""
    batch, times, states = wait.shape
    alpha = xp.full((batch, times + 1, states + 1), _NEVER)  # a row and a column that no way comes from
    after_wait, after_emit = xp.zeros_like(alpha), xp.zeros_like(alpha)
    after_wait[:, 1:, 1:], after_emit[:, 1:, 2:] = wait, emit
    alpha[:, 1, 1] = 0
    for t, u in islice(_diagonals(xp, times, states), 1, None):
        waited = alpha[:, t, u + 1] + after_wait[:, t, u + 1]
        alpha[:, t + 1, u + 1] = xp.logaddexp(waited, alpha[:, t + 1, u] + after_emit[:, t + 1, u + 1])
    return alpha[:, 1:, 1:]


def _rnnt_backward(xp: Any, wait: Any, emit: Any, is_end: Any) -> Any:
    """beta[:, t, u]: from there to the end; is_end marks the last place, from which one blank ends the sequence."""
    batch, times, states = wait.shape
    beta = xp.full((batch, times + 1, states + 1), _NEVER)
    emits = xp.full(wait.shape, _NEVER)
    emits[:, :, :-1] = emit
    for t, u in reversed([*_diagonals(xp, times, states)]):
        waited = beta[:, t + 1, u] + wait[:, t, u]
        on = xp.logaddexp(waited, beta[:, t, u + 1] + emits[:, t, u])
        beta[:, t, u] = xp.where(is_end[:, t, u], wait[:, t, u], on)
    return beta


def _rnnt_kernel(
    xp: Any, log_probs: Any, labels: Any, input_lengths: Any, label_lengths: Any, *, blank: int, fastemit: float
) -> tuple[Any, Any]:
    labels = _symbols(xp, "rnnt_loss", labels, label_lengths, log_probs.shape[3])
    wait, emit = _lattice(xp, log_probs.astype(xp.float64), labels, blank)
    times, states = wait.shape[1:]
    at_time = xp.arange(times) == input_lengths[:, None] - 1
    is_end = at_time[:, :, None] & (xp.arange(states) == label_lengths[:, None])[:, None]
    alpha, beta = _rnnt_forward(xp, wait, emit), _rnnt_backward(xp, wait, emit, is_end)
    total = beta[:, 0, 0]
    after = xp.where(is_end, 0.0, beta[:, 1:, :-1])
    slope = xp.zeros(log_probs.shape, xp.float64)
    base = alpha - total[:, None, None]
    slope[..., blank] = -xp.exp(base + wait + after)
    lit = -(1 + fastemit) * xp.exp(base[:, :, :-1] + emit + beta[:, :-1, 1:-1])
    chosen = (labels[:, None, :, None] == xp.arange(log_probs.shape[3])).astype(xp.float64)
    slope[:, :, : labels.shape[1]] += lit[..., None] * chosen
    return (-total).astype(log_probs.dtype), slope.astype(log_probs.dtype)


def _rnnt_meta(
    log_probs: Meta, labels: Meta, input_lengths: Meta, label_lengths: Meta, *, blank: int, fastemit: float
) -> tuple[Meta, Meta]:
    if log_probs.ndim != 4 or labels.ndim != 2:
        raise ShapeError(f"rnnt_loss: input is {log_probs}, label is {labels}, expected [b, t, u + 1, c] and [b, u]")
    if UNKNOWN not in (log_probs.shape[2], labels.shape[1]) and log_probs.shape[2] != labels.shape[1] + 1:
        raise ShapeError(f"rnnt_loss: input is {log_probs}, label is {labels}: expected {labels.shape[1] + 1} states")
    _check_lengths("rnnt_loss", labels, input_lengths, label_lengths)
    return log_probs.with_shape((log_probs.shape[0],)), log_probs


rnnt_op = define_op(
    "rnnt",
    kernel=_rnnt_kernel,
    meta=_rnnt_meta,
    vjp={"log_probs": lambda cts, *, slope: reshape(cts[0], [-1, 1, 1, 1]) * slope.detach()},
    outputs=("loss", "slope"),
    amp="deny",
    maps={"paddle": "warprnnt"},
)


def rnnt_loss(
    input: Any, label: Any, input_lengths: Any, label_lengths: Any, blank: int = 0, fastemit_lambda: float = 0.001,
    reduction: str = "mean", name: str | None = None,
) -> Any:  # fmt: skip
    """The negative log probability of all alignments of label with input under a transducer.

    input: [b, t, u + 1, c] log probabilities; label: [b, u] integers; input_lengths, label_lengths: [b].
    fastemit_lambda scales up the gradients of emissions. First derivatives only. Source: Graves,
    "Sequence Transduction with Recurrent Neural Networks" (2012), section 2.4; paddle.nn.functional.rnnt_loss.

    Example:
        >>> import vitrify as paddle
        >>> args = paddle.to_tensor([[1]]), paddle.to_tensor([1]), paddle.to_tensor([1])
        >>> round(paddle.nn.functional.rnnt_loss(paddle.full([1, 1, 2, 2], -1.0), *args).item(), 4)
        2.0
    """
    check_reduction("rnnt_loss", reduction)
    loss = rnnt_op(input, label, input_lengths, label_lengths, blank=int(blank), fastemit=float(fastemit_lambda))[0]
    return reduced(loss, reduction)


__all__ = ["ctc_loss", "rnnt_loss"]
