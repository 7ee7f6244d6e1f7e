"""Items of outer iterators, taken where a tensor decides: refused at the user's line."""

import pytest

import vitrify as paddle
from tests.end_to_end import positions
from vitrify.core.errors import UnsupportedError


@pytest.mark.parametrize("function", positions.REFUSED, ids=lambda f: f.__name__)
def test_taking_items_is_refused(function):
    static = paddle.jit.to_static(function, full_graph=True)
    with pytest.raises(UnsupportedError, match=r"the next item of a .* is taken here") as caught:
        static(paddle.to_tensor([1.0, 2.0, 3.0]))
    assert caught.value.loc.function in (function.__name__, "<lambda>")
    assert "make a list" in caught.value.hint


def test_an_iterator_given_as_argument_is_left_alone():
    static = paddle.jit.to_static(lambda x, it: x * next(it), full_graph=True)
    items = iter([3, 4])
    with pytest.raises(UnsupportedError, match="given as argument"):
        static(paddle.to_tensor([1.0]), items)
    assert next(items) == 3
