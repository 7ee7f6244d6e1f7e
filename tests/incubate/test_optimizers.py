"""LookAhead and ModelAverage; the expected weights are PaddlePaddle 3.3.1's."""

import numpy as np
import pytest

import vitrify as paddle
from vitrify.core.errors import ArgumentError, DTypeError, UnsupportedError

X = np.array([[1.0, 2.0], [3.0, -1.0]], "float32")
FOLLOWED = {
    (2, 0.5): [[0, 1.05], [0.0925, 0.7975], [0.17275, 0.43125], [0.1283625, 0.5303375], [0.1704187, 0.3073512]],
    (3, 0.2): [[0, 1.05], [0.185, 0.545], [0.0321, 0.9035], [0.18159, 0.47777], [0.162045, 0.285611]],
}
AVERAGED = {
    (0.5, 2, 3): [[0, 1.05], [0.0925, 0.7975], [0.1151667, 0.6375], [0.164225, 0.263175], [0.1655583, 0.228135]],
    (0.1, 1, 10): [[0, 1.05], [0.185, 0.545], [0.1605, 0.3175], [0.16795, 0.20885], [0.168225, 0.158055]],
    (1.0, 2, 100): [[0, 1.05], [0.0925, 0.7975], [0.1151667, 0.6375], [0.1283625, 0.5303375], [0.136335, 0.4558809]],
}


def model():
    layer = paddle.nn.Linear(2, 1)
    layer.weight.set_value(np.array([[1.0], [2.0]], "float32"))
    layer.bias.set_value(np.array([0.5], "float32"))
    return layer, paddle.optimizer.SGD(0.1, parameters=layer.parameters())


def backward(layer):
    loss = (layer(paddle.to_tensor(X)) ** 2).mean()
    loss.backward()
    return loss


def weights(layer):
    return layer.weight.numpy().ravel()


@pytest.mark.parametrize("by", ["step", "minimize"])
@pytest.mark.parametrize(("k", "alpha"), FOLLOWED)
def test_look_ahead(k, alpha, by):
    layer, inner = model()
    opt = paddle.incubate.LookAhead(inner, alpha=alpha, k=k)
    for expected in FOLLOWED[k, alpha]:
        loss = backward(layer)
        opt.step() if by == "step" else opt.minimize(loss)
        opt.clear_grad()
        np.testing.assert_allclose(weights(layer), expected, rtol=1e-5, atol=1e-6)


def test_look_ahead_goes_on_from_its_state():
    def steps(layer, opt, count):
        for _ in range(count):
            backward(layer)
            opt.step()
            opt.clear_grad()

    layer, inner = model()
    opt = paddle.incubate.LookAhead(inner, k=3)
    steps(layer, opt, 2)
    state = {k: v.numpy().copy() if hasattr(v, "numpy") else v for k, v in opt.state_dict().items()}
    before = {k: v.numpy().copy() for k, v in layer.state_dict().items()}
    steps(layer, opt, 4)
    expected = weights(layer).copy()
    layer.set_state_dict(before)
    again = paddle.incubate.LookAhead(paddle.optimizer.SGD(0.1, parameters=layer.parameters()), k=3)
    again.set_state_dict(state)
    steps(layer, again, 4)
    np.testing.assert_array_equal(weights(layer), expected)


def test_look_ahead_has_the_rate_of_the_inner_optimizer():
    _, inner = model()
    opt = paddle.incubate.LookAhead(inner)
    opt.set_lr(0.25)
    assert opt.get_lr() == inner.get_lr() == 0.25
    scheduler = paddle.optimizer.lr.StepDecay(1.0, 1)
    opt.set_lr_scheduler(scheduler)
    assert opt.get_lr() == 1.0


@pytest.mark.parametrize("window", AVERAGED)
def test_model_average(window):
    layer, opt = model()
    rate, least, largest = window
    average = paddle.incubate.ModelAverage(rate, layer.parameters(), least, largest)
    for expected in AVERAGED[window]:
        backward(layer)
        opt.step()
        average.step()
        opt.clear_grad()
        now = weights(layer).copy()
        with average.apply():
            np.testing.assert_allclose(weights(layer), expected, rtol=1e-5, atol=1e-6)
        np.testing.assert_array_equal(weights(layer), now)
    again = paddle.incubate.ModelAverage(rate, layer.parameters(), least, largest)
    again.set_state_dict(average.state_dict())
    with again.apply(need_restore=False):
        pass
    np.testing.assert_allclose(weights(layer), expected, rtol=1e-5, atol=1e-6)
    again.restore()
    np.testing.assert_array_equal(weights(layer), now)


def in_program(minimized, steps, watch):
    """What `watch(executor, weight)` gives behind each run of a program of one weight, trained by what is made."""
    main, startup = paddle.static.Program(), paddle.static.Program()
    found = []
    with paddle.static.program_guard(main, startup):
        x = paddle.static.data("x", [None, 4])
        half = paddle.ParamAttr(initializer=paddle.nn.initializer.Constant(0.5))
        loss = paddle.mean(paddle.square(paddle.static.nn.fc(x, 3, weight_attr=half, bias_attr=False) - 1.0))
        made = minimized(loss)
        (weight,) = main.all_parameters()
    with paddle.static.scope_guard(paddle.static.Scope()):
        executor = paddle.static.Executor()
        executor.run(startup)
        for number in range(steps):
            executor.run(main, feed={"x": np.full((2, 4), 0.3 + 0.1 * number, "float32")})
            found.append(watch(executor, made, lambda: np.asarray(weight.get_value())[0, 0]))
    return found


