"""Control flow by hand: values, gradients of any order, parameters inside, misuse; py_func, Print, Assert."""

import numpy as np
import pytest

import vitrify as paddle
from vitrify import nn, static


@pytest.fixture(autouse=True)
def _programs_and_a_scope_of_their_own():
    with static.program_guard(static.Program(), static.Program()), static.scope_guard(static.Scope()):
        yield


def run(fetch, **feed):
    feed = {name: np.asarray(value, "float32") for name, value in feed.items()}
    return [out.tolist() for out in static.Executor().run(feed=feed, fetch_list=fetch)]


def derivatives(y, x, order):
    """y and its derivatives by x."""
    found = [y]
    for _ in range(order):
        found += static.gradients([found[-1]], [x])
    return found


def leaf(name="x", shape=(1,)):
    x = static.data(name, list(shape))
    x.stop_gradient = False
    return x


def test_cond():
    x = leaf()
    y = static.nn.cond(x > 0, lambda: x**3, lambda: x * x)
    fetch = derivatives(y, x, 3)
    assert run(fetch, x=[2.0]) == [[8], [12], [12], [6]]
    assert run(fetch, x=[-2.0])[:3] == [[4], [-4], [2]]


def test_cond_gives_structures():
    x = leaf()
    found = static.nn.cond(x > 0, lambda: {"a": x, "b": (x + 1, 2)}, lambda: {"a": -x, "b": (x - 1, 3)})
    assert set(found) == {"a", "b"}
    fetch = [found["a"], *found["b"]]
    assert run(fetch, x=[1.0]) == [[1], [2], 2] and run(fetch, x=[-1.0]) == [[1], [-2], 3]


def test_cond_for_its_effects():
    total = static.create_global_var([1], 0.0, "float32", persistable=True, name="total")
    x = leaf()
    assert static.nn.cond(x > 0, lambda: [paddle.assign(total + x, total), None][1]) is None
    static.Executor().run(static.default_startup_program())
    for value in (2.0, -5.0, 3.0):
        run([], x=[value])
    assert total.get_value().tolist() == [5]


def test_cond_in_cond():
    x = leaf()
    y = static.nn.cond(
        x > 0,
        lambda: static.nn.cond(x > 10, lambda: x * 100, lambda: x * 10),
        lambda: static.nn.cond(x < -10, lambda: x, lambda: x * x),
    )
    (grad,) = static.gradients([y], [x])
    assert [run([y, grad], x=[v]) for v in (11.0, 1.0, -11.0, -1.0)] == [
        [[1100], [100]], [[10], [10]], [[-11], [1]], [[1], [-2]],
    ]  # fmt: skip


def test_parameters_made_in_branches():
    main, startup = static.default_main_program(), static.default_startup_program()
    x = static.data("x", [2, 3])
    y = static.nn.cond(x.sum() > 0, lambda: nn.Linear(3, 1)(x), lambda: static.nn.fc(x, 1))
    paddle.optimizer.SGD(0.5).minimize(y.mean())
    exe = static.Executor()
    exe.run(startup)
    before = {p.name: p.get_value() for p in main.all_parameters()}
    assert len(before) == 4
    run([y], x=np.ones([2, 3]))
    changed = {p.name for p in main.all_parameters() if not np.array_equal(p.get_value(), before[p.name])}
    assert changed == {p.name for p in main.all_parameters() if p.name.startswith("linear")}


def test_while_loop():
    x = leaf()
    i = paddle.zeros([1])
    _, y = static.nn.while_loop(lambda i, y: i < 3, lambda i, y: [i + 1, y * x], [i, x])
    assert run(derivatives(y, x, 3), x=[2.0]) == [[16], [32], [48], [48]]


def test_while_loop_that_a_tensor_ends_and_grows():
    x = leaf(shape=(None,))
    (y,) = static.nn.while_loop(lambda v: v.sum() < 10, lambda v: [paddle.concat([v, v * 2])], [x])
    (grad,) = static.gradients([y], [x])
    assert run([y, grad], x=[1.0, 2.0]) == [[1, 2, 2, 4, 2, 4, 4, 8], [9, 9]]
    assert run([y, grad], x=[20.0]) == [[20], [1]]


