"""Schedulers that step within a program, as often as the run says, and what the program reads of them meanwhile."""

import contextlib
import io

import pytest

import vitrify as paddle
from vitrify.core.errors import UnsupportedError
from vitrify.optimizer import lr

SCHEDULERS = {
    "NoamDecay": lambda: lr.NoamDecay(64, 3, 1.0),
    "PiecewiseDecay": lambda: lr.PiecewiseDecay([2, 4], [0.1, 0.05, 0.01]),
    "NaturalExpDecay": lambda: lr.NaturalExpDecay(0.1, 0.1),
    "InverseTimeDecay": lambda: lr.InverseTimeDecay(0.1, 0.1),
    "PolynomialDecay": lambda: lr.PolynomialDecay(0.1, 4, cycle=True),
    "LinearWarmup": lambda: lr.LinearWarmup(lr.CosineAnnealingDecay(0.1, 4), 2, 0.0, 0.1),
    "ExponentialDecay": lambda: lr.ExponentialDecay(0.1, 0.9),
    "MultiStepDecay": lambda: lr.MultiStepDecay(0.1, [2, 4]),
    "StepDecay": lambda: lr.StepDecay(0.1, 2),
    "LambdaDecay": lambda: lr.LambdaDecay(0.1, lambda epoch: 0.9**epoch),
    "MultiplicativeDecay": lambda: lr.MultiplicativeDecay(0.1, lambda epoch: 0.9),
    "CosineAnnealingDecay": lambda: lr.CosineAnnealingDecay(0.1, 4),
    "OneCycleLR": lambda: lr.OneCycleLR(0.1, 60),
    "CyclicLR": lambda: lr.CyclicLR(0.01, 0.1, 2, 2),
    "LinearLR": lambda: lr.LinearLR(0.1, 4),
    "CosineAnnealingWarmRestarts": lambda: lr.CosineAnnealingWarmRestarts(0.1, 2, 2),
}
CALLS = [0.5, 2.0, -1.0, 0.25, 3.0]


class Halving(lr.LRScheduler):
    """One of the user's own."""

    def get_lr(self):
        return self.base_lr * 0.5**self.last_epoch


def both_ways(make_scheduler, make_step):
    """What five calls give, print and leave of the scheduler, in eager code and by a program."""
    ends = []
    for is_compiled in (False, True):
        rate = make_scheduler()
        w = paddle.create_parameter([1], "float32", default_initializer=paddle.nn.initializer.Constant(1.0))
        sgd = paddle.optimizer.SGD(rate, parameters=[w])
        function = make_step(rate, sgd, w)
        if is_compiled:
            function = paddle.jit.to_static(function, full_graph=True)
        found, said = [], io.StringIO()
        with contextlib.redirect_stdout(said):
            for value in CALLS:
                found.append((plain(function(paddle.to_tensor([value]))), w.item(), rate.state_dict(), rate()))
        ends.append((found, said.getvalue()))
        if is_compiled:
            assert function.cache_info().misses <= 2  # gradients are None at first, zeros afterwards
    return ends


def plain(value):
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return pytest.approx(value.item(), rel=1e-5) if isinstance(value, paddle.Tensor) else pytest.approx(value)


def agree(ends):
    (expected, said), (found, own) = ends
    assert own == said
    for one, other in zip(expected, found):
        assert other[0] == one[0]
        assert other[1] == pytest.approx(one[1], rel=1e-5)
        assert other[2:] == one[2:]


@pytest.mark.parametrize("name", SCHEDULERS)
def test_in_a_loop_that_a_tensor_stops(name):
    def make_step(rate, sgd, w):
        def step(x):
            n, rates = 0, []
            while n < 4 and (w * x).sum() < 4:
                (w * x).sum().backward()
                sgd.step()
                sgd.clear_grad()
                rate.step()
                n += 1
                rates.append(rate.last_lr)
            return n, rates, rate.last_epoch, sgd.get_lr()

        return step

    agree(both_ways(SCHEDULERS[name], make_step))


