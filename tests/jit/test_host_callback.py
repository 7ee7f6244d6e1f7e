"""host_callback, NumPy values, text and effects of programs: gradients, order, once a call, what cannot be saved."""

import contextlib
import io
import logging

import numpy as np
import pytest

import vitrify as paddle
from vitrify.core.errors import UnsupportedError

VECTOR = paddle.static.InputSpec([None], "float32")


def tensor(*values):
    return paddle.to_tensor(list(values), stop_gradient=False)


def static(fn):
    return paddle.jit.to_static(fn, full_graph=True)


def printed(fn, *args):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        fn(*args)
    return out.getvalue()


def squares(x):
    return paddle.jit.host_callback(np.square, x, out=VECTOR, vjp=lambda a, ct: 2 * a * ct)


@pytest.mark.parametrize("wrap", [lambda f: f, static])
def test_values_and_gradients(wrap):
    f = wrap(lambda x: squares(x) * x)
    for values in ([1.0, 2.0], [3.0, -1.0], [1.0, 2.0, 3.0]):
        x = tensor(*values)
        y = f(x)
        y.sum().backward()
        assert np.allclose(y.numpy(), np.array(values) ** 3)
        assert np.allclose(x.grad.numpy(), 3 * np.array(values) ** 2)


def test_gradients_in_branches_and_loops():
    def f(x):
        while x.sum() < 20:
            if x.sum() > 0:
                x = squares(x) + 1
            else:
                x = x + 10
        return x

    for values in ([1.0, 2.0], [-1.0, -2.0]):
        found = []
        for g in (f, static(f)):
            x = tensor(*values)
            g(x).sum().backward()
            found.append(x.grad.numpy())
        assert np.allclose(*found)


def test_several_tensors_and_results():
    def swap(a, b):
        return b, a.astype("int64")

    spec = [VECTOR, paddle.static.InputSpec([None], "int64")]
    f = static(lambda x, y: paddle.jit.host_callback(swap, x, y, out=spec))
    for _ in range(2):
        b, a = f(tensor(1.5), tensor(2.0))
        assert b.tolist() == [2.0] and a.tolist() == [1]
        assert b.stop_gradient


def test_what_it_gives_is_checked():
    for fn in (lambda a: a.astype("float64"), lambda a: a.sum(), lambda a: (a, a)):
        with pytest.raises(ValueError, match="host_callback: the function gave"):
            static(lambda x, fn=fn: paddle.jit.host_callback(fn, x, out=VECTOR))(tensor(1.0))


def test_arrays_are_read_only():
    def spoil(a):
        a[0] = 3
        return a

    with pytest.raises(ValueError, match="read-only"):
        paddle.jit.host_callback(spoil, tensor(1.0), out=VECTOR)


def test_it_is_called_once_each_call_though_nothing_reads_it():
    seen = []

    def note(a):
        seen.append(a.tolist())
        return a

    def f(x):
        paddle.jit.host_callback(note, x * 2, out=VECTOR)
        return x * x

    g = static(f)
    for _ in range(3):
        g(tensor(1.0, 2.0)).sum().backward()
    assert seen == [[2.0, 4.0]] * 3


def test_effects_happen_once_with_gradients_of_gradients():
    def f(x):
        print("sum", x.sum().item())
        if x.sum() > 0:
            print("positive")
            y = x * x * x
        else:
            y = x
        if y.sum() > 1000:
            raise ValueError("large")
        return y

    def twice(g):
        x = tensor(1.0, 2.0)
        (first,) = paddle.grad(g(x).sum(), x, create_graph=True)
        (second,) = paddle.grad(first.sum(), x)
        assert np.allclose(second.numpy(), [6.0, 12.0])

    g = static(f)
    for _ in range(2):
        assert printed(twice, g) == printed(twice, f) == "sum 3.0\npositive\n"


def test_effects_stay_in_their_branch_and_in_order():
    def f(x):
        print("start")
        x * 2
        if x.sum() > 0:
            assert x.max() < 10, f"large: {x.max()}"
            print("checked")
        print("end", 1)

    g = static(f)
    for values in ([1.0], [-1.0], [1.0]):
        assert printed(g, tensor(*values)) == printed(f, tensor(*values))
    out = io.StringIO()
    with contextlib.redirect_stdout(out), pytest.raises(AssertionError, match="large: "):
        g(tensor(11.0))
    assert out.getvalue() == "start\n"