def test_a_loop_trains_what_it_uses():
    x = static.data("x", [1, 2])
    layer = nn.Linear(2, 2, bias_attr=False)
    _, h = static.nn.while_loop(lambda i, h: i < 3, lambda i, h: (i + 1, layer(h)), [paddle.zeros([1], "int64"), x])
    loss = h.sum()
    paddle.optimizer.SGD(0.1).minimize(loss)
    static.Executor().run(static.default_startup_program())
    layer.weight.set_value(np.eye(2))
    assert run([loss], x=[[1.0, 2.0]]) == [3]
    np.testing.assert_allclose(layer.weight.get_value(), np.eye(2) - 0.1 * np.array([[3, 3], [6, 6]]), rtol=1e-5)


def test_case_and_switch_case():
    x = leaf()
    y = static.nn.case([(x < 0, lambda: -x), (x < 10, lambda: x * x)], default=lambda: x)
    last = static.nn.case([(x < 0, lambda: -x), (x < 10, lambda: x * x)])
    assert [run([y, last], x=[v]) for v in (-2.0, 3.0, 20.0)] == [[[2], [2]], [[9], [9]], [[20], [400]]]
    number = static.data("n", [1], "int64")
    by_list = static.nn.switch_case(number, [lambda: x, lambda: x * 2])
    by_pairs = static.nn.switch_case(number, [(2, lambda: x), (5, lambda: x * 2)], default=lambda: x * 0)
    exe = static.Executor()
    found = [exe.run(feed={"x": [3.0], "n": [n]}, fetch_list=[by_list, by_pairs]) for n in (0, 1, 2, 5)]
    assert [[v.item() for v in pair] for pair in found] == [[3, 0], [6, 0], [6, 3], [6, 6]]


def test_dynamic_mode_runs_at_once():
    x = static.data("held", [1])
    assert x.persistable is False
    paddle.disable_static()
    try:
        t = paddle.to_tensor([2.0])
        assert static.nn.cond(t > 0, lambda: t + 1, lambda: t).item() == 3
        assert static.nn.while_loop(lambda v: v < 10, lambda v: v * 2, [t])[0].item() == 16
        assert static.nn.switch_case(paddle.to_tensor([1]), {1: lambda: 5}) == 5
    finally:
        paddle.enable_static()


cond, while_loop, switch_case = static.nn.cond, static.nn.while_loop, static.nn.switch_case
MISUSE = {
    "pred": (lambda x: cond(True, lambda: x), TypeError, "pred must be a tensor, but received bool"),
    "pred dtype": (lambda x: cond(x, lambda: x), TypeError, "pred must be bool, but received float32"),
    "no function": (lambda x: cond(x > 0, 3), TypeError, "true_fn must be callable, but received int"),
    "one side": (lambda x: cond(x > 0, lambda: x), ValueError, "true_fn gives a value, false_fn gives None"),
    "structure": (lambda x: cond(x > 0, lambda: x, lambda: (x, x)), ValueError, r"false_fn gives \[a value, a value\]"),
    "of the user": (lambda x: cond(x > 0, lambda: {}["key"], lambda: x), KeyError, "key"),
    "no variables": (lambda x: while_loop(lambda: x > 0, lambda: x, []), ValueError, "must not be empty"),
    "loop_vars": (lambda x: while_loop(lambda v: v > 0, lambda v: v, x), TypeError, "must be a list or tuple"),
    "arity": (lambda x: while_loop(lambda v: v < 9, lambda v: (v, v), [x]), ValueError, "gives 2 values for 1"),
    "loop cond": (lambda x: while_loop(lambda v: 3, lambda v: v, [x]), TypeError, "what cond gives must be a tensor"),
    "case": (lambda x: static.nn.case([x > 0]), TypeError, "holds pairs, but received Variable"),
    "switch": (lambda x: switch_case(x, [lambda: x]), TypeError, "branch_index must be an integer tensor"),
    "twice": (lambda x: switch_case(x.astype("int64"), [(1, len), (1, len)]), ValueError, "number 1 is given twice"),
    "py_func": (lambda x: static.py_func(3, x, x), TypeError, "func must be callable, but received int"),
    "py_func x": (lambda x: static.py_func(len, 3, x), TypeError, "x takes Variables, but received int"),
    "phase": (lambda x: static.Print(x, print_phase="never"), ValueError, "print_phase must be"),
}


