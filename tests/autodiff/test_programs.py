"""gradients and append_backward on programs built by hand, against the eager tape."""

import numpy as np
import pytest

import vitrify as paddle
from vitrify import static

X = np.array([1.0, 2.0, 3.0], "float32")


def in_program(f, *arrays, order=1, **options):
    """The outputs of f and the gradients of its sum of the given order, for each array, by a program."""
    main = static.Program()
    with static.program_guard(main, static.Program()):
        inputs = [static.data(f"x{i}", a.shape, str(a.dtype)) for i, a in enumerate(arrays)]
        for var in inputs:
            var.stop_gradient = var.dtype.name.startswith("int")
        wanted = [v for v in inputs if not v.stop_gradient]
        y = f(*inputs)
        grads = [y]
        for _ in range(order):
            total = sum(g.sum() for g in grads)
            grads = [g for g in static.gradients(total, wanted, **options) if g is not None]
    feed = {f"x{i}": a for i, a in enumerate(arrays)}
    return static.Executor().run(main, feed=feed, fetch_list=[y, *grads])


def eagerly(f, *arrays, order=1):
    """The same by the tape."""
    inputs = [paddle.to_tensor(a, stop_gradient=a.dtype.kind == "i") for a in arrays]
    wanted = [t for t in inputs if not t.stop_gradient]
    y = f(*inputs)
    grads = [y]
    for _ in range(order):
        total = sum(g.sum() for g in grads)
        if not isinstance(total, paddle.Tensor) or total.stop_gradient:
            return [y.numpy()]
        found = paddle.grad(total, wanted, create_graph=True, allow_unused=True)
        grads = [g for g in found if g is not None]
    return [y.numpy(), *[g.numpy() for g in grads]]


def agree(f, *arrays, order=1):
    for a, b in zip(in_program(paddle.jit.to_static(f), *arrays, order=order), eagerly(f, *arrays, order=order)):
        assert np.allclose(a, b, rtol=1e-4, atol=1e-5), (a, b)


def test_a_straight_line():
    y, g = in_program(lambda x: (x * x * x).sum(), X)
    assert y == 36 and np.allclose(g, 3 * X**2)


def cube(x):
    return x * x * x


def fan_out(x):
    y = x * 2
    return y * y + y


def broadcast(x, w):
    return (x.reshape([3, 1]) * w + w).mean()


def branch(x):
    if x.sum() > 0:
        return x * x
    return x * 3


def nested_branch(x):
    y = x * 2
    if x.sum() > 0:
        if x[0] > 5:
            y = y * x
        else:
            y = y * y * x
    return y


def temporaries_in_branch(x):
    if x.sum() > 0:
        y = x * 2
        z = y * x
        out = z * y * z
    else:
        y = x + 1
        out = y * y * y
    return out * x


def branches_in_a_row(x):
    y = temporaries_in_branch(x)
    return y + temporaries_in_branch(y * x - 1)


def captured_in_branch(x, w):
    scale = w * 2
    return x * scale if x.sum() > 0 else x + scale


def grow(x):
    y = x
    while (y * y).sum() < 1000:
        y = y * x + 1
    return y


def no_trips(x):
    y = x * 2
    while y.sum() > 1000:
        y = y * x
    return y


def captured_in_loop(x, w):
    y = x
    scale = w * w
    while y.sum() < 100:
        y = y * scale + x * w
    return y


def trips(x, n):
    y = x
    while n > 0:
        y = y * x
        n = n - 1
    return y


def nested_loops(x):
    total = x * 0
    i = 0
    while i < 3 and total.sum() < 1000:
        j = 0
        while j < i and total.sum() < 500:
            total = total + x * x * (j + 1)
            j += 1
        total = total * 1.5 + x
        i += 1
    return total


def branch_in_loop(x):
    y = x
    i = 0
    while i < 6 and y.sum() < 500:
        if y.sum() > 20:
            y = y * 1.5
        else:
            y = y * x
        i += 1
    return y


def loop_in_branch(x):
    if x.sum() > 0:
        y = x
        while y.sum() < 50:
            y = y * y
    else:
        y = -x
    return y


