"""x[index] and x[index] = value against NumPy, for random shapes and random index expressions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import vitrify as paddle
from vitrify.core.dtype import from_np
from vitrify.core.errors import ArgumentError, DTypeError, IndexRangeError, ShapeError
from vitrify.core.meta import UNKNOWN, Meta, Ref
from vitrify.eager.autograd import grad
from vitrify.eager.tensor import Tensor, to_tensor
from vitrify.ops.index import getitem_op, index_get_op, setitem_op, with_item
from vitrify.ops.index_form import parse_index

# -- random index expressions ----------------------------------------------------------------------------------------

SIZES = st.integers(1, 4)


def ints(size: int) -> Any:
    return st.integers(-size, size - 1)


def slices(size: int) -> Any:
    bound = st.none() | st.integers(-size - 2, size + 2)
    return st.builds(slice, bound, bound, st.sampled_from([None, 1, 2, 3, -1, -2]))


@st.composite
def basic_index(draw: Any, shape: tuple[int, ...]) -> tuple[Any, ...]:
    """Ints, slices, None and at most one ellipsis."""
    parts: list[Any] = []
    for size in shape[: draw(st.integers(0, len(shape)))]:
        parts.append(draw(st.one_of(ints(size), slices(size))))
    for _ in range(draw(st.integers(0, 2))):
        parts.insert(draw(st.integers(0, len(parts))), None)
    if draw(st.booleans()):
        at = draw(st.integers(0, len(parts)))
        if all(p is None for p in parts[at:]):
            parts.insert(at, Ellipsis)
    return tuple(parts)


@st.composite
def mixed_index(draw: Any, shape: tuple[int, ...]) -> tuple[Any, ...]:
    """Everything at once: ints, slices, None, masks of any rank and arrays that broadcast."""
    joint = draw(st.sampled_from([(), (1,), (3,), (2, 3), (2, 1)]))
    parts: list[Any] = []
    axis = 0
    masked = False
    stop = draw(st.integers(0, len(shape)))
    while axis < stop:
        kind = draw(st.sampled_from(["int", "slice", "array", "array", "list", "mask"]))
        if kind == "mask" and not masked and joint in ((), (1,)):
            rank = draw(st.integers(1, stop - axis))
            seed = draw(st.integers(0, 99))
            parts.append(np.random.default_rng(seed).random(shape[axis : axis + rank]) > 0.5)
            axis, masked = axis + rank, True
            continue
        if kind in ("array", "list", "mask"):
            cut = draw(st.integers(0, len(joint)))
            dims = joint[cut:]
            values = np.array(draw(st.lists(ints(shape[axis]), min_size=12, max_size=12)))[: int(np.prod(dims))]
            array = values.reshape(dims)
            parts.append(array.tolist() if kind == "list" and array.ndim else array)
        else:
            parts.append(draw(ints(shape[axis]) if kind == "int" else slices(shape[axis])))
        axis += 1
    for _ in range(draw(st.integers(0, 1))):
        parts.insert(draw(st.integers(0, len(parts))), draw(st.sampled_from([None, True, False])))
    return tuple(parts)


SHAPES = st.lists(SIZES, min_size=0, max_size=4).map(tuple)


def is_array(part: Any) -> bool:
    return isinstance(part, (list, bool)) or (isinstance(part, np.ndarray) and (part.ndim > 0 or part.dtype == bool))


def reference_parts(parts: tuple[Any, ...]) -> tuple[Any, tuple[Any, ...]]:
    """Ints made basic, by NumPy's own means: they are taken first, then all the rest is indexed."""
    first: list[Any] = []
    second: list[Any] = []
    for part in parts:
        if isinstance(part, (int, np.integer)) and not isinstance(part, bool):
            first.append(part)
        elif isinstance(part, np.ndarray) and part.ndim == 0 and part.dtype != bool:
            first.append(int(part))
        elif part is None or isinstance(part, bool):
            second.append(part)
        else:
            first += [slice(None)] * (part.ndim if isinstance(part, np.ndarray) and part.dtype == bool else 1)
            second.append(part)
    return tuple(first), tuple(second)