@pytest.mark.parametrize("name", MISUSE)
def test_misuse(name):
    call, kind, text = MISUSE[name]
    with pytest.raises(kind, match=text):
        call(leaf())


# --- Python in programs ----------------------------------------------------------------------------------------------


def created(shape):
    return static.default_main_program().current_block().create_var(shape=shape, dtype="float32")


def test_py_func_with_a_gradient():
    x = leaf(shape=(2,))
    seen = []

    def backward(a, out, ct):
        seen.append((a.tolist(), out.tolist(), ct.tolist()))
        return ct * 2 * a

    y = static.py_func(np.square, x, created([2]), backward_func=backward)
    (grad,) = static.gradients([y * 3], [x])
    assert run([y, grad], x=[1.0, 2.0]) == [[1, 4], [6, 12]]
    assert seen == [([1, 2], [1, 4], [3, 3])]


def test_py_func_may_skip_what_backward_does_not_need():
    x, y = leaf("x"), leaf("y")
    out = created([1])
    static.py_func(
        lambda a, b: a * b, [x, y], out, lambda b, ct: (ct * b, ct * 7), skip_vars_in_backward_input=[x, out]
    )
    assert run([out, *static.gradients([out], [x, y])], x=[2.0], y=[5.0]) == [[10], [5], [7]]


def test_py_func_without_results():
    seen = []
    static.py_func(lambda a: seen.append(a.tolist()), leaf(), None)
    run([], x=[1.0])
    run([], x=[2.0])
    assert seen == [[1], [2]]


def test_py_func_that_breaks_its_word():
    y = static.py_func(lambda a: a[:1], leaf(shape=(2,)), created([2]))
    with pytest.raises(ValueError, match=r"the function gave float32\[1\], out says float32\[2\]"):
        run([y], x=[1.0, 2.0])


def test_print_shows_value_and_gradient(capsys):
    x = leaf()
    y = static.Print(x * 2, message="twice", first_n=3, summarize=1)
    (grad,) = static.gradients([y * 5], [x])
    for value in (1.0, 2.0):
        run([grad], x=[value])
    lines = capsys.readouterr().out.splitlines()
    shown = [line.strip() for line in lines if "data" in line or "Variable" in line]
    assert shown == [
        "Variable: multiply_0", "- data: [2.0]", "Variable: multiply_0@GRAD", "- data: [5.0]",
        "Variable: multiply_0", "- data: [4.0]",
    ]  # fmt: skip


def test_assert_stops_a_run_before_anything_is_written():
    total = static.create_global_var([1], 0.0, "float32", persistable=True)
    x = leaf(shape=(3,))
    paddle.assign(total + 1, total)
    static.Assert((x > 0).all(), [x, total], summarize=2)
    static.Executor().run(static.default_startup_program())
    run([], x=[1.0, 2.0, 3.0])
    for kind in (ValueError, AssertionError):
        with pytest.raises(kind, match=r"data 0: float32\[3\] \[1.0, -2.0, ...\]"):
            run([], x=[1.0, -2.0, 3.0])
    assert total.get_value().tolist() == [1]


# --- metrics, averages, marks ----------------------------------------------------------------------------------------


