"""Which operators become one: what belongs together, what must not, and that nothing else changes."""

from __future__ import annotations

import numpy as np
import pytest

import vitrify as paddle
from tests.passes.programs import traced
from tests.runtime import graphs
from vitrify.ir.rows import rows_of
from vitrify.ir.ssa_blocks import graph_of
from vitrify.ops.expression_size import count_primitives
from vitrify.ops.registry import all_ops
from vitrify.passes.fuse import find_groups, fuse
from vitrify.passes.lifetimes import Lifetimes
from vitrify.passes.pipeline import steps_of

F = paddle.nn.functional


def kinds(graph):
    """The operators' names, those of a group in a list."""
    return [[o.op.name for o in op.attrs["body"].ops] if op.op.name == "fused" else op.op.name for op in graph.ops]


@pytest.mark.parametrize(
    ("build", "wanted"),
    [
        (lambda x, w, b: paddle.tanh(x * 2 + b), [["multiply", "add", "tanh"]]),
        (lambda x, w, b: paddle.tanh(x).astype("float64") + 1, [["tanh", "cast", "add"]]),
        # A matrix product stands between, and both sides need it: two groups.
        (
            lambda x, w, b: paddle.exp(paddle.tanh(paddle.matmul(paddle.tanh(x * 2), w)) * 2),
            [["multiply", "tanh"], "matmul", ["tanh", "multiply", "exp"]],
        ),
        # The product needs the first member, the last needs the product: they are no group.
        (lambda x, w, b: (y := paddle.tanh(x), paddle.matmul(y, w) + y)[1], [["tanh"], "matmul", "add"]),
        # Of another shape, although it broadcasts: it would be computed for each row.
        (lambda x, w, b: x + paddle.tanh(b), [["tanh"], "add"]),
        # What may raise stays by itself.
        (lambda x, w, b: paddle.floor_divide(x * 2, x + 1) * 2, ["multiply", "add", "floor_divide", "multiply"]),
        # What has no machine code would keep all others from having it.
        (lambda x, w, b: paddle.erfinv(x * 2 + w).tanh() * 3, [["multiply", "add"], "erfinv", ["tanh", "multiply"]]),
        (lambda x, w, b: (x.astype("int32") + 1) ** 2 * 3, [["cast", "add", "pow", "multiply"]]),
        (lambda x, w, b: (y := x.astype("int32") + 1) ** y * 3 + 1, [["cast", "add"], "pow", ["multiply", "add"]]),
        # Complex numbers have no native form.
        (lambda x, w, b: paddle.real(paddle.complex(x, x) * 2), ["complex", "multiply", "real"]),
    ],
)
def test_groups(build, wanted):
    assert kinds(fuse(traced(build, [4, 4], [4, 4], [4]))) == wanted


LENGTH = [
    "abs", "max", "isfinite", "not_equal", "logical_and", "where", "divide", "multiply", "sum", "sqrt", "multiply",
]  # fmt: skip


@pytest.mark.parametrize(
    ("build", "wanted"),
    [
        (lambda x, w: F.layer_norm(F.softmax(x * 2), [8]), [["multiply", "softmax", "layer_norm"]]),
        (lambda x, w: F.softmax(x, axis=0) * 2, ["softmax", "multiply"]),
        (lambda x, w: (w - (x * w).sum(-1, keepdim=True)) * x, [["multiply", "sum", "subtract", "multiply"]]),
        # One number for each row, and what is computed of it.
        (lambda x, w: x / ((x * x).sum(-1, keepdim=True) + 1).sqrt(), [["multiply", "sum", "add", "sqrt", "divide"]]),
        # All dimensions are one row; those over two of three are rows as well, and may not be mixed.
        (lambda x, w: ((x - w) ** 2).mean(), [["subtract", "square", "mean"]]),
        (lambda x, w: (x * 2).sum(-1, keepdim=True) + (x * 2).max(), [["multiply", "sum"], "max", "add"]),
        # The sum has lost its dimension: it would go along the columns.
        (lambda x, w: w * (x[:8] * 2).sum(-1), ["getitem", ["multiply", "sum"], "multiply"]),
        # What is summed over all rows is there when all are done.
        (lambda x, w: (x * 2).sum(0) * 3, [["multiply", "sum"], "multiply"]),
        (lambda x, w: [y := F.softmax(x), (y * w).sum(0)], [["softmax", "multiply", "sum"]]),
        # The length of rows is what it is computed by; what drops its dimensions stays outside.
        (lambda x, w: x.norm(axis=-1), [LENGTH, "squeeze"]),
        (lambda x, w: x / x.norm(axis=-1, keepdim=True), [[*LENGTH, "divide"]]),
        (lambda x, w: x.norm(axis=0), ["p_norm"]),
        (lambda x, w: x.norm(3.0, axis=-1), ["p_norm"]),
        # A sum alone is worth a loop if it is of many numbers, and has NumPy's order of adding if it is of few.
        (lambda x, w: x.sum(-1), ["sum"]),
        (lambda x, w: x.tile([8, 8]).sum(-1), ["tile", ["sum"]]),
    ],
)
def test_rows(build, wanted):
    assert kinds(steps_of(traced(build, [8, 8], [8, 8]))[-1].graph) == wanted


