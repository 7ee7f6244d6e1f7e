"""Sums of products are gathered in place, give what they gave, and change nothing that others read."""

import numpy as np
import pytest

import vitrify as paddle
from tests.codegen.test_own_products import SUITS
from tests.codegen.test_whole import eagerly, numbers, program_of
from tests.passes.programs import traced
from vitrify.codegen import whole
from vitrify.codegen.products import OWN_PRODUCTS
from vitrify.codegen.sums import sums_of_products
from vitrify.core.config import flags_guard
from vitrify.ir.ssa_blocks import block_of
from vitrify.passes.fuse import fuse


@pytest.fixture
def additions(monkeypatch):
    """How many products of each plan add to what is there."""
    counts, plan_of = [], whole.plan_of

    def counted(n, *given):
        steps = [s for step in n.steps for s in (step, *(own for block in step.blocks for own in block))]
        added = {s.words[11].buffer for s in steps if s.function == OWN_PRODUCTS and s.words[-1] is s.words[11]}
        counts.append(len(added))
        return plan_of(n, *given)

    monkeypatch.setattr(whole, "plan_of", counted)
    return counts


def check(fn, *arrays, **tolerance):
    found = program_of(fn, *[(a.shape, a.dtype.name) for a in arrays])(arrays)
    for out, wanted in zip(found, eagerly(fn, *arrays), strict=True):
        assert out.dtype == wanted.dtype
        np.testing.assert_allclose(out, wanted, **(tolerance or {"rtol": 2e-5, "atol": 2e-4}))


def chain(x, y):
    total = paddle.matmul(x, y)
    for i in range(1, 4):
        total = total + paddle.matmul(x * i, y)
    return total


def chain_from_the_right(x, y):
    total = paddle.matmul(x, y)
    for i in range(1, 4):
        total = paddle.matmul(x * i, y) + total
    return total


def transposed(x, y):
    return paddle.matmul(x, y) + paddle.matmul(y, x, transpose_x=True, transpose_y=True).T


def pairs(x, y):
    a, b, c, d = (paddle.matmul(x * i, y) for i in range(1, 5))
    return (a + b) + (c + d)


def stacked(x, y):
    return paddle.matmul(x, y) + paddle.matmul(x * 2, y)


@pytest.mark.parametrize(
    "sizes", [(64, 64, 64), (33, 65, 70), (13, 400, 15), (40, 128, 257), (1, 300, 300), (128, 512, 32), (7, 5, 3)]
)
@pytest.mark.parametrize("fn", [chain, chain_from_the_right, pairs, stacked, transposed])
def test_sums(fn, sizes):
    m, n, k = sizes
    check(fn, numbers(m, k), numbers(k, n), rtol=2e-5, atol=1e-3)


def test_a_group_of_additions_with_several_results():
    block = block_of(fuse(traced(lambda x, y: [first := x + y, first + x], [4, 4], [4, 4])))
    assert [op.op.name for op in block.ops] == ["fused"] and sums_of_products(block.ops, block.outputs) == {}


@pytest.mark.parametrize("dtype", ["float64", "bfloat16"])
def test_other_dtypes(dtype):
    kind = paddle.to_tensor([0.0], dtype).numpy().dtype
    x, y = numbers(33, 70).astype(kind), numbers(70, 40).astype(kind)
    found, wanted = program_of(chain, ((33, 70), dtype), ((70, 40), dtype))([x, y])[0], eagerly(chain, x, y)[0]
    np.testing.assert_allclose(found.astype("f8"), wanted.astype("f8"), rtol=2.0**-6, atol=1e-3)


def test_the_additions_are_gone(additions):
    check(chain, numbers(64, 64), numbers(64, 64), rtol=2e-5, atol=1e-3)
    assert bool(additions[-1]) == SUITS


def test_short_inner_sizes_keep_every_bit():
    """A product whose inner size is one block is added whole, as the two operators would."""
    x, y = numbers(60, 200), numbers(200, 90)
    first = program_of(lambda x, y: paddle.matmul(x, y) * 1, ((60, 200), "float32"), ((200, 90), "float32"))
    (found,) = program_of(stacked, ((60, 200), "float32"), ((200, 90), "float32"))([x, y])
    np.testing.assert_array_equal(found, first([x, y])[0] + first([x * 2, y])[0])