def shadowed(x):
    a, b = x, x * 2
    n = 0
    while n < 4 and a.sum() < 1000:
        a, b = b, a * b
        n += 1
    return a + b


CASES = [
    (cube, (X,)), (fan_out, (X,)), (broadcast, (X, X)), (branch, (X,)), (branch, (-X,)),
    (nested_branch, (X,)), (nested_branch, (-X,)),
    (temporaries_in_branch, (X,)), (temporaries_in_branch, (-X,)), (branches_in_a_row, (X / 2,)),
    (branches_in_a_row, (-X / 2,)),
    (captured_in_branch, (X, X)), (captured_in_branch, (-X, X)), (grow, (X,)), (no_trips, (X,)),
    (captured_in_loop, (X, X)), (nested_loops, (X,)), (branch_in_loop, (X,)), (loop_in_branch, (X,)),
    (loop_in_branch, (-X,)), (shadowed, (X,)),
    *[(trips, (X, np.array(n))) for n in (0, 1, 4)],
]  # fmt: skip
IDS = [f"{f.__name__}-{i}" for i, (f, _) in enumerate(CASES)]


@pytest.mark.parametrize(("f", "arrays"), CASES, ids=IDS)
def test_first_derivatives(f, arrays):
    agree(f, *arrays)


@pytest.mark.parametrize(("f", "arrays"), CASES, ids=IDS)
def test_second_derivatives(f, arrays):
    agree(f, *arrays, order=2)


@pytest.mark.parametrize(
    "f", [cube, nested_branch, temporaries_in_branch, grow, branch_in_loop], ids=lambda f: f.__name__
)
def test_third_derivatives(f):
    agree(f, X / 2, order=3)
    agree(f, -X / 2, order=3)


def test_no_grad_set_cuts_the_path():
    main = static.Program()
    with static.program_guard(main, static.Program()):
        x = static.data("x", [3])
        x.stop_gradient = False
        y = x * 2
        z = (y * x).sum()
        (whole,) = static.gradients(z, x)
        (cut,) = static.gradients(z, x, no_grad_set={y})
        (by_name,) = static.gradients(z, x, no_grad_set={y.name})
        (nothing,) = static.gradients(y.detach().sum(), [x])
    found = static.Executor().run(main, feed={"x": X}, fetch_list=[whole, cut, by_name])
    assert np.allclose(found[0], 4 * X) and np.allclose(found[1], 2 * X) and np.allclose(found[2], 2 * X)
    assert nothing is None


def test_target_gradients():
    main = static.Program()
    with static.program_guard(main, static.Program()):
        x = static.data("x", [3])
        x.stop_gradient = False
        y, z = x * x, x * 2
        (g,) = static.gradients([y, z], x, target_gradients=[x * 0 + 10, None])
        with pytest.raises(ValueError, match=r"target .* is float32\[3\], its gradient is float32\[\]"):
            static.gradients([y], x, target_gradients=[x.sum()])
        with pytest.raises(ValueError, match="1 target_gradients for 2 targets"):
            static.gradients([y, z], x, target_gradients=[x])
    (found,) = static.Executor().run(main, feed={"x": X}, fetch_list=[g])
    assert np.allclose(found, 20 * X + 2)


def test_append_backward_lists_parameters():
    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup):
        x = static.data("x", [None, 3])
        w = static.create_parameter([3, 2], "float32", name="w")
        b = static.create_parameter([2], "float32", name="b", is_bias=True)
        unused = static.create_parameter([2], "float32")
        loss = (paddle.matmul(x, w) + b).mean()
        pairs = static.append_backward(loss)
        only = static.append_backward(loss, parameter_list=["b"])
    assert [p.name for p, _ in pairs] == ["w", "b"] and unused.name not in pairs
    assert [p.name for p, _ in only] == ["b"]
    exe = static.Executor()
    with static.scope_guard(static.Scope()):
        exe.run(startup)
        gw, gb = exe.run(main, feed={"x": np.ones([4, 3], "float32")}, fetch_list=[g for _, g in pairs])
    assert np.allclose(gw, 0.5) and np.allclose(gb, 0.5)
