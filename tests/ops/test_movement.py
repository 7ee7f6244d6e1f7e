"""What tables of values do not show of movement ops: views, in-place forms, other ways to call, errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import vitrify as paddle
from vitrify.core.errors import ArgumentError, DTypeError, IndexRangeError, ShapeError, UnknownValueError
from vitrify.ops.creation import one_hot
from vitrify.ops.index import with_item
from vitrify.ops.pad import pad
from vitrify.static import Executor, Program, data, program_guard
from vitrify.testing import check_error, floats, ints

M = floats(3, 4)
X = floats(2, 3, 4)


def grid() -> Any:
    return paddle.to_tensor(np.arange(12.0).reshape(3, 4))


VIEWS: dict[str, Callable[[Any], Any]] = {
    "reshape": lambda x: x.reshape([-1]),
    "flatten": lambda x: x.flatten(),
    "unflatten": lambda x: x.unflatten(1, [2, 2]),
    "unsqueeze": lambda x: x.unsqueeze(0),
    "squeeze": lambda x: x.unsqueeze(0).squeeze(0),
    "transpose": lambda x: x.transpose([1, 0]),
    "slice": lambda x: paddle.slice(x, [0], [0], [2]),
    "getitem": lambda x: x[:, ::-1],
    "diagonal": lambda x: x.diagonal(),
    "as_strided": lambda x: x.as_strided([2], [1]),
    "view of another dtype": lambda x: x.view("int64"),
    "view": lambda x: x.view([12]),
}
COPIES: dict[str, Callable[[Any], Any]] = {
    "expand": lambda x: x.expand([2, 3, 4]),
    "split": lambda x: x.split(3)[0],
    "reshape of a transpose": lambda x: x.T.reshape([-1]),
    "arrays": lambda x: x[[0, 1]],
    "arrays after a slice": lambda x: x[:, [0, 1]],
    "flip": lambda x: x.flip(0),
    "tile": lambda x: x.tile([1, 1]),
    "gather_nd of everything": lambda x: x.gather_nd(paddle.zeros([1, 0], "int64")),
    "clone": lambda x: x.clone(),
    "roll": lambda x: x.roll(0),
}


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
def test_views_share_memory_and_version(view: Callable[[Any], Any]) -> None:
    x = grid()
    y = view(x)
    assert np.shares_memory(x._data, y._data)
    before = x.inplace_version
    y.zero_()
    assert x.inplace_version == before + 1
    assert (x.numpy() == 0).sum() > 1


@pytest.mark.parametrize("copy", COPIES.values(), ids=COPIES)
def test_copies_share_nothing(copy: Callable[[Any], Any]) -> None:
    x = grid()
    y = copy(x)
    assert not np.shares_memory(x._data, y._data)
    y.zero_()
    assert x.inplace_version == 0


INPLACE: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "reshape_": (lambda x: x.reshape_([4, 3]), lambda a: a.reshape(4, 3)),
    "flatten_": (lambda x: x.flatten_(), np.ravel),
    "unsqueeze_": (lambda x: x.unsqueeze_(0), lambda a: a[None]),
    "transpose_": (lambda x: x.transpose_([1, 0]), np.transpose),
    "t_": (lambda x: x.t_(), np.transpose),
    "tril_": (lambda x: x.tril_(), np.tril),
    "triu_": (lambda x: x.triu_(1), lambda a: np.triu(a, 1)),
    "fill_": (lambda x: x.fill_(3.5), lambda a: np.full_like(a, 3.5)),
    "zero_": (lambda x: x.zero_(), np.zeros_like),
    "fill_diagonal_": (lambda x: x.fill_diagonal_(9.0), lambda a: np.where(np.eye(3, 4), 9.0, a)),
    "masked_fill_": (lambda x: x.masked_fill_(x > 5, 0.0), lambda a: np.where(a > 5, 0.0, a)),
    "scatter_": (
        lambda x: x.scatter_(paddle.to_tensor([0]), paddle.ones([1, 4], "float64")),
        lambda a: np.vstack([np.ones(4), a[1:]]),
    ),
    "index_fill_": (
        lambda x: x.index_fill_(paddle.to_tensor([1]), 1, 0.0),
        lambda a: np.where(np.arange(4) == 1, 0, a),
    ),
}


@pytest.mark.parametrize(("method", "reference"), INPLACE.values(), ids=INPLACE)
def test_in_place_forms(method: Callable[[Any], Any], reference: Callable[[Any], Any]) -> None:
    x = grid()
    want = reference(x.numpy())
    assert method(x) is x
    np.testing.assert_array_equal(x.numpy(), want)


def test_out_takes_the_result() -> None:
    out = paddle.zeros([4, 3], "float64")
    assert paddle.concat([grid().T], out=out) is out
    np.testing.assert_array_equal(out.numpy(), grid().numpy().T)
    values, indices = paddle.zeros([2], "float64"), paddle.zeros([2], "int64")
    paddle.topk(paddle.to_tensor(np.array([1.0, 3.0, 2.0])), 2, out=(values, indices))
    assert (values.tolist(), indices.tolist()) == ([3, 2], [1, 2])


def test_creation_takes_requires_grad() -> None:
    assert not paddle.ones([2], requires_grad=True).stop_gradient
    assert paddle.ones([2]).stop_gradient


@pytest.mark.parametrize(
    ("value", "dtype"),
    [(3, "float32"), (3.0, "float32"), (True, "bool"), ("inf", "float32"), (1 + 2j, "complex128")],
)
def test_full_chooses_the_dtype_of_its_value(value: Any, dtype: str) -> None:
    assert str(paddle.full([2], value).dtype) == f"paddle.{dtype}"


def test_creation_uses_the_default_dtype() -> None:
    paddle.set_default_dtype("float64")
    try:
        made = [paddle.zeros([1]), paddle.arange(2.0), paddle.linspace(0, 1, 2), paddle.eye(2), paddle.assign([1.5])]
        assert {str(t.dtype) for t in made} == {"paddle.float64"}
    finally:
        paddle.set_default_dtype("float32")


def test_sizes_given_in_other_ways() -> None:
    x = grid()
    assert x.reshape((np.int64(2), -1)).shape == [2, 6]
    assert x.reshape(np.array([4, 3])).shape == [4, 3]
    assert paddle.zeros(np.array([2, 2])).shape == [2, 2]
    assert x.expand(2, 3, 4).shape == [2, 3, 4]
    assert x.transpose(dim0=0, dim1=1).shape == [4, 3]
    assert x.unsqueeze(paddle.to_tensor([0, -1])).shape == [1, 3, 4, 1]
    assert [p.shape for p in x.split(paddle.to_tensor(2), paddle.to_tensor(1))] == [[3, 2], [3, 2]]
    assert paddle.rot90(x, 1, (0, 1)).shape == [4, 3]
    assert x.new_zeros(2, 3).shape == [2, 3] and x.new_ones([2], dtype="int32").dtype == paddle.int32
    assert paddle.broadcast_shape([2, 1], [3]) == [2, 3] and paddle.broadcast_shapes([2, 1], [3], [1]) == [2, 3]


ERRORS: list[tuple[str, Callable[..., Any], tuple[Any, ...], type[Exception], str]] = [
    ("reshape", paddle.reshape, (M, [5, -1]), ShapeError, "cannot reshape x float64[3, 4] into [5, -1]: 12 elements"),
    ("reshape", paddle.reshape, (M, [-1, -1]), ArgumentError, "only one size can be -1"),
    ("reshape", paddle.reshape, (M, [-2, 6]), ArgumentError, "sizes must be >= -1"),
    ("reshape", paddle.reshape, (M, [3.0, 4]), DTypeError, "shape must be an int or an integer tensor, got float"),
    ("view", lambda x: x.view("float64"), (ints(3).astype("int32"),), ShapeError, "no multiple of float64's 8"),
    ("flatten", paddle.flatten, (M, 1, 0), ArgumentError, "stop_axis 0 lies before start_axis 1"),
    ("squeeze", paddle.squeeze, (M, 5), IndexRangeError, "axis must be in [-2, 2)"),
    ("unsqueeze", paddle.unsqueeze, (M, 4), IndexRangeError, "axis must be in [-3, 3)"),
    ("transpose", paddle.transpose, (M, [0, 0]), ShapeError, "each of the 2 dimensions once"),
    ("t", paddle.t, (X,), ShapeError, "expected at most 2"),
    ("moveaxis", paddle.moveaxis, (X, [0, 1], [0]), ArgumentError, "differ in length"),
    ("expand", paddle.expand, (M, [3, 5]), ShapeError, "size 4 would become 5"),
    ("expand", paddle.expand, (M, [4]), ShapeError, "fewer dimensions than x"),
    ("expand", paddle.expand, (M, [-1, 3, 4]), ArgumentError, "no dimension of x"),
    ("tile", paddle.tile, (M, [-1]), ArgumentError, "repeat_times must be >= 0"),
    ("repeat_interleave", paddle.repeat_interleave, (M, ints(2), 0), ShapeError, "one count for each of the 3"),
    ("concat", lambda x: paddle.concat([x, x.T]), (M,), ShapeError, "(dimension 1: 4 != 3)"),
    ("concat", lambda x: paddle.concat([x, x[0]]), (M,), ShapeError, "differ in rank"),
    ("concat", lambda x, y: paddle.concat([x, y]), (M, ints(3, 4)), DTypeError, "x[0] is float64[3, 4], x[1] is int64"),
    ("concat", lambda x: paddle.concat(x), (M,), ArgumentError, "non-empty list of tensors"),
    ("stack", lambda x: paddle.stack([]), (M,), ArgumentError, "non-empty list of tensors"),
    ("stack", lambda x: paddle.stack([x, x.T]), (M,), ShapeError, "sizes differ"),
    ("split", paddle.split, (M, 2), ShapeError, "does not split into 2 equal parts"),
    ("split", paddle.split, (M, [1, 1]), ShapeError, "add up to 2, the dimension has size 3"),
    ("split", paddle.split, (M, [-1, -1]), ArgumentError, "only one section can be -1"),
    ("unstack", paddle.unstack, (M, 0, 2), ShapeError, "has 3 slices along dimension 0, expected 2"),
    ("vsplit", paddle.vsplit, (floats(3), 3), ShapeError, "expected at least 2"),
    ("flip", paddle.flip, (M, [0, 0]), ShapeError, "repeats a dimension"),
    ("roll", paddle.roll, (M, 1, [0, 1]), ArgumentError, "1 shifts for 2 axes"),
    ("rot90", paddle.rot90, (M, 1, [0, 0]), ArgumentError, "must differ"),
    ("meshgrid", paddle.meshgrid, (M,), ShapeError, "0-D or 1-D"),
    ("diag", paddle.diag, (X,), ShapeError, "1 or 2 dimensions"),
    ("diagonal", paddle.diagonal, (M, 0, 1, 1), ArgumentError, "must differ, both are 1"),
    ("tril", paddle.tril, (floats(3),), ShapeError, "at least 2 dimensions"),
    ("pad", pad, (M, [1]), ArgumentError, "even number"),
    ("pad", pad, (X, [4, 0], "reflect"), ShapeError, "reflect can add at most size - 1"),
    ("pad", pad, (X, [1, 1], "edge"), ArgumentError, "mode must be one of"),
    ("pad", pad, (M, [1, 1], "reflect"), ShapeError, "3, 4 or 5 dimensions"),
    ("pad", pad, (X, [-3, -3]), ShapeError, "takes more than the 4 elements"),
    ("gather", paddle.gather, (M, ints(2, 2)), ShapeError, "index must have one dimension"),
    ("gather", paddle.gather, (M, floats(2)), DTypeError, "expected integers"),
    ("gather_nd", paddle.gather_nd, (M, ints(2, 3)), ShapeError, "up to 2 dimensions"),
    ("index_sample", paddle.index_sample, (M, ints(2, 2)), ShapeError, "equally many rows"),
    ("take_along_axis", paddle.take_along_axis, (M, ints(2, 3), 0), ShapeError, "do not fit arr"),
    ("take_along_axis", paddle.take_along_axis, (M, ints(3), 0), ShapeError, "differ in rank"),
    ("take", paddle.take, (M, ints(2), "round"), ArgumentError, "mode must be one of"),
    ("scatter", paddle.scatter, (M, ints(2), floats(1, 4)), ShapeError, "expected shape [2, 4]"),
    ("scatter", paddle.scatter, (M, ints(2), ints(2, 4)), DTypeError, "dtypes differ"),
    ("put_along_axis", paddle.put_along_axis, (M, ints(3, 1), 1.0, 1, "max"), ArgumentError, "reduce must be one of"),
    ("masked_select", paddle.masked_select, (M, ints(3, 4)), DTypeError, "mask must be bool"),
    ("slice", paddle.slice, (M, [0], [0, 1], [2]), ArgumentError, "axes has 1 entries, starts has 2"),
    ("narrow", paddle.narrow, (M, 0, 2, 2), IndexRangeError, "reach beyond dimension 0"),
    ("crop", paddle.crop, (M, [3, 4], [1, 0]), ShapeError, "do not lie within"),
    ("unfold", paddle.unfold, (M, 0, 4, 1), ShapeError, "do not fit dimension 0"),
    ("as_strided", paddle.as_strided, (M, [4], [4]), ShapeError, "element 12 lies outside"),
    ("topk", paddle.topk, (M, 5), ArgumentError, "has only 4 elements"),
    ("topk", paddle.topk, (M, 0), ArgumentError, "k must be at least 1"),
    ("kthvalue", paddle.kthvalue, (M, 5), ArgumentError, "k must be in [1, 4]"),
    ("nonzero", paddle.nonzero, (np.array(1),), ShapeError, "0-D"),
    ("searchsorted", paddle.searchsorted, (M, floats(3)), ShapeError, "agree but in their last dimension"),
    ("unique", lambda x: paddle.unique(x, dtype="float32"), (M,), DTypeError, "int32 or int64"),
    ("bincount", paddle.bincount, (M,), ShapeError, "integers in 1 dimension"),
    ("histogram", lambda x: paddle.histogram(x, 4, 3, 1), (M,), ArgumentError, "max 1.0 is less than min 3.0"),
    ("arange", lambda x: paddle.arange(0, 5, 0), (M,), ArgumentError, "step must not be 0"),
    ("full", lambda x: paddle.full([-1], 1.0), (M,), ArgumentError, "sizes >= 0"),
    ("one_hot", one_hot, (M, 3), DTypeError, "expected integers"),
    ("rot90", paddle.rot90, (floats(3),), ShapeError, "needs 2 or more dimensions"),
    ("meshgrid", lambda x: paddle.meshgrid(x, indexing="yx"), (floats(3),), ArgumentError, "'ij' or 'xy'"),
    ("bincount", paddle.bincount, (ints(3), floats(2)), ShapeError, "shapes differ"),
    ("bincount", paddle.bincount, (ints(3), None, -1), ArgumentError, "minlength"),
    ("histogram", paddle.histogram, (M, 0), ArgumentError, "bins must be positive"),
    ("histogram", paddle.histogram, (M, 4, 0, 1, floats(3)), ShapeError, "shapes differ"),
    ("histogramdd", paddle.histogramdd, (floats(3),), ShapeError, "at least 2 dimensions"),
    ("histogramdd", paddle.histogramdd, (M, [2]), ArgumentError, "bins for 1 dimensions"),
    ("arange", lambda x: paddle.arange("3"), (M,), DTypeError, "must be a number"),
    ("linspace", lambda x: paddle.linspace(0, 1, -1), (M,), ArgumentError, "num must be >= 0"),
    ("tril_indices", lambda x: paddle.tril_indices(-1, 2), (M,), ArgumentError, "must be >= 0"),
    ("one_hot", one_hot, (ints(3), 0), ArgumentError, "num_classes must be positive"),
    ("diagonal", paddle.diagonal, (floats(3),), ShapeError, "at least 2 dimensions"),
    ("diagonal_scatter", paddle.diagonal_scatter, (M, floats(2)), ShapeError, "the diagonal has shape [3]"),
    ("fill_diagonal", lambda x: x.fill_diagonal(1.0), (X,), ShapeError, "dimensions of equal size"),
    ("repeat_interleave", paddle.repeat_interleave, (M, 0), ArgumentError, "repeats must be at least 1, got 0"),
    ("shard_index", paddle.shard_index, (ints(3), 20, 2, 2), ArgumentError, "shard_id must be in [0, 2)"),
    ("concat", lambda x: paddle.concat([x, x]), (np.array(1.0),), ShapeError, "use stack"),
    ("masked_scatter", paddle.masked_scatter, (M, M > 0, ints(12)), DTypeError, "dtypes differ"),
    ("pad", pad, (floats(1, 0, 0), [1, 1], "circular"), ShapeError, "an empty dimension"),
    ("pad", pad, (X, [1, 1], "constant", 0.0, "NCHW"), ArgumentError, "data_format for 3 dimensions"),
    ("pad", pad, (X, [1, 1, 1, 1], "reflect"), ArgumentError, "expected 2 paddings"),
    ("put_along_axis", paddle.put_along_axis, (M, ints(3, 1), ints(3, 1), 1), DTypeError, "dtypes differ"),
    ("put_along_axis", paddle.put_along_axis, (M, ints(3, 2), floats(3, 3), 1), ShapeError, "do not fit indices"),
    ("index_fill", paddle.index_fill, (M, ints(1), 0, floats(2)), ShapeError, "a number or a 0-D tensor"),
    ("index_put", paddle.index_put, (M, (ints(2),), floats(3), True), ShapeError, "does not broadcast"),
    ("index_put", paddle.index_put, (M, (ints(2),), ints(4)), DTypeError, "cast value to x's dtype"),
    ("slice_scatter", paddle.slice_scatter, (M, M, [0], [0, 1], [3], [1]), ArgumentError, "equal lengths"),
    ("searchsorted", paddle.searchsorted, (np.array(1.0), M), ShapeError, "0-D"),
    ("searchsorted", lambda x: paddle.searchsorted(x[0], x, side="up"), (M,), ArgumentError, "'left' or 'right'"),
    ("bucketize", paddle.bucketize, (M, M), ShapeError, "must have 1 dimension"),
    ("atleast_1d", lambda x: paddle.atleast_1d(3.0), (M,), DTypeError, "expects tensors, got float"),
    ("strided_slice", paddle.strided_slice, (M, [0], [0], [2], [0]), ArgumentError, "must not be 0"),
    ("narrow", paddle.narrow, (M, 0, 0, -1), ArgumentError, "length must be >= 0"),
    ("mode", paddle.mode, (floats(3, 0),), ArgumentError, "has no elements"),
    ("split", paddle.split, (M, 0), ArgumentError, "must be positive"),
    ("tensor_split", paddle.tensor_split, (M, 0), ArgumentError, "must be positive"),
    ("unstack", paddle.unstack, (np.array(1.0),), ShapeError, "no dimension to take apart"),
    ("matrix_transpose", paddle.matrix_transpose, (floats(3),), ShapeError, "at least 2"),
    ("unfold", paddle.unfold, (M, 0, 1, 0), ArgumentError, "step positive"),
    ("as_strided", paddle.as_strided, (M, [2, 2], [1]), ArgumentError, "equally long"),
    ("combinations", paddle.combinations, (M,), ShapeError, "one dimension of known size"),
    ("combinations", paddle.combinations, (floats(3), -1), ArgumentError, "r must be >= 0"),
    ("vander", paddle.vander, (M,), ShapeError, "1 dimension"),
    ("vander", paddle.vander, (floats(3), -1), ArgumentError, "n must be >= 0"),
    ("getitem", lambda x, i: x[i], (M, np.array(1.0)), DTypeError, "a float64 tensor"),
    ("out", lambda x: paddle.concat([x], out=3), (M,), DTypeError, "out must be a Tensor, got int"),
]


@pytest.mark.parametrize(("fn", "args", "error", "words"), [e[1:] for e in ERRORS], ids=[e[0] for e in ERRORS])
def test_errors(fn: Callable[..., Any], args: tuple[Any, ...], error: type[Exception], words: str) -> None:
    check_error(fn, args, error, words)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: paddle.gather(grid(), paddle.to_tensor([3])), "gather: index 3 is out of bounds"),
        (lambda: paddle.gather_nd(grid(), paddle.to_tensor([[3]])), "gather_nd: index 3 is out of bounds"),
        (lambda: paddle.take_along_axis(grid(), paddle.to_tensor([[3]]), 0), "take_along_axis: index 3"),
        (lambda: paddle.index_add(grid(), paddle.to_tensor([3]), 0, grid()[:1]), "index_add: index 3"),
        (lambda: paddle.scatter(grid(), paddle.to_tensor([-4]), grid()[:1]), "scatter: index -4"),
        (lambda: paddle.scatter_nd_add(grid(), paddle.to_tensor([[3]]), grid()[:1]), "scatter_nd_add: index 3"),
        (lambda: one_hot(paddle.to_tensor([5]), 3), r"class numbers must be in \[0, 3\)"),
    ],
)
def test_places_outside_are_refused(call: Callable[[], Any], words: str) -> None:
    with pytest.raises(IndexRangeError, match=words):
        call()


def test_values_are_checked_when_they_are_known() -> None:
    with pytest.raises(ArgumentError, match="must not hold negative numbers, got -1"):
        paddle.bincount(paddle.to_tensor([-1]))
    with pytest.raises(ShapeError, match="the mask has 12 True elements, value only 2"):
        paddle.masked_scatter(grid(), grid() >= 0, paddle.ones([2], "float64"))


def test_programs_check_what_they_meet() -> None:
    main = Program()
    with program_guard(main, Program()):
        x, i, k = data("x", [None], "float32"), data("i", [], "int64"), data("k", [], "int64")
        picked, largest = x[i], paddle.topk(x, k)[0]
    feed = {"x": np.ones(3, "float32"), "i": np.array(5), "k": np.array(4)}
    with pytest.raises(IndexRangeError, match="index 5 is out of"):
        Executor().run(main, feed=feed, fetch_list=[picked])
    with pytest.raises(ArgumentError, match="k is 4"):
        Executor().run(main, feed=feed, fetch_list=[largest])
    with pytest.raises(UnknownValueError, match="not known while the program is built"), program_guard(main, Program()):
        paddle.unbind(x)


def test_other_ways_to_the_same() -> None:
    x = grid()
    assert paddle.masked_select(paddle.to_tensor(3.0), paddle.to_tensor(True)).tolist() == [3.0]
    assert paddle.cartesian_prod([x[0]]) is not None and paddle.atleast_2d(x) is x
    assert paddle.bucketize(2.5, paddle.to_tensor([1.0, 3.0])).item() == 1
    assert pad(paddle.ones([1, 1, 3]), 1).shape == [1, 1, 5]
    assert paddle.empty([2]).tolist() == [0, 0] and paddle.range(2).tolist() == [0, 1, 2]
    assert paddle.arange(np.float32(2)).dtype == paddle.float32
    assert x.fill_diagonal_tensor(paddle.zeros([3], "float64"))[1, 1].item() == 0
    assert [p.shape for p in paddle.tensor_split(x, [1, 2], 1)] == [[3, 1], [3, 1], [3, 2]]
    assert paddle.ones([2], device="cpu").tolist() == [1, 1]
    x[0] = paddle.ones([1, 1, 4], "float64")
    assert x[0].tolist() == [1, 1, 1, 1]
    put = paddle.put_along_axis(x, paddle.to_tensor([[0]]), paddle.ones([3, 4], "float64") * 9, 1, broadcast=False)
    assert put[:, 0].tolist() == [9, 4, 8]


def test_extra_leading_sizes_of_a_value_get_a_gradient() -> None:
    value = paddle.ones([1, 1, 4], "float64")
    value.stop_gradient = False
    with_item(grid(), 0, value).backward(paddle.ones([3, 4], "float64"))
    assert value.grad.tolist() == [[[1, 1, 1, 1]]]