@pytest.mark.parametrize(
    ("build", "wanted"),
    [
        # Groups of channels are rows of another shape; what goes on behind them takes their factors and summands in.
        (
            lambda x, w, b: F.silu(F.group_norm(x, 2, 1e-5, w, b)),
            ["reshape", ["layer_norm"], "reshape", "reshape", "reshape", ["multiply", "add", "silu"]],
        ),
        (lambda x, w, b: F.relu(F.group_norm(x * 2, 2)), ["multiply", "reshape", ["layer_norm"], "reshape", ["relu"]]),
        (
            lambda x, w, b: F.relu(F.instance_norm(x, weight=w, bias=b)),
            ["reshape", "reshape", ["layer_norm", "multiply", "add", "relu"]],
        ),
        # No such rows lie in memory.
        (lambda x, w, b: F.group_norm(x, 2, data_format="NHWC"), ["group_norm"]),
    ],
)
def test_norms_of_channels(build, wanted):
    found = kinds(steps_of(traced(build, [2, 4, 6, 4], [4], [4]))[-1].graph)
    assert sorted(map(str, found)) == sorted(map(str, wanted))


def norms(kind, weight, bias):
    """Norms of channels that a program computes beside other things."""
    if kind == "instance":
        return lambda x: F.silu(F.instance_norm(x * 2, weight=weight, bias=bias)) * x
    groups = int(kind)
    return lambda x: F.silu(F.group_norm(x * 2, groups, 1e-5, weight, bias)) * x


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("affine", [True, False])
@pytest.mark.parametrize("shape", [[3, 6, 5, 7], [1, 6, 1], [2, 6, 3, 2, 4]])
@pytest.mark.parametrize("kind", ["1", "3", "6", "instance"])
def test_norms_of_channels_and_their_gradients_mean_the_same(kind, shape, affine, dtype):
    rng = np.random.default_rng(len(shape))
    given = [rng.standard_normal(s) for s in (shape, [6], [6])]
    found = []
    for is_compiled in (False, True):
        x, weight, bias = (paddle.to_tensor(v, dtype=dtype, stop_gradient=False) for v in given)
        params = [weight, bias] if affine else []
        fn = norms(kind, *(params or (None, None)))
        open_batch = [paddle.static.InputSpec([None, *shape[1:]], dtype)]
        fn = paddle.jit.to_static(fn, full_graph=True, input_spec=open_batch) if is_compiled else fn
        for _ in range(3):
            out = fn(x)
            found.append([out, *paddle.grad((out * out).sum(), [x, *params])])
    tolerance = 2e-4 if dtype == "float32" else 1e-9
    for one in found[1:]:
        for a, b in zip(found[0], one, strict=True):
            np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=tolerance, atol=tolerance)


def test_what_varies_along_a_part_of_a_row_stays_outside():
    build = lambda x, b: (x * 2 + b).sum([1, 2])  # noqa: E731
    assert kinds(fuse(traced(build, [2, 3, 4], [3, 4]))) == [["multiply", "add", "sum"]]
    assert kinds(fuse(traced(build, [2, 3, 4], [4]))) == [["multiply", "add"], "sum"]


@pytest.mark.parametrize("fn", [F.gelu, F.silu, F.sigmoid, F.softplus, F.relu, paddle.tanh])
def test_what_takes_longer_than_memory_is_a_group_by_itself(fn):
    assert kinds(fuse(traced(lambda x: paddle.matmul(fn(x), x), [4, 4]))) == [[fn.__name__], "matmul"]


@pytest.mark.parametrize("fn", [paddle.abs, paddle.square, paddle.floor])
def test_what_takes_as_long_as_memory_is_no_group(fn):
    assert kinds(fuse(traced(lambda x: paddle.matmul(fn(x), x), [4, 4]))) == [fn.__name__, "matmul"]


