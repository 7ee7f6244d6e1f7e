"""Programs built and run by hand: data, Executor, scopes, parameters, a training loop."""

import copy

import numpy as np
import pytest

import vitrify as paddle
from vitrify import static
from vitrify.core.modes import recorder, scoped
from vitrify.eager.create_parameter import create_parameter
from vitrify.eager.initializer import Constant


@pytest.fixture
def programs():
    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup), static.scope_guard(static.Scope()):
        yield main, startup


def run(feed=None, fetch=()):
    return static.Executor().run(static.default_main_program(), feed=feed, fetch_list=list(fetch))


def test_feed_and_fetch(programs):
    x = static.data("x", [None, 2])
    y = (x * 2).sum(axis=1)
    (out,) = run({"x": np.ones([3, 2], "float32")}, [y])
    assert out.tolist() == [4, 4, 4] and isinstance(out, np.ndarray)
    (out,) = run({"x": [[1.0, 2.0]]}, [y.name])
    assert out.tolist() == [6]


def test_fetching_tensors(programs):
    x = static.data("x", [2])
    (out,) = static.Executor().run(programs[0], {"x": np.array([1.0, 2.0], "float32")}, [x + 1], return_numpy=False)
    assert isinstance(out, paddle.Tensor) and out.tolist() == [2, 3]


def test_wrong_feeds(programs):
    x = static.data("image", [None, 2])
    y = x + 1
    with pytest.raises(ValueError, match=r"feed 'image': expected float32\[\?, 2\], got float32\[3, 3\]"):
        run({"image": np.ones([3, 3], "float32")}, [y])
    with pytest.raises(TypeError, match="feed 'image': expected"):
        run({"image": np.ones([3, 2], "complex64")}, [y])
    with pytest.raises(ValueError, match=r"variable 'image' .* is needed but was not fed"):
        run({}, [y])
    with pytest.warns(UserWarning, match="feed: the program has no variable 'nothing'"):
        run({"nothing": 1, "image": np.ones([3, 2], "float32")}, [y])
    with pytest.raises(ValueError, match="has no variable 'nope'"):
        run({"image": np.ones([3, 2], "float32")}, ["nope"])
    with pytest.raises(ValueError, match="expects Variables or names, got int"):
        run({"image": np.ones([3, 2], "float32")}, [3])
    with pytest.raises(ValueError, match=r"already has a variable 'image', .* would be float32\[1\]"):
        static.data("image", [1])
    with pytest.raises(ValueError, match="already has a variable"):
        static.data(y.name, y.shape)


def test_data_declared_again_alike_is_the_same_variable(programs):
    x = static.data("x", [None, 2])
    assert static.data("x", (-1, 2), "float32") is x
    assert static.data("x", [None, 2]) is x
    with pytest.raises(ValueError, match=r"already has a variable 'x', .*int64"):
        static.data("x", [None, 2], "int64")


def test_only_what_is_fetched_runs(programs):
    x = static.data("x", [2])
    fed_later = static.data("later", [2])
    _ = fed_later * 2
    (out,) = run({"x": [1.0, 2.0]}, [x * 3])
    assert out.tolist() == [3, 6]


def test_a_program_may_grow_after_a_run(programs):
    exe = static.Executor()
    x = static.data("x", [2])
    y = x + 1
    assert exe.run(feed={"x": [1.0, 2.0]}, fetch_list=[y])[0].tolist() == [2, 3]
    z = y * 10
    assert exe.run(feed={"x": [1.0, 2.0]}, fetch_list=[z])[0].tolist() == [20, 30]


def test_parameters_need_the_startup_program(programs):
    w = static.create_parameter([2], "float32", name="w")
    with pytest.raises(RuntimeError, match=r"'w' has no value in this scope(.|\n)*startup"):
        run({}, [w])
    static.Executor().run(programs[1])
    assert run({}, [w])[0].shape == (2,)