def test_auc_counts_over_runs():
    p, label = static.data("p", [None, 2]), static.data("label", [None, 1], "int64")
    total, recent, counts = static.auc(p, label, slide_steps=2, num_thresholds=100)
    exe = static.Executor()
    exe.run(static.default_startup_program())
    metric, rng, last = paddle.metric.Auc(num_thresholds=100), np.random.default_rng(0), []
    for _ in range(4):
        yes = rng.uniform(size=(20, 1)).astype("float32")
        scores, labels = np.concatenate([1 - yes, yes], 1), (rng.uniform(size=(20, 1)) < yes).astype("int64")
        found = exe.run(feed={"p": scores, "label": labels}, fetch_list=[total, recent])
        metric.update(scores, labels)
        last = [*last[-1:], (scores, labels)]
        of_last = paddle.metric.Auc(num_thresholds=100)
        for pair in last:
            of_last.update(*pair)
        np.testing.assert_allclose([v.item() for v in found], [metric.accumulate(), of_last.accumulate()], rtol=1e-9)
    assert [list(c.shape) for c in counts] == [[2, 101], [2, 101], [1, 101], [1, 101]]


def test_accuracy_in_a_program():
    scores, label = static.data("scores", [None, 3]), static.data("label", [None, 1], "int64")
    best, two = static.accuracy(scores, label), static.accuracy(scores, label, k=2)
    feed = {"scores": [[0.1, 0.5, 0.4], [0.6, 0.3, 0.1]], "label": [[2], [0]]}
    assert [v.item() for v in static.Executor().run(feed=feed, fetch_list=[best, two])] == [0.5, 1]


@pytest.mark.parametrize("counted", [False, True])
def test_averages_of_parameters(counted):
    w = static.create_parameter([1], "float32", is_bias=True)
    steps = static.create_global_var([1], 0.0, "float32", persistable=True)
    paddle.optimizer.SGD(1.0).minimize((w * -1).sum())
    paddle.increment(steps)
    ema = static.ExponentialMovingAverage(0.9, thres_steps=steps if counted else None)
    ema.update()
    exe = static.Executor()
    exe.run(static.default_startup_program())
    average, share = 0.0, 0.9
    for step in range(1, 6):
        exe.run()
        share = min(0.9, (step + 1) / (step + 10)) if counted else 0.9
        average = average * share + step * (1 - share)
    with ema.apply(exe):
        np.testing.assert_allclose(w.get_value(), average / (1 - share**5), rtol=1e-5)
    assert w.get_value().tolist() == [5]
    with ema.apply(exe, need_restore=False):
        pass
    assert w.get_value().item() < 5
    ema.restore(exe)
    assert w.get_value().tolist() == [5]


def test_name_scopes_mark_operators():
    with static.name_scope("encoder"):
        x = leaf() * 2
        for _ in range(2):
            with static.name_scope("layer"):
                x = x + 1
    x = x + 1
    main = static.default_main_program()
    scopes = ["/encoder/", "/encoder/layer/", "/encoder/layer_1/", ""]
    assert [op.name_scope for op in main.global_block().ops] == scopes
    assert [op.name_scope for op in main.clone().global_block().ops] == scopes
    assert [op.attr("op_namescope") for op in main.global_block().ops] == [*scopes[:-1], "/"]


def test_operators_tell_what_paddles_tell_of_themselves():
    x = leaf()
    static.append_backward((x * x).sum())
    first, *_, last = static.default_main_program().global_block().ops
    assert (first.attr("op_role"), last.attr("op_role")) == (0, 1)
    assert first.attr("op_device") == "" and first.has_attr("op_device")
    assert "test_control_flow.py" in first.attr("op_callstack")[0]
    assert "op_role" not in first.attr_names


@pytest.mark.parametrize("device", ["tpu", "gpu:x", "cpu:1"])
def test_device_guard_knows_devices(device):
    with pytest.raises(ValueError, match="device must be 'cpu', 'gpu', 'gpu:x' or None"), static.device_guard(device):
        pass
    with static.device_guard("gpu:0"), static.device_guard(None):
        pass