def test_look_ahead_in_programs():
    """Numbers of PaddlePaddle 3.3.1."""

    def minimized(loss):
        return paddle.incubate.LookAhead(paddle.optimizer.SGD(0.1), alpha=0.5, k=3).minimize(loss)

    found = in_program(minimized, 8, lambda executor, made, weight: weight())
    wanted = [0.508, 0.512992, 0.510063, 0.501097, 0.482287, 0.481686, 0.437642, 0.387604]
    np.testing.assert_allclose(found, wanted, atol=2e-6)


MEANS = {
    (0.5, 2, 4): [0.508, 0.510496, 0.511039, 0.507544, 0.499665, 0.488413, 0.451671, 0.431769, 0.410484],
    (0.3, 1, 10): [0.508, 0.512992, 0.512126, 0.502962, 0.483908, 0.454654, 0.435552, 0.394256, 0.371285],
    (0.7, 1, 10): [0.508, 0.512992, 0.512559, 0.507544, 0.499665, 0.488413, 0.47402, 0.457027, 0.438215],
}


@pytest.mark.parametrize("window", MEANS)
def test_model_average_in_programs(window):
    """Numbers of PaddlePaddle 3.3.1; dynamic mode takes the same windows."""
    rate, least, largest = window
    eager = paddle.create_parameter([1], "float32")
    beside = paddle.incubate.ModelAverage(rate, [eager], least, largest)

    def minimized(loss):
        paddle.optimizer.SGD(0.1).minimize(loss)
        average = paddle.incubate.ModelAverage(rate, min_average_window=least, max_average_window=largest)
        assert average.minimize(loss) == ([], [])
        return average

    def watch(executor, average, weight):
        now = weight()
        with average.apply(executor):
            mean = weight()
        assert weight() == now
        with paddle.base.dygraph.guard():
            eager.set_value(paddle.to_tensor([now]))
            beside.step()
            with beside.apply():
                np.testing.assert_allclose(eager.numpy(), [mean], rtol=1e-5)
        return mean

    np.testing.assert_allclose(in_program(minimized, 9, watch), MEANS[window], atol=2e-6)


def test_model_average_in_programs_is_restored_by_an_executor():
    def minimized(loss):
        paddle.optimizer.SGD(0.1).minimize(loss)
        return paddle.incubate.ModelAverage(0.5, min_average_window=2, max_average_window=4)

    def watch(executor, average, weight):
        before = weight()
        with average.apply(executor, need_restore=False):
            pass
        mean = weight()
        average.restore(executor)
        for call in (average.apply, average.restore):
            with pytest.raises(ArgumentError, match="needs the Executor"):
                call()
        return weight() == before != mean

    assert in_program(minimized, 3, watch)[1:] == [True, True]


def test_parameters_come_back_after_an_error():
    layer, opt = model()
    average = paddle.incubate.ModelAverage(1.0, layer.parameters())
    backward(layer)
    average.minimize(None)
    opt.step()
    now = weights(layer).copy()
    with pytest.raises(KeyError), average.apply():
        raise KeyError
    np.testing.assert_array_equal(weights(layer), now)


def test_bad_arguments():
    layer, inner = model()
    look_ahead, mean = paddle.incubate.LookAhead, paddle.incubate.ModelAverage
    with pytest.raises(DTypeError, match="inner_optimizer must be an Optimizer, got None"):
        look_ahead(None)
    with pytest.raises(ArgumentError, match="alpha must be between 0 and 1, got 2"):
        look_ahead(inner, alpha=2.0)
    with pytest.raises(ArgumentError, match="k must be a positive int, got 0"):
        look_ahead(inner, k=0)
    with pytest.raises(ArgumentError, match="got 5 and 3"):
        mean(0.5, layer.parameters(), 5, 3)


@pytest.mark.parametrize("make", [lambda o: paddle.incubate.LookAhead(o).step, lambda o: average_of(o).step])
def test_programs_leave_them_outside(make):
    _, inner = model()
    step = make(inner)
    with pytest.raises(UnsupportedError, match="cannot be part of a program"):
        paddle.jit.to_static(lambda x: (step(), x + 1)[1], full_graph=True)(paddle.ones([1]))


def average_of(optimizer):
    return paddle.incubate.ModelAverage(0.5, optimizer.given_parameters())


def test_nothing_above_the_diagonal_counts():
    x = paddle.to_tensor(np.arange(9.0).reshape(1, 1, 3, 3), stop_gradient=False)
    found = paddle.incubate.softmax_mask_fuse_upper_triangle(x)
    np.testing.assert_allclose(found.numpy().sum(-1), 1)
    assert (np.triu(found.numpy()[0, 0], 1) == 0).all()
    (found * found).sum().backward()
    assert np.isfinite(x.grad.numpy()).all() and (np.triu(x.grad.numpy()[0, 0], 1) == 0).all()