def product_twice(x, y):
    p = paddle.matmul(x, y)
    return p + paddle.matmul(x * 2, y), p


def product_itself(x, y):
    p = paddle.matmul(x, y)
    return p + p


def product_read_after(x, y):
    p, q = paddle.matmul(x, y), paddle.matmul(x * 2, y)
    return p + q, paddle.exp(p * 0.01), q.sum()


def product_seen_by_a_view(x, y):
    p = paddle.matmul(x, y)
    return p + paddle.matmul(x * 2, y), p.T * 2


def product_of_the_sum(x, y):
    p = paddle.matmul(x, y)
    return paddle.matmul(p, y) + p


def broadcast_rows(x, y):
    return paddle.matmul(x, y) + paddle.matmul(x[:1], y)


READ_BY_OTHERS = (
    product_twice, product_itself, product_read_after, product_seen_by_a_view, product_of_the_sum, broadcast_rows
)  # fmt: skip


@pytest.mark.parametrize("fn", READ_BY_OTHERS)
def test_what_others_read_stays(additions, fn):
    check(fn, numbers(48, 48), numbers(48, 48) / 8, rtol=2e-5, atol=1e-3)
    assert not additions[-1]


def test_what_is_no_number_goes_on():
    x, y = numbers(64, 64), numbers(64, 64)
    x[3, 5], x[7, 0], y[9, 9] = np.nan, np.inf, -np.inf
    with np.errstate(invalid="ignore"):
        wanted = eagerly(chain, x, y)[0]
    (found,) = program_of(chain, ((64, 64), "float32"), ((64, 64), "float32"))([x, y])
    assert np.array_equal(np.isnan(found), np.isnan(wanted)) and np.array_equal(np.isinf(found), np.isinf(wanted))


def mixed_inner_sizes(x, y):
    """The second product is too small for code of our own."""
    return paddle.matmul(x, y) + paddle.matmul(x[:, :1], y[:1]) + paddle.matmul(x * 2, y)


def test_products_of_which_some_are_not_ours(additions):
    check(mixed_inner_sizes, numbers(64, 64), numbers(64, 64), rtol=2e-5, atol=1e-3)


def optimized(fn, *arrays):
    """What a compiled function gives, whose additions may be in one group."""
    compiled = paddle.jit.to_static(fn)
    given = [paddle.to_tensor(a) for a in arrays]
    with flags_guard({"native_after_ms": 0}):
        return [compiled(*given).numpy() for _ in range(40)][-1]


@pytest.mark.parametrize("fn", [chain, chain_from_the_right, pairs, mixed_inner_sizes])
def test_groups_of_additions(fn):
    x, y = numbers(64, 64), numbers(64, 64)
    np.testing.assert_allclose(optimized(fn, x, y), eagerly(fn, x, y)[0], rtol=2e-5, atol=1e-3)


def test_a_weight_that_each_step_reads(additions):
    """Gradients of a recurrent layer's weights, by a compiled step and by eager ones."""
    gradients = []
    for compiled in (False, True):
        cell = paddle.nn.Linear(48, 48)
        cell.weight.set_value(numbers(48, 48) / 8)

        def step(x, cell=cell):
            h = x[0]
            for t in range(6):
                h = paddle.tanh(cell(h) + x[t])
            h.square().sum().backward()

        run = paddle.jit.to_static(step) if compiled else step
        x = paddle.to_tensor(numbers(6, 33, 48))
        with flags_guard({"native_after_ms": 0}):
            for _ in range(40 if compiled else 1):
                cell.clear_gradients()
                run(x)
        gradients.append(cell.weight.grad.numpy())
    np.testing.assert_allclose(*gradients, rtol=2e-4, atol=1e-4)
    assert bool(max(additions, default=0)) == SUITS


def test_runs_follow_each_other():
    """Each run begins with its own first product, not with what the run before gathered."""
    x, y = numbers(64, 64), numbers(64, 64)
    program = program_of(chain, ((64, 64), "float32"), ((64, 64), "float32"))
    first, second = program([x, y])[0].copy(), program([x, y])[0]
    np.testing.assert_array_equal(first, second)
