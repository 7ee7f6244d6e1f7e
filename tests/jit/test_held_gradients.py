"""A compiled training step leaves what was read as `.grad` before as eager code does."""

import pytest

import vitrify as paddle
from vitrify.core.errors import UnsupportedError


def accumulate(p, opt, x):
    (p * x * 3).sum().backward()


def step_and_clear(p, opt, x):
    (p * x * 3).sum().backward()
    opt.step()
    opt.clear_grad()


def clear_and_step(p, opt, x):
    opt.clear_grad()
    (p * x * 3).sum().backward()
    opt.step()


def step_and_go_on(p, opt, x):
    (p * x * 3).sum().backward()
    opt.step()


def clear_between(p, opt, x):
    step_and_clear(p, opt, x)
    (p * x * 4).sum().backward()


def halve(p, opt, x):
    (p * x * 3).sum().backward()
    p.grad = p.grad * 0.5


def read_and_change(p, opt, x):
    held = p.grad
    p.grad = p.grad * 0.5
    (p * x * held).sum().backward()


STEPS = [accumulate, step_and_clear, clear_and_step, step_and_go_on, clear_between, halve, read_and_change]


def history(step, compiled, clip, early):
    """What is held, a detached view, `.grad`, whether that is what is held, and the parameter: after each of 3."""
    p = paddle.create_parameter([3], "float32", default_initializer=paddle.nn.initializer.Constant(1.0))
    opt = paddle.optimizer.SGD(0.1, parameters=[p], grad_clip=paddle.nn.ClipGradByGlobalNorm(1.0) if clip else None)
    run = lambda x: step(p, opt, x)  # noqa: E731
    run = paddle.jit.to_static(run, full_graph=True) if compiled else run
    x, found = paddle.ones([3]), []
    (p * 2).sum().backward()
    if not early:
        run(x)
    held, view = p.grad, p.grad.detach()
    for _ in range(3):
        run(x)
        found.append((held.tolist(), view.tolist(), p.grad.tolist(), p.grad is held, p.tolist()))
    return found


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.__name__)
@pytest.mark.parametrize("clip", [False, True])
@pytest.mark.parametrize("early", [True, False])
def test_what_was_read_before(step, clip, early):
    assert history(step, True, clip, early) == history(step, False, clip, early)


def norm_of(p, x):
    (p * x * 3).sum().backward()
    return p.grad.norm(), p.grad * x, p.grad


def norm_of_each_turn(p, x):
    i, norms = paddle.zeros([], "int64"), paddle.zeros([])
    while i < 3:
        (p * p * x).sum().backward()
        norms = norms + p.grad.norm()
        i = i + 1
    return norms


def divided(p, x):
    (p * x * 3).sum().backward()
    p.grad = p.grad / p.grad.norm()
    return p.grad + 1


def unseen(p, x):
    (p * x * 3).sum().backward()
    with paddle.no_grad():
        return p.grad * 2


def given(p, x):
    p.clear_gradient(False)
    p.grad = x * 2
    (p * x * 3).sum().backward()
    return p.grad * 2


@pytest.mark.parametrize("step", [norm_of, norm_of_each_turn, divided, unseen, given], ids=lambda step: step.__name__)
def test_what_is_computed_from_a_gradient_wants_one_as_in_eager_code(step):
    def told(compiled):
        p = paddle.create_parameter([3], "float32", default_initializer=paddle.nn.initializer.Constant(1.0))
        run = paddle.jit.to_static(lambda x: step(p, x), full_graph=True) if compiled else lambda x: step(p, x)
        found = []
        for k in range(3):
            left = paddle.utils.flatten(run(paddle.full([3], k + 1.0)))
            found.append([(v.tolist(), v.stop_gradient) for v in (*left, p.grad)])
            with paddle.no_grad():
                p.grad.scale_(0.5)
        return found

    assert told(True) == told(False)


def test_gradients_of_gradients_are_refused_in_programs():
    p = paddle.create_parameter([3], "float32", default_initializer=paddle.nn.initializer.Constant(1.0))

    def step(x):
        (p * p * x).sum().backward()
        (p.grad**2).sum().backward()
        return p.grad.grad

    with pytest.raises(UnsupportedError, match="gradient of what backward"):
        paddle.jit.to_static(step, full_graph=True)(paddle.ones([3]))


def test_a_clear_on_one_path_leaves_what_was_read():
    """Only the run knows whether it is cleared: what was read before then keeps what it had."""
    p = paddle.create_parameter([2], "float32", default_initializer=paddle.nn.initializer.Constant(1.0))

    @paddle.jit.to_static(full_graph=True)
    def run(x):
        (p * x).sum().backward()
        if x.sum() > 0:
            p.clear_grad()

    (p * 2).sum().backward()
    held = p.grad
    run(paddle.ones([2]))
    assert held.tolist() == [2, 2] and p.grad.tolist() == [0, 0]
    run(-paddle.ones([2]))
    assert p.grad.tolist() == [-1, -1]
