"""Gradients of eager operators on large arrays give the same by machine code as by the ops of their rules."""

import numpy as np
import pytest

import vitrify as paddle
from vitrify.core.config import flags_guard
from vitrify.core.dispatch import EAGER
from vitrify.core.errors import StaleBackwardError
from vitrify.eager.kernels import LARGE, on_numpy
from vitrify.jit.eager_kernels import EagerKernels
from vitrify.jit.eager_rules import EagerRules
from vitrify.nn import functional as F

pytestmark = pytest.mark.native
SHAPE = (32, LARGE // 32)
# Rules without functions of libm, and without sums: the same to the bit.
EXACT = {
    "relu": F.relu, "relu6": F.relu6, "leaky_relu": F.leaky_relu, "hardtanh": F.hardtanh, "hardswish": F.hardswish,
    "hardsigmoid": F.hardsigmoid, "softshrink": F.softshrink, "hardshrink": F.hardshrink, "sqrt": paddle.sqrt,
    "tanh": paddle.tanh, "sigmoid": F.sigmoid, "softsign": F.softsign, "reciprocal": paddle.reciprocal,
}  # fmt: skip
CLOSE = {
    "silu": F.silu, "elu": F.elu, "selu": F.selu, "mish": F.mish, "softmax": F.softmax, "log_softmax": F.log_softmax,
    "variance": lambda x: x.var(1),
}  # fmt: skip


class Rules(EagerRules):
    """Rules whose names are noted where machine code computes them."""

    def __init__(self):
        super().__init__(EagerKernels())
        self.native = []

    def run(self, node, ct, kept):
        found = super().run(node, ct, kept)
        if found is not None:
            self.native.append(node.op.name)
        return found


@pytest.fixture
def rules(monkeypatch):
    """What computes rules where machine code is made at once."""
    found = Rules()
    monkeypatch.setattr(EAGER, "large", on_numpy)
    monkeypatch.setattr(EAGER, "large_rule", found.run)
    with flags_guard({"native_after_ms": 0, "cache_mb": 0}):
        yield found


def numbers(dtype, *, odd):
    found = np.random.default_rng(3).standard_normal(SHAPE) * 4
    if odd:
        found[0, :9] = [0.0, -0.0, np.inf, -np.inf, np.nan, 6.0, -3.0, 3.0, 0.5]
    return paddle.to_tensor(found.astype("float32")).astype(dtype)


def pulled(fn, dtype, ct, *, odd):
    """The gradient by `backward`."""
    x = numbers(dtype, odd=odd)
    x.stop_gradient = False
    out = fn(x)
    (out.sum() if ct is None else (out * ct)).sum().backward()
    return x.grad


def by_ops(fn, *args, **kwargs):
    """`pulled` where the rules are called."""
    rule, EAGER.large_rule = EAGER.large_rule, lambda node, ct, kept: None
    try:
        return pulled(fn, *args, **kwargs)
    finally:
        EAGER.large_rule = rule


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
@pytest.mark.parametrize("name", EXACT)
@pytest.mark.filterwarnings("ignore:.*encountered:RuntimeWarning")
def test_rules_are_the_same_to_the_bit(name, dtype, rules):
    for ct in (None, numbers(dtype, odd=False) * 0.5):
        found = pulled(EXACT[name], dtype, ct, odd=True)
        wanted = by_ops(EXACT[name], dtype, ct, odd=True)
        assert found.dtype == wanted.dtype
        both = [gradient.astype("float64").numpy() for gradient in (found, wanted)]
        np.testing.assert_array_equal(*both)
        np.testing.assert_array_equal(*[np.signbit(np.where(np.isnan(array), 0, array)) for array in both])
    assert rules.native


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", CLOSE)
def test_rules_with_sums_or_functions_of_libm_differ_in_last_places(name, dtype, rules):
    ct = numbers(dtype, odd=False).abs() if name != "variance" else None
    found, wanted = (get(CLOSE[name], dtype, ct, odd=False) for get in (pulled, by_ops))
    assert found.dtype == wanted.dtype
    tolerance = 3e-6 if dtype == "float32" else 1e-13
    np.testing.assert_allclose(found.numpy(), wanted.numpy(), rtol=tolerance, atol=tolerance)
    assert rules.native


def test_a_gradient_that_is_differentiated_calls_the_rules(rules):
    x = numbers("float32", odd=False)
    x.stop_gradient = False
    (first,) = paddle.grad(F.hardswish(x).sum(), x, create_graph=True)
    assert "hardswish" not in rules.native
    (first * first).sum().backward()
    np.testing.assert_allclose(
        x.grad.numpy(), (2 * first * (x.abs() < 3).astype("float32") / 3).numpy(), rtol=1e-5, atol=1e-5
    )


def test_gradients_that_nobody_wants_are_not_computed_and_numbers_are_told_apart(rules):
    x, y = numbers("float32", odd=False), numbers("float32", odd=False) * 2 + 1
    x.stop_gradient = False
    (x / y).sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), (1 / y).numpy())
    x.clear_gradient(False)
    y.stop_gradient = False
    (x / y).sum().backward()
    np.testing.assert_allclose(y.grad.numpy(), (-x / y / y).numpy(), rtol=2e-6)
    for slope in (0.0, -0.0, 0.25, 2.0):
        x.clear_gradient(False)
        F.leaky_relu(x, slope).sum().backward()
        np.testing.assert_array_equal(x.grad.numpy(), np.where(x.numpy() >= 0, 1, slope).astype("float32"))


def test_what_was_changed_in_place_raises_as_it_does(rules):
    x = numbers("float32", odd=False)
    x.stop_gradient = False
    h = x * 1
    out = F.hardswish(h)
    with paddle.no_grad():
        h.add_(paddle.ones([1]))
    with pytest.raises(StaleBackwardError, match="modified in place"):
        out.sum().backward()


def test_arrays_that_do_not_lie_in_order_get_the_same(rules):
    x = numbers("float32", odd=False)
    x.stop_gradient = False
    for _ in range(2):
        F.hardswish(x.t()).sum().backward()
    expected = np.where(x.numpy() <= -3, 0, np.where(x.numpy() < 3, (x.numpy() * 2 + 3) / 6, 1)) * 2
    np.testing.assert_allclose(x.grad.numpy(), expected, rtol=1e-5, atol=1e-6)
