"""`stop_gradient` of parameters that a training step sets and sets back, as adversarial training does."""

import pytest

import vitrify as paddle


def wants(net, flag):
    for p in net.parameters():
        p.stop_gradient = not flag


def frozen_behind_the_update(d, g, of_d, of_g, x):
    loss = d(g(x).detach()).mean()
    loss.backward()
    of_d.step()
    of_d.clear_grad()
    wants(d, False)
    other = (d(g(x)) ** 2).mean()
    other.backward()
    of_g.step()
    of_g.clear_grad()
    wants(d, True)
    return loss, other


def frozen_at_first(d, g, of_d, of_g, x):
    wants(d, False)
    other = (d(g(x)) ** 2).mean()
    other.backward()
    of_g.step()
    of_g.clear_grad()
    wants(d, True)
    loss = d(g(x).detach()).mean()
    loss.backward()
    of_d.step()
    of_d.clear_grad()
    return loss, other


def left_frozen(d, g, of_d, of_g, x):
    wants(d, True)
    loss = d(g(x).detach()).mean()
    loss.backward()
    of_d.step()
    d.clear_gradients()
    wants(d, False)
    other = (d(g(x)) ** 2).mean()
    other.backward()
    of_g.step()
    of_g.clear_grad()
    return loss, other


def frozen_for_good(d, g, of_d, of_g, x):
    loss = d(g(x).detach()).mean()
    loss.backward()
    of_d.step()
    of_d.clear_grad()
    wants(d, False)
    return (loss,)


def frozen_for_one_term(d, g, of_d, of_g, x):
    loss = d(x).mean()
    wants(d, False)
    other = d(g(x)).sum()
    seen = paddle.to_tensor([float(p.stop_gradient) for p in d.parameters()])
    wants(d, True)
    (loss + other).backward()
    of_d.step()
    of_g.step()
    of_d.clear_grad()
    of_g.clear_grad()
    return loss, other, seen


STEPS = [frozen_behind_the_update, frozen_at_first, left_frozen, frozen_for_good, frozen_for_one_term]


def trained(step, compiled):
    paddle.seed(0)
    d, g = paddle.nn.Linear(2, 2), paddle.nn.Linear(2, 2)
    optimizers = [paddle.optimizer.SGD(0.1, parameters=net.parameters()) for net in (d, g)]

    def run(x):
        return step(d, g, *optimizers, x)

    call = paddle.jit.to_static(run, full_graph=True) if compiled else run
    seen = []
    for i in range(4):
        seen += [value.tolist() for value in call(paddle.to_tensor([[1.0, 2.0], [3.0, i]]))]
        for p in [*d.parameters(), *g.parameters()]:
            seen += [p.tolist(), p.stop_gradient, p.grad is None or p.grad.tolist()]
    return seen


@pytest.mark.parametrize("step", STEPS, ids=[f.__name__ for f in STEPS])
def test_parameters_that_are_frozen_for_a_part_of_the_step(step):
    assert trained(step, compiled=True) == trained(step, compiled=False)


def test_gradients_are_cleared_of_parameters_that_want_them_by_now():
    net = paddle.nn.Linear(2, 2)

    def f(x):
        wants(net, True)
        net(x).sum().backward()
        gradient = net.weight.grad.sum()
        net.clear_gradients()
        return gradient

    static = paddle.jit.to_static(f, full_graph=True)
    for flag in (False, True, False, True):
        wants(net, flag)
        assert static(paddle.ones([2, 2])).item() == 8.0
        assert not net.weight.stop_gradient and net.weight.grad.sum().item() == 0.0