def expected(x: np.ndarray[Any, Any], parts: tuple[Any, ...]) -> Any:
    if not any(is_array(p) for p in parts):
        return x[parts]
    first, second = reference_parts(parts)
    return x[(*first, ...)][second]


def is_legal(shape: tuple[int, ...], parts: tuple[Any, ...]) -> bool:
    """Whether NumPy takes the index; where it does not (False beside 3 places), neither may we."""
    try:
        expected(np.zeros(shape), parts)
    except IndexError:
        with pytest.raises(IndexRangeError):
            to_tensor(np.zeros(shape))[parts]
        return False
    return True


def expected_set(x: np.ndarray[Any, Any], parts: tuple[Any, ...], value: Any) -> np.ndarray[Any, Any]:
    out = x.copy()
    if not any(is_array(p) for p in parts):
        out[parts] = value
        return out
    first, second = reference_parts(parts)
    out[(*first, ...)][second] = value
    return out


def as_tensors(parts: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(to_tensor(p) if isinstance(p, np.ndarray) else p for p in parts)


def numbers(shape: tuple[int, ...], seed: int = 0) -> np.ndarray[Any, Any]:
    return np.random.default_rng(seed).standard_normal(shape)


def same(ours: Tensor, theirs: Any) -> None:
    np.testing.assert_array_equal(ours.numpy(), np.asarray(theirs))
    assert ours.shape == list(np.shape(theirs))


def blurred(shape: tuple[int, ...], seed: int) -> tuple[int, ...]:
    """The shape with some sizes unknown."""
    hidden = np.random.default_rng(seed).random(len(shape)) < 0.5
    return tuple(UNKNOWN if h else d for d, h in zip(shape, hidden))


def compatible(meta: Meta, shape: list[int]) -> bool:
    return len(meta.shape) == len(shape) and all(m in (UNKNOWN, d) for m, d in zip(meta.shape, shape))


# -- reading ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "index",
    [
        0, -1, slice(1, None), slice(None, None, -1), (0, 1), (..., 0), (None, 0), (slice(None), None, 1), (),
        [0, 1], [[0, 1], [1, 0]], (0, slice(None), [0, 1]), ([0, 1], slice(None), [0, 1]), (slice(None), [0, 2], 1),
        True, False, (True, None), (True, [0, 1]), [True, False], ([True, False], 1), [], range(2), np.int64(1),
        (None, [0, 1], slice(None), [0, 1]), ([0, 1], None, [0, 1]), (slice(None), [0, 1], None, [0, 1]),
        (..., [0, 1]), ([0], ..., [0]),
    ],
    ids=str,
)  # fmt: skip
def test_common_forms(index: Any) -> None:
    x = numbers((2, 3, 4))
    parts = index if isinstance(index, tuple) else (index,)
    spread = tuple(list(p) if isinstance(p, range) else p for p in parts)
    if Ellipsis in [p for p in spread if not isinstance(p, (list, np.ndarray))] and any(map(is_array, spread)):
        theirs = x[spread]
    else:
        theirs = expected(x, spread)
    same(to_tensor(x)[index], theirs)


@given(SHAPES.flatmap(lambda s: st.tuples(st.just(s), basic_index(s))), st.integers(0, 9))
@settings(max_examples=150, deadline=None)
def test_basic_forms_are_numpys_and_are_views(case: tuple[Any, Any], seed: int) -> None:
    shape, parts = case
    x = to_tensor(numbers(shape))
    got = x[parts]
    same(got, x.numpy()[parts])
    assert np.shares_memory(got._data, x._data) or got.size == 0
    index = parse_index("getitem", x, parts)
    assert compatible(getitem_op.meta(Meta(blurred(shape, seed), from_np(np.float64)), index=index.basic), got.shape)