@pytest.mark.parametrize("make", [SCHEDULERS["StepDecay"], lambda: Halving(0.1)])
def test_on_a_path_and_asked_behind_it(make):
    def make_step(rate, sgd, w):
        def step(x):
            rate.step()
            if x.sum() > 0:
                rate.step()
                if x.sum() > 1:
                    rate.step()
            print(rate.last_epoch, rate.get_lr() == rate.last_lr, rate() == sgd.get_lr())
            (w * x).sum().backward()
            sgd.step()
            sgd.clear_grad()
            rate.step()
            return x * 2 if rate.last_lr < 0.03 else x * rate.state_dict()["last_lr"]

        return step

    agree(both_ways(make, make_step))


def test_asked_before_and_behind_a_step_of_every_call():
    def make_step(rate, sgd, w):
        def step(x):
            before = rate.get_lr(), rate()
            rate.step()
            return before, rate.last_epoch, rate.last_lr, rate.get_lr(), rate.state_dict()["last_epoch"], x.sum()

        return step

    agree(both_ways(SCHEDULERS["CosineAnnealingDecay"], make_step))


@pytest.mark.parametrize("verbose", [False, True])
def test_by_a_loss(verbose):
    def make_step(rate, sgd, w):
        def step(x):
            for _ in range(2):
                loss = (w * x).sum()
                loss.backward()
                sgd.step()
                sgd.clear_grad()
                rate.step(loss)
            return rate.last_lr, rate.num_bad_epochs, sgd.get_lr()

        return step

    agree(both_ways(lambda: lr.ReduceOnPlateau(0.1, patience=0, verbose=verbose), make_step))


@pytest.mark.parametrize("make", [lambda: lr.StepDecay(0.1, 1, verbose=True), SCHEDULERS["StepDecay"]])
def test_in_recursion_and_telling_of_it(make):
    def make_step(rate, sgd, w):
        def go(x, n):
            if n == 0 or x.sum() > 6:
                return x
            rate.step()
            return go(x + 1, n - 1)

        def step(x):
            x = go(x, 4)
            print("done", rate.last_epoch)
            return x

        return step

    agree(both_ways(make, make_step))


def test_what_a_run_that_raises_leaves():
    rates = []
    for is_compiled in (False, True):
        rate = lr.StepDecay(0.1, 1, 0.5)

        def step(x, rate=rate):
            while x.sum() < 3:
                rate.step()
                x = x + 1
                if x.sum() > 2:
                    raise ValueError("too far")
            return x

        function = paddle.jit.to_static(step, full_graph=True) if is_compiled else step
        for value in (0.0, 5.0):
            with contextlib.suppress(ValueError):
                function(paddle.to_tensor([value]))
        rates.append(rate.state_dict())
    assert rates[0] == rates[1]
    assert rates[0]["last_epoch"] == 3


@pytest.mark.parametrize(
    ("make", "ask", "message"),
    [
        (lambda: lr.LinearWarmup(lr.StepDecay(0.1, 1), 2, 0.0, 0.1), lambda r, x: r.learning_rate, "learning_rate is"),
        (lambda: lr.StepDecay(0.1, 1), lambda r, x: r.set_state_dict({}), "set_state_dict is"),
    ],
)
def test_what_no_program_tells(make, ask, message):
    rate = make()

    def function(x):
        rate.step()
        ask(rate, x)
        return x

    with pytest.raises(UnsupportedError, match=f"{message} read after {type(rate).__name__}"):
        paddle.jit.to_static(function, full_graph=True)(paddle.ones([1]))
    assert rate.last_epoch == 0


def test_a_loss_that_a_tensor_lets_count():
    rate = lr.ReduceOnPlateau(0.1)

    def function(x):
        if x.sum() > 0:
            rate.step(x.sum())
        return x

    with pytest.raises(UnsupportedError, match=r"ReduceOnPlateau\.step where a tensor decides whether it is called"):
        paddle.jit.to_static(function, full_graph=True)(paddle.ones([1]))
    assert rate.last_epoch == 0
