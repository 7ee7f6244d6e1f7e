"""Control flow, lists, and small ops, as users write them."""

import math

import numpy as np
import pytest

import vitrify as paddle
from tests.models import t5
from tests.onnx.harness import check_model
from vitrify.core.errors import UnsupportedError

ROWS = paddle.static.InputSpec([None, 3])
ONES = np.ones((2, 3), "float32")
MIXED = np.array([[1.0, -2.0, 0.5], [-1.0, -1.0, -1.0], [2.0, 0.0, 1.0]], "float32")


def early_return(x):
    if x.sum() > 0:
        return x * 2
    y = x - 1
    return y.abs()


def while_with_break(x):
    i = paddle.zeros([], "int64")
    while i < 10:
        x = x * 1.5
        if x.sum() > 50:
            break
        i = i + 1
    return x, i


def nested(x):
    t = x.sum()
    for i in range(3):
        if t > i:
            while t > 0.1:
                t = t / 2
        else:
            t = t + 1
    return t


def collected(x):
    out = []
    i = paddle.zeros([], "int64")
    while i < x.shape[0]:
        if x[i].sum() > -4:
            out.append(x[i] * 2)
        i = i + 1
    out.append(x[0])
    return paddle.stack(out), len(out)


def begun_with_a_constant(x):
    rows = [paddle.zeros([3])]
    for row in x:
        if row[0] > 0:
            rows.append(row)
    return paddle.stack(rows)


def changed_list(x):
    held = []
    i = paddle.zeros([], "int64")
    while i < x.shape[0]:
        held.append(x[i])
        i = i + 1
    held[0] = held[0] * 3
    last = held.pop()
    held.extend([last, last])
    return sum(held[1:]), paddle.concat(held), held[-1]


def rows_of_some_length(x):
    rows = []
    if x.sum() > 0:
        for row in x:
            rows.append(row * 2)
    rows.append(x[0])
    return paddle.stack(rows)


def rows_begun_anew(x):
    rows = []
    for row in x:
        if row.sum() > 0:
            rows.append(row)
        else:
            rows = []
    return paddle.stack([*rows, x[0]])


def written(x):
    y = x.clone()
    y[1:, 0] = 7.0
    y[[0, 1], [1, 2]] = x[0, :2].detach()
    return y[:, ::-1], x[x > 0], x[:1].expand_as(x)


def parts(x):
    return paddle.real(x) + 1, paddle.isreal(x)


FUNCTIONS = [
    early_return, while_with_break, nested, collected, begun_with_a_constant, changed_list, rows_of_some_length,
    rows_begun_anew,
]  # fmt: skip
FUNCTIONS += [written, parts]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_a_function_means_the_same_in_onnx(function, tmp_path):
    static = paddle.jit.to_static(function, input_spec=[ROWS])
    check_model(static, tmp_path / "model", None, [ONES], [-ONES], [MIXED])


def test_gradients_flow_through_a_loop_that_was_read(tmp_path):
    paddle.onnx.export(paddle.jit.to_static(while_with_break, input_spec=[ROWS]), tmp_path / "loop")
    x, y = (paddle.to_tensor(ONES, stop_gradient=False) for _ in range(2))
    paddle.onnx.load(tmp_path / "loop")(x)[0].sum().backward()
    while_with_break(y)[0].sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), y.grad.numpy())


def checked(x):
    assert x.sum() > 0, "positive"
    print("sum", x.sum())
    return x + 1


def test_checks_are_refused_or_left_out(tmp_path):
    static = paddle.jit.to_static(checked, input_spec=[ROWS])
    with pytest.raises(UnsupportedError, match=r"onnx: assert: (?s:.*)test_control_flow.py(?s:.*)drop_checks"):
        paddle.onnx.export(static, tmp_path / "model")
    check_model(static, tmp_path / "model", None, [ONES], drop_checks=True)


def raising(x):
    if x.shape[0] != 2:
        raise ValueError(f"{x.shape[0]} rows")
    if x.max() > 100:
        raise ValueError("too large")
    if x.sum() > 0:
        y = x * 2
    elif x.sum() < -1000:
        raise ValueError("too small")
    else:
        y = x - 1
    return y + 1


def test_exceptions_are_refused_or_left_out(tmp_path):
    static = paddle.jit.to_static(raising, input_spec=[paddle.static.InputSpec([None, 3])])
    with pytest.raises(UnsupportedError, match=r"onnx: (?s:.*)test_control_flow.py(?s:.*)drop_checks"):
        paddle.onnx.export(static, tmp_path / "model")
    for sign in (1, -1):
        check_model(static, tmp_path / "model", None, [sign * ONES], drop_checks=True)


