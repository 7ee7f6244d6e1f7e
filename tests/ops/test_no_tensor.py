"""Functions that are given no tensor where they need one say so: TypeError and ValueError, as in Paddle."""

import pytest

import vitrify as paddle
import vitrify.nn.functional as F
from vitrify.core.errors import DTypeError


def named(text):
    return text.split()


T = paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]])
UNARY = [
    *(getattr(paddle, name) for name in named("""
    abs all amax any argmax argsort bincount clip cross cummax cumsum cumprod diag diagonal diff exp flatten flip
    isnan log logsumexp max mean median min mode nan_to_num nanmean norm numel ones_like prod quantile reshape roll
    rot90 round scale shape sort split sqrt squeeze std sum t tile topk trace transpose tril unbind unique unsqueeze
    unstack var zeros_like
    """)),
    *(getattr(F, name) for name in named("""
    adaptive_avg_pool2d dropout dropout2d elu gelu glu group_norm gumbel_softmax interpolate label_smooth
    local_response_norm log_softmax maxout normalize pixel_shuffle relu sequence_mask softmax softplus
    temporal_shift
    """)),
    paddle.fft.fft, paddle.fft.fftshift, paddle.linalg.inv, paddle.linalg.cov, paddle.linalg.vector_norm,
]  # fmt: skip
BINARY = named("""
add atan2 complex cdist cross dist dot equal expand_as heaviside hypot index_sample inner isin kron lerp logical_and
logical_or masked_fill masked_select matmul mm not_equal outer
""")
LOSSES = named("""
binary_cross_entropy cosine_embedding_loss cosine_similarity cross_entropy kl_div l1_loss log_loss mse_loss nll_loss
sigmoid_focal_loss smooth_l1_loss softmax_with_cross_entropy
""")


@pytest.mark.parametrize("value", [None, "text"])
@pytest.mark.parametrize("fn", UNARY, ids=lambda f: f.__name__)
def test_of_one(fn, value):
    with pytest.raises((TypeError, ValueError)):
        fn(value)


@pytest.mark.parametrize("name", [*BINARY, *LOSSES])
def test_of_two(name):
    fn = getattr(F, name, None) or getattr(paddle, name)
    for args in ((T, None), (None, T)):
        with pytest.raises((TypeError, ValueError)):
            fn(*args)


def test_what_is_said():
    with pytest.raises(DTypeError, match="softmax: x must be a tensor, got NoneType"):
        F.softmax(None)
    with pytest.raises(DTypeError, match="logical_and: y must be a tensor, got NoneType"):
        paddle.logical_and(T > 0, None)
    with pytest.raises(DTypeError, match="nll_loss: label must be a tensor, got str"):
        F.nll_loss(T, "0")


ONE = paddle.to_tensor([0, 1])
MASK = T > 0


@pytest.mark.parametrize("value", ["text", 2.5, None])
@pytest.mark.parametrize(
    "call",
    [
        lambda x: paddle.cast(x, "int32"),
        lambda x: paddle.flip(x, [0]),
        lambda x: paddle.index_add(x, ONE, 0, T),
        lambda x: paddle.index_put(x, (ONE,), T),
        lambda x: paddle.masked_fill(x, MASK, 1.0),
        lambda x: paddle.masked_select(x, MASK),
        lambda x: paddle.moveaxis(x, 0, 1),
        lambda x: paddle.put_along_axis(x, ONE, 1.0, 0),
        lambda x: paddle.reduce_as(x, T),
        lambda x: paddle.renorm(x, 2.0, 0, 1.0),
        lambda x: paddle.reshape(x, [-1]),
        lambda x: paddle.slice(x, [0], [0], [1]),
        lambda x: paddle.swapaxes(x, 0, 1),
        lambda x: paddle.take_along_axis(x, ONE, 0),
        lambda x: paddle.transpose(x, [0, 1]),
        lambda x: paddle.view_as(x, T),
        lambda x: F.layer_norm(x, 2),
        lambda x: F.pad(x, [1, 1]),
        lambda x: F.prelu(x, T[0]),
        lambda x: F.batch_norm(T, T[0], T[0], x if x is not None else 1, T[0]),
        lambda x: paddle.signal.stft(x, 2),
        lambda x: paddle.geometric.segment_sum(x, ONE),
        lambda x: paddle.sparse.is_same_shape(x, T),
        lambda x: paddle.renorm_(x, 2.0, 0, 1.0),
        lambda x: paddle.cumsum_(x),
    ],
)
def test_the_first_argument_of_several(call, value):
    with pytest.raises(DTypeError, match="tensor"):
        call(value)
