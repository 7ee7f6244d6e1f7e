"""Who has read `.grad`, or made a view of it, sees what becomes of it: numbers as PaddlePaddle 3.3.1 gives them."""

import copy

import numpy as np
import pytest

import vitrify as paddle
from vitrify.core.errors import StaleBackwardError


def parameter():
    """Three ones that want a gradient."""
    return paddle.create_parameter([3], "float32", default_initializer=paddle.nn.initializer.Constant(1.0))


def pulled(p, factor):
    (p * factor).sum().backward()


WAYS = {
    "itself": lambda g: g,
    "detached": lambda g: g.detach(),
    "a view": lambda g: g[:1],
    "reshaped": lambda g: g.reshape([3, 1]),
    "detached twice": lambda g: g.detach().detach(),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("records", [True, False])
def test_sums_and_zeros_are_seen(way, records):
    p = parameter()
    pulled(p, 2)
    with paddle.set_grad_enabled(records):
        held = WAYS[way](p.grad)
    for factor, total in ((3, 5), (4, 9)):
        pulled(p, factor)
        assert set(held.flatten().tolist()) == {total}
    p.clear_grad()
    assert set(held.flatten().tolist()) == {0}
    pulled(p, 1)
    assert set(held.flatten().tolist()) == {0} and p.grad.tolist() == [1, 1, 1]


def test_a_detached_gradient_writes_into_it():
    p = parameter()
    pulled(p, 2)
    held = p.grad.detach()
    held.scale_(3.0)
    pulled(p, 1)
    assert held.tolist() == p.grad.tolist() == [7, 7, 7]


def test_copies_stay():
    p = parameter()
    pulled(p, 2)
    copies = [p.grad.clone(), copy.deepcopy(p.grad), p.grad * 1]
    pulled(p, 3)
    assert [c.tolist() for c in copies] == [[2, 2, 2]] * 3


def test_a_gradient_that_is_set_is_seen_and_not_taken_over():
    p = parameter()
    pulled(p, 2)
    held, new = p.grad, paddle.full([3], 7.0)
    p.grad = new
    assert held.tolist() == [7, 7, 7]
    pulled(p, 1)
    assert held.tolist() == [8, 8, 8] and new.tolist() == [7, 7, 7]
    p.grad = None
    assert p.grad is None and held.tolist() == [8, 8, 8]
    p.grad = paddle.ones([3], "float64")
    assert p.grad.dtype == paddle.float64


def test_what_backward_keeps_of_a_gradient_that_changes_raises():
    p, q = parameter(), parameter()
    pulled(p, 2)
    loss = (p.grad * q).sum()
    pulled(p, 2)
    with pytest.raises(StaleBackwardError, match="modified in place"):
        loss.backward()


CLIPS = {
    "global norm": (lambda: paddle.nn.ClipGradByGlobalNorm(1.0), 1 / np.sqrt(3)),
    "norm": (lambda: paddle.nn.ClipGradByNorm(1.0), 2),
    "value": (lambda: paddle.nn.ClipGradByValue(1.0), 2),
}


@pytest.mark.parametrize("kind", CLIPS)
@pytest.mark.parametrize("make", [paddle.optimizer.SGD, paddle.optimizer.AdamW, paddle.optimizer.Momentum])
def test_the_global_norm_clips_the_gradients_themselves(kind, make):
    clip, left = CLIPS[kind]
    p = parameter()
    opt = make(0.1, parameters=[p], grad_clip=clip())
    pulled(p, 2)
    held = p.grad
    opt.step()
    np.testing.assert_allclose(held, left, rtol=1e-6)
    np.testing.assert_allclose(p.grad, left, rtol=1e-6)


def test_gradients_that_need_no_clipping_stay():
    p, q = parameter(), parameter()
    p.need_clip = False
    pulled(p, 2)
    pulled(q, 2)
    (_, first), (_, second) = paddle.nn.ClipGradByGlobalNorm(1.0)([(p, p.grad), (q, q.grad)])
    assert first is p.grad and p.grad.tolist() == [2, 2, 2]
    np.testing.assert_allclose(q.grad, second.numpy())
    np.testing.assert_allclose(q.grad, 1 / np.sqrt(3), rtol=1e-6)


def test_unscaling_is_seen():
    p = parameter()
    opt, scaler = paddle.optimizer.SGD(0.1, parameters=[p]), paddle.amp.GradScaler(init_loss_scaling=8.0)
    scaler.scale((p * 2).sum()).backward()
    held = p.grad
    assert held.tolist() == [16, 16, 16]
    scaler.unscale_(opt)
    assert held.tolist() == [2, 2, 2]


def test_large_gradients_that_were_cleared_are_zeros_that_can_be_written_and_added_to():
    p = paddle.create_parameter([64, 128], "float32", default_initializer=paddle.nn.initializer.Constant(1.0))
    opt = paddle.optimizer.SGD(1.0, parameters=[p])
    (p * 2).sum().backward()
    held = p.grad
    opt.clear_grad()
    assert (held.numpy() == 0).all() and held is not p.grad
    opt.step()
    assert (p.numpy() == 1).all()
    with paddle.no_grad():
        p.grad[0] = 3.0
    assert p.grad[0, 0].item() == 3 and p.grad[1, 0].item() == 0
    (p * 2).sum().backward()
    assert p.grad[0, 0].item() == 5 and p.grad[1, 0].item() == 2
    opt.clear_grad()
    (p * -0.0).sum().backward()
    assert p.grad.numpy().flags.writeable and not np.signbit(p.grad.numpy()).any()  # they were added to zeros
    other = paddle.ones([64, 128])
    other.stop_gradient = False
    (other * 2).sum().backward()
    other.clear_grad()
    other.grad.set_value(paddle.full([64, 128], 4.0))
    assert (other.grad.numpy() == 4).all()
