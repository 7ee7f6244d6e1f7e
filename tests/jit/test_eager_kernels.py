"""Eager operators on large arrays give the same by machine code as by NumPy's functions, and only where it pays."""

import subprocess
import sys
import threading
from functools import partial

import numpy as np
import pytest

import vitrify as paddle
from tests.codegen.every_op import samples
from vitrify.core.config import flags_guard
from vitrify.core.dispatch import EAGER
from vitrify.core.errors import IndexRangeError, VitrifyError
from vitrify.eager.kernels import LARGE, on_numpy
from vitrify.jit.eager_kernels import EAGER_KERNELS, EagerKernels
from vitrify.nn import functional as F

pytestmark = pytest.mark.native
SHAPE = (40, LARGE // 32)
TOLERANCES = {"float64": 1e-13, "float32": 3e-6, "float16": 2e-3, "bfloat16": 2e-2}


class Seen:
    """Which calls were left to NumPy's functions, and which were not, by the names of their ops."""

    def __init__(self, monkeypatch):
        self.native, self.plain = [], []
        self.kernels = EagerKernels()
        monkeypatch.setattr(EAGER, "large", self.run)
        monkeypatch.setattr("vitrify.jit.eager_kernels.on_numpy", self._on_numpy)

    def run(self, op, arrays, attrs):
        count = len(self.plain)
        found = self.kernels.run(op, arrays, attrs)
        if len(self.plain) == count:
            self.native.append(op.name)
        return found

    def _on_numpy(self, op, arrays, attrs):
        self.plain.append(op.name)
        return on_numpy(op, arrays, attrs)


@pytest.fixture
def seen(monkeypatch):
    """What becomes of calls where machine code is made at once."""
    with flags_guard({"native_after_ms": 0, "cache_mb": 0}):
        yield Seen(monkeypatch)


def floats(*shape, dtype="float32", seed=0):
    return paddle.to_tensor(np.random.default_rng(seed).standard_normal(shape).astype("float32")).astype(dtype)


def in_numpy(fn):
    """What a function gives where NumPy's functions compute everything."""
    large, EAGER.large = EAGER.large, on_numpy
    try:
        return fn()
    finally:
        EAGER.large = large


def assert_alike(found, wanted, rtol=2e-6, atol=2e-6):
    assert found.dtype == wanted.dtype and found.shape == wanted.shape
    np.testing.assert_allclose(found.astype("float32").numpy(), wanted.astype("float32").numpy(), rtol, atol)


def has_kernel(operator):
    op = operator.op
    return not operator.ref_count and (op.scalar is not None or op.decompose is not None or op.combiner is not None)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_every_op_gives_what_numpy_gives(dtype, seen):
    for sample in samples(dtype, has_kernel).values():
        given = [v for v in sample.inputs if v is None or isinstance(v, np.ndarray)]
        if len(given) < len(sample.inputs) or not isinstance(given[0], np.ndarray):
            continue
        wanted = sample.all_expected()
        with np.errstate(all="ignore"):
            found = seen.run(sample.op, given, dict(sample.attrs))
        is_many = sample.op.multiple
        for ours, theirs in zip(found if is_many else (found,), wanted if is_many else (wanted,), strict=True):
            theirs = np.asarray(theirs)
            assert ours.dtype == theirs.dtype and ours.shape == theirs.shape, sample.key
            if theirs.dtype.kind in "fV":
                rtol = TOLERANCES[theirs.dtype.name]
                scale = np.abs(theirs[np.isfinite(theirs)]).max(initial=1e-30)
                np.testing.assert_allclose(ours, theirs, rtol, rtol * scale, err_msg=str(sample.key))
            else:
                np.testing.assert_array_equal(ours, theirs, err_msg=str(sample.key))
    assert {"gelu", "softmax", "layer_norm", "clip", "sigmoid"} <= {*seen.native}


@pytest.mark.parametrize("dtype", TOLERANCES)
@pytest.mark.parametrize(
    "fn",
    [F.gelu, partial(F.gelu, approximate=True), F.silu, F.softmax, F.log_softmax, F.relu6, paddle.tanh, paddle.exp,
     lambda x: F.layer_norm(x, [SHAPE[-1]]), lambda x: F.softmax(x, axis=0), lambda x: x.sum(), lambda x: x.max(1)],
)  # fmt: skip
def test_values_and_gradients(fn, dtype, seen):
    x, ct = floats(*SHAPE, dtype=dtype), floats(*SHAPE, dtype=dtype, seed=1)

    def both():
        leaf = x.detach()
        leaf.stop_gradient = False
        out = fn(leaf)
        (out * (ct if out.shape == leaf.shape else ct.flatten()[: out.size].reshape(out.shape))).sum().backward()
        return out, leaf.grad

    tolerance = TOLERANCES[dtype]
    for found, wanted in zip(both(), in_numpy(both), strict=True):
        assert_alike(found, wanted, tolerance, tolerance * max(float(wanted.abs().max()), 1.0))
    assert seen.native


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize(
    ("name", "shapes", "fn"),
    [
        ("conv", [(4, 8, 24, 24), (8, 8, 3, 3)], lambda x, w: F.conv2d(x, w, padding=1)),
        ("conv", [(4, 8, 24, 24), (8, 8, 5, 5)], lambda x, w: F.conv2d(x, w, stride=2)),
        ("conv", [(8, 16, 160), (8, 16, 3)], F.conv1d),
        ("conv_transpose", [(4, 8, 24, 24), (8, 4, 4, 4)], lambda x, w: F.conv2d_transpose(x, w, stride=2)),
        ("max_pool", [(4, 8, 24, 24)], lambda x: F.max_pool2d(x, 3, 2, 1)),
        ("matmul", [(160, 160), (160, 96)], paddle.matmul),
    ],
)
def test_products_and_pooling(name, shapes, fn, dtype, seen, monkeypatch):
    monkeypatch.setattr("vitrify.jit.eager_kernels.kernel_threads", lambda: 2)
    given = [floats(*shape, dtype=dtype, seed=i) for i, shape in enumerate(shapes)]

    def both():
        leaves = [x.detach() for x in given]
        for leaf in leaves:
            leaf.stop_gradient = False
        out = fn(*leaves)
        out.astype("float32").square().sum().backward()
        return out, *[leaf.grad for leaf in leaves]

    for found, wanted in zip(both(), in_numpy(both), strict=True):
        tolerance = 2e-5 if dtype == "float32" else 3e-2
        assert_alike(found, wanted, tolerance, tolerance * float(wanted.astype("float32").abs().max()))
    assert name in seen.native or (dtype == "bfloat16" and name != "matmul")


def test_losses_of_classes(seen):
    x = floats(64, 300)
    x.stop_gradient = False
    labels = np.random.default_rng(0).integers(0, 300, 64)
    labels[::5] = -100

    def both():
        x.clear_gradient(False)
        loss = F.cross_entropy(x, paddle.to_tensor(labels), reduction="none")
        loss.square().sum().backward()
        return loss, x.grad

    for found, wanted in zip(both(), in_numpy(both), strict=True):
        assert_alike(found, wanted)
    assert {"softmax_cross_entropy", "softmax_cross_entropy_grad"} <= {*seen.native}
    for wrong in (300, -1):
        with pytest.raises(IndexRangeError, match=f"label {wrong} is outside"):
            F.cross_entropy(x, paddle.full([64], wrong, "int64"))


def test_products_on_one_thread_are_left_to_blas(seen, monkeypatch):
    monkeypatch.setattr("vitrify.jit.eager_kernels.kernel_threads", lambda: 1)
    floats(*SHAPE) @ floats(SHAPE[1], 40)
    assert "matmul" in seen.plain


def test_attributes_that_are_equal_are_told_apart(seen):
    x = paddle.to_tensor(np.where(np.arange(LARGE) % 2, np.float32(-0.0), np.float32(-3)))
    for low in (0.0, -0.0, 0, 1.0, 1, True):
        found = paddle.clip(x, low, 5.0)
        wanted = in_numpy(lambda low=low: paddle.clip(x, low, 5.0))
        np.testing.assert_array_equal(found.numpy(), wanted.numpy())
        np.testing.assert_array_equal(np.signbit(found.numpy()), np.signbit(wanted.numpy()))


def test_one_kernel_serves_calls_of_its_kind_only(seen):
    for shape in (SHAPE, SHAPE[::-1], (LARGE * 2,), (3, LARGE)):
        for dtype in ("float32", "float64"):
            x = floats(*shape, dtype=dtype)
            assert_alike(F.softmax(x), in_numpy(lambda x=x: F.softmax(x)))
            assert_alike(F.gelu(x), in_numpy(lambda x=x: F.gelu(x)))
    assert {*seen.plain} <= {"cast"}


@pytest.mark.parametrize("view", [lambda x: x.t(), lambda x: x[::2], lambda x: x[:, ::-1], lambda x: x[:, 1:-1]])
def test_arrays_that_lie_otherwise(view, seen):
    x = view(floats(SHAPE[0], 4 * SHAPE[1]))
    for fn in (F.gelu, F.softmax, lambda x: x.sum(-1)):
        assert_alike(fn(x), in_numpy(lambda fn=fn: fn(x)), atol=2e-4)


def test_inputs_stay_as_they_are(seen):
    x = floats(*SHAPE)
    before = x.numpy().copy()
    F.gelu(x), F.softmax(x), F.silu(x)
    np.testing.assert_array_equal(x.numpy(), before)
    y = F.gelu(x)
    y.fill_(1.0)
    np.testing.assert_array_equal(x.numpy(), before)


def test_what_operands_are_missing_or_numbers(seen):
    x = floats(*SHAPE)
    w = floats(SHAPE[1])
    for given in ((None, None), (w, None), (None, w), (w, w)):
        fn = partial(F.layer_norm, x, [SHAPE[1]], *given)
        assert_alike(fn(), in_numpy(fn))
    for exponent in (2.5, 3, -1.0):
        fn = partial(paddle.pow, x.abs() + 1, exponent)
        assert_alike(fn(), in_numpy(fn))


def test_shapes_that_do_not_fit_raise_what_they_always_did(seen):
    x, weight = floats(*SHAPE), floats(SHAPE[1] + 1)
    for fn in (lambda: F.layer_norm(x, [SHAPE[1]], weight), lambda: paddle.logaddexp(x, weight)):
        with pytest.raises(VitrifyError) as wanted:
            in_numpy(fn)
        with pytest.raises(VitrifyError) as found:
            fn()
        assert str(found.value).splitlines()[0] == str(wanted.value).splitlines()[0]


def test_what_numpy_does_as_well_is_left_to_it(seen):
    x = floats(*SHAPE)
    x + x, x * 2.0, -x, x.sum(0), paddle.pow(x, 2.5), x.t().contiguous()
    assert not seen.native


def test_small_arrays_are_not_looked_at(seen):
    F.gelu(floats(LARGE - 1))
    assert not seen.native and not seen.plain


def test_machine_code_is_made_once_calls_have_paid_for_it(monkeypatch):
    seen = Seen(monkeypatch)
    x = floats(8 * LARGE)
    with flags_guard({"native_after_ms": 5.0, "cache_mb": 0}):
        for _ in range(400):
            F.silu(x)
    assert seen.plain and seen.native == ["silu"] * len(seen.native)
    plain = len(seen.plain)
    with flags_guard({"native_after_ms": 5.0, "native": False}):
        F.softplus(x)
    assert len(seen.plain) == plain + 1


def test_threads_share_them(seen):
    x = floats(*SHAPE)
    wanted = in_numpy(lambda: F.gelu(x) + F.softmax(x))
    found = []

    def work():
        found.extend(F.gelu(x) + F.softmax(x) for _ in range(5))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 20
    for one in found:
        assert_alike(one, wanted)


def test_short_programs_load_no_compiler():
    code = (
        "import sys, vitrify as paddle\n"
        "x = paddle.ones([200, 200])\n"
        "for _ in range(3): paddle.nn.functional.gelu(x)\n"
        "print([name for name in sys.modules if name.split('.')[0] == 'llvmlite' or name == 'vitrify.passes.fuse'])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert ran.stdout.strip() == "[]", ran.stderr


def test_the_process_uses_them():
    assert EAGER.large == EAGER_KERNELS.run
