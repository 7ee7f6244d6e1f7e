"""Gradients written by hand, seeds of programs, and classes that are drawn."""

import numpy as np
import pytest

import vitrify as paddle
from vitrify import static
from vitrify.core.errors import UnsupportedError

PROBABILITIES = [0.3, 0.3, 0.4]


def built(build, seed=0):
    """The main and startup program of `build`, and what it gives."""
    main, startup = static.Program(), static.Program()
    main.random_seed = startup.random_seed = seed
    with static.program_guard(main, startup), paddle.utils.unique_name.guard():
        return main, startup, build()


def run(main, startup, feed, fetch):
    exe = static.Executor()
    with static.scope_guard(static.Scope()):
        exe.run(startup)
        return exe.run(main, feed=feed, fetch_list=fetch)


X, Y = np.array([[1.0, 2.0]], "float32"), np.array([[3.0, 5.0]], "float32")


def inputs():
    x, y = static.data("x", [None, 2]), static.data("y", [None, 2])
    x.stop_gradient = y.stop_gradient = False
    return x, y


def test_static_pylayer_gives_the_gradient_of_its_backward():
    def build():
        x, y = inputs()
        pair = static.nn.static_pylayer(
            lambda a, b: {"product": a * b, "sum": [a + b]}, [x * 2, y], lambda dp, ds: (dp * 2 + ds, ds * 7)
        )
        loss = pair["product"].sum() + pair["sum"][0].sum()
        return [pair["product"], pair["sum"][0], *static.gradients([loss], [x, y])]

    main, startup, found = built(build)
    product, total, dx, dy = run(main, startup, {"x": X, "y": Y}, found)
    assert product.tolist() == [[6.0, 20.0]] and total.tolist() == [[5.0, 9.0]]
    assert dx.tolist() == [[6.0, 6.0]] and dy.tolist() == [[7.0, 7.0]]


def test_static_pylayer_in_branches_and_loops():
    def build():
        _, y = inputs()
        layer = lambda v: static.nn.static_pylayer(lambda a: a * 3, [v], lambda d: d * 5)  # noqa: E731
        chosen = static.nn.cond(y.sum() > 0, lambda: layer(y), lambda: y)
        i = paddle.zeros([1], "int64")
        _, looped = static.nn.while_loop(lambda i, v: i < 3, lambda i, v: [i + 1, layer(v)], [i, y])
        return [*static.gradients([chosen], [y]), *static.gradients([looped], [y])]

    main, startup, found = built(build)
    chosen, looped = run(main, startup, {"y": Y}, found)
    assert chosen.tolist() == [[5.0, 5.0]] and looped.tolist() == [[125.0, 125.0]]


def test_static_pylayer_is_saved_as_its_forward(tmp_path):
    def build():
        x, _ = inputs()
        return x, static.nn.static_pylayer(lambda a: a * 3, [x], lambda d: d * 5) + 0

    main, _, (x, y) = built(build)
    static.save_inference_model(str(tmp_path / "net"), [x], [y], static.Executor(), program=main)
    assert paddle.jit.load(tmp_path / "net")(paddle.to_tensor(X)).tolist() == [[3.0, 6.0]]
    test = main.clone(for_test=True)
    block = test.global_block()
    with static.program_guard(test), pytest.raises(UnsupportedError, match="written by hand is Python"):
        static.gradients([block.var(y.name)], [block.var("x")])


def test_static_pylayer_says_what_is_wrong():
    def attempt(forward, backward, kind, text):
        def build():
            x, y = inputs()
            return static.gradients([static.nn.static_pylayer(forward, [x, y], backward)], [x])

        with pytest.raises(kind, match=text):
            built(build)

    attempt(lambda a, b: a * b, lambda d: d, ValueError, "backward_fn gives 1 values, forward_fn takes 2")
    attempt(lambda a, b: a * b, lambda d: (d.sum(), None), ValueError, "gradient 0 has shape")
    attempt(lambda a, b: a * b, lambda d: (1.0, None), TypeError, "gradient 0 must be a Variable")
    attempt(lambda a, b: 1.0, lambda d: d, TypeError, "what forward_fn gives must be a Variable")
    attempt(3, None, TypeError, "forward_fn must be callable")
    with pytest.raises(UnsupportedError, match="is for programs"):
        static.nn.static_pylayer(lambda a: a, [paddle.ones([1])])


