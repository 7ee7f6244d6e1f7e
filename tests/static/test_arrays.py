"""Arrays of tensors: written, read, measured and joined, in programs and eagerly."""

import numpy as np
import onnxruntime
import pytest

import vitrify as paddle

X = np.array([1.0, 2.0], "float32")
T = paddle.tensor


def doubled(x, n, keep_in_hand):
    """[x, 2x, 4x, ...], n + 1 of them, grown in a loop: as a loop variable, or through the name around it."""
    i = paddle.zeros([1], "int64")
    array = T.array_write(x, i)

    def body(i, *held):
        known = held[0] if held else array
        known = T.array_write(T.array_read(known, i) * 2, i + 1, known)
        return [i + 1, *([known] if held else [])]

    found = paddle.static.nn.while_loop(lambda i, *_: i < n, body, [i, array] if keep_in_hand else [i])
    return found[1] if keep_in_hand else array


def results(x, n, keep_in_hand):
    array = doubled(x, n, keep_in_hand)
    joined, sizes = T.manipulation.tensor_array_to_tensor(array, axis=0)
    stacked, _ = T.manipulation.tensor_array_to_tensor(array, axis=0, use_stack=True)
    last = T.array_read(array, T.array_length(array) - 1 if not paddle.in_dynamic_mode() else n)
    return [last, joined, sizes, stacked]


@pytest.mark.parametrize("keep_in_hand", [True, False])
def test_an_array_that_grows_in_a_loop(keep_in_hand):
    main = paddle.static.Program()
    with paddle.static.program_guard(main):
        x = paddle.static.data("x", [2])
        x.stop_gradient = False
        found = results(x, paddle.static.data("n", [1], "int64"), keep_in_hand)
        (slope,) = paddle.static.gradients([found[0].sum()], [x])
    feed = {"x": X, "n": np.array([3])}
    ran = paddle.static.Executor().run(main, feed=feed, fetch_list=[*found, slope])
    wanted = results(paddle.to_tensor(X), paddle.to_tensor([3]), keep_in_hand)
    for ours, eager in zip(ran, [*wanted, paddle.full([2], 8.0)]):
        np.testing.assert_array_equal(ours, eager.numpy())
        assert ours.dtype == eager.numpy().dtype


def test_a_place_is_written_again_and_none_is_left_out():
    main = paddle.static.Program()
    with paddle.static.program_guard(main):
        x, i = paddle.static.data("x", [2]), paddle.static.data("i", [1], "int64")
        array = T.create_array("float32", [x, x * 2])
        T.array_write(x * 7, i, array)
        read, length = T.array_read(array, paddle.zeros([1], "int64")), T.array_length(array)
    exe = paddle.static.Executor()
    for place, first, count in ((0, 7.0, 2), (2, 1.0, 3)):
        ran = exe.run(main, feed={"x": X, "i": [place]}, fetch_list=[read, length])
        assert ran[0].tolist() == (X * first).tolist() and ran[1].tolist() == [count]
    with pytest.raises(IndexError, match="item 3 cannot be put into a list of 2 items"):
        exe.run(main, feed={"x": X, "i": [3]}, fetch_list=[read])


def test_eager_arrays_are_lists():
    array = T.create_array("float32")
    for i in (0, 1, 1):
        T.array_write(paddle.full([2], float(i)), paddle.to_tensor(i), array)
    assert len(array) == T.array_length(array) == 2
    with pytest.raises(ValueError, match="beyond the end of an array of 2"):
        T.array_write(array[0], paddle.to_tensor(5), array)
    for wrong in (
        lambda: T.array_write(3, paddle.to_tensor(0)),
        lambda: T.array_read(array, 0),
        lambda: T.create_array("int64", [1]),
        lambda: T.array_length(paddle.ones([2])),
    ):
        with pytest.raises(TypeError):
            wrong()


@pytest.mark.parametrize("place", [0, 1, 2])
def test_writing_at_a_place_is_exported(tmp_path, place):
    def put(x, i):
        array = T.create_array("float32", [x, x * 2])
        T.array_write(x * 7, i, array)
        return (
            paddle.stack(array, 0) if isinstance(array, tuple) else T.manipulation.tensor_array_to_tensor(array, 0)[0]
        )

    specs = [paddle.static.InputSpec([2], name="x"), paddle.static.InputSpec([1], "int64", "i")]
    paddle.jit.save(put, str(tmp_path / "put"), input_spec=specs, format="onnx")
    session = onnxruntime.InferenceSession(str(tmp_path / "put.onnx"))
    (found,) = session.run(None, {"x": X, "i": np.array([place])})
    wanted = put(paddle.to_tensor(X), paddle.to_tensor([place])).numpy()
    np.testing.assert_array_equal(found, wanted)
