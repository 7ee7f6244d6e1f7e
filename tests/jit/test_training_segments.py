"""Training steps in segments: what each backward reaches, and gradients that are read between steps."""

import pytest

import vitrify as paddle
from tests.end_to_end.differential import run, same
from vitrify.core.errors import StaleBackwardError
from vitrify.jit.program_builder import ProgramBuilder
from vitrify.jit.split import SMALLEST_PART

F = paddle.nn.functional


def networks():
    paddle.seed(3)
    g, d = paddle.nn.Linear(3, 4), paddle.nn.Linear(4, 1)
    return g, d, *(paddle.optimizer.Adam(0.01, parameters=net.parameters()) for net in (g, d))


def gan_step(g, d, og, od):
    def step(real):
        fake = g(paddle.ones([2, 3]))
        d_loss = F.softplus(-d(real)).mean() + F.softplus(d(fake.detach())).mean()
        d_loss.backward()
        od.step()
        od.clear_grad()
        g_loss = F.softplus(-d(fake)).mean()
        g_loss.backward()
        og.step()
        og.clear_grad()
        return d_loss.item(), g_loss.item()

    return step


def test_backward_of_one_output_leaves_the_graph_of_another():
    eager, split = gan_step(*networks()), paddle.jit.to_static(gan_step(*networks()))
    for k in range(6):
        real = paddle.full([2, 4], float(k))
        assert split(real) == pytest.approx(eager(real), rel=1e-4)


def test_outputs_that_share_a_graph_are_freed_together():
    def f(x):
        h = F.tanh(x)
        return h * 2, h * 3, x * 4

    static = paddle.jit.to_static(f)
    x = paddle.ones([2])
    x.stop_gradient = False
    a, b, c = static(x)
    a.sum().backward()
    with pytest.raises(StaleBackwardError):
        b.sum().backward()
    c.sum().backward()
    with pytest.raises(StaleBackwardError):
        c.sum().backward()


def test_inputs_of_other_outputs_get_no_gradient():
    def f(x, y):
        return x * 2, y * 3

    static = paddle.jit.to_static(f)
    x, y = paddle.ones([2]), paddle.ones([2])
    x.stop_gradient = y.stop_gradient = False
    static(x, y)[0].sum().backward()
    assert x.grad.tolist() == [2, 2] and y.grad is None


def test_gradients_are_read_anew_in_each_call():
    def clipped():
        paddle.seed(1)
        net = paddle.nn.Linear(3, 3)

        def step(x):
            (net(x) ** 2).sum().backward()
            total = 0.0
            for p in net.parameters():
                total += float((p.grad**2).sum())
            if total > 1:
                with paddle.no_grad():  # a gradient is a leaf that wants one
                    for p in net.parameters():
                        p.grad.scale_(1 / total**0.5)
            norms = [float(p.grad.norm()) for p in net.parameters()]
            net.clear_gradients()
            return total, norms

        return step

    eager, split = clipped(), paddle.jit.to_static(clipped())
    for k in range(6):
        x = paddle.full([2, 3], float(k))
        same(run(eager, (x,)), run(split, (x,)))


def test_gradients_are_read_anew_in_whole_programs():
    w = paddle.ones([2])
    w.stop_gradient = False

    def f(x):
        return x if w.grad is None else x + w.grad

    static = paddle.jit.to_static(f, full_graph=True)
    for k in (0, 1, 2, 0, 3):
        w.clear_grad()
        if k:
            (w * k).sum().backward()
        assert static(paddle.zeros([2])).tolist() == [k, k]


def test_calls_that_raise_are_traced_less_and_less(monkeypatch):
    counted = []
    trace = ProgramBuilder.trace
    monkeypatch.setattr(ProgramBuilder, "trace", lambda self, *a, **k: (counted.append(1), trace(self, *a, **k))[1])

    def f(x, ok):
        y = x * 2
        if not ok[0]:
            raise ValueError("no")
        return y

    static = paddle.jit.to_static(f)
    for _ in range(100):
        with pytest.raises(ValueError, match="no"):
            static(paddle.ones([2]), [False])
    assert len(counted) < 10
    assert static(paddle.ones([2]), [True]).tolist() == [2, 2]


def test_a_number_in_a_call_of_a_split_function_asks_for_no_other_trace(monkeypatch):
    counted = []
    trace = ProgramBuilder.trace

    @paddle.jit.not_to_static
    def looked_at(x):
        return float(x.numpy().sum())

    def f(x, k):
        assert looked_at(x) == 1
        return x * k

    static = paddle.jit.to_static(f)

    def call(k):
        x = paddle.ones([1])
        x.stop_gradient = False
        return static(x, k).item()

    for k in range(3):
        call(float(k))
    monkeypatch.setattr(ProgramBuilder, "trace", lambda self, *a, **k: (counted.append(1), trace(self, *a, **k))[1])
    assert [call(k + 0.5) for k in range(20)] == [k + 0.5 for k in range(20)]
    assert not counted


def test_schedules_step_once_a_call():
    def steps():
        rate = paddle.optimizer.lr.StepDecay(0.5, step_size=2, gamma=0.5)

        def step(x):
            y = x * 2 + rate()
            rate.step()
            return y, rate.last_epoch, rate()

        return step

    eager, static = steps(), paddle.jit.to_static(steps())
    for _ in range(7):
        same(run(eager, (paddle.ones([2]),)), run(static, (paddle.ones([2]),)))


def test_explain_of_what_runs_as_python(compiled_however_small):
    SMALLEST_PART.set(compiled_however_small)

    @paddle.jit.not_to_static
    def largest(y):
        return float(y.numpy().max())

    def f(x):
        try:
            y = x * 2
            if largest(y) > 100:
                y = y - 1
        finally:
            y = x + 1
        return y

    text = str(paddle.jit.explain(f, paddle.ones([2])))
    assert ".f runs as Python, because of 1 statement" in text.splitlines()[0]
    assert "0 segments" not in text


def test_a_leaf_made_inside_is_one_for_backward_outside_of_programs():
    def f(x):
        w = paddle.to_tensor([1.0], stop_gradient=False)
        loss = (x * w).sum()
        loss.backward()
        return w.grad

    static = paddle.jit.to_static(f)
    for _ in range(4):
        x = paddle.to_tensor([1.0, 2.0, 3.0], stop_gradient=False)
        assert static(x).tolist() == [6.0]
        assert x.grad.tolist() == [1.0, 1.0, 1.0]