def test_a_program_with_a_seed_draws_the_same_in_each_run():
    def build():
        x = static.data("x", [1, 4])
        dropped = paddle.nn.functional.dropout(paddle.ones([32]), 0.5)
        return [static.nn.fc(x, 3), dropped, paddle.uniform([3]), paddle.normal(shape=[3])]

    feed, runs = {"x": np.ones((1, 4), "float32")}, []
    paddle.seed(0)
    before = paddle.get_rng_state()[0]
    for seed in (7, 7, 8):
        main, startup, found = built(build, seed)
        runs += [run(main, startup, feed, found), run(main.clone(), startup, feed, [v.name for v in found])]
    assert paddle.get_rng_state()[0] == before
    for other in runs[1:4]:
        assert all(np.array_equal(a, b) for a, b in zip(runs[0], other))
    assert not any(np.array_equal(a, b) for a, b in zip(runs[0], runs[4]))
    main, startup, found = built(build)
    assert not np.array_equal(run(main, startup, feed, found)[2], run(main, startup, feed, found)[2])
    with pytest.raises(TypeError, match="random_seed takes an integer"):
        main.random_seed = 0.5


def nce(classes, true=1, weight=0.3, **options):
    """`nce` of two rows; with weights that are all alike, the loss does not depend on which classes are drawn."""

    def build():
        x, label = static.data("x", [None, 3]), static.data("label", [None, true], "int64")
        x.stop_gradient = False
        fixed = lambda name, value: paddle.ParamAttr(  # noqa: E731
            name, initializer=paddle.nn.initializer.Constant(value)
        )
        if options.get("bias_attr", True):
            options["bias_attr"] = fixed("b", 0.1)
        loss = static.nn.nce(x, label, classes, param_attr=fixed("w", weight), **options)
        return [loss, *static.gradients([loss], [x])]

    x = np.arange(6).reshape(2, 3).astype("float32") / 10
    main, startup, found = built(build)
    loss, slope = run(main, startup, {"x": x, "label": np.zeros((2, true), "int64")}, found)
    return [(p.name, p.shape) for p in main.all_parameters()], loss.ravel(), slope


def test_nce_has_paddles_numbers():
    """Recorded with PaddlePaddle 3.3.1."""
    parameters, loss, _ = nce(2, num_neg_samples=4)
    assert parameters == [("w", [2, 3]), ("b", [2, 1])]
    np.testing.assert_allclose(loss, [0.50106937, 0.5038602], rtol=1e-5)
    np.testing.assert_allclose(nce(5, num_neg_samples=4)[1], [0.5971908, 0.6221134], rtol=1e-5)
    np.testing.assert_allclose(nce(2, true=2, num_neg_samples=4)[1], [0.8086112, 0.79383457], rtol=1e-5)
    np.testing.assert_allclose(nce(2)[1], [0.3049829, 0.30645043], rtol=1e-5)
    half = {"sampler": "custom_dist", "custom_dist": [0.5, 0.5, 0]}
    np.testing.assert_allclose(nce(3, num_neg_samples=4, **half)[1], [0.50106937, 0.5038602], rtol=1e-5)
    parameters, loss, slope = nce(2, num_neg_samples=2, bias_attr=False)
    assert parameters == [("w", [2, 3])]
    np.testing.assert_allclose(loss, [0.6367302, 0.63955057], rtol=1e-5)
    np.testing.assert_allclose(slope[:, 0], [0.00141044, 0.00460555], rtol=1e-4)


def test_nce_samples():
    one = nce(3, num_neg_samples=1, sampler="log_uniform")[1]
    allowed = [0.6957, 0.8381]  # of class 0 and 1; the last class is not drawn, as in Paddle
    assert min(abs(one[0] - np.array(allowed))) < 2e-4
    seeded = {"num_neg_samples": 3, "sampler": "custom_dist", "custom_dist": PROBABILITIES, "seed": 5}
    assert np.array_equal(nce(3, **seeded)[1], nce(3, **seeded)[1])
    with pytest.raises(ValueError, match="sampler must be"):
        nce(3, sampler="log")
    with pytest.raises(ValueError, match="custom_dist must have a probability for each of the 3"):
        nce(3, sampler="custom_dist", custom_dist=[1.0])