def test_scopes_hold_parameters_apart(programs):
    w = static.create_parameter([2], "float32", default_initializer=Constant(3.0))
    exe, other = static.Executor(), static.Scope()
    exe.run(programs[1])
    exe.run(programs[1], scope=other)
    other.find_var(w.name).set(np.zeros(2, "float32"))
    assert exe.run(programs[0], fetch_list=[w])[0].tolist() == [3, 3]
    assert exe.run(programs[0], fetch_list=[w], scope=other)[0].tolist() == [0, 0]


def test_initializers_draw_what_eager_draws(programs):
    w = static.create_parameter([3, 4], "float32")
    b = static.create_parameter([4], "float32", is_bias=True)
    c = static.create_parameter([2], "float32", default_initializer=Constant(5.0))
    exe = static.Executor()
    paddle.seed(11)
    exe.run(programs[1])
    first = run({}, [w, b, c])
    exe.run(programs[1])
    second = run({}, [w])[0]
    paddle.seed(11)
    eager = _eager_parameter([3, 4])
    assert np.array_equal(first[0], eager)
    assert first[1].tolist() == [0] * 4 and first[2].tolist() == [5, 5]
    assert not np.array_equal(first[0], second)


def _eager_parameter(shape):
    with scoped(recorder, None):
        return create_parameter(shape, "float32").numpy()


def test_wrong_parameters(programs):
    with pytest.raises(ValueError, match="every size must be known"):
        static.create_parameter([-1, 2], "float32")
    with pytest.raises(TypeError, match="shape must hold integers"):
        static.create_parameter([None, 2], "float32")
    with pytest.raises(ValueError, match=r"at least 0, got shape=\[2, -3\]"):
        static.nn.fc(static.data("x", [None, 2]), -3)
    with pytest.raises(TypeError, match="int64 has no default initializer"):
        static.create_parameter([2], "int64")
    with pytest.raises(ValueError, match="attr=False"):
        static.create_parameter([2], "float32", attr=False)


def test_what_gradients_are_of(programs):
    x = static.data("x", [2])
    x.stop_gradient = False
    y = x * 2
    with static.program_guard(static.Program(), static.Program()):
        other = static.data("z", [2])
        with pytest.raises(ValueError, match="targets and inputs belong to several programs"):
            static.gradients([y], [other])
    with pytest.raises(TypeError, match="targets must be Variables of a program, but received str"):
        static.gradients("y", [x])
    with pytest.raises(ValueError, match="there are no targets"):
        static.gradients([], [x])
    with pytest.raises(TypeError, match="loss must be Variables of a program, but received float"):
        static.append_backward(1.0)
    with pytest.raises(TypeError, match="checkpoints must be Variables of a program, but received int"):
        static.append_backward(y, checkpoints=[3])
    with pytest.raises(TypeError, match="expected Variables or their names, but received int"):
        static.default_main_program().prune([3])


def test_checkpoints_leave_gradients_as_they_are(programs):
    x = static.data("x", [None, 2])
    w = static.create_parameter([2, 1], "float32", default_initializer=paddle.nn.initializer.Constant(0.5))
    h = paddle.tanh(paddle.matmul(x, w))
    other = static.data("other", [2])
    ((_, gradient),) = static.append_backward(h.sum(), checkpoints=[h, other.name])
    assert gradient.name == w.grad_name
    exe = static.Executor()
    exe.run(programs[1])
    (found,) = exe.run(programs[0], feed={"x": np.ones([1, 2], "float32")}, fetch_list=[gradient])
    np.testing.assert_allclose(found, np.full([2, 1], 1 - np.tanh(1.0) ** 2), rtol=1e-6)


def test_a_deep_copy_is_a_clone(programs):
    y = static.data("x", [2]) * 2
    other = copy.deepcopy(programs[0])
    assert other.to_string() == programs[0].to_string()
    programs[0].global_block().ops.clear()
    assert static.Executor().run(other, feed={"x": [1.0, 2.0]}, fetch_list=[y.name])[0].tolist() == [2, 4]


