"""8-bit floats keep numbers: they are cast, moved and read, and meet no others."""

import numpy as np
import pytest

import vitrify as paddle
from vitrify.core.errors import DTypeError

NUMBERS = [1.0, 2.3, -300.0, 0.01]
ROUNDED = {
    "float8_e4m3fn": [1.0, 2.25, -288.0, 0.009765625],
    "float8_e5m2": [1.0, 2.5, -320.0, 0.009765625],
}
"""As PaddlePaddle 3.3.1 rounds."""


@pytest.mark.parametrize("name", ROUNDED)
def test_numbers_are_kept(name):
    def there_and_back(x):
        return x.astype(name).reshape([2, 2]).astype("float32")

    x = paddle.to_tensor(NUMBERS)
    for run in (there_and_back, paddle.jit.to_static(there_and_back, full_graph=True)):
        assert run(x).flatten().tolist() == ROUNDED[name]
    kept = x.astype(name)
    assert kept.dtype is getattr(paddle, name) and kept.element_size() == 1
    assert np.asarray(kept.numpy(), "float32").tolist() == ROUNDED[name]
    assert paddle.concat([kept, kept]).shape == [8] and paddle.zeros([2], dtype=name).dtype is kept.dtype
    assert f"dtype={name}" in repr(kept)


@pytest.mark.parametrize("name", ROUNDED)
def test_they_meet_no_others(name):
    x = paddle.ones([2])
    kept = x.astype(name)
    for call in (lambda: x - kept, lambda: kept * x, lambda: paddle.maximum(kept, x)):
        with pytest.raises(DTypeError, match=f"8-bit floats meet no others: .*{name}"):
            call()


def test_their_limits():
    assert paddle.finfo("float8_e4m3fn").max == 448.0 and paddle.finfo(paddle.float8_e5m2).max == 57344.0
    assert paddle.finfo("float8_e5m2").bits == 8