@given(SHAPES.flatmap(lambda s: st.tuples(st.just(s), mixed_index(s))), st.integers(0, 9))
@settings(max_examples=300, deadline=None)
def test_mixed_forms(case: tuple[Any, Any], seed: int) -> None:
    shape, parts = case
    assume(is_legal(shape, parts))
    x = to_tensor(numbers(shape))
    theirs = expected(x.numpy(), parts)
    same(x[parts], theirs)
    same(x[as_tensors(parts)], theirs)
    index = parse_index("getitem", x, parts)
    if index.arrays:
        base = getitem_op.meta(Meta(blurred(shape, seed), from_np(np.float64)), index=index.basic)
        metas = [Meta(a.shape, from_np(a.dtype)) for a in index.arrays]
        assert compatible(index_get_op.meta(base, *metas, axes=index.axes), list(theirs.shape))


@given(SHAPES.flatmap(lambda s: st.tuples(st.just(s), mixed_index(s))))
@settings(max_examples=150, deadline=None)
def test_gradient_is_the_adjoint(case: tuple[Any, Any]) -> None:
    """The gradient of x is, at each place, the sum of the cotangents of all elements read from there."""
    shape, parts = case
    assume(is_legal(shape, parts))
    x = to_tensor(numbers(shape), stop_gradient=False)
    y = x[parts]
    w = numbers(tuple(y.shape), 1)
    y.backward(to_tensor(w))
    np.testing.assert_allclose(x.grad.numpy(), _added(shape, parts, w), atol=1e-12)