def test_every_expression_can_be_counted():
    """Its attributes have some value; conditions on operands would be none of an expression."""
    for op in all_ops():
        if op.scalar is not None:
            assert count_primitives(op.scalar, len(op.inputs), dict.fromkeys(op.attrs, 1)) > 0, op


def test_several_results():
    graph = fuse(traced(lambda x: [y := paddle.exp(x), paddle.tanh(y) * 2], [3]))
    (op,) = graph.ops
    assert op.outputs == graph.outputs and len(op.attrs["body"].outputs) == 2


def test_members_pass_what_needs_none_of_them():
    graph = fuse(traced(lambda x, w: [y := paddle.tanh(x), paddle.matmul(w, w), paddle.exp(y)], [4, 4], [4, 4]))
    assert kinds(graph) == ["matmul", ["tanh", "exp"]]


def test_effects_stay_between_what_may_raise():
    """Sizes unknown: the sum may raise, which must not come before the print."""

    def build(x, y):
        z = paddle.tanh(x)
        paddle.static.Print(x)
        return z + y

    assert kinds(fuse(traced(build, [None], [None]))) == [["tanh"], "print_tensor", "add"]
    assert kinds(fuse(traced(build, [4], [4]))) == ["print_tensor", ["tanh", "add"]]


def test_an_operand_that_is_missing_passes_effects():
    """Layer norm without weight and bias."""

    def build(x):
        z = F.layer_norm(x, [3])
        paddle.static.Print(x)
        return z * 2

    assert kinds(fuse(traced(build, [4, 3]))) == ["print_tensor", ["layer_norm", "multiply"]]


def test_memory_decides():
    """Four long rows become one value each, one after the other; at once they would need four times the memory."""

    def build(x):
        total = x[0].sum()
        for i in range(1, 5):
            total = paddle.tanh(paddle.exp(x).sum(axis=i % 2) + total)
        return total

    graph = traced(build, [64, 64])
    assert max(Lifetimes(fuse(graph)).peaks) <= max(Lifetimes(graph).peaks)


@pytest.mark.parametrize("seed", range(30))
def test_random_programs_mean_the_same(seed):
    made = graphs.program(seed)
    given = graphs.arrays(seed)
    paddle.seed(seed)
    wanted = graphs.core(made, mode="trace")(*given)
    for mode in ("trace", "threads"):
        core = graphs.core(made, mode=mode, passes=True)
        paddle.seed(seed)
        for got, want in zip(core(*given), wanted):
            np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("seed", range(30))
def test_groups_of_random_programs(seed, monkeypatch):
    """Disjoint, connected, of one shape or of rows of one; the graph stays in order, and its peak does not grow."""
    monkeypatch.setattr("vitrify.passes.lifetimes.LEAST_BYTES", 0)
    main, inputs, outputs = graphs.program(seed, 40)
    graph = graph_of(main.global_block(), inputs, outputs)
    groups = find_groups(graph)
    members = [m for group in groups for m in group.members]
    assert len(members) == len(set(members))
    for group in groups:
        assert all(group.rows.with_(rows_of(graph.ops[m])) == group.rows for m in group.members)
        if not group.rows.rank:
            assert {graph.ops[m].outputs[0].meta.shape for m in group.members} == {group.rows.shape}
    result = fuse(graph)
    defined = set(result.inputs)
    for op in result.ops:
        assert defined.issuperset(op.values)
        defined.update(op.outputs)
    before, after = Lifetimes(graph), Lifetimes(result)
    assert all(new <= old for new, old in zip(after.peaks, before.peaks))


def test_most_random_programs_have_groups():
    graph_list = [graph_of(p.global_block(), inputs, outs) for p, inputs, outs in map(graphs.program, range(20))]
    assert sum(any(o.op.name == "fused" for o in fuse(graph).ops) for graph in graph_list) > 15


def test_an_error_names_the_members_line():
    def broken(x, y):
        z = paddle.tanh(x)
        return paddle.exp(z * 2 + y)  # here

    compiled = paddle.jit.to_static(
        broken, full_graph=True,
        input_spec=[paddle.static.InputSpec([None], "float32"), paddle.static.InputSpec([None], "float32")],
    )  # fmt: skip
    with pytest.raises(ValueError, match="shapes do not broadcast") as caught:
        compiled(paddle.ones([3]), paddle.ones([4]))
    assert "# here" in str(caught.value)


def test_a_small_sum_is_the_same_number_as_eagerly():
    """To the last bit: its sum is 0.1 in one order and a little less in another."""
    x = paddle.to_tensor([1.43, -0.47, 0.56, -1.42])
    assert bool(paddle.jit.to_static(lambda x: x.sum() >= 0.1)(x)) == bool(x.sum() >= 0.1)
