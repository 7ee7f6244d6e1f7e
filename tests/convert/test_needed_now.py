"""What only the program knows is refused with the line where Python needs it now, never taken for something else."""

import array
import struct
from fractions import Fraction

import pytest

import vitrify as paddle
from tests.end_to_end.differential import compare
from vitrify.core.errors import UnsupportedError


def packed(x):
    return len(struct.pack("f", float(x[0])))


def packed_by_object(x):
    return len(struct.Struct("f").pack(x[0]))


def bytes_of(x):
    return bytes(int(x[0]))


def array_of(x):
    return len(array.array("f", [float(x[0])]))


def fraction_of(x):
    return Fraction(int(x[0]))


def slice_of(x):
    return slice(int(x[0]))


def kept_iterator(x):
    return enumerate(x)


def same_small_number(x):
    count = 1
    if x.sum() > 0:
        count = 2
    one = 1
    return x * 2 if count is one else x


def same_list(x):
    first, second = [x], [x]
    found = first
    if x.sum() > 0:
        found = second
    return x * 3 if found is first else x


def same_item(x):
    kept = [v for v in [x if x.sum() > 0 else None, x] if v is not None]
    return x * 2 if kept[0] is x else x


ALL = [packed, packed_by_object, bytes_of, array_of, fraction_of]
LEAVING = [slice_of, kept_iterator]
IDENTITY = [same_small_number, same_item]


@pytest.mark.parametrize("function", [*ALL, *LEAVING, *IDENTITY], ids=lambda f: f.__name__)
def test_use_is_refused(function):
    static = paddle.jit.to_static(function, full_graph=True)
    with pytest.raises(UnsupportedError) as caught:
        static(paddle.to_tensor([1.0, 2.0]))
    if function not in LEAVING:  # those are met when the function has returned
        assert caught.value.loc is not None
        assert caught.value.loc.file == __file__


def test_which_list_it_is_can_be_asked():
    compare(same_list, ([1.0, 2.0],), ([-1.0, -2.0],))


@pytest.mark.parametrize("function", [same_small_number, same_list], ids=lambda f: f.__name__)
def test_the_default_mode_runs_it_as_python(function):
    static = paddle.jit.to_static(function)
    for value in (1.0, -1.0, 1.0, -1.0, 1.0):
        x = paddle.full([2], value)
        assert static(x).tolist() == function(x).tolist()


ITERATOR = iter([1, 2, 3])


@pytest.mark.parametrize(
    "make",
    [
        lambda x: zip([x], [x * 2]),
        lambda x: map(paddle.square, [x, x]),
        lambda x: (enumerate([1, 2]), x * 2),
        lambda x: (iter([x]), x),
    ],
)
def test_an_iterator_that_a_trace_made_is_not_given_back(make):
    x = paddle.ones([2])
    with pytest.raises(UnsupportedError, match="an iterator, or a slice made of tensors, is given back"):
        paddle.jit.to_static(make, full_graph=True)(x)
    static = paddle.jit.to_static(make)
    for _ in range(3):
        found, expected = ([*v] if hasattr(v, "__next__") else v for v in (static(x), make(x)))
        assert str(found) == str(expected) or isinstance(found, tuple)


def test_an_iterator_of_the_users_is_given_back():
    static = paddle.jit.to_static(lambda x: (ITERATOR, x * 2), full_graph=True)
    assert static(paddle.ones([2]))[0] is ITERATOR and static(paddle.ones([2]))[0] is ITERATOR


def test_what_is_left_of_a_zip_of_dicts_that_a_tensor_left_is_not_known():
    def left(x):
        pairs = zip({1: x, 2: x * 2}.values(), [1, 2])
        for a, b in pairs:
            if (a * b).sum() > 0:
                break
        return a, list(pairs)

    with pytest.raises(UnsupportedError, match="a tensor decides whether the next item of a zip is taken"):
        paddle.jit.to_static(left, full_graph=True)(paddle.ones([2]))
    static = paddle.jit.to_static(left)
    for _ in range(3):
        assert [len(static(paddle.full([2], value))[1]) for value in (1.0, -1.0)] == [1, 0]


def test_next_of_what_goes_through_tensors_names_the_way_out():
    static = paddle.jit.to_static(lambda x: next(enumerate(x)), full_graph=True)
    with pytest.raises(UnsupportedError, match="of what goes through tensors") as caught:
        static(paddle.ones([2]))
    assert "iter(x)" in caught.value.hint


def test_a_wrong_call_of_a_function_of_the_users_says_what_python_says():
    def two(a, b):
        return a + b

    def function(x):
        return two(x) if x.sum() > 0 else two(x, x)

    x = paddle.to_tensor([1.0, 2.0])
    with pytest.raises(TypeError) as eager:
        function(x)
    with pytest.raises(TypeError) as static:
        paddle.jit.to_static(function, full_graph=True)(x)
    assert str(static.value).splitlines()[0] == str(eager.value)