def test_a_global_variable_counts(programs):
    step = static.create_global_var([1], 0.0, "float32", persistable=True)
    paddle.assign(step + 1, step)
    exe = static.Executor()
    exe.run(programs[1])
    for _ in range(3):
        exe.run(programs[0])
    assert static.global_scope().find_var(step.name).get_tensor().tolist() == [3]


def test_gradient_descent_converges(programs):
    main, startup = programs
    x, y = static.data("x", [None, 3]), static.data("y", [None, 1])
    w = static.create_parameter([3, 1], "float32")
    b = static.create_parameter([1], "float32", is_bias=True)
    loss = ((paddle.matmul(x, w) + b - y) ** 2).mean()
    for p, g in static.append_backward(loss):
        paddle.assign(p - g * 0.1, p)
    exe = static.Executor()
    exe.run(startup)
    rng = np.random.default_rng(0)
    losses = []
    for _ in range(200):
        data = rng.normal(size=(16, 3)).astype("float32")
        target = data @ np.array([[1.0], [-2.0], [0.5]], "float32") + 3
        losses.append(exe.run(main, feed={"x": data, "y": target}, fetch_list=[loss])[0])
    assert losses[-1] < 1e-3 * losses[0]
    assert np.allclose(static.global_scope().find_var(b.name).get_tensor(), 3, atol=0.05)


def test_errors_of_kernels_name_the_line(programs):
    x, y = static.data("x", [None]), static.data("y", [None])
    z = x + y
    with pytest.raises(ValueError, match=r"add: shapes do not broadcast(.|\n)*z = x \+ y"):
        run({"x": [1.0, 2.0], "y": [1.0, 2.0, 3.0]}, [z])


def test_bool_of_a_variable_says_what_to_do(programs):
    x = static.data("x", [1])
    with pytest.raises(TypeError, match="to_static"):
        if x > 0:
            pass


def test_converted_functions_inside_a_program(programs):
    @paddle.jit.to_static
    def f(v):
        if v.sum() > 0:
            return v * 2
        return -v

    x = static.data("x", [2])
    y = f(x)
    assert run({"x": [1.0, 2.0]}, [y])[0].tolist() == [2, 4]
    assert run({"x": [-1.0, -2.0]}, [y])[0].tolist() == [1, 2]


def test_eager_tensors_cannot_be_lifted(programs):
    with scoped(recorder, None):
        t = paddle.ones([2])
    with pytest.raises(TypeError, match="cannot use a Tensor directly"):
        static.data("x", [2]) + t


def test_scope_tree():
    root = static.Scope()
    kid = root.new_scope()
    root.var("a").set(1)
    assert kid.find_var("a").get_tensor().tolist() == 1 and kid.find_var("b") is None
    kid.var("a").set(2)
    assert (root.value_of("a"), kid.value_of("a"), root.local_var_names()) == (1, 2, ["a"])
    kid.erase(["a"])
    assert kid.value_of("a") == 1
    root.drop_kids()
    with static.scope_guard(root):
        assert static.global_scope() is root
    assert static.global_scope() is not root


@pytest.mark.parametrize(
    "change",
    [
        lambda w, x: paddle.assign(x, w),
        lambda w, x: paddle.assign(x, output=w),
        lambda w, x: w.set_value(x),
        lambda w, x: w.copy_(x),
        lambda w, x: paddle.assign(np.full([2], 3, "float32"), w),
    ],
)
def test_a_parameter_is_written_by_one_copy(change):
    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup):
        x = static.data("x", [2])
        w = static.create_parameter([2], "float32", name="one_copy")
        change(w, x)
        y = w + 1
    assert [op.op.name for op in main.global_block().ops].count("assign") == 1
    exe = static.Executor(paddle.CPUPlace())
    with static.scope_guard(static.Scope()):
        exe.run(startup)
        fed = np.full([2], 3, "float32")
        (out,) = exe.run(main, feed={"x": fed}, fetch_list=[y])
        assert out.tolist() == [4, 4]
        (kept,) = exe.run(main, feed={"x": fed * 0}, fetch_list=[w])
        assert kept.tolist() in ([0, 0], [3, 3])
        assert fed.tolist() == [3, 3]
