"""As many parts as only a run says, tensors made of lists of such lengths, and such lists as indices."""

import numpy as np
import pytest

import vitrify as paddle
import vitrify.nn.functional as F
from vitrify.core.errors import UnsupportedError
from vitrify.static import InputSpec

X = np.arange(24, dtype="float32").reshape(4, 6) % 7 - 3


def far_apart(x, n):
    """Rows kept one by one, as detectors keep boxes."""
    order, keep = paddle.argsort(x.sum(-1)), []
    while order.shape[0] > 0:
        first = int(order[0])
        keep.append(first)
        order = paddle.masked_select(order, (x[order] - x[first]).abs().sum(-1) > n)
    return x[keep], paddle.to_tensor(keep)


def one_by_one(x, n):
    found = [F.relu(part - i).sum(1) for i, part in enumerate(paddle.split(x, int(n), 1))]
    return paddle.stack(found, 1) * len(found)


def sum_of_parts(x, sizes):
    first, *others = paddle.split(x, tuple(sizes), axis=1)
    return sum([part.sum(1) * i for i, part in enumerate(others)], first.prod(1))


def put(x, n):
    x = x * 1.0
    x[:, list(range(int(n)))] = 5.0
    return x


CALLS = {
    "split": lambda x, n: paddle.split(x, int(n), 1),
    "tensor": lambda x, n: paddle.split(x, n, axis=-1)[-1],
    "vector": lambda x, n: x.split(n.reshape([1]), 1)[0],
    "chunk": lambda x, n: x.chunk(int(n), axis=1),
    "one by one": one_by_one,
    "nearly equal": lambda x, n: paddle.tensor_split(x, n + 2, axis=1),
    "by rows": lambda x, n: paddle.vsplit(x, int(n))[-1],
    "cuts": lambda x, n: paddle.tensor_split(x, [int(n), n + 1], axis=-1),
    "block": lambda x, n: paddle.crop(x, [n, 2, int(n)][1:], [1, int(n) - 2]),
    "last sizes": lambda x, n: F.layer_norm(x[:, : int(n)], [n]),
    "quantile": lambda x, n: paddle.quantile(x, float(n) / 4, 1),
    "zipped": lambda x, n: sum((a * b).sum() for a, b in zip(x.split(int(n), 1), paddle.chunk(x + 1, int(n), 1))),
    "sizes": lambda x, n: x.split([i + 1 for i in range(int(n))] + [6 - int(n) * (int(n) + 1) // 2], 1),
    "sizes of tensors": lambda x, n: sum_of_parts(x, [paddle.full([1], 6 // n, "int64") for _ in range(int(n))]),
    "sizes and the rest": lambda x, n: paddle.split(x, [*range(1, int(n)), -1], axis=-1),
    "known": lambda x, n: paddle.split(x, [int(n) - 1, -1]),
    "same items": lambda x, n: paddle.to_tensor([2] * int(n)),
    "floats": lambda x, n: paddle.to_tensor([i * 0.5 for i in range(int(n))]),
    "dtype": lambda x, n: paddle.to_tensor(data=list(range(int(n))), dtype="float64"),
    "truths": lambda x, n: paddle.to_tensor(tuple(i > 0 for i in range(int(n)))),
    "rows": lambda x, n: paddle.to_tensor([(i, i * 2.5) for i in range(int(n))]),
    "tensors": lambda x, n: paddle.to_tensor([x[i] for i in range(int(n))]),
    "leaf": lambda x, n: paddle.to_tensor([1.0] * int(n), stop_gradient=False) * 2.0,
    "index": lambda x, n: x[:, list(range(int(n)))],
    "first index": lambda x, n: x[list(range(int(n)))],
    "mask": lambda x, n: x[:, [i >= int(n) - 2 for i in range(x.shape[1])]],
    "put": put,
    "detector": far_apart,
}
NONE = {
    "index": CALLS["index"],
    "put": put,
    "dtype": lambda x, n: paddle.to_tensor([1] * int(n), dtype="int32"),
}
SPLITS = {
    "no divisor": (CALLS["split"], 4),
    "none": (CALLS["split"], 0),
    "negative": (CALLS["split"], -1),
    "too large": (CALLS["sizes"], 4),
    "nothing left": (lambda x, n: paddle.split(x, [*[2] * int(n), -1], axis=-1), 3),
    "two rests": (lambda x, n: paddle.split(x, [-1] * int(n), axis=-1), 3),
}
ERRORS = {
    **SPLITS,
    "block": (CALLS["block"], 6),
    "last sizes": (lambda x, n: F.layer_norm(x, [int(n)]), 4),
    "quantile": (CALLS["quantile"], 5),
}


def called(function, number):
    x = paddle.to_tensor(X, stop_gradient=False)
    found = function(x, paddle.to_tensor(number))
    found = found if isinstance(found, (list, tuple)) else [found]
    loss = sum((part.astype("float32") ** 2).sum() for part in found)
    if not loss.stop_gradient:
        loss.backward()
    return [part.numpy() for part in found], [p.stop_gradient for p in found], x.grad


def compare(function, numbers):
    compiled = paddle.jit.to_static(
        function, full_graph=True, input_spec=[InputSpec([4, 6], stop_gradient=False), InputSpec([], "int64")]
    )
    for number in numbers:
        wanted, flags, grad = called(function, number)
        found, its_flags, its_grad = called(compiled, number)
        assert (its_flags, its_grad is None) == (flags, grad is None)
        for mine, theirs in zip(found, wanted, strict=True):
            assert mine.dtype == theirs.dtype
            np.testing.assert_allclose(mine, theirs)
        if grad is not None:
            np.testing.assert_allclose(its_grad.numpy(), grad.numpy())


@pytest.mark.parametrize("name", CALLS)
def test_as_many_as_only_a_run_says(name):
    compare(CALLS[name], (2, 3))


@pytest.mark.parametrize("name", NONE)
def test_none(name):
    compare(NONE[name], (0, 1))


@pytest.mark.parametrize("name", ERRORS)
def test_errors_are_those_of_eager_code(name):
    function, number = ERRORS[name]
    with pytest.raises((ValueError, TypeError)) as eager:
        called(function, number)
    with pytest.raises(type(eager.value)) as compiled:
        called(paddle.jit.to_static(function, full_graph=True), number)
    if name in SPLITS:
        assert compiled.value.message == eager.value.message


def test_what_is_no_number_makes_no_tensor():
    with pytest.raises(UnsupportedError, match="a tensor made of a list whose length"):
        called(paddle.jit.to_static(lambda x, n: paddle.to_tensor(["a"] * int(n)), full_graph=True), 2)
