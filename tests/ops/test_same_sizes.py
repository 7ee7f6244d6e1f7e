"""Sizes that must agree, where only a run knows them: the error of eager code, and its results where they do."""

import numpy as np
import pytest

import vitrify as paddle
from vitrify.nn import functional as F
from vitrify.ops.same_sizes import one_element_op
from vitrify.static import InputSpec

CALLS = {
    "binary_cross_entropy": lambda x, y: F.binary_cross_entropy(F.sigmoid(x), F.sigmoid(y)),
    "binary_cross_entropy_with_logits": F.binary_cross_entropy_with_logits,
    "soft_margin_loss": F.soft_margin_loss,
    "multi_label_soft_margin_loss": lambda x, y: F.multi_label_soft_margin_loss(x, F.sigmoid(y)),
    "cosine_embedding_loss": lambda x, y: F.cosine_embedding_loss(x, y, paddle.sign(x[:, 0])),
    "index_sample": lambda x, y: paddle.index_sample(x, (y > 0).astype("int64")),
}


def drawn(*shape):
    return paddle.to_tensor(np.random.default_rng(0).normal(size=shape), stop_gradient=False)


@pytest.mark.parametrize("name", CALLS)
def test_sizes_that_only_a_run_knows(name):
    call = CALLS[name]
    spec = InputSpec([-1, -1], "float64", stop_gradient=False)
    compiled = paddle.jit.to_static(call, input_spec=[spec, spec], full_graph=True)
    for rows in (3, 4):
        grads = []
        for run in (call, compiled):
            x, y = drawn(rows, 3), drawn(rows, 3)
            found = run(x, y)
            found.sum().backward()
            grads.append((found.numpy(), x.grad.numpy()))
        for eager, ours in zip(*grads):
            np.testing.assert_allclose(ours, eager)
    for run in (call, compiled):
        with pytest.raises(ValueError, match=rf"{name}: .*: \[3, 3\] and \[1, 3\]"):
            run(drawn(3, 3), drawn(1, 3))


@pytest.mark.parametrize("norm", [F.layer_norm, lambda x, sizes: F.rms_norm(x, sizes)[0]], ids=["layer", "rms"])
def test_normalized_sizes_that_only_a_run_knows(norm):
    compiled = paddle.jit.to_static(lambda x: norm(x, [2, 3]), input_spec=[InputSpec([-1, -1, -1])], full_graph=True)
    x = paddle.to_tensor(np.arange(12, dtype="float32").reshape(2, 2, 3))
    np.testing.assert_allclose(compiled(x).numpy(), norm(x, [2, 3]).numpy(), rtol=1e-6)
    with pytest.raises(ValueError, match=r"normalized_shape is \[2, 3\]"):
        compiled(x.reshape([2, 3, 2]))


def test_labels_of_programs_get_no_gradient():
    compiled = paddle.jit.to_static(lambda x: F.binary_cross_entropy_with_logits(x, F.sigmoid(x)), full_graph=True)
    grads = []
    for run in (compiled.dygraph_function, compiled):
        x = drawn(3, 2)
        run(x).backward()
        grads.append(x.grad.numpy())
    assert np.abs(grads[0]).max() < 1e-12  # the derivative where the label is what is predicted
    np.testing.assert_allclose(grads[1], grads[0], atol=1e-12)
    assert "given" in [op.op.name for op in compiled.main_program.global_block().ops]


def test_blocks_that_reach_beyond_sizes_that_only_a_run_knows():
    def cropped(x):
        return paddle.crop(x, [2, -1], [1, 1])

    compiled = paddle.jit.to_static(cropped, input_spec=[InputSpec([-1, -1], "float64")], full_graph=True)
    for rows in (3, 5):
        x = drawn(rows, 4)
        np.testing.assert_array_equal(compiled(x).numpy(), cropped(x).numpy())
    for run in (cropped, compiled):
        with pytest.raises(ValueError, match=r"crop: .* do not lie within"):
            run(drawn(2, 4))


def left_out(x):
    if x > 0:
        pass
    return x


def while_nothing(x):
    while x > 9:
        pass
    return x


def in_not(x):
    return (x, not x)[0]


def in_and(x):
    return (x, x and 3)[0]


def in_a_conditional(x):
    return (x, 1 if x else 2)[0]


def as_an_int(x):
    return (x, int(x))[0]


def as_a_float(x):
    return (x, float(x))[0]


def as_an_item(x):
    return (x, x.item())[0]


def asserted(x):
    assert x > -9
    return x


@pytest.mark.parametrize("full_graph", [True, False])
@pytest.mark.parametrize(
    "call",
    [left_out, while_nothing, in_not, in_and, in_a_conditional, as_an_int, as_a_float, as_an_item, asserted],
    ids=lambda call: call.__name__,
)
def test_one_element_is_asked_for_where_only_a_run_knows_the_size(call, full_graph):
    compiled = paddle.jit.to_static(call, input_spec=[InputSpec([None], "float32")], full_graph=full_graph)
    for values in ([1.0], [1.0, 2.0], [], [0.0]):
        found = []
        for run in (call, compiled):
            try:
                found.append(run(paddle.to_tensor(values, "float32")).tolist())
            except ValueError as err:
                found.append((type(err), str(err).splitlines()[0]))
        assert found[0] == found[1]


def test_one_element_has_a_gradient():
    x = paddle.to_tensor([[2.0]], stop_gradient=False)
    found = paddle.jit.to_static(lambda x: one_element_op(x, what="a test"), full_graph=True)(x)
    found.backward()
    assert found.shape == [] and x.grad.tolist() == [[1.0]]


def test_what_a_path_leaves_unasked_need_not_have_one_element():
    def either(x):
        return 1 if x.sum() > 0 or x else 2

    compiled = paddle.jit.to_static(either, input_spec=[InputSpec([None], "float32")], full_graph=True)
    assert compiled(paddle.ones([3])) == 1 and compiled(paddle.zeros([1])) == 2
    with pytest.raises(ValueError, match=r"bool\(\) needs a tensor with one element, this one has shape \[3\]"):
        compiled(-paddle.ones([3]))


@pytest.mark.parametrize(
    ("call", "fitting", "others"),
    [
        (lambda x, y: paddle.tensordot(x, y), [[3, 4], [3, 4]], [[3, 4], [4, 3]]),
        (lambda x, y: paddle.cross(x, y, 1), [[2, 3], [2, 3]], [[2, 4], [2, 4]]),
        (lambda x, y: paddle.cross(x, y), [[3], [3]], [[2], [2]]),
        (lambda x, y: paddle.linalg.matrix_power(x, 0) @ y, [[3, 3], [3, 2]], [[3, 2], [3, 2]]),
    ],
)
def test_products_of_unknown_sizes(tmp_path, call, fitting, others):
    specs = [InputSpec([None] * len(shape), "float64") for shape in fitting]
    compiled = paddle.jit.to_static(call, input_spec=specs, full_graph=True)
    paddle.jit.save(compiled, str(tmp_path / "m"))
    loaded = paddle.jit.load(str(tmp_path / "m"))
    x, y = (drawn(*shape) for shape in fitting)
    np.testing.assert_allclose(loaded(x, y).numpy(), call(x, y).numpy())
    for run in (call, loaded):
        with pytest.raises(ValueError):
            run(*(drawn(*shape) for shape in others))