def told(x):
    if x.sum() > 0:
        print_later(x.numpy())
    return x + 1


def print_later(array):
    SEEN.append(array)


SEEN = []


def test_other_effects_are_refused_always(tmp_path):
    static = paddle.jit.to_static(told, input_spec=[ROWS], full_graph=True)
    with pytest.raises(UnsupportedError):
        paddle.onnx.export(static, tmp_path / "model", drop_checks=True)


def test_square_roots_of_sizes_need_no_check(tmp_path):
    def scaled(x):
        rows, columns = x.shape
        return x / math.sqrt(columns) + math.sqrt(rows * columns * 2)

    static = paddle.jit.to_static(scaled, input_spec=[paddle.static.InputSpec([None, None], "float32")])
    check_model(static, tmp_path / "model", None, [ONES])

    def below(x):
        return x * math.sqrt(x.shape[0] - 3)

    checked_below = paddle.jit.to_static(below, full_graph=True, input_spec=[ROWS])
    np.testing.assert_allclose(checked_below(paddle.ones([4, 3])).numpy(), 1.0)
    with pytest.raises(ValueError, match="math domain error"):
        checked_below(paddle.ones([2, 3]))


def test_an_op_without_a_form_names_itself_and_the_line(tmp_path):
    def roots(x):
        return paddle.linalg.qr(x)

    with pytest.raises(UnsupportedError, match=r"onnx: qr: it has no ONNX form(?s:.*)linalg\.qr\(x\)"):
        paddle.onnx.export(roots, tmp_path / "model", [paddle.static.InputSpec([2, 2])])


def test_lists_of_lists_are_refused(tmp_path):
    def pairs(x):
        out = []
        i = paddle.zeros([], "int64")
        while i < x.shape[0]:
            out.append([x[i], x[i] + 1])
            i = i + 1
        return out

    with pytest.raises((UnsupportedError, TypeError)):
        paddle.onnx.export(pairs, tmp_path / "model", [ROWS])
    assert not list(tmp_path.iterdir())


def test_a_form_of_a_later_operator_set_says_so(tmp_path):
    def bits(x):
        return x & 3

    spec = [paddle.static.InputSpec([None], "int64")]
    with pytest.raises(UnsupportedError, match="opset_version=18"):
        paddle.onnx.export(bits, tmp_path / "model", spec)
    check_model(bits, tmp_path / "model", spec, [np.arange(6)], opset_version=18)


def test_a_gradient_written_by_hand_is_left_out(tmp_path):
    static = paddle.static
    main = static.Program()
    with static.program_guard(main):
        x = static.data("x", [None, 3])
        pair = static.nn.static_pylayer(lambda a: (a * 3, a + 1), [x], lambda da, db: da)
    static.save_inference_model(str(tmp_path / "net"), [x], list(pair), static.Executor(), program=main)
    net = paddle.jit.load(tmp_path / "net")
    check_model(net, tmp_path / "model", [ROWS], [MIXED])


def test_what_only_the_first_round_lacks_is_asked_about_there(tmp_path):
    """What is multiplied if there were no cache has the wrong sizes, and no file of ONNX raises."""

    def function(x):
        cache, n = None, 0
        while n < 5:
            y = x if cache is None else paddle.concat([cache, x[-1:]])
            x = paddle.concat([x, y.mean(0, keepdim=True)])
            n += 1
            if x.sum() > 20:
                break
            other = x if cache is None else y
            x = paddle.matmul(x, other.t()[:, :1] if cache is not None else paddle.ones([3, 1])).expand([-1, 3])
            cache = y
        return x

    check_model(function, tmp_path / "m", [ROWS], *[[ONES * k] for k in (0.1, 1, 4, -0.3)])


@pytest.mark.slow
def test_searches_of_a_model_with_a_cache(tmp_path):
    paddle.seed(3)
    net = t5.T5ForConditionalGeneration(t5.tiny())
    net.eval()
    specs = [paddle.static.InputSpec([None, None], "int64")]
    arrays = [[np.random.default_rng(n).integers(1, 16, (n, 3 + n))] for n in (1, 2, 5)]
    for method in (net.greedy_search, net.beam_search):
        check_model(method, tmp_path / method.__name__, specs, *arrays, opset_version=18)
