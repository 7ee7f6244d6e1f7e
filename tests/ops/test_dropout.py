"""Dropout: how much it drops, what it keeps, which elements go together; eager, in programs and in gradients."""

import numpy as np
import pytest

import vitrify as paddle
from vitrify.nn import functional as F
from vitrify.static import Executor, Program, data, program_guard

ONES = np.ones((200, 60), "float32")


def ones(*shape):
    return paddle.ones(list(shape) or list(ONES.shape))


def test_a_share_p_is_dropped_and_the_mean_stays():
    paddle.seed(1)
    y = F.dropout(ones(), 0.3).numpy()
    assert set(np.unique(y)) == {0.0, np.float32(1 / 0.7)}
    assert abs((y == 0).mean() - 0.3) < 0.02


def test_downscale_in_infer_leaves_what_it_keeps():
    assert set(np.unique(F.dropout(ones(), 0.4, mode="downscale_in_infer").numpy())) == {0.0, 1.0}
    np.testing.assert_allclose(F.dropout(ones(), 0.4, training=False, mode="downscale_in_infer").numpy(), 0.6)


def test_outside_training_and_for_p_0_the_tensor_itself_is_given():
    x = ones()
    assert F.dropout(x, 0.4, training=False) is x
    assert F.dropout(x, 0.0) is x
    assert F.alpha_dropout(x, 0.0) is x


@pytest.mark.parametrize("drop", [F.dropout, F.alpha_dropout, F.dropout1d])
def test_everything_is_dropped_for_p_1(drop):
    assert not drop(ones(2, 3, 4), 1.0).numpy().any()


@pytest.mark.parametrize(
    ("drop", "shape", "shared"),
    [
        (lambda x: F.dropout(x, axis=0), (40, 50), (1,)),
        (lambda x: F.dropout(x, axis=[1]), (40, 50), (0,)),
        (F.dropout1d, (9, 8, 5), (2,)),
        (F.dropout1d, (40, 5), (1,)),
        (F.dropout2d, (9, 8, 2, 3), (2, 3)),
        (lambda x: F.dropout2d(x, data_format="NHWC"), (9, 2, 3, 8), (1, 2)),
        (F.dropout3d, (9, 8, 2, 2, 3), (2, 3, 4)),
        (F.feature_alpha_dropout, (9, 8, 2, 3), (2, 3)),
    ],
)
def test_elements_along_other_axes_share_their_fate(drop, shape, shared):
    y = drop(ones(*shape)).numpy()
    assert (y.max(shared) == y.min(shared)).all()
    assert len(np.unique(y)) == 2


def test_the_gradient_passes_where_elements_were_kept():
    x = ones(50, 40)
    x.stop_gradient = False
    y = F.dropout(x, 0.25)
    (first,) = paddle.grad(y, x, create_graph=False, retain_graph=True)
    np.testing.assert_array_equal(first.numpy(), y.numpy())
    (linear,) = paddle.grad(y, x, ones(50, 40) * 2, create_graph=True)
    np.testing.assert_array_equal(linear.numpy(), 2 * y.numpy())


def test_alpha_dropout_keeps_mean_and_variance():
    paddle.seed(5)
    y = F.alpha_dropout(paddle.randn([200, 200]), 0.4).numpy()
    assert abs(y.mean()) < 0.02
    assert abs(y.std() - 1) < 0.02


def test_in_place_changes_the_tensor():
    x = ones()
    assert F.dropout(x, 0.5, inplace=True) is x
    assert not x.numpy().all()


def test_a_program_draws_the_numbers_that_eager_code_does():
    main = Program()
    with program_guard(main, Program()):
        x = data("x", [None, 60], "float32")
        y = F.dropout(x, 0.3)
    paddle.seed(11)
    (found,) = Executor().run(main, feed={"x": ONES}, fetch_list=[y])
    paddle.seed(11)
    np.testing.assert_array_equal(np.asarray(found), F.dropout(ones(), 0.3).numpy())


def test_attention_drops_probabilities_while_training():
    q = paddle.randn([1, 6, 2, 4])
    kept = F.scaled_dot_product_attention(q, q, q, dropout_p=0.5, training=False)
    np.testing.assert_array_equal(kept.numpy(), F.scaled_dot_product_attention(q, q, q).numpy())
    assert np.abs(F.scaled_dot_product_attention(q, q, q, dropout_p=0.5).numpy() - kept.numpy()).max() > 0


@pytest.mark.parametrize("mode", ["upscale_in_train", "downscale_in_infer"])
@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("p", [0.0, 0.3, 1.0])
def test_a_probability_that_only_a_run_knows(p, training, mode):
    """What is drawn, and what is left to draw, is what eager code draws."""

    def dropped(x, p):
        return F.dropout(x, p, training=training, mode=mode), paddle.rand([2])

    found = []
    for run in (dropped, paddle.jit.to_static(dropped, full_graph=True)):
        paddle.seed(5)
        x = paddle.to_tensor(np.arange(20.0), stop_gradient=False)
        y, drawn_next = run(x, paddle.to_tensor(p))
        y.sum().backward()
        found.append((y.numpy(), drawn_next.numpy(), x.grad.numpy()))
    for eager, compiled in zip(*found):
        np.testing.assert_array_equal(compiled, eager)


def test_a_probability_that_only_a_run_knows_is_checked():
    drop = paddle.jit.to_static(lambda x, p: F.dropout(x, p), full_graph=True)
    with pytest.raises(ValueError, match="dropout: p must lie in"):
        drop(ones(), paddle.to_tensor(1.5))
    with pytest.raises(TypeError, match="expected one floating number"):
        drop(ones(), paddle.to_tensor([0.5, 0.5]))
