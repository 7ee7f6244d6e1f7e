"""The interpreter core: liveness, dead operators, effects, checks of unknown sizes, errors, threads."""

import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import vitrify as paddle
from vitrify import static
from vitrify.core.errors import ShapeError
from vitrify.ops.registry import NoGradient, define_op
from vitrify.runtime.lowering import lower

SEEN = []


def _spy_kernel(xp, x, *, tag):
    SEEN.append((tag, weakref.ref(x), [t for t, ref, *_ in SEEN if ref() is not None]))
    return x + 1


spy = define_op("spy_for_tests", kernel=_spy_kernel, meta=lambda x, *, tag: x, vjp=NoGradient("a test"))


@pytest.fixture(autouse=True)
def _nothing_seen():
    SEEN.clear()


def core_of(build, *shapes):
    """A lowered program: `build` gets one variable for each shape and returns the outputs."""
    main = static.Program()
    with static.program_guard(main, static.Program()):
        inputs = [static.data(f"x{i}", shape) for i, shape in enumerate(shapes)]
        outputs = build(*inputs)
    return lower(main.global_block(), inputs, list(outputs) if isinstance(outputs, tuple) else [outputs])


X = np.array([1.0, 2.0, 3.0], "float32")


def test_arrays_in_arrays_out():
    core = core_of(lambda x: (x * 2, x + 1), [3])
    double, more = core(X)
    assert double.tolist() == [2, 4, 6] and more.tolist() == [2, 3, 4] and core.n_outputs == 2


def test_a_buffer_is_gone_after_its_last_use():
    def build(x):
        for tag in range(4):
            x = spy(x, tag=tag)
        return x

    (out,) = core_of(build, [3])(X.copy())
    assert out.tolist() == [5, 6, 7]
    # When the third operator starts, the input of the second is still held by nobody.
    assert [alive for _, _, alive in SEEN][3] in ([], [0], [2], [0, 2])
    assert SEEN[1][1]() is None and SEEN[2][1]() is None


def test_dead_operators_do_not_run():
    def build(x):
        spy(x, tag="dead")
        return spy(x, tag="live")

    core_of(build, [3])(X)
    assert [tag for tag, *_ in SEEN] == ["live"]


def test_random_and_printing_operators_stay(capsys):
    def draws(x):
        paddle.rand([2])
        return x + paddle.rand([3])

    core = core_of(draws, [3])
    paddle.seed(5)
    (out,) = core(X)
    paddle.seed(5)
    paddle.rand([2])
    assert np.allclose(out, X + paddle.rand([3]).numpy())


def test_outputs_may_be_inputs_and_repeat():
    y, same, again = core_of(lambda x: (x, x * 1, x), [3])(X)
    assert y is X and again is X and same.tolist() == X.tolist()


def test_unknown_sizes_are_checked_once_per_shapes():
    core = core_of(lambda x, y: paddle.concat([x, y], axis=0), [None, 2], [None, None])
    assert core(np.ones((1, 2), "float32"), np.ones((3, 2), "float32"))[0].shape == (4, 2)
    for _ in range(2):
        with pytest.raises(ValueError, match="concat"):
            core(np.ones((1, 2), "float32"), np.ones((3, 3), "float32"))
    assert core(np.ones((1, 2), "float32"), np.ones((3, 2), "float32"))[0].shape == (4, 2)


def eager_error(f, *arrays):
    with pytest.raises(Exception) as caught:
        f(*[paddle.to_tensor(a) for a in arrays])
    return caught.value


@pytest.mark.parametrize(
    ("f", "shapes"),
    [
        (lambda x, y: x + y, [(2, 3), (4, 3)]),
        (lambda x, y: paddle.matmul(x, y), [(2, 3), (4, 3)]),
        (lambda x, y: paddle.concat([x, y]), [(2, 3), (4, 5)]),
        (lambda x, y: x.reshape([5, -1]) + y, [(2, 3), (1, 1)]),
        (lambda x, y: paddle.gather(x, y.astype("int64").sum(axis=[0, 1]).reshape([1])), [(2, 3), (4, 3)]),
    ],
)
def test_run_time_errors_equal_eagers(f, shapes):
    arrays = [np.ones(shape, "float32") for shape in shapes]
    core = core_of(f, *[[None] * len(shape) for shape in shapes])
    expected = eager_error(f, *arrays)
    for _ in range(2):
        with pytest.raises(type(expected)) as caught:
            core(*arrays)
        assert caught.value.args[0] == expected.args[0]


def test_an_error_leaves_the_core_usable():
    core = core_of(lambda x, y: x + y, [None], [None])
    with pytest.raises(ValueError, match="add"):
        core(X, np.ones(2, "float32"))
    assert core(X, X)[0].tolist() == [2, 4, 6]


def _fail_kernel(xp, x):
    raise OSError("the disk is full")


fail = define_op("fail_for_tests", kernel=_fail_kernel, meta=lambda x: x, vjp=NoGradient("a test"))


def test_other_errors_keep_their_class_and_gain_the_place():
    core = core_of(lambda x: fail(x) * 2, [3])
    with pytest.raises(OSError, match="the disk is full") as caught:
        core(X)
    (note,) = caught.value.__notes__
    assert "fail_for_tests failed on (float32[3])" in note and "fail(x) * 2" in note


def test_threads_share_a_core():
    def build(x):
        for _ in range(20):
            x = x * 1.5 - 0.25
        return x

    core = core_of(build, [None])
    inputs = [np.full(10 + n, n, "float32") for n in range(32)]
    alone = [core(a)[0] for a in inputs]
    with ThreadPoolExecutor(8) as pool:
        together = [r[0] for r in pool.map(core, inputs)]
    assert all(np.array_equal(a, b) for a, b in zip(alone, together))


def _taking_kernel(xp, x, y):
    return x[: len(y)]


def _taking_meta(x, y):
    if x.shape[0] < y.shape[0]:
        raise ShapeError("x is too short")
    return y


taking = define_op("taking_for_tests", kernel=_taking_kernel, meta=_taking_meta, vjp=NoGradient("a test"))


def test_what_a_meta_rule_refuses_it_refuses_again():
    """Also where the kernel would have done something."""
    core = core_of(lambda x, y: taking(x, y) * 1, [None], [None])
    for _ in range(3):
        with pytest.raises(ValueError, match="x is too short"):
            core(X[:1], X)
    assert core(X, X[:1])[0].tolist() == [1]