def _added(shape: tuple[int, ...], parts: tuple[Any, ...], w: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The sums of w at each place, by numbering the places."""
    numbered = np.asarray(expected(np.arange(int(np.prod(shape))).reshape(shape), parts))
    out = np.zeros(int(np.prod(shape)))
    np.add.at(out, numbered.ravel(), w.ravel())
    return out.reshape(shape)


def test_second_gradient_goes_through_the_adjoint() -> None:
    from_places = to_tensor(numbers((3, 4)), stop_gradient=False)
    ct = to_tensor(numbers((2, 4)), stop_gradient=False)
    (dx,) = grad(from_places[[0, 0]], from_places, ct, create_graph=True)
    dx.backward(to_tensor(np.ones((3, 4))))
    np.testing.assert_allclose(ct.grad.numpy(), np.ones((2, 4)))


def test_zero_size_and_0d() -> None:
    same(to_tensor(np.zeros((0, 3)))[:, 1], np.zeros((0,)))
    same(to_tensor(np.zeros((2, 3)))[2:], np.zeros((0, 3)))
    same(to_tensor(3.0)[...], np.float32(3))
    same(to_tensor(3.0)[None], np.float32([3]))
    same(to_tensor(3.0)[to_tensor(True)], np.float32([3]))


def test_tensors_as_ints_and_bounds() -> None:
    x = to_tensor(numbers((4, 5)))
    one, two = to_tensor(1), to_tensor([2])
    same(x[one], x.numpy()[1])
    same(x[one:two], x.numpy()[1:2])
    same(x[:, ::two], x.numpy()[:, ::2])
    same(x[two], x.numpy()[[2]])
    same(x[[one, to_tensor(3)]], x.numpy()[[1, 3]])


def test_run_time_bounds_leave_sizes_unknown() -> None:
    x = Meta((4, 5), from_np(np.float32))
    assert getitem_op.meta(x, index=(Ref(1), slice(None))).shape == (5,)
    assert getitem_op.meta(x, index=(slice(Ref(1), None), slice(1, 3))).shape == (UNKNOWN, 2)


# -- writing ---------------------------------------------------------------------------------------------------------


@given(SHAPES.flatmap(lambda s: st.tuples(st.just(s), mixed_index(s))), st.integers(0, 5))
@settings(max_examples=200, deadline=None)
def test_writing(case: tuple[Any, Any], seed: int) -> None:
    shape, parts = case
    assume(is_legal(shape, parts))
    x = numbers(shape)
    region = np.asarray(expected(x, parts))
    lead = np.random.default_rng(seed).integers(0, region.ndim + 1)
    value = numbers(tuple(1 if seed % 2 else d for d in region.shape[lead:]), seed)
    want = expected_set(x, parts, value)
    same(with_item(to_tensor(x), parts, to_tensor(value)), want)
    t = to_tensor(x)
    t[as_tensors(parts)] = to_tensor(value)
    same(t, want)


@given(SHAPES.flatmap(lambda s: st.tuples(st.just(s), basic_index(s))), st.integers(0, 5))
@settings(max_examples=100, deadline=None)
def test_writing_passes_gradients_to_both(case: tuple[Any, Any], seed: int) -> None:
    shape, parts = case
    x = to_tensor(numbers(shape), stop_gradient=False)
    region = x.numpy()[parts]
    value = to_tensor(numbers(tuple(1 if seed % 2 else d for d in region.shape), seed), stop_gradient=False)
    y = with_item(x, parts, value)
    w = numbers(shape, 7)
    y.backward(to_tensor(w))
    np.testing.assert_allclose(x.grad.numpy(), expected_set(w, parts, 0))
    whole = w[parts]
    axes = tuple(i for i, d in enumerate(value.shape) if d != whole.shape[i])
    np.testing.assert_allclose(value.grad.numpy(), whole.sum(axis=axes, keepdims=True), atol=1e-12)


@pytest.mark.parametrize(
    ("dtype", "value", "stored"),
    [
        ("float32", 5, 5.0),
        ("int64", 5.7, 5),
        ("float32", True, 1.0),
        ("float32", np.float64(5.5), 5.5),
        ("bool", 2, True),
        ("float32", [1.0, 2.0, 3.0], None),
    ],
)
def test_values_take_the_tensors_dtype(dtype: str, value: Any, stored: Any) -> None:
    x = to_tensor(np.zeros((2, 3), dtype))
    x[0] = value
    assert str(x.dtype) == f"paddle.{dtype}"
    assert x.numpy()[0].tolist() == ([stored] * 3 if stored is not None else value)


def test_writing_under_a_view_reaches_the_owner() -> None:
    x = to_tensor(np.zeros((2, 3)))
    x[0][1] = 7.0
    row = x[1]
    row[:] = 3.0
    assert x.tolist() == [[0, 7, 0], [3, 3, 3]]


# -- errors ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("index", "error", "words"),
    [
        (5, IndexRangeError, "index 5 is out of range for dimension 0"),
        ((0, 0, 0), IndexRangeError, "too many indices"),
        ([7], IndexRangeError, "out of bounds"),
        ((..., ...), IndexRangeError, "one ellipsis"),
        ([True], IndexRangeError, "does not fit"),
        (([0, 1], [0, 1, 2]), IndexRangeError, "broadcast"),
        (slice(None, None, 0), ArgumentError, "step cannot be zero"),
        (1.5, DTypeError, "got float"),
        ("a", DTypeError, "got str"),
        ([1.5], DTypeError, "integer or bool"),
        (slice(0.5, None), DTypeError, "slice bound"),
    ],
    ids=str,
)
def test_bad_indices_say_why(index: Any, error: type[Exception], words: str) -> None:
    x = to_tensor(np.zeros((2, 3), "float32"))
    with pytest.raises(error, match=words):
        x[index]
    with pytest.raises(error, match=words):
        x[index] = 1.0


def test_values_that_do_not_fit() -> None:
    x = to_tensor(np.zeros((2, 3), "float32"))
    with pytest.raises(ShapeError, match=r"value float32\[2\] does not broadcast to the selected region \[3\]"):
        x[0] = to_tensor(np.zeros(2, "float32"))
    with pytest.raises(ShapeError, match="mask"):
        x[to_tensor(np.array([[True, True, True], [False] * 3]))] = to_tensor(np.zeros(2, "float32"))
    meta = Meta((2, UNKNOWN), x.dtype)
    assert setitem_op.meta(meta, Meta((7,), x.dtype), index=(0, slice(None)), axes=()) == meta


# -- the gradient of a value for elements that are named several times -------------------------------------------------


def gradients(index: Any, value: Any, write: Any) -> tuple[Any, Any]:
    """The gradients of x and of the value in sum(weights * written), where the weights count from 1."""
    x, v = (to_tensor(np.asarray(a, "float32"), stop_gradient=False) for a in (np.zeros((3, 4)), value))
    weights = to_tensor(np.arange(1, 13, dtype="float32").reshape(3, 4))
    return tuple(g.numpy() for g in grad((write(x * 1, index, v) * weights).sum(), [x, v]))


def assigned(x: Tensor, index: Any, value: Tensor) -> Tensor:
    x[index] = value
    return x


def firsts(index: Any) -> Any:
    """Which elements of x[index] have not been named before, in row-major order."""
    named = np.arange(12).reshape(3, 4)[index]
    return np.isin(np.arange(named.size), np.unique(named, return_index=True)[1]).reshape(named.shape)


REPEATED = [
    [2, 0, 2, -1],
    ([1, 1, 0], [2, 2, 3]),
    (slice(None), [3, 1, 3]),
    ([1, 1], slice(1, 3)),
    (slice(0, 3, 2), [3, -1]),
    (0, [1, 1]),
    ([[1, 1], [0, 1]], [[2], [2]]),
    (None, [1, 1]),
    ([0, 0, 2], None, slice(None, None, -1)),
    (np.array([True, False, True]), [1, 1]),
    (np.array([True, False, False]), [1, 1]),
]


@pytest.mark.parametrize("index", REPEATED, ids=str)
@pytest.mark.parametrize("kind", ["lists", "tensors"])
def test_of_repeated_places_the_first_has_the_gradient(index: Any, kind: str) -> None:
    """As in PaddlePaddle 3.3.1 for float32: for [1, 1, 3] among five and weights from 1, a value gets [2, 0, 4]."""
    weights = np.arange(1, 13, dtype="float32").reshape(3, 4)
    given = index
    if kind == "tensors":
        parts = index if isinstance(index, tuple) else (index,)
        given = tuple(to_tensor(np.array(p)) if isinstance(p, (list, np.ndarray)) else p for p in parts)
    named = weights[index]
    to_x, to_value = gradients(given, np.ones(named.shape), assigned)
    np.testing.assert_array_equal(to_value, np.where(firsts(index), named, 0))
    np.testing.assert_array_equal(to_x, np.where(np.isin(weights, named), 0, weights))
    _, to_number = gradients(given, 1.0, assigned)
    assert to_number == np.where(firsts(index), named, 0).sum()


def test_index_put_gives_the_gradient_to_each_place() -> None:
    for name in ("index_put", "index_put_"):
        _, each = gradients((to_tensor([1, 1, 2]), to_tensor([0, 0, 3])), [1, 2, 3], getattr(paddle, name))
        np.testing.assert_array_equal(each, [5, 5, 12])
    fill = lambda x, index, v: paddle.index_fill(x, index, 0, v)  # noqa: E731
    assert gradients(to_tensor([1, 1]), 3.0, fill)[1] == 52


def test_a_gradient_of_a_gradient_goes_to_the_first_as_well() -> None:
    x, v = (to_tensor(np.arange(n, dtype="float32"), stop_gradient=False) for n in (5, 3))
    to_v = grad((assigned(x * 2, [1, 1, 3], v) ** 2).sum(), [v], create_graph=True)[0]
    assert to_v.tolist() == [2.0, 0.0, 4.0]
    assert grad((to_v * to_v).sum(), [v])[0].tolist() == [8.0, 0.0, 16.0]