def test_log_records(caplog):
    log = logging.getLogger("test")

    def f(x):
        log.warning("sum %s of %d", x.sum().item(), 2)
        if x.sum() > 5:
            log.error("large")
        return x

    g = static(f)
    for _ in range(2):
        g(tensor(1.0, 2.0))
        g(tensor(4.0, 2.0))
    assert [r.getMessage() for r in caplog.records] == ["sum 3.0 of 2", "sum 6.0 of 2", "large"] * 2


def test_warnings():
    import warnings

    def f(x):
        warnings.warn(f"sum {x.sum().item()}", stacklevel=1)
        return x

    g = static(f)
    for value in (1.0, 2.0):
        with pytest.warns(UserWarning, match=f"sum {value}"):
            g(tensor(value))


def test_print_to_a_file_of_the_users():
    out = io.StringIO()

    def f(x):
        print("sum", x.sum().item(), file=out)
        return x

    g = static(f)
    g(tensor(1.0)), g(tensor(2.0))
    assert out.getvalue() == "sum 1.0\nsum 2.0\n"


def test_numpy_values_of_parameters_are_those_of_the_moment():
    layer = paddle.nn.Linear(2, 1)
    g = static(lambda x: x * paddle.to_tensor(np.abs(layer.weight.numpy()).sum()))
    x = tensor(1.0, 2.0)
    before = g(x).numpy()
    layer.weight.set_value(layer.weight * 3)
    assert np.allclose(g(x).numpy(), before * 3)


def test_tensors_from_outside_are_read_when_the_program_runs():
    class Net(paddle.nn.Layer):
        def __init__(self):
            super().__init__()
            self.register_buffer("scale", paddle.to_tensor(1.0))

        def forward(self, x):
            y = x * float(self.scale) + int(self.scale)
            if self.scale:
                y = y + 10
            return y * self.scale.item() if not self.scale or bool(self.scale) else y

    net = paddle.jit.to_static(Net(), full_graph=True)
    for value in (1.0, 2.0, 0.0, 3.0):
        net.scale.set_value(paddle.to_tensor(value))
        assert net(tensor(1.0)).tolist() == net.forward.dygraph_function(tensor(1.0)).tolist()


def test_programs_with_callbacks_cannot_be_saved(tmp_path):
    class Net(paddle.nn.Layer):
        def forward(self, x):
            return squares(x)

    with pytest.raises(TypeError, match="holds a") as err:
        paddle.jit.save(paddle.jit.to_static(Net(), input_spec=[VECTOR]), str(tmp_path / "net"))
    assert "squares" in str(err.value) or "host_callback" in str(err.value)


def test_programs_with_prints_and_raises_can_be_saved(tmp_path):
    class Net(paddle.nn.Layer):
        def forward(self, x):
            print(f"sum {x.sum().item():.1f}", [x.max().item()], x.shape)
            if x.sum() < 0:
                raise ValueError(f"negative: {x.sum().item()}")
            return x * 2

    paddle.jit.save(paddle.jit.to_static(Net(), input_spec=[VECTOR]), str(tmp_path / "net"))
    loaded = paddle.jit.load(str(tmp_path / "net"))
    assert printed(loaded, tensor(1.0, 2.0)) == "sum 3.0 [2.0] paddle.Size([2])\n"
    with pytest.raises(ValueError, match=r"^negative: -3.0"), contextlib.redirect_stdout(io.StringIO()):
        loaded(tensor(-3.0))


def test_shapes_that_vary_are_found_out():
    def f(x):
        return paddle.to_tensor(np.unique(x.numpy())) * 2

    g = static(f)
    for values in ([1.0, 1.0, 2.0], [1.0, 2.0, 3.0]):
        assert g(tensor(*values)).tolist() == f(tensor(*values)).tolist()


def test_what_makes_no_tensor_is_refused():
    with pytest.raises(UnsupportedError, match="number of dimensions cannot be foreseen"):
        static(lambda x: paddle.to_tensor(x.numpy().tobytes()) + x)(tensor(1.0))


def simulated(x, steps):
    state = x.numpy().astype("float64")
    position, speed = state[:2]
    for _ in range(steps):
        state = state + np.sin(state) * state * 0.1
        position, speed = position + 0.02 * speed * speed, speed + np.cos(position) * position * 0.02
    return paddle.to_tensor(state), paddle.to_tensor(np.array([position, speed]))


def test_what_each_step_of_a_simulation_uses_twice_is_computed_once():
    x = paddle.to_tensor([0.1, 0.2, 0.3])
    expected = [t.tolist() for t in simulated(x, 40)]
    static = paddle.jit.to_static(simulated, full_graph=True)
    assert [[t.tolist() for t in static(x, 40)] for _ in range(2)] == [expected] * 2
